# SPDX-License-Identifier: Apache-2.0
"""What profiling a PyTorch program costs that does not know the profiler: a decode loop of 24
layers (eager or as a CUDA graph), or transformers' generate().

  bench_torch.py [--kind eager|graph|generate] [--modes none,light,deep] [--cycles N] [--steps N]
                 [--llmperf PROGRAM]

Each mode is a process of its own: none, kineto (torch.profiler, CUDA activities), proton, or a tier
under `llmperf run`. All live at once and take turns of a few steps each, the order changing, while
the others wait: so each turn has one without a profiler beside it, taken within the same second,
and what else the machine does falls on all alike. Prints for each mode the median turn and the
median of its ratios to `none`, with the 95 % interval of that median; and the time to stop.
Needs PyTorch with a device; exits 77 without.
"""
import argparse
import os
import subprocess
import sys
import time
from typing import Any, Callable, Dict, IO, List, Tuple

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


class Process:
    """A program in one mode."""

    def __init__(self, mode: str, kind: str, llmperf: str, out: str) -> None:
        own = mode in ("none", "kineto", "proton")
        argv = [] if own else [llmperf, "run", "--tier", mode, "--out", out, "--"]
        argv += [sys.executable, os.path.abspath(__file__), "--kind", kind, "--work",
                 mode if own else "none"]
        self.mode = mode
        self.times: List[float] = []
        self.log = open(os.path.join(out, mode + ".log"), "w")
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        assert self.process.stdin and self.process.stdout
        self.input: IO[str] = self.process.stdin
        self.output: IO[str] = self.process.stdout

    def read(self, word: str = "") -> str:
        for line in self.output:
            text = line.strip()
            if text == word or (not word and text.replace(".", "", 1).isdigit()):
                return text
        raise SystemExit(f"{self.mode} ended early; see {self.log.name}")

    def say(self, line: str) -> float:
        self.input.write(line + "\n")
        self.input.flush()
        return float(self.read())

    def end(self) -> Tuple[float, str]:
        stopped = self.say("end")
        rest = [line.strip() for line in self.output if line.strip()]
        self.process.wait()
        self.log.close()
        return stopped, rest[-1] if rest else ""


def median(values: List[float]) -> float:
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values: List[float]) -> Tuple[float, float]:
    """Of the median, 95 %: order statistics at n / 2 -+ 0.98 sqrt(n)."""
    values, half = sorted(values), 0.98 * len(values) ** 0.5
    low, high = int(len(values) / 2 - half), int(len(values) / 2 + half)
    return values[max(low, 0)], values[min(high, len(values) - 1)]


def compare(processes: List[Process], steps: int, cycles: int) -> None:
    for cycle in range(-2, cycles):
        turn = cycle % len(processes)
        for process in processes[turn:] + processes[:turn]:
            taken = process.say(str(steps))
            if cycle >= 0:
                process.times.append(taken)


def report(processes: List[Process], steps: int) -> None:
    bare: Dict[str, List[float]] = {process.mode: process.times for process in processes}
    for process in processes:
        stopped, run = process.end()
        ratios = [100 * (time / none - 1) for time, none in zip(process.times, bare["none"])]
        low, high = interval(ratios)
        mean = 100 * (sum(process.times) / sum(bare["none"]) - 1)
        print(f"{process.mode:8} {median(process.times):9.2f} ms of {steps} steps  "
              f"{median(ratios):+6.2f} % [{low:+.2f}, {high:+.2f}]  of the sums {mean:+6.2f} %  "
              f"stop {stopped:.0f} ms  {run if os.path.isdir(run) else ''}", flush=True)


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
    processes = [Process(mode, given.kind, given.llmperf, given.out) for mode in modes]
    for process in processes:
        process.read("ready")
    print(f"{given.kind}: {given.cycles} turns a mode of {given.steps} steps", flush=True)
    compare(processes, given.steps, given.cycles)
    report(processes, given.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())
