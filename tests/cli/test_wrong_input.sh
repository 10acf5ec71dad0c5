#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wrong input is one clear line and exit code 2, at once, whatever is wrong with it; a value that cannot be known is null.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset LLMPERF_PEAK_TFLOPS LLMPERF_BANDWIDTH_GBS LLMPERF_DTYPE
export XDG_CACHE_HOME=$PWD/cache
# A reader that takes all the memory there is fails here, not the machine. Sanitizers reserve terabytes of addresses.
sanitized || ulimit -v 4000000

# refused WORDS ARGUMENT...
refused() {
    local words=$1
    shift
    expect 2 "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "$words"
}

# model_with WORDS KEY JSON-VALUE: a small model with one value replaced
model_with() {
    local key text='"model_type": "llama"'
    declare -A keys=([hidden_size]=64 [num_hidden_layers]=2 [num_attention_heads]=4 [intermediate_size]=128 [vocab_size]=100)
    keys[$2]=$3
    [ -z "${keys[model_type]+x}" ] || text='"max_position_embeddings": 64'
    for key in "${!keys[@]}"; do
        [ "${keys[$key]}" = - ] || text+=", \"$key\": ${keys[$key]}"
    done
    echo "{$text}" >model.json
    refused "$1" model model.json
    stderr_has "model.json"
}

# Values of a description.
expect 0 model "$LLMPERF_TEST_DATA/model/llama_3_8b.json"
for key in hidden_size num_hidden_layers num_attention_heads vocab_size intermediate_size; do
    model_with "$key is missing" $key -
    model_with "$key is missing" $key null
    for value in 0 -1 -9223372036854775808 9223372036854775807 18446744073709551616 999999999999999999999999999999 \
        NaN .nan Infinity .inf -.inf 1e300 1e-300 64.5 '"64"' '""' '[64]' '{"a": 1}' true; do
        model_with "$key is " $key "$value"
    done
done
model_with "num_key_value_heads" num_key_value_heads 3
model_with "num_key_value_heads is -1" num_key_value_heads -1
model_with "torch_dtype is" torch_dtype '"int3"'
model_with "model_type" model_type '"nobody_knows"'
model_with "model_type" model_type 5

# Shapes of files.
: >empty.json
refused "must be a map of keys" model empty.json
echo '[1, 2]' >list.json
refused "must be a map of keys" model list.json
printf '\000\001\377' >binary.json
refused "binary.json" model binary.json
echo '{"hidden_size": 1, "hidden_size": 2}' >twice.json
refused "appears twice" model twice.json
echo '{"hidden_size": ' >cut.json
refused "cut.json" model cut.json
python3 -c 'print("{\"a\":" * 100000 + "1" + "}" * 100000)' >deep.json
python3 -c 'print("- " * 100000 + "1")' >deep.yaml
python3 - >bomb.yaml <<'PYTHON'
print("b0: &b0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]")
for level in range(1, 12):
    print(f"b{level}: &b{level} [" + ", ".join([f"*b{level - 1}"] * 10) + "]")
PYTHON
echo 'a: &a [*a]' >self.yaml
truncate -s 10G huge.yaml
for file in deep.json deep.yaml bomb.yaml self.yaml huge.yaml /dev/zero; do
    case $file in
    deep*) words="nested more than" ;;
    bomb*) words="aliases that expand" ;;
    self*) words="self.yaml:1" ;;
    huge*) words="bytes" ;;
    *) words="/dev/zero" ;;
    esac
    refused "$words" model $file
    refused "$words" hardware H200 --config $file
done
rm -f huge.yaml
truncate -s 10G huge.json
expect 1 validate huge.json
stderr_is_one_line
stderr_has "bytes"
rm -f huge.json

# Data files of the user.
mkdir -p conf
cp -r "$LLMPERF_CONFIG_DIR"/. conf/
truncate -s 10G conf/hardware/extra.yaml
LLMPERF_CONFIG_DIR=$PWD/conf refused "extra.yaml" hardware H200
rm conf/hardware/extra.yaml
for peaks in 0 -5 .nan .inf 1e300 '"x"' '[1]' '{bf17: 1}' '{bf16: 0}' '{bf16: -1}' '{bf16: .nan}'; do
    printf 'hardware: {peak_tflops: %s}\n' "$peaks" >site.yaml
    refused "hardware.peak_tflops" hardware H200 --config site.yaml
done
for bandwidth in 0 -5 .nan .inf '"x"' '{a: 1}'; do
    printf 'hardware: {bandwidth_gbs: %s}\n' "$bandwidth" >site.yaml
    refused "configuration: hardware.bandwidth_gbs must be" hardware H200 --config site.yaml
done

# Arguments.
for value in 0 -1 nan inf 1e3 99999999999999999999 "" x; do
    refused "--prompt is $value" model llama_3_8b --prompt="$value"
    refused "--batch is $value" model llama_3_8b --batch="$value"
    refused "--context is $value" model llama_3_8b --context="$value"
    refused "--tp is $value" model llama_3_8b --tp="$value"
done
for value in -1 nan x 1.5; do refused "--acceptance is $value" model llama_3_8b --draft 2 --acceptance="$value"; done
refused "exceeds 64 bits" model llama_3_1_405b --prompt 68719476736
refused "unknown dtype" model llama_3_8b --storage-dtype float7
LLMPERF_PEAK_TFLOPS=0 refused "not a positive number" model llama_3_8b --gpu H200

# What a run cannot know is null, with a reason: a peak that the run exceeds is an error flag, not 300 %.
"$LLMPERF" import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o run >out 2>err || die import
LLMPERF_DTYPE=fp32 LLMPERF_PEAK_TFLOPS=1e-9 LLMPERF_BANDWIDTH_GBS=1e-6 expect 0 report run --format json
python3 - <<'PYTHON' || die "utilisation above 1"
import json
seen = json.load(open("out"))
assert seen["regions"] and all(region["mfu"] is region["mbu"] is region["floor_ratio"] is None for region in seen["regions"])
assert any(note.startswith("mfu is null") and "an input is wrong" in note for note in seen["notes"]), seen["notes"]
assert any(note.startswith("mbu is null") for note in seen["notes"])
PYTHON
for dtype in float7 int4 ""; do
    LLMPERF_DTYPE=$dtype expect 0 report run --format json
    python3 - <<'PYTHON' || die "dtype '$dtype'"
import json
seen = json.load(open("out"))
assert all(region["mfu"] is None and region["mbu"] is not None for region in seen["regions"])
assert any(note.startswith("mfu is null") for note in seen["notes"])
PYTHON
done
# Keys of a map are compared with each other.
python3 -c 'for i in range(8193): print(f"key{i}: {i}")' >wide.yaml
refused "wide.yaml:1: the map has 8193 keys; at most 8192 are supported" config --config wide.yaml
# Nothing that may never end, or never begin, is read.
mkfifo pipe
mkdir -p jobs/a jobs/b
mkfifo jobs/a/run-1
cp run/run.llmperf jobs/b/
for file in pipe /dev/zero .; do
    [ $file = . ] && words=". is a folder" || words="$file is a pipe or a device"
    [ $file = . ] || refused "$words, not a regular file" validate $file
    refused "$words, not a regular file" validate run/metrics.json --schema $file
    refused "$words, not a regular file" hardware H200 --config $file
    [ $file = . ] || refused "$words, not a regular file" import -o nowhere $file
done
expect 0 list jobs
stdout_has "b  "
# A folder is no file of another tool, whatever it is called.
mkdir folder.ncu-rep
refused "folder.ncu-rep is a folder; give nsys or ncu files" import folder.ncu-rep -o nowhere
refused "pipe is not a regular file" report pipe
refused "pipe is not a regular file" compare pipe run
refused "pipe is a pipe or a device, not a regular file" export pipe --format chrome -o nowhere.json
echo "fine"
