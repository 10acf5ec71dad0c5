#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dsocr_profile with models of a few kilobytes on the CPU, and its recorded run. DSOCR_PROFILE names the program."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = os.environ["DSOCR_PROFILE"]
SOURCE = os.environ["LLMPERF_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "examples/data"))

import golden  # noqa: E402  tables of a run

MODEL = """model_type: deepseek_vl_v2
torch_dtype: bfloat16
language_config: {model_type: deepseek_v2, use_mla: false, hidden_size: 64, intermediate_size: 96,
  moe_intermediate_size: 32, first_k_dense_replace: 1, n_routed_experts: 8, n_shared_experts: 2,
  num_experts_per_tok: 3, num_hidden_layers: 2, topk_method: greedy, num_attention_heads: 2,
  num_key_value_heads: 2, head_dim: 32, vocab_size: 128}
projector_config: {input_dim: 32, n_embed: 64, model_type: mlp_projector, projector_type: linear}
vision_config:
  image_size: 256
  model_type: vision
  width:
    clip-l-14-224: {heads: 1, image_size: 56, layers: 1, patch_size: 14, width: 16}
    sam_vit_b: {downsample_channels: [16, 16], global_attn_indexes: [], heads: 1, layers: 1,
      width: 16, patch_size: 16, window_size: 3}
"""
DENSE = """name: tiny
model_type: llama
torch_dtype: bfloat16
hidden_size: 64
intermediate_size: 96
num_hidden_layers: 4
num_attention_heads: 4
num_key_value_heads: 2
vocab_size: 128
"""


STEPS = r"\nDecode step: ([\d.]+) ms mean, ([\d.]+) ms median, ([\d.]+) ms p99, of %d\.\n"


def png(width, height):
    """A grey picture."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x80\x80\x80" * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class DsocrProfile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="llmperf-dsocr-")
        self.addCleanup(self.folder.cleanup)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("LLMPERF_OUT", "LLMPERF_TIER")}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def run_program(self, *arguments, code=0, said=None):
        done = subprocess.run([PROGRAM, *arguments], env=self.environment, cwd=self.folder.name, timeout=300, input=said,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_small(self, *arguments, model=MODEL, code=0, said=None):
        return self.run_program("--device", "cpu", "--model", self.write("tiny.yaml", model), "--out", self.path("out"),
                                "--warmup", "0", "--new-tokens", "3", "--prompt-tokens", "5", *arguments, code=code, said=said)

    def metrics(self, done):
        with open(os.path.join(done.stdout.splitlines()[-1], "metrics.json"), encoding="utf-8") as file:
            return json.load(file)

    def regions(self, done):
        return {region["path"]: region for region in self.metrics(done)["regions"]}

    def text(self, done, name):
        with open(os.path.join(done.stdout.splitlines()[-1], name), encoding="utf-8") as file:
            return file.read()

    def prompt_tokens(self, done):
        return [int(number) for number in re.findall(r"prompt_tokens: (\d+)", self.text(done, "inputs.yaml"))]

    def test_stages_are_counted_and_nested(self):
        found = self.regions(self.run_small("--mode", "tiny", "--repeats", "2", "dataset.samples=1"))
        prefill, step = "LLM@prefill", "LLM@decode_all/LLM@decode_step"
        self.assertEqual({path: found[path]["instances"] for path in
                          (prefill, prefill + "/LLM@vision", "LLM@decode_all", step, step + "/LLM@layer01/LLM@moe",
                           step + "/LLM@layer00/LLM@mlp", prefill + "/LLM@layer01/LLM@router", prefill + "/LLM@sample",
                           prefill + "/LLM@vision/LLM@clip/LLM@layer00/LLM@attention")},
                         {prefill: 2, prefill + "/LLM@vision": 2, "LLM@decode_all": 2, step: 6,
                          step + "/LLM@layer01/LLM@moe": 6, step + "/LLM@layer00/LLM@mlp": 6,
                          prefill + "/LLM@layer01/LLM@router": 2, prefill + "/LLM@sample": 2,
                          prefill + "/LLM@vision/LLM@clip/LLM@layer00/LLM@attention": 2})
        self.assertEqual(found[prefill]["tokens"], 2 * (73 + 5))
        self.assertEqual(found[step]["tokens"], 6)

    def test_parts_of_a_stage_add_up_to_its_work(self):
        found = self.regions(self.run_small("--mode", "tiny", "--repeats", "1", "dataset.samples=1"))
        for stage in ("LLM@prefill/LLM@vision", "LLM@decode_all/LLM@decode_step"):
            def below(path):
                return [r for r in found.values() if r["parent"] == path and r["flops"]]

            def leaves(path):
                return sum(leaves(r["path"]) or r["flops"] for r in below(path))
            self.assertLess(abs(leaves(stage) / found[stage]["flops"] - 1), 1e-4, stage)
        vision = found["LLM@prefill/LLM@vision"]["flops"]
        self.assertGreater(found["LLM@prefill"]["flops"], vision)

    def planned(self, *arguments):
        lines = self.run_small("--plan", *arguments).stdout.splitlines()
        return [[cell.strip() for cell in line.split("|")[1:4]] for line in lines if line.startswith("|")][2:]

    def test_modes_give_the_published_numbers_of_positions(self):
        for mode, positions in (("tiny", 73), ("small", 111), ("base", 273), ("large", 421)):
            with self.subTest(mode=mode):
                rows = self.planned("--mode", mode, "--inputs", self.write("list", "900x700\n"))
                self.assertEqual(rows, [["900x700", "", str(positions + 5)]])

    def test_gundam_tiles_follow_the_shape_of_the_page(self):
        # Tall, wide, no larger than a tile, square: a large image takes the larger of two grids that fit as well.
        shapes = self.write("list", "# pages\n700x1400 tall\n1280x640\n\n640x640\n700x700\n2000x2000\n1240x1754\n")
        rows = self.planned("--mode", "gundam", "--inputs", shapes)
        self.assertEqual(rows, [["700x1400", "2 x 1", str(20 * 11 + 273 + 5)], ["1280x640", "1 x 2", str(10 * 21 + 273 + 5)],
                                ["640x640", "", str(273 + 5)], ["700x700", "2 x 2", str(20 * 21 + 273 + 5)],
                                ["2000x2000", "3 x 3", str(30 * 31 + 273 + 5)], ["1240x1754", "3 x 2", str(30 * 21 + 273 + 5)]])

    def test_tiles_are_run_in_front_of_the_whole(self):
        done = self.run_small("--mode", "gundam", "--repeats", "1", "--new-tokens", "1", "--inputs",
                              self.write("list", "700x1400 tall\n"))
        self.assertEqual(self.prompt_tokens(done), [20 * 11 + 273 + 5])
        self.assertIn('category: "tall"', self.text(done, "inputs.yaml"))
        self.assertEqual(self.regions(done)["LLM@prefill/LLM@vision/LLM@sam"]["instances"], 2)

    def test_images_are_read_and_named_in_full(self):
        self.write("grey.png", png(40, 30))
        done = self.run_small("--mode", "tiny", "--repeats", "1", "--inputs", self.write("list", "grey.png mixed\n"))
        inputs = self.text(done, "inputs.yaml")
        self.assertIn(f'path: "{os.path.realpath(self.path("grey.png"))}"', inputs)
        self.assertIn("width: 40\n    height: 30\n", inputs)

    def test_data_set_of_a_folder_takes_what_its_patterns_find(self):
        os.mkdir(self.path("pages"))
        self.write("pages/b.png", png(8, 8))
        self.write("pages/a.png", png(9, 9))
        self.write("pages/c.txt", "no picture")
        self.write("set.yaml", f"root: {self.path('pages')}\nsubset: ''\nfallback_patterns: ['*.png']\n"
                               "sampling: {epochs: 2, samples: 0, random: false, seed: 0}\n")
        done = self.run_small("--mode", "tiny", "--repeats", "1", "--dataset", self.path("set.yaml"))
        self.assertEqual(re.findall(r'name: "(.*)"', self.text(done, "inputs.yaml")), ["a.png", "b.png", "a.png", "b.png"])

    def test_samples_are_drawn_from_a_seed(self):
        def names(seed):
            return [row[0] for row in self.planned("dataset.random=true", "dataset.samples=5", "dataset.epochs=2", f"dataset.seed={seed}")]
        self.assertEqual(len(names(1)), 10)
        self.assertEqual(names(1), names(1))
        self.assertNotEqual(names(1), names(2))

    def test_the_default_set_has_pages_of_all_kinds(self):
        with open(os.path.join(SOURCE, "conf/dataset/pages.yaml"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(10 <= text.count("width:") <= 20)
        for category in ("text-heavy", "mixed", "image-rich"):
            self.assertIn(category, text)

    def test_repeats_have_mean_and_deviation(self):
        done = self.run_small("--repeats", "3", model=DENSE)
        table = self.text(done, "repeats.md")
        self.assertRegex(table, r"\| prompt \| \| 5 \| [\d.]+ ± [\d.]+ \| [\d.]+ ± [\d.]+ \|")
        self.assertRegex(table, r"Repeats of decode are (within|[\d.]+ % apart)")
        self.assertIn("Repeats", done.stdout)

    def test_tier_none_runs_without_session_and_regions(self):
        # LLMPERF_TIER would not know "none", and a file of this name would be in its way.
        self.environment.update(LLMPERF_OUT=self.path("out"), LLMPERF_TIER="deep", LLMPERF_LOG="debug")
        done = self.run_small("--tier", "none", "--repeats", "2", "--streams", "2", model=DENSE)
        self.assertRegex(done.stdout, STEPS % 12)
        self.assertNotIn("ledger", done.stdout)
        self.assertEqual((os.listdir(self.path("out")), done.stderr), ([], ""))

    def test_each_tier_times_its_decode_steps(self):
        for tier in ("regions", "light", "deep"):
            with self.subTest(tier=tier):
                done = self.run_small("--tier", tier, "--repeats", "2", model=DENSE)
                mean, median, last = map(float, re.search(STEPS % 6, done.stdout).groups())
                self.assertTrue(0 < median <= last and 0 < mean <= last, (mean, median, last))
                self.assertIn("Decode step: ", self.text(done, "repeats.md"))

    def test_repeats_wait_for_their_turn(self):
        turn = r"^turn: ([\d.]+) us mean, ([\d.]+) us median$"
        done = self.run_small("--tier", "none", "--repeats", "3", "--turns", model=DENSE, said="\n\nmore\n")
        turns = [float(mean) for mean, _ in re.findall(turn, done.stdout, re.M)]
        self.assertEqual(len(turns), 3)
        self.assertLess(done.stdout.index("\nready\n"), done.stdout.index("\nturn: "))
        mean = float(re.search(STEPS % 9, done.stdout).group(1))
        self.assertAlmostEqual(sum(turns) / 3e3, mean, delta=1e-4)
        done = self.run_small("--tier", "none", "--repeats", "3", "--turns", model=DENSE, said="\n", code=3)
        self.assertEqual(len(re.findall(turn, done.stdout, re.M)), 1)
        self.assertIn("standard input ended before each repeat had its turn", done.stderr)
        self.run_small("--ranks", "2", "--turns", model=DENSE, said="", code=2)

    def test_times_of_steps_add_up_to_the_decode(self):
        done = self.run_small("--repeats", "1", "--new-tokens", "50", model=DENSE)
        step = float(re.search(STEPS % 50, done.stdout).group(1))
        rate = float(re.search(r"\| ([\d.]+) \|$", done.stdout, re.M).group(1))
        self.assertTrue(0 < step * 50 <= 50e3 / rate * 1.001, (step, rate))

    def test_fewer_layers_are_stated_and_counted(self):
        done = self.run_small("--layers", "2", "--repeats", "1", model=DENSE)
        self.assertIn("layers: 2 of 4", done.stdout)
        self.assertTrue(self.metrics(done)["model"]["path"].endswith("tiny_2_layers.yaml"))
        self.assertNotIn("LLM@prefill/LLM@layer02", self.regions(done))

    def test_batches_count_all_sequences(self):
        found = self.regions(self.run_small("--batch", "2", "--repeats", "1", model=DENSE))
        self.assertEqual(found["LLM@prefill"]["tokens"], 10)
        self.assertEqual(found["LLM@decode_all"]["tokens"], 6)

    def test_ranks_share_each_layer_and_their_runs_become_one(self):
        done = self.run_small("--ranks", "2", "--repeats", "2", model=DENSE)
        self.assertIn("ranks: 2, each with a share of every layer", done.stdout)
        folders = re.findall(r"^rank \d: (.*)$", done.stdout, re.M)
        self.assertEqual(len(set(folders)), 2)
        with open(os.path.join(folders[1], "metrics.json"), encoding="utf-8") as file:
            share = {region["path"]: region for region in json.load(file)["regions"]}
        alone = self.regions(self.run_small("--repeats", "2", model=DENSE))
        step = "LLM@decode_all/LLM@decode_step"
        self.assertEqual(2 * share[step]["flops"], alone[step]["flops"])
        self.assertTrue(alone[step]["bytes"] / 2 < share[step]["bytes"] < alone[step]["bytes"])
        self.assertEqual(share[step + "/LLM@layer03/LLM@all_reduce"]["instances"], 2 * 6)
        self.assertEqual(share["LLM@prefill/LLM@all_gather"]["instances"], 2)
        self.assertNotIn(step + "/LLM@layer03/LLM@all_reduce", alone)
        merged = [region for region in self.metrics(done)["regions"] if region["path"] == step]
        self.assertEqual([(r["instances"], r["flops"]) for r in merged], 2 * [(6, share[step]["flops"])])
        self.assertEqual(len({r["process_id"] for r in merged}), 2)

    def test_ranks_run_without_sessions_too(self):
        done = self.run_small("--ranks", "2", "--tier", "none", "--repeats", "1", model=DENSE)
        self.assertRegex(done.stdout, STEPS % 3)
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_ranks_may_be_copies(self):
        done = self.run_small("--ranks", "2", "--parallel", "replicas", "--repeats", "1", model=DENSE)
        self.assertIn("copies of the model", done.stdout)
        paths = {region["path"] for region in self.metrics(done)["regions"]}
        self.assertIn("LLM@prefill/LLM@lm_head", paths)
        self.assertFalse([path for path in paths if "all_reduce" in path])

    def test_a_rank_that_fails_ends_the_others(self):
        done = self.run_program("--device", "cpu", "--ranks", "2", "--out", self.path("out"), "--model",
                                self.write("tiny.yaml", DENSE.replace("heads: 2", "heads: 1")), code=2)
        self.assertIn("do not divide the KV heads, 1", done.stderr)
        self.assertIn("the others were ended", done.stderr)

    def test_streams_run_pages_at_once(self):
        shapes = self.write("list", "640x640\n500x500\n300x300\n")
        done = self.run_small("--streams", "2", "--mode", "tiny", "--repeats", "2", "--inputs", shapes)
        found = self.regions(done)
        self.assertEqual((found["LLM@prefill"]["instances"], found["LLM@decode_all"]["tokens"]), (6, 18))
        self.assertIn("streams: 2 at once, 6 requests", done.stdout)
        self.assertEqual(self.prompt_tokens(done), 3 * [73 + 5])

    def test_each_stream_has_a_prompt(self):
        found = self.regions(self.run_small("--streams", "3", "--repeats", "1", model=DENSE))
        self.assertEqual(found["LLM@prefill"]["instances"], 3)

    def test_options_may_be_written_as_key_and_value(self):
        done = self.run_program("device=cpu", "model=" + self.write("m.yaml", DENSE), "out=" + self.path("o"), "repeats=1",
                                "new_tokens=2", "prompt_tokens=4", "warmup=1", "seed=3")
        config = self.text(done, "config.yaml")
        for line in ("new_tokens: 2", "repeats: 1", "warmup: 1", "prompt_tokens: 4", "seed: 3", "graphs: false"):
            self.assertIn(f"  {line}\n", config)

    def test_a_network_of_convolutions_runs_too(self):
        done = self.run_program("device=cpu", "model=dummy_shallow_resnet", "out=" + self.path("o"), "repeats=2",
                                "new_tokens=2", "warmup=0")
        self.assertEqual(self.regions(done)["LLM@forward"]["instances"], 4)

    def test_without_a_gpu_it_says_what_can_be_done(self):
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        done = self.run_program("model=" + self.write("m.yaml", DENSE), "out=" + self.path("o"), code=3)
        self.assertIn("--recorded", done.stderr)

    def test_wrong_options_are_usage_errors(self):
        for arguments in (["--mode", "huge"], ["--repeats", "0"], ["--new-tokens", "x"], ["--tier", "full"], ["word"],
                          ["--nonsense", "1"], ["nonsense=1"], ["--mode"], ["--device", "tpu"], ["graphs=maybe"], ["--layers", "-1"],
                          ["--ranks", "9"], ["--streams", "2", "--ranks", "2"], ["--ranks", "2", "--record", "r"], ["rank=0"], ["--parallel", "pipeline"],
                          ["--tier", "none", "--record", "r"]):
            with self.subTest(arguments=arguments):
                self.assertIn("--help", self.run_program(*arguments, code=2).stderr)

    def test_wrong_files_are_named(self):
        for arguments, words in ((["model=no_such_model"], "no_such_model"), (["model=gpt2"], "gpt2"),
                                 (["inputs=/nonexistent/list"], "/nonexistent/list"), (["dataset=nothing"], "nothing"),
                                 (["inputs=" + self.write("l", "no.png\n")], "no.png"),
                                 (["inputs=" + self.write("m", self.write("text.png", "text") + "\n")], "text.png")):
            with self.subTest(arguments=arguments):
                done = self.run_program(*arguments, "out=" + self.path("o"), code=3)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def recorded(self, *arguments):
        return self.metrics(self.run_program(*arguments, "--out", self.path("out")))

    def assert_golden(self, metrics, name):
        with open(os.path.join(SOURCE, "examples/data", name + ".golden.json"), encoding="utf-8") as file:
            self.assertEqual(golden.tables(metrics), json.load(file))

    def test_the_recorded_run_gives_the_tables_of_the_live_one(self):
        metrics = self.recorded("--recorded")
        self.assert_golden(metrics, "dsocr_base")
        self.assertEqual(metrics["hardware"]["name"], "NVIDIA H200")

    def test_the_recorded_run_with_graphs_gives_the_tables_of_the_live_one(self):
        path = os.path.join(SOURCE, "examples/data/dsocr_base_graphs.llmrec")
        metrics = self.recorded("--recorded=" + path)
        self.assert_golden(metrics, "dsocr_base_graphs")
        captured = {kernel["captured_in"] for kernel in metrics["kernels"]
                    if kernel["region"] == "LLM@decode_all/LLM@decode_step" and "memcpy" not in kernel["kernel_name"]}
        self.assertIn("LLM@graph_capture/LLM@layer11/LLM@moe", captured)
        self.assertNotIn(None, captured)

    def test_regions_of_the_recorded_run_add_up(self):
        found = {region["path"]: region for region in self.recorded("--recorded")["regions"]}
        prefill = found["LLM@prefill"]
        parts = sum(r["gpu_busy_ms"] for r in found.values() if r["parent"] == "LLM@prefill")
        self.assertLess(abs(parts / prefill["gpu_busy_ms"] - 1), 0.01)
        self.assertEqual(sum(r["flops"] or 0 for r in found.values() if r["parent"] == "LLM@prefill"), prefill["flops"])
        # Published figures of the shapes: vision of a 1024 x 1024 view, prefill of 283 tokens.
        self.assertEqual(found["LLM@prefill/LLM@vision"]["flops"], 1105467637760)
        self.assertEqual(prefill["flops"] - found["LLM@prefill/LLM@vision"]["flops"], 234077184000)

    def test_a_missing_recording_is_an_environment_error(self):
        self.assertIn("/nonexistent.llmrec", self.run_program("--recorded=/nonexistent.llmrec", code=3).stderr)


if __name__ == "__main__":
    unittest.main()
