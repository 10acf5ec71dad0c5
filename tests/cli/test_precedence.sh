#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Command line before environment before configuration before default, for every command that makes runs.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset "${!LLMPERF_R@}" LLMPERF_DTYPE LLMPERF_COUNTERS LLMPERF_SAMPLE_REGIONS LLMPERF_TRACE LLMPERF_DETACH
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN
# Tools that leave nothing: llmperf ends with exit code 3, and the folder that they were given shows where the run would be.
mkdir tools
ln -s "$(type -P true)" tools/nsys
ln -s "$(type -P true)" tools/ncu
PATH=$TMPDIR/tools:$PATH
printf 'defaults:\n  - config\n  - _self_\nartifacts:\n  dir: configured\n' >own.yaml

# made_in FOLDER COMMAND WORD...: the command makes its run in that folder
made_in() {
    local folder=$1 code=0
    shift
    case $1 in nsys | ncu | deep) code=3 ;; esac
    rm -rf runs given environment configured chosen
    expect $code "$@"
    [ "$(ls -d runs given environment configured chosen 2>/dev/null)" = "$folder" ] ||
        die "llmperf $*: runs are in $(ls -d runs given environment configured chosen 2>/dev/null), not in $folder"
}

agree() { # COMMAND, what follows its options...
    local command=$1
    shift
    made_in runs "$command" "$@"
    made_in configured "$command" --config own.yaml "$@"
    made_in given "$command" --config own.yaml artifacts.dir=given "$@"
    export LLMPERF_OUT=environment
    made_in environment "$command" "$@"
    made_in environment "$command" --config own.yaml "$@"
    made_in environment "$command" run.id=mine "$@"
    made_in given "$command" artifacts.dir=given "$@"
    made_in given "$command" 'artifacts={dir: given}' "$@"
    [ "$command" = import ] || made_in chosen "$command" --out chosen artifacts.dir=given "$@"
    LLMPERF_OUT='' made_in configured "$command" --config own.yaml "$@"
    unset LLMPERF_OUT
}
for command in run nsys ncu deep; do
    agree $command -- /bin/true
done
agree import "$recordings/two_stages.llmrec"
agree import "$LLMPERF_TEST_DATA/ncu/kernels.csv"

# Commands that look at the folder of runs find it where the others write.
mkdir -p data && cp -r "$LLMPERF_CONFIG_DIR"/* data && sed -i 's/^  dir: runs .*/  dir: configured/' data/config.yaml
rm -rf configured
LLMPERF_CONFIG_DIR=$PWD/data expect 0 run -- /bin/true
rm -rf runs environment
for command in list "top --once"; do
    LLMPERF_CONFIG_DIR=$PWD/data expect 0 $command
    stdout_has "$(ls -t configured | head -n 1)"
    expect 0 $command --config own.yaml
    stdout_has "$(ls -t configured | head -n 1)"
    LLMPERF_CONFIG_DIR=$PWD/data LLMPERF_OUT=environment expect 2 $command
    stderr_has environment
done

# Every setting that has a variable: KEY=VALUE takes the variable away from the program, another key leaves it.
settled() { # VARIABLE=VALUE KEY=VALUE KEY=VALUE that says nothing of it
    local variable=${1%%=*}
    env "$1" "$LLMPERF" run --out o "$2" -- /usr/bin/env >out 2>err || die "llmperf run $2"
    grep "^$variable=" out | grep -qF "$1" && die "$2 leaves $1 to the program"
    env "$1" "$LLMPERF" run --out o "$3" -- /usr/bin/env >out 2>err || die "llmperf run $3"
    grep -qxF "$1" out || die "$3 takes $1 away"
}
settled LLMPERF_TIER=regions run.mode=light run.dtype=bf16
settled LLMPERF_TIER=regions session.tier=light run.dtype=bf16
settled LLMPERF_TIER=regions profiling/session@session=deep profiling/nsys@pipeline.nsys=nsys.stage
settled LLMPERF_TRACE=1 artifacts.keep_trace=false artifacts.trace_bytes=1000
settled LLMPERF_DTYPE=fp32 run.dtype=bf16 run.mode=light
settled LLMPERF_RULES="decode_step max above 1 ms" session.rules="prefill max above 1 ms" run.mode=light
settled LLMPERF_SAMPLE_REGIONS=decode session.sample_regions=prefill run.mode=light
settled LLMPERF_DETACH=1 session.detach=false run.mode=light
settled LLMPERF_TENSOR_PARALLEL=2 session.tensor_parallel=4 session.expert_parallel=4
settled LLMPERF_EXPERT_PARALLEL=2 session.expert_parallel=4 session.tensor_parallel=4
settled LLMPERF_PEAK_TFLOPS=1 hardware.peak_tflops=2 hardware.bandwidth_gbs=2
settled LLMPERF_BANDWIDTH_GBS=1 hardware.bandwidth_gbs=2 hardware.peak_tflops=2
export LLMPERF_TIER=counters
settled LLMPERF_COUNTERS=occupancy session.counters=roofline run.dtype=bf16
settled LLMPERF_COUNTERS=occupancy profiling/counters@pipeline.counters=roofline run.dtype=bf16
unset LLMPERF_TIER

# Where the variable would be refused, what replaces it is not.
LLMPERF_TENSOR_PARALLEL=two expect 0 run --out o session.tensor_parallel=2 -- /bin/true
# Options come first of all.
LLMPERF_TIER=regions expect 0 run --out o --tier deep run.mode=light -- /usr/bin/env
stdout_has "LLMPERF_TIER=deep"
LLMPERF_TIER=regions expect 0 run --out o --config "$LLMPERF_CONFIG_DIR/config.yaml" -- /usr/bin/env
stdout_has "LLMPERF_TIER=regions"
# The run that llmperf itself writes obeys too.
LLMPERF_TIER=deep expect 0 run --out o run.mode=regions -- /bin/true
expect 0 report "$(tail -n 1 out)" --format json
stdout_has '"tier": "regions"'
echo fine
