# SPDX-License-Identifier: Apache-2.0
"""The C API for ctypes: constants, structures and the prototype of each exported function.

Nothing here loads the library (see _library.py). Names are those of include/llmperf/*.h; the tests
compile these declarations against the headers.
"""
from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    _Pointer,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from typing import Any, Dict, List, Tuple

from ._native_analysis import *  # noqa: F401,F403
from ._native_constants import *  # noqa: F401,F403
from ._native_profile import *  # noqa: F401,F403

STRUCTURES: List[Any] = [
    *ROWS,
    llmperf_import_options,
    llmperf_trace_summary,
    llmperf_stage,
    llmperf_advice,
    llmperf_evidence,
    llmperf_gpu,
    llmperf_region_attr,
    llmperf_counter_info,
    llmperf_session_options,
    llmperf_option_info,
    llmperf_session_state,
    llmperf_input,
    llmperf_hardware_query,
    llmperf_hardware_value,
    llmperf_ceiling,
    llmperf_measure_options,
    llmperf_tool_request,
    llmperf_step_floor,
    llmperf_decode_turn,
    llmperf_utilisation_input,
    llmperf_utilisation,
    llmperf_model_info,
    llmperf_step,
    llmperf_work,
    llmperf_operator_work,
]


def sized(structure: Any) -> Any:
    """A zeroed structure with struct_size set, like the ..._INIT macros of C."""
    return structure(struct_size=sizeof(structure))


log_function = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)

_config = POINTER(llmperf_config)
_commands = POINTER(llmperf_commands)
_model = POINTER(llmperf_model)
_hardware = POINTER(llmperf_hardware)
_job = POINTER(llmperf_job)
_counters = POINTER(llmperf_counters)
_profile = POINTER(llmperf_profile)


class const_profile_pp(_Pointer):  # type: ignore[type-arg]
    """const llmperf_profile *const *: profiles that the library only reads."""

    _type_ = _profile


_session = POINTER(llmperf_session)
# A text that the caller frees. ctypes copies a c_char_p on return, and its address is lost.
text = POINTER(c_char)

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
    "llmperf_profile_stage": (c_int, [_profile, c_size_t, POINTER(llmperf_stage)]),
    "llmperf_profile_advice": (c_int, [_profile, c_size_t, POINTER(llmperf_advice)]),
    "llmperf_profile_gpu": (c_int, [_profile, c_size_t, POINTER(llmperf_gpu)]),
    "llmperf_profile_stage_reason": (c_char_p, [_profile, c_size_t, c_char_p]),
    "llmperf_profile_evidence": (c_int, [_profile, c_size_t, c_size_t, POINTER(llmperf_evidence)]),
    # hardware.h
    "llmperf_hardware_find": (
        c_int, [POINTER(llmperf_hardware_query), _config, POINTER(_hardware)]),
    "llmperf_hardware_local": (c_int, [c_int32, _config, POINTER(_hardware)]),
    "llmperf_hardware_free": (None, [_hardware]),
    "llmperf_hardware_name": (c_char_p, [_hardware]),
    "llmperf_hardware_peak": (c_int, [_hardware, c_char_p, POINTER(llmperf_hardware_value)]),
    "llmperf_hardware_quantity": (c_int, [_hardware, c_uint32, POINTER(llmperf_hardware_value)]),
    "llmperf_hardware_warning": (c_char_p, [_hardware, c_size_t]),
    # model.h
    "llmperf_dtype_find": (c_int, [c_char_p, POINTER(c_uint32)]),
    "llmperf_model_open": (c_int, [c_char_p, POINTER(_model)]),
    "llmperf_model_free": (None, [_model]),
    "llmperf_model_info_get": (c_int, [_model, POINTER(llmperf_model_info)]),
    "llmperf_model_warning": (c_char_p, [_model, c_size_t]),
    "llmperf_model_assumption": (c_char_p, [_model, c_size_t]),
    "llmperf_model_work": (c_int, [_model, POINTER(llmperf_step), POINTER(llmperf_work)]),
    "llmperf_model_operator": (
        c_int,
        [_model, POINTER(llmperf_step), c_size_t, POINTER(llmperf_operator_work)],
    ),
    # output.h
    "llmperf_document_text": (c_int, [_profile, c_uint32, POINTER(text)]),
    "llmperf_document_write": (c_int, [_profile, c_uint32, c_char_p]),
    "llmperf_artifacts_write": (c_int, [_profile, c_char_p]),
    "llmperf_runs_compare": (
        c_int,
        [const_profile_pp, c_size_t, const_profile_pp, c_size_t, c_double, c_uint32, POINTER(text),
         POINTER(c_uint64)]),
    # profile.h
    "llmperf_profile_window": (c_int, [_profile, c_size_t, POINTER(llmperf_window_stats)]),
    "llmperf_profile_window_kernel": (c_int, [_profile, c_size_t, POINTER(llmperf_window_kernel)]),
    "llmperf_profile_iteration": (c_int, [_profile, c_size_t, POINTER(llmperf_iteration)]),
    "llmperf_profile_iteration_stats": (
        c_int,
        [_profile, c_size_t, POINTER(llmperf_iteration_stats)],
    ),
    "llmperf_profile_count": (c_size_t, [_profile, c_uint32]),
    "llmperf_profile_class": (c_char_p, [_profile, c_size_t]),
    "llmperf_profile_region": (c_int, [_profile, c_size_t, POINTER(llmperf_region_stats)]),
    "llmperf_profile_kernel": (c_int, [_profile, c_size_t, POINTER(llmperf_kernel_stats)]),
    "llmperf_profile_operator": (c_int, [_profile, c_size_t, POINTER(llmperf_operator_stats)]),
    "llmperf_profile_apply_model": (c_int, [_profile, c_char_p, c_char_p]),
    "llmperf_profile_capture": (c_int, [_profile, c_size_t, POINTER(llmperf_capture_stats)]),
    "llmperf_profile_metric": (c_int, [_profile, c_size_t, POINTER(llmperf_metric_stats)]),
    "llmperf_profile_ledger": (c_int, [_profile, POINTER(llmperf_ledger)]),
    "llmperf_profile_problem": (c_char_p, [_profile, c_size_t]),
    "llmperf_profile_note": (c_char_p, [_profile, c_size_t]),
    "llmperf_profile_fact": (c_char_p, [_profile, c_char_p]),
    "llmperf_profile_save": (c_int, [_profile, c_char_p]),
    "llmperf_profile_open": (c_int, [c_char_p, POINTER(_profile)]),
    "llmperf_profile_merge": (c_int, [const_profile_pp, c_size_t, POINTER(_profile)]),
    "llmperf_profile_free": (None, [_profile]),
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
    # roofline.h
    "llmperf_model_floor": (
        c_int, [_model, POINTER(llmperf_step), _hardware, c_uint32, POINTER(llmperf_step_floor)]),
    # session.h
    "llmperf_session_check": (c_int, [POINTER(llmperf_session_options), POINTER(c_uint32)]),
    "llmperf_session_start": (c_int, [POINTER(llmperf_session_options), POINTER(_session)]),
    "llmperf_session_pause": (c_int, [_session]),
    "llmperf_session_resume": (c_int, [_session]),
    "llmperf_session_add_input": (c_int, [_session, POINTER(llmperf_input)]),
    "llmperf_session_flush": (c_int, [_session]),
    "llmperf_session_snapshot": (c_int, [_session, POINTER(_profile)]),
    "llmperf_session_ledger": (c_int, [_session, POINTER(llmperf_ledger)]),
    "llmperf_session_status": (c_int, [_session, POINTER(llmperf_session_state)]),
    "llmperf_session_run_dir": (c_char_p, [_session]),
    "llmperf_session_class": (c_char_p, [_session, c_size_t]),
    "llmperf_session_iterations": (
        c_int,
        [_session, c_uint64, POINTER(llmperf_iteration), c_size_t, POINTER(c_size_t)],
    ),
    "llmperf_session_stop_async": (c_int, [_session]),
    "llmperf_session_wait": (c_int, [_session, POINTER(_profile)]),
    "llmperf_prewarm": (c_int, []),
    "llmperf_session_stop": (c_int, [_session, POINTER(_profile)]),
    "llmperf_session_free": (None, [_session]),
    # sys/analysis.h
    "llmperf_model_weight_bytes": (c_int, [_model, c_uint32, POINTER(c_uint64)]),
    "llmperf_model_kv_bytes": (c_int, [_model, c_uint32, POINTER(c_uint64)]),
    "llmperf_convention_name": (c_char_p, [c_size_t]),
    "llmperf_convention_note": (c_char_p, [c_char_p]),
    "llmperf_model_flops": (
        c_int,
        [_model, POINTER(llmperf_step), c_char_p, POINTER(c_uint64)],
    ),
    "llmperf_experts_expected": (c_double, [c_uint64, c_uint64, c_uint64]),
    "llmperf_model_decode_turn": (
        c_int, [_model, POINTER(llmperf_step), _hardware, c_uint32, POINTER(llmperf_decode_turn)]),
    "llmperf_utilisation_compute": (
        c_int, [POINTER(llmperf_utilisation_input), POINTER(llmperf_utilisation)]),
    # sys/check.h
    "llmperf_text_control": (c_size_t, [c_char_p]),
    "llmperf_text_write": (c_int, [c_char_p, c_char_p]),
    "llmperf_validate": (c_int, [c_char_p, c_char_p]),
    "llmperf_repeats_compare": (
        c_int, [const_profile_pp, c_size_t, c_double, c_uint32, POINTER(text), POINTER(c_uint64)]),
    "llmperf_machine_check": (c_int, [c_uint32, POINTER(text)]),
    # sys/config.h
    "llmperf_config_dir": (c_char_p, []),
    "llmperf_config_open": (c_int, [c_char_p, POINTER(_config)]),
    "llmperf_config_integer": (c_int, [_config, c_char_p, POINTER(c_int64)]),
    "llmperf_config_number": (c_int, [_config, c_char_p, POINTER(c_double)]),
    "llmperf_config_text": (c_int, [_config, c_char_p, POINTER(c_char_p)]),
    "llmperf_config_length": (c_size_t, [_config, c_char_p]),
    "llmperf_config_boolean": (c_int, [_config, c_char_p, POINTER(c_int32)]),
    "llmperf_config_compose": (c_int, [c_char_p, POINTER(c_char_p), c_size_t, POINTER(_config)]),
    "llmperf_config_compose_model": (
        c_int, [c_char_p, POINTER(c_char_p), c_size_t, c_char_p, POINTER(_config)]),
    "llmperf_config_document": (c_int, [_config, c_char_p, c_uint32, POINTER(text)]),
    "llmperf_config_has": (c_int32, [_config, c_char_p]),
    "llmperf_config_parse": (c_int, [c_char_p, POINTER(_config)]),
    "llmperf_config_fingerprint": (c_int, [_config, POINTER(text)]),
    "llmperf_config_key": (c_char_p, [_config, c_char_p, c_size_t]),
    "llmperf_config_origin": (c_int, [_config, c_char_p, POINTER(c_char_p), POINTER(c_uint32)]),
    "llmperf_config_free": (None, [_config]),
    # sys/counters.h
    "llmperf_counters_chip": (c_char_p, [c_size_t]),
    "llmperf_counters_presets": (c_int, [POINTER(text)]),
    "llmperf_counters_open": (c_int, [c_char_p, c_char_p, POINTER(_counters)]),
    "llmperf_counters_list": (c_int, [c_char_p, c_char_p, c_uint32, POINTER(_counters)]),
    "llmperf_counters_count": (c_size_t, [_counters]),
    "llmperf_counters_info": (c_int, [_counters, c_size_t, POINTER(llmperf_counter_info)]),
    "llmperf_counters_passes": (c_uint32, [_counters]),
    "llmperf_counters_method": (c_uint32, [_counters]),
    "llmperf_counters_free": (None, [_counters]),
    # sys/hardware.h
    "llmperf_hardware_capability": (c_int32, [_hardware]),
    "llmperf_hardware_dtype": (c_char_p, [c_size_t]),
    "llmperf_hardware_ceiling": (c_int, [_hardware, c_char_p, POINTER(llmperf_ceiling)]),
    "llmperf_ceiling_name": (c_char_p, [c_size_t]),
    "llmperf_hardware_measure": (
        c_int, [c_int32, POINTER(llmperf_measure_options), POINTER(text)]),
    "llmperf_hardware_measured": (c_char_p, [_hardware]),
    "llmperf_hardware_names": (c_int, [POINTER(text)]),
    # sys/option.h
    "llmperf_profile_set_option": (c_int, [_profile, c_char_p, c_char_p]),
    "llmperf_option_info_get": (c_int, [c_size_t, POINTER(llmperf_option_info)]),
    # sys/run.h
    "llmperf_row_layout": (c_int, [c_char_p, POINTER(text)]),
    "llmperf_runs_retain": (c_int, [c_char_p, c_uint64]),
    "llmperf_profile_merge_counters": (
        c_int, [const_profile_pp, c_size_t, c_char_p, POINTER(c_size_t), POINTER(_profile)]),
    "llmperf_job_find": (c_int, [c_char_p, POINTER(_job)]),
    "llmperf_job_run_count": (c_size_t, [_job]),
    "llmperf_job_run": (c_char_p, [_job, c_size_t]),
    "llmperf_job_forked_count": (c_size_t, [_job]),
    "llmperf_job_processes": (c_size_t, [_job, POINTER(c_uint32), c_size_t]),
    "llmperf_job_merge": (c_int, [_job, POINTER(_profile)]),
    "llmperf_job_free": (None, [_job]),
    # sys/trace.h
    "llmperf_trace_file_name": (c_char_p, [c_uint32]),
    "llmperf_trace_export": (c_int, [c_char_p, c_uint32, c_char_p, POINTER(llmperf_trace_summary)]),
    # sys/vendor.h
    "llmperf_tool_find": (c_int, [c_uint32, POINTER(text), POINTER(text)]),
    "llmperf_commands_build": (c_int, [_config, POINTER(llmperf_tool_request), _profile, POINTER(_commands)]),
    "llmperf_commands_count": (c_size_t, [_commands]),
    "llmperf_commands_argument": (c_char_p, [_commands, c_size_t, c_size_t]),
    "llmperf_commands_line": (c_int, [_commands, c_size_t, POINTER(text)]),
    "llmperf_commands_step": (c_char_p, [_commands, c_size_t]),
    "llmperf_commands_output": (c_char_p, [_commands, c_size_t]),
    "llmperf_commands_note": (c_char_p, [_commands, c_size_t]),
    "llmperf_commands_json": (c_int, [_commands, POINTER(text)]),
    "llmperf_commands_free": (None, [_commands]),
    "llmperf_format_detect": (c_int, [c_char_p, POINTER(c_uint32)]),
    "llmperf_import": (
        c_int, [POINTER(c_char_p), c_size_t, POINTER(llmperf_import_options), POINTER(_profile)]),
}
