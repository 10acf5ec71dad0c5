#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf run: programs that do not know the library, how they end, and what stands in the way.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
program=$LLMPERF_TEST_PROGRAMS/nvtx_program
own=$LLMPERF_TEST_PROGRAMS/own_program
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN

last_line() { tail -n 1 out; }
# metric EXPRESSION RUN: of metrics.json as m; regions by path as r
metric() {
    "$LLMPERF" report "$2" --format json >metrics 2>>err || die "no report of $2"
    python3 -c 'import json, sys
m = json.load(open("metrics")); r = {x["path"]: x for x in m["regions"]}
print(eval(sys.argv[1]))' "$1"
}
is() { [ "$1" = "$2" ] || die "$3: $1, not $2"; }

# Usage.
expect 2 run
stderr_is_one_line
expect 2 run -- 
stderr_is_one_line
expect 2 run /bin/true
stderr_has "put --"
expect 2 run --tier fast -- /bin/true
stderr_has "regions, light, deep"
expect 2 run --tier deep --rule "decode_step p99 above 30 ms" -- /bin/true
stderr_has "--rule needs --tier light"
for rules in "" " ; "; do
    expect 2 run --out refused --tier light --rule "$rules" -- /bin/true
    stderr_is_one_line
    stderr_has "--rule is empty"
done
expect 2 run --tier light --rule "decode_step p99 above 30" -- /bin/true
stderr_is_one_line
stderr_has "p99 needs a time with"
# What the session in the program would refuse, before the program starts.
LLMPERF_RULES="decode_step p99" expect 2 run --out refused --tier light -- /bin/true
stderr_has "LLMPERF_RULES: rule"
expect 2 run --out refused --tier light session.rules="decode_step p99" -- /bin/true
stderr_has "session.rules: rule"
LLMPERF_TRACE=yes expect 2 run --out refused -- /bin/true
stderr_has "LLMPERF_TRACE=yes: give 1 or 0"
LLMPERF_TENSOR_PARALLEL=two expect 2 run --out refused -- /bin/true
stderr_has "LLMPERF_TENSOR_PARALLEL=two: must be between 1 and 65536"
expect 2 run --out refused session.tensor_parallel=0 -- /bin/true
stderr_has "must be between 1 and 65536"
[ ! -e refused ] || die "a folder without a run is left"
expect 2 run --counters nosuch -- /bin/true
stderr_is_one_line
stderr_has "unknown counter preset: nosuch"
expect 2 run --tier deep --counters light -- /bin/true
stderr_has "needs --tier counters or light"
expect 2 run --tier regions --stalls -- /bin/true
stderr_has "needs --tier counters or light"
expect 2 run --tier light --stalls -- /bin/true
stderr_has "needs the records of all kernels, which tier light does not allow"
expect 2 run --tier light --counters roofline -- /bin/true
stderr_has "use preset live"
expect 2 run --counters "pm replay=user" -- /bin/true
stderr_has "replay= is for presets with range profiling"
LLMPERF_COUNTERS="light include=regex:(" expect 2 run --tier counters -- /bin/true
stderr_has "regex:("
expect 2 run run.id=../up -- /bin/true
stderr_has "must be a folder name without a path"
[ ! -e ../up ] || die "a folder outside of the folder of runs"
expect 2 run --config nosuch -- /bin/true
stderr_has "nosuch"
printf 'run:\n  mode: light\n  id: null\nartifacts:\n  dir: o\n' >own.yaml
expect 2 run --config own.yaml run.mod=deep -- /bin/true
stderr_has "run.mode"
expect 2 run -- nosuchprogram
stderr_has "nosuchprogram"
stderr_is_one_line
expect 2 run --config nosuch.yaml -- /bin/true
stderr_has "nosuch.yaml"
expect 3 run --out /dev/null/x -- /bin/true
stderr_has "cannot create folder /dev/null: Not a directory"
[ ! -e runs ] || die "wrong usage leaves a folder"

# Words for counters, as an option, of a configuration, as a preset of it: each reaches the session.
for words in "--counters light" --stalls "--tier light --counters live" "session=counters profiling/counters@pipeline.counters=occupancy" "--tier light session.counters=live"; do
    expect 0 run --out counted ${words/session=counters/profiling\/session@session=counters} -- "$program" ranges
    is "$(metric '[n for n in m["notes"] if "hardware counters" in str(n)] != []' "$(last_line)")" True "$words"
done
is "$(metric 'm["tier"]' "$(last_line)")" light "the tier of the last"

# A program without CUDA and NVTX: its output, its exit code, an empty run that says so.
expect 0 run --out o -- /bin/echo --out "two words"
is "$(head -n 1 out)" "--out two words" "output of the program"
is "$(wc -l <out)" 2 "lines"
stderr_has "the program used no CUDA, no NVTX and no libllmperf regions: the run is empty"
is "$(metric 'm["ledger"]["verdict"]' "$(last_line)")" no_device verdict
expect 7 run --out o -- sh -c 'exit 7'
expect 143 run --out o -- sh -c 'kill $$'
printf '#!/bin/sh\necho "$#" "$1"\n' >script
chmod +x script
expect 0 run --out o -- ./script "a b"
is "$(head -n 1 out)" "1 a b" "arguments of a script"
printf 'no program\n' >noprogram
chmod +x noprogram
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\050\000\001\000\000\000%064d' 0 >foreign
chmod +x foreign
expect 3 run --out o -- ./foreign
stderr_has "another architecture"
stderr_has "cannot start"

expect 0 run --out o --tier regions -- "$program" ranges
run=$(last_line)
is "$(metric 'm["run_id"]' "$run")" "$(basename "$run")" "run id"
is "$(metric 'm["tier"]' "$run")" regions tier
is "$(metric 'r["LLM@prefill"]["instances"], r["LLM@prefill"]["tokens"]' "$run")" "(1, 128)" prefill
is "$(metric 'r["LLM@prefill/default@aten::mm"]["instances"]' "$run")" 3 "PyTorch's operator"
is "$(metric '[o["calls"] for o in m["operators"] if o["op_name"] == "default@aten::mm"]' "$run")" "[3]" operator
is "$(metric 'r["LLM@prefill/default@\u00fcber"]["instances"], r["default@request"]["instances"]' "$run")" "(1, 1)" "wide, start/end"
# Ranges that a library closes with a payload, as NCCL does: what follows is not inside them.
expect 0 run --out o --tier regions -- "$program" payload
is "$(metric 'r["default@outer"]["instances"], r["default@outer/library@init"]["instances"], r["default@outer/default@inner"]["instances"]' "$(last_line)")" "(1, 1, 1)" "payloads"
is "$(metric 'm["ledger"]["regions_abandoned"], m["ledger"]["regions_unbalanced"]' "$(last_line)")" "(0, 0)" "payloads are balanced"
for file in report.md env.json run.llmperf; do
    [ -s "$run/$file" ] || die "$file is missing"
done
# Reports that a process could not write are made behind it.
expect 0 run --out o --tier regions run.id=partly -- sh -c "'$program' ranges; rm o/partly/processes/*/report.html o/partly/processes/*/inputs.yaml"
for file in report.html inputs.yaml; do
    [ -s "$(last_line)/$file" ] || die "$file was not made again"
done
# A trace: of the program, and of all processes of a job in one file.
expect 0 run --out o --tier regions --trace -- "$program" ranges
run=$(last_line)
[ -s "$run/trace.llmrec" ] || die "no trace"
expect 0 export "$run" --format chrome
python3 - "$run" <<'PY' || die "the trace is not that of the run"
import json, sys
run = sys.argv[1]
spans = [event for event in json.load(open(run + "/trace.json"))["traceEvents"] if event["ph"] == "X"]
regions = json.load(open(run + "/metrics.json"))["regions"]
assert len(spans) == sum(row["instances"] for row in regions if row["path"]), len(spans)
prefill = [event for event in spans if event["name"] == "LLM@prefill"]
assert len(prefill) == 1 and prefill[0]["args"]["tokens"] == 128, prefill
PY
expect 0 run --out o --tier regions --trace artifacts.trace_bytes=1 -- "$program" ranges
expect 0 export "$(last_line)" --format chrome
stderr_has "the trace has no events: the recording reached its size limit"
expect 0 run --out o --tier regions artifacts.keep_trace=true -- sh -c "'$program' ranges & '$program' ranges; wait"
expect 0 export "$(last_line)" --format chrome -o both.json
is "$(grep -c '"LLM@prefill","pid"' both.json)" 2 "prefills of two processes"
is "$(grep '"LLM@prefill","pid"' both.json | grep -o '"pid":[0-9]*' | sort -u | wc -l)" 2 "processes"
expect 0 run --out o -- "$program" threads
is "$(metric 'r["default@threaded"]["instances"]' "$(last_line)")" 8000 "ranges of eight threads"
expect 5 run --config own.yaml run.id=named -- "$program" exit 5
is "$(last_line)" "$PWD/o/named" "run.id and artifacts.dir"
expect 0 run --out o --tier light --rule "prefill max above 1 ns" -- "$program" ranges
is "$(metric 'm["windows"]' "$(last_line)")" "[]" "no device, no windows"
has_note() { metric '[n for n in m["notes"] if "no window was opened" in n]' "$1"; }
is "$(has_note "$(last_line)" | cut -c1-8)" "['rules:" "a rule without a device is noted"
grep -q "id: named" o/named/config.yaml || die "config.yaml is not what was composed"
is "$(metric 'm["tier"], m["run_id"]' o/named)" "('light', 'named')" "what the configuration says"
expect 2 run --config own.yaml run.id=named -- "$program" ranges
stderr_has "already contains a run"
LLMPERF_TIER=regions expect 0 run --config own.yaml --tier deep -- "$program" ranges
is "$(metric 'm["tier"]' "$(last_line)")" deep "the option wins"

# Fork, exec, children. A child that is forked while another thread allocates never comes out of the leak check that a
# build with AddressSanitizer does at its end.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 expect 0 run --out o -- "$program" fork
run=$(last_line)
is "$(metric '"default@in the child" in r, r["default@in the parent"]["instances"]' "$run")" "(False, 5)" "a fork"
[ ! -e "$run/processes" ] || die "a forked child has a run"
expect 0 run --out o -- "$program" spawn
run=$(last_line)
is "$run" "$PWD/o/$(basename "$(dirname "$run")")/merged" "the run of all"
run=$(dirname "$run")
is "$(metric 'list(r)' "$run")" "['default@before']" "the parent of spawned programs"
is "$(ls "$run/processes" | wc -l)" 3 "runs of spawned programs"
is "$(metric 'r["LLM@prefill"]["instances"]' "$run/processes/$(ls "$run/processes" | tail -n 1)")" 1 "a spawned program"
is "$(grep -c verdict err)" 5 "runs that are told"
expect 0 list "$(dirname "$run")"
stdout_has "$(basename "$run")/processes/"
expect 0 run --out o -- "$program" exec
is "$(grep -c verdict err)" 3 "runs of a program and of what it became"
expect 0 run --no-merge --out o -- sh -c "'$program' ranges & '$program' ranges; wait"
is "$(grep -c verdict err)" 2 "runs of a shell's children"

# A hard end: what was committed stays.
expect 4 run --out o -- "$program" _exit
is "$(metric 'r["default@step"]["instances"]' "$(last_line)")" 7 "_exit"
expect 134 run --out o -- "$program" abort
is "$(metric 'r["default@step"]["instances"]' "$(last_line)")" 7 abort
expect 139 run --out o -- "$program" segv
is "$(metric 'r["default@step"]["instances"]' "$(last_line)")" 7 "segmentation fault"
python3 "$LLMPERF_SOURCE/tests/cli/kill_run.py" 6 >out 2>err || die "killed programs"

# Signals pass through, once.
for signal in TERM INT; do
    mkfifo ready
    "$LLMPERF" run --out o -- "$program" signal >ready 2>err &
    { read -r _; kill -$signal $!; cat; } <ready >out
    wait $!
    is "$?" "$([ "$signal" = TERM ] && echo 9 || echo 10)" "exit code after SIG$signal"
    is "$(head -n 1 out)" $signal "what the program saw"
    rm ready
done

# Programs that are linked to the library: each range once, and their own session is the one that counts.
expect 0 run --out o -- "$own" regions
is "$(metric 'sorted((p, x["instances"]) for p, x in r.items())' "$(last_line)")" \
    "[('LLM@prefill', 3), ('default@foreign', 2)]" "regions of a linked program"
expect 0 run --out o -- "$own" library
is "$(metric 'sorted((p, x["instances"]) for p, x in r.items())' "$(last_line)")" "[('LLM@prefill', 3)]" "regions without CUDA and NVTX"
expect 0 run --out o -- sh -c "'$own' library; '$own' library"
is "$(metric 'sum(x["instances"] for x in m["regions"] if x["path"] == "LLM@prefill")' "$(last_line)")" 6 "of two processes"
# A session that cannot start says why, and nothing else is blamed.
expect 0 run --out o -- env LLMPERF_TIER=nonsense "$own" library
stderr_has "is not profiled: LLMPERF_TIER=nonsense is not one of regions"
stderr_is_one_line
expect 0 run --out o -- env LLMPERF_TIER=nonsense "$program" ranges
stderr_has "is not profiled: LLMPERF_TIER=nonsense is not one of regions"
stderr_is_one_line
expect 0 run --out o -- "$own" session
run=$(last_line)
is "$(grep -c verdict err)" 3 "the injected session, the program's, and both together"
expect 0 run --no-merge --out o -- "$own" session mine
is "$(metric 'r["LLM@own"]["instances"], r["LLM@own/default@foreign"]["instances"]' mine)" "(1, 2)" "its own session"
grep -q "$PWD/mine: process .*verdict" err || die "the program's own run is not told"
expect 0 run --out o run.id=once -- "$own" session mine2
expect 2 run --out o run.id=once -- "$own" session mine3
stderr_has "already contains a run"

# Another tool has its place already.
export CUDA_INJECTION64_PATH=/opt/tool/libtool.so
expect 0 run --out o -- "$program" ranges
stderr_has "/opt/tool/libtool.so"
is "$(metric 'r["LLM@prefill"]["instances"]' "$(last_line)")" 1 "ranges beside another tool's CUDA injection"
export NVTX_INJECTION64_PATH=/opt/tool/libtool.so
expect 0 run --out o -- "$program" ranges
stderr_has "NVTX_INJECTION64_PATH is already set to /opt/tool/libtool.so"
stderr_has "another tool is injected"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
NSYS_PROFILING_SESSION_ID=1 expect 0 run --out o -- "$program" ranges
stderr_has "Nsight Systems is profiling this program"
NV_TPS_LAUNCH_TOKEN=x expect 0 run --out o -- "$program" ranges
stderr_has "Nsight Compute is profiling this program"

# Injected by hand.
library=$(python3 -c 'import os, sys; print(os.path.realpath(sys.argv[1]))' "$LLMPERF_TEST_PROGRAMS/../../lib/libllmperf.so")
NVTX_INJECTION64_PATH=$library LLMPERF_LOG=warn "$program" ranges >out 2>err || die "injected without a folder"
stderr_has "LLMPERF_OUT"
NVTX_INJECTION64_PATH=$library LLMPERF_LOG=loud "$program" ranges >out 2>err || die "injected without a folder"
stderr_has "LLMPERF_LOG=loud is unknown; use none, error, warn, info or debug. Using warn"
stderr_has "LLMPERF_OUT"
[ "$(grep -c LLMPERF_LOG=loud err)" = 1 ] || die "a wrong level is told more than once"
NVTX_INJECTION64_PATH=$library LLMPERF_OUT=hand "$program" ranges >out 2>err || die "injected by hand"
stderr_empty
is "$(metric 'r["LLM@prefill"]["instances"]' "hand/$(ls hand)")" 1 "by hand"

# The model that the program's command line names: a folder, or a name in the cache of Hugging Face. One that is given wins.
note() { metric '[n.replace("'"$PWD"'", "") for n in m["notes"] if n.startswith("Model")], m["model"] and m["model"]["tensor_parallel"]' "$(last_line)"; }
mkdir -p tiny hub/models--org--tiny/refs hub/models--org--tiny/snapshots/abc
printf '{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512, "torch_dtype": "bfloat16"}' |
    tee tiny/config.json >hub/models--org--tiny/snapshots/abc/config.json
echo abc >hub/models--org--tiny/refs/main
found="Model: from the command line of the program: /tiny; option --model replaces it."
expect 0 run --out o --tier regions -- sh -c "'$program' ranges" serve tiny
is "$(note)" "(['$found'], 1)" "a word"
expect 0 run --out o --tier regions -- sh -c "'$program' ranges" --port 80 --model=tiny -tp 2
is "$(note)" "(['$found'], 2)" "an option, and GPUs"
is "$(metric 'r["LLM@prefill"]["flops"] > 0' "$(last_line)")" True "FLOPs"
HF_HUB_CACHE=hub expect 0 run --out o --tier regions -- sh -c "'$program' ranges" --model-path org/tiny
is "$(note)" "(['${found/tiny/hub/models--org--tiny/snapshots/abc}'], 1)" "a name"
expect 0 run --out o --tier regions --model llama_3_8b -- sh -c "'$program' ranges" --model tiny
is "$(note)" "([], 1)" "a given model"
printf '{"model_type": "new"}' >tiny/config.json
expect 0 run --out o --tier regions -- sh -c "'$program' ranges" --model tiny
is "$(metric '[n.split(", so")[0] for n in m["notes"] if n.startswith("Model")]' "$(last_line)")" "['Model: that of the command line of the program is not used']" "an unknown family"
HF_HUB_CACHE=hub expect 0 run --out o --tier regions -- sh -c "'$program' ranges" --model ../tiny org/none --model
is "$(note)" "([], None)" "none"
