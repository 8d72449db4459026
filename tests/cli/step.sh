#!/bin/sh
# Training steps on the host: each learns, the run can be carried on, and the
# timeline is one. usage: step.sh STAVE
set -u
stave=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
status=0

fail()
{
	echo "step: $1" >&2
	status=1
}

"$stave" run --backend host --profile quick --rounds 1 --bench step \
	--timeline "$work/timeline.json" -o "$work/result.json" \
	>"$work/out" 2>&1 || fail "the run failed: $(tail -n 2 "$work/out")"
python3 - "$work/result.json" "$work/timeline.json" <<'EOF' || status=1
import json, sys
result, timeline = (json.load(open(path)) for path in sys.argv[1:])
habits = {m["params"]["habit"] for m in result["measurements"]}
assert habits == {"baseline", "sync_every_step", "reset_every_step",
                  "pageable", "no_prefetch"}, habits
for m in result["measurements"]:
    assert m["check"]["status"] == "pass", m["check"]
    assert m["check"]["detail"].startswith("loss"), m["check"]
    assert m["summary"]["median"] > 0
    assert "spans" not in m
spans = [e for e in timeline["traceEvents"] if e["ph"] == "X"]
assert {e["cat"] for e in spans} == {"host", "device", "copy"}
for name in ("step", "forward", "backward", "loss", "Adam"):
    assert any(e["name"] == name for e in spans), name
EOF
[ $status = 0 ] || fail "what it wrote is not what it should be"

# A journal knows its workloads: the file may be gone when the run is resumed.
cp "$(dirname "$0")/../../benches/workloads/mlp-tiny.json" "$work/mine.json"
"$stave" run --backend host --profile quick --rounds 5 \
	--bench 'step/*habit=baseline*' --workload "$work/mine.json" \
	-o "$work/second.json" >"$work/out" 2>&1 &
run=$!
journal=$work/second.json.part/journal.ndjson
for _ in $(seq 200); do
	[ "$(cat "$journal" 2>/dev/null | wc -l)" -ge 2 ] && break
	sleep 0.05
done
kill -INT $run
wait $run
[ $? = 130 ] || fail "an interrupted run is not exit 130"
rm "$work/mine.json"
"$stave" run --resume "$work/second.json.part" >"$work/out" 2>&1 ||
	fail "it cannot be carried on: $(tail -n 2 "$work/out")"
grep -q "workload=mlp-tiny" "$work/second.json" || fail "nothing was measured"

"$stave" run --backend host --profile quick --bench null \
	--timeline "$work/none.json" -o "$work/none.result.json" \
	>"$work/out" 2>"$work/err"
[ $? = 2 ] || fail "a timeline of nothing is not exit 2"
grep -q "no case of" "$work/err" || fail "it is not said why"
[ ! -e "$work/none.json" ] || fail "it wrote a timeline of nothing"
exit $status
