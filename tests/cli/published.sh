#!/bin/sh
# results/published: valid by another's validator, every figure with a source
# and none with more rounds than a source can hold, and readable by stave.
# usage: published.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../results/published"
python=/usr/bin/python3
[ -x $python ] || python=python3

$python - *.json <<'END'
import json
import sys

files = sys.argv[1:]
for path in files:
    with open(path, encoding="utf-8") as file:
        tree = json.load(file)
    run = tree["run"]
    assert run["origin"] == "published", path
    assert all(s["title"] for s in run["source"]), path
    for m in tree["measurements"]:
        place = f"{path}: {m['id']}"
        assert m["source"] in range(len(run["source"])), place
        assert m["conditions"] and len(m["rounds"]) <= 1, place
        assert "tool" in m["params"], place
    assert len(tree["measurements"]) >= 3, path
names = {path.removesuffix(".json") for path in files}
assert {"rtx-3090", "rtx-4090", "h100-80gb-sxm5", "v100-32gb"} <= names
END

for file in *.json; do
	"$stave" show "$file" >/dev/null
done
# A pair that everybody asks for.
"$stave" compare rtx-3090.json rtx-4090.json --format csv | grep -q no_spread
"$python" "$here/validate_schema.py" ./*.json
