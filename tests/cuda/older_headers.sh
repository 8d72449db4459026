#!/bin/bash
# The CUDA backend compiles, without a warning, against the driver's header of
# older toolkits: those that can be had from the Python package index. Says
# which were tried; 77 when none could be had, 1 when one does not compile.
# usage: older_headers.sh BUILD (whose generated headers are used)
set -u
build=$(realpath "${1:-build/ci}")
cd "$(dirname "$0")/../.." || exit 1
packages="nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-runtime-cu12==12.0.146
	nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.8.90"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0
status=0

for package in $packages; do
	folder=$work/$package
	mkdir -p "$folder"
	if ! timeout 120 python3 -m pip download -q --no-deps -d "$folder" \
		"$package" >"$work/log" 2>&1 ||
		! python3 -m zipfile -e "$folder"/*.whl "$folder"; then
		echo "$package: cannot be had"
		continue
	fi
	header=$(find "$folder" -name cuda.h | head -n 1)
	if [ -z "$header" ]; then
		echo "$package: has no cuda.h"
		continue
	fi
	tried=$((tried + 1))
	compiles=yes
	for source in benches/device/cuda/*.c; do
		"${CC:-cc}" -std=c11 -fsyntax-only -D_GNU_SOURCE -Wall -Wextra \
			-Werror -Iinclude -I"$build/include" -Ibenches/support \
			-Ibenches/device/cuda -I"$(dirname "$header")" \
			"$source" || compiles=no
	done
	echo "$package: compiles: $compiles"
	[ $compiles = yes ] || status=1
done
[ $tried -gt 0 ] || exit 77
exit $status
