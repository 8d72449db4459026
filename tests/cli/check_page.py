#!/usr/bin/python3
"""Pages of reports by an HTML parser: well nested, nothing from outside, no
script but the page's own, downloads that are what they say.

usage: check_page.py FOLDER...
"""
import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import sys

VOID = {"meta", "link", "input", "br"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.scripts, self.downloads = [], [], {}
        self.policy = None

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert len(values) == len(attrs), (tag, attrs)
        for key, value in attrs:
            assert not key.startswith("on"), (tag, key)
            assert key != "src", (tag, value)
            if key in ("href", "xlink:href"):
                assert value.startswith(("#", "data:")), (tag, value[:80])
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag == "a" and "download" in values:
            kind, data = values["href"].split(",", 1)
            assert kind.endswith(";base64")
            self.downloads[values["download"]] = base64.b64decode(
                data, validate=True)
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-4:])
        self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "script":
            self.scripts[-1] += data


def check(folder):
    with open(folder + "/index.html", encoding="utf-8") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    assert page.stack == [], page.stack
    assert len(page.scripts) == 1
    digest = base64.b64encode(
        hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert "'sha256-%s'" % digest in page.policy, page.policy
    assert "default-src 'none'" in page.policy
    for name, data in page.downloads.items():
        if name.endswith(".json"):
            assert json.loads(data)["schema"] == "stave.result/1"
        else:
            rows = list(csv.reader(io.StringIO(
                data.decode(), newline=""), strict=True))
            assert len({len(row) for row in rows}) == 1
    assert not re.search(r"https?://(?!www\.w3\.org/)", re.sub(
        r"data:[^\"]*", "", text)), folder
    # Markdown keeps its tables, and no tag gets through.
    with open(folder + "/report.md", encoding="utf-8") as file:
        markdown = file.read()
    assert not re.search(r"(?<!\\)<", markdown), folder
    widths = {len(re.findall(r"(?<!\\)\|", line))
              for block in re.findall(r"(?:^\|.*\n)+", markdown, re.M)
              for line in block.splitlines() if line.count("|") > 6}
    assert len(widths) <= 1, widths


def main():
    for folder in sys.argv[1:]:
        check(folder)


main()
