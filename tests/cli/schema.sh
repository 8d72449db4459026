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
