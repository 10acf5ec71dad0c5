# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share. Each test_*.py runs alone: exit 0 passed, 1 failed, 77 skipped."""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ.get("LLMPERF_SOURCE") or Path(__file__).resolve().parents[2])
DATA = Path(os.environ.get("LLMPERF_TEST_DATA") or SOURCE / "tests/data")
sys.path.insert(0, str(SOURCE / "bindings/python"))

import llmperf  # noqa: E402

SKIP = 77


def skip_all(reason: str) -> None:
    """Leave the whole program as skipped."""
    print("SKIP:", reason)
    sys.exit(SKIP)


def need_library() -> None:
    """Skip where there is no library to test; a library that was named must work."""
    if not os.environ.get("LLMPERF_LIBRARY") and not llmperf.available():
        skip_all("libllmperf.so not found; set LLMPERF_LIBRARY")


def child(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run Python code in a new process; an environment value of "" removes the variable."""
    path = os.pathsep.join(filter(None, [str(SOURCE / "bindings/python"),
                                         os.environ.get("PYTHONPATH", "")]))
    merged = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.run([sys.executable, "-c", code], timeout=120, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={name: value for name, value in merged.items() if value})


def replay(recording: Any, **options: Any) -> "llmperf.Profile":
    """The profile of a recording."""
    with llmperf.Session(source="replay", device_path=recording, **options) as session:
        pass
    return session.profile


class TestCase(unittest.TestCase):
    """Gives each test a folder of its own, removed afterwards."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="llmperf-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def play(self, script: str, **options: Any) -> "llmperf.Profile":
        """The profile of a script of the fake device."""
        path = self.folder / "script.txt"
        path.write_text(script, encoding="utf-8")
        with llmperf.Session(source="fake", device_path=path, **options) as session:
            pass
        return session.profile


def main() -> None:
    """Run the cases of the program that calls this."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    sys.stdout.flush()
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    sys.exit(SKIP if len(result.skipped) == result.testsRun else 0)
