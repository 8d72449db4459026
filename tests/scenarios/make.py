#!/usr/bin/env python3
"""Write the scenarios below as folders of a.json, b.json, workload.json,
expect.json and README.md.

Each restates one report of a user, or two faults at once, or none; the
numbers that reproduce it are chosen here, and the answer is worked out by
hand from them, never from the program's own output.
usage: make.py [FOLDER]   (this folder)
"""
import json
import os
import random
import sys

MIB = 1 << 20
ALL_FAULTS = ["PCIE_LINK", "PAGEABLE_MEMORY", "NUMA_REMOTE",
              "SYNC_EVERY_STEP", "ALLOCATOR_RESET", "PRECISION_OFF",
              "STORAGE", "CPU_PREPROCESS", "LOADER_WORKERS", "POWER_LIMIT",
              "THERMAL", "CLOCKS", "PEER_PATH", "VRAM_SPILL", "HOST_CPU",
              "C_STATES", "SOFTWARE_AGE", "DRIVER_MODEL", "FAULTY_CARD"]

# Peaks of products FLOP/s (fp32, tf32, fp16, bf16), half-rate size, memory
# B/s and bytes, capability, limit W, clocks Hz: data sheets; half-rate sizes
# are chosen.
CARDS = {
    "RTX 3090": (35.6e12, 35.6e12, 71e12, 71e12, 800, 936e9, 25438126080,
                 [8, 6], 350, 2.1e9, 9.75e9),
    "RTX 4090": (82.6e12, 82.6e12, 165.2e12, 165.2e12, 1150, 1008e9,
                 25757220864, [8, 9], 450, 3.1e9, 10.5e9),
    "A100 80GB": (19.5e12, 156e12, 312e12, 312e12, 900, 2039e9, 85899345920,
                  [8, 0], 400, 1.41e9, 1.593e9),
    "H100 SXM": (67e12, 494e12, 989e12, 989e12, 1800, 3350e9, 85899345920,
                 [9, 0], 700, 1.98e9, 2.6e9),
    "A10": (31.2e12, 62.5e12, 125e12, 125e12, 900, 600e9, 24146608128,
            [8, 6], 150, 1.7e9, 6.25e9),
    "RTX 5080": (56.3e12, 56.3e12, 225e12, 225e12, 1200, 960e9, 17094934528,
                 [12, 0], 360, 2.6e9, 15e9),
}


class Machine:
    """What is planted; result() measures it with noise of 0.1 %."""

    def __init__(self, card, label=None, **planted):
        self.card, self.label = card, label or card
        self.fp32, self.tf32, self.fp16, self.bf16, self.half, self.memory, \
            self.bytes, self.cc, self.limit, self.sm, self.mem_clock = \
            CARDS[card]
        self.submit, self.gap, self.trip = 2.4e-6, 1.9e-6, 6.5e-6
        self.wait, self.readback = 1.5e-6, 8e-6
        self.h2d, self.d2h, self.pageable = 25e9, 26e9, 11e9
        self.reset = 0.006
        self.reads = {1: 9000, 4: 25200, 16: 37700}
        self.core_rate, self.best_workers = 52.0, 12
        self.overlap, self.near, self.far = 0.95, None, None
        self.peer, self.peer_path = None, None
        self.products = {}  # factor on one precision
        self.memory_part = 0.92
        self.machine, self.device = {}, {}
        for key, value in planted.items():
            assert hasattr(self, key), key
            setattr(self, key, value)

    def describe(self):
        device = {
            "backend": "cuda", "name": "NVIDIA " + self.card, "index": 0,
            "uuid": None, "pci_address": "0000:01:00.0",
            "compute_capability": self.cc, "memory_bytes": self.bytes,
            "memory_free_bytes": int(0.97 * self.bytes),
            "memory_bandwidth_Bps": self.memory,
            "peak_flops": {"fp32": self.fp32, "tf32": self.tf32,
                           "fp16": self.fp16, "bf16": self.bf16},
            "clocks": {"sm_Hz": 2.1e8, "memory_Hz": 4.05e8,
                       "max_sm_Hz": self.sm, "max_memory_Hz": self.mem_clock,
                       "under_load": {"sm_Hz": 0.85 * self.sm,
                                      "memory_Hz": self.mem_clock}},
            "power": {"limit_w": self.limit, "default_limit_w": self.limit,
                      "max_limit_w": 1.2 * self.limit,
                      "draw_under_load_w": 0.8 * self.limit},
            "temperature_under_load_C": 66,
            "pcie": {"generation": 4, "width": 16,
                     "under_load": {"generation": 4, "width": 16},
                     "max_generation": 4, "max_width": 16,
                     "slot_max_generation": 4, "slot_max_width": 16,
                     "path": [], "bottleneck": None, "numa_node": 0,
                     "trusted": True},
            "throttle": {"reasons": [], "fraction": 0.0},
            "driver": {"version": "580.95.05", "cuda_version": "13.0",
                       "model": "linux"},
            "libraries": {"cublas": "13.1.0", "cudnn": "9.19.0",
                          "framework_arch_list": [
                              "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"]},
            "modes": {"ecc": None, "mig": False, "compute_mode": "default",
                      "persistence": True, "display_active": False,
                      "other_processes": 0}, "unknown": []}
        machine = {
            "cpu": {"model": "AMD Ryzen 9 5900X", "sockets": 1, "cores": 12,
                    "threads": 24, "usable_threads": 24,
                    "governor": "performance", "max_Hz": 4.8e9,
                    "min_Hz": 2.2e9, "smt": True,
                    "c_states": [{"name": "C1", "exit_latency_s": 1e-6,
                                  "disabled": False}]},
            "memory": {"total_bytes": 68719476736,
                       "available_bytes": 60000000000, "thp": "madvise",
                       "memlock_limit_bytes": None},
            "numa": [{"node": 0, "cpus": "0-23",
                      "memory_bytes": 68719476736}],
            "binding": {"node": None},
            "os": {"kernel": "6.8.0", "distribution": "Ubuntu 24.04",
                   "iommu": "off", "cmdline_flags": []},
            "virtualisation": {"kind": "none", "detail": None},
            "storage": {"path": "/data", "filesystem": "ext4",
                        "rotational": False, "transport": "nvme"},
            "environment": {}, "unknown": []}
        for target, changes in ((device, self.device),
                                (machine, self.machine)):
            for path, value in changes.items():
                *folders, last = path.split(".")
                place = target
                for folder in folders:
                    place = place[folder]
                place[last] = value
        return machine, device

    def planted(self):
        """(bench, metric, unit, better, params, value) of all figures."""
        for name, rate, lag in (("h2d", self.h2d, 9e-6),
                                ("d2h", self.d2h, 9e-6)):
            for size in (4096, 65536, MIB, 16 * MIB, 256 * MIB):
                for memory, r in (("pinned", rate),
                                  ("pageable", min(self.pageable, rate))):
                    yield ("transfer", "bandwidth", "B/s", "higher",
                           {"direction": name, "memory": memory,
                            "bytes": size}, size / (size / r + lag))
        for numa, rate in (("near", self.near), ("far", self.far)):
            if rate:
                yield ("transfer", "bandwidth", "B/s", "higher",
                       {"direction": "h2d", "memory": "pinned",
                        "bytes": 256 * MIB, "numa": numa}, rate)
        for metric, value in (("submit", self.submit), ("gap", self.gap),
                              ("roundtrip", self.trip)):
            yield ("launch", metric, "s", "lower", {"args_bytes": 64}, value)
        yield ("launch", "graph", "s", "lower", {"nodes": 1024}, 1.1e-6)
        for precision in ("fp32", "tf32", "fp16", "bf16"):
            peak = getattr(self, precision) * self.products.get(precision, 1)
            for n in (256, 512, 1024, 2048, 4096, 8192):
                t = 2.0 * n ** 3 / (0.95 * peak * n / (n + self.half))
                yield ("gemm", "throughput", "FLOP/s", "higher",
                       {"precision": precision, "shape": "square",
                        "batch": 1, "count": 1, "m": n, "n": n, "k": n},
                       2.0 * n ** 3 / (t + self.gap))
        yield ("sync", "wait", "s", "lower",
               {"call": "stream", "wait": "spin"}, self.wait)
        yield ("sync", "readback", "s", "lower",
               {"call": "stream", "wait": "spin"}, self.readback)
        yield ("allocator", "reset", "s", "lower",
               {"blocks": 64, "bytes": 2 << 30}, self.reset)
        for op, part in (("copy", 0.99), ("triad", 1.0), ("read", 1.02)):
            yield ("memory", "bandwidth", "B/s", "higher",
                   {"op": op, "bytes": 1 << 30},
                   self.memory * self.memory_part * part)
        yield ("overlap", "efficiency", "1", "higher",
               {"direction": "h2d"}, self.overlap)
        for threads, rate in self.reads.items():
            yield ("storage", "rate", "1/s", "higher",
                   {"layout": "files", "cache": "cold",
                    "sample_bytes": 110000, "threads": threads}, rate)
        for workers in (1, 2, 4, 8, 12, 24):
            useful = min(workers, self.best_workers)
            spoilt = max(workers - self.best_workers, 0)
            yield ("preprocess", "rate", "1/s", "higher",
                   {"work": "standard", "where": "cpu", "workers": workers},
                   self.core_rate * useful * 0.985 ** useful /
                   (1 + 0.1 * spoilt))
        if self.peer:
            yield ("peer", "bandwidth", "B/s", "higher",
                   {"src": 0, "dst": 1, "path": self.peer_path,
                    "direction": "uni", "bytes": 256 * MIB}, self.peer)

    def result(self, seed, title):
        noise = random.Random(seed)
        measurements = []
        for bench, metric, unit, better, params, value in self.planted():
            rounds = [float("%.6g" % (value * (1 + noise.gauss(0, 0.001))))
                      for _ in range(6)]
            middle = sorted(rounds)
            middle = (middle[2] + middle[3]) / 2
            name = "&".join("%s=%s" % (k, params[k]) for k in sorted(params))
            measurements.append({
                "id": "%s/%s?%s" % (bench, metric, name), "bench": bench,
                "metric": metric, "params": params, "unit": unit,
                "better": better, "rounds": rounds,
                "summary": {"n": 6, "median": middle},
                "flags": [], "check": {"status": "none"}})
        machine, device = self.describe()
        return {"schema": "stave.result/1",
                "run": {"id": "%s-%s" % (title, self.label),
                        "label": self.label, "profile": "standard",
                        "started": "2026-01-01T00:00:00Z",
                        "finished": "2026-01-01T00:05:00Z",
                        "complete": True, "origin": "simulated",
                        "source": [{"title": "made for scenario " + title}]},
                "machine": machine, "device": device,
                "measurements": measurements, "skipped": [], "failures": []}


def workload(name, **terms):
    defaults = {"batch": 32, "precision": "amp", "loader_workers": 8,
                "memory": "pinned", "prefetch": True, "gpus": 1}
    defaults.update(terms.pop("defaults", {}))
    w = {"schema": "stave.workload/1", "name": name, "source": ["scenario"],
         "defaults": defaults, "kernels_per_step": 500,
         "dispatch_factor": 1}
    w.update(terms)
    if "gemm_flop_per_sample" in w:
        w.setdefault("gemm_shape", {"m": "4096", "n": "4096", "k": "4096"})
    return w


def resnet():
    return workload("resnet-resident", gemm_flop_per_sample=24.5e9,
                    memory_bytes_per_sample={"amp": 0.33e9, "fp32": 0.66e9},
                    h2d_bytes_per_sample=150528, defaults={"batch": 128})


def from_files(workers):
    """A card takes some 290 samples a second, twelve workers prepare 520."""
    return workload("detector", gemm_flop_per_sample=200e9,
                    h2d_bytes_per_sample=6e5,
                    sample={"files": 1, "bytes": 110000, "work": "standard"},
                    defaults={"batch": 32, "loader_workers": workers})


def step_of_gemm(seconds, rate, **terms):
    """A step of one sample that multiplies for so long at this rate."""
    terms.setdefault("defaults", {})
    terms["defaults"] = {"batch": 1, **terms["defaults"]}
    return workload(terms.pop("name", "products"),
                    gemm_flop_per_sample=seconds * rate, **terms)


# What products of 4096 reach on each card, by the formula above.
def plateau(card, precision="fp16"):
    m = Machine(card)
    return 0.95 * getattr(m, precision) * 4096 / (4096 + m.half)


R3090, R4090 = plateau("RTX 3090"), plateau("RTX 4090")
SAME = {"verdict": "no_difference"}
SCENARIOS = []


def scenario(name, why, a, b, w, *expects):
    SCENARIOS.append((name, why, a, b, w, list(expects)))


# One cause each.
scenario(
    "C012-old-library",
    "webui#2449: a 4090 with cuDNN 8.5 and a framework built up to sm_86 "
    "loses though its products are healthy. The version is the cause, and "
    "the remedy names the capability.",
    Machine("RTX 3090"),
    Machine("RTX 4090", device={
        "libraries.cudnn": "8.5.0",
        "libraries.framework_arch_list": ["sm_75", "sm_80", "sm_86"]}),
    step_of_gemm(0.067, R3090, name="unet", kernels_per_step=2000),
    {"args": [], "top_cause": ["SOFTWARE_AGE"],
     "must_not_cause": ["POWER_LIMIT", "PCIE_LINK", "FAULTY_CARD"]})
scenario(
    "C002-slow-host",
    "webui#2449, second stage: 12,000 launches at 4 us are 48 ms whatever "
    "the card; at batch 8 the card decides. 600 W of limit changed nothing.",
    Machine("RTX 3090", submit=4e-6, trip=9e-6),
    Machine("RTX 4090", submit=4e-6, trip=9e-6, device={
        "power.limit_w": 600, "power.draw_under_load_w": 220}),
    step_of_gemm(0.040, R3090, name="unet-images", kernels_per_step=12000),
    {"args": ["--batch", "1"], **SAME, "top_cause": ["LAUNCH_BOUND"],
     "must_not_cause": ["POWER_LIMIT", "THERMAL", "PCIE_LINK"],
     "ruled_out": ["POWER_LIMIT"]},
    {"args": ["--batch", "8"], "verdict": "b_faster",
     "must_not_cause": ["LAUNCH_BOUND", "POWER_LIMIT"]})
scenario(
    "C055-spill",
    "WSL#10452, kohya_ss#1430: the set needs 24.2 GB where 23 GB are free "
    "on B: every step pages, five times slower. Link and draw look odd and "
    "are not the cause.",
    Machine("RTX 3090"),
    Machine("RTX 4090", device={
        "driver.model": "wddm", "memory_free_bytes": 23000000000,
        "power.draw_under_load_w": 135}),
    step_of_gemm(1.0, R3090, name="lora-near-the-limit",
                 defaults={"batch": 8}, working_set_bytes={
                     "fixed": 8.2e9, "per_sample": 2.0e9},
                 kernels_per_step=5000),
    {"args": ["--set", "gemm_flop_per_sample=%g" % (R3090 / 8)],
     "verdict": "b_slower", "speedup": [0.15, 0.3],
     "top_cause": ["VRAM_SPILL"],
     "must_not_cause": ["PCIE_LINK", "POWER_LIMIT"]},
    {"args": ["--set", "gemm_flop_per_sample=%g" % (R3090 / 8),
              "--batch", "7"],
     "verdict": "b_faster", "must_not_cause": ["VRAM_SPILL"]})
scenario(
    "C063-wddm-wait",
    "musubi-tuner, same 5090-class card: 40 block swaps a step wait 81.5 ms "
    "each under WDDM and 0.1 ms under Linux; half the link is minor. "
    "Step 5.9 against 9.5 s.",
    Machine("RTX 5080", "Linux", readback=1e-4, wait=1e-4, trip=1.1e-4),
    Machine("RTX 5080", "Windows", readback=81.5e-3, wait=1e-4, trip=1.1e-4,
            h2d=22.1e9, d2h=22.1e9, device={
                "driver.model": "wddm", "pcie.under_load.width": 8}),
    step_of_gemm(3.68, plateau("RTX 5080"), name="block-swap",
                 defaults={"prefetch": False}, syncs_per_step=40,
                 h2d_bytes_per_sample=54e9, kernels_per_step=20000),
    {"args": [], "verdict": "b_slower", "speedup": [0.58, 0.68],
     "a_step_s": [5.6, 6.2], "b_step_s": [9.0, 9.9],
     "top_cause": ["DRIVER_MODEL"], "must_not_top_cause": ["PCIE_LINK"]})
scenario(
    "C047-too-many-threads",
    "MinkowskiEngine#121, torchtitan#4038: the host's work gets slower with "
    "more threads than useful ones; fewer workers cure it.",
    Machine("RTX 3090", best_workers=24),
    Machine("RTX 4090", best_workers=4),
    workload("many-workers", gemm_flop_per_sample=20e9,
             defaults={"batch": 64, "loader_workers": 24},
             sample={"files": 1, "bytes": 110000, "work": "standard"}),
    {"args": [], "verdict": "b_slower", "top_cause": ["LOADER_WORKERS"],
     "must_not_cause": ["POWER_LIMIT", "PCIE_LINK", "FAULTY_CARD"]})
scenario(
    "C077-no-nvlink",
    "transformers#9371: two cards, 101 s an epoch with NVLink, 131 s "
    "through the host: 30 % more.",
    Machine("RTX 3090", "2x, NVLink", peer=48e9, peer_path="p2p"),
    Machine("RTX 3090", "2x, no bridge", peer=6e9, peer_path="staged"),
    step_of_gemm(0.095, R3090, name="data-parallel", defaults={"gpus": 2},
                 gradient_bytes=0.2e9),
    {"args": [], "verdict": "b_slower", "speedup": [0.74, 0.80],
     "top_cause": ["PEER_PATH"],
     "must_not_cause": ["PCIE_LINK", "FAULTY_CARD"]})
scenario(
    "C051-deep-sleep",
    "gvisor#14526: 400,000 waits of 10 us on one host and of 200 us on "
    "another whose processor sleeps deeply, beside 18 s of work: 22 and 98 "
    "s. The governor looks right.",
    Machine("RTX 3090", readback=1e-5),
    Machine("RTX 3090", "other host", readback=2e-4, machine={
        "cpu.c_states": [
            {"name": "C1", "exit_latency_s": 2e-6, "disabled": False},
            {"name": "C6", "exit_latency_s": 1.9e-4, "disabled": False}]}),
    step_of_gemm(18.0, R3090, name="waits", syncs_per_step=400000,
                 kernels_per_step=400000),
    {"args": [], "verdict": "b_slower", "speedup": [0.2, 0.27],
     "top_cause": ["C_STATES"],
     "must_not_cause": ["HOST_CPU", "DRIVER_MODEL", "FAULTY_CARD"]})
scenario(
    "C042-network-files",
    "horovod#824: reading from NFS collapses to a few hundred samples a "
    "second; a local disk cures it.",
    Machine("RTX 3090"),
    Machine("RTX 4090", reads={1: 40, 4: 120, 16: 210}, machine={
        "storage.transport": "network", "storage.filesystem": "nfs"}),
    from_files(12),
    {"args": [], "verdict": "b_slower", "top_cause": ["STORAGE"],
     "must_not_cause": ["POWER_LIMIT", "PCIE_LINK", "LAUNCH_BOUND"]})
scenario(
    "C131-no-airflow",
    "llm-rig#100: the card throttles for heat and runs at well under half "
    "its clock.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "hot", products=dict.fromkeys(
        ["fp32", "tf32", "fp16", "bf16"], 0.45), device={
            "throttle.reasons": ["sw_thermal"], "throttle.fraction": 0.9,
            "temperature_under_load_C": 92,
            "clocks.under_load.sm_Hz": 0.8e9}),
    resnet(),
    {"args": [], "verdict": "b_slower", "top_cause": ["THERMAL"],
     "must_not_cause": ["POWER_LIMIT", "FAULTY_CARD", "SOFTWARE_AGE"]})
scenario(
    "C134-power-cap",
    "club-3090#103: at 210 of 350 W the card stands at its cap all the time "
    "and clocks down.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "capped", products=dict.fromkeys(
        ["fp32", "tf32", "fp16", "bf16"], 0.7), device={
            "power.limit_w": 210, "power.draw_under_load_w": 208,
            "throttle.reasons": ["sw_power_cap"], "throttle.fraction": 1.0,
            "clocks.under_load.sm_Hz": 1.25e9}),
    step_of_gemm(0.2, R3090, name="resident"),
    {"args": [], "verdict": "b_slower", "speedup": [0.68, 0.72],
     "top_cause": ["POWER_LIMIT"],
     "must_not_cause": ["THERMAL", "FAULTY_CARD"]})
scenario(
    "C133-locked-clock",
    "A clock lock left behind: half the clock under load, no reason given, "
    "draw far below the limit.",
    Machine("RTX 4090"),
    Machine("RTX 4090", "locked", products=dict.fromkeys(
        ["fp32", "tf32", "fp16", "bf16"], 0.55), device={
            "power.draw_under_load_w": 180,
            "clocks.under_load.sm_Hz": 1.45e9}),
    step_of_gemm(0.2, R4090, name="resident"),
    {"args": [], "verdict": "b_slower", "speedup": [0.53, 0.57],
     "top_cause": ["CLOCKS"],
     "must_not_cause": ["POWER_LIMIT", "THERMAL", "FAULTY_CARD"]})
scenario(
    "C144-one-bad-card",
    "flash-attention#1021: one card of eight takes 4.5 s where its sisters "
    "take 2.2 s, with every reading normal.",
    Machine("H100 SXM", "card 1"),
    Machine("H100 SXM", "card 0", products=dict.fromkeys(
        ["fp32", "tf32", "fp16", "bf16"], 0.49)),
    step_of_gemm(2.2, plateau("H100 SXM"), name="llm"),
    {"args": [], "verdict": "b_slower", "speedup": [0.47, 0.51],
     "top_cause": ["FAULTY_CARD"],
     "must_not_cause": ["POWER_LIMIT", "THERMAL", "CLOCKS",
                        "SOFTWARE_AGE"]})
scenario(
    "C099-pageable",
    "dask-cuda#98: pageable copies at 2.5 GB/s that the step waits for; "
    "pinned ones are hidden.",
    Machine("RTX 3090"), Machine("RTX 3090", pageable=2.5e9),
    step_of_gemm(0.1, R3090, name="streams-250-MB",
                 h2d_bytes_per_sample=250e6),
    {"args": ["--set-b", "memory=pageable"], "verdict": "b_slower",
     "speedup": [0.48, 0.53], "top_cause": ["PAGEABLE_MEMORY"],
     "must_not_cause": ["PCIE_LINK", "NUMA_REMOTE"]})
scenario(
    "C118-hidden-reads",
    "Advanced_Optimizers#5: one hidden .item() for each of 4,000 parameters "
    "a step; without them the step is about 50 % faster.",
    Machine("RTX 3090"), Machine("RTX 4090"),
    step_of_gemm(0.060, R4090, name="optimizer", syncs_per_step=4000,
                 kernels_per_step=8000),
    {"args": [], "verdict": "b_faster", "top_cause": ["SYNC_EVERY_STEP"],
     "must_not_cause": ["PCIE_LINK", "POWER_LIMIT"]})
scenario(
    "C107-riser",
    "darknet#2807: an x1 riser on a mining board; 0.8 GB/s to the card.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "on a riser", h2d=0.8e9, d2h=0.8e9, pageable=0.75e9,
            device={"pcie.under_load": {"generation": 3, "width": 1},
                    "pcie.generation": 3, "pcie.width": 1}),
    step_of_gemm(0.1, R3090, name="streams-126-MB",
                 h2d_bytes_per_sample=126e6),
    {"args": [], "verdict": "b_slower", "top_cause": ["PCIE_LINK"],
     "must_not_cause": ["NUMA_REMOTE", "FAULTY_CARD"]})
scenario(
    "C037-two-workers",
    "pytorch/examples#387: two workers starve the card; more would feed it.",
    Machine("RTX 3090"), Machine("RTX 4090"),
    from_files(2),
    {"args": [], **SAME, "top_cause": ["LOADER_WORKERS"],
     "must_not_cause": ["STORAGE", "POWER_LIMIT", "SMALL_BATCH"]})
scenario(
    "C003-small-shapes",
    "icefall#1698: products too small to fill an H100; hardly faster than "
    "an A100, and no fault of it.",
    Machine("A100 80GB"), Machine("H100 SXM"),
    workload("small-products", defaults={"batch": 4}, kernels_per_step=200,
             gemm=[{"m": "B*64", "n": "256", "k": "512", "count": "200"}]),
    {"args": [], "must_not_cause": ALL_FAULTS,
     "top_cause": ["SMALL_BATCH", "LAUNCH_BOUND"]})
scenario(
    "C018-young-kernels",
    "pytorch#159207: a 5080 reaches half of its fp16 rate with this cuBLAS; "
    "fp32, memory and link are normal.",
    Machine("RTX 4090"),
    Machine("RTX 5080", products={"fp16": 0.45}),
    step_of_gemm(0.2, plateau("RTX 5080"), name="resident"),
    {"args": [], "top_cause": ["SOFTWARE_AGE"],
     "must_not_cause": ["FAULTY_CARD", "POWER_LIMIT", "CLOCKS"]})
scenario(
    "C053-governor",
    "A host left under powersave: launches cost twice as much on B and the "
    "step is made of them.",
    Machine("RTX 3090"),
    Machine("RTX 4090", submit=5.2e-6, trip=12e-6, core_rate=30.0, machine={
        "cpu.governor": "powersave"}),
    step_of_gemm(0.004, R3090, name="small-kernels", kernels_per_step=4000),
    {"args": [], "verdict": "b_slower",
     "top_cause": ["HOST_CPU", "LAUNCH_BOUND"],
     "must_not_cause": ["POWER_LIMIT", "PCIE_LINK"]})

# Two causes at once, the larger first.
scenario(
    "T01-wddm-and-half-link",
    "Waits under WDDM and a link of eight lanes, both of weight: 3 s of "
    "waits, 1 s of copies.",
    Machine("RTX 5080", "Linux", readback=1e-4),
    Machine("RTX 5080", "Windows", readback=75e-3, h2d=12.6e9, d2h=12.6e9,
            device={"driver.model": "wddm", "pcie.under_load.width": 8}),
    step_of_gemm(3.0, plateau("RTX 5080"), name="swaps",
                 defaults={"prefetch": False}, syncs_per_step=40,
                 h2d_bytes_per_sample=25e9),
    {"args": [], "verdict": "b_slower", "top_cause": ["DRIVER_MODEL"],
     "causes": ["DRIVER_MODEL", "PCIE_LINK"]})
scenario(
    "T02-library-and-launches",
    "An old library and a host that is nearly as slow as the card: both "
    "must be mended.",
    Machine("RTX 3090", submit=9e-6, trip=20e-6),
    Machine("RTX 4090", submit=9e-6, trip=20e-6,
            device={"libraries.cudnn": "8.5.0"}),
    step_of_gemm(0.050, R4090, name="unet-sync", kernels_per_step=5000,
                 syncs_per_step=500),
    {"args": [], "causes": ["LAUNCH_BOUND", "SYNC_EVERY_STEP"],
     "must_not_cause": ["POWER_LIMIT", "PCIE_LINK"]})
scenario(
    "T03-reset-and-cap",
    "A reset of 80 ms a step and a power cap that costs 60 ms of a 140 ms "
    "step.",
    Machine("RTX 3090", reset=0.08),
    Machine("RTX 3090", "capped", reset=0.08, products=dict.fromkeys(
        ["fp32", "tf32", "fp16", "bf16"], 0.7), device={
            "power.limit_w": 210, "power.draw_under_load_w": 209,
            "throttle.reasons": ["sw_power_cap"], "throttle.fraction": 1.0,
            "clocks.under_load.sm_Hz": 1.25e9}),
    step_of_gemm(0.14, R3090, name="resets", resets_per_step=0,
                 working_set_bytes={"fixed": 2 << 30, "per_sample": 0}),
    {"args": ["--set-b", "resets_per_step=1"], "verdict": "b_slower",
     "speedup": [0.47, 0.54], "top_cause": ["ALLOCATOR_RESET"],
     "causes": ["ALLOCATOR_RESET", "POWER_LIMIT"]})
scenario(
    "T04-node-and-waits",
    "Memory on the far node and a read every kernel pair.",
    Machine("RTX 3090", near=12.2e9, far=3.8e9, h2d=12.2e9, d2h=12.9e9,
            device={"pcie.under_load.generation": 3}),
    Machine("RTX 3090", "far", near=12.2e9, far=3.8e9, h2d=3.8e9, d2h=2.6e9,
            readback=3e-5, machine={"binding.node": 1},
            device={"pcie.under_load.generation": 3}),
    step_of_gemm(0.06, R3090, name="far-reads",
                 defaults={"prefetch": False}, syncs_per_step=1000,
                 kernels_per_step=2000, h2d_bytes_per_sample=400e6),
    {"args": [], "verdict": "b_slower", "top_cause": ["NUMA_REMOTE"],
     "causes": ["NUMA_REMOTE", "SYNC_EVERY_STEP"],
     "must_not_cause": ["PCIE_LINK"]})
scenario(
    "T05-heat-and-link",
    "A hot card on four lanes of Gen3, copies not overlapped.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "hot, x4", h2d=3.2e9, d2h=3.2e9,
            products=dict.fromkeys(["fp32", "tf32", "fp16", "bf16"], 0.6),
            device={"throttle.reasons": ["hw_thermal"],
                    "throttle.fraction": 0.8,
                    "temperature_under_load_C": 94,
                    "clocks.under_load.sm_Hz": 1.0e9,
                    "pcie.under_load": {"generation": 3, "width": 4}}),
    step_of_gemm(0.1, R3090, name="copies", defaults={"prefetch": False},
                 h2d_bytes_per_sample=100e6),
    {"args": [], "verdict": "b_slower", "top_cause": ["THERMAL"],
     "causes": ["THERMAL", "PCIE_LINK"]})
scenario(
    "T06-peer-and-precision",
    "No bridge between the cards, and AMP off after the move: 0.15 s of "
    "exchange, 0.2 s of products.",
    Machine("A100 80GB", "2x, NVLink", peer=240e9, peer_path="p2p"),
    Machine("A100 80GB", "2x, no bridge", peer=10e9, peer_path="staged"),
    step_of_gemm(0.2, plateau("A100 80GB"), name="ddp",
                 defaults={"gpus": 2}, gradient_bytes=1.5e9),
    {"args": ["--set-b", "precision=tf32"], "verdict": "b_slower",
     "top_cause": ["PRECISION_OFF"],
     "causes": ["PRECISION_OFF", "PEER_PATH"]})
scenario(
    "T07-pageable-and-reset",
    "Pageable copies of 100 ms and a reset of 40 ms a step.",
    Machine("RTX 3090", reset=0.04),
    Machine("RTX 4090", reset=0.04, pageable=3e9),
    step_of_gemm(0.1, R4090, name="careless",
                 h2d_bytes_per_sample=300e6, resets_per_step=1,
                 working_set_bytes={"fixed": 2 << 30, "per_sample": 0}),
    {"args": ["--set-b", "memory=pageable"],
     "top_cause": ["PAGEABLE_MEMORY"],
     "causes": ["PAGEABLE_MEMORY", "ALLOCATOR_RESET"]})

# Nothing to blame.
NONE = {"must_not_cause": ALL_FAULTS}
scenario(
    "N01-healthy-pair",
    "Lambda's table: ResNet-50 goes 1.4 to 1.7 times as fast on a 4090 as "
    "on a 3090; that is the card's design.",
    Machine("RTX 3090"), Machine("RTX 4090"),
    resnet(),
    {"args": [], "verdict": "b_faster", "speedup": [1.3, 1.7], **NONE})
scenario(
    "N02-limit-that-does-not-bind",
    "club-3090#697: a 4090 capped at 360 of 450 W draws 247 W: the cap is "
    "no cause.",
    Machine("RTX 4090"),
    Machine("RTX 4090", "capped", device={
        "power.limit_w": 360, "power.draw_under_load_w": 247}),
    resnet(),
    {"args": [], **SAME, **NONE, "ruled_out": ["POWER_LIMIT"]})
scenario(
    "N03-loader-with-headroom",
    "modern-yolonas#40: the loader prepares nine times what the card takes.",
    Machine("RTX 3090"), Machine("RTX 4090"),
    workload("yolo", gemm_flop_per_sample=1.4e12,
             defaults={"batch": 16, "loader_workers": 8},
             sample={"files": 1, "bytes": 110000, "work": "standard"}),
    {"args": [], "verdict": "b_faster", **NONE})
scenario(
    "N04-hidden-wait",
    "detectron2#648: copies that are hidden behind the step cost nothing, "
    "however slow they look.",
    Machine("RTX 3090", overlap=1.0),
    Machine("RTX 3090", "x4", overlap=1.0, h2d=6.4e9, d2h=6.4e9, device={
        "pcie.under_load.width": 4}),
    step_of_gemm(0.3, R3090, name="hidden", h2d_bytes_per_sample=300e6),
    {"args": [], **SAME, **NONE, "ruled_out": ["PCIE_LINK"]})
scenario(
    "N07-bytes-decide",
    "darknet#754: 126 MB a batch are 9 ms of a step of more than 1 s on "
    "Gen3 x16.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "Gen3", h2d=12.4e9, d2h=12.6e9, device={
        "pcie.under_load.generation": 3}),
    step_of_gemm(1.1, R3090, name="long-step",
                 defaults={"prefetch": False}, h2d_bytes_per_sample=126e6),
    {"args": [], **SAME, **NONE, "ruled_out": ["PCIE_LINK"]})
scenario(
    "N09-slow-disk-fast-enough",
    "mcan-vqa#8: a rotating disk that delivers more than the card takes.",
    Machine("RTX 3090"),
    Machine("RTX 3090", "disk", reads={1: 90, 4: 150, 16: 200}, machine={
        "storage.transport": "sata", "storage.rotational": True}),
    workload("vqa", gemm_flop_per_sample=1.0e12, defaults={"batch": 64},
             sample={"files": 1, "bytes": 110000, "work": "standard"}),
    {"args": [], **SAME, **NONE, "ruled_out": ["STORAGE"]})
scenario(
    "N12-slower-card",
    "An A10 after a 3090: slower memory and products by design, nothing "
    "broken.",
    Machine("RTX 3090"), Machine("A10"),
    workload("decode", memory_bytes_per_step={"fp32": 6.4e9, "amp": 6.4e9},
             gemm_flop_per_sample=13e9, defaults={"batch": 1}),
    {"args": [], "verdict": "b_slower", "speedup": [0.6, 0.7], **NONE,
     "top_cause": ["MEMORY_BANDWIDTH"]})
scenario(
    "N13-itself",
    "A machine against itself.",
    Machine("RTX 4090"), Machine("RTX 4090"), resnet(),
    {"args": [], **SAME, **NONE, "speedup": [1.0, 1.0]})


def write(path, tree):
    with open(path, "w") as f:
        if isinstance(tree, str):
            f.write(tree)
        elif "measurements" in tree:
            # One measurement a line: small, and a change is one line.
            lines = [json.dumps(m, separators=(",", ":"))
                     for m in tree["measurements"]]
            rest = json.dumps(dict(tree, measurements=[]),
                              separators=(",", ":"))
            f.write(rest.replace('"measurements":[]', '"measurements":[\n' +
                                 ",\n".join(lines) + "\n]") + "\n")
        else:
            json.dump(tree, f, indent=1)
            f.write("\n")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(
        os.path.abspath(__file__))
    for name, why, a, b, w, expects in SCENARIOS:
        folder = os.path.join(root, name)
        os.makedirs(folder, exist_ok=True)
        seed = name + ("a" if name == "N13-itself" else "b")
        write(os.path.join(folder, "a.json"), a.result(name + "a", name))
        write(os.path.join(folder, "b.json"), b.result(seed, name))
        write(os.path.join(folder, "workload.json"), w)
        write(os.path.join(folder, "expect.json"), expects)
        write(os.path.join(folder, "README.md"),
              "# %s\n\n%s\n" % (name.replace("-", " "), why))


main()
