#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Metrics and presets of hardware counters, on machines with and without libcupti.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 2 counters --chip GH100
stderr_has "give --chip and either --preset or --list"
stderr_is_one_line
expect 2 counters --preset light
expect 2 counters --chip GH100 --preset light --list '*'
expect 2 counters --chip GH100 --list '*' --method sideways
stderr_has "it must be one of range, pm"
expect 2 counters --format xml
expect 2 counters GH100
"$LLMPERF" counters >out 2>err
got=$?
if grep -q RTLD_DEEPBIND err; then
    echo "libcupti opens libraries in a way that sanitizers end the program for"
    exit 77
fi
grep -q '^light$' out || die "light is not among the presets"
if [ $got = 3 ]; then
    stderr_is_one_line
    echo "no chips here: $(cat err)"
    expect 3 counters --chip GH100 --preset light
    stderr_is_one_line
    exit 77
fi
[ $got = 0 ] || die "counters: exit code $got"
grep -q '^GH100$' out || die "GH100 is not among the chips"

expect 0 counters --chip GH100 --preset light
stderr_empty
stdout_has "light on GH100: 1 pass (range)"
stdout_has "dram__bytes_read.sum"
expect 0 counters --chip GH100 --preset roofline --format json
python3 - <<'PYTHON' || die "counters --format json"
import json
answer = json.load(open("out"))
assert answer["chip"] == "GH100" and answer["preset"] == "roofline" and answer["method"] == "range"
assert 2 <= answer["passes"] <= 12, answer["passes"]
rows = {row["quantity"]: row for row in answer["metrics"]}
assert rows["dram_read_bytes"] == {**rows["dram_read_bytes"], "metric": "dram__bytes_read.sum", "unit": "byte", "reason": None}
assert rows["tensor_flops_fp4"]["metric"] is None and "GH100" in rows["tensor_flops_fp4"]["reason"]
PYTHON
expect 0 counters --chip GH100 --list 'dram__bytes*'
stdout_has "dram__bytes_read"
expect 0 counters --chip GH100 --list 'no such*'
stdout_empty
expect 2 counters --chip GX999 --preset light
stderr_has "chip GX999 is unknown"
stderr_is_one_line
expect 2 counters --chip GH100 --preset no__such.sum
stderr_has "GH100 has no metric no__such.sum"
expect 2 counters --chip GV100 --preset pm
stderr_has "GV100 cannot be combined with sampled (pm) counters"
