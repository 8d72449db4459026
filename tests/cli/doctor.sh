#!/bin/sh
# The checklist of this machine and of recorded ones is valid; what is recorded
# of this machine gives the same checklist again; an ordinary user gets one
# too.
# usage: doctor.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python=/usr/bin/python3
[ -x $python ] || python=python3

# doctor NAME OPTION…: a checklist in NAME.json; 0 and 1 are both answers.
doctor()
{
	name=$1
	shift
	code=0
	"$stave" doctor --json "$@" >"$work/$name.json" 2>"$work/log" || code=$?
	if [ $code -gt 1 ]; then
		cat "$work/log"
		exit 1
	fi
}

doctor live --backend host --record-machine "$work/recorded"
doctor again --machine "$work/recorded"
for file in live again; do
	sed '/"subject"/d' "$work/$file.json" >"$work/$file.txt"
done
cmp "$work/live.txt" "$work/again.txt"
if grep -rqF "$(uname -n)" "$work/recorded/topology.xml"; then
	[ "$(uname -n | wc -c)" -lt 6 ] || {
		echo "the recording names the host"
		exit 1
	}
fi
for machine in "$here"/../fixtures/machines/*/; do
	doctor "$(basename "$machine")" --machine "$machine"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	if $as_user test -x "$stave"; then
		code=0
		(cd / && $as_user "$stave" doctor --json) \
			>"$work/user.json" 2>"$work/log" || code=$?
		[ $code -le 1 ] || { cat "$work/log" && exit 1; }
	fi
fi
$python "$here/validate_schema.py" --schema checklist "$work"/*.json
$python "$here/validate_schema.py" --schema machine \
	"$work/recorded/recording.json" \
	"$here"/../fixtures/machines/*/recording.json
