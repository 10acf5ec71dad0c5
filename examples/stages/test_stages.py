#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The engine of examples/stages on a GPU that a script plays, and without one. STAGES names the program, STAGES_SCRIPT the script."""
import math
import os
import re
import subprocess
import unittest


def stages(*arguments, status=0):
    """{path: {field: text}} of what the program prints."""
    done = subprocess.run([os.environ["STAGES"], *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            path, calls = line.split(", calls: ")
            fields = found[path] = {"calls": calls}
        else:
            name, text = re.match(r" +(\w+) +(.*)", line).groups()
            fields[name] = text
    return found


class Stages(unittest.TestCase):
    def test_a_played_gpu_gives_each_stage_its_bound(self):
        found = stages(os.environ["STAGES_SCRIPT"])
        prefill, step = found["LLM@prefill"], found["LLM@decode_step"]
        self.assertEqual((prefill["calls"], prefill["bound"], step["calls"], step["bound"]), ("1", "compute", "16", "memory"))
        # 32 layers of 1.1 ms; 16 steps of 32 layers of 0.22 ms
        self.assertEqual((prefill["busy_ms"], step["busy_ms"]), ("35.2", "112.6"))
        for stage, name in ((prefill, "mfu"), (step, "mbu")):
            self.assertAlmostEqual(float(stage[name]), float(stage["floor_ms"]) / float(stage["busy_ms"]), 3)
        # 16 GB of weights at 3.35 TB/s
        self.assertAlmostEqual(float(step["floor_ms"]) / 16, 4.5, delta=0.1)
        for stage in (prefill, step):
            self.assertLess(float(stage["mfu_elapsed"]), float(stage["mfu"]))
        self.assertLessEqual(float(prefill["tokens_per_s"]), 1024 / 0.040)
        self.assertLessEqual(float(step["tokens_per_s"]), 1 / 0.008)

    def test_without_a_gpu_what_is_not_known_has_a_reason(self):
        found = stages()
        for stage in found.values():
            self.assertGreater(float(stage["tokens_per_s"]), 0)
            for name in ("mfu", "mbu", "mfu_elapsed", "mbu_elapsed", "floor_ms"):
                number, _, reason = stage[name].partition(": ")
                self.assertTrue(math.isnan(float(number)) and reason, stage[name])

    def test_a_script_that_is_not_there_is_an_error(self):
        self.assertEqual(stages("/nowhere", status=1), {})


if __name__ == "__main__":
    unittest.main()
