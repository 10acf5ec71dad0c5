#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server for two seconds: it reports iterations, ends when it is told to, and leaves a run. EMBED names the program."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["EMBED"]


class Embed(unittest.TestCase):
    def test_iterations_are_exposed_while_it_runs(self):
        with tempfile.TemporaryDirectory(prefix="llmperf-embed-") as folder:
            done = subprocess.run([PROGRAM, "2", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                  check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = done.stdout.splitlines()
            self.assertTrue(any(line.startswith("LLM@decode_step") and "iterations" in line for line in lines), done.stdout)
            self.assertTrue(any(line.startswith("LLM@prefill") for line in lines), done.stdout)
            with open(os.path.join(lines[-1], "metrics.json"), encoding="utf-8") as file:
                metrics = json.load(file)
        self.assertEqual(metrics["tier"], "light")
        regions = {region["path"]: region for region in metrics["regions"]}
        step = regions["LLM@decode_step"]
        self.assertGreaterEqual(step["tokens"], step["instances"])
        self.assertGreater(regions["LLM@prefill"]["tokens"], 16 * regions["LLM@prefill"]["instances"] - 1)
        self.assertIn("LLM@accept", regions)
        requests = metrics["requests"]
        self.assertTrue(any(line.startswith("ttft ") for line in lines), done.stdout)
        self.assertGreater(requests["finished"], 0)
        self.assertEqual(requests["requests"], requests["finished"] + requests["open"])
        self.assertEqual(requests["stray_calls"], 0)
        self.assertEqual(requests["ttft"]["count"], regions["LLM@prefill"]["instances"])
        self.assertEqual(requests["output_tokens"], step["tokens"] + requests["ttft"]["count"])
        self.assertIsNotNone(requests["good"])

    def test_an_interrupt_ends_it_in_order(self):
        with subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, universal_newlines=True) as server:
            self.assertIn("iterations", server.stdout.readline())
            server.send_signal(signal.SIGTERM)
            server.stdout.read()
            self.assertEqual(server.wait(timeout=30), 0)

    def test_wrong_arguments_are_usage_errors(self):
        for arguments in (["x"], ["-1"], ["1", "out", "more"]):
            with self.subTest(arguments=arguments):
                done = subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, universal_newlines=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
