#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf run over programs with children: a run of each process, and one of all together.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
program=$LLMPERF_TEST_PROGRAMS/scripted_program
script=$LLMPERF_TEST_DATA/fake/two_stages.txt
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN

last_line() { tail -n 1 out; }
has() { # RUN EXPRESSION: of metrics.json as m, its ledger as l
    "$LLMPERF" report "$1" --format json >metrics 2>>err || die "no report of $1"
    python3 -c 'import json, sys
m = json.load(open("metrics")); l = m["ledger"]
assert eval(sys.argv[1]), (sys.argv[1], json.dumps(m)[:4000])' "$2" 2>>err || die "$2"
}

# A parent and two children, and a forked child that executes nothing: three runs, and one of them all.
expect 0 run --out o run.id=job -- "$program" children "$script" work work
[ "$(last_line)" = "$PWD/o/job/merged" ] || die "the last line is $(last_line)"
stderr_has "$PWD/o/job/merged: 3 processes merged, verdict complete, 45 kernels"
[ "$(ls o/job/processes | wc -l)" = 3 ] || die "not three runs of processes"
for file in run.llmperf report.md metrics.json env.json; do
    [ -s o/job/merged/$file ] || die "no $file of all processes"
done
one=o/job/processes/$(ls o/job/processes | head -n 1)
has "$one" 'l["kernels_seen"] == 15 and l["launches_expected"] == 6 and l["verdict"] == "complete"'
has o/job/merged 'l["kernels_seen"] == 45 and l["launches_expected"] == 18 and l["kernels_attributed"] == 45 and m["run_id"] == "job"'
has o/job/merged 'len({x["process_id"] for x in m["regions"] if x["path"] == "LLM@prefill"}) == 3'
has o/job/merged 'sum(x["instances"] for x in m["regions"] if x["path"] == "LLM@decode_all/LLM@decode_step" and x["device"] == 0) == 9'
has o/job/merged 'not any("forked" in x["path"] for x in m["regions"])'

# The folder of the job stands for all of them, and each command finds them.
has o/job 'l["kernels_seen"] == 45'
expect 0 list o
stdout_has "job/merged"
[ "$(grep -c complete out)" = 4 ] || die "not four runs are listed"
expect 2 run --out o run.id=job -- "$program" work "$script"
stderr_has "already contains a run"

# What is in the merged run already is not added to it.
expect 2 merge o/job "$one" -o again
stderr_has "the run $(basename "$one") would be counted twice"
expect 2 merge "$one" "$one/run.llmperf" -o again

# Apart: nothing is put together, and the job's folder names what there is.
expect 0 run --no-merge --out o run.id=apart -- "$program" children "$script" work
[ ! -e o/apart/merged ] || die "put together all the same"
expect 2 report o/apart
stderr_is_one_line
stderr_has "o/apart contains 2 runs of processes; give one of them, such as o/apart/processes/"

# One process: nothing to put together, and the folder of the job stands for it.
expect 0 run --out o run.id=single -- "$program" work "$script"
[ ! -e o/single/merged ] || die "one run was put together"
has o/single 'l["kernels_seen"] == 15'

# A child that was killed: what it committed counts, its end is missing, and the line names it.
expect 0 run --out o run.id=killed -- "$program" children "$script" die work
killed=$(basename "$(grep -l "without stopping the session" o/killed/processes/*/report.md | head -n 1 | xargs dirname)")
has o/killed/merged 'l["verdict"] == "incomplete" and l["kernels_seen"] == 45 and any(
    x.startswith("'"$killed"': ") and "without stopping the session" in x for x in l["problems"])'

# A child that was killed at once: what it may have done is missing, and the others count.
expect 0 run --out o run.id=early -- "$program" children "$script" early work
has o/early/merged 'l["verdict"] == "incomplete" and l["kernels_seen"] >= 30 and len(l["problems"]) > 0'

# A process that outlives the program: its run goes on, and the job says so and where it is.
expect 0 run --out o run.id=left -- sh -c "'$program' stay '$script' '$PWD/end' &
    until '$LLMPERF' report o/left/processes/* >metrics 2>&1; do sleep 0.1; done; '$program' work '$script'"
stderr_has "is still running and its run continues there; so far"
staying=$(grep -o "o/left/processes/.*: process [0-9]* is still running" err | cut -d: -f1)
[ ! -e "$staying/report.md" ] || die "a run that goes on has the reports of its end"
has o/left/merged 'l["verdict"] == "incomplete" and sum("was still running when the runs were merged; its run continues in '"$PWD/$staying"'" in x for x in l["problems"]) == 1'
touch end
for _ in $(seq 600); do [ -e "$staying/inputs.yaml" ] && break; sleep 0.1; done
has "$staying" 'l["verdict"] == "complete" and l["kernels_seen"] == 15'
expect 0 merge o/left/processes/* -o whole
stdout_has "2 runs: verdict complete, 30 kernels"

# One that has no run by then: no empty run takes the place of the one that comes.
expect 0 run --out o run.id=later -- sh -c "(until [ -e go ]; do sleep 0.1; done; exec '$program' work '$script') &"
stderr_has "is still running and has no run yet: if it uses CUDA or NVTX, its run is written to $PWD/o/later/processes"
[ ! -e o/later/run.llmperf ] || die "an empty run was written"
[ "$(last_line)" = "$PWD/o/later" ] || die "the last line is $(last_line)"
touch go
for _ in $(seq 600); do [ -e "$(echo o/later/processes/*)/inputs.yaml" ] && break; sleep 0.1; done
has o/later 'l["kernels_seen"] == 15'

# A program that keeps its runs elsewhere, and nothing at all.
mkdir -p elsewhere/own empty
cp "$one/run.llmperf" elsewhere/own/
echo "$PWD/elsewhere/own" >empty/run-17
has empty 'l["kernels_seen"] == 15'
mkdir nothing
expect 2 report nothing
stderr_is_one_line
stderr_has "nothing contains no run (no run.llmperf and no processes/); give a run directory or its run.llmperf (llmperf list shows the runs in a folder)"
echo "fine"
