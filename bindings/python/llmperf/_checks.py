# SPDX-License-Identifier: Apache-2.0
"""Functions that need no session."""
from __future__ import annotations

import json
from ctypes import byref
from typing import Any, Dict, Optional

from . import _native
from ._library import AnyPath, check, library, path_bytes, take_text, text_of


def version() -> str:
    """Version of the library that is loaded, for example "0.1.0"."""
    return text_of(library().llmperf_version()) or ""


def config_dir() -> Optional[str]:
    """Folder with the data files of the library (models, hardware, schemas); None: not found."""
    return text_of(library().llmperf_config_dir())


def doctor() -> Dict[str, Any]:
    """Check driver, GPUs, CUPTI and tools of this machine; the answer says how to fix problems."""
    text = _native.text()
    status = library().llmperf_machine_check(_native.LLMPERF_TEXT_JSON, byref(text))
    if not text:
        check(status)
        return {}
    # LLMPERF_ENODEVICE is a result, not a failure: the text has the reason.
    return dict(json.loads(take_text(text)))


def validate(path: AnyPath, schema_path: Optional[AnyPath] = None) -> None:
    """Check a metrics.json or region report; LlmperfError names the first wrong member.

    schema_path: JSON Schema; None: the one in the library's data files.
    """
    schema = None if schema_path is None else path_bytes(schema_path)
    check(library().llmperf_validate(path_bytes(path), schema))
