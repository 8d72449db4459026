#!/usr/bin/env python3
"""A simulated machine with numbers drawn at random: set N of a fixed series.

usage: parameter_set.py N >DEVICE.json
Ranges are those of real machines and somewhat beyond: links from Gen1 x4 to
Gen5 x16, pageable copies of 2 to 18 GB/s, launches of 1.5 to 30 µs, queues of
256 to 2048, allocator costs over two decades. Even sets have two devices.
"""
import json
import math
import random
import sys

number = int(sys.argv[1])
rng = random.Random(1000 + number)


def between(low, high):
    """Log-uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def link():
    generation = rng.choice([1, 2, 3, 4, 5])
    width = rng.choice([4, 8, 16])
    # Per lane and direction, after encoding; what copies reach of it.
    lane = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9}
    most = lane[generation] * width
    h2d, d2h = most * rng.uniform(0.7, 0.9), most * rng.uniform(0.7, 0.9)
    return {
        "generation": generation, "width": width,
        "max_generation": 5, "max_width": 16,
        "h2d_Bps": h2d, "d2h_Bps": d2h,
        "bidir_Bps": rng.uniform(1.2, 1.9) * min(h2d, d2h),
        "pageable_h2d_Bps": min(between(2e9, 18e9), 0.95 * h2d),
        "pageable_d2h_Bps": min(between(2e9, 18e9), 0.95 * d2h),
        "latency_s": between(5e-7, 4e-6),
        "idle_generation": rng.randint(1, generation),
        "far_node_factor": 1.0,
    }


def device(place):
    fp32 = between(5e12, 1.2e14)
    spin = between(1e-6, 6e-6)
    capability = rng.choice([[7, 5], [8, 0], [8, 6], [8, 9], [9, 0], [12, 0]])
    peaks = {"fp32": fp32, "fp64": fp32 / rng.choice([2, 32, 64]),
             "fp16": fp32 * rng.uniform(1.5, 8)}
    if capability[0] >= 8:
        peaks["tf32"] = fp32 * rng.uniform(1, 4)
        peaks["bf16"] = fp32 * rng.uniform(1.5, 8)
    peaks["fp16acc"] = peaks["fp16"] * rng.choice([1, 2])
    limit = rng.choice([70, 150, 300, 450])
    return {
        "name": f"Parameter set {number}.{place} (simulated)",
        "compute_capability": capability,
        "multiprocessors": rng.randint(20, 170),
        # NVML tells whole MHz.
        "sm_clock_Hz": round(between(0.9e9, 2.8e9) / 1e6) * 1e6,
        "memory_bytes": rng.choice([8, 12, 24, 80]) << 30,
        "memory_bandwidth_Bps": between(2e11, 4e12),
        "l2_bytes": rng.choice([4, 6, 40, 72]) << 20,
        "uuid": f"GPU-{number:08x}-0000-4000-8000-{place:012x}",
        "pci_address": f"0000:{1 + 64 * place:02x}:00.0",
        "pcie": link(),
        "launch": {"submit_s": between(1.5e-6, 3e-5),
                   "floor_s": between(1e-6, 1e-5),
                   "queue_depth": rng.choice([256, 512, 1024, 2048]),
                   "graph_node_s": between(4e-7, 3e-6),
                   "first_s": between(1e-3, 3e-2)},
        "sync": {"spin_s": spin, "yield_s": spin * rng.uniform(1, 2),
                 "block_s": between(1e-5, 1e-4),
                 "readback_s": between(6e-6, 6e-5)},
        "alloc": {"alloc_s": between(1e-5, 1e-3),
                  "alloc_s_per_byte": between(1e-14, 1e-12),
                  "free_s": between(1e-5, 1e-3),
                  "pool_alloc_s": between(2e-7, 5e-6),
                  "trim_s": between(5e-5, 5e-3)},
        "gemm": {"peak_flops": peaks, "half_size": rng.randint(100, 2000)},
        "power": {"limit_w": limit, "default_w": limit, "max_w": limit + 50},
        "throttle": None,
        "peers": [{"device": 1 - place, "p2p": rng.random() < 0.5,
                   "Bps": between(3e9, 3e11), "latency_s": between(1e-6, 3e-5)}]
        if number % 2 == 0 else [],
        "modes": {"compute": "default", "mig": False, "nvml": "ok"},
        "faults": [],
    }


first = device(0)
if number % 2 == 0:
    second = device(1)
    # CUDA numbers the faster card first; the planted one shall be it.
    second["multiprocessors"] = first["multiprocessors"]
    second["sm_clock_Hz"] = first["sm_clock_Hz"] - 1e8
    second["gemm"]["peak_flops"] = {
        k: v * 0.5 for k, v in first["gemm"]["peak_flops"].items()}
    second["compute_capability"] = first["compute_capability"]
    json.dump({"devices": [first, second]}, sys.stdout, indent=1)
else:
    json.dump(first, sys.stdout, indent=1)
