#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llmperf attach on a running PyTorch program: a CUDA graph and eager kernels in a loop, attached to again and again.

LLMPERF=llmperf LLMPERF_LIBRARY=libllmperf.so attach.py [CYCLES]     exits 77 with a reason without torch or a GPU
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 20
NODES, EAGER = 20, 10

PROGRAM = """
import sys, time, torch
x = torch.ones(1 << 16, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(%d):
        x.mul_(1.0)
print("ready", flush=True)
count, since, worst = 0, time.perf_counter(), 0.0
while True:
    begin = time.perf_counter()
    graph.replay()
    for _ in range(%d):
        x.add_(0.0)
    torch.cuda.synchronize()
    now = time.perf_counter()
    count, worst = count + 1, max(worst, now - begin)
    if now - since > 1:
        print(f"step {1e6 * (now - since) / count:.2f} us, longest {1e3 * worst:.1f} ms", flush=True)
        count, since, worst = 0, now, 0.0
""" % (NODES, EAGER)


def skip(reason):
    print("SKIP:", reason)
    sys.exit(77)


def attach(tool, *words):
    done = subprocess.run([tool, "attach", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: llmperf attach {' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()[-1] if done.stdout else None  # --start prints nothing


def check_run(folder):
    with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    ledger = metrics["ledger"]
    if ledger["kernels_seen"] < 100 or ledger["graph_launches"] == 0 or ledger["verdict"] != "complete":
        sys.exit(f"FAILED: {folder}: {ledger}")
    return ledger


def run(tool, library, out):
    environment = dict(os.environ, LLMPERF_ATTACH="1", CUDA_INJECTION64_PATH=os.path.realpath(library))
    with open(os.path.join(out, "program.txt"), "w+", encoding="utf-8") as log:
        program = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            while "ready" not in open(log.name, encoding="utf-8").read():
                if program.poll() is not None:
                    sys.exit("FAILED: the program: " + open(log.name, encoding="utf-8").read())
                time.sleep(0.2)
            time.sleep(3.5)  # steps before
            pid, begin, verdicts = str(program.pid), time.perf_counter(), collections.Counter()
            for cycle in range(CYCLES):
                attach(tool, pid, "--start", "--out", out)
                time.sleep(0.2)
                ledger = check_run(attach(tool, pid, "--stop"))
                verdicts[ledger["verdict"]] += 1
                if cycle in (0, CYCLES - 1) or ledger["verdict"] != "complete":
                    print(f"cycle {cycle}: {ledger['kernels_seen']} kernels, {ledger['graph_launches']} graph launches, "
                          f"{ledger['verdict']} {ledger['problems'][:2]}", flush=True)
            print(f"ok: {CYCLES} cycles in {time.perf_counter() - begin:.1f} s, {dict(verdicts)}", flush=True)
            time.sleep(3.5)  # steps after
            if program.poll() is not None:
                sys.exit("FAILED: the program ended: " + open(log.name, encoding="utf-8").read())
        finally:
            program.kill()
            program.wait()
        lines = [line for line in open(log.name, encoding="utf-8").read().splitlines() if line.startswith("step")]
        print("before:", *lines[:3], "after:", *lines[-3:], "slowest second:", max(lines, key=lambda line: float(line.split()[1])), sep="\n")


def main():
    try:
        import torch
    except ImportError:
        skip("torch is not installed")
    if not torch.cuda.is_available():
        skip("torch sees no GPU")
    tool, library = os.environ.get("LLMPERF"), os.environ.get("LLMPERF_LIBRARY")
    if not tool or not library:
        skip("LLMPERF and LLMPERF_LIBRARY must name the program and the library")
    with tempfile.TemporaryDirectory(prefix="llmperf-attach-") as out:
        run(tool, library, out)


if __name__ == "__main__":
    main()
