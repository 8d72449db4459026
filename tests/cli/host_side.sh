#!/bin/sh
# What the host side does where the machine is against it: a full disk, one
# that cannot be written, one in memory, one core, no locked memory, little
# memory, and a run that is stopped or killed. Every time: a recorded skip or
# one line, never a hang, nothing left. usage: host_side.sh STAVE
set -u
stave=$1
work=$(mktemp -d)
mounted=
status=0

clean_up()
{
	for path in $mounted; do
		umount "$path"
	done
	rm -rf "$work"
}
trap clean_up EXIT

wrong()
{
	echo "host_side: $*" >&2
	tail -n 5 "$work/log" >&2
	status=1
}

# measure NAME COMMAND…: a run of COMMAND as it is, its result in NAME.json.
measure()
{
	name=$1
	shift
	timeout 60 "$@" run --backend host --profile quick --rounds 1 \
		-o "$work/$name.json" --storage-path "$work/$name" \
		--bench "$benches" >"$work/log" 2>&1
	code=$?
	[ $code = 0 ] || wrong "$name: exit $code"
	nothing_left "$name"
}

nothing_left()
{
	left=$(ls -A "$work/$1")
	[ -z "$left" ] || wrong "$1: left behind: $left"
}

# expect NAME EXPRESSION: of the result r, in Python, holds.
expect()
{
	python3 - "$work/$1.json" "$2" >>"$work/log" 2>&1 <<'CHECK' ||
import json
import sys

r = json.load(open(sys.argv[1]))
ids = [m["id"] for m in r["measurements"]]
reasons = [s["reason"] for s in r["skipped"]]
passed = all(m["check"]["status"] == "pass" for m in r["measurements"])
if not eval(sys.argv[2]):
    print(ids, reasons)
    sys.exit(1)
CHECK
		wrong "$1: not so: $2"
}

try_mount()
{
	mkdir "$work/$1"
	[ "$(id -u)" = 0 ] &&
		mount -t tmpfs -o "$2" stave-test "$work/$1" 2>/dev/null &&
		mounted="$mounted $work/$1"
}

# Whether a run that was started in the background has made its files.
await_files()
{
	tries=0
	until ls "$work/$1"/stave-data-*/samples-files-* >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || return 1
		sleep 0.05
	done
}

# start_run NAME ROUNDS: in the background, as far as its files being there.
start_run()
{
	mkdir -p "$work/$1"
	"$stave" run --backend host --profile quick --rounds "$2" \
		--bench 'storage/*files*' -o "$work/$1.json" \
		--storage-path "$work/$1" >"$work/log" 2>&1 &
	pid=$!
	await_files "$1" || wrong "$1: no files were made"
}

# Sanitizers need a world of address space, and lock no memory.
sanitized=
ldd "$stave" | grep -q libasan && sanitized=yes

# --- the usual case, on one core ---
benches=storage,preprocess,loader
mkdir "$work/core"
measure core taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')" \
	"$stave"
if grep -q turbojpeg "$work/core.json"; then
	echo "host_side: no libturbojpeg in this build, its part left out"
	jpeg=
else
	jpeg=yes
	expect core 'any("workers=1" in i for i in ids) and passed'
	expect core 'not any("workers=2" in i for i in ids)'
fi

# --- no locked memory: root may lock whatever the limit, so without that ---
if [ $jpeg ] && [ ! $sanitized ]; then
	benches=loader
	mkdir "$work/memlock"
	cat >"$work/unlocked" <<SCRIPT
#!/bin/sh
ulimit -l 0
exec "$stave" "\$@"
SCRIPT
	chmod +x "$work/unlocked"
	if [ "$(id -u)" = 0 ]; then
		measure memlock setpriv --bounding-set=-ipc_lock "$work/unlocked"
	else
		measure memlock "$work/unlocked"
	fi
	expect memlock 'not ids and all("ulimit -l" in x for x in reasons)'
fi

# --- 2 GiB of memory ---
if [ ! $sanitized ]; then
	benches=storage,preprocess,loader
	mkdir "$work/memory"
	cat >"$work/small" <<SCRIPT
#!/bin/sh
ulimit -v 2097152
exec "$stave" "\$@"
SCRIPT
	chmod +x "$work/small"
	measure memory "$work/small"
	expect memory 'passed and len(ids) > 0'
fi

# --- a disk that is too small, one in memory, one that is read-only ---
benches=storage
if try_mount full size=8m; then
	measure full "$stave"
	expect full 'not ids and all("MiB of room" in x for x in reasons)'
	try_mount memdisk size=300m
	measure memdisk "$stave"
	expect memdisk 'passed and any("cache=unknown" in i for i in ids)'
	expect memdisk 'not any("cache=cold" in i for i in ids)'
	try_mount readonly ro
	measure readonly "$stave"
	expect readonly 'not ids and all("Read-only" in x for x in reasons)'
else
	echo "host_side: no file system can be mounted here, three parts left out"
	rmdir "$work/full"
fi

# --- no permission, which root has unless it becomes somebody else ---
mkdir "$work/denied"
chmod 555 "$work/denied"
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$work"
	mkdir "$work/nobody"
	chown 65534:65534 "$work/nobody"
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	out=$work/nobody/denied.json
else
	as_nobody=
	out=$work/denied.json
fi
# In a shell of its own: setpriv may still start what its user may not see.
# shellcheck disable=SC2016,SC2086
if $as_nobody sh -c 'test -x "$1"' sh "$stave" 2>"$work/log"; then
	# shellcheck disable=SC2086
	$as_nobody "$stave" run --backend host --profile quick --rounds 1 \
		-o "$out" --storage-path "$work/denied" --bench storage \
		>"$work/log" 2>&1 || wrong "denied: exit $?"
	[ "$out" = "$work/denied.json" ] || cp "$out" "$work/denied.json"
	nothing_left denied
	expect denied 'not ids and all("ermission" in x for x in reasons)'
else
	echo "host_side: nobody may not run this build, one part left out"
fi

# --- stopped and killed ---
for signal in INT TERM; do
	start_run "stop$signal" 6
	kill -$signal "$pid"
	wait "$pid"
	code=$?
	[ $code = 130 ] || wrong "$signal: exit $code"
	nothing_left "stop$signal"
done
"$stave" run --resume "$work/stopINT.json.part" >"$work/log" 2>&1 ||
	wrong "carried on: exit $?"
nothing_left stopINT
expect stopINT 'r["run"]["complete"] and passed and len(ids) == 4'
start_run killed 500
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ls "$work"/killed/stave-data-* >/dev/null 2>&1 ||
	wrong "killed: its files went by themselves, so nothing is shown"
"$stave" run --backend host --profile quick --rounds 1 --bench null \
	-o "$work/next.json" --storage-path "$work/killed" \
	>"$work/log" 2>&1 || wrong "after a kill: exit $?"
nothing_left killed
grep -q "removed the measuring files of 1 killed run" "$work/log" ||
	wrong "killed: the next run does not say what it removed"
exit $status
