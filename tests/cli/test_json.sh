#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --format json of list, top, compare and doctor keeps to its schema, and says what the text says.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

keeps_to() { # SCHEMA: standard output of the last command; the schema is found by its content, too
    cp out document.json
    for option in "--schema $LLMPERF_CONFIG_DIR/schema/$1.schema.json" ""; do
        # shellcheck disable=SC2086 # words
        "$LLMPERF" validate document.json $option >checked 2>&1 || { cat checked; die "not as in $1.schema.json"; }
    done
}

expect 0 import "$LLMPERF_TEST_DATA/h200/engine/tensor_0.llmrec" -o runs/tensor
expect 0 import "$recordings/faults.llmrec" -o runs/faults
mkdir runs/damaged runs/$'\xff\n'
head -c 5000 runs/tensor/run.llmperf | tee runs/damaged/run.llmperf >runs/$'\xff\n'/run.llmperf

# A folder of runs.
expect 1 list runs --format json
stderr_empty
keeps_to list
python3 - <<'PYTHON' || die "list of runs"
import json
seen = json.load(open("out"))
assert seen["folder"] == "runs"
rows = {row["path"]: row for row in seen["runs"]}
assert len(rows) == 4 and rows["runs/damaged"]["verdict"] is None and "damaged" in rows["runs/damaged"]["error"]
run = rows["runs/tensor"]
assert run["verdict"] == "complete" and run["error"] is None and run["gpu"] == "NVIDIA H200" and run["tokens_per_s"] > 0
assert rows["runs/faults"]["verdict"] == "incomplete"
PYTHON
# The files of a run.
expect 0 list runs/tensor --format json
keeps_to list
python3 - <<'PYTHON' || die "list of files"
import json, os
seen = json.load(open("out"))
for file in seen["files"]:
    assert os.path.getsize(os.path.join(seen["run"], file["path"])) == file["bytes"], file
assert sum(file["bytes"] for file in seen["files"]) == seen["bytes"] > 0
PYTHON
mkdir empty
expect 0 list empty --format json
keeps_to list
grep -q '"runs": \[\]' out || die "an empty folder is an empty list"

for folder in runs/tensor runs/faults; do
    expect 0 top $folder --format json
    keeps_to top
done
python3 - <<'PYTHON' || die "top"
import json
import re

seen = json.load(open("out"))
assert seen["path"] == "runs/faults" and seen["processes"] == 1 and seen["running"] == 0 and seen["verdict"] == "incomplete"
assert seen["records"]["dropped"] > 0 and seen["regions"] and seen["kernels"]
numbers = re.findall(r"\d+\.\d+", open("out").read())
assert numbers and all(len(number.replace(".", "").lstrip("0")) <= 15 for number in numbers), numbers
PYTHON
expect 2 top runs/damaged --format json
keeps_to top
grep -q '"unreadable": 1' out || die "a damaged run is counted"

expect 0 compare runs/tensor runs/tensor --format json
keeps_to compare
expect 0 import "$LLMPERF_SOURCE/examples/data/dsocr_base.llmrec" --model deepseek_ocr -o runs/eager
expect 0 import "$LLMPERF_SOURCE/examples/data/dsocr_base_graphs.llmrec" --model deepseek_ocr -o runs/graphs
expect 0 compare runs/eager runs/graphs --format json
keeps_to compare
python3 - "$LLMPERF_SOURCE" <<'PYTHON' || die "parts of a waterfall in the schemas"
import json
import re
import sys

source = sys.argv[1]
parts = re.findall(r'P\([A-Z]+, "([a-z]+)"', open(source + "/lib/findings/waterfall.h").read())
schemas = [json.load(open(f"{source}/conf/schema/{name}.schema.json")) for name in ("metrics", "compare")]
def lists(node):
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        if isinstance(value, list) and "overlap" in value:
            yield value
        yield from lists(value)
assert len(parts) > 8 and [found for schema in schemas for found in lists(schema)] == [parts, parts], parts
PYTHON
"$LLMPERF" doctor --format json >out 2>err
keeps_to doctor
echo fine
