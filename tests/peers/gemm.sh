#!/bin/sh
# Our FP32 GEMM at 2048 beside a direct loop over the same library, in turns,
# and the ratio of the medians. usage: gemm.sh WORKER DIRECT [TURNS]
set -eu
worker=$1
direct=$2
turns=${3:-7}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
case="gemm/throughput?batch=1&count=1&k=2048&m=2048&n=2048&precision=fp32&shape=square"

i=0
while [ "$i" -lt "$turns" ]; do
	"$worker" gemm --profile standard "$case" 3>&1 >/dev/null 2>&1 |
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
print(f"direct loop {direct / 1e9:7.1f} GFLOP/s")
print(f"ours        {ours / 1e9:7.1f} GFLOP/s  ratio {ours / direct:.3f}")
REPORT
