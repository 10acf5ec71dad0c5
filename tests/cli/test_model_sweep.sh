#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf model --sweep: bounds against sums by hand, memory, SLO, price, a measured run, wrong words.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset LLMPERF_DTYPE LLMPERF_PEAK_TFLOPS LLMPERF_BANDWIDTH_GBS
export XDG_CACHE_HOME=$TMPDIR/cache # no measured peaks of this machine

# Dense: all weights but the embedding table once a step, the KV cache of each request.
expect 0 model llama_3_8b --sweep batch=1..256 context=1k,4k tp=1,2 --gpu H200 --gpu "H100 SXM5" --price 3.5 --price 2 --format json
stderr_empty
python3 - <<'PYTHON' || die "bounds of a dense model"
import json
seen = json.load(open("out"))
points = {(p["gpu"], p["tp"], p["context"], p["batch"]): p for p in seen["points"]}
assert len(points) == len(seen["points"]) == 2 * 2 * 2 * 9
layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
head, norms, kv = 4096 * 128256, 65 * 4096, 32 * 2 * 1024 * 2
for (gpu, tp, context, batch), point in points.items():
    bandwidth, memory, price = (4.8e12, 141e9, 3.5) if gpu == "H200 SXM" else (3.35e12, 80e9, 2)
    weights = 2 * ((32 * layer + head) / tp + norms)
    bytes_read = weights + 2 * batch * 4096 + batch * (context + 1) * kv / tp
    link = 32 * 2 * (tp - 1) / tp * 2 * batch * 4096 * 2 / 450e9
    tpot = 1e3 * max(bytes_read / bandwidth, link)
    assert abs(point["tpot_ms"] / tpot - 1) < 1e-9, (gpu, tp, context, batch, point["tpot_ms"], tpot)
    assert point["tpot_serial_ms"] >= point["tpot_ms"]
    assert abs(point["tokens_per_s_per_gpu"] / (1e3 * batch / tpot / tp) - 1) < 1e-9
    flops = context * 2 * 32 * layer + 32 * 4 * 4096 * context * (context + 1) // 2 + 2 * head
    assert abs(point["ttft_ms"] / (1e3 * flops / tp / 989.4e12) - 1) < 1e-9, (point["ttft_ms"], flops)
    assert abs(point["kv_gb"] * 1e9 - batch * context * kv / tp) < 1
    assert abs(point["weights_gb"] * 1e9 - weights - 2 * head / tp) < 1
    assert point["fits"] == (point["weights_gb"] + point["kv_gb"] <= memory / 1e9)
    assert abs(point["mtokens_per_price"] / (point["tokens_per_s_per_gpu"] * 3600 / price / 1e6) - 1) < 1e-9
    assert point["experts_touched"] is None and point["scaled_tpot_ms"] is None and point["bound"] == "memory"
assert seen["slo"] == [] and seen["run"] is None and seen["decode_efficiency"] is None
PYTHON

# Experts: those that a batch touches, of 128.
expect 0 model qwen3_30b_a3b --sweep batch=1,8,200 --context 2048 --gpu H200 --efficiency 0.5 --format json
python3 - <<'PYTHON' || die "bounds of a model with experts"
import json
layer = 2 * 2048 * 4096 + 2 * 2048 * 512 + 2048 * 128
for point, batch in zip(json.load(open("out"))["points"], (1, 8, 200)):
    experts = 128 * (1 - (1 - 8 / 128) ** batch)
    weights = 2 * (48 * (layer + 2 * 2048 + 2 * 128 + experts * 3 * 2048 * 768) + 2048 + 2048 * 151936 + batch * 2048)
    tpot = (weights + batch * 2049 * 48 * 2 * 512 * 2) / 4.8e9
    assert abs(point["experts_touched"] - experts) < 1e-9
    assert abs(point["tpot_ms"] / tpot - 1) < 1e-9, (batch, point["tpot_ms"], tpot)
    assert abs(point["scaled_tpot_ms"] / (2 * tpot) - 1) < 1e-9
    assert abs(point["scaled_ttft_ms"] / (2 * point["ttft_ms"]) - 1) < 1e-9
    assert abs(point["scaled_tokens_per_s_per_gpu"] / (batch / tpot * 500) - 1) < 1e-9
PYTHON

# The largest batch: one more request misses the limit.
largest() { # LIMITS CONTEXT GPU [OPTION...]: "batch limit"
    local slo=$1 context=$2 gpu=$3
    shift 3
    expect 0 model llama_3_8b --sweep batch=1 --context "$context" --gpu "$gpu" --slo "$slo" --format json "$@"
    python3 -c 'import json; row, = json.load(open("out"))["slo"]; print(row["batch"], row["limit"])'
}
tpot_at() { # BATCH
    expect 0 model llama_3_8b --sweep "batch=$1" context=4k --gpu H200 --format json
    python3 -c 'import json; print(json.load(open("out"))["points"][0]["tpot_ms"])'
}
found=$(largest tpot=10ms 4096 H200)
[[ $found == *" tpot" ]] || die "limited by $found"
at=$(tpot_at "${found% *}") more=$(tpot_at $((${found% *} + 1)))
python3 -c "assert $at <= 10 < $more" || die "$found: $at ms, and $more with one more"
[ "$(largest tpot=0.02s 4096 H200 --efficiency 0.5)" = "$found" ] || die "the SLO is not of scaled times"
[[ $(largest tpot=1s 16384 "H100 SXM5") == "29 memory" ]] || die "29 x 16384 tokens fit beside the weights"
[ "$(largest ttft=1ms 4096 H200)" = "0 ttft" ] || die "no batch makes a prefill faster"
[ "$(largest tpot=1ms,ttft=500ms 4096 H200)" = "0 tpot" ] || die "a step without requests"

# Text, Markdown, CSV and a picture have the same numbers.
sweep=(model llama_3_8b --sweep "batch=1..4 context=2k" --gpu "H200" --slo tpot=5ms --efficiency 0.8)
expect 0 "${sweep[@]}"
stdout_has "no implementation of this work has shorter times"
stdout_has "scaled: at 80 % of the bound, as given"
stdout_has "largest batch with TPOT up to 5 ms that fits the memory, scaled"
expect 0 "${sweep[@]}" --format md
stdout_has "| 2048 | 4 |"
expect 0 "${sweep[@]}" --format csv
python3 - <<'PYTHON' || die "CSV"
import csv
rows = list(csv.DictReader(open("out")))
assert [row["batch"] for row in rows] == ["1", "2", "4"] and rows[0]["gpu"] == "H200 SXM"
assert abs(float(rows[2]["scaled_tpot_ms"]) * 0.8 - float(rows[2]["tpot_ms"])) < 1e-6
assert rows[0]["fits"] == "yes" and rows[0]["measured_tpot_ms"] == ""
PYTHON
expect 0 "${sweep[@]}" --format svg
python3 - <<'PYTHON' || die "SVG"
import xml.etree.ElementTree as tree
root = tree.parse("out").getroot()
lines = root.findall("{*}polyline")
assert len(lines) == 2 and all(len(line.get("points").split()) == 3 for line in lines) # bound and scaled
assert len(root.findall("{*}circle")) == 3 and "nan" not in open("out").read()
PYTHON
expect 0 model llama_3_8b --sweep batch=1,2 --gpu "Tesla V100-SXM2-16GB"
stdout_has "no bf16 unit"

# A measured run lies in the curves, and gives the share of the bound.
"$LLMPERF" import "$LLMPERF_TEST_DATA/h200/engine/tensor_0.llmrec" -o "$TMPDIR/run" >/dev/null || die "import"
expect 0 model deepseek_ocr --sweep batch=2,4 context=1k --tp 2 --run "$TMPDIR/run" --format json
python3 - "$TMPDIR/run/metrics.json" <<'PYTHON' || die "the measured run"
import json, sys
seen, metrics = json.load(open("out")), json.load(open(sys.argv[1]))
median = next(row["elapsed_ms"]["p50"] for row in metrics["iterations"] if row["region"].endswith("LLM@decode_step"))
decode, here = seen["run"]["decode"], [p for p in seen["points"] if p["measured_tpot_ms"] is not None]
assert seen["run"]["gpu"] == "NVIDIA H200" and seen["run"]["prefill"]["new_tokens"] == 283
assert decode["batch"] == 1 and decode["new_tokens"] == 1
assert abs(decode["ms"] / median - 1) < 1e-9 and decode["efficiency"] < 1
assert seen["decode_efficiency"] == decode["efficiency"]
assert abs(decode["efficiency"] / (decode["bound_ms"] / decode["ms"]) - 1) < 1e-14 # 15 digits are printed
assert len(here) == 1 and here[0]["batch"] == 1 and here[0]["context"] == decode["context"]
assert here[0]["measured_tpot_ms"] == decode["ms"] and abs(here[0]["scaled_tpot_ms"] / decode["ms"] - 1) < 1e-9
assert abs(here[0]["tpot_ms"] - decode["bound_ms"]) < 1e-12
PYTHON
expect 0 model deepseek_ocr --sweep batch=2 --tp 2 --run "$TMPDIR/run"
stdout_has "reached on NVIDIA H200; decode"

refused() { # WORDS ARGUMENT...
    local words=$1
    shift
    expect 2 model "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "$words"
}
refused "--sweep needs --gpu or --run" llama_3_8b --sweep batch=1..8
for term in batch=8..1 batch=0 batch=a batch=1.. batch=1,,2 batch= size=3 batch=1..9999999 context=1m nonsense; do
    refused "--sweep has $term; expected batch=, context= or tp=" llama_3_8b --sweep "$term" --gpu H200
done
refused "1 --price for 2 GPUs" llama_3_8b --sweep batch=1 --gpu H200 --gpu L40S --price 3
refused "--price is free" llama_3_8b --sweep batch=1 --gpu H200 --price free
refused "--efficiency is 1.5" llama_3_8b --sweep batch=1 --gpu H200 --efficiency 1.5
refused "--slo is ttft" llama_3_8b --sweep batch=1 --gpu H200 --slo ttft
refused "--slo is tpot=5h" llama_3_8b --sweep batch=1 --gpu H200 --slo tpot=5h
refused "--sweep and --pp cannot be combined" llama_3_8b --sweep batch=1 --gpu H200 --pp 2
refused "does not divide" llama_3_8b --sweep tp=7 --gpu H200
refused "no decoder" resnet_50 --sweep batch=1 --gpu H200
refused "--price needs --sweep" llama_3_8b --gpu H200 --price 3
refused "--format csv needs --sweep" llama_3_8b --gpu H200 --format csv
refused "unknown GPU Voodoo2" llama_3_8b --sweep batch=1 --gpu H200 --gpu Voodoo2
refused "cannot be combined" deepseek_ocr --sweep batch=1 --run "$TMPDIR/run" --efficiency 0.5
refused "expected one model" --sweep batch=1 --gpu H200
refused "less than its bound" llama_3_1_405b --sweep batch=1 --run "$TMPDIR/run"
echo "fine"
