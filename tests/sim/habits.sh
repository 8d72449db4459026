#!/bin/sh
# Train steps on a simulated device whose costs of bad habits are planted, and
# see them come back; look at the timeline on the way. usage: habits.sh STAVE
set -u
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

"$here/with-device" "$here/devices/bad-habits.json" -- "$stave" run \
	--backend cuda --profile quick --rounds 1 --bench step \
	--workload "$here/../fixtures/step/habits.json" \
	--timeline "$work/timeline.json" -o "$work/result.json" \
	>"$work/out" 2>&1 || {
	tail -n 5 "$work/out"
	echo "habits: the run failed" >&2
	exit 1
}
grep -q "what each habit costs" "$work/out" || {
	echo "habits: the run's own table is missing" >&2
	exit 1
}
python3 "$here/habits.py" "$here/devices/bad-habits.json" \
	"$work/result.json" "$work/timeline.json"
