#!/usr/bin/env python3
"""Two simulated machines, one of them with one planted fault, through the
whole program: run, then explain. The fault has to be cause 1, against the same
card without it and against an older card.

usage: explain_faults.py STAVE

At most one of all the comparisons may name another cause first.
"""
import concurrent.futures
import copy
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# What every step needs, and what a term of a workload needs beside it.
ALWAYS = ("launch,gemm/*m=2048*precision=fp32*,gemm/*m=2048*precision=fp16*,"
          "gemm/*m=2048*precision=bf16*")
NEEDED = {"h2d_bytes_per_sample": "overlap,transfer/*bytes=268435456*",
          "working_set_bytes": "transfer/*bytes=268435456*",
          "syncs_per_step": "sync", "resets_per_step": "allocator/reset*",
          "memory_bytes_per_sample": "memory", "gradient_bytes": "peer"}
FLOP = 1.0e12  # of a step's products, some 10 ms on the good card


def workload(name, **terms):
    tree = {"schema": "stave.workload/1", "name": name,
            "defaults": {"batch": 8, "precision": "amp"},
            "gemm_flop_per_sample": FLOP / 8,
            "gemm_shape": {"m": "2048", "n": "2048", "k": "2048"},
            "kernels_per_step": 200}
    tree.update(terms)
    return tree


PRODUCTS = workload("products")
COPIES = workload("copies", h2d_bytes_per_sample=2e7,
                  defaults={"batch": 8, "precision": "amp",
                            "prefetch": False})
# name, what is planted, the workload that feels it, options, the cause
FAULTS = [
    ("gen3-x8", {"pcie": {"generation": 3, "width": 8, "h2d_Bps": 6.2e9,
                          "d2h_Bps": 6.4e9, "pageable_h2d_Bps": 5e9}},
     COPIES, [], ["PCIE_LINK"]),
    ("slow-submit", {"launch": {"submit_s": 1.1e-5}},
     workload("kernels", kernels_per_step=1500), [], ["LAUNCH_BOUND"]),
    ("dear-sync", {"sync": {"readback_s": 2e-4, "spin_s": 1.5e-4}},
     workload("reads", syncs_per_step=20), [], ["SYNC_EVERY_STEP"]),
    ("dear-reset", {"alloc": {"alloc_s": 3e-3, "free_s": 4e-3,
                              "trim_s": 3e-2}},
     workload("resets", resets_per_step=1, working_set_bytes={
         "fixed": 1.3e8, "per_sample": 0}), [], ["ALLOCATOR_RESET"]),
    ("power-limit", {"power": {"limit_w": 220},
                     "throttle": {"after_s": 0.001, "factor": 0.55,
                                  "reason": "sw_power_cap"}},
     PRODUCTS, [], ["POWER_LIMIT"]),
    ("throttled", {"throttle": {"after_s": 0.001, "factor": 0.5,
                                "reason": "hw_thermal"}},
     PRODUCTS, [], ["THERMAL"]),
    ("slow-memory", {"memory_bandwidth_Bps": 4.5e11},
     workload("passes", memory_bytes_per_sample={"amp": 1.5e9}), [],
     ["MEMORY_BANDWIDTH", "FAULTY_CARD"]),
    ("no-peer", {"peers": [{"device": 1, "p2p": False, "Bps": 1.1e10,
                            "latency_s": 1.6e-5}]},
     workload("gradients", gradient_bytes=2e8, defaults={
         "batch": 8, "precision": "amp", "gpus": 2}), [], ["PEER_PATH"]),
    ("pageable", {"pcie": {"pageable_h2d_Bps": 2e9,
                           "pageable_d2h_Bps": 2e9}},
     workload("ordinary-pages", h2d_bytes_per_sample=4e6), [
         "--set", "memory=pageable"], ["PAGEABLE_MEMORY"]),
    ("slow-fp16", {"gemm": {"peak_flops": {"fp16": 5.5e13}}},
     PRODUCTS, [], ["SOFTWARE_AGE"]),
    ("far-node", {"pcie": {"far_node_factor": 0.3}}, COPIES, [],
     ["NUMA_REMOTE"]),
    ("small-memory", {"memory_bytes": 8 << 30},
     workload("large-set", working_set_bytes={
         "fixed": 9e9, "per_sample": 1e8}), [], ["VRAM_SPILL"]),
]
BASES = ["rtx-4090", "rtx-3090"]


def merge(into, planted):
    for key, value in planted.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def pair(device):
    """The card twice, joined by a direct path unless something is planted."""
    twin = copy.deepcopy(device)
    twin["uuid"] = device["uuid"][:-1] + "2"
    twin["pci_address"] = "0000:02:00.0"
    for index, card in ((1, device), (0, twin)):
        card["peers"] = card.get("peers") or [
            {"device": 1, "p2p": True, "Bps": 5e10, "latency_s": 5e-6}]
        card["peers"][0]["device"] = index
    twin["peers"] = copy.deepcopy(device["peers"])
    twin["peers"][0]["device"] = 0
    return {"devices": [device, twin]}


def benches_for(terms):
    return ",".join([ALWAYS, *(NEEDED[t] for t in NEEDED if t in terms)])


def measure(stave, folder, name, planted, base, terms):
    with open(os.path.join(HERE, "devices", base + ".json"),
              encoding="utf-8") as file:
        device = json.load(file)
    merge(device, planted)
    path = os.path.join(folder, name + ".device.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(pair(device), file)
    out = os.path.join(folder, name + ".json")
    far = "far" if "far_node_factor" in planted.get("pcie", {}) else "near"
    run = subprocess.run(
        [os.path.join(HERE, "with-device"), path, "--", stave, "run",
         "--backend", "cuda", "--profile", "quick", "--rounds", "1",
         "--bench", benches_for(terms), "--label", name, "-o", out],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=dict(os.environ, STAVE_SIM_HOST=far), check=False)
    if run.returncode != 0:
        sys.exit("%s: run ended with %d\n%s" % (
            name, run.returncode, run.stdout[-2000:]))
    if far == "far":
        say_nodes(out)
    return out


def say_nodes(path):
    """This machine has one node and the card none: two fields that a machine
    with two would give; what was copied at which rate stays as measured."""
    with open(path, encoding="utf-8") as file:
        tree = json.load(file)
    tree["machine"]["binding"] = {"node": 1}
    tree["device"]["pcie"]["numa_node"] = 0
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tree, file)


def explain(stave, a, b, tree, options, folder):
    path = os.path.join(folder, tree["name"] + ".workload.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tree, file)
    answer = subprocess.run(
        [stave, "explain", a, b, "--workload", path, "--json", *options],
        stdout=subprocess.PIPE, check=True)
    return json.loads(answer.stdout)


def main():
    stave = sys.argv[1]
    wrong = total = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {base: pool.submit(
            measure, stave, folder, base, {}, base, NEEDED)
            for base in BASES}
        jobs.update({name: pool.submit(
            measure, stave, folder, name, planted, "rtx-4090", tree)
            for name, planted, tree, *_ in FAULTS})
        files = {name: job.result() for name, job in jobs.items()}
        for name, _, tree, options, codes in FAULTS:
            for base in BASES:
                x = explain(stave, files[base], files[name], tree, options,
                            folder)
                found = [c["code"] for c in x["causes"]]
                good = found[0] in codes
                total += 1
                wrong += not good
                print("%-4s %-12s against %-8s speed %.2f  %s" % (
                    "ok" if good else "NOT", name, base,
                    x["speedup"]["value"], " ".join(found)))
        # Without a fault none is found.
        x = explain(stave, files["rtx-3090"], files["rtx-4090"], PRODUCTS,
                    [], folder)
        found = [c["code"] for c in x["causes"]]
        total += 1
        wrong += found != ["NO_FAULT"]
        print("without a fault: %s" % " ".join(found))
    print("%d of %d name the planted fault first" % (total - wrong, total))
    return 1 if wrong > total // 20 else 0


sys.exit(main())
