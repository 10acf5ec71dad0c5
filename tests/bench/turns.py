# SPDX-License-Identifier: Apache-2.0
"""Processes that take turns: all are alive at once and each works for a moment while the others
wait, the order changing. So each turn has one of every other process beside it within the same
second, and what else the machine does falls on all alike."""
import os
import re
import subprocess
import tempfile
from typing import Callable, Dict, IO, List, Optional, Tuple


class Process:
    """A program that says "ready", then answers each line with one that has its time in it."""

    def __init__(self, mode: str, argv: List[str], folder: str, find: Callable[[str], Optional[float]],
                 environment: Optional[Dict[str, str]] = None) -> None:
        self.mode = mode
        self.find = find
        self.times: List[float] = []
        self.lines: List[str] = []  # all that it printed
        handle, path = tempfile.mkstemp(".log", re.sub(r"\W", "_", mode) + "-", folder)
        os.close(handle)
        self.log = open(path, "w", encoding="utf-8")
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True,
                                        env={**os.environ, **(environment or {})})
        assert self.process.stdin and self.process.stdout
        self.input: IO[str] = self.process.stdin
        self.output: IO[str] = self.process.stdout

    def lines_until(self, wanted: Callable[[str], bool]) -> str:
        for line in self.output:
            self.lines.append(line.strip())
            if wanted(line.strip()):
                return line.strip()
        raise SystemExit(f"{self.mode} ended early with exit code {self.process.wait()}; see "
                         f"{self.log.name}")

    def wait_ready(self) -> None:
        self.lines_until(lambda line: line == "ready")

    def say(self, line: str) -> float:
        self.input.write(line + "\n")
        self.input.flush()
        return self.find(self.lines_until(lambda answer: self.find(answer) is not None)) or 0.0

    def end(self) -> int:
        """The exit code; what was printed until then is in `lines`."""
        self.input.close()
        self.lines += [line.strip() for line in self.output if line.strip()]
        self.log.close()
        return self.process.wait()


def median(values: List[float]) -> float:
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values: List[float]) -> Tuple[float, float]:
    """Of the median, 95 %: order statistics at n / 2 -+ 0.98 sqrt(n)."""
    values, half = sorted(values), 0.98 * len(values) ** 0.5
    low, high = int(len(values) / 2 - half), int(len(values) / 2 + half)
    return values[max(low, 0)], values[min(high, len(values) - 1)]


WARM = 2  # turns that do not count


def take(processes: List[Process], line: str, cycles: int) -> None:
    for cycle in range(-WARM, cycles):
        turn = cycle % len(processes)
        for process in processes[turn:] + processes[:turn]:
            taken = process.say(line)
            if cycle >= 0:
                process.times.append(taken)


class Comparison:
    """Of a process's turns with those of another beside them, in percent."""

    def __init__(self, times: List[float], beside: List[float]) -> None:
        ratios = [100 * (time / other - 1) for time, other in zip(times, beside)]
        self.median = median(ratios)
        self.low, self.high = interval(ratios)
        self.mean = 100 * (sum(times) / sum(beside) - 1)

    def __str__(self) -> str:
        return (f"{self.median:+6.2f} % [{self.low:+.2f}, {self.high:+.2f}]  of the sums "
                f"{self.mean:+6.2f} %")
