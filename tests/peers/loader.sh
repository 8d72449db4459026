#!/bin/sh
# The loader beside the least of what it is made of, on the same machine in
# turns: preparing on as many workers, reading, and copying to the device. The
# ratio of the medians, by number of workers. usage: loader.sh WORKER DIR [TURNS]
set -eu
worker=$1
folder=$2/stave-peer-$$
turns=${3:-5}
here=$(cd "$(dirname "$0")" && pwd)
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
cores=$(nproc)

# one NAME METRIC BENCH CASE: add its value to the file NAME
one()
{
	"$worker" "$3" --profile standard --storage-path "$folder" "$4" \
		3>&1 >/dev/null 2>&1 | python3 "$here/messages.py" |
		awk -v metric="$2" '$1 == metric {print $3}' >>"$folder/$1"
}

i=0
while [ "$i" -lt "$turns" ]; do
	for n in 1 "$cores"; do
		one "loader-$n" rate loader \
			"loader/rate?batch=32&memory=pinned&workers=$n"
		one "prepare-$n" rate preprocess \
			"preprocess/rate?where=cpu&work=standard&workers=$n"
	done
	one storage rate storage \
		"storage/rate+bandwidth?cache=warm&layout=files&sample_bytes=110000&threads=1"
	one transfer bandwidth transfer \
		"transfer/bandwidth?bytes=16777216&direction=h2d&memory=pinned"
	i=$((i + 1))
done
python3 - "$folder" "$cores" <<'REPORT'
import statistics
import sys

def median(name):
    return statistics.median(float(x) for x in open(f"{sys.argv[1]}/{name}"))

storage, transfer = median("storage"), median("transfer") / (3 * 224 * 224 * 4)
print(f"storage {storage:.0f}/s, transfer {transfer:.0f}/s")
for n in sorted({"1", sys.argv[2]}):
    prepare, loader = median(f"prepare-{n}"), median(f"loader-{n}")
    least = min(prepare, storage, transfer)
    print(f"{n} workers: preparing {prepare:.0f}/s, loader {loader:.0f}/s, "
          f"ratio to the least {loader / least:.3f}")
REPORT
