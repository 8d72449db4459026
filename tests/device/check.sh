#!/bin/sh
# Is stave right on this machine's NVIDIA card? Builds (or takes what is
# built), measures quick and standard, holds the files against the schema, and
# says in a few lines what came out. Under six minutes.
# usage: check.sh [-o FOLDER] [PREFIX]
# PREFIX: where bin/stave is installed; left out, build/release is built.
# Environment: STAVE_CHECK_QUICK_S and STAVE_CHECK_STANDARD_S, the seconds that
# either run may take (90, 170); what does not fit is left out, and said.
set -u

usage()
{
	echo "usage: check.sh [-o FOLDER] [PREFIX]" >&2
	exit 2
}

fail()
{
	echo "device check: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$PWD/device-check
while getopts o: option; do
	case $option in
	o) out=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -le 1 ] || usage
mkdir -p "$out" || fail "cannot make the folder $out"

if [ $# = 1 ]; then
	stave=$1/bin/stave
	[ -x "$stave" ] || fail "$stave is no program"
else
	stave=$root/build/release/bin/stave
	(cd "$root" && cmake --preset release -DSTAVE_CUDA=ON &&
		cmake --build --preset release) >"$out/build.log" 2>&1 ||
		fail "the build failed: $(tail -n 1 "$out/build.log")"
fi

"$stave" --version
"$stave" list devices
"$stave" list devices --json >"$out/devices.json" ||
	fail "the devices cannot be listed"
grep -q '"backend": *"cuda"' "$out/devices.json" ||
	fail "there is no CUDA device here"

# measure PROFILE SECONDS: what was measured is kept when time is up.
measure()
{
	echo
	echo "== $1, at most $2 s"
	rm -rf "$out/$1.json" "$out/$1.json.part"
	timeout --preserve-status -s INT -k 20 "$2" "$stave" run \
		--backend cuda --profile "$1" --skip storage,loader \
		--label "device check, $1" -o "$out/$1.json" \
		>"$out/$1.txt" 2>"$out/$1.log"
	code=$?
	case $code in
	0) ;;
	5) echo "some cases were lost: see below" ;;
	130) echo "time was up: the file holds what was measured" ;;
	*)
		tail -n 5 "$out/$1.log" >&2
		fail "the $1 run ended with exit status $code"
		;;
	esac
	[ -s "$out/$1.json" ] || fail "the $1 run left no result file"
	rm -rf "$out/$1.json.part"
}

measure quick "${STAVE_CHECK_QUICK_S:-90}"
measure standard "${STAVE_CHECK_STANDARD_S:-170}"

echo
if python3 -c 'import jsonschema' 2>/dev/null; then
	for profile in quick standard; do
		python3 "$root/tests/cli/validate_schema.py" \
			"$out/$profile.json" || fail "$profile.json is not valid"
	done
else
	echo "python3-jsonschema is not installed: files not held to the schema"
fi
python3 "$here/summary.py" "$out/quick.json" "$out/standard.json"
code=$?
"$stave" doctor "$out/standard.json" >"$out/doctor.txt"
echo "files are in $out"
exit $code
