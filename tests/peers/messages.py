"""Medians by metric and case id from a worker's messages on standard input.

usage: worker BENCH CASE… 3>&1 >/dev/null | python3 messages.py
Prints "METRIC CASE MEDIAN" lines.
"""
import json
import statistics
import sys

case = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "case":
        case = message["id"]
    elif message["type"] == "samples":
        print(message["metric"], case, statistics.median(message["values"]))
