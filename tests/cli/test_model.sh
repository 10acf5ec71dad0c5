#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf model: numbers of the vectors, every config.json of the tests, wrong input in one line each.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
models=$LLMPERF_TEST_DATA/model

expect 0 model llama-3-8b --prompt 2048 --context 2048 --batch 8 --format json
stderr_empty
python3 - "$LLMPERF_TEST_DATA/analytics/model_vectors.json" <<'PYTHON' || die "the JSON of llama_3_8b"
import json, sys
seen, all_vectors = json.load(open("out")), json.load(open(sys.argv[1]))
vectors = all_vectors["models"]["llama-3-8b"]
assert seen["model"] == "llama_3_8b" and seen["convention"] == "exact-v1"
assert seen["parameters"]["total"] == vectors["params_total"]
assert seen["parameters"]["active"] == vectors["params_active_matmul_no_embed"]
assert seen["weights_bytes"] == vectors["weight_bytes"]["bf16"]
assert seen["kv_bytes_per_token"] == vectors["kv_bytes_per_token"]["bf16"]
prefill, decode = seen["prefill"], seen["decode"]
assert (prefill["tokens"], prefill["prefix"], prefill["batch"]) == (2048, 0, 8)
assert prefill["flops"] == 8 * vectors["prefill_2048"]["exact_last"]
assert prefill["flops_all_logits"] == 8 * vectors["prefill_2048"]["exact_all"]
assert prefill["conventions"]["palm"] == 8 * vectors["prefill_2048"]["full_all"]
assert (decode["context"], decode["batch"]) == (2048, 8)
expected = vectors["decode_bytes"]["B8_c2048"]
assert decode["flops"] == 8 * vectors["decode"]["2048"]
assert decode["bytes"] == expected["total"] and decode["kv_read_bytes"] == expected["kv_read"]
assert decode["experts_touched"] is None and seen["vision"] is None and seen["generation"] is None
assert seen["hardware"] is None and not any(seen["floors"].values()) and not any(seen["bound"].values())
assert prefill["floor"] is None and decode["turn"] == {"batch": None, "context": None}
assert any("no GPU was given" in note for note in seen["notes"])
for step in prefill, decode:
    assert sum(row["model_flops"] for row in step["operators"]) == step["flops"]
    assert sum(row["weight_bytes"] for row in step["operators"]) == step["weight_bytes"]
PYTHON

expect 0 model "$models/llama_3_8b.json" --storage-dtype fp8 --kv-dtype bf16 --decode 3 --prompt 10 --format=json
python3 - <<'PYTHON' || die "formats and generation"
import json
seen = json.load(open("out"))
assert seen["weights_bytes"] == 9081200640 and seen["kv_bytes_per_token"] == 131072
assert seen["generation"]["flops"] == 3 * 15009316864 + 524288 * (11 + 12 + 13)
assert seen["generation"]["bytes"] == 3 * seen["decode"]["weight_bytes"] + 131072 * (11 + 12 + 13 + 3)
PYTHON

expect 0 model deepseek-ocr --image 1024 --tiles 3x2 --tile-size 640 --prompt 903 --batch 8 --context 2048 --format json
python3 - "$LLMPERF_TEST_DATA/analytics/model_vectors.json" <<'PYTHON' || die "the JSON of deepseek_ocr"
import json, sys
seen, all_vectors = json.load(open("out")), json.load(open(sys.argv[1]))
expected, vision = all_vectors["deepseek_ocr"]["gundam_3x2"], seen["vision"]
assert (vision["tokens"], vision["positions"]) == (expected["vision_tokens"], expected["llm_positions"])
assert vision["flops"] == vision["hardware_flops"] == expected["total"] > vision["model_flops"]
assert seen["prefill"]["flops"] == 8 * expected["prefill_with_10_text_tokens"]["causal_last"]
decode = all_vectors["models"]["deepseek-ocr-decoder"]["decode_bytes"]["B8_c2048"]
assert seen["decode"]["bytes"] == decode["total"]
assert abs(seen["decode"]["experts_touched"] - decode["experts_touched_expected"]) < 1e-12
PYTHON

# Floors on a GPU: those of the worked example, null with a reason where a limit is not known.
expect 0 model llama-3-8b --prompt 2048 --context 2048 --batch 8 --gpu H200 --format json
python3 - "$LLMPERF_TEST_DATA/analytics/model_vectors.json" <<'PYTHON' || die "floors on an H200"
import json, sys
seen, worked = json.load(open("out")), json.load(open(sys.argv[1]))["worked"]["llama3_8b_H200_decode_B8_c2048"]
hardware, floors = seen["hardware"], seen["floors"]
assert (hardware["name"], hardware["compute_capability"], hardware["sm_count"]) == ("H200 SXM", "9.0", 132)
assert hardware["peak"]["bf16"] == 989.4 and hardware["peak"]["fp4"] is None and hardware["bandwidth_gbs"] == 4800
assert hardware["peak_source"] and hardware["bandwidth_source"] and hardware["measured"] == {}
assert abs(floors["decode_ms"] - worked["floor_us"] / 1e3) < 1e-9 < floors["decode_ms"] <= floors["decode_serial_ms"]
assert floors["prefill_ms"] < floors["prefill_serial_ms"]
assert floors["vision_ms"] is None and floors["decode_measured_ms"] is None
assert seen["bound"] == {"prefill": "compute", "decode": "memory", "vision": None}
assert abs(seen["decode"]["floor"]["mfu_limit"] - worked["mfu_at_floor"]) < 1e-12
assert abs(seen["decode"]["floor"]["tokens_per_s"] - 8 * worked["tok_s_per_user_at_floor"]) < 1e-6
assert seen["decode"]["turn"] == {"batch": None, "context": 566}
assert any("memory-bound at any batch" in note for note in seen["notes"])
PYTHON
expect 0 model llama_3_8b --gpu "Tesla V100-SXM2-16GB" --format json
stderr_empty
python3 - <<'PYTHON' || die "limits of a V100"
import json
seen = json.load(open("out"))
assert not any(seen["floors"].values()) and not any(seen["bound"].values()), seen["floors"]
assert any("no bf16 unit" in note for note in seen["notes"]), seen["notes"]
PYTHON
expect 0 model llama_3_8b --gpu "Tesla V100-SXM2-16GB"
stdout_has "no bf16 unit"
# A GPU that nobody knows is a wrong word.
for format in text json; do
    expect 2 model llama_3_8b --gpu Voodoo2 --format $format
    stdout_empty
    stderr_is_one_line
    stderr_has "unknown GPU Voodoo2; see llmperf hardware --list"
done
LLMPERF_PEAK_TFLOPS=100 LLMPERF_BANDWIDTH_GBS=1000 expect 0 model llama_3_8b --gpu Voodoo2 --format json
python3 -c 'import json; assert json.load(open("out"))["floors"]["decode_ms"] > 15' || die "limits of the user"
expect 0 model deepseek-ocr --gpu H200 --tp 2
stdout_has "link"
expect 0 model resnet_50 --gpu H200
stdout_has "MFU limit"
"$LLMPERF" model llama_3_8b --gpu local >out 2>err
case $? in
0) stdout_has "lower bounds, ms" ;;
3) stdout_empty && stderr_is_one_line ;;
*) die "--gpu local" ;;
esac

# What a GPU holds: all weights without parallelism, room for a cache beside them, and nothing that is not known.
for model in llama_3_70b deepseek_v3 gemma_3_4b qwen3_30b_a3b gpt2 deepseek_ocr; do
    expect 0 model $model --gpu H200 --context 1000 --batch 3 --format json
    python3 - <<'PYTHON' || die "memory of $model"
import json
seen = json.load(open("out"))
memory, kv = seen["memory"], seen["decode"]["kv_read_bytes"]
assert abs(memory["held_weights_bytes"] / seen["weights_bytes"] - 1) < 0.01, (memory, seen["weights_bytes"])
assert memory["gpu_bytes"] == 141e9 and memory["held_kv_bytes"] == kv
room = max(memory["gpu_bytes"] - memory["held_weights_bytes"], 0)
assert memory["requests_at_most"] == room // (kv / 3), memory
PYTHON
done
expect 0 model llama_3_70b --gpu H200 --tp 4 --format json
python3 -c 'import json; m = json.load(open("out")); assert abs(4 * m["memory"]["held_weights_bytes"] / m["weights_bytes"] - 1) < 0.01' ||
    die "a quarter of the weights"
expect 0 model llama_3_70b --gpu "H100 SXM5"
stdout_has "does not fit; use more GPUs or a narrower dtype for the weights"
expect 0 model llama_3_70b --gpu "H100 SXM5" --tp 8 --storage-dtype fp8 --batch 100000
stdout_has "share       of one GPU: tp 8;"
stdout_has "weights     72.66 GB as fp8, computed in bf16"
stdout_has "does not fit; at most"
expect 0 model llama_3_70b --gpu B200 # of 180 or 192 GB
stdout_has "memory       of this GPU is not known; weights 141.1 GB"
! grep -q nan out || die "a number that is not known is printed"
grep -q 'e+0' out && die "a floor is written with an exponent"
expect 0 model resnet_50 --gpu H200 --format json
python3 -c 'import json; assert set(json.load(open("out"))["memory"].values()) == {None}' || die "memory of an image model"
# An fp8 checkpoint multiplies in fp8, and another format of its weights does not.
expect 0 model deepseek_v3 --gpu H200
stdout_has "computed in fp8"
stdout_has "  fp8          1978.9 TFLOP/s"
expect 0 model deepseek_v3 --storage-dtype bf16
stdout_has "computed in bf16"
expect 0 model --list
stdout_has llama_3_8b
grep -qv '^[a-z0-9_]*$' out && die "a line of --list is no name"
for name in $(cat out); do
    expect 0 model "$name"
done

# Text and JSON of every description of the tests.
for config in "$models"/*.json; do
    expect 0 model "$config"
    stderr_empty
    stdout_has "$(basename "$config" .json)"
    expect 0 model "$config" --format json
    stderr_empty
    python3 -c 'import json; json.load(open("out"))' || die "$config: no JSON"
done

expect 0 model llama_3_70b --tp 8 --draft 3 --acceptance 0.8
stdout_has "communication"
stdout_has "expected with 3 draft tokens"
expect 0 model resnet-50 --image 224x112
stdout_has "classifier"

refused() { # WORDS ARGUMENT...
    local words=$1
    shift
    expect 2 model "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "$words"
}
refused "expected one model"
refused "expected one model" llama_3_8b gpt2
refused "takes no model" llama_3_8b --list
refused "neither a file nor a known model" nonsense
refused "--format is xml" llama_3_8b --format xml
refused "--gpu needs a name" llama_3_8b --gpu=
LLMPERF_PEAK_TFLOPS=0 refused "not a positive number" llama_3_8b --gpu H200
LLMPERF_BANDWIDTH_GBS=-1 refused "not a positive number" llama_3_8b --gpu H200
refused "--prompt is 0" llama_3_8b --prompt 0
refused "--prompt is -5" llama_3_8b --prompt=-5
refused "--prompt is 1e3" llama_3_8b --prompt 1e3
refused "--batch is 99999999999999999999" llama_3_8b --batch 99999999999999999999
# Elsewhere --dtype is what a program computes in.
refused "give --storage-dtype for weights and KV cache" llama_3_8b --dtype fp8
refused "give --storage-dtype for weights and KV cache" llama_3_8b --dtype=fp8
refused 'unknown dtype "fp7"' llama_3_8b --storage-dtype fp7
refused "not a KV cache format" llama_3_8b --kv-dtype int4
refused "does not divide" llama_3_8b --tp 7
refused "--acceptance is 2" llama_3_8b --draft 3 --acceptance 2
refused "--acceptance is nan" llama_3_8b --draft 3 --acceptance nan
refused "cannot be combined" llama_3_8b --draft 3 --decode 5
refused "no vision encoder" llama_3_8b --image 1024
refused "--image is big" deepseek-ocr --image big
refused "--tile-size" deepseek-ocr --tiles 2x2
refused "too small" deepseek-ocr --image 8
refused "exceeds 64 bits" llama_3_1_405b --prompt 60000000000
echo '{"model_type": "llama", "hidden_size": "x"}' >broken.json
refused "broken.json:1: hidden_size is \"x\"" broken.json
mkfifo pipe
refused "not a regular file" pipe
truncate -s 10G huge.json && refused "10737418240 bytes" huge.json
echo "fine"
