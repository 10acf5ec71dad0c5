#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of profile_hf.py needs neither torch nor a GPU: names of regions, the stages around an engine, its options."""
import argparse
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


class Ids:
    def __init__(self, *shape):
        self.shape = shape


class Module:
    """As much of a torch module as hooks need."""

    def __init__(self):
        self.before, self.behind = [], []

    def register_forward_pre_hook(self, hook, with_kwargs):
        assert with_kwargs
        self.before.append(hook)
        return self

    def register_forward_hook(self, hook, always_call):
        assert always_call
        self.behind.append(hook)
        return self

    def remove(self):
        (self.before or self.behind).clear()

    def __call__(self, *args, **kwargs):
        for hook in self.before:
            hook(self, args, kwargs)
        for hook in self.behind:
            hook(self, args, None)

    def infer(self, _tokenizer, **_options):
        for ids in (Ids(1, 20), Ids(1, 1), Ids(1, 1), Ids(1, 30), Ids(1, 1)):
            self(input_ids=ids)


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
        self.assertEqual(found["LLM@prefill"]["context"], 2 * 3 * 10)
        self.assertEqual(found["LLM@decode_all"]["tokens"], 2 * 3 * 4)
        self.assertEqual((found[step]["instances"], found[step]["tokens"]), (8, 24))
        self.assertEqual(found[step]["context"], 2 * 3 * (11 + 12 + 13 + 14))
        self.assertEqual(found[step + "/LLM@layer00/LLM@attention"]["instances"], 8)

    def test_stages_of_a_foreign_generate_are_told_apart(self):
        model = Module()
        arguments = argparse.Namespace(prompt="", image="page.png")
        with llmperf.Session(tier="regions", source="none") as session:
            profile_hf.read_image(model, None, arguments)
        found = {region["path"]: region for region in session.profile.regions()}
        step = "LLM@decode_all/LLM@decode_step"
        self.assertEqual((found["LLM@prefill"]["instances"], found["LLM@prefill"]["tokens"]), (2, 50))
        self.assertEqual((found["LLM@decode_all"]["instances"], found[step]["instances"]), (2, 3))
        self.assertEqual(found[step]["context"], 21 + 22 + 31)
        self.assertEqual((model.before, model.behind), ([], []))

    def test_a_model_that_the_analysis_does_not_know_is_profiled_without_it(self):
        arguments = argparse.Namespace(tier="regions", out=None, device="cpu")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                file.write('{"model_type": "a_new_family", "hidden_size": 8}')
            with profile_hf.running_session(arguments, folder) as session, llmperf.prefill(tokens=3):
                pass
        self.assertIn("no FLOPs and bytes of the model", printed.getvalue())
        self.assertEqual([(row["path"], row["tokens"]) for row in session.profile.regions()], [("LLM@prefill", 3)])

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
        shapes, path = profile_hf.read_shapes("qwen2_5_7b")
        self.assertEqual((shapes["model_type"], shapes["hidden_size"]), ("qwen2", 3584))
        self.assertTrue(os.path.isfile(path))

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
