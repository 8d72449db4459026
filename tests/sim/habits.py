#!/usr/bin/env python3
"""What habits cost must be what was planted, within 3 %, and the timeline
must show it.

usage: habits.py DEVICE.json RESULT.json TIMELINE.json
"""
import json
import sys

device = json.load(open(sys.argv[1]))
result = json.load(open(sys.argv[2]))
timeline = json.load(open(sys.argv[3]))
wrong = []


def expect(what, found, planted, tolerance):
    """Note what is further off than it may be."""
    print(f"{what}: planted {planted:.6g}, found {found:.6g}")
    if abs(found - planted) > tolerance * planted:
        wrong.append(what)


steps = {}
rates = {}
for m in result["measurements"]:
    if m["check"]["status"] != "pass":
        wrong.append(f"{m['id']}: {m['check']}")
    target = steps if m["metric"] == "time" else rates
    target[m["params"]["habit"]] = m["summary"]["median"]
batch = m["params"]["batch"]
baseline = steps["baseline"]
bytes_copied = 3e6

expect("sync_every_step", steps["sync_every_step"] - baseline,
       device["sync"]["readback_s"], 0.03)
expect("reset_every_step", steps["reset_every_step"] - baseline,
       device["alloc"]["trim_s"], 0.03)
expect("pageable", steps["pageable"] - baseline,
       bytes_copied / device["pcie"]["pageable_h2d_Bps"], 0.03)
expect("no_prefetch", steps["no_prefetch"] - baseline,
       bytes_copied / device["pcie"]["h2d_Bps"], 0.03)
# Bound by memory, of which fp32 moves twice as much.
expect("fp32", steps["fp32"] - baseline,
       2e8 / device["memory_bandwidth_Bps"], 0.03)
expect("rate", rates["baseline"], batch / baseline, 0.001)

names = {e["pid"]: e["args"]["name"] for e in timeline["traceEvents"]
         if e["name"] == "process_name"}
if len(names) != 6:
    wrong.append(f"timeline: {len(names)} cases, expected 6")
spans = [e for e in timeline["traceEvents"] if e["ph"] == "X"]
for pid, name in names.items():
    mine = [e for e in spans if e["pid"] == pid]
    if min(e["ts"] for e in mine) != 0 or min(e["dur"] for e in mine) < 0:
        wrong.append(f"timeline of {name}: it does not begin at 0")
    if sum(e["name"] == "step" for e in mine) != 3:
        wrong.append(f"timeline of {name}: expected 3 steps")
    work = sorted((e["ts"], e["ts"] + e["dur"]) for e in mine
                  if e["cat"] == "device")
    # An event's time is a float of milliseconds: a tenth of a ns is lost.
    if any(b[0] < a[1] - 0.2 for a, b in zip(work, work[1:])):
        wrong.append(f"timeline of {name}: work of one stream overlaps")
    busy = sum(b - a for a, b in work)
    if len(work) < 3 * 40 or busy <= 0:
        wrong.append(f"timeline of {name}: {len(work)} spans of the device")
    waits = {"sync_every_step": "read the loss",
             "reset_every_step": "empty the cache",
             "pageable": "batch to the device"}
    for habit, wait in waits.items():
        if f"habit={habit}&" in name:
            longest = max(e["dur"] for e in mine
                          if e["name"] == wait and e["cat"] == "host")
            cost = (steps[habit] - baseline) * 1e6
            if longest < 0.9 * cost:
                wrong.append(f"timeline of {name}: the host's {wait} takes "
                             f"{longest:.6g} us, the habit {cost:.6g}")
for line in wrong:
    print("WRONG", line)
sys.exit(bool(wrong))
