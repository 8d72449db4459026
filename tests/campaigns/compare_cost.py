#!/usr/bin/env python3
"""How the cost of `stave compare` grows with what is in the files.

usage: compare_cost.py STAVE

Makes pairs of result files, compares them and prints time and memory. Ends
with 1 where 1000 measurements of 1000 samples each take 1 s or 300 MB; both
belong to the machine and what else it does, so this is a script and no test.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SIZES = (  # measurements, rounds, samples a round
    (10, 10, 100),
    (100, 10, 100),
    (300, 10, 100),
    (1000, 10, 100),
    (1000, 10, 10),
    (1000, 25, 40),
    (1000, 50, 20),
    (3000, 10, 100),
)
MOST_SECONDS, MOST_BYTES = 1.0, 300e6


def measurement(source, i, rounds, samples):
    middle = 1e9 * (1 + i % 7)
    raw = [
        [middle * (1 + 0.01 * source.random()) for _ in range(samples)]
        for _ in range(rounds)
    ]
    medians = [sorted(r)[samples // 2] for r in raw]
    ordered = sorted(medians)
    median = (ordered[(rounds - 1) // 2] + ordered[rounds // 2]) / 2
    return {
        "id": f"memory/bandwidth?bytes={i}&op=copy",
        "bench": "memory",
        "metric": "bandwidth",
        "params": {"bytes": i, "op": "copy"},
        "unit": "B/s",
        "better": "higher",
        "rounds": medians,
        "samples": raw,
        "summary": {"n": rounds, "median": median}
        | dict.fromkeys(("ci95", "mad", "min", "max", "p05", "p95")),
        "reference": None,
        "flags": [],
        "check": {"status": "none", "detail": None},
        "source": None,
    }


def write(path, seed, n, rounds, samples):
    source = random.Random(seed)
    tree = {
        "schema": "stave.result/1",
        "run": {
            "id": f"made-{seed}",
            "label": None,
            "profile": None,
            "started": None,
            "finished": None,
            "stave": {"version": None, "revision": None},
            "complete": True,
            "origin": "simulated",
            "source": None,
        },
        "machine": {},
        "device": {},
        "measurements": [measurement(source, i, rounds, samples) for i in range(n)],
        "skipped": [],
        "failures": [],
    }
    path.write_text(json.dumps(tree), encoding="utf-8")


def write_apart(path, *what):
    """By a process of its own: a child's memory counts from its parent's."""
    words = [str(word) for word in (path, *what)]
    subprocess.run([sys.executable, __file__, "--write", *words], check=True)


def cost(command):
    """Seconds, CPU seconds and bytes of one run, the fastest of three."""
    best = (float("inf"), 0.0)
    for _ in range(3):
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{command[0]} ended with {child.returncode}")
        took = time.perf_counter() - begin
        best = min(best, (took, usage.ru_utime + usage.ru_stime))
    return *best, usage.ru_maxrss * 1024


def main(arguments):
    if arguments[:1] == ["--write"]:
        write(pathlib.Path(arguments[1]), *map(int, arguments[2:]))
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    print("measurements  rounds  samples  file      time    CPU     memory")
    with tempfile.TemporaryDirectory() as folder:
        a, b = (pathlib.Path(folder) / name for name in ("a.json", "b.json"))
        for n, rounds, samples in SIZES:
            write_apart(a, 1, n, rounds, samples)
            write_apart(b, 2, n, rounds, samples)
            seconds, cpu, size = cost([arguments[0], "compare", str(a), str(b)])
            asked = n == 1000 and rounds * samples == 1000
            slow = asked and (seconds >= MOST_SECONDS or size >= MOST_BYTES)
            status = 1 if slow else status
            print(
                f"{n:12d}  {rounds:6d}  {rounds * samples:7d}"
                f"  {a.stat().st_size / 1e6:5.1f} MB  {seconds:5.2f} s"
                f"  {cpu:5.2f} s  {size / 1e6:6.1f} MB{'  TOO MUCH' if slow else ''}"
            )
    return status


sys.exit(main(sys.argv[1:]))
