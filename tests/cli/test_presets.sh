#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# conf/config.yaml and its presets compose; the metrics of the ncu presets exist on the chips they are for.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 0 config
stderr_empty
for preset in "$LLMPERF_SOURCE"/conf/profiling/{session,nsys,ncu,counters}/*.yaml; do
    group=$(basename "$(dirname "$preset")")
    [ "$group" = session ] && package=session || package=pipeline.$group
    expect 0 config "profiling/$group@$package=$(basename "$preset" .yaml)"
    stderr_empty
done
expect 0 config profiling/session@session=light run.stage=LLM@prefill profiling/nsys@pipeline.nsys=nsys.stage +inputs.manifest=list.yaml \
    +model/llama_3_8b/arch@model=llama_3_8b.default dataset=synthetic --format json
python3 - <<'PYTHON' || die "values of the composition"
import json
seen = json.load(open("out"))
assert seen["run"]["mode"] == "light" and seen["inputs"]["manifest"] == "list.yaml"
assert seen["pipeline"]["nsys"]["nsys_cli"]["nvtx_capture"] == "LLM@prefill"
assert seen["model"]["hidden_size"] == 4096 and seen["dataset"]["name"] == "synthetic"
PYTHON
expect 2 config profiling/ncu@pipeline.ncu=ncu.hoper
stderr_has "available: ncu.hopper, ncu.default"

if ! "$LLMPERF" counters --chip GH100 --list gpu__time_duration >out 2>err; then
    echo "skipped: metrics are not compared with the chips: $(head -n 1 err)"
    exit 77
fi
check_metrics() { # CHIP PRESET
    "$LLMPERF" config "profiling/ncu@pipeline.ncu=$2" --format json >preset.json || die "$2"
    python3 -c 'import json; print(*json.load(open("preset.json"))["pipeline"]["ncu"]["ncu_cli"]["metrics"], sep="\n")' >metrics
    [ -s metrics ] || die "$2 has no metrics"
    while read -r metric; do
        expect 0 counters --chip "$1" --list "${metric%%.*}"
        stdout_has "${metric%%.*}"
    done <metrics
}
check_metrics GH100 ncu.hopper
check_metrics GA102 ncu.rtx3090
check_metrics GA102 ncu.rtx3090.memory
echo "fine"
