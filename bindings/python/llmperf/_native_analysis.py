# SPDX-License-Identifier: Apache-2.0
"""Structures of models, hardware and analysis for ctypes."""
from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    _Pointer,
    c_char_p,
    c_double,
    c_int32,
    c_size_t,
    c_uint32,
    c_uint64,
)


class const_uint64_p(_Pointer):  # type: ignore[type-arg]
    """const uint64_t *: an array that the library only reads."""

    _type_ = c_uint64


class llmperf_model_info(Structure):
    """Shape and parameters of a model."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("family", c_char_p),
        ("source", c_char_p),
        ("convention", c_char_p),
        ("parameters_total", c_uint64),
        ("parameters_active", c_uint64),
        ("parameters_embedding", c_uint64),
        ("parameters_lm_head", c_uint64),
        ("parameters_norm", c_uint64),
        ("parameters_attention_in", c_uint64),
        ("parameters_attention_out", c_uint64),
        ("parameters_mlp", c_uint64),
        ("parameters_router", c_uint64),
        ("parameters_shared_experts", c_uint64),
        ("parameters_experts", c_uint64),
        ("parameters_vision", c_uint64),
        ("parameters_other", c_uint64),
        ("weight_bytes", c_uint64),
        ("kv_bytes_per_token", c_uint64),
        ("flops_per_token", c_uint64),
        ("flops_per_pair", c_uint64),
        ("flops_lm_head", c_uint64),
        ("layers", c_uint64),
        ("moe_layers", c_uint64),
        ("window_layers", c_uint64),
        ("window", c_uint64),
        ("hidden", c_uint64),
        ("heads", c_uint64),
        ("kv_heads", c_uint64),
        ("head_dim", c_uint64),
        ("vocabulary", c_uint64),
        ("experts", c_uint64),
        ("experts_per_token", c_uint64),
        ("weight_dtype", c_uint32),
        ("kv_dtype", c_uint32),
        ("has_decoder", c_uint32),
        ("has_vision", c_uint32),
        ("latent_attention", c_uint32),
        ("activation_dtype", c_uint32),
    ]


class llmperf_step(Structure):
    """One step of one replica."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("phase", c_uint32),
        ("logits", c_uint32),
        ("weight_dtype", c_uint32),
        ("activation_dtype", c_uint32),
        ("kv_dtype", c_uint32),
        ("draft_tokens", c_uint32),
        ("acceptance", c_double),
        ("requests", c_uint64),
        ("new_tokens", const_uint64_p),
        ("cached_tokens", const_uint64_p),
        ("logits_rows", const_uint64_p),
        ("padded_tokens", c_uint64),
        ("experts_touched", c_double),
        ("tensor_parallel", c_uint32),
        ("pipeline_parallel", c_uint32),
        ("expert_parallel", c_uint32),
        ("data_parallel", c_uint32),
        ("pipeline_rank", c_uint32),
        ("vision_calls", c_uint32),
        ("images", c_uint64),
        ("image_heights", const_uint64_p),
        ("image_widths", const_uint64_p),
        ("tile_rows", const_uint64_p),
        ("tile_columns", const_uint64_p),
        ("tile_pixels", c_uint64),
    ]


class llmperf_work(Structure):
    """Work of a step on one GPU."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("convention", c_char_p),
        ("requests", c_uint64),
        ("tokens", c_uint64),
        ("positions", c_uint64),
        ("logits_rows", c_uint64),
        ("model_flops", c_uint64),
        ("vector_flops", c_uint64),
        ("hardware_flops", c_uint64),
        ("bytes", c_uint64),
        ("weight_bytes", c_uint64),
        ("kv_read_bytes", c_uint64),
        ("kv_write_bytes", c_uint64),
        ("activation_bytes", c_uint64),
        ("communication_bytes", c_uint64),
        ("model_flops_expected", c_double),
        ("tokens_expected", c_double),
        ("experts_touched", c_double),
    ]


class llmperf_operator_work(Structure):
    """Work of one operator in all layers of one kind."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("layer_kind", c_char_p),
        ("layers", c_uint64),
        ("model_flops", c_uint64),
        ("vector_flops", c_uint64),
        ("hardware_flops", c_uint64),
        ("weight_bytes", c_uint64),
        ("kv_read_bytes", c_uint64),
        ("kv_write_bytes", c_uint64),
        ("activation_bytes", c_uint64),
        ("communication_bytes", c_uint64),
        ("compute_dtype", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_hardware_query(Structure):
    """Peaks and properties of a GPU; 0: unknown."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("memory_bytes", c_uint64),
        ("cc_major", c_int32),
        ("cc_minor", c_int32),
        ("sm_count", c_int32),
        ("clock_khz", c_int32),
        ("memory_clock_khz", c_int32),
        ("bus_width_bits", c_int32),
        ("l2_bytes", c_int32),
        ("reserved", c_int32),
        ("uuid", c_char_p),
        ("driver", c_char_p),
    ]


class llmperf_hardware_value(Structure):
    """One value with its source."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("value", c_double),
        ("source", c_char_p),
        ("reason", c_char_p),
        ("origin", c_uint32),
        ("confidence", c_uint32),
    ]


class llmperf_ceiling(Structure):
    """A measured peak of one GPU."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("best", c_double),
        ("median", c_double),
        ("clock_mhz", c_double),
        ("repeats", c_uint64),
        ("how", c_char_p),
        ("reason", c_char_p),
    ]


class llmperf_measure_options(Structure):
    """How to measure peaks; 0: default."""

    _fields_ = [("struct_size", c_size_t), ("seconds", c_double), ("buffer_bytes", c_uint64)]


class llmperf_tool_request(Structure):
    """Command lines for nsys or ncu."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("tool", c_uint32),
        ("reserved", c_uint32),
        ("path", c_char_p),
        ("version", c_char_p),
        ("folder", c_char_p),
        ("program", c_char_p),
        ("arguments", POINTER(c_char_p)),
        ("argument_count", c_size_t),
    ]


class llmperf_step_floor(Structure):
    """Roofline bounds of a step of a model on a GPU."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("compute_ms", c_double),
        ("memory_ms", c_double),
        ("link_ms", c_double),
        ("roofline_ms", c_double),
        ("serial_ms", c_double),
        ("peak_tflops", c_double),
        ("bandwidth_gbs", c_double),
        ("link_gbs", c_double),
        ("intensity", c_double),
        ("ridge", c_double),
        ("mfu_limit", c_double),
        ("mbu_limit", c_double),
        ("tokens_per_s", c_double),
        ("compute_reason", c_char_p),
        ("memory_reason", c_char_p),
        ("link_reason", c_char_p),
        ("bound_reason", c_char_p),
        ("bound", c_uint32),
        ("missing_dtype", c_uint32),
    ]


class llmperf_decode_turn(Structure):
    """Batch size at which decode becomes compute-bound."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("batch", c_double),
        ("context", c_double),
        ("batch_reason", c_char_p),
        ("context_reason", c_char_p),
    ]


class llmperf_utilisation_input(Structure):
    """Work, time and peaks of the GPU; 0: unknown."""

    _fields_ = [("struct_size", c_size_t)]
    _fields_ += [
        (name, c_double)
        for name in (
            "flops",
            "bytes",
            "time_ms",
            "peak_tflops",
            "bandwidth_gbs",
            "busy_share",
            "serial_floor_ms",
            "link_bytes",
            "link_gbs",
            "l2_mb",
            "steps",
            "devices",
        )
    ]


class llmperf_utilisation(Structure):
    """Utilisation, roofline bounds and bound, with reasons for values that are NaN."""

    _fields_ = [("struct_size", c_size_t)]
    _fields_ += [
        (name, c_double)
        for name in (
            "mfu",
            "mbu",
            "achieved_tflops",
            "achieved_gbs",
            "intensity",
            "ridge",
            "attainable_tflops",
            "mfu_limit",
            "compute_floor_ms",
            "memory_floor_ms",
            "link_floor_ms",
            "time_floor_ms",
            "floor_ratio",
            "wall_ratio",
        )
    ]
    _fields_ += [
        (name, c_char_p)
        for name in (
            "mfu_reason",
            "mbu_reason",
            "intensity_reason",
            "floor_reason",
            "ratio_reason",
            "bound_reason",
        )
    ]
    _fields_ += [("bound", c_uint32), ("warnings", c_uint32)]
