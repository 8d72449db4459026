#!/usr/bin/python3
"""A result with identities in every place that could hold one.

usage: personal.py RESULT.json OUT.json WORDS

Prints each identity, one a line; those of this machine, which may be parts of
other words, go into the file WORDS.
"""
import json
import os
import pwd
import socket
import sys

UUID = "GPU-1234abcd-0011-2233-4455-66778899aabb"
SERIAL = "0324817051234"
MAC = "00:1b:44:11:3a:b7"
OTHER_MAC = "3C-22-FB-0A-1C-9D"
USER_PATH = "/home/alice.k/secret project/run"
HOME = "/home/alice.k"
MAIL = "alice.k@lab.example.org"
ADDRESS = "192.168.17.42"
NODE = "gpu-node-17.lab.example.org"
LABEL = "alices-own-workstation"
DISK = "/mnt/scratch/alice"
ASSET = "ASSET-00917"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    own = {socket.gethostname(), pwd.getpwuid(os.getuid()).pw_name}
    own = {name for name in own - {"root", "localhost"} if len(name) > 2}
    prose = ("on %s by alice: %s failed (%s, serial %s, %s, %s) mail %s from "
             "%s label %s disk %s asset %s %s" % (
                 NODE, USER_PATH, UUID, SERIAL, MAC, OTHER_MAC, MAIL, ADDRESS,
                 LABEL, DISK, ASSET, " ".join(sorted(own))))
    result["run"]["label"] = LABEL
    machine, device = result["machine"], result["device"]
    machine["hostname"] = NODE
    machine["storage"] = {"path": DISK, "filesystem": "ext4",
                          "transport": "nvme"}
    machine["environment"] = {"CUDA_CACHE_PATH": HOME + "/.nv/cache",
                              "CUDA_VISIBLE_DEVICES": UUID,
                              "OMP_NUM_THREADS": "8"}
    machine["network"] = [{"name": "eth0", "mac_address": MAC,
                           "owner": "alice of the lab, room 17"}]
    machine["note"] = prose
    machine["asset_tag"] = ASSET
    machine["os"]["cmdline_flags"] = ["iommu=pt", "root=UUID=" + UUID[4:]]
    device["uuid"] = UUID
    device["serial"] = int(SERIAL)
    device["serial_number"] = SERIAL
    device["unknown"].append({"field": "power", "why": "error: " + USER_PATH})
    result["skipped"].append({"bench": "peer", "params": {"file": DISK + "/x"},
                              "reason": prose, "code": "unsupported"})
    result["failures"].append({"bench": "gemm", "params": {}, "signal": 11,
                               "reason": prose, "log_tail": prose + "\n" +
                               prose})
    for m in result["measurements"]:
        m["check"] = {"status": "pass", "detail": prose}
        m["note"] = prose
    result["extra"] = {"by": prose, USER_PATH: 1}
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump(result, out)
    for secret in [UUID, UUID[4:], SERIAL, MAC, OTHER_MAC, HOME, MAIL,
                   ADDRESS, NODE, LABEL, DISK, ASSET,
                   "room 17"]:
        print(secret)
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        out.writelines(name + "\n" for name in sorted(own))


main()
