# SPDX-License-Identifier: Apache-2.0
"""What the library costs an inference engine: decode steps of a document model and of a part of
Llama 3 8B, without regions and session, with regions only, in light and in deep, and under the least
that CUPTI can do (bare_cupti.h), launched one by one and as a CUDA graph.

  bench_engine.py PROGRAM [--bare FILE] [--cycles N] [--modes none,none,regions,light,bare,deep]
                  [--workloads NAME,...] [--launched eager,graph]

PROGRAM is dsocr_profile; FILE is bare_cupti.so, by default the one beside it. Each mode is a process
of its own; they take turns of 256 decode steps each (turns.py), 20 unless told. The second `none`
says how far apart two processes of one kind are. A mode may have a setting of the environment, to
compare with: light@LLMPERF_CUPTI_PATH=/path/libcupti.so.12. Prints for each mode the mean step, the
median of its turns' ratios to those of the first `none` beside them with the 95 % interval of that
median, and the same of the median step, which the few collected steps of light hardly move.

Fails if a process in deep is not complete, one in light not sampled, or two in deep do not see as
many kernels. Exits 77 without a device."""
import argparse
import os
import re
import sys
import tempfile
from typing import Dict, List, Set

import turns

SKIPPED = 77
STEPS = 256
WORKLOADS: Dict[str, List[str]] = {
    "deepseek_ocr": ["--mode", "base", "dataset.samples=1"],
    "llama_3_8b": ["--model", "llama_3_8b", "--layers", "8", "--prompt-tokens", "128"],
}
TITLES = {"deepseek_ocr": "DeepSeek-OCR", "llama_3_8b": "Llama 3 8B, 8 of 32 layers"}
TURN = re.compile(r"turn: ([\d.]+) us mean, ([\d.]+) us median")
LEDGER = re.compile(r"ledger: (\w+), (\d+) kernels")
BARE = re.compile(r"^bare: (\w+)$", re.M)
VERDICTS = {"light": "sampled", "deep": "complete", "bare": "ok"}
AIMS = {"light": 1.0}


class Engine:
    """One process, and what it printed."""

    def __init__(self, program: str, bare: str, workload: str, launched: str, mode: str, cycles: int,
                 folder: str) -> None:
        tier, _, setting = mode.partition("@")
        name, _, value = setting.partition("=")
        settings = {name: value} if name else {}
        if tier == "bare":
            settings["CUDA_INJECTION64_PATH"] = bare
        argv = [program, *WORKLOADS[workload], "--tier", "none" if tier == "bare" else tier,
                "--new-tokens", str(STEPS), "--repeats", str(cycles + turns.WARM), "--turns",
                "--out", f"{folder}/runs"]
        self.mode, self.tier = mode, tier
        self.medians: List[float] = []
        self.verdict, self.kernels, self.each, self.share = "-", "0", 0.0, ""
        self.process = turns.Process(mode, argv + (["--graphs"] if launched == "graph" else []),
                                     folder, mean_of, settings)

    def end(self) -> None:
        code = self.process.end()
        if code:
            raise SystemExit(f"{self.mode}: exit code {code}; see {self.process.log.name}")
        text = "\n".join(self.process.lines)
        self.medians = [float(found[2]) for found in TURN.finditer(text)][turns.WARM:]
        for line in self.process.lines:
            if line.startswith("problem: "):
                print(f"  {self.mode}: {line}")
        with open(self.process.log.name, encoding="utf-8", errors="replace") as log:
            bare = BARE.search(log.read())
        if self.tier == "bare":
            self.verdict = bare[1] if bare else "not_loaded"
        ledger = LEDGER.search(text)
        if ledger:
            self.verdict, self.kernels = ledger[1], ledger[2]
        each = re.search(r"([\d.]+) in a decode step", text)
        share = re.search(r"([\d.]+) % of the work collected", text)
        self.each = float(each[1]) if each else 0.0
        self.share = f", collected {share[1]} %" if share else ""

    @property
    def times(self) -> List[float]:
        return self.process.times


def mean_of(line: str) -> "float | None":
    found = TURN.match(line)
    return float(found[1]) if found else None


def print_modes(what: str, engines: List[Engine]) -> None:
    none = engines[0]
    for engine in engines:
        print(f"  {what} {engine.mode:8} mean {turns.median(engine.times):9.2f} us  "
              f"{turns.Comparison(engine.times, none.times)}  median step "
              f"{turns.median(engine.medians):9.2f} us  "
              f"{turns.Comparison(engine.medians, none.medians)}  {engine.verdict}{engine.share}",
              flush=True)
    deep = [engine for engine in engines if engine.mode == "deep" and engine.each]
    if deep:
        more = sum(deep[0].times) / len(deep[0].times) - sum(none.times) / len(none.times)
        print(f"  {what} attribution: {1e3 * more / deep[0].each:.1f} ns for each of "
              f"{deep[0].each:g} kernels of a step")


def rows_of(workload: str, launched: str, engines: List[Engine]) -> List[str]:
    none, rows = engines[0], []
    bare = next((engine.process for engine in engines if engine.mode == "bare"), None)
    each = next((engine.each for engine in engines if engine.each), 0)
    for engine in engines:
        if engine.tier not in VERDICTS:
            continue
        cost, aim = turns.Comparison(engine.times, none.times), AIMS.get(engine.tier)
        if engine.mode == "deep" and bare:  # in points
            aim = turns.Comparison(bare.times, none.times).median + 1
        rows.append(f"| {TITLES[workload]}, decode step, {launched}, {engine.mode} | "
                    f"{turns.median(engine.times):.1f} us, {cost.median:+.2f} % "
                    f"[{cost.low:+.2f}, {cost.high:+.2f}], {engine.verdict}{engine.share} | "
                    f"none {turns.median(none.times):.1f} us, {each:g} kernels | "
                    f"{f'<= {aim:.4g} %' if aim else '-'} | "
                    f"{'-' if aim is None else 'yes' if cost.median <= aim else 'no'} |")
    return rows


def run(given: argparse.Namespace, workload: str, launched: str, folder: str) -> List[Engine]:
    engines: List[Engine] = []
    for mode in given.modes:  # one after the other: each fills the device's memory with its weights
        engines.append(Engine(given.program, given.bare, workload, launched, mode, given.cycles,
                              folder))
        try:
            engines[-1].process.wait_ready()
        except SystemExit:
            with open(engines[-1].process.log.name, encoding="utf-8", errors="replace") as log:
                text = log.read()
            print(text, file=sys.stderr)
            sys.exit(SKIPPED if "no GPU to run on" in text else 1)
    turns.take([engine.process for engine in engines], "", given.cycles)
    for engine in engines:
        engine.end()
    return engines


def problems_of(workload: str, engines: List[Engine], kernels: Set[str]) -> List[str]:
    """`kernels`: those of deep before. Graphs replay what is launched one by one, so all see as many."""
    problems = [f"{workload}: the verdict of {engine.mode} is {engine.verdict}, not "
                f"{VERDICTS[engine.tier]}" for engine in engines
                if engine.verdict != VERDICTS.get(engine.tier, engine.verdict)]
    kernels |= {engine.kernels for engine in engines if engine.tier == "deep"}
    if len(kernels) > 1:
        problems.append(f"{workload}: processes in deep do not see the same number of kernels: "
                        f"{', '.join(sorted(kernels))}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.realpath)
    parser.add_argument("--bare", type=os.path.realpath)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--modes", default="none,none,regions,light,bare,deep",
                        type=lambda text: text.split(","))
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--launched", default="eager,graph")
    given = parser.parse_args()
    if given.modes[0] != "none":
        parser.error("--modes begins with none: the others are compared with it")
    for name in os.environ:
        if name.startswith("LLMPERF_") and not name.startswith(("LLMPERF_CUPTI_", "LLMPERF_CONFIG")):
            del os.environ[name]
    given.bare = given.bare or os.path.join(os.path.dirname(given.program), "bare_cupti.so")
    # Beside the program, so that the two can be carried to another machine together.
    os.environ["LD_LIBRARY_PATH"] = os.path.dirname(given.program) + (
        ":" + os.environ["LD_LIBRARY_PATH"] if os.environ.get("LD_LIBRARY_PATH") else "")
    rows: List[str] = []
    problems: List[str] = []
    print(f"{given.cycles} turns a mode of {STEPS} decode steps:")
    with tempfile.TemporaryDirectory() as folder:
        for workload in given.workloads.split(","):
            kernels: Set[str] = set()
            for launched in given.launched.split(","):
                engines = run(given, workload, launched, folder)
                print_modes(f"{workload:12} {launched:5}", engines)
                rows += rows_of(workload, launched, engines)
                problems += problems_of(workload, engines, kernels)
    print("\n".join(rows + problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
