#!/bin/sh
# Command lines with stored answers: standard output, standard error and exit
# status of each line of golden/commands must be what golden/NAME.txt holds.
# usage: golden.sh STAVE [--regenerate]
set -u
stave=$(realpath "$1")
regenerate=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../fixtures/cli
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
status=0

# Nothing of the caller's terminal or settings gets into the answers.
unset NO_COLOR COLUMNS STAVE_WORKER_DIR
LC_ALL=C.UTF-8
export LC_ALL
cd "$fixtures" || exit 1

# What differs from build to build is named, not stored.
tidy()
{
	sed -E -e 's/^stave [0-9.]+ \(.*\)$/stave VERSION (REVISION)/' \
		-e 's/^backends:.*$/backends: LIST/'
}

while read -r name command; do
	case $name in '' | '#'*) continue ;; esac
	# The commands are ours, words in quotes included.
	eval "set -- $command"
	"$stave" "$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
	{
		echo "\$ stave $command"
		tidy <"$work/out"
		[ -s "$work/err" ] && echo "--- standard error"
		tidy <"$work/err"
		echo "--- exit $code"
	} >"$work/$name.txt"
	if [ "$regenerate" = --regenerate ]; then
		cp "$work/$name.txt" "$here/golden/$name.txt"
	elif ! diff -u "$here/golden/$name.txt" "$work/$name.txt"; then
		echo "golden: $name differs" >&2
		status=1
	fi
done <"$here/golden/commands"

# Output that cannot be written is exit 6, whatever the command.
"$stave" show a.json >/dev/full 2>"$work/err"
if [ $? != 6 ] || ! grep -q "standard output" "$work/err"; then
	echo "golden: a full standard output is not exit 6" >&2
	status=1
fi
exit $status
