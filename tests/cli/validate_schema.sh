#!/bin/sh
# What the product wrote, the corpus and, where they are at hand, the
# scenarios against the JSON Schema; and that the schema refuses what it can.
# usage: validate_schema.sh BUILD_DIR (where unit/test_result_writer wrote)
set -u
cd "$(dirname "$0")/../.." || exit 1
python=/usr/bin/python3
[ -x $python ] || python=python3
check=tests/cli/validate_schema.py
corpus=tests/fixtures/result
status=0

$python $check "$1/written_full.json" "$1/written_partial.json" \
	$corpus/valid/full.json
first=$?
[ $first = 77 ] && exit 77
[ $first = 0 ] || status=1

# Everything but what no schema can see: bytes, ids, sums, and the limits of
# a double.
bad=
for note in "$corpus"/invalid/*.txt; do
	name=$(basename "$note" .txt)
	case $name in
	duplicate_* | id_differs | id_unsorted | round_inexact | \
		round_removed | samples_short | samples_without_rounds | \
		n_differs | n_real | median_outside | ci_swapped | \
		ci_beside_median | min_above_max | p05_above_p95 | \
		source_index | integer_overflow | real_overflow | \
		param_real) ;;
	*) bad="$bad $corpus/invalid/$name.json" ;;
	esac
done
# shellcheck disable=SC2086
$python $check --invalid $bad || status=1

if [ -d ../shared/cases ]; then
	$python $check ../shared/cases/*/[ab].json || status=1
fi
exit $status
