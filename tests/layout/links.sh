#!/bin/sh
# What each program links: the harness no vendor library and no BLAS, the
# workers no libpci, and nobody a library of NVIDIA's.
# usage: links.sh BIN_DIR
set -u
bin=$1
status=0

# refuse PROGRAM PATTERN: the program needs no library of that name.
refuse()
{
	if ! needed=$(ldd "$1"); then
		echo "$1: ldd cannot read it"
		status=1
		return
	fi
	if echo "$needed" | grep -E "$2"; then
		echo "$1 links what it must not: $2"
		status=1
	fi
}

nvidia='libcuda|libcudart|libcublas|libnvidia'
refuse "$bin/stave" "$nvidia|libopenblas|libOpenCL"
ldd "$bin/stave" | grep -q libpci || {
	echo "stave does not link libpci; LICENSE says that it does"
	status=1
}
for worker in "$bin"/stave-worker-*; do
	refuse "$worker" "$nvidia|libpci|libhwloc"
done
exit $status
