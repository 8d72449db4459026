#!/usr/bin/env python3
"""Every planted number must come back: a run on a simulated device against
the device's own file.

usage: planted.py DEVICE.json RESULT.json [LEAST]
LEAST: how many planted values must be found at least, 20 if left out.
"""
import json
import re
import sys

planted_file = json.load(open(sys.argv[1]))
devices = planted_file.get("devices", [planted_file])
device = devices[0]
result = json.load(open(sys.argv[2]))
least = int(sys.argv[3]) if len(sys.argv) > 3 else 20
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


def preprocess_rate(p):
    """Kernels over 32 pictures of 500 by 375, each paying its floor."""
    prepared = 3 * 224 * 224 * 4
    traffic = [500 * 375 * 3 + prepared]
    if p["work"] == "heavy":
        traffic += 3 * [2 * prepared]
    seconds = sum(32 * b / device["memory_bandwidth_Bps"]
                  + device["launch"]["floor_s"] for b in traffic)
    return 32 / seconds


def transfer_rate(p):
    pcie = device["pcie"]
    if p["memory"] == "pageable":
        return pcie[f"pageable_{p['direction']}_Bps"]
    return pcie[f"{p['direction']}_Bps"]


def reset_time(p):
    """Trim, then blocks of whole 2 MiB from the driver; a wait beside it."""
    alloc = device["alloc"]
    block = -(-p["bytes"] // p["blocks"] // 2**21) * 2**21
    each = alloc["alloc_s"] + block * alloc["alloc_s_per_byte"]
    return alloc["trim_s"] + p["blocks"] * each + device["sync"]["spin_s"]


def peer(p):
    for link in devices[p["src"]].get("peers", []):
        if link["device"] == p["dst"] and link["p2p"] == (p["path"] == "p2p"):
            return link
    return None


def planted_value(name, p):
    """What the device file says of a measurement, or None."""
    launch, sync, alloc = device["launch"], device["sync"], device["alloc"]
    bench, metric = name.split("/")
    if bench == "launch":
        return {"submit": launch["submit_s"], "gap": launch["floor_s"],
                "graph": launch["graph_node_s"], "first": launch["first_s"],
                "queue": launch["queue_depth"],
                "roundtrip": launch["submit_s"] + launch["floor_s"]
                + sync["spin_s"]}[metric]
    if name == "sync/wait":
        return sync[p["wait"] + "_s"]
    if name == "sync/readback":
        return sync["readback_s"]
    if name == "allocator/alloc":
        return alloc["alloc_s"] + p["bytes"] * alloc["alloc_s_per_byte"]
    if name == "allocator/free":
        return alloc["free_s"]
    if name == "allocator/pool_alloc":
        return alloc["pool_alloc_s"]
    if name == "allocator/reset":
        return reset_time(p)
    if name == "memory/bandwidth" and p["bytes"] >= 2**28:
        return memory_rate(p)
    if name == "transfer/bandwidth" and p["bytes"] >= 2**28 \
            and p["memory"] in ("pinned", "pageable", "registered"):
        return transfer_rate(p)
    if name == "transfer/latency" and p["memory"] == "pinned":
        return launch["submit_s"] + device["pcie"]["latency_s"] \
            + sync["spin_s"]
    if name == "gemm/throughput" and p["shape"] == "square":
        return gemm_rate(p)
    if name == "preprocess/rate" and p["where"] == "device":
        return preprocess_rate(p)
    if name == "peer/bandwidth" and p["direction"] == "uni" and peer(p):
        seconds = peer(p)["latency_s"] + 2**28 / peer(p)["Bps"]
        return 2**28 / seconds
    if name == "peer/latency" and peer(p):
        return peer(p)["latency_s"] + 4 / peer(p)["Bps"]
    return None


for m in result["measurements"]:
    value = planted_value(f"{m['bench']}/{m['metric']}", m["params"])
    if value is not None:
        expect(m["id"], m["summary"]["median"], value)

for field, planted in (
        ("run.origin", "simulated"),
        ("device.name", device["name"]),
        ("device.compute_capability", device["compute_capability"]),
        ("device.multiprocessors", device["multiprocessors"]),
        ("device.memory_bytes", device["memory_bytes"]),
        ("device.l2_bytes", device["l2_bytes"]),
        ("device.pcie.generation", device["pcie"]["idle_generation"]),
        ("device.pcie.under_load.generation", device["pcie"]["generation"]),
        ("device.pcie.under_load.width", device["pcie"]["width"]),
        ("device.pcie.max_width", device["pcie"]["max_width"]),
        ("device.power.limit_w", device["power"]["limit_w"]),
        ("device.power.default_limit_w", device["power"]["default_w"]),
        ("device.clocks.under_load.sm_Hz", device["sm_clock_Hz"])):
    value = result
    for key in field.split("."):
        value = value[key]
    checked += 1
    if value != planted:
        wrong.append(f"{field}: expected {planted}, found {value}")
for line in wrong:
    print(line)
print(f"{checked} planted values, {len(wrong)} wrong")
sys.exit(bool(wrong) or checked < least)
