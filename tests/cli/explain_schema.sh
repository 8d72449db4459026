#!/bin/sh
# Every explanation of a scenario validates against its schema, by another's
# validator; and so does every workload file that is read.
# usage: explain_schema.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
scenarios=$here/../scenarios
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

for folder in "$scenarios"/*/; do
	name=$(basename "$folder")
	"$stave" explain "$folder/a.json" "$folder/b.json" \
		--workload "$folder/workload.json" --what-if batch=3 --json \
		>"$work/$name.json"
done
/usr/bin/python3 "$here/validate_schema.py" --schema explanation \
	"$work"/*.json
/usr/bin/python3 "$here/validate_schema.py" --schema workload \
	"$scenarios"/*/workload.json "$here"/../fixtures/workload/*.json
