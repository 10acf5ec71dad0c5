#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the benchmarks with optimisation and without assertions, runs one after the other, and prints their tables.
#
#   tests/bench/run.sh                 all of them
#   tests/bench/run.sh region          tests/bench/bench_region.c
set -eu
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build-bench
log=$build/run.log

mkdir -p "$build"
if ! { meson setup "$build" "$root" --reconfigure --buildtype=release || meson setup "$build" "$root" --buildtype=release; } \
    >"$log" 2>&1 || ! ninja -C "$build" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 1
fi
status=0
rm -f "$build"/meson-logs/testlog.json
# One at a time: two benchmarks side by side measure each other.
meson test -C "$build" --benchmark --num-processes 1 --no-rebuild "$@" >"$log" 2>&1 || status=$?
if [ ! -f "$build/meson-logs/testlog.json" ]; then
    tail -n 5 "$log" >&2 # no benchmark of that name
    exit 1
fi
python3 - "$build/meson-logs/testlog.json" <<'PY'
import json
import sys

with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        test = json.loads(line)
        print(f"## {test['name'].split('/')[-1]}: {test['result']}\n\n{test.get('stdout') or ''}{test.get('stderr') or ''}")
PY
exit $status
