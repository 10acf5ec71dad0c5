#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_validators.py MOST METRICS...: changes each metrics.json in one place, up to MOST times, and asks both validators."""
import copy
import json
import os
import subprocess
import sys

import jsonschema

LLMPERF = os.environ["LLMPERF"]
SCHEMA = json.load(open(os.path.join(os.environ["LLMPERF_CONFIG_DIR"], "schema/metrics.schema.json")))
REPLACEMENTS = [None, -1, 0, 1.5, 2, "", "word", True, [], {}]


def places(value, path=()):
    """Each place below value; of a list the first element stands for all."""
    children = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, child in children:
        yield path + (key,)
        yield from places(child, path + (key,))


def changed(document):
    """Copies of document, each with one change, and words for the change."""
    for path in places(document):
        for index, new in enumerate(REPLACEMENTS + ["(removed)", "(added)"]):
            copied = copy.deepcopy(document)
            parent = copied
            for key in path[:-1]:
                parent = parent[key]
            if index < len(REPLACEMENTS):
                parent[path[-1]] = new
            elif new == "(removed)":
                del parent[path[-1]]
            elif isinstance(parent[path[-1]], dict):
                parent[path[-1]]["unheard_of"] = 1
            else:
                continue
            yield f"{'.'.join(map(str, path))} = {new!r}", copied


def ours(document):
    with open("changed.json", "w") as file:
        json.dump(document, file)
    result = subprocess.run([LLMPERF, "validate", "changed.json"], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        sys.exit(f"llmperf validate: exit code {result.returncode}: {result.stderr}")
    return result.returncode == 0, result.stderr


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    python = jsonschema.Draft202012Validator(SCHEMA)
    counts = {True: 0, False: 0}
    most = int(sys.argv[1])
    for path in sys.argv[2:]:
        document = json.load(open(path))
        assert python.is_valid(document) and ours(document)[0], path
        every = list(changed(document))
        # A fixed choice, spread over the whole document.
        for what, copied in every[:: -(-len(every) // most)]:
            expected = python.is_valid(copied)
            got, message = ours(copied)
            counts[expected] += 1
            if got != expected:
                sys.exit(f"{path}: {what}: jsonschema says {expected}, we say {got} {message}")
    print(f"{counts[True]} valid and {counts[False]} invalid changes, the same answers")
    # Both kinds must occur, or the comparison says nothing.
    return 0 if counts[True] > 50 and counts[False] > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
