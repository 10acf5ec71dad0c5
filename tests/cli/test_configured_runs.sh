#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One composed configuration for tool and session: groups, overrides of the model, a run's config.yaml again, and what is refused
# before the program starts. Then a model and a dtype for what was collected without.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset "${!LLMPERF_R@}" LLMPERF_DTYPE LLMPERF_COUNTERS LLMPERF_SAMPLE_REGIONS LLMPERF_TRACE LLMPERF_DETACH
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN
program=$LLMPERF_TEST_PROGRAMS/scripted_program
llama=+model/llama_3_8b/arch@model=llama_3_8b.default
cat >script <<'SCRIPT'
begin LLM@decode_all
begin LLM@decode_step sequences=4 tokens=4 context=400
end
begin LLM@decode_step sequences=4 tokens=4 context=800
end
end
begin LLM@prefill sequences=1 tokens=100
end
SCRIPT
last_line() { tail -n 1 out; }
is() { [ "$1" = "$2" ] || die "$3: $1, not $2"; }
metric() { # EXPRESSION, RUN or a file: of metrics.json as m; regions by path as r
    local file=$2
    [ -d "$2" ] && file=$2/metrics.json
    python3 -c 'import json, sys
m = json.load(open(sys.argv[2])); r = {x["path"]: x for x in m["regions"]}
print(eval(sys.argv[1]))' "$1" "$file" 2>>err || die "$1 of $2"
}
work='{p: (x["flops"], x["bytes"]) for p, x in r.items()}'
profile() { # WORD...: runs the program; its run is $run, that of the job $job
    expect 0 run --out o "$@" -- "$program" work script
    run=$(last_line)
    job=${run%/processes/*}
}

# A model as a group, its overrides, and as an option.
profile
is "$(metric 'm["model"]' "$run")" None "no model"
plain=$run
profile "$llama"
whole=$(metric "$work" "$run")
is "$(metric 'r["LLM@prefill"]["flops"] > 1e12, m["model"]["name"], m["hardware"]["dtype"]' "$run")" "(True, 'llama_3_8b', 'bf16')" "a model as a group"
profile "$llama" model.num_hidden_layers=4
is "$(metric '1e11 < r["LLM@prefill"]["flops"] < 2e11' "$run")" True "FLOPs of 4 layers"
cut=$(metric "$work" "$run")
profile --model llama_3_8b model.num_hidden_layers=4 --dtype fp8
is "$(metric "$work" "$run")" "$cut" "the same by --model"
is "$(metric 'm["hardware"]["dtype"]' "$run")" fp8 "--dtype"
grep -q '^  num_hidden_layers: 4$' "$run/config.yaml" || die "config.yaml lacks the override"
printf 'defaults: [config, _self_]\nmodel: mine\n' >named.yaml
mkdir mine && "$LLMPERF" config "$llama" --format json | python3 -c 'import json, sys
model = json.load(sys.stdin)["model"]
del model["name"]
json.dump(model, open("mine/config.json", "w"), indent=1)'
for words in "--model mine" "--model mine/config.json" "--config named.yaml" model=mine +model=mine/config.json; do
    profile $words
    is "$(metric "$work" "$run")" "$whole" "$words"
    is "$(metric 'm["model"]["name"]' "$run")" mine "the name of $words"
done

# Counters of a group are counted, with what is changed in it.
for words in profiling/counters@pipeline.counters=light "profiling/counters@pipeline.counters=live --tier light" "session.counters=light"; do
    expect 0 run --out o $words -- "$LLMPERF_TEST_PROGRAMS/nvtx_program" ranges
    is "$(metric '[n for n in m["notes"] if "hardware counters" in n] != []' "$(last_line)")" True "$words"
done
expect 2 run --out refused profiling/counters@pipeline.counters=light pipeline.counters.method=guess -- "$program" work script
stderr_has '"method" must be range, pm or pc'

# A run's config.yaml is a configuration again, and composes to itself.
again() { # WORD...
    profile "$@"
    local first=$job/config.yaml numbers
    numbers=$(metric "$work, m[\"tier\"], m[\"hardware\"][\"dtype\"]" "$run")
    expect 0 config --config "$first"
    cmp -s out "$first" || die "$* composes to another configuration"
    cmp -s "$run/config.yaml" "$first" || die "$*: the process has another configuration"
    expect 0 run --config "$first" -- "$program" work script
    run=$(last_line)
    cmp -s "${run%/processes/*}/config.yaml" "$first" || die "$* again has another configuration"
    is "$(metric "$work, m[\"tier\"], m[\"hardware\"][\"dtype\"]" "$run")" "$numbers" "$* again"
}
again
again "$llama" model.num_hidden_layers=2 --dtype fp8 --tier light
again --model mine --counters "light include=default@forward"
again profiling/counters@pipeline.counters=occupancy
again --tier light --rule 'decode_step p99 above 30 ms for 2 s; prefill max above 1 s' session.tensor_parallel=4 "$llama"
again "+note='it\\'s \\\${x}'" --trace
expect 0 run --out "a'b\\'c \${d}\\" --tier regions -- /bin/true
expect 0 config --config "$(last_line)/config.yaml" --format json
is "$(python3 -c 'import json; print(json.load(open("out"))["artifacts"]["dir"])')" "a'b\\'c \${d}\\" "--out in config.yaml"
# Two processes with one run.id.
expect 0 run --out o run.id=both "$llama" -- bash -c "'$program' work script; '$program' work script"
is "$(ls o/both/processes | wc -l)" 2 "runs of two processes"

# keep_runs is about jobs, not about the processes of one.
for id in first second; do
    expect 0 run --out kept --tier regions run.id=$id -- "$LLMPERF_TEST_PROGRAMS/nvtx_program" ranges
done
touch -d "5 minutes ago" kept/first/run.llmperf
expect 0 run --out kept artifacts.keep_runs=2 run.id=third -- bash -c \
    "'$program' work script; '$program' work script; touch -d '5 minutes ago' kept/third/processes/*/run.llmperf; '$program' work script"
is "$(ls kept | tr '\n' ' ')" "second third " "runs that are kept"
is "$(ls kept/third/processes | wc -l)" 3 "processes of the job"

# Data files without a configuration: options count as they do with one.
mkdir nothing
LLMPERF_CONFIG_DIR=nothing expect 0 run --out o --tier light --dtype fp8 --model mine -- "$program" work script
run=$(last_line)
is "$(metric 'm["tier"], m["model"]["name"], m["hardware"]["dtype"]' "$run")" "('light', 'mine', 'fp8')" "options alone"
LLMPERF_CONFIG_DIR=nothing expect 0 run --out o run.mode=light -- "$program" work script
is "$(metric 'm["tier"]' "$(last_line)")" light "the key of an option"
LLMPERF_CONFIG_DIR=nothing expect 2 run --out o run.moed=light -- "$program" work script
stderr_has "run.moed"

# What is wrong is said before the program starts, in one line, and leaves nothing.
printf '{"model_type": "llama",' >broken.json
mkdir empty
refused() { # WORDS ARGUMENT...
    local words=$1 command
    shift
    for command in run "nsys --dry-run" "ncu --dry-run" "deep --dry-run" nsys; do
        expect 2 $command --out refused "$@" -- touch started
        stderr_is_one_line
        stderr_has "$words"
        stdout_empty
    done
    [ ! -e refused ] && [ ! -e started ] || die "$*: something was started"
}
refused "nosuch is neither a file nor a known model" --model nosuch
refused "empty/config.json is neither a file" --model empty
refused "broken.json:" --model broken.json
refused "configuration not found: model/llama_3_8b/arch/lama" +model/llama_3_8b/arch@model=lama
refused "model.num_hidden_layers is 0" "$llama" model.num_hidden_layers=0
sed s/mine/no.json/ named.yaml >other.yaml
refused "other.yaml:2: model: no.json is neither a file" --config other.yaml
refused "list.yaml" inputs.manifest=list.yaml
printf 'a: 1\n' >list.yaml
refused "inputs.manifest: list.yaml: a manifest must be a list" inputs.manifest=list.yaml
refused "unknown dtype bf61" --dtype bf61
refused "unknown dtype bf61" run.dtype=bf61
refused "must be a positive number" hardware.peak_tflops=fast
refused "nearest: session.rules" +session.rulse=x
refused "tensor_parallel" "$llama" session.tensor_parallel=3
refused "nosuch.yaml" --config nosuch.yaml
refused "session=light: session must be a map" session=light
refused "the name of the model is empty" --model ""
refused "the name of the configuration is empty" --config ""
refused "tier regions collects no device data" run.mode=regions session.counters=light
LLMPERF_DTYPE=bf61 refused "LLMPERF_DTYPE=bf61"
[ ! -e runs ] || die "a folder of runs without a run"

# The vendors' commands keep model, dtype and inputs.
export FAKE_TOOLS_LOG=$TMPDIR/calls
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\x2c\0\0\0\xc8\x08\2\0\0\0' >image.png
printf -- '- script\n- image.png\n- {path: image.png, height: 100}\n' >list.yaml
PATH=$LLMPERF_TEST_DATA/fake_tools:$PATH expect 0 nsys --out v --model mine --dtype fp8 inputs.manifest=list.yaml -- /bin/true
stderr_has "no FLOPs and bytes from the model: LLM@prefill: its tokens were not given"
is "$(metric 'm["model"]["name"], m["hardware"]["dtype"]' "$(last_line)")" "('mine', 'fp8')" "nsys with a model"
grep -q "$TMPDIR/script" "$(last_line)/inputs.yaml" || die "no inputs.yaml of nsys"
is "$(grep -cE '^    width: 300$|^    height: 200$' "$(last_line)/inputs.yaml")" 2 "size of an image, once: the other entry has its own"
grep -q '"height": 100$' "$(last_line)/inputs.yaml" || die "height of the manifest"

# A model and a dtype for what was collected without: the same numbers as with them.
expect 0 report "$plain" --model llama_3_8b --dtype bf16 --format json -o later.json
is "$(metric "$work" later.json)" "$whole" "the model given to report"
expect 0 report "$plain" --model mine --format json -o later.json
is "$(metric 'm["model"]["name"], m["hardware"]["dtype"]' later.json)" "('mine', 'bf16')" "its name and dtype"
LLMPERF_DTYPE=fp16 expect 0 report "$plain" --dtype fp8 --format json -o later.json
is "$(metric 'm["hardware"]["dtype"]' later.json)" fp8 "--dtype comes before the environment"
expect 0 import "$recordings/two_stages.llmrec" --model llama_3_8b --dtype bf16 -o given
expect 0 import "$recordings/two_stages.llmrec" -o bare
expect 0 report bare --model llama_3_8b --format json -o later.json
is "$(metric "$work" later.json)" "$(metric "$work" given)" "a recording, with the model then and later"
expect 0 import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" --dtype fp32 -o resnet
is "$(metric 'r["LLM@forward"]["mfu"] > 0, m["hardware"]["dtype"]' resnet)" "(True, 'fp32')" "MFU of an imported recording"
expect 0 import "$LLMPERF_TEST_DATA/ncu/kernels.csv" --model mine -o ncu
stderr_has "no FLOPs and bytes from the model: no region is a stage"
for words in "report bare" "import $recordings/two_stages.llmrec -o refused"; do
    expect 2 $words --model nosuch
    stderr_has "nosuch is neither a file nor a known model"
    expect 2 $words --dtype bf61
    stderr_has "unknown dtype bf61"
    stderr_is_one_line
done
[ ! -e refused ] || die "a refused import leaves a folder"
echo "fine"
