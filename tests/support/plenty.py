#!/usr/bin/python3
"""A result with something of everything that pictures show, from a formula.

usage: plenty.py LABEL SPEED [MEASUREMENTS] >RESULT.json

SPEED multiplies every rate; MEASUREMENTS fills up with copies of odd sizes.
The figures are made up: origin "simulated".
"""
import json
import random
import sys


def measurement(bench, metric, unit, better, params, value, spread=0.01,
                reference=None):
    rounds = [value * random.lognormvariate(0, spread) for _ in range(10)]
    low = sorted(rounds)
    ident = "%s/%s" % (bench, metric)
    if params:
        ident += "?" + "&".join(
            "%s=%s" % item for item in sorted(params.items()))
    return {
        "id": ident, "bench": bench, "metric": metric, "params": params,
        "unit": unit, "better": better, "inner": 4, "rounds": rounds,
        "summary": {"n": 10, "median": (low[4] + low[5]) / 2,
                    "ci95": [low[1], low[8]], "mad": None, "min": low[0],
                    "max": low[9], "p05": None, "p95": None},
        "reference": reference, "flags": ["noisy"] if spread > 0.1 else [],
        "check": {"status": "pass", "detail": None}, "source": None}


def curves(speed):
    for direction, top in (("h2d", 25e9), ("d2h", 26e9), ("bidir", 44e9)):
        for memory, share in (("pinned", 1), ("pageable", 0.4),
                              ("registered", 0.99)):
            for power in range(12, 31, 2):
                size = 1 << power
                yield measurement(
                    "transfer", "bandwidth", "B/s", "higher",
                    {"bytes": size, "direction": direction, "memory": memory},
                    speed * share * top * size / (size + 1e5))
    for precision, peak in (("fp32", 8e13), ("tf32", 9e13), ("fp16", 1.6e14),
                            ("bf16", 1.6e14), ("fp64", 1.3e12)):
        for size in (256, 512, 1024, 2048, 4096, 8192):
            yield measurement(
                "gemm", "throughput", "FLOP/s", "higher",
                {"batch": 1, "count": 1, "k": size, "m": size, "n": size,
                 "precision": precision, "shape": "square"},
                speed * peak * size / (size + 900))
        for shape, share in (("mlp", 1), ("attention", 0.2)):
            for batch in (1, 8, 32, 128, 1024):
                yield measurement(
                    "gemm", "throughput", "FLOP/s", "higher",
                    {"batch": batch, "count": 1, "k": 64, "m": batch,
                     "n": 4096, "precision": precision, "shape": shape},
                    speed * share * peak * batch / (batch + 100))
    for op in ("read", "write", "copy", "triad"):
        for power in range(20, 31, 2):
            yield measurement(
                "memory", "bandwidth", "B/s", "higher",
                {"bytes": 1 << power, "op": op},
                speed * (2.5e12 if power < 26 else 9e11))
    for workers in (0, 1, 2, 4, 8, 16):
        for memory in ("pinned", "pageable"):
            yield measurement(
                "loader", "rate", "1/s", "higher",
                {"batch": 64, "memory": memory, "workers": workers},
                speed * 400 * min(workers + 0.5, 6), 0.15)


def steps(speed):
    for precision, share in (("fp32", 2.0), ("amp", 1.0)):
        for batch in (1, 8, 64, 256):
            yield measurement(
                "step", "time", "s", "lower",
                {"batch": batch, "habit": "baseline", "precision": precision,
                 "workload": "resnet50-train"},
                (0.004 + 0.0008 * batch * share / speed), 0.02)
    for precision in ("fp16", "fp32"):
        m = measurement("sustain", "throughput", "FLOP/s", "higher",
                        {"precision": precision, "seconds": 5}, speed * 6e13)
        m["samples"] = [[r * (1 - 0.03 * i) for i in range(10)]
                        for r in m["rounds"]]
        yield m


def costs(speed):
    for name, value in (("submit", 2e-6), ("roundtrip", 6e-6),
                        ("gap", 1.8e-6)):
        for size in (0, 64, 1024):
            yield measurement("launch", name, "s", "lower",
                              {"args_bytes": size}, value / speed)
    for nodes in (1, 32, 1024):
        yield measurement("launch", "graph", "s", "lower", {"nodes": nodes},
                          1e-6 / speed)
    yield measurement("launch", "first", "s", "lower", {}, 3e-3 / speed, 0.2)
    for wait, value in (("spin", 1.5e-6), ("yield", 2e-6), ("block", 2.5e-5)):
        yield measurement("sync", "wait", "s", "lower",
                          {"call": "stream", "wait": wait}, value / speed)
    yield measurement("sync", "readback", "s", "lower",
                      {"call": "stream", "wait": "spin"}, 7e-6 / speed)
    for metric, value in (("alloc", 9e-5), ("free", 1.4e-4)):
        for size in (1 << 21, 1 << 28):
            yield measurement("allocator", metric, "s", "lower",
                              {"bytes": size}, value / speed)
    yield measurement("allocator", "reset", "s", "lower",
                      {"blocks": 64, "bytes": 1 << 27}, 6e-3 / speed)
    yield measurement("overlap", "efficiency", "1", "higher",
                      {"direction": "h2d"}, 0.9, 0.02)


def main():
    label, speed = sys.argv[1], float(sys.argv[2])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    random.seed(label)
    measurements = list(curves(speed)) + list(steps(speed)) + list(
        costs(speed))
    while len(measurements) < wanted:
        measurements.append(measurement(
            "transfer", "latency", "s", "lower",
            {"bytes": len(measurements), "direction": "h2d"}, 5e-6 / speed))
    json.dump({
        "schema": "stave.result/1",
        "run": {"id": label, "label": label, "profile": "standard",
                "started": "2026-01-01T00:00:00Z",
                "finished": "2026-01-01T00:10:00Z",
                "stave": {"version": "0.1.0", "revision": "fixture"},
                "complete": True, "origin": "simulated", "source": None},
        "machine": {
            "cpu": {"model": "CPU of " + label, "sockets": 1, "cores": 8,
                    "threads": 16, "usable_threads": 16,
                    "governor": "performance"},
            "memory": {"total_bytes": 1 << 36}, "numa": [],
            "os": {"kernel": "6.1.0", "distribution": "Debian"},
            "virtualisation": {"kind": "none", "detail": None},
            "unknown": [{"field": "cpu.c_states", "why": "absent"}]},
        "device": {
            "backend": "cuda", "name": "Card of " + label, "index": 0,
            "memory_bytes": 24 << 30, "l2_bytes": int(5e7 * speed),
            "memory_bandwidth_Bps": 1e12 * speed,
            "peak_flops": {"fp32": 8.2e13 * speed, "tf32": 1e14 * speed,
                           "fp16": 1.7e14 * speed, "bf16": 1.7e14 * speed,
                           "fp64": 1.3e12 * speed},
            "pcie": {"under_load": {"generation": 4, "width": 16}},
            "driver": {"version": "580.0", "model": "linux"},
            "unknown": []},
        "measurements": measurements,
        "skipped": [{"bench": "peer", "params": {}, "code": "unsupported",
                     "reason": "there is one device"}],
        "failures": []}, sys.stdout)


main()
