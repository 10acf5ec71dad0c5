# SPDX-License-Identifier: Apache-2.0
"""Handles, and structures of sessions and profiles, for ctypes."""
from __future__ import annotations

from ctypes import Structure, _Pointer, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64
from typing import Callable

from ._native_constants import LLMPERF_ITERATION_CLASSES


class llmperf_commands(Structure):
    """Opaque."""


class llmperf_config(Structure):
    """Opaque."""


class llmperf_model(Structure):
    """Opaque."""


class llmperf_job(Structure):
    """Opaque."""


class llmperf_hardware(Structure):
    """Opaque."""


class llmperf_counters(Structure):
    """Opaque."""


class llmperf_profile(Structure):
    """Opaque."""


class llmperf_session(Structure):
    """Opaque."""


class llmperf_ledger(Structure):
    """Counts of expected, received and lost records."""


class llmperf_region_stats(Structure):
    """One region path on one device."""


class llmperf_kernel_stats(Structure):
    """One kernel (or memcpy, memset) of one region on one device."""


class llmperf_operator_stats(Structure):
    """All regions with one label in one stage."""


class llmperf_capture_stats(Structure):
    """Work of CUDA graphs by launch region and capture region."""


class llmperf_metric_stats(Structure):
    """One named metric of a region, or of a kernel in it."""


class llmperf_iteration(Structure):
    """One iteration: a call of a stage."""


class llmperf_window_stats(Structure):
    """A triggered window of tier light."""


class llmperf_window_kernel(Structure):
    """One kernel, memcpy or memset of a triggered window."""


class llmperf_stage(Structure):
    """Speed and roofline bounds of a stage in one process on one GPU."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("path", c_char_p),
        ("label", c_char_p),
        ("region", c_uint64),
        ("process_id", c_uint32),
        ("device", c_int32),
        ("calls", c_uint64),
        ("tokens", c_uint64),
        ("wall_ms", c_double),
        ("call_ms", c_double),
        ("tokens_per_s", c_double),
        ("mfu", c_double),
        ("mbu", c_double),
        ("busy_ms", c_double),
        ("busy_low_ms", c_double),
        ("busy_high_ms", c_double),
        ("idle_ms", c_double),
        ("floor_ms", c_double),
        ("floor_ratio", c_double),
        ("wall_ratio", c_double),
        ("collected", c_double),
        ("rate", c_uint32),
        ("bound", c_uint32),
        ("confidence", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_advice(Structure):
    """One recommendation."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("text", c_char_p),
        ("stage", c_char_p),
        ("saving_ms", c_double),
        ("evidence", c_uint64),
        ("severity", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_evidence(Structure):
    """A number or word that a recommendation is based on."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("unit", c_char_p),
        ("text", c_char_p),
        ("value", c_double),
    ]


class llmperf_gpu(Structure):
    """A GPU that the program could use."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("uuid", c_char_p),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("memory_bytes", c_uint64),
    ]


class llmperf_iteration_stats(Structure):
    """Statistics of one quantity over the iterations of a stage."""


# Structures for rows of a profile. The loaded library defines their members.
ROWS = [
    llmperf_ledger,
    llmperf_region_stats,
    llmperf_kernel_stats,
    llmperf_operator_stats,
    llmperf_capture_stats,
    llmperf_metric_stats,
    llmperf_iteration,
    llmperf_window_stats,
    llmperf_window_kernel,
    llmperf_iteration_stats,
]

_ROW_TYPES = {
    "text": c_char_p,
    "u32": c_uint32,
    "i32": c_int32,
    "u64": c_uint64,
    "f64": c_double,
    "classes": c_double * LLMPERF_ITERATION_CLASSES,
}


def lay_out_rows(layout_of: Callable[[str], str]) -> None:
    """Set the members of the row structures. layout_of: llmperf_row_layout()."""
    for row in ROWS:
        if hasattr(row, "_fields_"):
            continue
        members = [member.split(":") for member in layout_of(row.__name__).split()]
        members.sort(key=lambda member: int(member[2]))
        row._fields_ = [("struct_size", c_size_t),
                        *((name, _ROW_TYPES[kind]) for name, kind, _ in members)]


class llmperf_trace_summary(Structure):
    """Contents of a trace."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kernels", c_uint64),
        ("memory", c_uint64),
        ("graphs", c_uint64),
        ("regions", c_uint64),
        ("launches", c_uint64),
        ("samples", c_uint64),
        ("first_ns", c_uint64),
        ("last_ns", c_uint64),
        ("missing_from_ns", c_uint64),
        ("cut", c_uint32),
        ("runs", c_uint32),
        ("runs_missing", c_uint32),
        ("clocks", c_uint32),
        ("runs_untimed", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_import_options(Structure):
    """Options of an import."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("run_id", c_char_p),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("config", c_char_p),
    ]


class llmperf_region_attr(Structure):
    """A region and its work; 0: not given."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("label", c_char_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("tokens", c_uint64),
        ("sequences", c_uint64),
        ("context", c_uint64),
        ("flops", c_uint64),
        ("bytes", c_uint64),
    ]


class llmperf_counter_info(Structure):
    """One quantity or metric of a chip."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("quantity", c_char_p),
        ("metric", c_char_p),
        ("unit", c_char_p),
        ("about", c_char_p),
        ("reason", c_char_p),
    ]


class const_config_p(_Pointer):  # type: ignore[type-arg]
    """const llmperf_config *"""

    _type_ = llmperf_config


class llmperf_session_options(Structure):
    """Options of a session; 0: default."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("tier", c_uint32),
        ("device_source", c_uint32),
        ("run_dir", c_char_p),
        ("out_dir", c_char_p),
        ("run_id", c_char_p),
        ("config_path", c_char_p),
        ("model_path", c_char_p),
        ("device_path", c_char_p),
        ("record_path", c_char_p),
        ("counters", c_char_p),
        ("ring_bytes", c_uint64),
        ("pool_bytes", c_uint64),
        ("overhead_budget_permille", c_uint32),
        ("keep_trace", c_uint32),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("sample_regions", c_char_p),
        ("rules", c_char_p),
        ("trace_bytes", c_uint64),
        ("tensor_parallel", c_uint32),
        ("expert_parallel", c_uint32),
        ("config", const_config_p),
        ("path_limit", c_uint64),
        ("settings", c_char_p),
    ]


class llmperf_option_info(Structure):
    """An entry of the option table."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("key", c_char_p),
        ("other_key", c_char_p),
        ("variable", c_char_p),
        ("field", c_char_p),
        ("word", c_char_p),
        ("value", c_char_p),
        ("commands", c_char_p),
        ("choices", c_char_p),
        ("least", c_int64),
        ("most", c_int64),
        ("unit", c_char_p),
        ("usual", c_char_p),
        ("help", c_char_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_session_state(Structure):
    """State of a session."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("verdict", c_uint32),
        ("state", c_uint32),
        ("updated_ns", c_uint64),
        ("verdict_ns", c_uint64),
        ("verdict_changes", c_uint64),
        ("deaths", c_uint64),
        ("launches_expected", c_uint64),
        ("graph_launches", c_uint64),
        ("kernels_seen", c_uint64),
        ("records_dropped", c_uint64),
        ("regions_dropped", c_uint64),
        ("launches_pending", c_uint64),
        ("windows", c_uint64),
        ("window_open", c_uint32),
        ("detached", c_uint32),
        ("silent_ms", c_double),
    ]


class llmperf_input(Structure):
    """An input of the program."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("path", c_char_p),
        ("name", c_char_p),
        ("kind", c_char_p),
        ("size_bytes", c_uint64),
        ("tokens", c_uint64),
        ("width", c_uint32),
        ("height", c_uint32),
    ]
