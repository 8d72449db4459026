#!/bin/sh
# Our JPEG decoding on one core beside a direct loop over the same library and
# pictures, in turns, and the ratio of the medians.
# usage: decode.sh WORKER DIRECT [TURNS]
set -eu
worker=$1
direct=$2
turns=${3:-9}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

i=0
while [ "$i" -lt "$turns" ]; do
	"$worker" preprocess --profile standard \
		"preprocess/rate?where=cpu&work=decode&workers=1" \
		3>&1 >/dev/null 2>&1 |
		python3 "$here/messages.py" | awk '{print $3}' >>"$work/ours"
	"$direct" >>"$work/direct"
	i=$((i + 1))
done
python3 - "$work" <<'REPORT'
import statistics
import sys

def median(name):
    return statistics.median(float(x) for x in open(f"{sys.argv[1]}/{name}"))

ours, direct = median("ours"), median("direct")
print(f"direct loop {direct:7.1f} pictures/s")
print(f"ours        {ours:7.1f} pictures/s  ratio {ours / direct:.3f}")
REPORT
