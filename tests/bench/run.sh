#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the benchmarks with optimisation and without assertions, runs one after the other, and prints what they print, the rows
# of their table together at the end. LLMPERF_BENCH_BUILD names another build folder.
#
#   tests/bench/run.sh                 all of them
#   tests/bench/run.sh region ...      tests/bench/bench_region.c ...
set -eu
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${LLMPERF_BENCH_BUILD:-$root/build-bench}
mkdir -p "$build"
log=$build/bench.log

if ! { meson setup "$build" "$root" --reconfigure --buildtype=release || meson setup "$build" "$root" --buildtype=release; } \
    >"$log" 2>&1 ||
    ! ninja -C "$build" meson-benchmark-prereq >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
fi
status=0
# One at a time: two benchmarks side by side measure each other.
meson test -C "$build" --benchmark --logbase bench --num-processes 1 --no-rebuild "$@" >"$log" 2>&1 || status=$?
python3 - "$build/meson-logs/bench.json" <<'PY'
import json
import sys

rows = []
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        test = json.loads(line)
        out = (test.get("stdout") or "").splitlines()
        rows += [text for text in out if text.startswith("| ")]
        print(f"## {test['name'].split('/')[-1]}: {test['result']}\n")
        print("\n".join(text for text in out if not text.startswith("| ")) + "\n" + (test.get("stderr") or ""))
print("| what | measured | beside it | to reach | reached |\n| --- | --- | --- | --- | --- |")
print("\n".join(rows))
PY
exit $status
