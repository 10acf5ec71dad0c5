#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/metrics.md explains every key of what llmperf prints as JSON, in the section of that command, or fields.md does.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
export XDG_CACHE_HOME=$PWD/cache

# keys_explained SECTION...: the keys of the file out stand as code in one of these sections
keys_explained() {
    python3 - "$LLMPERF_SOURCE/docs/reference/metrics.md" "$@" <<'PYTHON' || die "keys without an explanation"
import json
import re
import sys


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            # Below it are names of kernel classes, which users choose.
            yield from keys_of(list(inner.values()) if key == "class_ms" else inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


page, wanted = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2:]
sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, re.S | re.M))
text = " ".join(sections[title] for title in wanted) + open(sys.argv[1].replace("metrics.md", "fields.md"), encoding="utf-8").read()
quoted = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", text))))
missing = sorted(set(keys_of(json.load(open("out")))) - quoted)
if missing:
    sys.exit(f"docs/reference/metrics.md, {wanted}: {missing}")
PYTHON
}

metrics=("The run" "What belongs to a region" "Regions and stages" "Kernels" "Shapes of kernels and memcpys" "Stall reasons" "Host calls that block" "Device memory" "Kernels on the roofline" "Kernels measured by ncu" "CUDA graphs" "Kernel classes" "Ranks" "Collectives" "Operators"
    "Peaks, floors, MFU and MBU" "Energy and clocks" "Ledger")
mapfile -t -O ${#metrics[@]} metrics < <(sed -n 's/^## \(Iterations.*\|Where the time goes\|Named metrics.*\|Recommendations.*\|Counters.*\)$/\1/p' "$LLMPERF_SOURCE/docs/reference/metrics.md")

expect 0 model deepseek-ocr --decode 3 --gpu H200 --format json
keys_explained "The JSON of \`llmperf model\`" "Work of a model: FLOPs and bytes" "The run"
expect 0 model llama_3_8b --tp 8 --format json
keys_explained "The JSON of \`llmperf model\`" "Work of a model: FLOPs and bytes" "The run"
expect 0 hardware H200 --format json
sed -i 's/"schema_version": 1, //' out
keys_explained "The JSON of \`llmperf hardware\`" "Peaks, floors, MFU and MBU"

"$LLMPERF" import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o run >out 2>err || die "import"
LLMPERF_DTYPE=fp32 expect 0 report run --format json
keys_explained "${metrics[@]}"

# Evidence of recommendations, also of those that this run does not give.
grep -oE 'add(_word)?\(out, "[a-z_0-9]+"' "$LLMPERF_SOURCE"/lib/findings/recommend*.c | grep -oE '"[a-z_0-9]+"' | sort -u |
    python3 -c 'import json, sys; print(json.dumps({line.strip().strip("\""): 0 for line in sys.stdin}))' >out
grep -q kernel_share out || die "no names of evidence"
keys_explained Recommendations

# A key that nobody explains is found.
echo '{"gpus": [{"nobody_knows": 1}]}' >out
(keys_explained "The JSON of \`llmperf hardware\`") >found 2>&1 && die "an unknown key passed"
grep -q nobody_knows found || die "the unknown key is not named"
echo "fine"
