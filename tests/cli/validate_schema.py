#!/usr/bin/env python3
"""Check files against a JSON Schema with an independent validator.

usage: validate_schema.py [--schema NAME] [--invalid] FILE...

NAME is that of results/schemas/NAME.schema.json, "result" when left out. With
--invalid every file must fail. Ends with 77 (skipped) where Python's
jsonschema is missing. Says nothing of what the schema cannot: that the id is
made of its parts, that a summary fits its rounds.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema here")
    sys.exit(77)

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "results/schemas"


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def faults_of(validator, path):
    try:
        with open(path, encoding="utf-8") as file:
            tree = json.load(file, parse_constant=refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        return [str(error)]
    errors = sorted(validator.iter_errors(tree), key=lambda e: list(map(str, e.path)))
    return [f"{e.json_path}: {e.message[:200]}" for e in errors]


def main(arguments):
    name = "result"
    if arguments[:1] == ["--schema"] and len(arguments) > 1:
        name, arguments = arguments[1], arguments[2:]
    want_faults = arguments[:1] == ["--invalid"]
    files = arguments[1:] if want_faults else arguments
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    schema = json.loads(
        (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    status = 0
    for path in files:
        faults = faults_of(validator, path)
        if want_faults and not faults:
            print(f"{path}: valid, and should not be")
            status = 1
        elif not want_faults:
            for fault in faults:
                print(f"{path}: {fault}")
                status = 1
    print(f"{len(files)} files checked")
    return status


sys.exit(main(sys.argv[1:]))
