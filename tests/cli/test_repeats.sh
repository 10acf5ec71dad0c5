#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several runs beside each other: words, exit codes, JSON and its schema.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

for i in 1 2 3 10; do
    expect 0 import "$recordings/two_stages.llmrec" -o job/run-$i
    sleep 0.1 # names of runs hold the process id
done

# The same recording: all within, and no difference.
expect 0 repeats job/run-1 job/run-2 job/run-3
stdout_has "**Within 10"
stdout_has "over 3 runs"
stdout_has "## Stages"
# A folder of runs, in the order of numbers.
expect 0 repeats job --format json -o repeats.json
stdout_empty
expect 0 validate repeats.json
python3 - <<'PYTHON' || die "repeats.json"
import json
found = json.load(open("repeats.json"))
assert found["repeats"] == 4 and found["differing"] == 0 and found["differences"] == [], found["differences"]
rows = {(row["region"], row["device"], row["quantity"]): row for row in found["rows"] if row["scope"] == "region"}
busy = rows["LLM@prefill", 0, "gpu_busy_ms"]
assert busy["count"] == 4 and busy["std"] == 0 and busy["spread"] == 0 and busy["mean"] > 0, busy
assert any(row["scope"] == "iteration" and row["time"] == "busy" for row in found["rows"])
PYTHON
sed 's/"repeats": 4/"repeats": 1/; s/"repeats":4/"repeats":1/' repeats.json >wrong.json
cmp -s repeats.json wrong.json && die "nothing was changed"
expect 1 validate wrong.json
stderr_has "repeats"

# Runs that are no repeats of one thing.
expect 0 import "$recordings/faults.llmrec" -o other
expect 1 repeats job/run-1 other
stdout_has "The runs are not repeats of each other"
stdout_has "run 2 is incomplete"
expect 1 repeats job/run-1 job/run-1
stdout_has "the same run"

expect 2 repeats job/run-1
stderr_has "expected two or more runs"
expect 2 repeats job/run-1 nosuch
stderr_has "nosuch"
stderr_is_one_line
expect 2 repeats job --threshold -1
expect 2 repeats job --threshold ten
expect 2 repeats job --format html
# A file is replaced, not written to: who has it open reads on. A run is no place for a text.
ln repeats.json linked.json
cp repeats.json before.json
expect 0 repeats job -o repeats.json
cmp -s linked.json before.json || die "repeats.json was written in place"
cmp -s repeats.json linked.json && die "nothing was written"
mv linked.json repeats.json
expect 2 repeats job -o job/run-1/run.llmperf
stderr_has "is a run or another database"
expect 0 compare job/run-1 job/run-2 -o /dev/null
# A folder of repeats is a side of a comparison.
expect 0 compare job job
stdout_has "- base: "
[ "$(grep -c '^- base: ' out)" = "$(ls -d job/run-* | wc -l)" ] || die "not each of the repeats is a run of its side"
stdout_has "A side with several runs"
expect 0 compare job job --format json -o sides.json
expect 0 validate sides.json
[ -c /dev/null ] || die "/dev/null is no device any more"
expect 3 repeats job -o nowhere/repeats.md
stderr_has "nowhere"

# Every key is explained.
cp repeats.json out
python3 - "$LLMPERF_SOURCE/docs/reference/metrics.md" <<'PYTHON' || die "keys without an explanation"
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
section = re.search(r"^## Repeats\n(.*?)(?=^## |\Z)", page, re.S | re.M)[1]
quoted = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", section))))
found = json.load(open("repeats.json"))
keys = set(found) | {key for name in ("runs", "rows") for row in found[name] for key in row}
missing = sorted(keys - quoted - {"schema_version"})
if missing:
    sys.exit(f"docs/reference/metrics.md, Repeats: {missing}")
PYTHON
echo fine
