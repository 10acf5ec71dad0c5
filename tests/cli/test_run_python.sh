#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf run on Python programs: threads, fork, spawn; the progress line of a terminal.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
marks=$LLMPERF_TEST_PROGRAMS/libnvtx_program_py.so
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR NV_TPS_LAUNCH_TOKEN
if sanitized; then
    echo "python3 cannot load a library with a sanitizer"
    exit 77
fi
metric() {
    "$LLMPERF" report "$2" --format json >metrics 2>>err || die "no report of $2"
    python3 -c 'import json, sys
m = json.load(open("metrics")); r = {x["path"]: x for x in m["regions"]}
print(eval(sys.argv[1]))' "$1"
}
is() { [ "$1" = "$2" ] || die "$3: $1, not $2"; }

cat >program.py <<'PY'
import ctypes
import multiprocessing
import os
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])


def mark(name, count):
    library.mark(name.encode(), count)


def work(name):
    mark(name, 10)


if __name__ == "__main__":
    mode = sys.argv[2]
    mark("main", 3)
    if mode == "threads":
        threads = [threading.Thread(target=mark, args=("thread", 100)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif mode in ("fork", "spawn"):
        context = multiprocessing.get_context(mode)
        workers = [context.Process(target=work, args=(f"worker {i}",)) for i in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        sys.exit(sum(worker.exitcode for worker in workers))
    elif mode == "raise":
        raise KeyError("on purpose")
    elif mode == "os._exit":
        time.sleep(1.3)
        os._exit(6)
    elif mode == "wait":
        time.sleep(2.5)
PY

expect 0 run --out o -- python3 program.py "$marks" threads
is "$(metric 'r["default@main"]["instances"], r["default@thread"]["instances"]' "$(tail -n 1 out)")" "(3, 2000)" threads
expect 0 run --out o -- python3 program.py "$marks" fork
run=$(tail -n 1 out)
is "$(metric 'sorted(r)' "$run")" "['default@main']" "forked workers"
is "$(grep -c verdict err)" 1 "runs with forked workers"
expect 0 run --out o -- python3 program.py "$marks" spawn
run=$(tail -n 1 out)
is "$(metric 'sorted(x["path"] for x in m["regions"])' "$run")" "['default@main', 'default@worker 0', 'default@worker 1']" "all of them together"
run=$(dirname "$run")
is "$(metric 'r["default@main"]["instances"]' "$run")" 3 "the parent of spawned workers"
is "$(for p in "$run"/processes/*; do metric 'sorted(r)' "$p"; done | sort | tr -d '\n')" \
    "['default@worker 0']['default@worker 1']" "spawned workers"
expect 1 run --out o -- python3 program.py "$marks" raise
stderr_has "on purpose"
is "$(metric 'r["default@main"]["instances"]' "$(tail -n 1 out)")" 3 "an exception"
expect 6 run --out o -- python3 program.py "$marks" os._exit
is "$(metric 'r["default@main"]["instances"]' "$(tail -n 1 out)")" 3 os._exit

# On a terminal there is a line of progress, and it is gone at the end.
cat >terminal.py <<'PY'
import os
import pty
import sys

output = bytearray()


def read(fd):
    data = os.read(fd, 1024)
    output.extend(data)
    return data


sys.stdin.close()
status = pty.spawn(sys.argv[1:], read)
text = output.decode()
assert " kernels, GPU busy " in text and " dropped" in text, text
assert text.rindex("\r\x1b[K") > text.rindex(" dropped"), text
sys.exit(os.waitstatus_to_exitcode(status))
PY
python3 terminal.py "$LLMPERF" run --out o -- python3 program.py "$marks" wait >out 2>err </dev/null || die "progress on a terminal"

# python -m llmperf run: hooks for engines in the script, a script's own exit code, and other commands.
mkdir -p vllm/v1/worker
printf 'class Worker:\n    load_model = compile_or_warm_up_model = sample_tokens = lambda self: None\n    def execute_model(self, scheduled): pass\n' >vllm/v1/worker/gpu_worker.py
cat >serve.py <<'PY'
import sys
from types import SimpleNamespace
from vllm.v1.worker.gpu_worker import Worker

new = SimpleNamespace(req_id="a", num_computed_tokens=0)
old = SimpleNamespace(req_ids=[], num_computed_tokens=[], num_output_tokens=[], resumed_req_ids=[])
Worker().execute_model(SimpleNamespace(scheduled_new_reqs=[new], scheduled_cached_reqs=old, num_scheduled_tokens={"a": 8}, total_num_scheduled_tokens=8))
sys.exit(int(sys.argv[1]))
PY
export PATH=${LLMPERF%/*}:$PATH PYTHONPATH=$LLMPERF_SOURCE/bindings/python
python3 -m llmperf run --out o --tier regions serve.py 4 >out 2>err
is $? 4 "exit code of the script"
is "$(metric 'r["LLM@prefill"]["tokens"]' "$(tail -n 1 out)")" 8 "a step of the engine"
python3 -m llmperf list o >out 2>err || die "another command"
python3 -m llmperf run --tier regions >out 2>err
is $? 2 "no program"
stderr_has "expected PROGRAM.py"
