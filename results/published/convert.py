#!/usr/bin/env python3
"""Make the result files of this folder from tables of published figures.

usage: convert.py TABLES [OUT]

TABLES is a folder with gpu-specs.csv, micro-measured.csv,
train-throughput.csv and train-samples.csv (README.md says what their columns
are); OUT is where the files go, by default this folder. Takes what fits the
suite's benchmarks and leaves the rest: nothing is interpolated, averaged over
machines or guessed, and a size, a shape or a path that a source does not
state is not in the id.
"""
import csv
import json
import pathlib
import re
import statistics
import sys
import urllib.parse

# Reading and writing count once each: the suite's "copy", "write", "read".
STREAM_OPS = {
    "stream_read": "read",
    "stream_init": "write",
    "stream_scale": "copy",
    "stream_triad": "triad",
}
# How sources spell the precisions of the suite.
PRECISIONS = {
    "fp16": "fp16",
    "bf16": "bf16",
    "fp32": "fp32",
    "tf32": "tf32",
    "fp64": "fp64",
    "fp32(tf32 allowed)": "tf32",
}
SCALE = {
    "TFLOP/s": (1e12, "FLOP/s"),
    "GFLOP/s": (1e9, "FLOP/s"),
    "GB/s": (1e9, "B/s"),
    "MB/s": (1e6, "B/s"),
    "us": (1e-6, "s"),
    "ms/step": (1e-3, "s"),
}
ABOVE_REFERENCE = 1.05
GIB = 1 << 30
# Several cards at once, one that nobody names, or none of CUDA's.
NOT_ONE_CARD = re.compile(r"^\d+x |unknown|label| \+ |AMD|Radeon|DCU")
# Benches whose figures belong to the host as much as to the card.
OF_THE_HOST = ("transfer", "launch", "peer")
# Machines that one source lists for one card and configuration.
MOST_ENTRIES = 8
LEAST_FIGURES = 3


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


def slug(text):
    return re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-")


def quantity(value, unit):
    """The value in SI base units; rounded so that 1e-6 leaves no tail."""
    factor, base = SCALE[unit]
    return float(f"{float(value) * factor:.12g}"), base


def tool_of(row):
    """Who measured, with what: figures pair within one of these alone."""
    source, conditions = row["source"], row["conditions"].lower()
    if source.startswith("https://"):
        parts = urllib.parse.urlsplit(source.split(" ")[0])
        path = parts.path.split("/")
        owner = path[1] if parts.netloc == "github.com" else parts.netloc
    else:
        owner = source.split("/")[0]
    known = [
        "nvbandwidth",
        "bandwidthtest",
        "p2pbandwidthlatencytest",
        "simplep2p",
        "hpcg",
    ]
    named = [name for name in known if name in conditions + row["benchmark"]]
    if row["benchmark"] in ("p2p_bw_uni", "p2p_bw_bidir", "p2p_latency"):
        return "p2pbandwidthlatencytest"
    return named[0] if named else slug(owner)


def host_of(row):
    """The processor, where it is stated; else who says it: pairs with none."""
    found = re.search(
        r"(?:Threadripper PRO|Xeon|EPYC|Ryzen(?: \d)?) [\w-]+", row["conditions"]
    )
    return slug(found[0] if found else re.sub(r"^https://", "", row["source"]))


def software_of(text):
    found = re.search(r"(?:pytorch|torch) (\d[^\s,;)；/]*)", text, re.I)
    if found:
        return "pytorch-" + slug(found.group(1))
    found = re.search(r"CUDA (\S+) cuDNN (\S+)", text)
    return f"cuda-{found.group(1)}-cudnn-{found.group(2)}" if found else None


def details(row):
    """`params` of a row of micro-measured.csv as a dict."""
    pairs = [p.split("=", 1) for p in row["params"].split(";") if "=" in p]
    return {key: value for key, value in pairs}


def transfer(row):
    found = re.match(
        r"(h2d|d2h)_(pinned|pageable)_bw$|"
        r"nvbandwidth_(host|device)_to_(?:device|host)_memcpy_ce$",
        row["benchmark"],
    )
    if not found:
        return None
    direction = found[1] or ("h2d" if found[3] == "host" else "d2h")
    params = {"direction": direction, "memory": found[2] or "pinned"}
    stated = details(row)
    if "size_B" in stated:
        # A note may follow the number.
        params["bytes"] = int(re.match(r"\d+", stated["size_B"])[0])
    if "size_MiB" in stated:
        params["bytes"] = int(stated["size_MiB"]) << 20
    where = stated.get("numa", row["params"]).lower()
    if "cxl" in where:
        return None
    if "remote" in where:
        params["numa"] = "far"
    elif "local" in where:
        params["numa"] = "near"
    return "transfer", "bandwidth", params, "higher"


def memory(row):
    name, stated = row["benchmark"], details(row)
    if name == "hpcg_spmv_effective_bw":
        return "memory", "bandwidth", {"op": "spmv"}, "higher"
    if name in STREAM_OPS and stated.get("occupancy_pct") == "100.0":
        params = {"op": STREAM_OPS[name], "block": int(stated["block"])}
        return "memory", "bandwidth", params, "higher"
    if name != "d2d_copy_bw" or stated.get("test") == "bidir":
        return None
    if stated.get("p2p", "off").startswith("on"):
        return None
    params = {"op": "copy"}
    if "size_B" in stated:
        params["bytes"] = int(re.match(r"\d+", stated["size_B"])[0])
    return "memory", "bandwidth", params, "higher"


def gemm(row):
    name, stated = row["benchmark"], details(row)
    if name not in ("gemm_square", "gemm_square_best", "gemm_max_bf16"):
        return None
    precision = PRECISIONS.get(stated["dtype"])
    if precision is None:
        return None
    params = {"precision": precision, "batch": 1, "count": 1}
    if name == "gemm_square":
        n = int(stated["n"])
        params |= {"shape": "square", "m": n, "n": n, "k": n}
    elif name == "gemm_max_bf16":
        m, n, k = map(int, stated["shape_MxNxK"].split("x"))
        params |= {"shape": "best", "m": m, "n": n, "k": k}
    else:
        params |= {"shape": "square", "size": "best"}
    return "gemm", "throughput", params, "higher"


def launch(row):
    if row["benchmark"] != "kernel_launch_sync" or "null" not in row["params"]:
        return None
    return "launch", "roundtrip", {"args_bytes": 0}, "lower"


def peer(row):
    """Of a matrix of cards, the pair 0 to 1."""
    metrics = {
        "p2p_bw_uni": ("bandwidth", "uni", "higher"),
        "p2p_bw_bidir": ("bandwidth", "bi", "higher"),
        "p2p_latency": ("latency", None, "lower"),
    }
    stated = details(row)
    if row["benchmark"] not in metrics or stated.get("pair") != "0-1":
        return None
    if "peer" in stated or "p2p" not in stated:
        return None
    metric, direction, better = metrics[row["benchmark"]]
    p2p = stated["p2p"].startswith("on")
    params = {"src": 0, "dst": 1, "path": "p2p" if p2p else "staged"}
    if direction:
        params["direction"] = direction
    return "peer", metric, params, better


class Sources:
    """The sources of one file, each once."""

    def __init__(self):
        self.list = []

    def index(self, text):
        title = text.strip()
        at = re.match(r"([\w.-]+/[\w.-]+)@([0-9a-f]+) (.*)$", title)
        where = None
        if at:
            # Lines, cells and branches are notes, not part of the path.
            path = re.sub(r" \(.*\)$| lines [\d-]+$", "", at[3])
            where = f"https://github.com/{at[1]}/tree/{at[2]}"
            if not path.startswith("branch "):
                path = urllib.parse.quote(path)
                where = f"https://github.com/{at[1]}/blob/{at[2]}/{path}"
        elif title.startswith("https://"):
            where = title.split(" ")[0]
        entry = {"title": title, "where": where, "retrieved": None}
        if entry not in self.list:
            self.list.append(entry)
        return self.list.index(entry)


class Card:
    """One card's figures on their way into a file."""

    def __init__(self, name):
        self.name = name
        self.spec = None
        self.sources = Sources()
        self.measurements = {}

    def reference(self, bench):
        if self.spec is None:
            return None
        # Peaks of arithmetic are at a clock that cards exceed: no ceiling.
        if bench == "memory" and self.spec["mem_bw_gbs"]:
            value = float(self.spec["mem_bw_gbs"]) * 1e9
            return {"value": value, "what": "memory bandwidth, data sheet"}
        return None

    def add(self, what, value, unit, source, conditions, spread=None):
        bench, metric, params, better = what
        # Sources that list several machines: the first has the plain id.
        entry = 1
        while True:
            marked = dict(params)
            if entry > 1:
                marked["entry"] = f"{slug(self.name)}-{entry}"
            key = "&".join(f"{k}={marked[k]}" for k in sorted(marked))
            identity = f"{bench}/{metric}?{key}"
            if identity not in self.measurements:
                break
            entry += 1
        if entry > MOST_ENTRIES:
            return
        reference = self.reference(bench)
        bad = "fail verification" in conditions
        flags = []
        if reference and value > ABOVE_REFERENCE * reference["value"]:
            flags.append("above_reference")
        self.measurements[identity] = {
            "id": identity,
            "bench": bench,
            "metric": metric,
            "params": {k: marked[k] for k in sorted(marked)},
            "unit": unit,
            "better": better,
            "rounds": [value] if spread else [],
            "summary": {
                "n": 1 if spread else 0,
                "median": value,
                "ci95": None,
                "mad": 0.0 if spread else None,
                "min": None,
                "max": None,
                "p05": None,
                "p95": None,
            }
            | (spread or {}),
            "reference": reference,
            "flags": flags,
            "check": {
                "status": "fail" if bad else "none",
                "detail": "the source says that copies fail verification"
                if bad
                else None,
            },
            "source": self.sources.index(source),
            "conditions": conditions,
        }


def peaks(spec):
    columns = {
        "fp32": "fp32_tflops",
        "tf32": "tf32_tensor_tflops",
        "fp16": "fp16_tensor_fp32acc_tflops",
        "fp16acc": "fp16_tensor_fp16acc_tflops",
        "bf16": "bf16_tensor_fp32acc_tflops",
    }
    return {
        precision: quantity(spec[column], "TFLOP/s")[0]
        for precision, column in columns.items()
        if spec[column]
    }


def device(card):
    spec = card.spec
    tree = {"backend": "cuda", "name": card.name, "index": None, "uuid": None}
    if spec is None:
        return tree | {"unknown": [{"field": "*", "why": "absent"}]}

    def number(column, factor=1):
        text = spec[column]
        return float(f"{float(text) * factor:.12g}") if text else None

    def whole(column, factor=1):
        value = number(column, factor)
        return None if value is None else int(value)

    tree |= {
        "multiprocessors": whole("sm_count"),
        "memory_bytes": whole("vram_gb", GIB),
        "l2_bytes": whole("l2_mb", 1 << 20),
        "memory_bandwidth_Bps": number("mem_bw_gbs", 1e9),
        "peak_flops": peaks(spec) or None,
        "clocks": {"boost_Hz": number("boost_clock_mhz", 1e6)},
        "power": {"default_limit_w": number("tdp_w")},
        "pcie": {
            "max_generation": whole("pcie_gen"),
            "max_width": whole("pcie_width"),
        },
        "notes": spec["notes"] or None,
        "sources": [card.sources.index(s) for s in spec["source"].split(" ; ")],
    }
    tree["unknown"] = [
        {"field": field, "why": "absent"}
        for field, value in tree.items()
        if value is None and field != "notes"
    ]
    return tree


def document(card):
    described = device(card)
    return {
        "schema": "stave.result/1",
        "run": {
            "id": "published-" + slug(card.name),
            "label": f"{card.name}, published",
            "profile": None,
            "started": None,
            "finished": None,
            "stave": {"version": None, "revision": None},
            "complete": True,
            "origin": "published",
            "source": card.sources.list,
        },
        "machine": {"unknown": [{"field": "*", "why": "absent"}]},
        "device": described,
        "measurements": [card.measurements[i] for i in sorted(card.measurements)],
        "skipped": [],
        "failures": [],
    }


def text_of(tree):
    """One element of a list a line, as the suite writes its own files."""
    keys = []
    for key, value in tree.items():
        if isinstance(value, list) and value:
            lines = [
                json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in value
            ]
            body = "[\n" + ",\n".join(lines) + "\n]"
        else:
            body = json.dumps(value, ensure_ascii=False, indent=1)
        keys.append(f"{json.dumps(key)}: {body}")
    return "{\n" + ",\n".join(keys) + "\n}\n"


def add_micro(cards, table):
    for row in table:
        what = None
        for rule in (transfer, memory, gemm, launch, peer):
            what = what or rule(row)
        if what is None or NOT_ONE_CARD.search(row["gpu"]):
            continue
        what[2]["tool"] = tool_of(row)
        software = software_of(row["conditions"])
        if software:
            what[2]["software"] = software
        if what[0] in OF_THE_HOST:
            what[2]["host"] = host_of(row)
        value, unit = quantity(row["value"], row["unit"])
        notes = [row["params"], row["conditions"]]
        card = cards.setdefault(row["gpu"], Card(row["gpu"]))
        card.add(what, value, unit, row["source"], "; ".join(filter(None, notes)))


def add_training(cards, table):
    """Training by one card: Lambda's rates; items differ by model."""
    for row in table:
        version = re.match(r"Lambda (v\d)", row["software"])
        if not version or row["n_gpus"] != "1" or "SUSPECT" in row["notes"]:
            continue
        params = {
            "workload": slug(row["model"]),
            "precision": row["precision"],
            "item": row["unit"].split("/")[0],
            "tool": "lambda-" + version[1],
        }
        if row["batch_size"]:
            params["batch"] = int(row["batch_size"])
        software = software_of(row["software"])
        if software:
            params["software"] = software
        card = cards.setdefault(row["gpu"], Card(row["gpu"]))
        notes = [row["software"], row["host"], row["source_label"], row["notes"]]
        card.add(
            ("step", "rate", params, "higher"),
            float(row["value"]),
            "1/s",
            row["source"],
            "; ".join(filter(None, notes)),
        )


def add_samples(cards, samples, throughput):
    """
    Step times with their raw samples: one round, its median and range. Logs
    of rates are left out: what a line of them covers is not stated.
    """
    software = {row["source"]: row["software"] for row in throughput}
    series = {}
    for row in samples:
        if row["unit"] != "ms/step":
            continue
        key = tuple(
            row[c]
            for c in ("gpu", "repo", "model", "precision", "batch_size", "unit")
        ) + (row["source_commit_path"],)
        series.setdefault(key, []).append(float(row["value"]))
    for key, values in series.items():
        gpu, repo, model, precision, batch, unit, path = key
        source = f"{repo}@{path}"
        values = sorted(quantity(v, unit)[0] for v in values)
        cuts = statistics.quantiles(values, n=20, method="inclusive")
        params = {
            "workload": slug(model),
            "batch": int(batch),
            "precision": {"half": "fp16", "float": "fp32", "double": "fp64"}[precision],
            "tool": slug(repo.split("/")[0]),
        }
        made_with = software.get(source, "")
        if software_of(made_with):
            params["software"] = software_of(made_with)
        card = cards.setdefault(gpu, Card(gpu))
        card.add(
            ("step", "time", params, "lower"),
            statistics.median(values),
            "s",
            source,
            f"{made_with}; median of {len(values)} steps of one process",
            {"min": values[0], "max": values[-1], "p05": cuts[0], "p95": cuts[-1]},
        )


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    tables = pathlib.Path(arguments[0])
    out = pathlib.Path(arguments[1] if arguments[1:] else __file__)
    out = out if out.is_dir() else out.parent
    cards = {}
    specs = {row["gpu"]: row for row in rows(tables / "gpu-specs.csv")}
    for name, spec in specs.items():
        cards[name] = Card(name)
        cards[name].spec = spec
    throughput = rows(tables / "train-throughput.csv")
    add_micro(cards, rows(tables / "micro-measured.csv"))
    add_training(cards, throughput)
    add_samples(cards, rows(tables / "train-samples.csv"), throughput)
    for card in cards.values():
        if len(card.measurements) >= LEAST_FIGURES:
            path = out / f"{slug(card.name)}.json"
            path.write_text(text_of(document(card)), encoding="utf-8")
    return 0


sys.exit(main(sys.argv[1:]))
