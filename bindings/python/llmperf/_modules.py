# SPDX-License-Identifier: Apache-2.0
"""Regions around the modules of a PyTorch model."""
from __future__ import annotations

import re
import sys
from typing import Any, Callable, List, Optional

from ._region import region

# Last part of a module's name: the region that its forward pass is.
_OPERATORS = (
    (r"(self_)?attn|attention", "attention"),
    (r"mlp|feed_forward|ffn", "mlp"),
    (r"experts|block_sparse_moe|moe", "moe"),
    (r"gate|router", "router"),
    (r"embed_tokens|wte", "embedding"),
    (r"lm_head", "lm_head"),
    (r".*norm\d*|ln_\w+", "norm"),
    (r"vision_tower|vision_model|visual|sam_model", "LLM@vision"),
)
_LISTS = ("layers", "h", "blocks")


def label_of(name: str) -> Optional[str]:
    """Region of the module with this name; None: its kernels belong to the module around it."""
    parts = name.split(".")
    if parts[-1].isdigit():
        return f"layer{int(parts[-1]):02d}" if len(parts) > 1 and parts[-2] in _LISTS else None
    return next((label for pattern, label in _OPERATORS if re.fullmatch(pattern, parts[-1])), None)


def traced() -> Callable[[], bool]:
    """A function that says whether torch.compile is tracing its caller. What a hook does in that
    case would become a part of the compiled program, so hooks do nothing then."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)  # PyTorch 2.1 and newer
    return getattr(compiler, "is_compiling", lambda: False)


def mark_modules(model: Any) -> List[Any]:
    """Open a region around each forward pass of the modules with a known name: layers, attention,
    mlp, norms, embedding, experts, router, lm_head, vision tower.

    Hooks also run while a CUDA graph is captured, so the kernels of its replays carry these names.
    In code that torch.compile has compiled they do not run: its kernels belong to the region around
    the compiled call. Returns the handles of the hooks; remove() of each takes it away.
    """
    is_compiling = traced()
    handles = []
    for name, module in model.named_modules():
        label = label_of(name) if name else None
        if label is None:
            continue
        around = region(label)

        def enter(*_: Any, around: Any = around) -> None:
            if not is_compiling():
                around.__enter__()

        def leave(*_: Any, around: Any = around) -> None:
            if not is_compiling():
                around.__exit__()

        handles.append(module.register_forward_pre_hook(enter))
        handles.append(module.register_forward_hook(leave, always_call=True))
    return handles
