#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dsocr_profile on a GPU: invariants of real runs, no times. Exit 77 without a GPU. DSOCR_PROFILE names the program; LLMPERF_KEEP a folder
for the runs."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["DSOCR_PROFILE"]
STEP = "LLM@decode_all/LLM@decode_step"
BUNDLE = ("report.md", "report.html", "operators.md", "kernels.md", "stages.md", "stakeholder_summary.md", "metrics.json", "env.json",
          "inputs.yaml", "config.yaml", "assumptions.md", "repeats.md", "run.llmperf", "regions/report.md", "regions/report.json")


def gpu_count():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                                check=False)
    except OSError:
        return 0
    return listed.stdout.count("GPU ")


class OnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = None if os.environ.get("LLMPERF_KEEP") else tempfile.TemporaryDirectory(prefix="llmperf-dsocr-gpu-")
        cls.out = os.environ.get("LLMPERF_KEEP") or cls.folder.name

    @classmethod
    def tearDownClass(cls):
        if cls.folder:
            cls.folder.cleanup()

    def run_program(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if k not in ("LLMPERF_OUT", "LLMPERF_TIER", "LLMPERF_COUNTERS")}
        done = subprocess.run([PROGRAM, "--out", self.out, *arguments], env=environment, timeout=300, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)
        print("dsocr_profile", *arguments, "\n", done.stdout, done.stderr, flush=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def metrics(self, folder):
        with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
        self.assertEqual((metrics["ledger"]["verdict"], metrics["ledger"]["problems"]), ("complete", []), folder)
        self.assertEqual(metrics["ledger"]["kernels_seen"], metrics["ledger"]["kernels_attributed"], folder)
        return metrics

    def measure(self, *arguments):
        """Metrics, and regions by path."""
        folder = self.run_program(*arguments).splitlines()[-1]
        metrics = self.metrics(folder)
        for name in BUNDLE:
            self.assertGreater(os.path.getsize(os.path.join(folder, name)), 0, name)
        return metrics, {region["path"]: region for region in metrics["regions"]}

    def assert_parts_add_up(self, found):
        prefill = found["LLM@prefill"]
        parts = [r for r in found.values() if r["parent"] == "LLM@prefill"]
        self.assertLess(abs(sum(r["gpu_busy_ms"] for r in parts) / prefill["gpu_busy_ms"] - 1), 0.01)
        self.assertEqual(sum(r["flops"] or 0 for r in parts), prefill["flops"])
        steps = [r for r in found.values() if r["parent"] == "LLM@decode_all"]
        self.assertLess(abs(sum(r["gpu_busy_ms"] for r in steps) / found["LLM@decode_all"]["gpu_busy_ms"] - 1), 0.01)

    def test_base_eager(self):
        _, found = self.measure("--new-tokens", "32", "--repeats", "2", "dataset.samples=2")
        self.assert_parts_add_up(found)
        self.assertEqual(found[STEP]["instances"], 2 * 2 * 32)
        self.assertIn(found[STEP]["bound"], ("memory", "launch"))
        self.assertGreater(found["LLM@prefill"]["mfu"], found[STEP]["mfu"])

    def test_base_in_graphs(self):
        metrics, found = self.measure("--graphs", "--new-tokens", "32", "--repeats", "2", "dataset.samples=2")
        self.assert_parts_add_up(found)
        self.assertEqual(found[STEP]["bound"], "memory")
        captured = {k["captured_in"] for k in metrics["kernels"] if k["region"] == STEP and k["kind"] == "kernel"}
        self.assertIn("LLM@graph_capture/LLM@layer11/LLM@moe", captured)
        self.assertNotIn(None, captured)

    def test_streams_pay_for_what_they_launched(self):
        options = ("--graphs", "--new-tokens", "48", "--repeats", "2", "dataset.samples=4")
        _, one = self.measure(*options)
        _, four = self.measure("--streams", "4", *options)
        for path in ("LLM@prefill", "LLM@prefill/LLM@vision", "LLM@prefill/LLM@layer07/LLM@moe", STEP):
            self.assertEqual((four[path]["instances"], four[path]["kernel_count"], four[path]["memcpy_count"], four[path]["flops"]),
                             (one[path]["instances"], one[path]["kernel_count"], one[path]["memcpy_count"], one[path]["flops"]), path)
        for found in (one, four):
            for region in found.values():
                parts = region["kernel_ms"] + region["memcpy_ms"] + region["memset_ms"]
                self.assertLessEqual(region["gpu_busy_ms"], 1.001 * parts + 0.001, region["path"])
        # One stream never overlaps itself. Four do: their kernels take longer in sum than the GPU is busy.
        self.assertLess(one["LLM@decode_all"]["kernel_ms"], 1.01 * one["LLM@decode_all"]["gpu_busy_ms"])
        self.assertGreater(four["LLM@decode_all"]["kernel_ms"], 1.05 * four["LLM@decode_all"]["gpu_busy_ms"])

    def counted(self, found, path, flops="tensor_flops_bf16"):
        region = found[path]
        counters = region["counters"]
        return (counters[flops] * region["instances"] / region["flops"],
                (counters["dram_read_bytes"] + counters["dram_write_bytes"]) * region["instances"] / region["bytes"])

    def test_counters_of_stages(self):
        metrics, found = self.measure("--tier", "counters", "--graphs", "--new-tokens", "16", "--repeats", "2", "dataset.samples=1")
        vision, step = "LLM@prefill/LLM@vision", found[STEP]
        # The tiles of products are filled up; the analysis says by how much windows are.
        self.assertTrue(1 < self.counted(found, vision)[0] < 1.1, self.counted(found, vision))
        # A row of one token takes a tile of eight.
        self.assertTrue(1 < self.counted(found, STEP)[0] < 16, self.counted(found, STEP))
        self.assertLess(abs(self.counted(found, STEP)[1] - 1), 0.05)
        self.assertEqual({m["count"] for m in metrics["metrics"] if m["region"] == STEP and m["name"] == "gpu_time"}, {step["instances"]})
        with open(os.path.join(self.out, metrics["run_id"], "report.md"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"## Counted by the hardware\n(.*\n)+\| `LLM@decode_all/LLM@decode_step` \| 0 \| 32 \|")
        with open(os.path.join(self.out, metrics["run_id"], "regions/report.json"), encoding="utf-8") as file:
            work = {r["name"]: r["sections"]["work"] for r in json.load(file)["regions"] if "work" in r["sections"]}
        self.assertEqual(work[STEP]["measured_instances"], step["instances"])

    def test_a_graph_of_filled_tiles_has_the_flops_of_the_model(self):
        _, found = self.measure("--tier", "counters", "--graphs", "--model", "llama3_8b", "--layers", "8", "--batch", "16",
                                "--prompt-tokens", "64", "--new-tokens", "8", "--repeats", "2")
        self.assertLess(abs(self.counted(found, STEP)[0] - 1), 0.05)

    def ranks(self, *arguments):
        """Metrics of each rank, and those of all."""
        printed = self.run_program("--ranks", "2", *arguments)
        folders = re.findall(r"^rank \d: (.*)$", printed, re.M)
        return printed, [self.metrics(folder) for folder in folders], self.metrics(printed.splitlines()[-1])

    def test_ranks_share_layers_or_nothing(self):
        printed, ranks, merged = self.ranks("--graphs", "--new-tokens", "32", "--repeats", "2", "dataset.samples=1")
        self.assertEqual(len({r["process_id"] for r in merged["regions"]}), 2)
        shared = "each with a share of every layer" in printed
        self.assertTrue(shared or "copies of the model" in printed)
        self.assertEqual({r["device"] for r in merged["regions"] if r["gpu_busy_ms"]}, {0, 1} if gpu_count() > 1 else {0})
        if not shared:
            return
        for metrics in ranks:
            collectives = [k for k in metrics["kernels"] if k["kernel_class"] == "collective"]
            inside = {k["captured_in"] or k["region"] for k in collectives}
            self.assertTrue(collectives)
            self.assertEqual({path for path in inside if not path.endswith(("LLM@all_reduce", "LLM@all_gather"))}, set())
            steps = [k for k in collectives if k["region"] == STEP]
            self.assertEqual(sum(k["calls"] for k in steps), 2 * 32 * (2 * 12 + 1))
            found = {r["path"]: r for r in metrics["regions"]}
            self.assertEqual(found["LLM@prefill/LLM@layer03/LLM@all_reduce"]["instances"], 2 * 2)


if __name__ == "__main__":
    if gpu_count() == 0:
        print("no GPU: nvidia-smi lists none")
        sys.exit(77)
    unittest.main(verbosity=2)
