#!/usr/bin/env python3
"""Every planted number must come back: a run on a simulated device against
the device's own file.

usage: planted.py DEVICE.json RESULT.json
"""
import json
import re
import sys

device = json.load(open(sys.argv[1]))
result = json.load(open(sys.argv[2]))
wrong = []
checked = 0


def expect(metric, found, planted):
    """1 %, or 2 % for times under 3 µs."""
    global checked
    tolerance = 0.02 if planted < 3e-6 else 0.01
    checked += 1
    if abs(found - planted) > tolerance * planted:
        wrong.append(f"{metric}: planted {planted:.6g}, found {found:.6g}")


def gemm_rate(p):
    """Formula of the contract, section 6; time of a whole strided call."""
    planted = device["gemm"]
    flop = 2.0 * p["m"] * p["n"] * p["k"] * p["count"]
    side = (p["m"] * p["n"] * p["k"]) ** (1 / 3)
    peak = planted["peak_flops"][p["precision"]]
    seconds = flop / (peak * side / (side + planted["half_size"]))
    return flop / (seconds + device["launch"]["floor_s"])


def memory_rate(p):
    """Arrays read and written, each kernel paying its floor."""
    traffic = p["bytes"] * {"read": 1, "write": 1, "copy": 2, "triad": 3}[p["op"]]
    seconds = traffic / device["memory_bandwidth_Bps"]
    return traffic / (seconds + device["launch"]["floor_s"])


def transfer_rate(p):
    pcie = device["pcie"]
    if p["memory"] == "pageable":
        return pcie[f"pageable_{p['direction']}_Bps"]
    return pcie[f"{p['direction']}_Bps"]


for m in result["measurements"]:
    p, found = m["params"], m["summary"]["median"]
    name = f"{m['bench']}/{m['metric']}"
    launch, sync, alloc = device["launch"], device["sync"], device["alloc"]
    if name in ("launch/submit", "launch/gap", "launch/graph", "launch/first"):
        key = {"submit": "submit_s", "gap": "floor_s",
               "graph": "graph_node_s", "first": "first_s"}[m["metric"]]
        expect(m["id"], found, launch[key])
    elif name == "sync/wait" and p["call"] == "stream":
        expect(m["id"], found, sync[p["wait"] + "_s"])
    elif name == "sync/readback" and p["wait"] == "spin":
        expect(m["id"], found, sync["readback_s"])
    elif name == "allocator/alloc":
        expect(m["id"], found,
               alloc["alloc_s"] + p["bytes"] * alloc["alloc_s_per_byte"])
    elif name == "allocator/free":
        expect(m["id"], found, alloc["free_s"])
    elif name == "allocator/pool_alloc":
        expect(m["id"], found, alloc["pool_alloc_s"])
    elif name == "memory/bandwidth" and p["bytes"] >= 2**28:
        expect(m["id"], found, memory_rate(p))
    elif name == "transfer/bandwidth" and p["bytes"] >= 2**28:
        expect(m["id"], found, transfer_rate(p))
    elif name == "gemm/throughput" and p["shape"] == "square":
        expect(m["id"], found, gemm_rate(p))

for field, planted in (("device.name", device["name"]),
                       ("run.origin", "simulated")):
    value = result
    for key in field.split("."):
        value = value[key]
    checked += 1
    if value != planted:
        wrong.append(f"{field}: expected {planted}, found {value}")
for line in wrong:
    print(line)
print(f"{checked} planted values, {len(wrong)} wrong")
sys.exit(bool(wrong) or checked < 20)
