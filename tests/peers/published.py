#!/usr/bin/env python3
"""The step model against throughput that others published for an RTX 3090 and
an RTX 4090 on one host, from what is published of the two cards alone.

usage: published.py train|infer CSV [--stave PROGRAM] [--each] [--plain]

train: the rows of Lambda's table whose model is a shipped workload.
infer: single passes of timm's models. Each workload follows from the counts in
the row and nothing else: multiply-adds are products; an activation is written
and read again in half precision so many times as its kind of network does
(see PASSES). A constant ratio, the median of all rows, is printed beside it.

Prints the error of the predicted ratio 4090 / 3090 for every row (--each) and
its summary. No constant is fitted to a row or a model; but telling two kinds
of network apart was thought of after the errors of these rows had been seen by
family, so that the error with it is none on fresh data. --plain counts every
network as convolutional, which was the first and only guess before that.
"""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CARDS = ("RTX 3090", "RTX 4090")
FILES = [os.path.join(ROOT, "results/published", name + ".json")
         for name in ("rtx-3090", "rtx-4090")]

# Of Lambda's models, the shipped workload and how its precisions are meant:
# the column "fp32" ran in TF32, as the table's own page says.
SHIPPED = {"resnet50": "resnet50", "bert_base_squad": "bert-base-128"}
MEANT = {"fp16": "amp", "fp32": "tf32"}

# Half-precision passes over a counted activation (the output of a convolution
# or linear layer) in a forward pass, kernel by kernel.
# Convolutional: written by the convolution, read and written by the
# normalisation, read and written by the activation, read by the next layer.
# Attention: a block of width d counts 9 d in its linear layers and about 3 d
# in attention, which is fused and leaves no memory; it moves some 38 d (see
# the README), 3 a counted one.
PASSES = {"convolution": 6, "attention": 3}
# Families whose layers are mostly attention, or mix tokens like it, by their
# papers.
ATTENTION = re.compile(
    r"timm/(vit|deit|eva|beit|cait|crossvit|swin|xcit|vitamin|flexivit|twins"
    r"|pvt|mvit|maxvit|levit|gcvit|volo|tnt|nest|davit|convit|coat|visformer"
    r"|hiera|aimv2|naflexvit|samvit|sequencer|mixer|gmixer|resmlp|gmlp|pit_"
    r"|jx_nest|tiny_vit|maxxvit|naver|siglip|eva02)")


def explain(stave, workload, batches, precision):
    words = [stave, "explain", *FILES, "--workload", workload, "--json",
             "--precision", precision]
    for side, batch in zip("ab", batches):
        words += ["--set-" + side, "batch=%d" % batch]
    answer = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    tree = json.loads(answer.stdout)
    return tree["b"]["rate"] / tree["a"]["rate"]


def pairs_of(rows, key):
    """Rows of both cards that agree in everything that key says."""
    found = {}
    for row in rows:
        if row["gpu"] in CARDS:
            found.setdefault(key(row), {})[row["gpu"]] = row
    return [(k, [v[c] for c in CARDS]) for k, v in sorted(found.items())
            if len(v) == 2]


def train(rows, stave, _plain):
    rows = [r for r in rows if r["software"].startswith("Lambda v1") and
            r["model"] in SHIPPED and r["n_gpus"] == "1"]
    for key, pair in pairs_of(rows, lambda r: (
            r["model"], r["precision"], r["batch_size"], r["host"])):
        workload = os.path.join(ROOT, "benches/workloads",
                                SHIPPED[key[0]] + ".json")
        batches = [int(r["batch_size"]) for r in pair]
        yield "%s %s" % key[:2], pair, explain(
            stave, workload, batches, MEANT[key[1]])


def counts_of(row):
    return {k: float(v) for k, v in
            (note.split("=") for note in row["notes"].split(";"))}


def workload_of(model, counts, plain):
    kind = "attention" if ATTENTION.match(model) and not plain \
        else "convolution"
    return {
        "schema": "stave.workload/1", "name": model,
        "source": ["multiply-adds, activations and parameters of the row"],
        "gemm_flop_per_sample": 2e9 * counts["gmacs"],
        "gemm_shape": {"m": "4096", "n": "4096", "k": "4096"},
        "memory_bytes_per_sample": {
            "amp": 2e6 * PASSES[kind] * counts["macts"]},
        # Weights are kept in fp32 and cast: 4 bytes read, 2 written.
        "memory_bytes_per_step": {"amp": 6e6 * counts["params_M"]},
    }


def infer(rows, stave, plain):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        for key, pair in pairs_of(rows, lambda r: (
                r["model"], r["precision"], r["software"])):
            counts = counts_of(pair[0])
            if not (counts["gmacs"] > 0 and counts["macts"] > 0):
                continue
            with open(path, "w", encoding="utf-8") as file:
                json.dump(workload_of(key[0], counts, plain), file)
            batches = [int(r["batch_size"]) for r in pair]
            yield "%s %s" % key[:2], pair, explain(
                stave, path, batches, "amp")


def summary(name, errors):
    sizes = sorted(abs(e) for e in errors)
    print("%-28s %5d rows  median error %5.2f %%  90 %% below %5.1f %%  "
          "bias %+5.2f %%" % (
              name, len(sizes), 100 * statistics.median(sizes),
              100 * sizes[int(0.9 * (len(sizes) - 1))],
              100 * statistics.mean(errors)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["train", "infer"])
    parser.add_argument("csv")
    parser.add_argument("--stave",
                        default=os.path.join(ROOT, "build/release/bin/stave"))
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    with open(options.csv, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    run = train if options.what == "train" else infer
    names, truths, guesses = [], [], []
    for name, pair, guess in run(
            rows, options.stave, options.plain):
        names.append(name)
        truths.append(float(pair[1]["value"]) / float(pair[0]["value"]))
        guesses.append(guess)
    if not truths:
        sys.exit("published.py: no rows of both cards in " + options.csv)
    errors = [g / t - 1 for g, t in zip(guesses, truths)]
    if options.each or options.what == "train":
        for name, truth, guess, error in zip(names, truths, guesses, errors):
            print("%-52s measured %.3f  predicted %.3f  %+6.1f %%" % (
                name[:52], truth, guess, 100 * error))
    summary("the step model", errors)
    constant = statistics.median(truths)
    summary("a constant ratio of %.3f" % constant,
            [constant / t - 1 for t in truths])


main()
