#!/bin/sh
# A report is whole with gnuplot and without, of one result and of two, holds
# text that means harm as text, and is small and quick for a thousand figures.
# usage: report.sh STAVE
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
	echo "report: $*" >&2
	exit 1
}

# Without gnuplot: all but the pictures, a note, exit 0.
PATH='' "$stave" report "$fixtures/a.json" "$fixtures/b.json" -o bare \
	>out 2>err || fail "no gnuplot: exit $?"
grep -q "gnuplot is not installed" err || fail "no gnuplot, no word"
grep -q "^bare/index.html$" out || fail "it does not say where"
for file in index.html report.md comparison.csv a.csv b.csv; do
	[ -s bare/$file ] || fail "no gnuplot: $file is missing"
done
[ ! -e bare/plots ] || fail "no gnuplot, but plots"
grep -q "no picture. gnuplot is not installed" bare/index.html ||
	fail "no gnuplot: no note in place of the pictures"
# A folder in a folder, and one that cannot be made.
PATH='' "$stave" report "$fixtures/a.json" -o new/inner/deep >/dev/null 2>&1
[ -s new/inner/deep/result.csv ] || fail "folders above are not made"
code=0
"$stave" report "$fixtures/a.json" -o /dev/null/x 2>err || code=$?
[ $code = 6 ] || fail "a folder that cannot be made: exit $code"
grep -q "make folder /dev/null" err || fail "folder: $(cat err)"

# A thousand figures on each side.
$python "$here/../support/plenty.py" old 0.7 1000 >old.json
$python "$here/../support/plenty.py" new 1.0 1000 >new.json
"$stave" report old.json new.json -o large >/dev/null
[ "$(wc -c <large/index.html)" -lt 5000000 ] ||
	fail "the page has $(wc -c <large/index.html) bytes"
[ "$(wc -c <large/report.md)" -lt 65000 ] ||
	fail "report.md does not fit an issue"
[ "$(grep -c '^<tr data-k=' large/index.html)" = 1000 ] ||
	fail "the table is not whole"
if command -v gnuplot >/dev/null; then
	for kind in transfer gemm-size gemm-batch launch allocator memory \
		loader sustain step habits rounds; do
		[ -s large/plots/$kind.svg ] || fail "no $kind.svg"
		[ -s large/plots/$kind.png ] || fail "no $kind.png"
	done
	for kind in step-parts-1 crossover-1 step-parts-2; do
		[ -s large/plots/$kind.svg ] || fail "no $kind.svg"
	done
	[ "$(grep -c '<figure><div class="plot"' large/index.html)" = 15 ] ||
		fail "pictures are not in the page"
fi

# Explained: every shipped workload in a line, the slowest first.
grep -q '<h2 id="explanation">' large/index.html || fail "no explanation"
for workload in resnet50 bert-base-128 mlp-tiny; do
	grep -q "<th scope=\"row\">$workload, batch" large/index.html ||
		fail "$workload is not explained"
done
# One result has nobody to be explained against; two without the figures, no
# section; a program without its workloads, a report all the same.
PATH='' "$stave" report new.json -o single >/dev/null 2>&1
grep -q 'id="explanation"' single/index.html && fail "one result, explained"
PATH='' STAVE_WORKLOAD_DIR=/nowhere "$stave" report old.json new.json \
	-o bereft >/dev/null 2>&1 || fail "without workloads: exit $?"
grep -q 'id="explanation"' bereft/index.html && fail "explained by nothing"

$python "$here/../support/hostile.py" new.json >hostile.json
"$stave" report hostile.json old.json -o harm >/dev/null
[ ! -e pwned ] && [ ! -e harm/pwned ] || fail "a command in a label was run"
$python "$here/check_page.py" bare large single bereft harm
