#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built library and command line are hardened: relocations read-only and bound at once, no executable stack, stack protectors, checked
calls of libc."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

TOOL = os.path.join(headers.BUILD, "tools", "llmperf")
OPTIMISED = os.environ.get("LLMPERF_OPTIMISED") == "1"


@unittest.skipUnless(headers.LIBRARY and shutil.which("readelf"), "LLMPERF_LIBRARY is not set, or there is no readelf")
class Hardening(unittest.TestCase):
    def files(self):
        return [path for path in (headers.LIBRARY, TOOL) if os.path.exists(path)]

    def read(self, path, *options):
        status, output = headers.run(["readelf", "--wide", *options, path], env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(status, 0, output)
        return output.splitlines()

    def segment(self, path, name):
        return next((line.split() for line in self.read(path, "--program-headers") if line.split()[:1] == [name]), None)

    def imports(self, path):
        rows = [line.split() for line in self.read(path, "--dyn-syms")]
        return {row[7].split("@")[0] for row in rows if len(row) > 7 and row[6] == "UND"}

    def test_relocations_are_bound_at_once_and_read_only(self):
        for path in self.files():
            self.assertIsNotNone(self.segment(path, "GNU_RELRO"), path)
            dynamic = " ".join(line for line in self.read(path, "--dynamic") if "FLAGS" in line)
            self.assertRegex(dynamic, r"\bBIND_NOW\b|\bNOW\b", path)

    def test_the_stack_is_not_executable(self):
        for path in self.files():
            stack = self.segment(path, "GNU_STACK")
            self.assertIsNotNone(stack, path)
            self.assertNotIn("E", "".join(stack[6:-1]), path)

    def test_stacks_are_protected(self):
        for path in self.files():
            self.assertIn("__stack_chk_fail", self.imports(path), path)

    @unittest.skipUnless(OPTIMISED, "not an optimised build")
    def test_calls_of_libc_are_checked(self):
        for path in self.files():
            checked = sorted(name for name in self.imports(path) if name.endswith("_chk"))
            self.assertIn("__snprintf_chk", checked, path)


if __name__ == "__main__":
    unittest.main()
