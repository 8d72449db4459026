#!/bin/sh
# What is published names nobody: every identity of a result that is full of
# them is looked for in every file; the files are valid, their checksums right,
# and each result is said to be publishable or a draft.
# usage: publish.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../fixtures/cli
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

fail()
{
	echo "publish: $*" >&2
	exit 1
}

$python "$here/../support/personal.py" "$fixtures/a.json" p.json words \
	>secrets
[ "$(wc -l <secrets)" -ge 13 ] || fail "few identities to look for"
# All of them are in what goes in.
while read -r secret; do
	grep -qF -- "$secret" p.json || fail "not planted: $secret"
done <secrets

"$stave" publish p.json "$fixtures/b.json" -o out >said
while read -r secret; do
	if grep -rqF -- "$secret" out said; then
		fail "published: $secret in $(grep -rlF -- "$secret" out said)"
	fi
done <secrets
while read -r word; do
	grep -rqwIF -- "$word" out said && fail "published: the word $word"
done <words
# Downloads in the page are encoded: they are the published results again.
$python - <<'END' >downloads
import base64, re
page = open("out/index.html", encoding="utf-8").read()
for data in re.findall(r'href="data:[^,]*;base64,([^"]*)"', page):
    print(base64.b64decode(data).decode())
END
[ -s downloads ] || fail "no downloads"
while read -r secret; do
	grep -qF -- "$secret" downloads && fail "in a download: $secret"
done <secrets

# What names nobody is still there.
grep -q '"OMP_NUM_THREADS":"8"\|"OMP_NUM_THREADS": "8"' out/card-a-*.json ||
	fail "harmless fields went too"
grep -q 'Card A (simulated)' out/card-a-*.json || fail "the card's name went"
grep -q '"withheld"' out/card-a-*.json || fail "nothing says what is missing"
$python - "$fixtures/a.json" out/card-a-*.json <<'END'
import json, sys
before, after = (json.load(open(p, encoding="utf-8")) for p in sys.argv[1:])
assert [(m["id"], m["rounds"]) for m in before["measurements"]] == [
    (m["id"], m["rounds"]) for m in after["measurements"]]
END
grep -q '^card-a-simulated-1.json: draft: ' said || fail "no validity: $(cat said)"
grep -q 'draft' out/README.md || fail "README without validity"
grep -q 'To cite' out/README.md || fail "README without a citation"
(cd out && sha256sum -c --quiet SHA256SUMS) || fail "checksums"
files=$(cd out && find . -type f ! -name SHA256SUMS | wc -l)
[ "$files" = "$(wc -l <out/SHA256SUMS)" ] || fail "not every file has a checksum"

# A folder with something in it is left as it is.
code=0
"$stave" publish "$fixtures/b.json" -o out >/dev/null 2>err || code=$?
[ $code = 6 ] || fail "into a folder in use: exit $code"
grep -q "not empty" err || fail "$(cat err)"
# More than two: a report each, from results without a picture's worth too.
PATH='' "$stave" publish "$fixtures/a.json" "$fixtures/b.json" \
	"$fixtures/a.json" -o many >/dev/null 2>err ||
	fail "three results: exit $?"
[ -s many/card-b-simulated-2/index.html ] || fail "no report of the second"
"$python" "$here/../support/hostile.py" "$fixtures/a.json" >hostile.json
"$stave" publish hostile.json -o harm >/dev/null
[ ! -e pwned ] && [ ! -e harm/pwned ] || fail "a command in a label was run"
$python "$here/check_page.py" out harm
$python -c 'import jsonschema' 2>/dev/null || exit 0
$python "$here/validate_schema.py" out/card-*.json
