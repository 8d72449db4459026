#!/bin/sh
# The null benchmark on a clock that passes only when it is looked at: the
# declared times come back within one reading, twice the same to the digit.
# usage: null_clock.sh WORKER CLOCK_LIBRARY
set -eu
worker=$1
clock=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# A sanitizer's runtime wants to be first in the process; the clock must be.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS
for turn in 1 2; do
	LD_PRELOAD=$clock "$worker" null --profile standard \
		3>"$folder/$turn" >"$folder/log" 2>&1 || {
		cat "$folder/log"
		exit 1
	}
	grep '"samples"' "$folder/$turn" >"$folder/samples.$turn"
done
cmp "$folder/samples.1" "$folder/samples.2"

# Three declared times, each with all its samples in [declared, declared +
# 50 ns): one reading to notice the end, one at the edges.
python3 - "$folder/1" <<'CHECK'
import json
import sys

declared = None
seen = 0
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message["type"] == "case":
        declared = message["params"]["ns"] * 1e-9
    if message["type"] == "samples":
        for value in message["values"]:
            assert declared <= value < declared + 50e-9, (declared, value)
        seen += 1
assert seen == 3, seen
CHECK
echo "the null benchmark gives back what it was told"
