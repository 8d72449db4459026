#!/bin/sh
# What other tools got wrong, on simulated cards and through the whole program:
# masks of UUIDs and parts of cards (pytorch#90543, vllm#41848), another order
# of CUDA than of NVML (dask-cuda#777), every sample throttled (nvbench#231),
# exclusive mode (nccl-tests#369), NVML dead while CUDA works
# (k8s-device-plugin#182).
# usage: tool_failures.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
devices=$here/devices
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python=/usr/bin/python3
[ -x $python ] || python=python3

# on DEVICE COMMAND…: the command on a simulated machine.
on()
{
	device=$1
	shift
	"$here/with-device" "$device" -- "$@"
}

# says FILE EXPRESSION: what holds of d, a JSON document.
says()
{
	$python - "$1" "$2" <<'PYTHON'
import json
import sys


def refuse(name):
    raise SystemExit(f"{sys.argv[1]}: {name} in a file")


d = json.load(open(sys.argv[1], encoding="utf-8"), parse_constant=refuse)


def status(code):
    return next(c for c in d["checks"] if c["code"] == code)["status"]


def evidence(code):
    return next(c for c in d["checks"] if c["code"] == code)["evidence"]


if not eval(sys.argv[2]):
    raise SystemExit(f"{sys.argv[1]}: not so: {sys.argv[2]}\n{str(d)[:2000]}")
PYTHON
}

# doctor DEVICE NAME OPTION…: a checklist in NAME.json; a fail is an answer.
doctor()
{
	device=$1
	name=$2
	shift 2
	code=0
	on "$device" "$stave" doctor --json "$@" >"$work/$name.json" \
		2>"$work/log" || code=$?
	[ $code -le 1 ] || { cat "$work/log" && exit 1; }
}

run()
{
	device=$1
	name=$2
	shift 2
	on "$device" "$stave" run --backend cuda --profile quick --rounds 2 \
		-o "$work/$name.json" "$@" >"$work/log" 2>&1 ||
		{ cat "$work/log" && exit 1; }
}

# A mask of UUIDs, whole and cut, and of a part of a card.
two=$devices/two-cards.json
for mask in GPU-40900000-0000-4000-8000-000000000001 GPU-4090; do
	on "$two" env CUDA_VISIBLE_DEVICES=$mask "$stave" list devices --json \
		>"$work/list.json"
	says "$work/list.json" \
		"[x['pci_address'] for x in d if x['backend'] == 'cuda' and x['usable']] == ['0000:41:00.0']"
done
$python - "$two" "$work/mig.json" <<'PYTHON'
import json
import sys

d = json.load(open(sys.argv[1]))
d["devices"][1]["modes"]["mig"] = True
d["devices"][1]["mig_uuid"] = "MIG-00000000-0000-0000-0000-0000000000d1"
json.dump(d, open(sys.argv[2], "w"))
PYTHON
on "$work/mig.json" env CUDA_VISIBLE_DEVICES=MIG-00000000-0000-0000-0000-0000000000d1 \
	"$stave" doctor --json >"$work/part.json" 2>/dev/null || true
says "$work/part.json" "status('MIG') == 'warn'"

# CUDA has the faster card first, NVML the lower address: the card's own limit.
for order in FASTEST_FIRST PCI_BUS_ID; do
	for card in 0000:01:00.0=350 0000:41:00.0=450; do
		on "$two" env CUDA_DEVICE_ORDER=$order "$stave" doctor --json \
			--device "${card%=*}" >"$work/card.json" 2>/dev/null || true
		says "$work/card.json" \
			"'limit ${card#*=} W' in evidence('POWER_LIMIT')"
	done
done

# Every sample throttled: kept, flagged, finite, and no verdict of them.
sed -e 's/"after_s": [0-9.]*/"after_s": 1e-6/' \
	-e 's/"reason": "[a-z_]*"/"reason": "hw_thermal"/' \
	"$devices/rtx-4090-throttled.json" >"$work/hot.json"
run "$work/hot.json" throttled \
	--bench 'gemm/*precision=fp16&shape=square'
says "$work/throttled.json" \
	"d['measurements'] and all(m['summary']['n'] == 2 for m in d['measurements'])"
says "$work/throttled.json" \
	"any('throttled' in m['flags'] for m in d['measurements'])"
says "$work/throttled.json" \
	"'hw_thermal' in d['device']['throttle']['reasons']"
code=0
on "$devices/rtx-4090.json" "$stave" qualify "$work/throttled.json" \
	--spec rtx-4090 --json >"$work/verdict.json" || code=$?
[ $code = 1 ]
says "$work/verdict.json" \
	"status('GEMM_FP16') == 'inconclusive' and status('SLOWDOWN') == 'fail'"

# One context at a time: rounds do not get in each other's way.
run "$devices/exclusive.json" exclusive --bench launch/submit*
says "$work/exclusive.json" "d['measurements'] and not d['failures']"
doctor "$devices/exclusive.json" exclusive_doctor
says "$work/exclusive_doctor.json" "status('COMPUTE_MODE') == 'warn'"

# NVML dead in three ways, CUDA alive: figures, and facts that say why not.
for mood in no-nvml nvml-no-permission nvml-lost; do
	run "$devices/$mood.json" $mood --bench launch/submit*
	says "$work/$mood.json" \
		"d['measurements'] and d['device']['memory_bytes'] > 0 and d['device']['power']['limit_w'] is None"
	doctor "$devices/$mood.json" $mood-doctor
	says "$work/$mood-doctor.json" "status('POWER_LIMIT') == 'unknown'"
done
says "$work/nvml-no-permission-doctor.json" \
	"'no permission' in evidence('POWER_LIMIT')"
