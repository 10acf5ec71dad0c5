#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package with PyTorch on a GPU: schedule(), regions of async functions, versions in env.json.

PYTHONPATH=bindings/python LLMPERF_LIBRARY=… torch_python.py      exits 77 with a reason without torch or a GPU
"""
import asyncio
import importlib.metadata
import json
import sys
import time

import llmperf

EAGER, NODES = 3, 2  # kernels of a step: launched one by one, and in its CUDA graph
STEP, LAYER = "LLM@decode_step", "LLM@layer"
CALLS = 100


def skip(reason):
    print("SKIP:", reason)
    sys.exit(77)


def check(what, found, expected):
    if found != expected:
        sys.exit(f"FAILED: {what}: {found}, not {expected}")
    print(f"ok: {what}: {found}")


def steps_of_a_schedule(torch):
    data = torch.ones(1 << 20, device="cuda")
    data.sin().cos().add(1)
    torch.cuda.synchronize()
    waits = []
    with llmperf.schedule(3, 1, 4, 2, tier="deep", source="cupti") as schedule:
        graph = torch.cuda.CUDAGraph()  # captured while nothing is recorded
        with torch.cuda.graph(graph), llmperf.region(LAYER):
            data.sin().cos()
        for _ in range(20):
            with llmperf.decode_step(sequences=1, context=1):
                for _ in range(EAGER):
                    data.add(1)
                graph.replay()
            before = time.perf_counter()
            schedule.step()
            waits.append(1e3 * (time.perf_counter() - before))
    print("step() took, ms:", " ".join(f"{wait:.1f}" for wait in waits))
    check("active parts", len(schedule.profiles), 2)
    for profile in [*schedule.profiles, schedule.profile]:
        parts = len(schedule.profiles) if profile is schedule.profile else 1
        rows = [row for row in profile.regions() if row["path"] == STEP]  # one for each part
        check("steps, their kernels", (sum(row["instances"] for row in rows), sum(row["kernel_count"] for row in rows)),
              (4 * parts, 4 * parts * (EAGER + NODES)))
        check("kernels with their capture region",
              sum(kernel["calls"] for kernel in profile.kernels() if kernel["captured_in"] == LAYER), 4 * parts * NODES)
        check("verdict", profile.verdict, "complete")


def regions_of_tasks(torch):
    data = torch.ones(1 << 20, device="cuda")

    async def work(operation):
        for _ in range(CALLS):
            operation(data)
            await asyncio.sleep(0)  # the other task launches

    async def both():
        await asyncio.gather(llmperf.region("a")(work)(torch.sin), llmperf.region("b")(work)(torch.cos))

    asyncio.run(both())
    with llmperf.Session(tier="deep", source="cupti") as session:
        asyncio.run(both())
        torch.cuda.synchronize()
    kernels = [(row["region"], row["calls"]) for row in session.profile.kernels()]
    check("kernels of two tasks", sorted(kernels), [("LLM@a", CALLS), ("LLM@b", CALLS)])
    return session.profile


def main():
    try:
        import torch
    except ImportError:
        skip("torch is not installed")
    if not torch.cuda.is_available():
        skip("torch sees no GPU")
    steps_of_a_schedule(torch)
    software = json.loads(regions_of_tasks(torch).document("env.json"))["software"]
    check("version of torch", software["torch"], importlib.metadata.version("torch"))
    if sys.version_info >= (3, 11):
        check("version of Python", software["python"], ".".join(map(str, sys.version_info[:3])))
    print("software:", software)


if __name__ == "__main__":
    main()
