# SPDX-License-Identifier: Apache-2.0
"""Export of traces for Perfetto, Chrome and readers of nsys."""
from __future__ import annotations

from ctypes import byref
from typing import Any, Dict

from . import _native
from ._library import AnyPath, check, library, path_bytes
from ._profile import row_of

_FORMATS = {
    "perfetto": _native.LLMPERF_TRACE_PERFETTO,
    "chrome": _native.LLMPERF_TRACE_CHROME,
    "nsys-sqlite": _native.LLMPERF_TRACE_NSYS_SQLITE,
}


def export_trace(source: AnyPath, path: AnyPath, format: str = "perfetto") -> Dict[str, Any]:
    """Write the trace of a session in the format of another program.

    source: run directory (or its run.llmperf) of a session with keep_trace, or a recording.
    path: file to create or replace.
    format: "perfetto" (ui.perfetto.dev), "chrome" (JSON, as from torch.profiler) or
        "nsys-sqlite" (the tables of nsys export).

    Returns the contents of the trace: numbers of kernels, memory (memcpys and memsets), graphs,
    regions, launches and samples; first_ns and last_ns on the clock of the events;
    missing_from_ns (time from which events are missing; 0: none are) and cut (1: the recording
    has no end).
    """
    if format not in _FORMATS:
        raise ValueError(f"format {format!r} is not one of {', '.join(_FORMATS)}")
    summary = _native.sized(_native.llmperf_trace_summary)
    check(library().llmperf_trace_export(path_bytes(source), _FORMATS[format], path_bytes(path),
                                         byref(summary)))
    return row_of(summary)
