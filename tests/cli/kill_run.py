#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill programs at random moments under `llmperf run` and look at what is left.

kill_run.py COUNT [--strict]   needs LLMPERF and LLMPERF_TEST_PROGRAMS; 200 by hand, a few in the test suite

Each program marks a range about every 0.3 ms and keeps the time of each in a file. After the kill the run must open, must not
hold ranges that never were, and prints how much of the end is missing. --strict: more than 1.2 s (commits are a second apart) fails.
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

LLMPERF = os.environ["LLMPERF"]
PROGRAM = os.path.join(os.environ["LLMPERF_TEST_PROGRAMS"], "nvtx_program")


def times_of(path):
    with open(path, "rb") as file:
        count = struct.unpack("=Q", file.read(8))[0]
        return struct.unpack(f"={count}Q", file.read(8 * count))


def pid_of(run, children):
    """The program that llmperf started, once it runs."""
    while not children:
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        time.sleep(0.001)
    return int(children[0])


def kill_one(folder, number, life, missed, faults):
    ends = os.path.join(folder, f"times{number}")
    out = os.path.join(folder, f"out{number}")
    run = subprocess.Popen([LLMPERF, "run", "--out", out, "--", PROGRAM, "loop", ends], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    pid = pid_of(run, [])
    while not os.path.exists(ends) or os.path.getsize(ends) == 0:
        time.sleep(0.001)
    time.sleep(life)
    killed_ns = time.monotonic_ns()
    os.kill(pid, signal.SIGKILL)
    text, errors = run.communicate()
    try:
        check(run, text, times_of(ends), killed_ns, life, missed)
    except Exception as fault:  # pylint: disable=broad-except
        faults.append(f"life {life:.3f} s: {fault!r}\n{errors}")


def check(run, text, ends, killed_ns, life, missed):
    assert run.returncode == 128 + signal.SIGKILL, f"exit code {run.returncode}"
    folder = text.splitlines()[-1]
    report = subprocess.run([LLMPERF, "report", folder, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    if report.returncode != 0 and life < 0.5 and "before the first commit" in report.stderr:
        missed.append((killed_ns - ends[0]) / 1e9 if ends else 0)
        return
    assert report.returncode == 0, report.stderr
    metrics = json.loads(report.stdout)
    steps = [region for region in metrics["regions"] if region["label"] == "default@step"]
    kept = steps[0]["instances"] if steps else 0
    assert kept <= len(ends) + 1, f"{kept} ranges, the program ended {len(ends)}"
    # A program that lived for less than a commit leaves an empty run, or none that its killer let it make.
    last_ns = ends[kept - 1] if kept > 0 else ends[0] if ends else killed_ns
    missed.append((killed_ns - last_ns) / 1e9)
    if life > 4:
        assert kept > 0, "nothing is left"
        assert any("without stopping the session" in line for line in metrics["ledger"]["problems"]), "no problem is told"


def main():
    count, strict = int(sys.argv[1]), "--strict" in sys.argv
    random.seed(4)
    lives = [5.0] + [random.uniform(0, 3.5) for _ in range(count - 1)]
    missed, faults = [], []
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, count, 4):
            threads = [threading.Thread(target=kill_one, args=(folder, number, lives[number], missed, faults))
                       for number in range(first, min(first + 4, count))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    print(f"{count} killed, {len(faults)} faults; missing at the end: median {sorted(missed)[len(missed) // 2]:.2f} s, "
          f"most {max(missed):.2f} s")
    print("\n".join(faults))
    if strict and max(missed) > 1.2:
        faults.append("too much is missing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
