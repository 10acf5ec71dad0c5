# SPDX-License-Identifier: Apache-2.0
"""Regions around methods of engines, put there when the engine's module is imported."""
from __future__ import annotations

import functools
import importlib.abc
import os
import sys
import warnings
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from ._library import available
from ._region import Amount, Region, region

Patch = Callable[[Any], None]
_waiting: Dict[str, List[Patch]] = {}


def wanted() -> bool:
    """Is this process profiled, or may it be later? Otherwise engines stay as they are."""
    names = ("LLMPERF_RUN_DIR", "LLMPERF_OUT", "LLMPERF_ATTACH")
    return any(os.environ.get(name) for name in names) and available()


def carefully(what: str, function: Callable[..., Any], *args: Any) -> Any:
    """The result; None after an exception, which must not reach the engine. It is reported once."""
    try:
        return function(*args)
    except Exception as error:  # interfaces of other versions of an engine
        warnings.warn(f"llmperf: {what}: {type(error).__name__}: {error}; is this version of the engine "
                      "known to docs/how-to?", RuntimeWarning, stacklevel=2)
        return None


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing itself: it patches modules that are waited for after others have loaded them."""

    def find_spec(self, name: str, path: Any, target: Optional[ModuleType] = None) -> Any:
        if name not in _waiting:
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in specs if spec is not None), None)
        loader: Any = spec and spec.loader
        load: Any = getattr(loader, "exec_module", None)

        def exec_module(module: ModuleType) -> None:
            load(module)
            _apply(module)

        if load is not None and not isinstance(loader, type):
            loader.exec_module = exec_module
        return spec


def _apply(module: ModuleType) -> None:
    for patch in _waiting.pop(module.__name__, []):
        carefully(f"no hooks in {module.__name__}", patch, module)


def when_imported(name: str, patch: Patch) -> None:
    """Call patch(module) at the end of the import of a module, or now."""
    _waiting.setdefault(name, []).append(patch)
    if name in sys.modules:
        _apply(sys.modules[name])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def around(owner: Any, name: str, stage_of: Callable[..., Optional[Region]],
           then: Optional[Patch] = None) -> None:
    """Put the region that stage_of(self, ...) returns around each call of a method; None: no region.

    then: called with the object after each call."""
    original = getattr(owner, name)
    if hasattr(original, "_llmperf"):
        return

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        stage = carefully(f"no region around {name}()", functools.partial(stage_of, self, *args, **kwargs))
        if stage is None:
            result = original(self, *args, **kwargs)
        else:
            with stage:
                result = original(self, *args, **kwargs)
        if then is not None:
            carefully(f"after {name}()", then, self)
        return result

    call._llmperf = True  # type: ignore[attr-defined]
    setattr(owner, name, call)


def step(prefills: int, decodes: int, tokens: Amount, context: Amount) -> Optional[Region]:
    """The stage of an engine's step: numbers of requests in prefill and in decode, new tokens, and KV
    lengths with the new tokens, summed. None: a step without work."""
    if prefills + decodes == 0:
        return None
    label = "LLM@mixed_step" if prefills and decodes else "LLM@prefill" if prefills else "LLM@decode_step"
    return region(label, kind="stage", tokens=tokens, sequences=prefills + decodes, context=context)
