#!/bin/sh
# Our host copies beside mbw's memcpy, in turns on one machine, and the ratio
# of the medians. mbw counts each byte once, in MiB/s; so do we, in B/s.
# Needs mbw. usage: copy_bandwidth.sh WORKER [TURNS]
set -eu
worker=$1
turns=${2:-7}
here=$(cd "$(dirname "$0")" && pwd)
mib=256
command -v mbw >/dev/null || {
	echo "copy_bandwidth: mbw is missing; install the package mbw" >&2
	exit 77
}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

ours()
{
	"$worker" transfer --profile quick \
		"transfer/bandwidth?bytes=268435456&direction=h2d&memory=$1" \
		3>&1 >/dev/null 2>&1 | python3 "$here/messages.py" |
		awk '{print $3}' >>"$work/$1"
}

i=0
while [ "$i" -lt "$turns" ]; do
	ours pinned
	mbw -q -t0 -n 20 $mib | awk '/AVG/ {print $9 * 1048576}' \
		>>"$work/mbw"
	ours pageable
	i=$((i + 1))
done
python3 - "$work" <<'REPORT'
import statistics
import sys

def median(name):
    return statistics.median(float(x) for x in open(f"{sys.argv[1]}/{name}"))

peer = median("mbw")
print(f"mbw memcpy      {peer / 1e9:6.2f} GB/s")
for kind in ("pinned", "pageable"):
    print(f"ours, {kind:9} {median(kind) / 1e9:6.2f} GB/s"
          f"  ratio {median(kind) / peer:.3f}")
REPORT
