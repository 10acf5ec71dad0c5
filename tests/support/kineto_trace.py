#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kineto_trace.py FILE [STEPS] [WORD...]: a trace in the layout of torch.profiler, compressed if the name ends in .gz. Each step launches four layers of
three kernels and a copy of 4096 bytes, and waits. Prints the number of kernels and their total time in ns. Words:
graph       each layer is one launch of a CUDA graph
rank=R/N    rank R of N, on GPU R
old         as in 2021: whole microseconds since 1970, other names of categories
edges       annotations as pairs of begin and end
late        the last event comes first
marked      the launches of a step are in regions prefill and decode_step
bare        a list of events without a document, whose end is missing"""
import gzip
import json
import sys

PROCESS, THREAD = 4242, 4243
BASE_NS = 1_760_000_000_000_000_000
KERNELS = [("void gemm<float, 128>(float const*, float*)", [64, 2, 1], [256, 1, 1]), ("rms_norm_kernel", [32, 1, 1], [128, 1, 1]),
           ("void at::native::vectorized_elementwise_kernel<4>(int)", [8, 1, 1], [128, 1, 1])]


class Trace:
    """Events of the CPU and of the GPU, which are written after them."""

    def __init__(self, words):
        self.words, self.correlation, self.kernels, self.total_ns = words, 0, 0, 0
        ranks = next((word[5:].split("/") for word in words if word.startswith("rank=")), ["0", "1"])
        self.rank, self.world = int(ranks[0]), int(ranks[1])
        self.host, self.device = [], []

    def event(self, phase, category, name, process, thread, ns, length_ns=None, **args):
        old = "old" in self.words
        event = {"ph": phase, "cat": category, "name": name, "pid": process, "tid": thread,
                 "ts": (BASE_NS + ns) // 1000 if old else ns / 1000}
        if length_ns is not None:
            event["dur"] = length_ns // 1000 if old else length_ns / 1000
        return {**event, "args": args} if args else event

    def on_host(self, category, name, ns, length_ns, **args):
        if category == "user_annotation" and "edges" in self.words:
            self.host.append(self.event("B", category, name, PROCESS, THREAD, ns))
            self.host.append(self.event("E", category, name, PROCESS, THREAD, ns + length_ns))
        else:
            self.host.append(self.event("X", category, name, PROCESS, THREAD, ns, length_ns, **args))

    def call(self, name, ns, length_ns):
        self.correlation += 1
        category = "Runtime" if "old" in self.words else "cuda_runtime"
        self.on_host(category, name, ns, length_ns, **{"External id": self.correlation, "cbid": 211, "correlation": self.correlation})
        self.host.append({**self.event("s", "ac2g", "ac2g", PROCESS, THREAD, ns), "id": self.correlation})

    def kernel(self, number, ns, length_ns, node=0):
        name, grid, block = KERNELS[number]
        self.kernels += 1
        self.total_ns += length_ns // 1000 * 1000 if "old" in self.words else length_ns
        self.device.append(self.event(
            "X", "Kernel" if "old" in self.words else "kernel", name, self.rank, 7, ns, length_ns,
            **{"External id": self.correlation, "queued": 0, "device": self.rank, "context": 1, "stream": 7, "correlation": self.correlation,
               "registers per thread": 32, "shared memory": 1024, "blocks per SM": 0.5, "warps per SM": 2.0, "grid": grid, "block": block,
               "est. achieved occupancy %": 12, "graph id": 5 if node else 0, "graph node id": (5 << 32 | node) if node else 0}))

    def layer(self, layer, ns):
        self.on_host("python_function", f"nn.Module: Layer_{layer}", ns, 60_000, **{"Python id": layer})
        self.on_host("python_function", "torch/nn/modules/linear.py(120): forward", ns + 100, 59_000)
        if "graph" in self.words:
            self.call("cudaGraphLaunch", ns + 5_000, 9_000)
        for number in range(3):
            at = ns + 5_000 + number * 15_000
            self.on_host("cpu_op", "aten::mm", at - 1_000, 12_000, **{"Input Dims": [[8, 4096], [4096, 4096]], "Input type": ["float", "float"]})
            if "graph" not in self.words:
                self.call("cudaLaunchKernel", at, 6_000)
            self.kernel(number, at + 20_000, 10_001 + number * 1_000, number + 1 if "graph" in self.words else 0)

    def step(self, step):
        at = 1_000_000 + step * 1_000_000
        self.on_host("user_annotation", f"ProfilerStep#{step}", at, 900_000)
        if "marked" in self.words:
            self.on_host("user_annotation", "LLM@decode_step" if step % 4 else "LLM@prefill", at, 800_000)
        for layer in range(4):
            self.layer(layer, at + 10_000 + layer * 100_000)
        self.call("cudaMemcpyAsync", at + 500_000, 8_000)
        self.device.append(self.event("X", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", self.rank, 7, at + 510_000, 2_500, device=self.rank, context=1,
                                      stream=7, correlation=self.correlation, bytes=4096))
        self.call("cudaStreamSynchronize", at + 520_000, 200_000)


def head(trace):
    properties = [{"id": i, "name": "NVIDIA H200", "totalGlobalMem": 150_109_880_320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
                  for i in range(trace.world)]
    document = {"schemaVersion": 1, "deviceProperties": properties, "cupti_version": 26, "cuda_runtime_version": 12080, "cuda_driver_version": 13000,
                "distributedInfo": {"backend": "nccl", "rank": trace.rank, "world_size": trace.world}, "displayTimeUnit": "ms"}
    if "old" not in trace.words:
        document["baseTimeNanoseconds"] = BASE_NS
    return json.dumps(document)[:-1] + ', "traceEvents": [\n'


def write(file, trace, first):
    """Write what was collected: at the begin of the file, or after a comma."""
    events = trace.host + trace.device
    if "late" in trace.words:
        events.insert(0, events.pop())
    file.write(("" if first else ",\n") + ",\n".join(json.dumps(event, indent=2 if first else None) for event in events))
    trace.host, trace.device = [], []


def main():
    words = set(sys.argv[3:])
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    trace = Trace(words)
    trace.host.append({"ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "ts": 0, "args": {"name": "python3"}})
    with (gzip.open if sys.argv[1].endswith(".gz") else open)(sys.argv[1], "wt") as file:
        file.write("[" if "bare" in words else head(trace))
        for step in range(steps):
            trace.step(step)
            if step % 500 == 20 or step == steps - 1:
                write(file, trace, step == min(20, steps - 1))
        file.write("" if "bare" in words else '\n], "traceName": "trace.json"}\n')
    print(trace.kernels, trace.total_ns)


main()
