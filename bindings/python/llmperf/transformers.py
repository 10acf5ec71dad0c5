# SPDX-License-Identifier: Apache-2.0
"""Hooks for models of transformers: stages, operators and the model's own description.

    model = transformers.AutoModelForCausalLM.from_pretrained(...)
    llmperf.transformers.profile(model)
    with llmperf.Session(tier="deep", out="runs") as session:    # not under `llmperf run`
        model.generate(...)
"""
from __future__ import annotations

import functools
import json
import os
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

from . import _patch
from ._library import check, library
from ._modules import mark_modules, traced
from ._region import Region, region

_profiled: "weakref.WeakSet[Any]" = weakref.WeakSet()
_DRAFTS = 32  # most tokens of a pass that verifies drafts; chunks of prompts are longer
_INPUTS = ("decoder_input_ids", "decoder_inputs_embeds", "input_ids", "inputs_embeds")


def announce(config: Mapping[str, Any], origin: str, tensor_parallel: int = 0) -> None:
    """Announce the model of this process by the contents of its config.json, for FLOPs, bytes, MFU
    and MBU. origin: where it was found, for the note in the run. A model that cannot be used leaves
    a note. LlmperfError: LLMPERF_EINVAL, LLMPERF_ENOMEM."""
    text = json.dumps(config, default=str)
    check(library().llmperf_model_announce(text.encode(), origin.encode(), tensor_parallel))


def describe(config: Any, dtype: Any = None, name: str = "") -> Dict[str, Any]:
    """Contents of a config.json from a configuration of transformers.

    dtype: that of the weights in memory, which may not be the one in the configuration."""
    found: Dict[str, Any] = dict(config.to_dict())
    path = str(getattr(config, "name_or_path", "") or "").rstrip("/")
    if path or name:
        found["name"] = os.path.basename(path) or name
    if dtype is not None and not found.get("quantization_config"):
        for place in (found, *(found[key] for key in ("text_config", "vision_config")
                               if isinstance(found.get(key), dict))):
            place.pop("torch_dtype", None)
            place["dtype"] = str(dtype).replace("torch.", "")
    return found


class Hooks:
    """The hooks of a model, from profile(). `remove()` or the end of a `with` block takes them away."""

    generating = 0  # calls of generate() of all models

    def __init__(self, model: Any, stages: bool, modules: bool) -> None:
        base = self._base = getattr(model, "_orig_mod", model)  # of torch.compile(model)
        _profiled.add(base)
        self._handles: List[Any] = mark_modules(base) if modules else []
        self._replaced: List[Tuple[Any, str]] = []
        self._is_compiling = traced()
        self._generates = bool(getattr(base, "can_generate", lambda: hasattr(base, "generate"))())
        self._depth = self._generating = self._passes = 0
        self._stage: Optional[Region] = None
        self._decoding: Optional[Region] = None
        self._cache, self._length = 0, 0
        if not stages:
            return
        for one in {id(model): model, id(base): base}.values():
            self._handles.append(one.register_forward_pre_hook(self._before, with_kwargs=True))
            self._handles.append(one.register_forward_hook(self._after, always_call=True))
        self._replace(base, "generate", self._around_generate)
        self._replace(base, "get_compiled_call", self._around_compiled)

    def remove(self) -> None:
        """Take the hooks away. Call it when the model is not running."""
        if self._base in _profiled:
            _profiled.discard(self._base)
            check(library().llmperf_model_announce(None, None, 0))
        for handle in self._handles:
            handle.remove()
        for owner, name in self._replaced:
            delattr(owner, name)
        self._handles, self._replaced = [], []

    def __enter__(self) -> "Hooks":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.remove()

    def _replace(self, owner: Any, name: str, around: Callable[[Any], Any]) -> None:
        original = getattr(owner, name, None)
        if callable(original):
            setattr(owner, name, around(original))
            self._replaced.append((owner, name))

    def _around_generate(self, original: Any) -> Any:
        def generate(*args: Any, **kwargs: Any) -> Any:
            if kwargs.get("past_key_values") is None:
                self._cache = 0  # a static cache is used again from its start
            self._generating += 1
            Hooks.generating += 1
            self._passes = 0
            try:
                return original(*args, **kwargs)
            finally:
                self._generating -= 1
                Hooks.generating -= 1
                self._end_decoding()

        return generate

    def _around_compiled(self, original: Any) -> Any:
        """generate() with a static cache compiles the model with its hooks: the stage goes around."""
        def get_compiled_call(*args: Any, **kwargs: Any) -> Any:
            compiled = original(*args, **kwargs)

            def call(*inputs: Any, **named: Any) -> Any:
                self._before(None, inputs, named)
                try:
                    return compiled(*inputs, **named)
                finally:
                    self._after()

            return call

        return get_compiled_call

    def _before(self, _model: Any, args: Any, kwargs: Any) -> None:
        if self._is_compiling():
            return
        self._depth += 1
        if self._depth > 1:
            return
        given = [kwargs[name] for name in _INPUTS if kwargs.get(name) is not None]
        shape = tuple(getattr((given or args or [None])[0], "shape", ()))
        if self._generates and len(shape) >= 2:
            self._begin(int(shape[0]), int(shape[1]), kwargs)
        else:
            self._open(region("LLM@forward", kind="stage", sequences=int(shape[0]) if shape else None,
                              tokens=int(shape[0] * shape[1]) if len(shape) == 2 else None))

    def _begin(self, batch: int, count: int, kwargs: Any) -> None:
        if "cu_seq_lens_q" in kwargs:  # generate_batch(): _batch_stage() has its requests
            return
        past = self._past(kwargs, count)
        self._length = past + count
        context = batch * self._length
        verifies = self._generating and self._passes > 0 and count <= _DRAFTS
        self._passes += 1
        if past == 0 or (count > 1 and not verifies):
            self._end_decoding()
            self._open(region("LLM@prefill", tokens=batch * count, sequences=batch, context=context))
            return
        if self._generating and self._decoding is None:
            self._decoding = region("LLM@decode_all").__enter__()
        self._open(region("LLM@decode_step", tokens=batch * count, sequences=batch, context=context))

    def _past(self, kwargs: Any, count: int) -> int:
        """Tokens per sequence in the KV cache. The length of a static cache is on the device, and
        reading it would wait for the device, so it is counted here: outside of generate(), several
        tokens begin a new prompt."""
        cache = next((kwargs[name] for name in ("past_key_values", "cache_params")
                      if kwargs.get(name) is not None), None)
        if cache is None:
            return 0
        get = getattr(cache, "get_seq_length", None)
        length = get() if get else None
        known, self._cache = self._cache == id(cache), id(cache)
        if isinstance(length, int):
            return length
        return self._length if known and (self._generating or count == 1) else 0

    def _open(self, stage: Region) -> None:
        self._stage = stage.__enter__()

    def _after(self, *_: Any) -> None:
        if self._is_compiling():
            return
        self._depth -= 1
        if self._depth == 0 and self._stage is not None:
            self._stage.__exit__()
            self._stage = None

    def _end_decoding(self) -> None:
        if self._decoding is not None:
            self._decoding.__exit__()
            self._decoding = None


def profile(model: Any, *, stages: bool = True, modules: bool = True) -> Hooks:
    """Mark the forward passes of a model as stages and its modules as operators, and announce its
    configuration, from which FLOPs, bytes, MFU, MBU and roofline bounds are computed.

    It works with generate(), with a loop of your own, with static caches and torch.compile. Under
    `llmperf run` nothing else is needed; else start a Session, before or after.

    model: a model of transformers, also the result of torch.compile(model). One thread at a time
        may run it.
    stages: a forward pass of several tokens, or with an empty KV cache, is LLM@prefill; one of a
        single token, or in generate() of up to 32 that verify drafts, is LLM@decode_step. Both have tokens, sequences and context (KV length), with
        padding. Decode steps of generate() are in LLM@decode_all. Models that cannot generate have
        LLM@forward.
    modules: layers, attention, mlp, norms and so on are operators, as in mark_modules().

    Hooks cost some 1 us for each module and call, which delays eager launches; modules=False leaves
    the stages. Nothing is recorded without a session.
    """
    hooks = Hooks(model, stages, modules)
    base = hooks._base
    if stages:
        _patch.when_imported(_BATCHING, _patch_batching)
    if getattr(base, "config", None) is not None:
        kind = type(base).__name__
        announce(describe(base.config, getattr(base, "dtype", None), kind),
                 f"the configuration of {kind} (llmperf.transformers)",
                 int(getattr(base, "_tp_size", None) or 0))
    return hooks


_BATCHING = "transformers.generation.continuous_batching.continuous_api"


def _once(model: Any) -> None:
    if model not in _profiled:
        profile(model)


def _batch_stage(processor: Any, model: Any, *_: Any) -> Optional[Region]:
    """A step of generate_batch()."""
    _once(model)
    ios = processor.inputs_and_outputs
    ios = ios.io_pairs[ios.current_pair] if hasattr(ios, "io_pairs") else ios  # asynchronous
    batch = getattr(ios, "host_io", ios).requests_in_batch  # host_io: newer than 5.17
    prompts = sum(one.state.generated_len() == 0 for one in batch)
    return _patch.step(prompts, len(batch) - prompts, sum(one.query_length for one in batch),
                       sum(one.state.position_offset for one in batch))


def _patch_batching(module: Any) -> None:
    _patch.around(module.ContinuousBatchProcessor, "_generation_step", _batch_stage)


def _patch_generation(module: Any) -> None:
    original = module.GenerationMixin.generate

    @functools.wraps(original)
    def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
        if model in _profiled or Hooks.generating:  # the draft model of another
            return original(model, *args, **kwargs)
        _patch.carefully("no hooks in the model", profile, model)
        return model.generate(*args, **kwargs) if model in _profiled else original(model, *args, **kwargs)

    module.GenerationMixin.generate = generate


def register() -> None:
    """Profile each model at its first generate() or generate_batch(): `python -m llmperf run`."""
    if _patch.wanted():
        _patch.when_imported("transformers.generation.utils", _patch_generation)
        _patch.when_imported(_BATCHING, _patch_batching)
