#!/usr/bin/python3
"""Pictures that are pictures: plain SVG, and PNG with something in it.

usage: check_plots.py FILE...
"""
import struct
import sys
import xml.etree.ElementTree
import zlib

PLAIN = {"svg", "title", "desc", "g", "rect", "defs", "circle", "path", "use",
         "filter", "feFlood", "feComposite", "text", "tspan", "polygon"}


def check_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = 0
    for element in root.iter():
        name = element.tag.split("}")[1]
        assert name in PLAIN, "%s: <%s>" % (path, name)
        texts += name == "text"
        for key, value in element.attrib.items():
            assert not key.lower().startswith("on"), path
            if key.endswith("href"):
                assert value.startswith("#"), path
    assert texts > 4, "%s: too little text" % path


def check_png(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    width, height = struct.unpack(">II", data[16:24])
    assert width == 1920 and 400 < height < 4000, (path, width, height)
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    assert len(set(zlib.decompress(packed))) > 20, "%s: empty" % path


def main():
    for path in sys.argv[1:]:
        (check_png if path.endswith(".png") else check_svg)(path)


main()
