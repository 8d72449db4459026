#!/bin/sh
# What `stave export` writes is read by strict readers of each format, from a
# harmless result and from one full of text that means harm; and by the tools
# themselves where they are installed.
# usage: exports.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../fixtures/cli
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

"$here/../support/hostile.py" "$fixtures/a.json" >hostile.json
cp "$fixtures/a.json" "$fixtures/b.json" .
for name in a b hostile; do
	for format in csv openmetrics benchfmt gbench; do
		"$stave" export "$name.json" --format $format >"$name.$format"
	done
	/usr/bin/python3 "$here/check_exports.py" "$name"
done

if command -v promtool >/dev/null; then
	for name in a b hostile; do
		promtool check metrics <"$name.openmetrics"
	done
fi
if command -v benchstat >/dev/null; then
	benchstat a.benchfmt b.benchfmt >stat
	# Side by side, not one table for each file.
	grep -q "vs base" stat
	grep -q "launch/submit" stat
	benchstat hostile.benchfmt >/dev/null
fi
compare=/usr/share/benchmark/compare.py
if [ -r $compare ] && /usr/bin/python3 $compare --help >/dev/null 2>&1; then
	/usr/bin/python3 $compare --no-color benchmarks a.gbench b.gbench >compared
	grep -q "launch/submit?args_bytes=64_pvalue" compared
	/usr/bin/python3 $compare benchmarks hostile.gbench hostile.gbench \
		>/dev/null
fi
if [ -e pwned ]; then
	echo "exports: a command in a label was run" >&2
	exit 1
fi
