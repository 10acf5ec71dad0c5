# SPDX-License-Identifier: Apache-2.0
"""What profiling a PyTorch program costs that does not know the profiler: a decode loop of 24
layers (eager or as a CUDA graph), or transformers' generate().

  bench_torch.py [--kind eager|graph|generate] [--modes none,light,deep] [--cycles N] [--steps N]
                 [--llmperf PROGRAM]

Each mode is a process of its own: none, kineto (torch.profiler, CUDA activities), proton, or a tier
under `llmperf run`; deep@NAME=VALUE has a setting of the environment besides. They take turns of a few steps each (turns.py). Prints for each mode the median
turn and the median of its ratios to the turns of `none` beside them, with the 95 % interval of that
median; and the time to stop.
Needs PyTorch with a device; exits 77 without.
"""
import argparse
import os
import subprocess
import sys
import time
from typing import Any, Callable, List

import turns

LAYERS, WIDTH, BATCH, CONTEXT, HEADS = 24, 2048, 8, 512, 16
PROMPT, TOKENS = 128, 32
SKIPPED = 77


def make_layers(torch: Any) -> Any:
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        """One new token a sequence against a cache of CONTEXT tokens."""

        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)])
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.out = nn.Linear(WIDTH, WIDTH, bias=False)
            self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
            self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
            self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)
            shape = (BATCH, HEADS, CONTEXT, WIDTH // HEADS)
            self.register_buffer("keys", torch.randn(shape))
            self.register_buffer("values", torch.randn(shape))

        def forward(self, x: Any) -> Any:
            heads = (BATCH, 1, 3, HEADS, WIDTH // HEADS)
            q, k, v = self.qkv(self.norms[0](x)).view(heads).unbind(2)
            self.keys[:, :, -1] = k[:, 0]
            self.values[:, :, -1] = v[:, 0]
            y = functional.scaled_dot_product_attention(q.transpose(1, 2), self.keys, self.values)
            x = x + self.out(y.transpose(1, 2).reshape(BATCH, 1, WIDTH))
            y = self.norms[1](x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    return nn.Sequential(*[Layer() for _ in range(LAYERS)]).to("cuda", torch.bfloat16).eval()


def make_loop(torch: Any, kind: str) -> Callable[[], Any]:
    layers = make_layers(torch)
    x = torch.randn(BATCH, 1, WIDTH, device="cuda", dtype=torch.bfloat16)
    for _ in range(10):
        layers(x)
    if kind == "eager":
        return lambda: layers(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        layers(x)
    return graph.replay


def make_generate(torch: Any) -> Callable[[], Any]:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=12,
                         num_attention_heads=16, num_key_value_heads=4, vocab_size=32000)
    model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    prompt = torch.randint(0, 32000, (1, PROMPT), device="cuda")
    generate = getattr(model, "generate")
    call = lambda: generate(prompt, max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False,
                            pad_token_id=0)
    call()
    return call


def start_tool(torch: Any, tool: str) -> Callable[[], Any]:
    """Starts a profiler; the result stops it."""
    if tool == "kineto":
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        profile.start()
        return profile.stop
    if tool == "proton":
        import triton.profiler as proton
        proton.start(os.path.join(os.environ.get("TMPDIR", "/tmp"), "bench_torch_proton"),
                     context="shadow")
        return proton.finalize
    return lambda: None


def work(kind: str, tool: str) -> int:
    """A number of steps on each line of standard input; their time in ms on each of the answer."""
    import torch

    torch.manual_seed(0)
    with torch.no_grad():
        step = make_generate(torch) if kind == "generate" else make_loop(torch, kind)
        torch.cuda.synchronize()
        stop = start_tool(torch, tool)
        print("ready", flush=True)
        for line in sys.stdin:
            if line.strip() == "end":
                break
            begin = time.perf_counter()
            for _ in range(int(line)):
                step()
            torch.cuda.synchronize()
            print(f"{(time.perf_counter() - begin) * 1e3:.3f}", flush=True)
    begin = time.perf_counter()
    stop()
    print(f"{(time.perf_counter() - begin) * 1e3:.1f}", flush=True)
    return 0


def start(mode: str, kind: str, llmperf: str, out: str) -> turns.Process:
    name, _, setting = mode.partition("@")
    variable, _, value = setting.partition("=")
    own = name in ("none", "kineto", "proton")
    argv = [] if own else [llmperf, "run", "--tier", name, "--out", out, "--"]
    argv += [sys.executable, os.path.abspath(__file__), "--kind", kind, "--work",
             name if own else "none"]
    return turns.Process(mode, argv, out, lambda line: float(line) if is_number(line) else None,
                         {variable: value} if variable else {})


def is_number(line: str) -> bool:
    return line.replace(".", "", 1).isdigit()


def report(processes: List[turns.Process], steps: int) -> None:
    bare = next(process.times for process in processes if process.mode == "none")
    for process in processes:
        stopped = process.say("end")
        process.end()
        run = process.lines[-1]
        print(f"{process.mode:8} {turns.median(process.times):9.2f} ms of {steps} steps  "
              f"{turns.Comparison(process.times, bare)}  stop {stopped:.0f} ms  "
              f"{run if os.path.isdir(run) else ''}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["eager", "graph", "generate"], default="eager")
    parser.add_argument("--modes", default="none,light,deep,kineto,proton")
    parser.add_argument("--cycles", type=int, default=40)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--llmperf", default="llmperf")
    parser.add_argument("--out", default="bench_torch_runs")
    parser.add_argument("--work", help="for the processes that this starts")
    given = parser.parse_args()
    if given.work:
        return work(given.kind, given.work)
    if subprocess.run([sys.executable, "-c", "import torch, sys; "
                       "sys.exit(not torch.cuda.is_available())"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        print("no PyTorch with a device", file=sys.stderr)
        return SKIPPED
    os.makedirs(given.out, exist_ok=True)
    modes = given.modes.split(",")
    if "none" not in modes:
        parser.error("--modes needs none: the others are compared with it")
    processes = [start(mode, given.kind, given.llmperf, given.out) for mode in modes]
    for process in processes:
        process.wait_ready()
    print(f"{given.kind}: {given.cycles} turns a mode of {given.steps} steps", flush=True)
    turns.take(processes, str(given.steps), given.cycles)
    report(processes, given.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())
