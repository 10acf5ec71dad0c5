#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of profile_hf.py needs neither torch nor a GPU: names of regions, the stages around an engine, its options."""
import os
import subprocess
import sys
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
    def test_modules_are_named_by_what_they_are(self):
        for name, label in (("model.layers.3", "layer03"), ("model.layers.3.self_attn", "attention"),
                            ("model.layers.11.mlp", "mlp"), ("model.layers.0.input_layernorm", "norm"), ("lm_head", "lm_head"),
                            ("model.embed_tokens", "embedding"), ("model.layers.1.mlp.experts", "moe"),
                            ("model.layers.1.mlp.gate", "router"), ("model.norm", "norm"), ("transformer.h.2", "layer02"),
                            ("model.vision_tower", "LLM@vision"), ("model.layers.1.mlp.experts.5", None),
                            ("model.layers.3.self_attn.q_proj", None), ("model", None)):
            with self.subTest(name=name):
                self.assertEqual(profile_hf.label_of(name), label)

    def test_generation_is_one_prefill_and_its_steps(self):
        with llmperf.Session(tier="regions", source="none") as session:
            for _ in range(2):
                profile_hf.generate(Engine(), batch=3, prompt=10, count=4)
        found = {region["path"]: region for region in session.profile.regions()}
        step = "LLM@decode_all/LLM@decode_step"
        self.assertEqual(found["LLM@prefill"]["tokens"], 2 * 3 * 10)
        self.assertEqual(found["LLM@prefill"]["context"], 2 * 3 * 55)
        self.assertEqual(found["LLM@decode_all"]["tokens"], 2 * 3 * 4)
        self.assertEqual((found[step]["instances"], found[step]["tokens"]), (8, 24))
        self.assertEqual(found[step]["context"], 2 * 3 * (11 + 12 + 13 + 14))
        self.assertEqual(found[step + "/LLM@layer00/LLM@attention"]["instances"], 8)

    def test_shapes_come_from_the_data_files(self):
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("needs PyYAML")
        shapes, path = profile_hf.read_shapes("qwen2_5_7b")
        self.assertEqual((shapes["model_type"], shapes["hidden_size"]), ("qwen2", 3584))
        self.assertTrue(os.path.isfile(path))

    def test_what_is_missing_is_said_in_one_line(self):
        done = subprocess.run([sys.executable, os.path.join(HERE, "profile_hf.py"), "--device", "cpu", "--graphs"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"^profile_hf.py: (\w+ is missing; pip install|CUDA graphs need)")


if __name__ == "__main__":
    unittest.main()
