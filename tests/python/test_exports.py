# SPDX-License-Identifier: Apache-2.0
"""Each exported function has its ctypes line."""
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


if __name__ == "__main__":
    support.main()
