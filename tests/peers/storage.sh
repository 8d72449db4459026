#!/bin/sh
# Our direct reads of the packed samples beside fio's, in turns, on the same
# file, with the same size of read and number of threads, and the ratio of the
# medians. Needs fio, and 1.2 GB in DIR, which are removed again.
# usage: storage.sh WORKER DIR [TURNS]
set -eu
worker=$1
folder=$2/stave-peer-$$
turns=${3:-9}
here=$(cd "$(dirname "$0")" && pwd)
command -v fio >/dev/null || {
	echo "storage: fio is missing; install the package fio" >&2
	exit 77
}
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT

ours()
{
	"$worker" storage --profile standard --storage-path "$folder" \
		"storage/rate+bandwidth?cache=cold&layout=packed&sample_bytes=110000&threads=$1" \
		3>&1 >/dev/null 2>&1 | python3 "$here/messages.py" |
		awk '$1 == "rate" {print $3}' >>"$folder/ours-$1"
}

# A sample takes 27 pages of the file.
fios()
{
	fio --name=peer --filename="$folder/samples-packed-10000x110000/samples" \
		--readonly --rw=randread --bs=110592 --direct=1 --ioengine=psync \
		--thread --numjobs="$1" --group_reporting --norandommap \
		--time_based --runtime=2 --randrepeat=0 --output-format=json |
		python3 -c 'import json, sys
print(json.load(sys.stdin)["jobs"][0]["read"]["iops"])' >>"$folder/fio-$1"
}

for threads in 1 4 16; do
	i=0
	while [ "$i" -lt "$turns" ]; do
		# Whoever is second may find a disk that wants a rest.
		if [ $((i % 2)) = 0 ]; then
			ours $threads
			fios $threads
		else
			fios $threads
			ours $threads
		fi
		i=$((i + 1))
	done
done
python3 - "$folder" <<'REPORT'
import statistics
import sys

for threads in (1, 4, 16):
    ours, fio = (statistics.median(
        float(x) for x in open(f"{sys.argv[1]}/{who}-{threads}"))
        for who in ("ours", "fio"))
    print(f"{threads:2} threads: fio {fio:8.0f} reads/s, ours {ours:8.0f}"
          f"  ratio {ours / fio:.3f}")
REPORT
