#!/bin/sh
# The folder picture of the design holds in the code: who includes whom. Most
# of it is kept by include paths; this says the rest, by what files write.
# usage: includes.sh SOURCE_DIR
set -u
cd "$1" || exit 1
status=0

# refuse WHAT PATTERN PATH…: no file under the paths includes the pattern.
refuse()
{
	what=$1
	pattern=$2
	shift 2
	found=$(grep -rnE "^#include *[<\"]($pattern)" --include='*.[ch]' "$@" \
		2>/dev/null)
	if [ -n "$found" ]; then
		echo "$what:"
		echo "$found"
		status=1
	fi
}

refuse "the contracts include more than libc and each other" \
	'jansson|hwloc|pci/|cuda|cblas|cublas|nvml' include
refuse "the harness includes CUDA or a benchmark's header" \
	'cuda|cublas|nvml|context\.h|pattern\.h|timing\.h|stave/(bench|device)\.h' \
	harness
refuse "a benchmark includes a header of the harness" \
	'(result|stats|run|machine|compare|quantity)\.h|hwloc|pci/' benches
refuse "a pure room includes a room above it" \
	'(run|machine|compare|explain|workload|report)\.h' harness/stats harness/result
refuse "reading results needs no machine and no run" '(run|machine)\.h' \
	harness/compare harness/explain harness/report
refuse "a test includes a .c file" '[^">]*\.c[">]' tests

# A name stands for one file.
twice=$(find benches harness include tests -name '*.[ch]' -exec basename {} \; |
	sort | uniq -d)
if [ -n "$twice" ]; then
	echo "file names used twice:"
	echo "$twice"
	status=1
fi

# Nothing unfinished, and nothing of a machine it was made on.
found=$(grep -rnE '\<(TODO|FIXME|XXX)\>' benches harness include tests \
	--include='*.[ch]' --include='*.cu' 2>/dev/null)
if [ -n "$found" ]; then
	echo "unfinished by its own words:"
	echo "$found"
	status=1
fi
exit $status
