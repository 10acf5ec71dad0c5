#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules for the NVTX ranges of engines: of the data folder, of a user, of a wrong file, and for a recording made without them.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN

# run_marked TEXT OPTION...: a program with three ranges of this name; its run is $run.
run_marked() {
    local text=$1
    shift
    expect 0 run --out runs "$@" -- "$LLMPERF_TEST_PROGRAMS/nvtx_program" mark "$text"
    run=$(tail -n 1 out)
}
# has_region RUN LABEL CALLS TOKENS
has_region() {
    "$LLMPERF" report "$1" --format json >metrics || die "no report of $1"
    python3 -c 'import json, sys
rows = [(r["label"], r["instances"], r["tokens"]) for r in json.load(open("metrics"))["regions"]]
wanted = (sys.argv[1], 3, None if sys.argv[2] == "-" else int(sys.argv[2]))
sys.exit(0 if wanted in rows else f"{wanted} is not in {rows}")' "$2" "$3" || die "region $2"
}
has_note() {
    "$LLMPERF" report "$run" | grep -qF "$1" || die "no note: $1"
}

step="execute_context_0(0)_generation_4(4)"
run_marked "$step"
has_region "$run" vllm@decode_step 12

# A folder of a user, without rules: the names stay. The recording gets its labels where there are rules.
data=$LLMPERF_CONFIG_DIR
cp -r "$data" mine && rm -r mine/engines || die "no copy"
LLMPERF_CONFIG_DIR=$PWD/mine run_marked "$step" --trace
LLMPERF_CONFIG_DIR=$PWD/mine has_region "$run" "default@$step" -
expect 0 import "$run/trace.llmrec" -o replayed
has_region replayed vllm@decode_step 12

# Rules of a user, and a file with an error beside them.
mkdir mine/engines
printf 'rules:\n  - patterns: ["step {n} of mine"]\n    stage: mine@step\n    tokens: n\n' >mine/engines/00-mine.yaml
printf 'rules:\n  - patterns: ["step *"]\n    stages: mine@other\n' >mine/engines/10-wrong.yaml
LLMPERF_CONFIG_DIR=$PWD/mine run_marked "step 7 of mine"
has_region "$run" mine@step 21
has_note "ranges were left out: $PWD/mine/engines/10-wrong.yaml:2: a rule needs patterns and one of stage, operator and ignore"

# Nothing listens to the program.
run_marked "$step" --no-nvtx
"$LLMPERF" report "$run" --format json | grep -q '"regions": \[\]' || die "regions in spite of --no-nvtx"
