#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf model: numbers of the vectors, every config.json of the tests, wrong input in one line each.
. "$LLMPERF_SOURCE/tests/cli/common.sh"
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
assert seen["hardware"] is None and seen["floors"] == {"prefill_ms": None, "decode_ms": None}
assert seen["bound"] == {"prefill": None, "decode": None} and seen["notes"]
for step in prefill, decode:
    assert sum(row["model_flops"] for row in step["operators"]) == step["flops"]
    assert sum(row["weight_bytes"] for row in step["operators"]) == step["weight_bytes"]
PYTHON

expect 0 model "$models/llama_3_8b.json" --dtype fp8 --kv-dtype bf16 --decode 3 --prompt 10 --format=json
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
stdout_has "expected from 3 drafts"
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
refused "give one model"
refused "give one model" llama_3_8b gpt2
refused "no file and no model" nonsense
refused "format xml" llama_3_8b --format xml
refused "not in this version" llama_3_8b --gpu H100
refused "--prompt is 0" llama_3_8b --prompt 0
refused "--prompt is -5" llama_3_8b --prompt=-5
refused "--prompt is 1e3" llama_3_8b --prompt 1e3
refused "--batch is 99999999999999999999" llama_3_8b --batch 99999999999999999999
refused '"fp7" is not known' llama_3_8b --dtype fp7
refused "no format of a KV cache" llama_3_8b --kv-dtype int4
refused "does not divide" llama_3_8b --tp 7
refused "--acceptance is 2" llama_3_8b --draft 3 --acceptance 2
refused "--acceptance is nan" llama_3_8b --draft 3 --acceptance nan
refused "do not go together" llama_3_8b --draft 3 --decode 5
refused "no vision part" llama_3_8b --image 1024
refused "--image is big" deepseek-ocr --image big
refused "--tile-size" deepseek-ocr --tiles 2x2
refused "too small" deepseek-ocr --image 8
refused "passes 64 bits" llama_3_1_405b --prompt 60000000000
echo '{"model_type": "llama", "hidden_size": "x"}' >broken.json
refused "broken.json:1: hidden_size is \"x\"" broken.json
mkfifo pipe
refused "no regular file" pipe
truncate -s 10G huge.json && refused "10737418240 bytes" huge.json
echo "fine"
