#!/usr/bin/python3
"""Strict readers of the export formats; figures must be those of the result.

usage: check_exports.py NAME    NAME.json beside NAME.csv, NAME.openmetrics, …
"""
import csv
import json
import math
import re
import sys


def load(name):
    with open(name + ".json", encoding="utf-8") as file:
        return json.load(file)


def text(name, form):
    with open("%s.%s" % (name, form), encoding="utf-8", newline="") as file:
        return file.read()


def check_csv(name, result):
    raw = text(name, "csv")
    rows = list(csv.DictReader(raw.splitlines(keepends=True), strict=True))
    assert raw.endswith("\r\n")
    assert len(rows) == len(result["measurements"])
    for row, m in zip(rows, result["measurements"]):
        assert None not in row and None not in row.values(), row
        assert row["id"] == m["id"]
        assert float(row["median"]) == m["summary"]["median"]
        for key, value in m["params"].items():
            assert row["param." + key] in (str(value), "'" + str(value))
        label = result["run"]["label"]
        # A spreadsheet must not take a label for a formula.
        assert row["label"] == ("'" + label if label[0] in "=+-@" else label)


NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = r'(%s)="((?:[^"\\\n]|\\["\\n])*)"' % NAME
SAMPLE = re.compile(r"(%s)\{((?:%s(?:,|(?=\})))+)\} (\S+)" % (NAME, LABEL))


def check_openmetrics(name, result):
    lines = text(name, "openmetrics").split("\n")
    assert lines[-2:] == ["# EOF", ""]
    family, done, seen, medians = None, set(), set(), []
    for line in lines[:-2]:
        if line.startswith("# "):
            _, what, subject, rest = line.split(" ", 3)
            if what == "HELP":
                assert subject not in done, "family twice: " + subject
                done.add(subject)
                family = subject
            assert subject == family
            if what == "TYPE":
                assert rest == "gauge"
            if what == "UNIT":
                assert subject.endswith("_" + rest), line
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match.group(1) == family
        labels = re.findall(LABEL, match.group(2))
        names = [key for key, _ in labels]
        assert len(names) == len(set(names)), line
        assert (family, tuple(labels)) not in seen, "sample twice: " + line
        seen.add((family, tuple(labels)))
        value = float(match.group(match.lastindex))
        assert math.isfinite(value)
        if dict(labels).get("stat") == "median":
            medians.append(value)
    assert sorted(medians) == sorted(
        m["summary"]["median"] for m in result["measurements"]
        if m["check"]["status"] != "fail")


# Go splits fields at these.
SPACES = "\t\n\v\f\r \x85\xa0\u2028\u2029\u2000\u3000\u202f\u205f"


def check_benchfmt(name, result):
    values, units = [], {}
    for line in text(name, "benchfmt").split("\n")[:-1]:
        if line.startswith("# "):
            continue
        if line.startswith("Unit "):
            _, unit, better, _ = line.split(" ")
            assert units.setdefault(unit, better) == better
            continue
        bench, iterations, value, unit = re.split("[%s]" % SPACES, line)
        assert bench.startswith("BenchmarkStave/")
        assert int(iterations) > 0 and unit in units
        values.append(float(value))
    assert sorted(values) == sorted(
        v for m in result["measurements"]
        for v in (m["rounds"] or [m["summary"]["median"]])
        if m["check"]["status"] != "fail")


def check_gbench(name, result):
    document = json.loads(text(name, "gbench"))
    left_out = set(document["context"]["left_out"])
    count = {}
    for entry in document["benchmarks"]:
        assert entry["run_type"] == "iteration"
        assert entry["time_unit"] == "ns" and entry["real_time"] > 0
        count[entry["name"]] = count.get(entry["name"], 0) + 1
        if "bytes_per_second" in entry:
            assert math.isclose(entry["bytes_per_second"],
                                1e9 / entry["real_time"])
    for m in result["measurements"]:
        if m["id"] in left_out:
            assert m["unit"] == "1" or m["check"]["status"] == "fail"
        else:
            assert count[m["id"]] == max(len(m["rounds"]), 1)


def main():
    name = sys.argv[1]
    result = load(name)
    check_csv(name, result)
    check_openmetrics(name, result)
    check_benchfmt(name, result)
    check_gbench(name, result)


main()
