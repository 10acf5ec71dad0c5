# SPDX-License-Identifier: Apache-2.0
# docs/generate.py made this file from the headers in include/llmperf. Change those, not this file.
"""Constants, structures and functions of the C API as ctypes sees them. Nothing here loads the library (see _library.py)."""
from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Structure, _Pointer, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Tuple

log_function = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
# A text that is ours to free: c_char_p would be copied on return and its address lost.
text = POINTER(c_char)

# api.h
LLMPERF_OK = 0
LLMPERF_EINVAL = -1
LLMPERF_ENOMEM = -2
LLMPERF_EIO = -3
LLMPERF_EBUSY = -4
LLMPERF_ENOTSUP = -5
LLMPERF_ENOENT = -6
LLMPERF_EFORMAT = -7
LLMPERF_ESTATE = -8
LLMPERF_ENODEVICE = -9
LLMPERF_ENOTCOMPARABLE = -10
LLMPERF_NAME_VERDICT = 1
LLMPERF_NAME_ACTIVITY = 2
LLMPERF_NAME_REGION = 3
LLMPERF_NAME_TIER = 4
LLMPERF_NAME_STATE = 5
LLMPERF_NAME_BOUND = 6
LLMPERF_NAME_DTYPE = 7
LLMPERF_NAME_ORIGIN = 8
LLMPERF_NAME_CONFIDENCE = 9
LLMPERF_NAME_FORMAT = 10
LLMPERF_LOG_NONE = 0
LLMPERF_LOG_ERROR = 1
LLMPERF_LOG_WARN = 2
LLMPERF_LOG_INFO = 3
LLMPERF_LOG_DEBUG = 4
LLMPERF_VERSION_MAJOR = 0
LLMPERF_VERSION_MINOR = 1
LLMPERF_VERSION_PATCH = 0

# findings.h
LLMPERF_RATE_UNKNOWN = 0
LLMPERF_RATE_STAGE = 1
LLMPERF_RATE_HOST = 2
LLMPERF_RATE_TOTAL = 3
LLMPERF_CLOCK_HOST = 1
LLMPERF_CLOCK_DEVICE = 2
LLMPERF_SEVERITY_HIGH = 1
LLMPERF_SEVERITY_MEDIUM = 2
LLMPERF_SEVERITY_LOW = 3

# hardware.h
LLMPERF_ORIGIN_NONE = 0
LLMPERF_ORIGIN_TABLE = 1
LLMPERF_ORIGIN_COMPUTED = 2
LLMPERF_ORIGIN_USER = 3
LLMPERF_ORIGIN_DEVICE = 4
LLMPERF_CONFIDENCE_NONE = 0
LLMPERF_CONFIDENCE_LOW = 1
LLMPERF_CONFIDENCE_MEDIUM = 2
LLMPERF_CONFIDENCE_HIGH = 3
LLMPERF_HARDWARE_BANDWIDTH_GBS = 1
LLMPERF_HARDWARE_MEMORY_GB = 2
LLMPERF_HARDWARE_L2_MB = 3
LLMPERF_HARDWARE_SMS = 4
LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ = 5
LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ = 6
LLMPERF_HARDWARE_LINK_GBS = 7

# model.h
LLMPERF_DTYPE_DEFAULT = 0
LLMPERF_DTYPE_FP32 = 1
LLMPERF_DTYPE_BF16 = 2
LLMPERF_DTYPE_FP16 = 3
LLMPERF_DTYPE_FP8 = 4
LLMPERF_DTYPE_FP8_BLOCK128 = 5
LLMPERF_DTYPE_INT8 = 6
LLMPERF_DTYPE_INT4_G128 = 7
LLMPERF_DTYPE_NVFP4 = 8
LLMPERF_DTYPE_MXFP4 = 9
LLMPERF_DTYPE_NF4 = 10
LLMPERF_DTYPE_Q4_0 = 11
LLMPERF_DTYPE_Q4_K = 12
LLMPERF_DTYPE_Q6_K = 13
LLMPERF_DTYPE_Q8_0 = 14
LLMPERF_DTYPE_INT4_G64 = 15
LLMPERF_DTYPE_INT4_G32 = 16
LLMPERF_DTYPE_INT4_CHANNEL = 17
LLMPERF_DTYPE_INT4_G32_SYM = 18
LLMPERF_PHASE_PREFILL = 1
LLMPERF_PHASE_DECODE = 2
LLMPERF_PHASE_VISION = 3
LLMPERF_LOGITS_DEFAULT = 0
LLMPERF_LOGITS_FINAL = 1
LLMPERF_LOGITS_ALL = 2
LLMPERF_LOGITS_NONE = 3

# output.h
LLMPERF_DOCUMENT_REPORT_MD = 1
LLMPERF_DOCUMENT_STAGES_MD = 2
LLMPERF_DOCUMENT_KERNELS_MD = 3
LLMPERF_DOCUMENT_OPERATORS_MD = 4
LLMPERF_DOCUMENT_METRICS_JSON = 5
LLMPERF_DOCUMENT_ENV_JSON = 6
LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD = 7
LLMPERF_DOCUMENT_ASSUMPTIONS_MD = 8
LLMPERF_DOCUMENT_INPUTS_YAML = 9
LLMPERF_DOCUMENT_PROMETHEUS = 10
LLMPERF_DOCUMENT_ROWS_CSV = 11
LLMPERF_DOCUMENT_ROWS_JSONL = 12
LLMPERF_DOCUMENT_REPORT_HTML = 13
LLMPERF_TEXT_PLAIN = 0
LLMPERF_TEXT_JSON = 1
LLMPERF_TEXT_HTML = 2

# region.h
LLMPERF_REGION_AUTO = 0
LLMPERF_REGION_STAGE = 1
LLMPERF_REGION_OPERATOR = 2
LLMPERF_QUANTITY_TOKENS = 1
LLMPERF_QUANTITY_SEQUENCES = 2
LLMPERF_QUANTITY_CONTEXT = 3
LLMPERF_QUANTITY_FLOPS = 4
LLMPERF_QUANTITY_BYTES = 5
LLMPERF_QUANTITY_MESSAGE_BYTES = 6
LLMPERF_REGION_DEPTH = 128
LLMPERF_LABEL_BYTES = 1024

# request.h
LLMPERF_FINISH_OTHER = 0
LLMPERF_FINISH_STOP = 1
LLMPERF_FINISH_LENGTH = 2
LLMPERF_FINISH_ABORTED = 3
LLMPERF_FINISH_FAILED = 4
LLMPERF_REQUESTS_OPEN = 65536

# roofline.h
LLMPERF_BOUND_UNKNOWN = 0
LLMPERF_BOUND_COMPUTE = 1
LLMPERF_BOUND_MEMORY = 2
LLMPERF_BOUND_BALANCED = 3
LLMPERF_BOUND_COMMUNICATION = 4
LLMPERF_BOUND_LAUNCH = 5
LLMPERF_BOUND_GAPS = 6
LLMPERF_BOUND_RANK = 7
LLMPERF_BOUND_HOST = 8
LLMPERF_BOUND_COPY = 9
LLMPERF_LIMITS_IN_USE = 0
LLMPERF_LIMITS_MEASURED = 1

# rows.h
LLMPERF_VERDICT_COMPLETE = 1
LLMPERF_VERDICT_SAMPLED = 2
LLMPERF_VERDICT_INCOMPLETE = 3
LLMPERF_VERDICT_NO_DEVICE = 4
LLMPERF_VERDICT_DEAD = 5
LLMPERF_ACTIVITY_KERNEL = 1
LLMPERF_ACTIVITY_MEMCPY = 2
LLMPERF_ACTIVITY_MEMSET = 3
LLMPERF_ACTIVITY_GRAPH = 4
LLMPERF_WORK_UNKNOWN = 0
LLMPERF_WORK_PROGRAM = 1
LLMPERF_WORK_MODEL = 2
LLMPERF_ROWS_REGIONS = 1
LLMPERF_ROWS_KERNELS = 2
LLMPERF_ROWS_OPERATORS = 3
LLMPERF_ROWS_ITERATION_STATS = 4
LLMPERF_ROWS_METRICS = 5
LLMPERF_ROWS_ITERATIONS = 6
LLMPERF_ROWS_WINDOWS = 7
LLMPERF_ROWS_WINDOW_KERNELS = 8
LLMPERF_ROWS_CAPTURES = 9
LLMPERF_ROWS_STAGES = 10
LLMPERF_ROWS_ADVICE = 11
LLMPERF_ROWS_GPUS = 12
LLMPERF_ROWS_KERNEL_SHAPES = 13
LLMPERF_ROWS_REQUESTS = 14
LLMPERF_ROWS_LATENCIES = 15
LLMPERF_ROWS_SLOW_REQUESTS = 16
LLMPERF_ROWS_LOAD = 17
LLMPERF_ROWS_HOST_CALLS = 18
LLMPERF_ROWS_ENERGY = 19
LLMPERF_ROWS_MEMORY = 20
LLMPERF_UNKNOWN = 2**64 - 1
LLMPERF_ITERATIONS_KEPT = 1024
LLMPERF_ITERATION_CLASSES = 16

# session.h
LLMPERF_TIER_DEFAULT = 0
LLMPERF_TIER_REGIONS = 1
LLMPERF_TIER_LIGHT = 2
LLMPERF_TIER_DEEP = 3
LLMPERF_TIER_COUNTERS = 4
LLMPERF_SOURCE_AUTO = 0
LLMPERF_SOURCE_CUPTI = 1
LLMPERF_SOURCE_REPLAY = 2
LLMPERF_SOURCE_FAKE = 3
LLMPERF_SOURCE_NONE = 4
LLMPERF_SESSION_NO_REPORTS = 1
LLMPERF_SESSION_RELEASE = 2
LLMPERF_SESSION_GRAPH_LEVEL = 4
LLMPERF_SESSION_DETACH = 8
LLMPERF_STATE_RUNNING = 1
LLMPERF_STATE_PAUSED = 2
LLMPERF_STATE_STOPPED = 3

# sys/analysis.h
LLMPERF_WARNING_L2_RESIDENT = 1

# sys/config.h
LLMPERF_CONFIG_YAML = 0
LLMPERF_CONFIG_JSON = 1

# sys/counters.h
LLMPERF_COUNTERS_RANGE = 0
LLMPERF_COUNTERS_PM = 1

# sys/option.h
LLMPERF_OPTION_TEXT = 0
LLMPERF_OPTION_WORD = 1
LLMPERF_OPTION_NUMBER = 2
LLMPERF_OPTION_SWITCH = 3
LLMPERF_OPTION_ANY = 4

# sys/trace.h
LLMPERF_TRACE_PERFETTO = 1
LLMPERF_TRACE_CHROME = 2
LLMPERF_TRACE_NSYS_SQLITE = 3

# sys/vendor.h
LLMPERF_TOOL_NSYS = 1
LLMPERF_TOOL_NCU = 2
LLMPERF_FORMAT_UNKNOWN = 0
LLMPERF_FORMAT_RUN = 1
LLMPERF_FORMAT_RECORDING = 2
LLMPERF_FORMAT_NSYS_SQLITE = 3
LLMPERF_FORMAT_NSYS_CSV = 4
LLMPERF_FORMAT_NCU_CSV = 5
LLMPERF_FORMAT_NSYS_REPORT = 6
LLMPERF_FORMAT_NCU_REPORT = 7
LLMPERF_FORMAT_TRACE = 8
LLMPERF_IMPORT_EXACT_NAMES = 1
LLMPERF_IMPORT_THIS_MACHINE = 2

CONSTANTS: Dict[str, int] = {
    name: value for name, value in globals().items() if name.startswith("LLMPERF_")
}


class llmperf_config(Structure):
    """Opaque."""


class llmperf_hardware(Structure):
    """Opaque."""


class llmperf_model(Structure):
    """Opaque."""


class llmperf_profile(Structure):
    """Opaque."""


class llmperf_session(Structure):
    """Opaque."""


class llmperf_counters(Structure):
    """Opaque."""


class llmperf_job(Structure):
    """Opaque."""


class llmperf_commands(Structure):
    """Opaque."""


class const_uint64_p(_Pointer):  # type: ignore[type-arg]
    """const uint64_t *"""

    _type_ = c_uint64


class const_config_p(_Pointer):  # type: ignore[type-arg]
    """const llmperf_config *"""

    _type_ = llmperf_config


class const_profile_pp(_Pointer):  # type: ignore[type-arg]
    """const llmperf_profile *const *"""

    _type_ = POINTER(llmperf_profile)


class const_char_pp(_Pointer):  # type: ignore[type-arg]
    """const char *const *"""

    _type_ = c_char_p


class llmperf_stage(Structure):
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
        ("mfu_elapsed", c_double),
        ("mbu_elapsed", c_double),
        ("time_ms", c_double),
        ("active_ms", c_double),
        ("clock", c_uint32),
        ("reserved2", c_uint32),
        ("energy_j", c_double),
        ("energy_error_j", c_double),
        ("token_j", c_double),
        ("sm_clock_mhz", c_double),
        ("mfu_at_clock", c_double),
        ("mfu_low", c_double),
        ("mfu_high", c_double),
        ("mbu_low", c_double),
        ("mbu_high", c_double),
        ("time_low_ms", c_double),
        ("time_high_ms", c_double),
        ("tokens_per_s_low", c_double),
        ("tokens_per_s_high", c_double),
    ]


class llmperf_advice(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("text", c_char_p),
        ("stage", c_char_p),
        ("saving_ms", c_double),
        ("evidence", c_uint64),
        ("severity", c_uint32),
        ("once", c_uint32),
        ("saving_call_ms", c_double),
        ("mended_tokens_per_s", c_double),
    ]


class llmperf_evidence(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("unit", c_char_p),
        ("text", c_char_p),
        ("value", c_double),
    ]


class llmperf_gpu(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("uuid", c_char_p),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("memory_bytes", c_uint64),
    ]


class llmperf_overall(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("mfu", c_double),
        ("mbu", c_double),
        ("mfu_elapsed", c_double),
        ("mbu_elapsed", c_double),
        ("busy_ms", c_double),
        ("elapsed_ms", c_double),
        ("mfu_reason", c_char_p),
        ("mbu_reason", c_char_p),
        ("elapsed_reason", c_char_p),
    ]


class llmperf_about(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("title", c_char_p),
        ("program", c_char_p),
        ("model", c_char_p),
        ("gpu", c_char_p),
        ("dtype", c_char_p),
        ("gpus", c_uint64),
        ("batch", c_double),
    ]


class llmperf_hardware_query(Structure):
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
    _fields_ = [
        ("struct_size", c_size_t),
        ("value", c_double),
        ("source", c_char_p),
        ("reason", c_char_p),
        ("origin", c_uint32),
        ("confidence", c_uint32),
    ]


class llmperf_model_info(Structure):
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
        ("new_each", c_uint64),
        ("cached_each", c_uint64),
    ]


class llmperf_work(Structure):
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


class llmperf_region_attr(Structure):
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


class llmperf_request_attr(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("arrival_ns", c_uint64),
        ("prompt_tokens", c_uint64),
        ("id", c_uint64),
    ]


class llmperf_step_floor(Structure):
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


class llmperf_ledger(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("launches_expected", c_uint64),
        ("graph_launches", c_uint64),
        ("memory_calls", c_uint64),
        ("kernels_seen", c_uint64),
        ("graph_kernels_seen", c_uint64),
        ("memory_seen", c_uint64),
        ("kernels_attributed", c_uint64),
        ("kernels_outside", c_uint64),
        ("kernels_unattributed", c_uint64),
        ("launches_missing", c_uint64),
        ("records_dropped", c_uint64),
        ("records_invalid_time", c_uint64),
        ("records_incomplete", c_uint64),
        ("records_duplicate", c_uint64),
        ("records_late", c_uint64),
        ("graph_nodes_unmapped", c_uint64),
        ("regions_dropped", c_uint64),
        ("regions_truncated", c_uint64),
        ("regions_unbalanced", c_uint64),
        ("tracing_overhead_ms", c_double),
        ("sampled_fraction", c_double),
        ("attributed_gpu_time_share", c_double),
        ("verdict", c_uint32),
        ("reserved", c_uint32),
        ("graphs_device_launchable", c_uint64),
        ("kernels_outside_window", c_uint64),
        ("kernels_in_windows", c_uint64),
        ("launches_duplicate", c_uint64),
        ("graph_records_missing", c_uint64),
        ("memory_missing", c_uint64),
        ("records_before_launch", c_uint64),
        ("records_foreign", c_uint64),
        ("names_over_limit", c_uint64),
        ("source_errors", c_uint64),
        ("regions_abandoned", c_uint64),
        ("regions_over_limit", c_uint64),
        ("allocations_over_limit", c_uint64),
    ]


class llmperf_region_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("path", c_char_p),
        ("label", c_char_p),
        ("parent", c_char_p),
        ("stage", c_char_p),
        ("depth", c_uint32),
        ("kind", c_uint32),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("instances", c_uint64),
        ("truncated", c_uint64),
        ("wall_sum_ms", c_double),
        ("wall_mean_ms", c_double),
        ("wall_std_ms", c_double),
        ("wall_min_ms", c_double),
        ("wall_max_ms", c_double),
        ("wall_p50_ms", c_double),
        ("wall_p95_ms", c_double),
        ("wall_p99_ms", c_double),
        ("gpu_busy_ms", c_double),
        ("exclusive_gpu_busy_ms", c_double),
        ("kernel_ms", c_double),
        ("exclusive_kernel_ms", c_double),
        ("memcpy_ms", c_double),
        ("memset_ms", c_double),
        ("idle_ms", c_double),
        ("kernel_count", c_uint64),
        ("memcpy_count", c_uint64),
        ("memset_count", c_uint64),
        ("memcpy_bytes", c_uint64),
        ("tokens", c_uint64),
        ("sequences", c_uint64),
        ("context", c_uint64),
        ("flops", c_uint64),
        ("bytes", c_uint64),
        ("skipped_fraction", c_double),
        ("flops_origin", c_uint32),
        ("bytes_origin", c_uint32),
        ("window_instances", c_uint64),
        ("window_ms", c_double),
        ("window_flops", c_uint64),
        ("window_bytes", c_uint64),
        ("message_bytes", c_uint64),
        ("active_ms", c_double),
        ("collected_wall_ms", c_double),
        ("energy_j", c_double),
        ("energy_error_j", c_double),
        ("sm_clock_mhz", c_double),
        ("estimate_collected", c_uint64),
        ("estimate_ms", c_double),
        ("estimate_low_ms", c_double),
        ("estimate_high_ms", c_double),
        ("estimate_reason", c_char_p),
    ]


class llmperf_kernel_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("demangled", c_char_p),
        ("short_name", c_char_p),
        ("region", c_char_p),
        ("captured_in", c_char_p),
        ("kind", c_uint32),
        ("device", c_int32),
        ("calls", c_uint64),
        ("bytes", c_uint64),
        ("total_ms", c_double),
        ("mean_ms", c_double),
        ("min_ms", c_double),
        ("max_ms", c_double),
        ("p50_ms", c_double),
        ("p95_ms", c_double),
        ("p99_ms", c_double),
        ("share", c_double),
        ("estimate_collected", c_uint64),
        ("estimate_ms", c_double),
        ("estimate_low_ms", c_double),
        ("estimate_high_ms", c_double),
        ("estimate_reason", c_char_p),
    ]


class llmperf_kernel_shape(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("region", c_char_p),
        ("captured_in", c_char_p),
        ("kind", c_uint32),
        ("device", c_int32),
        ("grid_x", c_uint64),
        ("grid_y", c_uint64),
        ("grid_z", c_uint64),
        ("block_x", c_uint64),
        ("block_y", c_uint64),
        ("block_z", c_uint64),
        ("registers", c_uint64),
        ("static_shared_bytes", c_uint64),
        ("dynamic_shared_bytes", c_uint64),
        ("source", c_char_p),
        ("destination", c_char_p),
        ("call", c_char_p),
        ("others", c_uint32),
        ("reserved", c_uint32),
        ("calls", c_uint64),
        ("bytes", c_uint64),
        ("total_ms", c_double),
        ("mean_ms", c_double),
        ("min_ms", c_double),
        ("max_ms", c_double),
        ("timed_launches", c_uint64),
        ("launch_ms", c_double),
        ("blocks_per_sm", c_uint64),
        ("occupancy", c_double),
        ("waves", c_double),
        ("tail_share", c_double),
        ("first_ns", c_uint64),
        ("model_operator", c_char_p),
        ("m", c_uint64),
        ("n", c_uint64),
        ("k", c_uint64),
        ("batch", c_uint64),
        ("shape_reason", c_char_p),
        ("call_flops", c_double),
        ("call_bytes", c_double),
        ("tflops", c_double),
        ("gbs", c_double),
        ("dtype", c_char_p),
        ("achievable_ms", c_double),
        ("achievable_source", c_char_p),
        ("heads", c_uint64),
        ("kv_heads", c_uint64),
        ("head_dim", c_uint64),
        ("sequences", c_double),
        ("query_length", c_double),
        ("kv_length", c_double),
        ("size_bytes", c_uint64),
    ]


class llmperf_host_call(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("region", c_char_p),
        ("call", c_char_p),
        ("calls", c_uint64),
        ("total_ms", c_double),
        ("max_ms", c_double),
        ("compared_calls", c_uint64),
        ("idle_ms", c_double),
        ("between_ms", c_double),
    ]


class llmperf_memory(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("region", c_char_p),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("allocations", c_uint64),
        ("frees", c_uint64),
        ("unmatched", c_uint64),
        ("allocated_bytes", c_uint64),
        ("freed_bytes", c_uint64),
        ("largest_bytes", c_uint64),
        ("held_bytes", c_uint64),
        ("live_bytes", c_uint64),
        ("peak_bytes", c_uint64),
        ("peak_ns", c_uint64),
        ("kept_bytes", c_uint64),
        ("pool_reserved_bytes", c_uint64),
        ("pool_used_bytes", c_uint64),
        ("context_tokens", c_uint64),
        ("weight_bytes", c_uint64),
        ("weight_allocated_bytes", c_uint64),
        ("cache_bytes", c_uint64),
        ("cache_allocated_bytes", c_uint64),
        ("total_bytes", c_uint64),
        ("free_bytes", c_uint64),
        ("reason", c_char_p),
    ]


class llmperf_operator_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("stage", c_char_p),
        ("calls", c_uint64),
        ("total_time_ms", c_double),
        ("cuda_time_ms", c_double),
        ("mean_ms", c_double),
        ("estimate_collected", c_uint64),
        ("estimate_ms", c_double),
        ("estimate_low_ms", c_double),
        ("estimate_high_ms", c_double),
        ("estimate_reason", c_char_p),
    ]


class llmperf_metric_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("unit", c_char_p),
        ("group", c_char_p),
        ("source", c_char_p),
        ("region", c_char_p),
        ("kernel", c_char_p),
        ("text", c_char_p),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("count", c_uint64),
        ("mean", c_double),
        ("std", c_double),
        ("min", c_double),
        ("max", c_double),
    ]


class llmperf_iteration(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("region", c_char_p),
        ("sequence", c_uint64),
        ("begin_ns", c_uint64),
        ("activities", c_uint64),
        ("tokens", c_uint64),
        ("sequences", c_uint64),
        ("context", c_uint64),
        ("flops", c_uint64),
        ("bytes", c_uint64),
        ("wall_ms", c_double),
        ("span_ms", c_double),
        ("busy_ms", c_double),
        ("idle_ms", c_double),
        ("idle_launch_ms", c_double),
        ("idle_host_ms", c_double),
        ("idle_wait_ms", c_double),
        ("class_ms", c_double * LLMPERF_ITERATION_CLASSES),
        ("window", c_uint64),
        ("elapsed_ms", c_double),
        ("before_ms", c_double),
        ("after_ms", c_double),
    ]


class llmperf_iteration_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("region", c_char_p),
        ("quantity", c_char_p),
        ("is_class", c_uint32),
        ("warm_up", c_uint32),
        ("count", c_uint64),
        ("sum_ms", c_double),
        ("mean_ms", c_double),
        ("std_ms", c_double),
        ("min_ms", c_double),
        ("max_ms", c_double),
        ("p50_ms", c_double),
        ("p95_ms", c_double),
        ("p99_ms", c_double),
        ("estimate_calls", c_uint64),
        ("estimate_collected", c_uint64),
        ("estimate_ms", c_double),
        ("estimate_low_ms", c_double),
        ("estimate_high_ms", c_double),
        ("estimate_reason", c_char_p),
    ]


class llmperf_window_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("number", c_uint64),
        ("rule", c_char_p),
        ("region", c_char_p),
        ("quantity", c_char_p),
        ("unit", c_char_p),
        ("value", c_double),
        ("threshold", c_double),
        ("value_units", c_uint64),
        ("triggered_ns", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("units_asked", c_uint64),
        ("units", c_uint64),
        ("units_left_out", c_uint64),
        ("kernel_count", c_uint64),
        ("memory_count", c_uint64),
        ("wall_ms", c_double),
        ("busy_ms", c_double),
        ("idle_ms", c_double),
        ("kernel_ms", c_double),
        ("memory_ms", c_double),
        ("process_id", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_window_kernel(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("window", c_uint64),
        ("name", c_char_p),
        ("region", c_char_p),
        ("captured_in", c_char_p),
        ("calls", c_uint64),
        ("total_ms", c_double),
        ("kind", c_uint32),
        ("process_id", c_uint32),
    ]


class llmperf_capture_stats(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("region", c_char_p),
        ("captured_in", c_char_p),
        ("device", c_int32),
        ("depth", c_uint32),
        ("kernel_count", c_uint64),
        ("memory_count", c_uint64),
        ("kernel_ms", c_double),
        ("memory_ms", c_double),
        ("exclusive_ms", c_double),
        ("share", c_double),
    ]


class llmperf_requests(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("requests", c_uint64),
        ("finished", c_uint64),
        ("aborted", c_uint64),
        ("failed", c_uint64),
        ("open", c_uint64),
        ("abandoned", c_uint64),
        ("over_limit", c_uint64),
        ("stray_calls", c_uint64),
        ("prompt_tokens", c_uint64),
        ("output_tokens", c_uint64),
        ("good", c_uint64),
        ("duration_ms", c_double),
        ("requests_per_s", c_double),
        ("prompt_tokens_per_s", c_double),
        ("output_tokens_per_s", c_double),
        ("goodput_per_s", c_double),
        ("slo_ttft_ms", c_double),
        ("slo_tpot_ms", c_double),
        ("gpu_hour_cents", c_uint64),
    ]


class llmperf_latency(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("quantity", c_char_p),
        ("count", c_uint64),
        ("sum_ms", c_double),
        ("mean_ms", c_double),
        ("min_ms", c_double),
        ("max_ms", c_double),
        ("p50_ms", c_double),
        ("p90_ms", c_double),
        ("p99_ms", c_double),
    ]


class llmperf_slow_request(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("slow_in", c_char_p),
        ("request", c_uint64),
        ("id", c_uint64),
        ("begin_ns", c_uint64),
        ("prompt_tokens", c_uint64),
        ("output_tokens", c_uint64),
        ("queue_ms", c_double),
        ("ttft_ms", c_double),
        ("tpot_ms", c_double),
        ("itl_max_ms", c_double),
        ("e2e_ms", c_double),
        ("reason", c_uint32),
        ("process_id", c_uint32),
    ]


class llmperf_load(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("begin_ns", c_uint64),
        ("begun", c_uint64),
        ("ended", c_uint64),
        ("prompt_tokens", c_uint64),
        ("output_tokens", c_uint64),
        ("running_max", c_uint64),
        ("steps", c_uint64),
        ("batch_max", c_uint64),
        ("context_max", c_uint64),
        ("batch_mean", c_double),
        ("context_mean", c_double),
        ("length_ms", c_double),
        ("process_id", c_uint32),
        ("reserved", c_uint32),
    ]


class llmperf_energy(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("source", c_char_p),
        ("reason", c_char_p),
        ("device", c_int32),
        ("process_id", c_uint32),
        ("samples", c_uint64),
        ("duration_ms", c_double),
        ("energy_j", c_double),
        ("energy_error_j", c_double),
        ("stages_j", c_double),
        ("outside_j", c_double),
        ("update_ms", c_double),
        ("power_w", c_double),
        ("power_max_w", c_double),
        ("power_limit_w", c_double),
        ("active_ms", c_double),
        ("sm_clock_mhz", c_double),
        ("sm_clock_min_mhz", c_double),
        ("sm_clock_max_mhz", c_double),
        ("memory_clock_mhz", c_double),
        ("memory_clock_min_mhz", c_double),
        ("memory_clock_max_mhz", c_double),
        ("throttled_share", c_double),
        ("power_cap_share", c_double),
        ("thermal_share", c_double),
        ("slowdown_share", c_double),
        ("temperature_max_c", c_double),
        ("memory_begin_bytes", c_uint64),
        ("memory_peak_bytes", c_uint64),
        ("memory_end_bytes", c_uint64),
        ("memory_total_bytes", c_uint64),
        ("counter_begin_mj", c_uint64),
        ("counter_end_mj", c_uint64),
        ("read_ms", c_double),
    ]


class llmperf_session_options(Structure):
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


class llmperf_session_state(Structure):
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


class llmperf_utilisation_input(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flops", c_double),
        ("bytes", c_double),
        ("time_ms", c_double),
        ("peak_tflops", c_double),
        ("bandwidth_gbs", c_double),
        ("busy_share", c_double),
        ("serial_floor_ms", c_double),
        ("link_bytes", c_double),
        ("link_gbs", c_double),
        ("l2_mb", c_double),
        ("steps", c_double),
        ("devices", c_double),
    ]


class llmperf_utilisation(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("mfu", c_double),
        ("mbu", c_double),
        ("achieved_tflops", c_double),
        ("achieved_gbs", c_double),
        ("intensity", c_double),
        ("ridge", c_double),
        ("attainable_tflops", c_double),
        ("mfu_limit", c_double),
        ("compute_floor_ms", c_double),
        ("memory_floor_ms", c_double),
        ("link_floor_ms", c_double),
        ("time_floor_ms", c_double),
        ("floor_ratio", c_double),
        ("wall_ratio", c_double),
        ("mfu_reason", c_char_p),
        ("mbu_reason", c_char_p),
        ("intensity_reason", c_char_p),
        ("floor_reason", c_char_p),
        ("ratio_reason", c_char_p),
        ("bound_reason", c_char_p),
        ("bound", c_uint32),
        ("warnings", c_uint32),
        ("mfu_elapsed", c_double),
        ("mbu_elapsed", c_double),
    ]


class llmperf_decode_turn(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("batch", c_double),
        ("context", c_double),
        ("batch_reason", c_char_p),
        ("context_reason", c_char_p),
    ]


class llmperf_counter_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("quantity", c_char_p),
        ("metric", c_char_p),
        ("unit", c_char_p),
        ("about", c_char_p),
        ("reason", c_char_p),
    ]


class llmperf_measured_peak(Structure):
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
    _fields_ = [
        ("struct_size", c_size_t),
        ("seconds", c_double),
        ("buffer_bytes", c_uint64),
    ]


class llmperf_option_info(Structure):
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


class llmperf_trace_summary(Structure):
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


class llmperf_tool_request(Structure):
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


class llmperf_import_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("run_id", c_char_p),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("config", c_char_p),
        ("created_at", c_char_p),
        ("nsys_version", c_char_p),
        ("ncu_version", c_char_p),
        ("program", const_char_pp),
    ]


STRUCTURES: List[Any] = [
    llmperf_stage,
    llmperf_advice,
    llmperf_evidence,
    llmperf_gpu,
    llmperf_overall,
    llmperf_about,
    llmperf_hardware_query,
    llmperf_hardware_value,
    llmperf_model_info,
    llmperf_step,
    llmperf_work,
    llmperf_operator_work,
    llmperf_region_attr,
    llmperf_request_attr,
    llmperf_step_floor,
    llmperf_ledger,
    llmperf_region_stats,
    llmperf_kernel_stats,
    llmperf_kernel_shape,
    llmperf_host_call,
    llmperf_memory,
    llmperf_operator_stats,
    llmperf_metric_stats,
    llmperf_iteration,
    llmperf_iteration_stats,
    llmperf_window_stats,
    llmperf_window_kernel,
    llmperf_capture_stats,
    llmperf_requests,
    llmperf_latency,
    llmperf_slow_request,
    llmperf_load,
    llmperf_energy,
    llmperf_session_options,
    llmperf_session_state,
    llmperf_input,
    llmperf_utilisation_input,
    llmperf_utilisation,
    llmperf_decode_turn,
    llmperf_counter_info,
    llmperf_measured_peak,
    llmperf_measure_options,
    llmperf_option_info,
    llmperf_trace_summary,
    llmperf_tool_request,
    llmperf_import_options,
]

# Name: (result, parameters).
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    # api.h
    "llmperf_version": (c_char_p, []),
    "llmperf_last_error": (c_char_p, []),
    "llmperf_status_name": (c_char_p, [c_int]),
    "llmperf_name": (c_char_p, [c_uint32, c_uint32]),
    "llmperf_log_set": (None, [log_function, c_void_p, c_int32]),
    "llmperf_text_free": (None, [text]),
    # findings.h
    "llmperf_profile_about": (c_int, [POINTER(llmperf_profile), POINTER(llmperf_about)]),
    "llmperf_profile_stage": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_stage)]),
    "llmperf_profile_stage_reason": (c_char_p, [POINTER(llmperf_profile), c_size_t, c_char_p]),
    "llmperf_profile_overall": (c_int, [POINTER(llmperf_profile), POINTER(llmperf_overall)]),
    "llmperf_profile_advice": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_advice)]),
    "llmperf_profile_evidence": (c_int, [POINTER(llmperf_profile), c_size_t, c_size_t, POINTER(llmperf_evidence)]),
    "llmperf_profile_gpu": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_gpu)]),
    # hardware.h
    "llmperf_hardware_find": (c_int, [POINTER(llmperf_hardware_query), POINTER(llmperf_config), POINTER(POINTER(llmperf_hardware))]),
    "llmperf_hardware_local": (c_int, [c_int32, POINTER(llmperf_config), POINTER(POINTER(llmperf_hardware))]),
    "llmperf_hardware_free": (None, [POINTER(llmperf_hardware)]),
    "llmperf_hardware_name": (c_char_p, [POINTER(llmperf_hardware)]),
    "llmperf_hardware_peak": (c_int, [POINTER(llmperf_hardware), c_char_p, POINTER(llmperf_hardware_value)]),
    "llmperf_hardware_quantity": (c_int, [POINTER(llmperf_hardware), c_uint32, POINTER(llmperf_hardware_value)]),
    "llmperf_hardware_warning": (c_char_p, [POINTER(llmperf_hardware), c_size_t]),
    # model.h
    "llmperf_dtype_find": (c_int, [c_char_p, POINTER(c_uint32)]),
    "llmperf_model_open": (c_int, [c_char_p, POINTER(POINTER(llmperf_model))]),
    "llmperf_model_free": (None, [POINTER(llmperf_model)]),
    "llmperf_model_info_get": (c_int, [POINTER(llmperf_model), POINTER(llmperf_model_info)]),
    "llmperf_model_warning": (c_char_p, [POINTER(llmperf_model), c_size_t]),
    "llmperf_model_assumption": (c_char_p, [POINTER(llmperf_model), c_size_t]),
    "llmperf_model_work": (c_int, [POINTER(llmperf_model), POINTER(llmperf_step), POINTER(llmperf_work)]),
    "llmperf_model_operator": (c_int, [POINTER(llmperf_model), POINTER(llmperf_step), c_size_t, POINTER(llmperf_operator_work)]),
    # output.h
    "llmperf_document_text": (c_int, [POINTER(llmperf_profile), c_uint32, POINTER(text)]),
    "llmperf_document_write": (c_int, [POINTER(llmperf_profile), c_uint32, c_char_p]),
    "llmperf_artifacts_write": (c_int, [POINTER(llmperf_profile), c_char_p]),
    "llmperf_runs_compare": (c_int, [const_profile_pp, c_size_t, const_profile_pp, c_size_t, c_double, c_uint32, POINTER(text), POINTER(c_uint64)]),
    # profile.h
    "llmperf_profile_count": (c_size_t, [POINTER(llmperf_profile), c_uint32]),
    "llmperf_profile_region": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_region_stats)]),
    "llmperf_profile_kernel": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_kernel_stats)]),
    "llmperf_profile_kernel_shape": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_kernel_shape)]),
    "llmperf_profile_operator": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_operator_stats)]),
    "llmperf_profile_capture": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_capture_stats)]),
    "llmperf_profile_metric": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_metric_stats)]),
    "llmperf_profile_window": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_window_stats)]),
    "llmperf_profile_window_kernel": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_window_kernel)]),
    "llmperf_profile_memory": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_memory)]),
    "llmperf_profile_energy": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_energy)]),
    "llmperf_profile_requests": (c_int, [POINTER(llmperf_profile), POINTER(llmperf_requests)]),
    "llmperf_profile_latency": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_latency)]),
    "llmperf_profile_slow_request": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_slow_request)]),
    "llmperf_profile_load": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_load)]),
    "llmperf_profile_host_call": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_host_call)]),
    "llmperf_profile_iteration": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_iteration)]),
    "llmperf_profile_iteration_stats": (c_int, [POINTER(llmperf_profile), c_size_t, POINTER(llmperf_iteration_stats)]),
    "llmperf_profile_class": (c_char_p, [POINTER(llmperf_profile), c_size_t]),
    "llmperf_profile_ledger": (c_int, [POINTER(llmperf_profile), POINTER(llmperf_ledger)]),
    "llmperf_profile_problem": (c_char_p, [POINTER(llmperf_profile), c_size_t]),
    "llmperf_profile_note": (c_char_p, [POINTER(llmperf_profile), c_size_t]),
    "llmperf_profile_fact": (c_char_p, [POINTER(llmperf_profile), c_char_p]),
    "llmperf_profile_apply_model": (c_int, [POINTER(llmperf_profile), c_char_p, c_char_p]),
    "llmperf_profile_save": (c_int, [POINTER(llmperf_profile), c_char_p]),
    "llmperf_profile_open": (c_int, [c_char_p, POINTER(POINTER(llmperf_profile))]),
    "llmperf_profile_merge": (c_int, [const_profile_pp, c_size_t, POINTER(POINTER(llmperf_profile))]),
    "llmperf_profile_free": (None, [POINTER(llmperf_profile)]),
    # region.h
    "llmperf_region_begin": (None, [c_char_p]),
    "llmperf_region_begin_attr": (None, [POINTER(llmperf_region_attr)]),
    "llmperf_region_end": (None, []),
    "llmperf_region_count": (None, [c_uint32, c_uint64]),
    "llmperf_prefill_begin": (None, [c_uint64]),
    "llmperf_prefill_end": (None, []),
    "llmperf_decode_all_begin": (None, []),
    "llmperf_decode_all_end": (None, [c_uint64]),
    "llmperf_decode_step_begin": (None, [c_uint64, c_uint64]),
    "llmperf_decode_step_end": (None, []),
    # request.h
    "llmperf_request_begin": (c_uint64, [POINTER(llmperf_request_attr)]),
    "llmperf_request_first_token": (None, [c_uint64]),
    "llmperf_request_tokens": (None, [c_uint64, c_uint64]),
    "llmperf_requests_token": (None, [POINTER(c_uint64), c_size_t]),
    "llmperf_request_end": (None, [c_uint64, c_uint32, c_uint64]),
    # roofline.h
    "llmperf_model_floor": (c_int, [POINTER(llmperf_model), POINTER(llmperf_step), POINTER(llmperf_hardware), c_uint32, POINTER(llmperf_step_floor)]),
    # session.h
    "llmperf_prewarm": (c_int, []),
    "llmperf_session_check": (c_int, [POINTER(llmperf_session_options), POINTER(c_uint32)]),
    "llmperf_session_start": (c_int, [POINTER(llmperf_session_options), POINTER(POINTER(llmperf_session))]),
    "llmperf_model_announce": (c_int, [c_char_p, c_char_p, c_uint32]),
    "llmperf_session_pause": (c_int, [POINTER(llmperf_session)]),
    "llmperf_session_resume": (c_int, [POINTER(llmperf_session)]),
    "llmperf_session_flush": (c_int, [POINTER(llmperf_session)]),
    "llmperf_session_snapshot": (c_int, [POINTER(llmperf_session), POINTER(POINTER(llmperf_profile))]),
    "llmperf_session_ledger": (c_int, [POINTER(llmperf_session), POINTER(llmperf_ledger)]),
    "llmperf_session_status": (c_int, [POINTER(llmperf_session), POINTER(llmperf_session_state)]),
    "llmperf_session_add_input": (c_int, [POINTER(llmperf_session), POINTER(llmperf_input)]),
    "llmperf_session_run_dir": (c_char_p, [POINTER(llmperf_session)]),
    "llmperf_session_iterations": (c_int, [POINTER(llmperf_session), c_uint64, POINTER(llmperf_iteration), c_size_t, POINTER(c_size_t)]),
    "llmperf_session_class": (c_char_p, [POINTER(llmperf_session), c_size_t]),
    "llmperf_session_stop_async": (c_int, [POINTER(llmperf_session)]),
    "llmperf_session_wait": (c_int, [POINTER(llmperf_session), POINTER(POINTER(llmperf_profile))]),
    "llmperf_session_stop": (c_int, [POINTER(llmperf_session), POINTER(POINTER(llmperf_profile))]),
    "llmperf_session_free": (None, [POINTER(llmperf_session)]),
    # sys/analysis.h
    "llmperf_utilisation_compute": (c_int, [POINTER(llmperf_utilisation_input), POINTER(llmperf_utilisation)]),
    "llmperf_model_decode_turn": (c_int, [POINTER(llmperf_model), POINTER(llmperf_step), POINTER(llmperf_hardware), c_uint32, POINTER(llmperf_decode_turn)]),
    "llmperf_model_weight_bytes": (c_int, [POINTER(llmperf_model), c_uint32, POINTER(c_uint64)]),
    "llmperf_model_kv_bytes": (c_int, [POINTER(llmperf_model), c_uint32, POINTER(c_uint64)]),
    "llmperf_convention_name": (c_char_p, [c_size_t]),
    "llmperf_convention_note": (c_char_p, [c_char_p]),
    "llmperf_model_flops": (c_int, [POINTER(llmperf_model), POINTER(llmperf_step), c_char_p, POINTER(c_uint64)]),
    "llmperf_experts_expected": (c_double, [c_uint64, c_uint64, c_uint64]),
    # sys/check.h
    "llmperf_text_write": (c_int, [c_char_p, c_char_p]),
    "llmperf_text_control": (c_size_t, [c_char_p]),
    "llmperf_validate": (c_int, [c_char_p, c_char_p]),
    "llmperf_repeats_compare": (c_int, [const_profile_pp, c_size_t, c_double, c_uint32, POINTER(text), POINTER(c_uint64)]),
    "llmperf_machine_check": (c_int, [c_uint32, POINTER(text)]),
    # sys/config.h
    "llmperf_config_dir": (c_char_p, []),
    "llmperf_config_open": (c_int, [c_char_p, POINTER(POINTER(llmperf_config))]),
    "llmperf_config_parse": (c_int, [c_char_p, POINTER(POINTER(llmperf_config))]),
    "llmperf_config_compose": (c_int, [c_char_p, POINTER(c_char_p), c_size_t, c_char_p, POINTER(POINTER(llmperf_config))]),
    "llmperf_config_integer": (c_int, [POINTER(llmperf_config), c_char_p, POINTER(c_int64)]),
    "llmperf_config_number": (c_int, [POINTER(llmperf_config), c_char_p, POINTER(c_double)]),
    "llmperf_config_text": (c_int, [POINTER(llmperf_config), c_char_p, POINTER(c_char_p)]),
    "llmperf_config_boolean": (c_int, [POINTER(llmperf_config), c_char_p, POINTER(c_int32)]),
    "llmperf_config_has": (c_int32, [POINTER(llmperf_config), c_char_p]),
    "llmperf_config_length": (c_size_t, [POINTER(llmperf_config), c_char_p]),
    "llmperf_config_key": (c_char_p, [POINTER(llmperf_config), c_char_p, c_size_t]),
    "llmperf_config_origin": (c_int, [POINTER(llmperf_config), c_char_p, POINTER(c_char_p), POINTER(c_uint32)]),
    "llmperf_config_document": (c_int, [POINTER(llmperf_config), c_char_p, c_uint32, POINTER(text)]),
    "llmperf_config_fingerprint": (c_int, [POINTER(llmperf_config), POINTER(text)]),
    "llmperf_config_free": (None, [POINTER(llmperf_config)]),
    # sys/counters.h
    "llmperf_counters_chip": (c_char_p, [c_size_t]),
    "llmperf_counters_presets": (c_int, [POINTER(text)]),
    "llmperf_counters_open": (c_int, [c_char_p, c_char_p, POINTER(POINTER(llmperf_counters))]),
    "llmperf_counters_list": (c_int, [c_char_p, c_char_p, c_uint32, POINTER(POINTER(llmperf_counters))]),
    "llmperf_counters_count": (c_size_t, [POINTER(llmperf_counters)]),
    "llmperf_counters_info": (c_int, [POINTER(llmperf_counters), c_size_t, POINTER(llmperf_counter_info)]),
    "llmperf_counters_passes": (c_uint32, [POINTER(llmperf_counters)]),
    "llmperf_counters_method": (c_uint32, [POINTER(llmperf_counters)]),
    "llmperf_counters_free": (None, [POINTER(llmperf_counters)]),
    # sys/hardware.h
    "llmperf_hardware_capability": (c_int32, [POINTER(llmperf_hardware)]),
    "llmperf_hardware_dtype": (c_char_p, [c_size_t]),
    "llmperf_hardware_names": (c_int, [POINTER(text)]),
    "llmperf_measured_peak_name": (c_char_p, [c_size_t]),
    "llmperf_hardware_measured_peak": (c_int, [POINTER(llmperf_hardware), c_char_p, POINTER(llmperf_measured_peak)]),
    "llmperf_hardware_measured": (c_char_p, [POINTER(llmperf_hardware)]),
    "llmperf_hardware_measure": (c_int, [c_int32, POINTER(llmperf_measure_options), POINTER(text)]),
    # sys/inject.h
    "llmperf_attach_start": (c_int, [c_uint32, c_char_p, c_uint32]),
    "llmperf_attach_stop": (c_int, [c_uint32, text, c_size_t]),
    # sys/option.h
    "llmperf_option_info_get": (c_int, [c_size_t, POINTER(llmperf_option_info)]),
    "llmperf_nearest_word": (c_char_p, [c_char_p, POINTER(c_char_p)]),
    "llmperf_profile_set_option": (c_int, [POINTER(llmperf_profile), c_char_p, c_char_p]),
    # sys/run.h
    "llmperf_job_find": (c_int, [c_char_p, POINTER(POINTER(llmperf_job))]),
    "llmperf_job_run_count": (c_size_t, [POINTER(llmperf_job)]),
    "llmperf_job_run": (c_char_p, [POINTER(llmperf_job), c_size_t]),
    "llmperf_job_forked_count": (c_size_t, [POINTER(llmperf_job)]),
    "llmperf_job_processes": (c_size_t, [POINTER(llmperf_job), POINTER(c_uint32), c_size_t]),
    "llmperf_job_merge": (c_int, [POINTER(llmperf_job), POINTER(POINTER(llmperf_profile))]),
    "llmperf_job_free": (None, [POINTER(llmperf_job)]),
    "llmperf_runs_retain": (c_int, [c_char_p, c_uint64]),
    "llmperf_profile_merge_counters": (c_int, [const_profile_pp, c_size_t, c_char_p, POINTER(c_size_t), POINTER(POINTER(llmperf_profile))]),
    "llmperf_progress": (c_char_p, [POINTER(c_double)]),
    # sys/trace.h
    "llmperf_trace_file_name": (c_char_p, [c_uint32]),
    "llmperf_trace_export": (c_int, [c_char_p, c_uint32, c_char_p, POINTER(llmperf_trace_summary)]),
    # sys/vendor.h
    "llmperf_tool_find": (c_int, [c_uint32, POINTER(text), POINTER(text)]),
    "llmperf_commands_build": (c_int, [POINTER(llmperf_config), POINTER(llmperf_tool_request), POINTER(llmperf_profile), POINTER(POINTER(llmperf_commands))]),
    "llmperf_commands_count": (c_size_t, [POINTER(llmperf_commands)]),
    "llmperf_commands_argument": (c_char_p, [POINTER(llmperf_commands), c_size_t, c_size_t]),
    "llmperf_commands_line": (c_int, [POINTER(llmperf_commands), c_size_t, POINTER(text)]),
    "llmperf_commands_step": (c_char_p, [POINTER(llmperf_commands), c_size_t]),
    "llmperf_commands_output": (c_char_p, [POINTER(llmperf_commands), c_size_t]),
    "llmperf_commands_note": (c_char_p, [POINTER(llmperf_commands), c_size_t]),
    "llmperf_commands_json": (c_int, [POINTER(llmperf_commands), POINTER(text)]),
    "llmperf_commands_free": (None, [POINTER(llmperf_commands)]),
    "llmperf_format_detect": (c_int, [c_char_p, POINTER(c_uint32)]),
    "llmperf_import": (c_int, [POINTER(c_char_p), c_size_t, POINTER(llmperf_import_options), POINTER(POINTER(llmperf_profile))]),
}
