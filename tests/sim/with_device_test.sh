#!/bin/sh
# with-device: the right device, the same clock twice, clear refusals.
# usage: with_device_test.sh SOURCE_DIR BUILD_DIR
set -u
sim=$1/tests/sim
STAVE_BUILD=$2
export STAVE_BUILD
probe=$2/sim/sim-probe
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect WHAT WANTED GOT
expect()
{
	if [ "$2" != "$3" ]; then
		echo "$1: wanted '$2', got '$3'"
		failures=$((failures + 1))
	fi
}

# starts WHAT BEGINNING TEXT: the text begins so.
starts()
{
	case $3 in
	"$2"*) ;;
	*) expect "$1" "$2…" "$3" ;;
	esac
}

for device in "$sim"/devices/*.json; do
	first=$("$sim/with-device" "$device" -- "$probe" 2>"$scratch/log")
	expect "$device, status" 0 $?
	second=$("$sim/with-device" "$device" -- "$probe" 2>>"$scratch/log")
	starts "$device" "NVIDIA " "$first"
	expect "$device, twice" "$first" "$second"
done

text=$("$sim/with-device" "$sim/devices/no-nvml.json" -- "$probe" 2>&1)
case $text in
*"nvml none"*) ;;
*) ldconfig -p | grep -q libnvidia-ml ||
	expect "no-nvml" "nvml none" "$text" ;;
esac

echo '{"name":"x"}' >"$scratch/bad.json"
text=$("$sim/with-device" "$scratch/bad.json" -- "$probe" 2>&1)
expect "a bad file, status" 3 $?
expect "a bad file, lines" 1 "$(echo "$text" | wc -l | tr -d ' ')"
text=$("$sim/with-device" "$scratch/none.json" -- "$probe" 2>&1)
expect "no file, status" 3 $?
sed 's/"faults": \[\]/"faults": [{"call":"cuNonesuch","error":1}]/' \
	"$sim/devices/rtx-4090.json" >"$scratch/fault.json"
text=$("$sim/with-device" "$scratch/fault.json" -- "$probe" 2>&1)
expect "a fault in no call, status" 3 $?
"$sim/with-device" "$sim/devices/rtx-4090.json" 2>/dev/null
expect "usage, status" 2 $?
"$sim/with-device" "$sim/devices/rtx-4090.json" -- sh -c 'exit 7'
expect "the command's status" 7 $?

# Once in a run: the first process meets the fault, the second does not.
sed 's/"faults": \[\]/"faults": [{"call":"cuMemAlloc_v2","error":2,"sticky":true,"once":true}]/' \
	"$sim/devices/rtx-4090.json" >"$scratch/once.json"
text=$("$sim/with-device" "$scratch/once.json" -- \
	sh -c "$probe; $probe" 2>&1)
starts "a fault once a run" "error 2
NVIDIA" "$text"

# Exclusive mode: the second process is turned away while the first is there.
text=$("$sim/with-device" "$sim/devices/exclusive.json" -- sh -c "
	$probe hold $scratch/go >$scratch/first &
	while [ ! -s $scratch/first ]; do sleep 0.05; done
	$probe
	touch $scratch/go
	wait
	$probe" 2>&1)
starts "exclusive mode" "error 46
NVIDIA" "$text"

# A program that never starts the driver keeps the real clock.
text=$("$sim/with-device" "$sim/devices/rtx-4090.json" -- \
	sh -c 'sleep 0.3; echo slept' 2>&1)
expect "the real clock" slept "$text"
exit $((failures > 0))
