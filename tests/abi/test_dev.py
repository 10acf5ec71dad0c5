#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/dev/dev: its usage is complete, and expected values change with a reason only."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from headers import SOURCE

DEV = os.path.join(SOURCE, "tools/dev/dev")
# It stands for meson, ninja and llmperf.
NOTHING = "#!/bin/sh\n"
IMPORT = "#!/bin/sh\nmkdir -p \"$4\" && cp metrics.json \"$4/\"\n"


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def read(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            return file.read()

    def call(self, *words):
        environment = dict(os.environ, PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"])
        return subprocess.run(["bash", os.path.join(self.folder, "tools/dev/dev"), *words], env=environment, capture_output=True, text=True)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", self.folder, *words], check=True, capture_output=True)

    def make_tree(self):
        for name in ("meson", "ninja"):
            self.write("bin/" + name, NOTHING, 0o755)
        self.write("build/build.ninja", "")
        self.write("build/tools/llmperf", IMPORT, 0o755)
        self.write(".gitignore", "/build/\n/bin/\n/metrics.json\n")
        self.write("metrics.json", "1\n")
        self.write("examples/data/golden.py", "import sys; print(open(sys.argv[1]).read(), end='')\n")
        self.write("tests/data/analytics/make_vectors.py", "print(1)\n")
        for path in ("tests/data/analytics/model_vectors.json", "tests/data/h200/engine/a.golden.json", "examples/data/b.golden.json"):
            self.write(path, "1\n")
        for path in ("tests/data/h200/engine/a.llmrec", "examples/data/b.llmrec"):
            self.write(path, "")
        self.write("tests/data/CHANGES.md", "# Changes\n\n")
        with open(DEV, encoding="utf-8") as file:
            self.write("tools/dev/dev", file.read(), 0o755)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "a: b")

    def test_each_command_is_in_the_usage(self):
        done = subprocess.run(["bash", DEV], capture_output=True, text=True)
        with open(DEV, encoding="utf-8") as file:
            commands = re.findall(r"^([a-z]+):\S*\)$", file.read(), re.M)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(re.findall(r"^  ([a-z]+) ", done.stderr, re.M), commands)

    def test_a_changed_value_needs_a_reason_and_logs_it(self):
        self.make_tree()
        self.assertEqual(self.call("goldens").returncode, 2)
        self.assertIn("no expected value changed", self.call("goldens", "nothing").stdout)
        self.assertEqual(self.read("tests/data/CHANGES.md"), "# Changes\n\n")
        self.write("metrics.json", "2\n")
        done = self.call("goldens", "two is right")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("tests/data/h200/engine/a.golden.json"), "2\n")
        self.assertRegex(self.read("tests/data/CHANGES.md"), r"^# Changes\n\n- \d{4}-\d\d-\d\d: two is right\n  - examples/data/b.golden.json\n"
                                                              r"  - tests/data/h200/engine/a.golden.json\n$")


if __name__ == "__main__":
    if not shutil.which("git"):
        print("no git")
        raise SystemExit(77)
    unittest.main()
