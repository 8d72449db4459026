#!/bin/sh
# Our JPEG decoding on one core beside a direct loop over the same library and
# pictures, in turns, and the ratio of the medians, and of the best turns, which
# is what a machine with other work on it tells.
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

ours, direct = ([float(x) for x in open(f"{sys.argv[1]}/{name}")]
                for name in ("ours", "direct"))
for name, of in (("median", statistics.median), ("best", max)):
    print(f"{name:6}  direct loop {of(direct):7.1f} pictures/s, "
          f"ours {of(ours):7.1f}  ratio {of(ours) / of(direct):.3f}")
REPORT
