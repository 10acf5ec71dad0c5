# SPDX-License-Identifier: Apache-2.0
"""Hooks for PyTorch engines, with stand-ins for the interfaces that they use, and with transformers itself if it is installed."""
from __future__ import annotations

from typing import Any, Dict, List

import support

import llmperf
import llmperf.transformers
from llmperf import _modules

STEP = "LLM@decode_all/LLM@decode_step"
CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 512, "dtype": "float32"}


class Handle:
    def __init__(self, hooks: List[Any], hook: Any) -> None:
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self) -> None:
        self.hooks.remove(self.hook)


class Module:
    """As much of torch.nn.Module as hooks need."""

    def __init__(self, **children: "Module") -> None:
        self.children, self.pre, self.post = children, [], []

    def register_forward_pre_hook(self, hook: Any, with_kwargs: bool = False) -> Handle:
        return Handle(self.pre, (lambda *a: hook(*a)) if with_kwargs else (lambda module, args, kwargs: hook(module, args)))

    def register_forward_hook(self, hook: Any, always_call: bool) -> Handle:
        assert always_call
        return Handle(self.post, hook)

    def named_modules(self, prefix: str = "") -> Any:
        yield prefix, self
        for name, child in self.children.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in self.pre:
            hook(self, args, kwargs)
        try:
            return self.forward(*args, **kwargs)
        finally:
            for hook in self.post:
                hook(self, args, None)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        for child in self.children.values():
            child()


class Ids:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


class Cache:
    """KV cache; a static one keeps its length on the device."""

    def __init__(self, static: bool = False) -> None:
        self.static, self.length = static, 0

    def get_seq_length(self) -> Any:
        return object() if self.static else self.length


class Config:
    name_or_path = "/models/tiny-llama/"

    def to_dict(self) -> Dict[str, Any]:
        return dict(CONFIG)


class Model(Module):
    """As much of a causal model of transformers as hooks need."""

    config, dtype = Config(), "torch.bfloat16"

    def __init__(self) -> None:
        layers = Module(**{str(i): Module(self_attn=Module(), mlp=Module(), input_layernorm=Module()) for i in range(2)})
        super().__init__(model=Module(embed_tokens=Module(), layers=layers, norm=Module()), lm_head=Module())
        self.failing = False

    def can_generate(self) -> bool:
        return True

    def forward(self, input_ids: Any = None, past_key_values: Any = None, **_: Any) -> None:
        if self.failing:
            raise KeyError("on purpose")
        super().forward()
        if past_key_values is not None:
            past_key_values.length += input_ids.shape[1]

    def get_compiled_call(self, _config: Any) -> Any:
        return self.forward  # hooks do nothing in compiled code

    def generate(self, ids: Ids, count: int, static: bool = False, chunk: int = 0) -> None:
        cache = self.__dict__.setdefault("cache", Cache(static)) if static else Cache()
        cache.length = 0
        for at in range(0, ids.shape[1], chunk or ids.shape[1]):
            self(input_ids=Ids(ids.shape[0], min(chunk or ids.shape[1], ids.shape[1] - at)), past_key_values=cache)
        call = self.get_compiled_call(None) if static else self
        for _ in range(count - 1):
            call(input_ids=Ids(ids.shape[0], 1), past_key_values=cache)


class Hooks(support.TestCase):
    def profiled(self, work: Any, model: Any = None, **options: bool) -> Dict[str, Dict[str, Any]]:
        model = model or Model()
        with llmperf.transformers.profile(model, **options), llmperf.Session(tier="regions", source="none") as session:
            work(model)
        self.notes = session.profile.notes
        return {row["path"]: row for row in session.profile.regions()}

    def amounts(self, row: Dict[str, Any]) -> tuple:
        return row["instances"], row["tokens"], row["sequences"], row["context"]

    def test_modules_are_named_by_what_they_are(self) -> None:
        for name, label in (("model.layers.3", "layer03"), ("model.layers.3.self_attn", "attention"),
                            ("model.layers.11.mlp", "mlp"), ("model.layers.0.input_layernorm", "norm"), ("lm_head", "lm_head"),
                            ("model.embed_tokens", "embedding"), ("model.layers.1.mlp.experts", "moe"),
                            ("model.layers.1.mlp.gate", "router"), ("model.norm", "norm"), ("transformer.h.2", "layer02"),
                            ("model.vision_tower", "LLM@vision"), ("model.layers.1.mlp.experts.5", None),
                            ("model.layers.3.self_attn.q_proj", None), ("model", None)):
            with self.subTest(name=name):
                self.assertEqual(_modules.label_of(name), label)

    def test_generate_is_a_prefill_and_its_decode_steps(self) -> None:
        rows = self.profiled(lambda model: [model.generate(Ids(3, 10), 5) for _ in range(2)])
        self.assertEqual(self.amounts(rows["LLM@prefill"]), (2, 60, 6, 60))
        self.assertEqual(self.amounts(rows[STEP]), (8, 24, 24, 2 * 3 * (11 + 12 + 13 + 14)))
        self.assertEqual(rows["LLM@decode_all"]["instances"], 2)
        self.assertEqual(rows[STEP + "/LLM@layer01/LLM@attention"]["instances"], 8)
        self.assertEqual(rows["LLM@prefill/LLM@lm_head"]["instances"], 2)

    def test_a_static_cache_and_compiled_steps_have_the_same_stages(self) -> None:
        rows = self.profiled(lambda model: [model.generate(Ids(3, 10), 5, static=True) for _ in range(2)])
        self.assertEqual(self.amounts(rows["LLM@prefill"]), (2, 60, 6, 60))
        self.assertEqual(self.amounts(rows[STEP]), (8, 24, 24, 2 * 3 * (11 + 12 + 13 + 14)))

    def test_chunks_of_a_prompt_count_what_is_cached(self) -> None:
        for static in (False, True):
            with self.subTest(static=static):
                rows = self.profiled(lambda model, static=static: model.generate(Ids(1, 100), 2, static=static, chunk=40))
                self.assertEqual(self.amounts(rows["LLM@prefill"])[:3], (2, 80, 2))
                self.assertEqual(self.amounts(rows[STEP]), (2, 21, 2, 100 + 101))  # the rest is as short as drafts

    def test_passes_that_verify_drafts_are_decode_steps(self) -> None:
        class Assisted(Model):
            def generate(self, ids: Ids, count: int, static: bool = False, chunk: int = 0) -> None:
                cache = Cache()
                for new in (ids.shape[1], 5, 4):
                    self(input_ids=Ids(1, new), past_key_values=cache)
                    cache.length -= 2 if new < 6 else 0  # rejected

        rows = self.profiled(lambda model: model.generate(Ids(1, 20), 9), Assisted())
        self.assertEqual(self.amounts(rows["LLM@prefill"]), (1, 20, 1, 20))
        self.assertEqual(self.amounts(rows[STEP]), (2, 9, 2, 25 + 27))

    def test_a_loop_of_the_program_has_stages_without_decode_all(self) -> None:
        def work(model: Model) -> None:
            cache = Cache(static=True)
            for _ in range(2):
                model(Ids(2, 7), past_key_values=cache)
                for _ in range(3):
                    model(Ids(2, 1), past_key_values=cache)

        rows = self.profiled(work, modules=False)
        self.assertEqual({path: self.amounts(row) for path, row in rows.items()},
                         {"LLM@prefill": (2, 28, 4, 28), "LLM@decode_step": (6, 12, 12, 2 * 2 * (8 + 9 + 10))})

    def test_an_exception_leaves_no_region_open(self) -> None:
        def work(model: Model) -> None:
            for failing in (True, False):
                model.failing = failing
                try:
                    model.generate(Ids(1, 4), 2)
                except KeyError:
                    self.assertTrue(failing)

        rows = self.profiled(work, modules=False)
        self.assertEqual(sorted(rows), ["LLM@decode_all", STEP, "LLM@prefill"])

    def test_removed_hooks_leave_the_model_as_it_was(self) -> None:
        model = Model()
        before = dict(vars(model))
        llmperf.transformers.profile(model).remove()
        self.assertEqual(vars(model), before)
        self.assertEqual([one for _, one in model.named_modules() if one.pre or one.post], [])

    def test_the_model_describes_itself(self) -> None:
        rows = self.profiled(lambda model: model.generate(Ids(1, 8), 2))
        self.assertTrue(rows["LLM@prefill"]["flops"] > 0 and rows[STEP]["bytes"] > 0)
        self.assertIn("Model: from the configuration of Model (llmperf.transformers); option --model replaces it.", self.notes)
        found = llmperf.transformers.describe(Config(), "torch.bfloat16")
        self.assertEqual((found["name"], found["dtype"]), ("tiny-llama", "bfloat16"))

    def test_a_model_that_does_not_generate_has_a_forward_stage(self) -> None:
        model = Model()
        model.can_generate = lambda: False  # type: ignore[method-assign]
        self.assertEqual(self.amounts(self.profiled(lambda one: one(Ids(2, 5)), model)["LLM@forward"])[:3], (1, 10, 2))

    def test_transformers_itself(self) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            self.skipTest(f"{error.name} is not installed")
        config = transformers.AutoConfig.for_model(**{key: value for key, value in CONFIG.items() if key != "dtype"})
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        compiled = transformers.CompileConfig(backend="eager", mode=None)
        compiled._compile_all_devices = True
        ids = torch.randint(512, (2, 10))
        for options in ({}, {"cache_implementation": "static"}, {"cache_implementation": "static", "compile_config": compiled}):
            with self.subTest(options=options):
                rows = self.profiled(lambda one, options=options: [
                    one.generate(ids, min_new_tokens=5, max_new_tokens=5, do_sample=False, **options) for _ in range(2)], model)
                self.assertEqual(self.amounts(rows["LLM@prefill"]), (2, 40, 4, 40))
                self.assertEqual(self.amounts(rows[STEP]), (8, 16, 16, 2 * 2 * (11 + 12 + 13 + 14)))
                self.assertEqual(rows["LLM@prefill/LLM@layer01/LLM@attention"]["instances"], 2)


if __name__ == "__main__":
    support.main()
