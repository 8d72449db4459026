#!/usr/bin/env python3
"""The step model against the step benchmark: every baseline step that a result
holds, and what the model says of it from the other measurements in the file.

usage: step_model.py RESULT... [--stave PROGRAM]

A result of your own: stave run --bench step,launch,gemm,memory,transfer,sync,
overlap -o this.json
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def baseline_steps(path):
    with open(path, encoding="utf-8") as file:
        measurements = json.load(file)["measurements"]
    for m in measurements:
        if m["bench"] == "step" and m["metric"] == "time" and \
                m["params"].get("habit", "baseline") == "baseline":
            yield m["params"]


def model_of(stave, path, params):
    answer = subprocess.run(
        [stave, "explain", path, path, "--workload", params["workload"],
         "--batch", str(params["batch"]), "--precision", params["precision"],
         "--json"], stdout=subprocess.PIPE, check=True)
    tree = json.loads(answer.stdout)
    measured = tree["measured_step"]
    return measured["a_s"], measured["a_model_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--stave",
                        default=os.path.join(ROOT, "build/release/bin/stave"))
    options = parser.parse_args()
    errors = []
    for path in options.results:
        for params in baseline_steps(path):
            step, model = model_of(options.stave, path, params)
            errors.append(model / step - 1)
            print("%-16s batch %5d %-5s measured %10.4g ms  model %10.4g ms "
                  "%+6.1f %%" % (params["workload"], params["batch"],
                                 params["precision"], 1e3 * step,
                                 1e3 * model, 100 * errors[-1]))
    if not errors:
        sys.exit("step_model.py: no baseline step in these results")
    print("median error %.1f %% of %d" % (
        100 * statistics.median(map(abs, errors)), len(errors)))


main()
