#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces of torch.profiler (tests/support/kineto_trace.py) become runs with the kernels, times and regions that they hold.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

trace() { python3 "$LLMPERF_SOURCE/tests/support/kineto_trace.py" "$@" >made || die "no trace"; }

# fact RUN EXPRESSION: of its metrics.json, M; R are its regions by path, L is its ledger.
fact() {
    python3 - "$1" "$2" <<'PY'
import json, sys
M = json.load(open(sys.argv[1] + "/metrics.json"))
R, L = {row["path"]: row for row in M["regions"]}, M["ledger"]
print(eval(sys.argv[2]))
PY
}
is() { local got; got=$(fact "$1" "$2"); [ "$got" = "$3" ] || die "$1: $2 is $got, not $3"; }

KERNEL_NS='round(sum(row["total_ms"] for row in M["kernels"] if row["kernel_class"] != "memory op") * 1e6)'

# Each variant has all kernels with their whole time, attributed by the ids of their launches.
for words in "" graph old edges late marked "old graph late"; do
    rm -rf run
    # shellcheck disable=SC2086 # words
    trace trace.json 8 $words
    read -r kernels total_ns <made
    expect 0 import trace.json -o run
    stdout_has "trace.json: verdict complete, $kernels kernels"
    is run "$KERNEL_NS" "$total_ns"
    is run 'L["kernels_attributed"], L["launches_missing"], L["memory_seen"]' "($kernels, 0, 8)"
    is run 'R["torch@ProfilerStep"]["instances"], R["torch@ProfilerStep"]["kernel_count"]' "(8, $kernels)"
    case $words in
        *edges* | *marked*) ;;
        *) is run 'R["torch@ProfilerStep/module@Layer_3"]["kernel_count"]' $((kernels / 4)) ;;
    esac
done
is run 'L["graph_launches"], L["launches_expected"]' "(32, 0)"

# Where it came from, and shapes.
trace trace.json.gz 8 marked rank=1/2
expect 0 import trace.json.gz -o rank1
stdout_has "trace.json.gz: verdict complete, 96 kernels"
is rank1 'M["hardware"]["name"], M["hardware"]["compute_capability"]' "('NVIDIA H200', '9.0')"
grep -q '"RANK": "1"' rank1/env.json || die "env.json has no rank"
is rank1 'sorted((i["region"], i["count"]) for i in M["iterations"])' "[('torch@ProfilerStep/LLM@decode_step', 6), ('torch@ProfilerStep/LLM@prefill', 2)]"
is rank1 'sorted({tuple(s[k] for k in ("grid_x", "grid_y", "block_x", "registers", "static_shared_bytes")) for s in M["kernel_shapes"] if "gemm" in s["kernel_name_raw"]})' \
    "[(64, 2, 256, 32, 1024)]"
is rank1 '[(s["bytes"], s["source"], s["destination"]) for s in M["kernel_shapes"] if "memcpy" in s["kernel_name_raw"]][0]' "(24576, 'pinned', 'device')"
is rank1 'round(sum(c["total_ms"] for c in M["host_calls"] if c["call"] == "cuStreamSynchronize" and "LLM@" in c["region"]), 6)' 1.6

# The ranks of a job.
trace trace0.json 8 marked rank=0/2
expect 0 import trace0.json -o rank0
expect 0 merge rank0 rank1 -o both
is both 'L["kernels_seen"], sorted({row["device"] for row in M["kernels"]})' "(192, [0, 1])"

# Our own traces come back.
for recording in "$recordings/two_stages" "$LLMPERF_TEST_DATA/h200/dummy_resnet" "$LLMPERF_TEST_DATA/h200/graphs/nested"; do
    rm -rf before after
    expect 0 import "$recording.llmrec" -o before
    expect 0 export "$recording.llmrec" --format chrome -o own.json
    expect 0 import own.json -o after
    python3 - <<'PY' || die "$recording is another run after export and import"
import json
def read(run):
    metrics = json.load(open(run + "/metrics.json"))
    ledger = {key: value for key, value in metrics["ledger"].items() if key not in ("tracing_overhead_ms", "graph_nodes_unmapped")}
    regions = {row["path"]: [row[key] for key in ("instances", "kernel_count", "kernel_ms", "wall_ms", "gpu_busy_ms", "tokens")] for row in metrics["regions"]}
    kernels = sorted([str(row[key]) for key in ("kernel_name", "region", "captured_in", "device", "calls", "total_ms", "min_ms", "max_ms")]
                     for row in metrics["kernels"])
    return ledger, regions, kernels
before, after = read("before"), read("after")
assert before[1] and before[2]
for one, other in zip(before, after):
    assert one == other, (one, other)
PY
done

# A trace of a merged run: its processes have equal ids.
for rank in 0 1; do
    expect 0 import "$LLMPERF_TEST_DATA/h200/engine/ranks_$rank.llmrec" artifacts.keep_trace=true -o "part$rank"
done
expect 0 merge part0 part1 -o parts
expect 0 export parts --format chrome -o parts.json
expect 0 import parts.json -o again
[ "$(fact parts "L['kernels_attributed'], $KERNEL_NS")" = "$(fact again "L['kernels_attributed'], $KERNEL_NS")" ] || die "the parts are other runs"

# A trace whose program was killed: what it has counts, and the run says that it is not all.
trace whole.json 8
for bytes in 30 60 90; do
    rm -rf cut
    head -c $(($(stat -c %s whole.json) * bytes / 100)) whole.json >cut.json
    expect 0 import cut.json -o cut
    stdout_has "verdict incomplete"
    is cut '"the recording ends early: it was cut while it was written" in L["problems"]' True
done
is cut '50 < L["kernels_seen"] < 96' True
gzip -c whole.json | head -c 3000 >cut.json.gz
rm -rf cut
expect 0 import cut.json.gz -o cut
stdout_has "verdict incomplete"
rm -rf cut
trace bare.json 8 bare
expect 0 import bare.json -o cut
stdout_has "verdict incomplete, 96 kernels"

# A trace is read in pieces: 50 MB within 160 MB of address space, in which the program and its libraries are.
if ! sanitized; then
    trace large.json 4000
    read -r kernels total_ns <made
    (ulimit -v 160000; "$LLMPERF" import large.json -o large) >out 2>err || die "no run of a large trace in little memory"
    stdout_has "verdict complete, $kernels kernels"
    is large "$KERNEL_NS" "$total_ns"
fi

# Files that are no traces.
for text in '{"a": 1}' '{"traceEvents": []}' '[1, 2]' '{' '[' '[[[[[[' '{"traceEvents": 5}'; do
    echo "$text" >other.json
    expect 2 import other.json
    stderr_has "other.json has no known format"
    stderr_is_one_line
done
echo 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name' >table.csv
expect 2 import whole.json table.csv
stderr_has "recordings and traces become runs of their own"
