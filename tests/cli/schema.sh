#!/bin/sh
# What the program writes validates against the schema, by another's validator.
# usage: schema.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$stave" run --backend host --profile quick --rounds 2 --bench null,launch \
	-o "$work/all.json" >/dev/null 2>"$work/log" || {
	cat "$work/log"
	exit 1
}
"$stave" run --backend host --profile quick --rounds 1 --bench null \
	--keep-samples summary -o "$work/summary.json" >/dev/null 2>&1
"$stave" show "$work/all.json" --json >"$work/shown.json"
cmp "$work/all.json" "$work/shown.json"
/usr/bin/python3 "$here/validate_schema.py" "$work/all.json" \
	"$work/summary.json" "$here/../fixtures/cli/a.json" \
	"$here/../fixtures/cli/b.json"

# What a comparison and a floor print, of every kind that there is at hand.
published=$here/../../results/published
fixtures=$here/../fixtures/cli
"$stave" compare "$fixtures/a.json" "$fixtures/b.json" --json >"$work/1.json"
"$stave" compare "$fixtures/a.json" "$fixtures/b.json" --json \
	--with-floor "$fixtures/floor.json" --control '*submit*' >"$work/2.json"
"$stave" compare "$work/all.json" "$work/summary.json" --json >"$work/3.json"
"$stave" compare "$published/rtx-3090.json" "$published/rtx-4090.json" \
	--json >"$work/4.json"
"$stave" compare "$published/a40.json" "$fixtures/b.json" --json \
	>"$work/5.json"
/usr/bin/python3 "$here/validate_schema.py" --schema comparison \
	"$work"/[1-5].json
"$stave" compare --floor "$fixtures/a.json" "$fixtures/a2.json" \
	-o "$work/floor.json" >/dev/null
/usr/bin/python3 "$here/validate_schema.py" --schema floor \
	"$work/floor.json" "$fixtures/floor.json"
/usr/bin/python3 "$here/validate_schema.py" --schema comparison --invalid \
	"$work/floor.json" "$fixtures/a.json"
