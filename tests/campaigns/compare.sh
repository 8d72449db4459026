#!/bin/sh
# How often compare errs, in full: a few minutes. Seeds are fixed; ends with 1
# where a count is beyond its bound.
# usage: compare.sh [BUILD_DIR]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/dev}

"$build/bin/compare_campaign" 200
echo "all within their bounds"
