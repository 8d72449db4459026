#!/bin/sh
# What the harness itself costs: the sample loop on a 1 ms and a 10 µs sample
# of known length, the start of the program, the capture of the machine.
# usage: harness_cost.sh STAVE WORKER
set -eu
stave=$1
worker=$2
here=$(cd "$(dirname "$0")" && pwd)

"$worker" null --profile quick 3>&1 >/dev/null | python3 "$here/messages.py" |
	python3 -c '
import re, sys
for line in sys.stdin:
    metric, case, median = line.split()
    declared = int(re.search(r"ns=(\d+)", case).group(1)) * 1e-9
    over = float(median) - declared
    print(f"{declared * 1e6:8.0f} µs declared: {over * 1e9:7.1f} ns over an "
          f"iteration, {100 * over / declared:.3f} %")
'
python3 - "$stave" <<'TIME'
import statistics
import subprocess
import sys
import time

def timed(*words):
    start = time.perf_counter()
    subprocess.run([sys.argv[1], *words], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start

times = [timed("--version") for _ in range(21)]
print(f"stave --version: median {1e3 * statistics.median(times):.1f} ms")
TIME
if command -v strace >/dev/null; then
	opened=$(strace -f -e trace=openat "$stave" --version 2>&1 |
		grep -cE 'libcuda|libcublas|libnvidia|openblas' || true)
	echo "vendor libraries opened by --version: $opened"
fi
