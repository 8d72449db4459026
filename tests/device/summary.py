#!/usr/bin/env python3
"""What a run on a card came to, in a few lines; 1 when something is wrong.

usage: summary.py RESULT.json...
Wrong is a lost case, a check that failed, or a figure above what its
reference allows.
"""
import json
import sys

HEADLINES = [
    ("transfer/bandwidth", {"bytes": 268435456, "direction": "h2d",
                            "memory": "pinned"}),
    ("transfer/bandwidth", {"bytes": 268435456, "direction": "d2h",
                            "memory": "pinned"}),
    ("launch/submit", {"args_bytes": 64}), ("launch/gap", {"args_bytes": 64}),
    ("gemm/throughput", {"shape": "square", "m": 2048, "precision": "fp32"}),
    ("gemm/throughput", {"shape": "square", "m": 2048, "precision": "tf32"}),
    ("gemm/throughput", {"shape": "square", "m": 2048, "precision": "fp16"}),
    ("memory/bandwidth", {"op": "copy"}),
    ("sync/readback", {"wait": "spin"}),
    ("allocator/reset", {"bytes": 134217728}),
]


def fits(m, name, wanted):
    return f"{m['bench']}/{m['metric']}" == name and all(
        m["params"].get(k) == v for k, v in wanted.items())


def summarise(path):
    result = json.load(open(path, encoding="utf-8"))
    figures = result["measurements"]
    failed = [m for m in figures if m["check"]["status"] == "fail"]
    above = [m for m in figures if "above_reference" in m["flags"]]
    print(f"{path}: {result['device']['name']}, "
          f"{'complete' if result['run']['complete'] else 'cut short'}, "
          f"{len(figures)} figures, {len(result['skipped'])} skipped, "
          f"{len(result['failures'])} lost, {len(failed)} failed checks, "
          f"{len(above)} above their reference")
    for name, wanted in HEADLINES:
        for m in [m for m in figures if fits(m, name, wanted)][-1:]:
            print(f"  {m['id']}: {m['summary']['median']:.4g} {m['unit']}"
                  f"  {' '.join(m['flags'])}")
    for f in result["failures"]:
        print(f"  lost: {f['bench']} {f['params']}: {f['reason']}")
    for m in failed:
        print(f"  failed: {m['id']}: {m['check'].get('detail')}")
    for m in above:
        print(f"  above its reference: {m['id']}")
    return bool(result["failures"] or failed or above or not figures)


sys.exit(any([summarise(path) for path in sys.argv[1:]]))
