# SPDX-License-Identifier: Apache-2.0
"""Hooks for SGLang: a plugin of the entry point group sglang.srt.plugins, which SGLang loads in each
of its processes.

Each forward pass becomes LLM@prefill, LLM@decode_step, or LLM@mixed_step if it has requests of both
kinds, with tokens, sequences and context; those of a draft model become LLM@draft. Layers, attention
and so on are operators, also in CUDA graphs.
"""
from __future__ import annotations

from typing import Any, Optional

from . import _patch
from ._modules import mark_modules
from ._region import Region, region
from .transformers import announce, describe

_PREFILLS = ("EXTEND", "SPLIT_PREFILL", "DLLM_EXTEND")


def stage_of(runner: Any, batch: Any, *_: Any, **__: Any) -> Optional[Region]:
    """The stage of a ForwardBatch."""
    mode, requests = batch.forward_mode.name, int(batch.batch_size)
    if runner.is_draft_worker:
        return region("LLM@draft")
    context = None if batch.seq_lens_sum is None else int(batch.seq_lens_sum)
    if mode == "DECODE":
        return _patch.step(0, requests, requests, context)
    if mode in ("IDLE", "PREBUILT"):
        return None
    new = int(batch.extend_num_tokens or batch.input_ids.shape[0])
    if mode == "MIXED":  # each of its requests in decode has one new token
        decodes = sum(length == 1 for length in batch.extend_seq_lens_cpu or ())
        return _patch.step(max(requests - decodes, 1), max(decodes, 1), new, context)
    return _patch.step(*((requests, 0) if mode in _PREFILLS else (0, requests)), new, context)


def _loaded(runner: Any) -> None:
    if runner.is_draft_worker:
        return
    model = runner.model_config
    parallel = getattr(_module, "get_parallel", None)
    announce(describe(model.hf_config, getattr(model, "dtype", None)), "the configuration of SGLang (llmperf.sglang)",
             int(parallel().tp_size if parallel else runner.tp_size))
    mark_modules(runner.model)


def _patch_runner(module: Any) -> None:
    global _module
    _module = module
    _patch.around(module.ModelRunner, "forward", stage_of)
    _patch.around(module.ModelRunner, "load_model", lambda *_, **__: region("load_model"), _loaded)


_module: Any = None


def register() -> None:
    """Entry point of the plugin. Without `llmperf run` or LLMPERF_OUT it does nothing."""
    if _patch.wanted():
        _patch.when_imported("sglang.srt.model_executor.model_runner", _patch_runner)
