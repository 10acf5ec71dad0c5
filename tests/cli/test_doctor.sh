#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What doctor says, with tools on PATH that we wrote.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

"$LLMPERF" doctor >out 2>err
code=$?
case $code in 0 | 1) ;; *) die "exit code $code" ;; esac
stderr_empty
for check in driver cupti counters nsys ncu nvtx variables data; do
    grep -qE "^(ok|warn|fail) +$check " out || [ $check = cupti ] || die "no line for $check"
done
expect $code doctor --format json
python3 - <<'PYTHON' || die "doctor --format json"
import json
answer = json.load(open("out"))
assert isinstance(answer["usable"], bool)
assert {"driver", "nsys", "ncu"} <= {check["name"] for check in answer["checks"]}
assert all(check["level"] in ("ok", "warn", "fail") for check in answer["checks"])
PYTHON

# A tool is asked for its version; one that hangs, or prints nonsense, is told and does not hold us up.
mkdir bin
printf '#!/bin/sh\necho "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0"\n' >bin/nsys
printf '#!/bin/sh\nsleep 60\n' >bin/ncu
chmod +x bin/nsys bin/ncu
start=$(date +%s)
PATH=$TMPDIR/bin:$PATH expect $code doctor
[ $(($(date +%s) - start)) -lt 20 ] || die "a tool that hangs held doctor up"
grep -qE "^ok +nsys +2025.3.2.474, $TMPDIR/bin/nsys" out || die "the version of nsys was not found"
grep -qE "^warn +ncu " out || die "the ncu that hangs is not told"

CUDA_LAUNCH_BLOCKING=1 expect $code doctor
stdout_has "CUDA_LAUNCH_BLOCKING=1"
CUDA_LAUNCH_BLOCKING=0 expect $code doctor
grep -q "CUDA_LAUNCH_BLOCKING" out && die "CUDA_LAUNCH_BLOCKING=0 is harmless"
exit 0
