#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Peaks in use and where they come from, on machines with and without a GPU.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
unset LLMPERF_PEAK_TFLOPS LLMPERF_BANDWIDTH_GBS

# A named GPU; words need no quotes.
expect 0 hardware H200
stderr_empty
grep -qE "^  bf16 +989.4 +206.1[0-9]* +table +high +NVIDIA" out || die "no line for bf16"
grep -qE "^  fp4 +- +- +compute capability 9.0 has no fp4 unit" out || die "no reason for fp4"
grep -qE "^  memory bandwidth +4800 GB/s +table +high" out || die "no line for the bandwidth"
expect 0 hardware NVIDIA GeForce RTX 4090
grep -q "^RTX 4090, compute capability 8.9" out || die "RTX 4090 was not found"

# JSON holds the same, null where nothing is known.
expect 0 hardware --format json "Tesla T4"
python3 - <<'PYTHON' || die "hardware --format json"
import json
answer = json.load(open("out"))
(gpu,) = answer["gpus"]
assert gpu["name"] == "T4" and gpu["compute_capability"] == "7.5" and gpu["device"] is None
assert gpu["peak_tflops"]["fp16"]["value"] == 65
assert abs(gpu["peak_tflops"]["fp16"]["ridge"] - 65e3 / 320) < 1e-9
lacking = gpu["peak_tflops"]["bf16"]
assert lacking["value"] is None and "no bf16 unit" in lacking["reason"] and "ridge" not in lacking
for value in [*gpu["peak_tflops"].values(), gpu["bandwidth_gbs"], gpu["l2_mb"], gpu["link_gbs"]]:
    assert (value["value"] is None) == (value["reason"] is not None) == (value["source"] is None)
    assert value["origin"] in ("none", "table", "computed", "user", "device")
    assert value["confidence"] in ("none", "low", "medium", "high")
assert gpu["warnings"]
PYTHON

# All that are listed can be asked for.
expect 0 hardware --list
[ "$(wc -l <out)" = "$(cat "$LLMPERF_CONFIG_DIR"/hardware/*.yaml | grep -c "^  - name:")" ] || die "--list has $(wc -l <out) lines"
while read -r name; do
    "$LLMPERF" hardware "$name" >one 2>err || die "$name of --list is not found"
    grep -qF "$name" one || die "$name of --list gave another GPU"
done <out
cp out names
expect 0 hardware --list --format=json
python3 -c 'import json; assert json.load(open("out"))["names"] == open("names").read().splitlines()' || die "--list as JSON"

# The user's word wins.
LLMPERF_PEAK_TFLOPS=bf16=700 LLMPERF_BANDWIDTH_GBS=3500 expect 0 hardware H200
grep -qE "^  bf16 +700 +200 +user " out || die "LLMPERF_PEAK_TFLOPS was not taken"
grep -qE "^  fp16 +989.4 .* table" out || die "other dtypes keep their peaks"
printf 'hardware:\n  peak_tflops: {fp8: 1500}\n' >site.yaml
expect 0 hardware H200 --config site.yaml
grep -qE "^  fp8 +1500 .* user .*hardware.peak_tflops in the configuration" out || die "--config was not taken"
LLMPERF_PEAK_TFLOPS=1979 expect 0 hardware H200
stdout_has "Is this the sparse figure?"

# Wrong input is one line and exit code 2.
for wrong in 0 -1 abc nan 1,5; do
    LLMPERF_PEAK_TFLOPS=$wrong expect 2 hardware H200
    stdout_empty
    stderr_is_one_line
    stderr_has "LLMPERF_PEAK_TFLOPS=$wrong"
    LLMPERF_BANDWIDTH_GBS=$wrong expect 2 hardware H200
    stderr_is_one_line
    stderr_has "LLMPERF_BANDWIDTH_GBS=$wrong"
done
expect 2 hardware H100
stderr_is_one_line
stderr_has "H100 PCIe, H100 SXM5, H100 NVL"
expect 2 hardware "RTX 4090 D"
stderr_has "another part than the RTX 4090"
expect 2 hardware Voodoo2
stderr_is_one_line
stderr_has "--list"
expect 2 hardware "$(printf 'H200\377')"
stderr_has "ASCII"
expect 2 hardware "$(printf 'x%.0s' $(seq 300))"
expect 2 hardware H200 --format xml
expect 2 hardware H200 --list
expect 2 hardware H200 --config nowhere.yaml
stderr_is_one_line
expect 2 hardware --measure H200
stderr_has "omit the name"
expect 2 hardware --measure --list
for seconds in 0 -1 nan 61 x; do
    expect 2 hardware --measure --seconds $seconds
    stdout_empty
    stderr_is_one_line
done
expect 2 hardware H200 --seconds 1

# Measured peaks belong to one GPU; a name alone has none.
expect 0 hardware --format json H200
python3 - <<'PYTHON' || die "measured peaks of a name"
import json
(gpu,) = json.load(open("out"))["gpus"]
assert gpu["measured_source"] is None and gpu["measured"]["bf16"]["best"] is None
assert "llmperf hardware --measure" in gpu["measured"]["copy"]["reason"]
PYTHON

# The GPUs of this machine, or a hint.
"$LLMPERF" hardware >out 2>err
case $? in
0)
    grep -q "^GPU 0: " out || die "no GPU 0"
    expect 0 hardware --format json
    python3 -c 'import json; assert json.load(open("out"))["gpus"][0]["device"] == 0' || die "JSON of this machine"
    ;;
3)
    stdout_empty
    stderr_is_one_line
    stderr_has "llmperf hardware --list"
    ;;
*) die "hardware without a name" ;;
esac

# Measuring needs a GPU of this machine, and says so.
export XDG_CACHE_HOME=$PWD/cache
"$LLMPERF" hardware --measure --seconds 0.05 --format json >out 2>err
case $? in
0) ls cache/llmperf/*.yaml >names || die "no file of measured peaks"
    python3 -c 'import json; assert json.load(open("out"))["gpus"][0]["measured"]["copy"]["best"] > 1' || die "no measured peak" ;;
3) stdout_empty && stderr_is_one_line && stderr_has "cannot measure" ;;
*) die "hardware --measure" ;;
esac
exit 0
