# SPDX-License-Identifier: Apache-2.0
"""Plugins for vLLM and SGLang with stand-ins for their interfaces: neither can be installed without a GPU."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from types import SimpleNamespace
from typing import Any, Dict, List
from unittest import mock

import support

import llmperf
from llmperf import _patch, sglang, vllm
from llmperf._library import library

CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 512}
# As much of vllm.v1.worker.gpu_worker (0.33) and sglang.srt.model_executor.model_runner (0.5.23) as the plugins use.
VLLM = """
class Worker:
    def __init__(self, vllm_config, model): self.vllm_config, self.model, self.model_runner = vllm_config, model, self
    def get_model(self): return self.model
    def load_model(self, *, load_dummy_weights=False): pass
    def compile_or_warm_up_model(self): return self.model()
    def execute_model(self, scheduler_output): return self.model()
    def sample_tokens(self, grammar_output): return grammar_output
"""
SGLANG = """
def get_parallel(): return type("Parallel", (), {"tp_size": 2})
class ModelRunner:
    def __init__(self, model_config, model, is_draft_worker=False):
        self.model_config, self.model, self.is_draft_worker = model_config, model, is_draft_worker
    def load_model(self): pass
    def forward(self, forward_batch, skip_attn_backend_init=None, pp_proxy_tensors=None): return self.model()
"""


class Config:
    def to_dict(self) -> Dict[str, Any]:
        return dict(CONFIG)


def modules() -> Any:
    """A model with one layer, as much of torch.nn.Module as hooks need."""
    pre: List[Any] = []
    post: List[Any] = []
    layer = SimpleNamespace(register_forward_pre_hook=pre.append,
                            register_forward_hook=lambda hook, always_call: post.append(hook))

    def forward() -> str:
        for hook in [*pre, *post]:
            hook(layer, ())
        return "output"

    forward.named_modules = lambda: [("", None), ("model.layers.0", layer)]  # type: ignore[attr-defined]
    return forward


def scheduled(new: Any = (), cached: Any = (), resumed: Any = ()) -> Any:
    """SchedulerOutput of vLLM. new: (id, cached tokens, new tokens); cached: the same and output tokens so far."""
    counts = {one[0]: one[2] for one in [*new, *cached]}
    return SimpleNamespace(
        scheduled_new_reqs=[SimpleNamespace(req_id=name, num_computed_tokens=past) for name, past, _ in new],
        scheduled_cached_reqs=SimpleNamespace(
            req_ids=[one[0] for one in cached], num_computed_tokens=[one[1] for one in cached],
            num_output_tokens=[one[3] for one in cached], resumed_req_ids=set(resumed)),
        num_scheduled_tokens=counts, total_num_scheduled_tokens=sum(counts.values()))


def batch(mode: str, size: int, lengths: int, new: Any = None, each: Any = None) -> Any:
    """ForwardBatch of SGLang."""
    return SimpleNamespace(forward_mode=SimpleNamespace(name=mode), batch_size=size, seq_lens_sum=lengths, extend_num_tokens=new,
                           extend_seq_lens_cpu=each, input_ids=SimpleNamespace(shape=(size * 4,)))


class Engines(support.TestCase):
    def setUp(self) -> None:
        super().setUp()
        for patch in (mock.patch.dict(os.environ, {"LLMPERF_OUT": "x"}), mock.patch.object(sys, "path", [str(self.folder), *sys.path]),
                      mock.patch.object(sys, "meta_path", list(sys.meta_path)), mock.patch.dict(sys.modules)):
            patch.start()
            self.addCleanup(patch.stop)
        os.environ.pop("LLMPERF_RUN_DIR", None)

    def module(self, name: str, text: str) -> Any:
        """Import a stand-in after the plugin waits for it."""
        path = self.folder.joinpath(*name.split("."))
        path.parent.mkdir(parents=True)
        path.with_suffix(".py").write_text(text, encoding="utf-8")
        __import__(name)
        return sys.modules[name]

    def rows(self, work: Any) -> Dict[str, Any]:
        os.environ.pop("LLMPERF_OUT")  # for the session
        library().llmperf_model_announce(None, None, 0)  # of another test
        with llmperf.Session(tier="regions", source="none") as session:
            work()
        self.notes = session.profile.notes
        self.regions = {row["path"]: row for row in session.profile.regions()}
        return {path: tuple(row[key] for key in ("instances", "tokens", "sequences", "context"))
                for path, row in self.regions.items() if path.count("/") == 0}

    def test_steps_of_vllm_are_stages(self) -> None:
        vllm.register()
        worker_module = self.module("vllm.v1.worker.gpu_worker", VLLM)
        config = SimpleNamespace(model_config=SimpleNamespace(hf_config=Config(), dtype="torch.bfloat16"),
                                 parallel_config=SimpleNamespace(tensor_parallel_size=1), compilation_config=SimpleNamespace(mode=0))
        worker = worker_module.Worker(config, modules())

        def work() -> None:
            worker.load_model(load_dummy_weights=False)
            worker.compile_or_warm_up_model()
            self.assertEqual(worker.execute_model(scheduled(new=[("a", 0, 100), ("b", 64, 36)])), "output")
            worker.execute_model(scheduled(new=[("c", 0, 50)], cached=[("a", 100, 1, 1), ("b", 100, 1, 1)]))
            worker.execute_model(scheduled(cached=[("c", 50, 10, 0), ("a", 101, 1, 2)]))  # the next chunk of a prompt
            worker.execute_model(scheduled(cached=[("a", 0, 102, 2)], resumed=["a"]))  # a preempted request
            worker.execute_model(scheduled(cached=[("a", 102, 1, 3), ("b", 101, 4, 2)]))  # with draft tokens
            worker.execute_model(scheduled())
            self.assertEqual(worker.sample_tokens(grammar_output="mask"), "mask")

        rows = self.rows(work)
        self.assertEqual({path: rows[path] for path in rows if rows[path][1]}, {
            "LLM@prefill": (2, 136 + 102, 3, 200 + 102), "LLM@mixed_step": (2, 52 + 11, 5, 252 + 162),
            "LLM@decode_step": (1, 5, 2, 208)})
        self.assertEqual(set(rows) - set(("LLM@prefill", "LLM@mixed_step", "LLM@decode_step")),
                         {"LLM@load_model", "LLM@warm_up", "LLM@sample", "LLM@layer00"})
        self.assertIn("LLM@warm_up/LLM@layer00", self.regions)
        self.assertGreater(self.regions["LLM@decode_step"]["flops"], 0)
        self.assertTrue(any(note.startswith("Model: from the configuration of vLLM") for note in self.notes), self.notes)

    def test_code_that_vllm_compiles_gets_no_hooks(self) -> None:
        vllm.register()
        worker_module = self.module("vllm.v1.worker.gpu_worker", VLLM)
        config = SimpleNamespace(model_config=SimpleNamespace(hf_config=Config()), compilation_config=SimpleNamespace(mode=3),
                                 parallel_config=SimpleNamespace(tensor_parallel_size=2))
        worker = worker_module.Worker(config, modules())
        rows = self.rows(lambda: [worker.load_model(), worker.execute_model(scheduled(new=[("a", 0, 8)]))])
        self.assertEqual(sorted(self.regions), ["LLM@load_model", "LLM@prefill"])
        self.assertEqual(rows["LLM@prefill"], (1, 8, 1, 8))

    def test_forward_passes_of_sglang_are_stages(self) -> None:
        module = self.module("sglang.srt.model_executor.model_runner", SGLANG)
        sglang.register()  # after the import
        model_config = SimpleNamespace(hf_config=Config(), dtype="torch.bfloat16")
        runner = module.ModelRunner(model_config, modules())
        draft = module.ModelRunner(model_config, modules(), is_draft_worker=True)

        def work() -> None:
            for one in (runner, draft):
                one.load_model()
            for forward in (batch("EXTEND", 2, 150, 120), batch("MIXED", 3, 300, 52, [50, 1, 1]), batch("DECODE", 3, 303),
                            batch("TARGET_VERIFY", 2, 200), batch("IDLE", 0, 0)):
                self.assertEqual(runner.forward(forward, pp_proxy_tensors=None), "output")
            draft.forward(batch("DECODE", 2, 100))

        rows = self.rows(work)
        self.assertEqual({path: rows[path] for path in rows if rows[path][1]}, {
            "LLM@prefill": (1, 120, 2, 150), "LLM@mixed_step": (1, 52, 3, 300), "LLM@decode_step": (2, 3 + 8, 5, 503)})
        self.assertEqual(rows["LLM@draft"][0], 1)
        self.assertIn("LLM@decode_step/LLM@layer00", self.regions)
        self.assertTrue(any(note.startswith("Model: from the configuration of SGLang") for note in self.notes), self.notes)

    def test_an_engine_with_another_interface_runs_without_hooks(self) -> None:
        vllm.register()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module = self.module("vllm.v1.worker.gpu_worker", VLLM.replace("sample_tokens", "sample"))
            worker = module.Worker(None, modules())
            self.assertEqual(worker.execute_model("another kind of output"), "output")
        self.assertEqual(len(caught), 2)
        self.assertIn("no hooks in vllm.v1.worker.gpu_worker: AttributeError", str(caught[0].message))

    def test_an_error_of_the_engine_passes_through_and_closes_the_stage(self) -> None:
        vllm.register()
        module = self.module("vllm.v1.worker.gpu_worker", VLLM)

        def fail() -> None:
            raise KeyError("on purpose")

        worker = module.Worker(None, fail)

        def work() -> None:
            for _ in range(2):
                with self.assertRaises(KeyError):
                    worker.execute_model(scheduled(new=[("a", 0, 8)]))

        self.assertEqual(self.rows(work), {"LLM@prefill": (2, 16, 2, 16)})

    def test_without_a_profiler_the_engine_stays_as_it_is(self) -> None:
        os.environ.pop("LLMPERF_OUT")
        vllm.register()
        sglang.register()
        module = self.module("vllm.v1.worker.gpu_worker", VLLM)
        self.assertFalse(hasattr(module.Worker.execute_model, "_llmperf"))
        self.assertEqual([finder for finder in sys.meta_path if isinstance(finder, _patch._Finder)], [])

    def test_the_plugins_are_entry_points_of_the_package(self) -> None:
        text = (support.SOURCE / "bindings/python/pyproject.toml").read_text(encoding="utf-8")
        for group, engine in (("vllm.general_plugins", vllm), ("sglang.srt.plugins", sglang)):
            self.assertIn(f'[project.entry-points."{group}"]\nllmperf = "{engine.__name__}:register"\n', text)

    def test_spawned_processes_get_the_hooks(self) -> None:
        program = self.folder / "serve.py"
        program.write_text(textwrap.dedent("""
            import multiprocessing, sys

            def work():
                import vllm.v1.worker.gpu_worker as module
                sys.exit(0 if hasattr(module.Worker.execute_model, "_llmperf") else 5)

            if __name__ == "__main__":
                child = multiprocessing.get_context("spawn").Process(target=work)
                child.start()
                child.join()
                sys.exit(child.exitcode + (sys.argv[1:] != ["--model", "x"]))
            """), encoding="utf-8")
        path = self.folder / "vllm/v1/worker"
        path.mkdir(parents=True)
        (path / "gpu_worker.py").write_text(VLLM, encoding="utf-8")
        done = subprocess.run([sys.executable, "-m", "llmperf", "exec", str(program), "--model", "x"],
                              env=dict(os.environ, LLMPERF_OUT=str(self.folder / "o")), check=False)
        self.assertEqual(done.returncode, 0)

    def test_the_program_is_found_among_the_words_of_run(self) -> None:
        from llmperf.__main__ import wrapped

        run = [sys.executable, "-m", "llmperf", "exec"]
        for words, expected in ((["--tier", "light", "serve.py", "--port", "1"], ["--tier", "light", "--", *run, "serve.py", "--port", "1"]),
                                (["-m", "sglang.launch_server"], ["--", *run, "-m", "sglang.launch_server"]),
                                (["--out", "o", "--", "bin/vllm", "serve"], ["--out", "o", "--", *run, "bin/vllm", "serve"])):
            self.assertEqual(wrapped(words), expected)
        for words in ([], ["--tier", "light"], ["--"]):
            with self.assertRaises(SystemExit), mock.patch("sys.stderr", SimpleNamespace(write=lambda text: None)):
                wrapped(words)


if __name__ == "__main__":
    support.main()
