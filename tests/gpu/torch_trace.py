#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that torch.profiler writes here, imported: kernels and times are those of the JSON, all are attributed, and steps are iterations.

LLMPERF=…/llmperf torch_trace.py [FOLDER]      keeps the traces in FOLDER; exits 77 with a reason without torch or a GPU
"""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

STEPS = 20


def skip(reason):
    print("SKIP:", reason)
    sys.exit(77)


def check(what, found, expected):
    if found != expected:
        sys.exit(f"FAILED: {what}: {found}, not {expected}")
    print(f"ok: {what}: {found}")


def programs(torch):
    layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()) for _ in range(4)]).cuda().half()
    data, host = torch.ones(64, 512, device="cuda", dtype=torch.half), torch.ones(64, 512, dtype=torch.half).pin_memory()
    with torch.no_grad():
        for _ in range(3):
            layers(data)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            layers(data)

        def eager():
            data.copy_(host, non_blocking=True)
            with torch.profiler.record_function("forward"):
                layers(data)
            data.sum().item()

        def replayed():
            graph.replay()
            torch.cuda.synchronize()

        yield "eager", eager
        yield "graph", replayed
        compiled = torch.compile(layers)
        compiled(data)
        yield "compiled", lambda: compiled(data)


def record(torch, path, step):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, with_stack=True, record_shapes=True,
                                schedule=torch.profiler.schedule(wait=0, warmup=1, active=STEPS, repeat=1),
                                on_trace_ready=lambda profiler: profiler.export_chrome_trace(path)) as profiler:
        for _ in range(STEPS + 1):
            step()
            profiler.step()


def compare(name, path, run):
    with open(path, encoding="utf-8") as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    output = subprocess.run([os.environ["LLMPERF"], "import", path, "-o", run], capture_output=True, text=True, check=True).stdout
    print(name, output.splitlines()[0])
    with open(run + "/metrics.json", encoding="utf-8") as file:
        metrics = json.load(file)
    rows = [row for row in metrics["kernels"] if row["kind"] == "kernel"]
    check(name + ": kernels", sum(row["calls"] for row in rows), len(kernels))
    check(name + ": ns", round(sum(row["total_ms"] for row in rows) * 1e6), round(sum(event["dur"] for event in kernels) * 1000))
    check(name + ": unattributed", metrics["ledger"]["kernels_unattributed"], 0)
    check(name + ": kernels with ids of graph nodes", metrics["ledger"]["graph_kernels_seen"],
          sum(event["args"].get("graph node id", 0) != 0 for event in kernels))
    steps = [row["instances"] for row in metrics["regions"] if row["path"] == "torch@ProfilerStep"]
    check(name + ": steps", steps, [STEPS])
    print(name, "verdict", metrics["ledger"]["verdict"], metrics["ledger"]["problems"], "modules",
          sum("module@" in row["path"] for row in metrics["regions"]))


def main():
    try:
        import torch
    except ImportError:
        skip("no torch")
    if not torch.cuda.is_available():
        skip("no GPU")
    with tempfile.TemporaryDirectory() as scratch:
        folder = sys.argv[1] if len(sys.argv) > 1 else scratch
        for name, step in programs(torch):
            path = os.path.join(folder, f"trace_{name}.json")
            record(torch, path, step)
            compare(name, path, os.path.join(scratch, "run_" + name))


main()
