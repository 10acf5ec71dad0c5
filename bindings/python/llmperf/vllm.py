# SPDX-License-Identifier: Apache-2.0
"""Hooks for vLLM (V1 engine, both of its model runners): a plugin of the entry point group
vllm.general_plugins, which vLLM loads in each of its processes.

Each step of a worker becomes LLM@prefill, LLM@decode_step, or LLM@mixed_step if it has requests of both
kinds, with tokens, sequences and context. Sampling is LLM@sample. Without torch.compile
(enforce_eager, or compilation mode 0) layers, attention and so on are operators, also in CUDA graphs.
"""
from __future__ import annotations

from typing import Any, Optional

from . import _patch
from ._modules import mark_modules
from ._region import Region, region
from .transformers import announce, describe


def stage_of(_worker: Any, scheduled: Any, *_: Any, **__: Any) -> Optional[Region]:
    """The stage of a SchedulerOutput."""
    cached, counts = scheduled.scheduled_cached_reqs, scheduled.num_scheduled_tokens
    first = [request.req_id for request in scheduled.scheduled_new_reqs]
    past = sum(request.num_computed_tokens for request in scheduled.scheduled_new_reqs)
    prefills = len(first)
    for name, computed, made in zip(cached.req_ids, cached.num_computed_tokens, cached.num_output_tokens):
        past += computed
        # A preempted request computes its prompt and its outputs again.
        prefills += made == 0 or name in cached.resumed_req_ids
    tokens = int(scheduled.total_num_scheduled_tokens)
    return _patch.step(prefills, len(counts) - prefills, tokens, past + tokens)


def _loaded(worker: Any) -> None:
    config = worker.vllm_config
    model = config.model_config
    announce(describe(model.hf_config, getattr(model, "dtype", None)), "the configuration of vLLM (llmperf.vllm)",
             int(config.parallel_config.tensor_parallel_size))
    if getattr(config.compilation_config, "mode", None) == 0:  # else torch.compile traces the hooks
        mark_modules(worker.model_runner.get_model())


def _patch_worker(module: Any) -> None:
    _patch.around(module.Worker, "execute_model", stage_of)
    _patch.around(module.Worker, "sample_tokens", lambda *_, **__: region("LLM@sample"))
    _patch.around(module.Worker, "compile_or_warm_up_model", lambda *_, **__: region("warm_up"))
    _patch.around(module.Worker, "load_model", lambda *_, **__: region("load_model"), _loaded)


def register() -> None:
    """Entry point of the plugin. Without `llmperf run` or LLMPERF_OUT it does nothing."""
    if _patch.wanted():
        _patch.when_imported("vllm.v1.worker.gpu_worker", _patch_worker)
