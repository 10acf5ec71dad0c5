# SPDX-License-Identifier: Apache-2.0
"""Matrix products of engines on an H100 (tests/data/h100/README.md): each shape that a kernel is given is right, and at least 95 % of the time of
kernels of class GEMM has one."""
from __future__ import annotations

from typing import Any, Dict, Set, Tuple

import support

support.need_library()

RECORDINGS = support.DATA / "h100"
Product = Tuple[str, int, int, int, int]  # operator, batch, m, n, k


def shapes(name: str, model: str) -> Any:
    return support.replay(RECORDINGS / f"{name}.llmrec", model_path=model).to_dict()["kernel_shapes"]


def products(rows: Any) -> Dict[str, Set[Product]]:
    found: Dict[str, Set[Product]] = {}
    for row in rows:
        if row["m"] is not None:
            stage = next(label for label in ("vision", "prefill", "decode_step") if "LLM@" + label in row["region"])
            found.setdefault(stage, set()).add((row["model_operator"], row["batch"], row["m"], row["n"], row["k"]))
    return found


Attention = Tuple[str, int, int, int, float, float, float]  # stage, heads, kv_heads, head_dim, sequences, query_length, kv_length


def attention(rows: Any) -> Set[Attention]:
    stages = ("vision", "prefill", "decode_step")
    return {(next(label for label in stages if "LLM@" + label in row["region"]), row["heads"], row["kv_heads"], row["head_dim"],
             row["sequences"], row["query_length"], row["kv_length"]) for row in rows if row["head_dim"] is not None}


class Shapes(support.TestCase):
    def check_share(self, rows: Any) -> None:
        known = sum(row["total_ms"] for row in rows if row["m"] is not None)
        unknown = sum(row["total_ms"] for row in rows if row["shape_reason"])
        self.assertGreater(known / (known + unknown), 0.95)
        for row in rows:
            self.assertTrue(row["m"] is None or row["shape_reason"] is None)
            if row["m"] is not None:
                self.assertAlmostEqual(row["tflops"], 2e-9 * row["m"] * row["n"] * row["k"] * row["batch"] / row["mean_ms"], 6)

    def test_mini_engine_with_llama(self) -> None:
        """Batch 8, prompts of 512: fused weights; attention of the prefill is two batches of products."""
        rows = shapes("llama_b8", "llama_3_2_1b")
        self.check_share(rows)
        self.assertEqual(products(rows), {
            "decode_step": {("qkv", 1, 8, 3072, 2048), ("o_proj", 1, 8, 2048, 2048), ("mlp", 1, 8, 16384, 2048),
                            ("mlp", 1, 8, 2048, 8192), ("lm_head", 1, 8, 128256, 2048)},
            "prefill": {("qkv", 1, 4096, 3072, 2048), ("o_proj", 1, 4096, 2048, 2048), ("mlp", 1, 4096, 16384, 2048),
                        ("mlp", 1, 4096, 2048, 8192), ("lm_head", 1, 8, 128256, 2048),
                        ("attention", 256, 512, 512, 64), ("attention", 256, 512, 64, 512)}})
        # Contexts of 513 to 520 tokens.
        self.assertEqual(attention(rows), {("decode_step", 32, 8, 64, 8, 1, 516.5)})

    def test_transformers_with_llama(self) -> None:
        """Batch 4, prompts of 512, eager: nothing is fused, and the prefill computes the logits of all positions. The kernel of the
        query computes the output projection, too: the shapes are equal."""
        rows = shapes("transformers", "llama_3_2_1b")
        self.check_share(rows)
        for stage, m in (("decode_step", 4), ("prefill", 2048)):
            found = {product[1:] for product in products(rows)[stage]}
            self.assertEqual(found, {(1, m, 2048, 2048), (1, m, 512, 2048), (1, m, 8192, 2048), (1, m, 2048, 8192), (1, m, 128256, 2048)})
        self.assertEqual(attention(rows), {("decode_step", 32, 8, 64, 4, 1, 516.5), ("prefill", 32, 8, 64, 4, 512, 512)})
        for row in rows:
            if row["head_dim"] is not None:
                pairs = row["sequences"] * (row["kv_length"] if row["query_length"] == 1 else 512 * 513 / 2)
                self.assertAlmostEqual(row["tflops"], 4e-9 * 64 * 32 * pairs / row["mean_ms"], 6)
                size = 2 * 64 * row["sequences"] * (2 * 32 * row["query_length"] + 2 * 8 * row["kv_length"])
                self.assertAlmostEqual(row["gbs"], 1e-6 * size / row["mean_ms"], 6)

    def test_mini_engine_with_deepseek_ocr_in_graphs(self) -> None:
        """One page in base mode: SAM with windows of 14 x 14 patches padded to 25 of them, CLIP with 257 tokens, 283 tokens of prompt. One
        kernel computes qkv and o_proj of SAM's windows: it has no shape."""
        rows = shapes("dsocr_graphs", "deepseek_ocr")
        self.check_share(rows)
        found = products(rows)
        self.assertEqual(found["decode_step"], {
            ("qkv", 1, 1, 3840, 1280), ("o_proj", 1, 1, 1280, 1280), ("mlp", 1, 1, 13696, 1280), ("mlp", 1, 1, 1280, 6848),
            ("router", 1, 1, 64, 1280), ("shared_experts", 1, 1, 3584, 1280), ("shared_experts", 1, 1, 1280, 1792),
            ("lm_head", 1, 1, 129280, 1280)})
        self.assertEqual(found["prefill"], {
            ("qkv", 1, 283, 3840, 1280), ("attention", 10, 283, 283, 128), ("attention", 10, 283, 128, 283), ("o_proj", 1, 283, 1280, 1280),
            ("mlp", 1, 283, 13696, 1280), ("mlp", 1, 283, 1280, 6848), ("router", 1, 283, 64, 1280), ("shared_experts", 1, 283, 3584, 1280),
            ("shared_experts", 1, 283, 1280, 1792), ("lm_head", 1, 1, 129280, 1280)})
        self.assertEqual(attention(rows), {("decode_step", 10, 10, 128, 1, 1, 287.5)})
        self.assertEqual(found["vision"], {
            ("attention", 300, 196, 196, 64), ("attention", 300, 196, 64, 196), ("mlp", 1, 4096, 3072, 768), ("mlp", 1, 4096, 768, 3072),
            ("qkv", 1, 4096, 2304, 768), ("attention", 12, 4096, 4096, 64), ("attention", 12, 4096, 64, 4096), ("o_proj", 1, 4096, 768, 768),
            ("qkv", 1, 257, 3072, 1024), ("attention", 16, 257, 257, 64), ("attention", 16, 257, 64, 257), ("o_proj", 1, 257, 1024, 1024),
            ("mlp", 1, 257, 4096, 1024), ("mlp", 1, 257, 1024, 4096), ("projector", 1, 256, 1280, 2048)})


if __name__ == "__main__":
    support.main()
