#!/bin/sh
# Twenty machines drawn at random, each measured twice on the simulated driver:
# every planted number back, and the second time the same to the last digit.
# usage: parameter_sets.sh STAVE [FIRST LAST]
set -u
stave=$1
number=${2:-1}
last=${3:-20}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
status=0

# One round of the cases that plants show in, whatever their profile.
measure()
{
	"$here/with-device" "$work/device.json" -- "$stave" run --backend cuda \
		--device 0 --profile standard --rounds 1 --seed 7 --bench "launch,\
sync/wait*,sync/readback*,allocator/alloc*,allocator/pool*,\
allocator/reset*bytes=134217728*,memory/*=268435456*,\
transfer/*bytes=268435456*memory=p*,transfer/latency*memory=pinned,\
gemm/*m=1024&n=1024*,peer" -o "$1" >"$work/out" 2>&1 && return
	tail -n 3 "$work/out"
	echo "parameter set $number: the run failed" >&2
	status=1
}

while [ "$number" -le "$last" ]; do
	python3 "$here/parameter_set.py" "$number" >"$work/device.json"
	measure "$work/once.json"
	measure "$work/again.json"
	python3 "$here/planted.py" "$work/device.json" "$work/once.json" 40 || {
		echo "parameter set $number: not what was planted" >&2
		status=1
	}
	python3 - "$work/once.json" "$work/again.json" <<'PYTHON' || status=1
import json
import sys

once, again = ({m["id"]: m["samples"] for m in json.load(open(p))["measurements"]}
               for p in sys.argv[1:])
if once != again:
    differ = [i for i in once if once[i] != again.get(i)]
    sys.exit(f"the second run differs in {len(differ)}: {differ[:3]}")
PYTHON
	number=$((number + 1))
done
exit $status
