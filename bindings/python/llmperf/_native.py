# SPDX-License-Identifier: Apache-2.0
"""The C API as ctypes sees it. docs/generate.py makes the declarations from the headers."""
from __future__ import annotations

from ctypes import sizeof
from typing import Any

from ._declarations import *  # noqa: F401,F403


def sized(structure: Any) -> Any:
    """A zeroed instance with struct_size set, as the ..._INIT macros give it."""
    return structure(struct_size=sizeof(structure))
