# SPDX-License-Identifier: Apache-2.0
"""Each function and constant of the headers is declared to Python."""
from __future__ import annotations

import re

import support
from llmperf import _native


class Exports(support.TestCase):
    """lib/llmperf.map against the bindings."""

    def test_bindings_declare_exactly_what_the_library_exports(self) -> None:
        version_script = (support.SOURCE / "lib/llmperf.map").read_text()
        exported = re.findall(r"^\s*(llmperf_\w+);", version_script, re.MULTILINE)
        self.assertGreater(len(exported), 40)
        self.assertEqual(sorted(exported), sorted(_native.FUNCTIONS))

    def test_bindings_declare_each_constant_of_the_headers(self) -> None:
        names = set()
        for header in (support.SOURCE / "include/llmperf").rglob("*.h"):
            code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
            names.update(re.findall(r"^#define (LLMPERF_\w+) +[\dU(]", code, re.MULTILINE))
            for body in re.findall(r"\benum\b[^;{]*\{(.*?)\}", code, re.DOTALL):
                names.update(entry.split("=")[0].strip() for entry in body.split(",") if entry.strip())
        self.assertGreater(len(names), 120)
        self.assertEqual(sorted(names - set(_native.CONSTANTS)), [])


if __name__ == "__main__":
    support.main()
