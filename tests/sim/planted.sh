#!/bin/sh
# Measure simulated devices through the whole program, and compare with what
# was planted. usage: planted.sh STAVE DEVICE…
set -u
stave=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
status=0

for device in "$@"; do
	"$here/with-device" "$here/devices/$device.json" -- "$stave" run \
		--backend cuda --profile quick --rounds 1 \
		--bench 'launch,sync,allocator,memory,transfer,gemm/*m=1024*,preprocess' \
		-o "$work/$device.json" >"$work/out" 2>&1 || {
		tail -n 5 "$work/out"
		echo "planted: the run on $device failed" >&2
		status=1
		continue
	}
	echo "$device:"
	python3 "$here/planted.py" "$here/devices/$device.json" \
		"$work/$device.json" || status=1
done
exit $status
