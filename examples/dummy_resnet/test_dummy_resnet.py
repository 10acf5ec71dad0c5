#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dummy_resnet on the CPU: numbers, options, files, exit codes. DUMMY_RESNET names the program."""
import json
import os
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["DUMMY_RESNET"]
HERE = os.path.dirname(os.path.abspath(__file__))

ARCH = """input: {channels: 2, height: 9, width: 35}
channels: 19
blocks: 2
classes: 7
batch_norm_epsilon: 1.0e-5
"""
INFER = """batch: 3
iterations: 2
warmup: 1
seed: 5
dtype: fp32
"""


def expected(name):
    with open(os.path.join(HERE, "expected", name), encoding="utf-8") as file:
        return [[float(word) for word in line.split()] for line in file if not line.startswith("#")]


class DummyResnet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="llmperf-resnet-")
        self.addCleanup(self.folder.cleanup)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("LLMPERF_OUT", "LLMPERF_TIER")}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], env=self.environment, cwd=self.folder.name, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_small(self, *arguments, code=0, arch=ARCH, infer=INFER):
        return self.run_program("--device", "cpu", "--out", self.path("out"), "--arch", self.write("arch.yaml", arch),
                                "--infer", self.write("infer.yaml", infer), *arguments, code=code)

    def assert_outputs(self, text, name):
        found = [[float(word) for word in line.split(":")[1].split()] for line in text.splitlines()
                 if line.startswith("output[")]
        wanted = expected(name)
        self.assertEqual(len(found), len(wanted))
        for row, reference in zip(found, wanted):
            self.assertEqual(len(row), len(reference))
            error = sum((a - b) ** 2 for a, b in zip(row, reference)) / sum(b * b for b in reference)
            self.assertLess(error**0.5, 1e-6)

    def assert_fault(self, done, *words):
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_uneven_shapes_agree_with_an_independent_reference(self):
        self.assert_outputs(self.run_small().stdout, "uneven.txt")

    def test_default_files_agree_with_an_independent_reference(self):
        done = self.run_program("--device", "cpu", "--iterations", "1", "--warmup", "0", "--out", self.path("out"))
        self.assert_outputs(done.stdout, "default.txt")
        self.assertIn("model: input 4x3x64x64, 16 channels, 3 blocks, 10 classes, fp32", done.stdout)

    def test_last_line_is_the_run_directory(self):
        last = self.run_small().stdout.splitlines()[-1]
        self.assertEqual(os.path.dirname(last), self.path("out"))
        self.assertTrue(os.path.isfile(os.path.join(last, "run.llmperf")))

    def test_without_out_the_run_goes_to_runs(self):
        done = self.run_program("--device", "cpu", "--batch", "1", "--size", "8", "--iterations", "1")
        last = done.stdout.splitlines()[-1]
        self.assertTrue(os.path.isfile(os.path.join(self.folder.name, last, "run.llmperf")))
        self.assertEqual(os.path.basename(os.path.dirname(os.path.join(self.folder.name, last))), "runs")

    def test_out_of_the_environment_is_used(self):
        self.environment["LLMPERF_OUT"] = self.path("elsewhere")
        last = self.run_program("--device", "cpu", "--batch", "1", "--size", "8", "--iterations", "1").stdout.splitlines()[-1]
        self.assertTrue(last.startswith(self.path("elsewhere") + "/"))

    def test_work_is_that_of_the_shapes(self):
        # 9 x 35 pixels of 3 images, 2 -> 19 channels, 4 convolutions of 19 -> 19, 19 -> 7 classes.
        pixels, channels = 3 * 9 * 35, 19
        flops = 2 * pixels * 9 * (2 * channels + 4 * channels**2) + 2 * 3 * channels * 7
        conv = pixels * (2 + channels) + 2 * channels * 9 + 4 * (2 * pixels * channels + 9 * channels**2)
        norm = 5 * (2 * pixels * channels + 2 * channels)
        add = 2 * 3 * pixels * channels
        head = pixels * channels + 3 * channels + 3 * channels + 7 * channels + 7 + 3 * 7
        self.assertIn(f"work: {flops} flops, {4 * (conv + norm + add + head)} bytes per iteration\n", self.run_small().stdout)

    def test_regions_are_counted_and_nested(self):
        run = self.run_small("--iterations", "4").stdout.splitlines()[-1]
        with open(os.path.join(run, "metrics.json"), encoding="utf-8") as file:
            regions = {region["path"]: region for region in json.load(file)["regions"]}
        instances = {path: region["instances"] for path, region in regions.items()}
        forward = "LLM@forward"
        self.assertEqual(instances, {forward: 4, forward + "/LLM@stem": 4, forward + "/LLM@residual": 4,
                                     forward + "/LLM@residual/LLM@block.conv1": 8,
                                     forward + "/LLM@residual/LLM@block.conv2": 8, forward + "/LLM@head": 4})
        parts = [regions[forward + part]["flops"] for part in ("/LLM@stem", "/LLM@residual", "/LLM@head")]
        self.assertEqual(regions[forward]["flops"], sum(parts))

    def test_cpu_run_has_no_launches_and_says_no_device(self):
        text = self.run_small().stdout
        self.assertIn("device: cpu (asked for)\n", text)
        self.assertIn("launches: 0\n", text)
        self.assertIn("ledger: no_device, kernels seen 0 of 0 expected\n", text)

    def test_same_seed_gives_same_numbers_another_seed_does_not(self):
        outputs = [re.findall(r"^output.*$", self.run_small(infer=INFER.replace("seed: 5", f"seed: {seed}")).stdout, re.M)
                   for seed in (5, 5, 6)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_check_fails_beyond_the_tolerance(self):
        done = self.run_small("--tolerance", "1e-12", code=1)
        self.assertIn("FAILED", done.stdout)
        self.assertTrue(os.path.isdir(done.stdout.splitlines()[-1]))

    def test_command_line_overrides_the_files(self):
        text = self.run_small("--batch", "2", "--size", "5", "--iterations", "3", "--warmup", "0").stdout
        self.assertIn("input 2x2x5x5", text)
        self.assertIn("(3 iterations after 0 of warm-up)", text)

    def test_images_are_checked_all_over_a_large_batch(self):
        text = self.run_small("--batch", "11", "--size", "4").stdout
        self.assertEqual(re.findall(r"^output\[(\d+)\]", text, re.M), ["0", "3", "6", "10"])

    def test_wrong_options_are_usage_errors(self):
        for arguments in (["--device", "tpu"], ["--iterations", "0"], ["--iterations", "1x"], ["--iterations", "-1"],
                          ["--iterations", "99999999999999999999"], ["--warmup", "x"], ["--tier", "counters"], ["--batch", "0"],
                          ["--tolerance", "nan"], ["--tolerance", "0x1"], ["--tolerance", "-1"], ["--check-times=x"],
                          ["--out", ""], ["--nonsense"], ["word"], ["--out"]):
            with self.subTest(arguments=arguments):
                self.assert_fault(self.run_program(*arguments, code=2), "--help")

    def test_help_and_version_succeed(self):
        text = self.run_program("--help").stdout
        for option in ("--device", "--iterations", "--warmup", "--out", "--tier", "--record", "--arch", "--infer",
                       "--check-times", "--batch", "--size", "--tolerance"):
            self.assertIn(option, text)
        self.assertRegex(self.run_program("--version").stdout, r"^dummy_resnet, libllmperf \d+\.\d+\.\d+\n$")

    def test_missing_files_are_environment_errors(self):
        self.assert_fault(self.run_program("--arch", "/nonexistent/arch.yaml", code=3), "/nonexistent/arch.yaml")
        self.environment["LLMPERF_CONFIG_DIR"] = self.folder.name
        self.assert_fault(self.run_program(code=3), "dummy_shallow_resnet.default.yaml")

    def test_bad_values_name_file_line_and_key(self):
        for old, new, words in (("channels: 19", "channels: 0x13", ("arch.yaml:2", "channels", "0x13")),
                                ("channels: 19", "channels: 1_9", ("arch.yaml:2", "channels", "1_9")),
                                ("blocks: 2", "blocks: 2.0", ("arch.yaml:3", "blocks")),
                                ("classes: 7\n", "", ("arch.yaml:", "classes")),
                                ("width: 35", "width: [35]", ("arch.yaml:1", "input.width", "a list")),
                                ("1.0e-5", "1.0e-5s", ("arch.yaml:5", "batch_norm_epsilon")),
                                ("blocks: 2", "blocks: 2\nblocks: 3", ("arch.yaml:4", "blocks", "twice")),
                                ("blocks: 2", "blocks: [2", ("arch.yaml:",))):
            with self.subTest(new=new):
                self.assertIn(old, ARCH)
                self.assert_fault(self.run_small(arch=ARCH.replace(old, new), code=2), *words)

    def test_values_out_of_range_are_refused(self):
        for old, new, word in (("channels: 19", "channels: 0", "channels"), ("blocks: 2", "blocks: -1", "blocks"),
                               ("blocks: 2", "blocks: 1001", "blocks"), ("width: 35", "width: 4097", "width"),
                               ("1.0e-5", "0", "epsilon")):
            with self.subTest(new=new):
                self.assert_fault(self.run_small(arch=ARCH.replace(old, new), code=2), word)
        self.assert_fault(self.run_small("--batch", "65536", "--size", "4096", code=2), "2^33")
        for old, new in (("fp32", "fp16"), ("iterations: 2", "iterations: 0"), ("batch: 3", "batch: 0"), ("seed: 5", "seed: -5")):
            with self.subTest(new=new):
                self.assert_fault(self.run_small(infer=INFER.replace(old, new), code=2), new.split(":")[0].replace("fp16", "dtype"))

    def test_times_cannot_be_checked_on_the_cpu(self):
        done = self.run_small("--check-times", code=3)
        self.assertIn("need a CUDA device", done.stderr)

    def test_auto_says_in_one_line_why_it_fell_back(self):
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        text = self.run_program("--batch", "1", "--size", "8", "--iterations", "1").stdout
        self.assertRegex(text, r"^device: cpu \(auto: [^\n]+\)\n")

    def test_asking_for_a_gpu_that_is_not_there_is_an_environment_error(self):
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        self.assert_fault(self.run_program("--device", "cuda", code=3), "dummy_resnet: ")


if __name__ == "__main__":
    unittest.main()
