#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers of run files, files of other tools, recordings, configurations, models, limits and JSON, and NVTX names, with clang's libFuzzer, AddressSanitizer and UBSan.
#   tests/fuzz/run.sh [SECONDS]   seconds for each target (default 60); exit 1 if one of them fails
# A target is started anew every minute: the tree of region paths keeps every name that it saw, so a run of its own would end
# with a full one.
set -u
cd "$(dirname "$0")/../.." || exit 99
seconds=${1:-60}
build="build-fuzz"
if [ ! -d $build ]; then
    CC=${CC_FUZZ:-clang} meson setup $build -Dfuzz=enabled -Dtools=disabled -Dexamples=disabled -Dbench=disabled -Dtests=auto \
        -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link >/dev/null || exit 99
fi
targets="sqlite csv report timeline recording overrides model limits run json nvtx"
# shellcheck disable=SC2046,SC2086 # words
ninja -C $build $(printf 'tests/fuzz/fuzz_%s ' $targets) >/dev/null || exit 99
python3 tests/fuzz/seeds.py $build/seeds || exit 99
export LLMPERF_FUZZ_RECORDING=$PWD/tests/data/recordings/two_stages.llmrec
export LLMPERF_CONFIG_DIR=$PWD/conf UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
failed=0
for target in $targets; do
    log=$build/fuzz_$target.log
    : >"$log"
    for ((spent = 0; spent < seconds; spent += 60)); do
        left=$((seconds - spent < 60 ? seconds - spent : 60))
        $build/tests/fuzz/fuzz_$target -max_total_time=$left -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
            -artifact_prefix=$build/$target- -print_final_stats=1 $build/seeds/$target >>"$log" 2>&1 ||
            { echo "fuzz_$target: FAILED, see $log"; failed=1; break; }
    done
    echo "fuzz_$target: $(grep -c '^stat::number_of_executed_units' "$log") rounds," \
        "$(awk '/^stat::number_of_executed_units/ {n += $2} END {print n + 0}' "$log") inputs"
done
rm -f /dev/shm/llmperf-fuzz-* /tmp/llmperf-fuzz-*
exit $failed
