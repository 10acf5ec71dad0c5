# SPDX-License-Identifier: Apache-2.0
"""Comparing runs."""
from __future__ import annotations

import json
from ctypes import POINTER, byref, cast
from typing import Any, Dict, Sequence, Union

from . import _native
from ._library import check, library, take_text
from ._profile import Profile

Side = Union[Profile, Sequence[Profile]]


def _handles(side: Side) -> Any:
    profiles = [side] if isinstance(side, Profile) else side
    return (POINTER(_native.llmperf_profile) * len(profiles))(*[profile._pointer() for profile in profiles])


FORMATS = {"md": _native.LLMPERF_TEXT_PLAIN, "json": _native.LLMPERF_TEXT_JSON, "html": _native.LLMPERF_TEXT_HTML}


def compare_document(base: Side, new: Side, threshold_percent: float = 5.0, form: str = "html") -> str:
    """Compare runs, as a text: "md", "json", or "html", a self-contained page."""
    if form not in FORMATS:
        raise ValueError(f"form is one of {', '.join(FORMATS)}, not {form!r}")
    sides = _handles(base), _handles(new)
    text = _native.text()
    status = library().llmperf_runs_compare(
        cast(sides[0], _native.const_profile_pp), len(sides[0]),
        cast(sides[1], _native.const_profile_pp), len(sides[1]), threshold_percent,
        FORMATS[form], byref(text), None)
    # Not comparable is a result, not a failure: the text has the reason.
    if status != _native.LLMPERF_ENOTCOMPARABLE:
        check(status)
    return take_text(text)


def compare(base: Side, new: Side, threshold_percent: float = 5.0) -> Dict[str, Any]:
    """Compare runs: the JSON of `llmperf compare` as a dict.

    base, new: a profile, or a sequence of repeated runs.
    ["verdict"] is "regression", "no regression" or "not comparable". ["reason"] says why runs are
    not comparable; otherwise it is None. docs/reference/metrics.md explains ["rows"].
    """
    return dict(json.loads(compare_document(base, new, threshold_percent, "json")))
