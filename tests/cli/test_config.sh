#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf config: the same compositions as Hydra, and wrong input in one line each.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

python3 "$LLMPERF_TEST_DATA/config/compare.py" "$LLMPERF" >out 2>err || die "compositions differ from Hydra's"
cat out

conf=$LLMPERF_TEST_DATA/config/conf
expect 0 config --config "$conf/plain.yaml" a=2
stderr_empty
[ "$(cat out)" = "$(printf 'a: 2\nb:\n  c:\n    - 1\n    - 2\n  d: text')" ] || die "the YAML of plain.yaml"
expect 0 config --config "$conf/plain.yaml" --format json
python3 -c 'import json; assert json.load(open("out"))["b"]["c"] == [1, 2]' || die "the JSON of plain.yaml"

refused() { # WORDS ARGUMENT...
    local words=$1
    shift
    expect 2 config "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "$words"
}
refused "--format is xml; it must be one of yaml, json" --format xml
refused "configuration nonsense not found" --config nonsense
refused "nearest: b.c" --config "$conf/plain.yaml" b.x=1
refused "expected KEY=VALUE" --config "$conf/plain.yaml" b
refused "is not valid UTF-8" --config "$conf/plain.yaml" "a='"$'\xff'"'"
refused "run.mode=bogus: run.mode: bogus is not one of regions, light, deep, counters" run.mode=bogus
refused "session.tier: x is not one of" session.tier=x
refused "must be between 1 and 1000" session.overhead_budget_permille=0
expect 0 config dataset=pages +dataset/sampling@dataset.sampling=random dataset.sampling.seed=7
stdout_has "random: true"
stdout_has "seed: 7"
for preset in regions light deep counters; do
    expect 0 config profiling/session@session=$preset
    stdout_has "mode: $preset"
done
echo "fine"
