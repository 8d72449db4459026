#!/bin/sh
# Qualifying by the program: exit statuses, JUnit that an XML reader takes, and
# a run of its own where no result is given.
# usage: qualify.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python=/usr/bin/python3
[ -x $python ] || python=python3
healthy=$here/../fixtures/checklist/healthy.json

# qualify WANTED NAME OPTION…: the exit status, and JUnit with its counts.
qualify()
{
	wanted=$1
	name=$2
	shift 2
	code=0
	"$stave" qualify "$@" --json --junit "$work/$name.xml" \
		>"$work/$name.json" 2>"$work/log" || code=$?
	if [ $code != "$wanted" ]; then
		echo "qualify $*: exit $code, expected $wanted"
		cat "$work/log"
		exit 1
	fi
	$python - "$work/$name.xml" "$work/$name.json" <<'PYTHON'
import json
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()[0]
checks = json.load(open(sys.argv[2], encoding="utf-8"))["checks"]
kinds = {"failures": "fail", "errors": "inconclusive", "skipped": "skipped"}
assert int(suite.get("tests")) == len(checks) == len(suite)
for attribute, status in kinds.items():
    count = sum(c["status"] == status for c in checks)
    assert int(suite.get(attribute)) == count, (attribute, count)
for case, check in zip(suite, checks):
    assert case.get("name") == check["code"]
    outcome = [e.tag for e in case if e.tag != "system-out"]
    assert (check["status"] == "pass") == (outcome == []), check
PYTHON
}

qualify 0 pass "$healthy" --spec rtx-4090
sed 's/"width": 16/"width": 8/' "$healthy" >"$work/half.json"
qualify 1 fail "$work/half.json" --spec rtx-4090
sed 's/"bench": "sync"/"bench": "synch"/; s|"id": "sync/|"id": "synch/|' \
	"$healthy" >"$work/less.json"
qualify 1 inconclusive "$work/less.json" --spec generic
grep -q '"skipped"' "$work/inconclusive.json"
cd "$work"
qualify 0 measured --spec "$here/../fixtures/spec/clock.json" --backend host \
	-o "$work/measured.result.json"
[ -s "$work/measured.result.json" ]
# What the profile lacks is skipped, and so no pass.
sed 's|"null/\*ns=10000"|"null", "sustain"|' \
	"$here/../fixtures/spec/clock.json" |
	sed 's|null/sleep?ns=10000|sustain/retention|' >"$work/more.json"
qualify 1 lacking --spec "$work/more.json" --backend host --profile quick \
	-o "$work/lacking.result.json"
grep -q '"skipped"' "$work/lacking.json"
code=0
"$stave" qualify "$healthy" --spec generic --junit /dev/full >/dev/null \
	2>&1 || code=$?
[ $code = 6 ]
$python "$here/validate_schema.py" --schema checklist "$work/pass.json" \
	"$work/fail.json" "$work/inconclusive.json" "$work/measured.json"
$python "$here/validate_schema.py" --schema spec \
	"$here"/../fixtures/spec/*.json "$here"/../../results/specs/*.json
