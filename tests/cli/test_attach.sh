#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf attach: a running program that waits for it, and processes that cannot be attached to.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
marks=$LLMPERF_TEST_PROGRAMS/libnvtx_program_py.so
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN LLMPERF_RUN_DIR
if sanitized; then
    echo "python3 cannot load a library with a sanitizer"
    exit 77
fi
library=$(python3 -c 'import os, sys; print(os.path.realpath(sys.argv[1]))' "$LLMPERF_TEST_PROGRAMS/../../lib/libllmperf.so")

expect 2 attach nonsense
stderr_has "nonsense is not a process id"
expect 2 attach 2147483647
stderr_has "there is no process 2147483647"
expect 2 attach $$
stderr_has "start it again with LLMPERF_ATTACH=1 CUDA_INJECTION64_PATH=$library"
stderr_is_one_line
expect 2 attach $$ --tier fast
stderr_has "regions, light, deep"
[ -z "$(ls runs)" ] || die "a folder without a run is left"

cat >serve.py <<'PY'
import ctypes
import os
import sys
import time

library = ctypes.CDLL(sys.argv[1])
while not os.path.exists("stop"):
    library.mark(b"step", 1)
    time.sleep(0.001)
PY
LLMPERF_ATTACH=1 NVTX_INJECTION64_PATH=$library python3 serve.py "$marks" &
server=$!
trap 'kill $server 2>/dev/null' EXIT
for _ in $(seq 100); do
    "$LLMPERF" attach 2>/dev/null | grep -qx "$server" && break
    sleep 0.1
done
expect 0 attach
stdout_has "$server"
instances() {
    "$LLMPERF" report "$1" --format json >metrics 2>err || die "no report of $1"
    python3 -c 'import json; m = json.load(open("metrics"))
print(m["tier"], next(r["instances"] for r in m["regions"] if r["path"] == "default@step") > 5)'
}
expect 0 attach "$server" --out o --tier regions --duration 1 report.top=3
run=$(tail -n 1 out)
[ "$(instances "$run")" = "regions True" ] || die "a second of the program"
grep -q "top: 3" "$run/config.yaml" || die "KEY=VALUE did not reach the session"
[ -s "$run/report.html" ] || die "no reports"
expect 0 attach "$server" --start --out o --tier regions
expect 3 attach "$server" --start --out o
stderr_has "a session is already running"
sleep 0.3
expect 0 attach "$server" --stop
[ "$(instances "$(tail -n 1 out)")" = "regions True" ] || die "start and stop"
expect 3 attach "$server" --stop
stderr_has "no session of llmperf attach is running"
"$LLMPERF" attach "$server" --out o --tier regions >out 2>err &
sleep 0.5
kill -INT $!
wait $! || die "until a signal"
[ "$(instances "$(tail -n 1 out)")" = "regions True" ] || die "until a signal"
"$LLMPERF" attach "$server" --out o --tier regions --duration 3 >out 2>err &
sleep 0.5
touch stop
wait "$server" || die "the program failed"
wait $! || die "a program that ends"
stderr_has "there is no process $server"
[ "$(instances "$(tail -n 1 out)")" = "regions True" ] || die "a program that ends"
expect 2 attach "$server"
stderr_has "there is no process $server"

# A program that imports the package waits from its first region on.
cat >regions.py <<'PY'
import os
import time

import llmperf

while not os.path.exists("stop2"):
    with llmperf.region("default@step"):
        time.sleep(0.001)
PY
LLMPERF_ATTACH=1 LLMPERF_LIBRARY=$library PYTHONPATH=$LLMPERF_SOURCE/bindings/python python3 regions.py &
server=$!
for _ in $(seq 100); do
    "$LLMPERF" attach 2>/dev/null | grep -qx "$server" && break
    sleep 0.1
done
expect 0 attach "$server" --out o --tier regions --duration 1
[ "$(instances "$(tail -n 1 out)")" = "regions True" ] || die "regions of the package"
touch stop2
wait "$server" || die "the program failed"
