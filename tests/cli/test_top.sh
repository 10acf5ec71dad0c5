#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf top: of a run that has ended, and of one that goes on.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
program=$LLMPERF_TEST_PROGRAMS/scripted_program
script=$LLMPERF_TEST_DATA/fake/two_stages.txt
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN
row() { grep -E "^ *$1 " out || die "no row of $1"; } # LABEL

expect 2 top
stderr_is_one_line
stderr_has "cannot read folder runs: No such file or directory"
expect 2 top a b
mkdir empty
expect 2 top empty --once
stderr_has "empty contains no run"

# Of one that has ended: all of it, once, and the same without --once.
expect 0 run --out o run.id=job -- "$program" children "$script" work
expect 0 top o/job --once
stdout_has "o/job: "
stdout_has "0 of 2 processes running"
stdout_has "records so far: complete, launches 12, kernels 30, dropped 0, invalid 0, unattributed 0"
[ "$(row LLM@decode_step | awk '{print $2}')" = 6 ] || die "not six decode steps"
[ "$(row LLM@prefill | awk '{print $2}')" = 2 ] || die "not two prefills"
[ "$(row LLM@mlp | awk '{print $6, $8}')" = "- host" ] || die "tokens that are not known"
head -n 1 out >first
expect 0 top o/job
[ "$(head -n 1 out)" = "$(cat first)" ] || die "it goes on"
# The newest of a folder of runs; a run alone.
expect 0 top o
stdout_has "o/job: "
LLMPERF_OUT=o expect 0 top --once
stdout_has "o/job: "
expect 0 top "o/job/processes/$(ls o/job/processes | head -n 1)"
stdout_has "of 1 processes"
[ "$(row LLM@decode_step | awk '{print $2}')" = 3 ] || die "not three decode steps"

# Of a run that sampled 2 % of its decode steps busy time is that of all of them: 400 steps of 0.94 ms in 456 ms.
expect 0 import "$LLMPERF_TEST_DATA/h200/engine/light.llmrec" -o sampled
expect 0 top sampled --once
[ "$(row LLM@decode_step | awk '{printf "%.0f", $5}')" = 82 ] || die "busy time of the sample only"
stdout_has "GPU busy %          -"
stdout_has "sampled: "

# A stage whose host runs ahead takes its time on the GPU, as in the report; the others take host time.
expect 0 import "$LLMPERF_TEST_DATA/h200/engine/streams.llmrec" -o ahead
expect 0 top ahead --format json
python3 - <<'PYTHON' || die "times of calls"
import json
seen, metrics = json.load(open("out")), json.load(open("ahead/metrics.json"))
stages, clocks = {row["path"]: row for row in metrics["stages"]}, set()
for row in seen["regions"]:
    if row["path"] in stages:
        stage = stages[row["path"]]
        clocks.add(row["clock"])
        assert row["clock"] == stage["clock"], (row, stage["clock"])
        assert row["clock"] == "host" or abs(row["time_ms"] / stage["time_ms"] - 1) < 1e-9, (row, stage["time_ms"])
assert clocks == {"host", "gpu"}, clocks
kernels = {}
for row in metrics["kernels"]:
    name = row.get("short_name") or row["kernel_name"]
    kernels[name] = kernels.get(name, 0) + row["total_ms"]
longest = sorted(kernels.values(), reverse=True)
assert [round(row["total_ms"], 6) for row in seen["kernels"]] == [round(ms, 6) for ms in longest[:20]]
PYTHON

# A process whose prefill never ended does not take the others' times away.
printf 'begin LLM@prefill\nlaunch k\n' >open.txt
printf 'begin LLM@prefill\nlaunch k\nwait 6000\nend\n' >closed.txt
mkdir -p mixed/processes
for name in open closed; do
    LLMPERF_OUT=$name "$program" work $name.txt || die "no run"
    mv $name/* mixed/processes/$name
done
expect 0 top mixed --once
stdout_has "of 2 processes running"
[ "$(row LLM@prefill | awk '{print $2, $4}')" = "1 0.0080" ] || die "not the mean of the one that ended"

# A damaged one is not one that has committed nothing yet, and does not hide the others.
head -c 5000 "o/job/processes/$(ls o/job/processes | head -n 1)/run.llmperf" >"cut"
mkdir -p damaged/processes/1
cp -r "o/job/processes/$(ls o/job/processes | head -n 1)" damaged/processes/2
cp cut damaged/processes/1/run.llmperf
for option in "" --once; do
    expect 2 top damaged $option
    stderr_is_one_line
    stderr_has "damaged/processes/1/run.llmperf is damaged"
    stdout_has "not shown: 1 unreadable runs, the first: damaged/processes/1/run.llmperf is damaged"
    stdout_has "0 of 1 processes running"
    [ "$(row LLM@decode_step | awk '{print $2}')" = 3 ] || die "not three decode steps beside a damaged run"
done
rm -r damaged/processes/2
expect 2 top damaged --once
stderr_is_one_line
stdout_has "0 of 0 processes running"

# Of one that goes on, until it ends: killed after three seconds.
"$LLMPERF" run --out live run.id=job -- "$program" die "$script" >run.out 2>run.err &
for _ in $(seq 100); do
    "$LLMPERF" top live/job --once >out 2>err && grep -q "1 of 1 processes running" out && break
    sleep 0.1
done
grep -q "1 of 1 processes running" out || die "it is not seen to run"
expect 0 top live/job
wait
expect 0 top live/job
stdout_has "0 of 1 processes running"
echo "fine"
