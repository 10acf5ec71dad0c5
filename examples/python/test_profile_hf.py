#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of profile_hf.py needs neither torch nor a GPU: the stages around an engine, its options."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

import llmperf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import profile_hf  # noqa: E402


class Tokens(list):
    def tolist(self):
        return self


class Engine:
    """Stands for a model: says in which regions it was called."""

    def prefill(self):
        with llmperf.region("layer00"):
            return Tokens([1])

    def step(self, token):
        with llmperf.region("layer00"), llmperf.region("attention"):
            return token


class ProfileHf(unittest.TestCase):
    def test_generation_is_one_prefill_and_its_steps(self):
        with llmperf.Session(tier="regions", source="none") as session:
            for _ in range(2):
                profile_hf.generate(Engine(), batch=3, prompt=10, count=4)
        found = {region["path"]: region for region in session.profile.regions()}
        step = "LLM@decode_all/LLM@decode_step"
        self.assertEqual(found["LLM@prefill"]["tokens"], 2 * 3 * 10)
        self.assertEqual(found["LLM@prefill"]["context"], 2 * 3 * 10)
        self.assertEqual(found["LLM@decode_all"]["tokens"], 2 * 3 * 4)
        self.assertEqual((found[step]["instances"], found[step]["tokens"]), (8, 24))
        self.assertEqual(found[step]["context"], 2 * 3 * (11 + 12 + 13 + 14))
        self.assertEqual(found[step + "/LLM@layer00/LLM@attention"]["instances"], 8)

    def test_a_folder_that_is_no_checkpoint_is_refused_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for content, trusted, words in ((None, False, "no config.json"), ("{", False, "no JSON object"),
                                            ("[]", False, "no JSON object"), ('{"auto_map": {"AutoModel": "modeling_x.X"}}', False, "add --trust-remote-code")):
                if content:
                    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                        file.write(content)
                with self.subTest(content=content), contextlib.redirect_stderr(io.StringIO()) as errors:
                    with self.assertRaises(SystemExit):
                        profile_hf.check_folder(folder, trusted)
                    self.assertIn(words, errors.getvalue())
                    self.assertEqual(errors.getvalue().count("\n"), 1)
            self.assertEqual(profile_hf.check_folder(folder, True), "AutoModel")
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                file.write('{"model_type": "llama"}')
            self.assertEqual(profile_hf.check_folder(folder, False), "AutoModelForCausalLM")

    def test_shapes_come_from_the_data_files(self):
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("needs PyYAML")
        shapes = profile_hf.read_shapes("qwen2_5_7b")
        self.assertEqual((shapes["model_type"], shapes["hidden_size"]), ("qwen2", 3584))

    def test_what_is_missing_is_said_in_one_line(self):
        for arguments, words in ((["--device", "cpu", "--graphs"], "CUDA graphs need"), (["--image", "/no/such.png"], "is no file"),
                                 (["--image", __file__], "--image needs --model FOLDER"),
                                 (["--device", "cpu", "--model", "/no/such/folder"], r"(\w+ is missing; pip install|.*is no folder)")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([sys.executable, os.path.join(HERE, "profile_hf.py"), *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, "^profile_hf.py: .*" + words + ".*\n$")


if __name__ == "__main__":
    unittest.main()
