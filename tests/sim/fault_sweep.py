#!/usr/bin/env python3
"""Every driver and cuBLAS call that the CUDA worker makes fails once.

usage: fault_sweep.py STAVE [--hang] [--only CALL]

Each call of the worker's own tables fails at its first, a few later and many
later uses, with several errors, some of which break the context for good; with
--hang those that a case makes do not return. What must hold each time: no worker dies of a
signal, one case is lost at most, its reason names the call and the error, and
everything else is measured. Where the device cannot be opened, exit 4 says so.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.join(here, "..", "..", "benches", "device", "cuda")
CASES = ",".join([
    "launch", "sync/wait*call=stream*", "sync/readback*wait=spin",
    "transfer/bandwidth?bytes=4096*", "allocator/alloc*bytes=2097152",
    "allocator/pool_alloc*", "allocator/reset*", "memory/*op=copy",
    "gemm/*m=256*precision=fp16*", "overlap", "peer"])
# A failure of these costs a fact, or nothing: they ask, or clean up.
TOLERATED = {"cuDeviceGetAttribute", "cuMemGetInfo", "cuGetErrorName",
             "cuGetErrorString", "cuCtxDisablePeerAccess", "cublasGetVersion",
             "cuDriverGetVersion", "cuCtxGetFlags", "cuDeviceCanAccessPeer",
             "cuDevicePrimaryCtxRelease", "cuCtxSetCurrent",
             "cuModuleUnload", "cublasDestroy", "cuMemPoolTrimTo"}
# A device that hangs while it is opened is waited for a minute: not in turn.
OPENING = ("cuInit", "cuDevice", "cuDriver", "cuGetError", "cuModule",
           "cuCtx", "cublasCreate", "cublasDestroy", "cublasGetVersion")
# After how many good calls, with which error, and whether it stays.
DRIVER_ERRORS = [(0, 999, False, "CUDA_ERROR_UNKNOWN"),
                 (3, 2, False, "CUDA_ERROR_OUT_OF_MEMORY"),
                 (25, 999, False, "CUDA_ERROR_UNKNOWN"),
                 (25, 719, True, "CUDA_ERROR_LAUNCH_FAILED")]
BLAS_ERRORS = [(0, 3, False, "CUBLAS_STATUS_ALLOC_FAILED"),
               (5, 13, False, "CUBLAS_STATUS_EXECUTION_FAILED")]


def calls_of(header, prefix):
    text = open(os.path.join(source, header)).read()
    return sorted(set(re.findall(r'"(%s[A-Za-z]\w+)"' % prefix, text)))


def plain(call):
    """As messages have it: without the ABI's number."""
    return re.sub(r"_v\d+(_ptsz)?$", "", call)


class Sweep:
    def __init__(self, stave, folder):
        self.stave, self.folder = stave, folder
        self.machine = json.load(open(os.path.join(
            here, "devices", "two-cards.json")))
        self.runs, self.struck, self.wrong = 0, 0, []
        everything = self.run([])
        assert everything["status"] == 0, everything
        self.whole = everything["measured"]

    def run(self, faults, timeout=30):
        path = os.path.join(self.folder, "device.json")
        out = os.path.join(self.folder, "out.json")
        self.machine["devices"][0]["faults"] = faults
        json.dump(self.machine, open(path, "w"))
        if os.path.exists(out):
            os.remove(out)
        done = subprocess.run(
            [os.path.join(here, "with-device"), path, "--", "sh", "-c",
             '"$@"; code=$?; echo struck: >&2; '
             'cat "$STAVE_SIM_STATE"/fault-0 >&2 2>/dev/null; exit $code', "sh",
             self.stave, "run", "--backend", "cuda", "--rounds", "1",
             "--profile", "quick", "--seed", "3", "--device", "0", "--case-timeout",
             str(timeout), "--bench", CASES, "-o", out],
            capture_output=True, text=True, check=False)
        self.runs += 1
        result = json.load(open(out)) if os.path.exists(out) else None
        lost = []
        if result is not None:
            lost = result["failures"] + [
                s for s in result["skipped"]
                if s["code"] in ("fault", "no_memory")]
        errors, struck = done.stderr.split("struck:\n")
        return {"status": done.returncode, "errors": errors,
                "struck": bool(struck), "planning": " plan " in struck or
                " devices " in struck, "lost": lost,
                "measured": set(m["id"] for m in result["measurements"])
                if result else set(),
                "unknown": json.dumps(result["device"].get("unknown"))
                if result else ""}

    def judge(self, what, call, name, found, sticky=False):
        """Append what is wrong with a run in which a call failed once."""
        def wrong(text):
            self.wrong.append(f"{what}: {text}")

        signals = [f for f in found["lost"] if f.get("signal")]
        reasons = " | ".join(f["reason"] for f in found["lost"])
        # A case may give two metrics.
        gone = {i.split("?")[-1] for i in self.whole - found["measured"]}
        self.struck += found["struck"]
        if signals:
            wrong(f"a worker died: {signals[0]['reason']}")
        if found["status"] == 4:
            if name and (plain(call) not in found["errors"] or
                         name not in found["errors"]):
                wrong("exit 4 without the call and the error: "
                      + found["errors"].strip()[-300:])
        elif found["status"] not in (0, 5):
            wrong(f"exit {found['status']}: {found['errors'][-300:]}")
        elif not found["lost"]:
            if gone:
                wrong(f"cases are gone without a word: {sorted(gone)}")
            # A plan covers cases that were not asked for, and facts.
            if found["struck"] and plain(call) not in TOLERATED and \
                    not found["planning"]:
                wrong("it failed and nobody noticed")
        elif len(found["lost"]) > 1 or len(gone) > 1:
            wrong(f"{len(found['lost'])} cases are lost: {reasons[:300]}")
        elif name and (name not in reasons or (plain(call) not in reasons
                                               and not sticky)):
            wrong(f"the reason does not name call and error: {reasons}")

    def errors(self, call, errors):
        for after, error, sticky, name in errors:
            fault = {"call": call, "after": after, "error": error,
                     "sticky": sticky, "once": True}
            self.judge(f"{call} fails after {after} with {name}", call,
                       name, self.run([fault]), sticky)

    def hang(self, call):
        # The first use is often the opening's: take a later one.
        fault = {"call": call, "after": 12, "error": 999, "hang": True,
                 "once": True}
        self.judge(f"{call} hangs", call, "", self.run([fault], timeout=2))


def main():
    arguments = sys.argv[1:]
    stave = os.path.abspath(arguments[0])
    only = arguments[arguments.index("--only") + 1] \
        if "--only" in arguments else None
    driver = calls_of("cuda_driver.h", "cu")
    blas = calls_of("cuda_blas_abi.h", "cublas")
    assert len(driver) > 40 and len(blas) > 4, (driver, blas)
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(stave, folder)
        for call in driver + blas:
            if only and call != only:
                continue
            if "--hang" in arguments:
                if not call.startswith(OPENING):
                    sweep.hang(call)
            else:
                sweep.errors(
                    call, BLAS_ERRORS if call in blas else DRIVER_ERRORS)
    for line in sweep.wrong:
        print(line)
    print(f"{sweep.runs} runs, {sweep.struck} calls that failed, "
          f"{len(sweep.wrong)} wrong")
    # A sweep that strikes nothing proves nothing.
    sys.exit(bool(sweep.wrong) or (not only and sweep.struck < 15))


if __name__ == "__main__":
    main()
