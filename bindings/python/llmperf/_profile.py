# SPDX-License-Identifier: Apache-2.0
"""Profiles: totals of regions and kernels at one moment, and the ledger of records."""
from __future__ import annotations

import importlib
import json
import weakref
from ctypes import POINTER, Array, byref, c_char_p, c_uint32, cast
from functools import partial
from math import isnan
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _native
from ._html import profile_html
from ._library import AnyPath, check, library, name_of, path_bytes, take_text, text_of

_DOCUMENTS = {
    "report.md": _native.LLMPERF_DOCUMENT_REPORT_MD,
    "stages.md": _native.LLMPERF_DOCUMENT_STAGES_MD,
    "kernels.md": _native.LLMPERF_DOCUMENT_KERNELS_MD,
    "operators.md": _native.LLMPERF_DOCUMENT_OPERATORS_MD,
    "metrics.json": _native.LLMPERF_DOCUMENT_METRICS_JSON,
    "env.json": _native.LLMPERF_DOCUMENT_ENV_JSON,
    "stakeholder_summary.md": _native.LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD,
    "assumptions.md": _native.LLMPERF_DOCUMENT_ASSUMPTIONS_MD,
    "inputs.yaml": _native.LLMPERF_DOCUMENT_INPUTS_YAML,
    "metrics.prom": _native.LLMPERF_DOCUMENT_PROMETHEUS,
    "rows.csv": _native.LLMPERF_DOCUMENT_ROWS_CSV,
    "rows.jsonl": _native.LLMPERF_DOCUMENT_ROWS_JSONL,
    "report.html": _native.LLMPERF_DOCUMENT_REPORT_HTML,
}

_RATES = {_native.LLMPERF_RATE_STAGE: "stage", _native.LLMPERF_RATE_HOST: "host",
          _native.LLMPERF_RATE_TOTAL: "total"}
_CLOCKS = {_native.LLMPERF_CLOCK_HOST: "host", _native.LLMPERF_CLOCK_DEVICE: "gpu"}
_SEVERITIES = {_native.LLMPERF_SEVERITY_HIGH: "high", _native.LLMPERF_SEVERITY_MEDIUM: "medium",
               _native.LLMPERF_SEVERITY_LOW: "low"}

# Rows of a profile, LLMPERF_ROWS_...: the end of the name of the C function that reads one, its
# structure, and the names of its member "kind".
_TABLES: Dict[str, Tuple[str, Any, Optional[int]]] = {
    "regions": ("region", _native.llmperf_region_stats, _native.LLMPERF_NAME_REGION),
    "kernels": ("kernel", _native.llmperf_kernel_stats, _native.LLMPERF_NAME_ACTIVITY),
    "kernel_shapes": ("kernel_shape", _native.llmperf_kernel_shape, _native.LLMPERF_NAME_ACTIVITY),
    "host_calls": ("host_call", _native.llmperf_host_call, None),
    "memory": ("memory", _native.llmperf_memory, None),
    "operators": ("operator", _native.llmperf_operator_stats, None),
    "captures": ("capture", _native.llmperf_capture_stats, None),
    "windows": ("window", _native.llmperf_window_stats, None),
    "energy": ("energy", _native.llmperf_energy, None),
    "metrics": ("metric", _native.llmperf_metric_stats, None),
    "iterations": ("iteration", _native.llmperf_iteration, None),
    "iteration_stats": ("iteration_stats", _native.llmperf_iteration_stats, None),
    "stages": ("stage", _native.llmperf_stage, None),
    "advice": ("advice", _native.llmperf_advice, None),
    "gpus": ("gpu", _native.llmperf_gpu, None),
}
_INNER_TABLES: Dict[str, Tuple[str, Any, Optional[int]]] = {
    "window_kernels": ("window_kernel", _native.llmperf_window_kernel,
                       _native.LLMPERF_NAME_ACTIVITY),
    "latencies": ("latency", _native.llmperf_latency, None),
    "slow_requests": ("slow_request", _native.llmperf_slow_request, None),
    "load": ("load", _native.llmperf_load, None),
}

_REASONS = ("other", "stop", "length", "aborted", "failed")  # LLMPERF_FINISH_...

Row = Dict[str, Any]


class Profile:
    """Totals of region paths and kernels, from a session or open().

    Times are in milliseconds. Unknown values are None; the reason is in `notes`. close(), the end
    of a `with` block, or the end of the object's life free the memory in the library. Several
    threads may read a profile at the same time; close() must not run at the same time.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._free = weakref.finalize(self, library().llmperf_profile_free, handle)

    def close(self) -> None:
        """Free the profile; reading it afterwards raises ValueError. A second call does nothing."""
        self._free()
        self._handle = None

    def __enter__(self) -> "Profile":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def regions(self) -> List[Row]:
        """A row for each region path and device, parents first; a path on two devices has two rows.

        The row with path "" is device work that was launched with no region open.
        The keys are the fields of llmperf_region_stats (rows.h), among them path, label, parent,
        stage, depth, kind ("stage" or "operator"), device, instances, wall_sum_ms, wall_mean_ms,
        wall_p50_ms, gpu_busy_ms, kernel_ms, idle_ms, kernel_count, memcpy_bytes, tokens, flops,
        bytes.
        """
        return self._rows("regions")

    def kernels(self) -> List[Row]:
        """A row for each kernel, memcpy or memset of a region and device, largest total first.

        The keys are the fields of llmperf_kernel_stats, among them name, demangled, short_name,
        region ("": launched with no region open, None: the launch was not recorded), captured_in,
        kind ("kernel", "memcpy", "memset"), device, calls, bytes, total_ms, mean_ms, p50_ms, share
        (0 to 1).
        """
        return self._rows("kernels")

    def kernel_shapes(self) -> List[Row]:
        """A row for each shape of a kernel, memcpy or memset, largest total first.

        The shape of a kernel is the geometry of its launch: grid_x to grid_z, block_x to block_z,
        registers, static_shared_bytes, dynamic_shared_bytes; that of a memcpy is source,
        destination ("pageable", "pinned", "device" ...) and call ("sync", "async"). The other keys
        are the fields of llmperf_kernel_shape, among them name, region, kind, device, calls,
        total_ms, mean_ms, launch_ms (host time of timed_launches launch calls), occupancy, waves,
        tail_share. Kernels of class GEMM have m, n, k, batch, tflops and gbs where the model's
        products tell them, else shape_reason. Empty where the source does not report shapes.
        """
        return self._rows("kernel_shapes")

    def host_calls(self) -> List[Row]:
        """A row for each function of the CUDA driver and region, longest total first.

        Calls that wait for the device, copy, allocate or load code, in tier deep: region, call
        ("cuStreamSynchronize"), calls, total_ms, max_ms, and of compared_calls the time in which
        the GPU was idle, idle_ms, and the part of it between kernels, between_ms.
        """
        return self._rows("host_calls")

    def memory(self) -> List[Row]:
        """Device memory that was allocated in the session, in tier deep.

        A row for each device (region None), then one for each region, most allocated first: region,
        device, allocations, frees, allocated_bytes, largest_bytes, live_bytes, peak_bytes. Devices
        have kept_bytes, pool_reserved_bytes, pool_used_bytes, weight_bytes, cache_bytes,
        cache_allocated_bytes, total_bytes, free_bytes, and in reason why one of these is None.
        """
        return self._rows("memory")

    def operators(self) -> List[Row]:
        """A row for each label below a stage, largest total first.

        The keys are name, stage, calls, total_time_ms (host), cuda_time_ms (device busy), mean_ms.
        """
        return self._rows("operators")

    def captures(self) -> List[Row]:
        """Work of CUDA graphs, a row for each pair of launch region and capture region.

        The keys are region ("": launched with no region open, None: the launch was not recorded),
        captured_in ("LLM@(...)": unknown, with the reason), device, depth, kernel_count,
        memory_count, kernel_ms, memory_ms (nested capture regions included), exclusive_ms, share
        (0 to 1).
        """
        return self._rows("captures")

    def windows(self) -> List[Row]:
        """Triggered windows of tier "light", each with its "kernels".

        The keys are the fields of llmperf_window_stats (rows.h), among them number, rule, value,
        threshold, units, wall_ms, busy_ms, idle_ms. The keys of a kernel are name, region, kind,
        calls, total_ms. Device times of these windows are in no other row of the profile.
        """
        kernels = self._rows("window_kernels")
        rows = self._rows("windows")
        for row in rows:
            row["kernels"] = [kernel for kernel in kernels
                              if (kernel["window"], kernel["process_id"])
                              == (row["number"], row["process_id"])]
        return rows

    def energy(self) -> List[Row]:
        """Energy, clocks and memory of each GPU; empty if NVML was not read (fact "energy_reason").

        The keys are the fields of llmperf_energy (rows.h), among them device, source ("counter",
        "power", None: unknown, with a reason), energy_j, energy_error_j, stages_j, outside_j,
        power_w, sm_clock_mhz, throttled_share, memory_peak_bytes. Energy of stages is in stages
        (energy_j, energy_error_j, token_j) and regions().
        """
        return self._rows("energy")

    def requests(self) -> Optional[Row]:
        """The requests of a serving engine; None: the program reported none.

        The keys are the fields of llmperf_requests (rows.h), among them requests, finished,
        prompt_tokens, output_tokens, good, requests_per_s, output_tokens_per_s, goodput_per_s;
        latencies: a dict from "queue", "ttft", "tpot", "itl", "e2e", "step", "step_prefill" to
        count, mean_ms, p50_ms, p90_ms, p99_ms, max_ms (without values: left out); slowest: the ten
        slowest requests by "ttft", "tpot" and "e2e"; load: batch and context over time.
        """
        lib = library()
        if not lib.llmperf_profile_count(self._pointer(), _native.LLMPERF_ROWS_REQUESTS):
            return None
        totals = _native.sized(_native.llmperf_requests)
        check(lib.llmperf_profile_requests(self._pointer(), byref(totals)))
        row = row_of(totals)
        row["latencies"] = {latency.pop("quantity"): latency
                            for latency in self._rows("latencies")}
        row["slowest"] = self._rows("slow_requests")
        for slow in row["slowest"]:
            slow["reason"] = _REASONS[slow["reason"]]
        row["load"] = self._rows("load")
        return row

    def metrics(self) -> List[Row]:
        """A row for each named metric (hardware counter, or metric of ncu) of a region or kernel.

        The keys are the fields of llmperf_metric_stats: name, unit, group, source, region, kernel
        (None: a metric of the whole region), text, device, process_id, count, mean, std, min, max.
        """
        return self._rows("metrics")

    def iterations(self) -> List[Row]:
        """The newest iterations of stages, oldest first.

        The keys are the fields of llmperf_iteration (rows.h): region, sequence, begin_ns,
        activities, tokens, sequences, context, flops, bytes, wall_ms, span_ms, busy_ms, idle_ms,
        idle_launch_ms, idle_wait_ms; class_ms is a dict from kernel class to milliseconds.
        """
        rows = self._rows("iterations")
        name_classes(rows, partial(library().llmperf_profile_class, self._pointer()))
        return rows

    def iteration_stats(self) -> List[Row]:
        """Statistics of the iterations of each stage, one row for each quantity.

        The keys are region, quantity ("wall", "span", "busy", "idle", "idle_launch", "idle_wait",
        or a kernel class if is_class is 1), count, sum_ms, mean_ms, std_ms, min_ms, max_ms,
        p50_ms, p95_ms, p99_ms.
        """
        return self._rows("iteration_stats")

    def ledger(self) -> Row:
        """Records expected, received and lost; the keys are the fields of llmperf_ledger.

        verdict: "complete", "sampled", "incomplete", "no_device" or "dead"; `problems` has reasons.
        """
        ledger = _native.sized(_native.llmperf_ledger)
        check(library().llmperf_profile_ledger(self._pointer(), byref(ledger)))
        return ledger_row(ledger)

    @property
    def verdict(self) -> str:
        """How complete the profile is: "complete", "sampled", "incomplete", "no_device", "dead"."""
        return str(self.ledger()["verdict"])

    @property
    def stages(self) -> List[Row]:
        """Speed and roofline bounds, a row for each stage, process and GPU.

        The keys are the fields of llmperf_stage (findings.h): path, label, process_id, device,
        calls, tokens, wall_ms and busy_ms (all calls together), call_ms (mean host time), time_ms
        (mean time of a call on clock, without warm-up), active_ms (time in which at least one call
        was in progress), tokens_per_s, mfu and mbu (0 to 1), floor_ms (roofline lower bound on
        busy_ms), floor_ratio (busy_ms / floor_ms), wall_ratio (active_ms / floor_ms), idle_ms,
        collected (share of the work whose device records were collected), busy_low_ms and
        busy_high_ms (95 % confidence interval of busy_ms), and region (position in regions()).

        clock is "host" (from begin to end of the region) or "gpu" (the host launches ahead; until
        the device work of the call has ended). rate says how to read tokens_per_s: "stage" (tokens
        / active_ms), "total" (the same, of several threads together) or "host" (tokens / host time,
        but the device continues for an unknown time after it). bound is what limits the stage: "compute", "memory",
        "balanced" (compute and memory about equally), "communication", or "launch" (the host).
        confidence is that of the GPU's peaks: "high", "medium", "low" or "none". reasons has a
        sentence for each field that is None.

        In tier "light" device times are scaled to all calls.
        """
        lib = library()
        rows = self._rows("stages")
        for position, row in enumerate(rows):
            row["rate"] = _RATES.get(row["rate"])
            row["clock"] = _CLOCKS.get(row["clock"])
            row["bound"] = name_of(_native.LLMPERF_NAME_BOUND, row["bound"]) if row["bound"] else None
            row["confidence"] = name_of(_native.LLMPERF_NAME_CONFIDENCE, row["confidence"])
            row["reasons"] = {
                name: text_of(lib.llmperf_profile_stage_reason(self._pointer(), position,
                                                               name.encode()))
                for name, value in row.items() if value is None}
        return rows

    @property
    def about(self) -> Row:
        """What the profile is of; the keys are the fields of llmperf_about (findings.h).

        program, model, gpu, gpus (how many), dtype, batch (sequences of a decode step, mean) and
        title, which has what is known of them.
        """
        about = _native.sized(_native.llmperf_about)
        check(library().llmperf_profile_about(self._pointer(), byref(about)))
        return row_of(about)

    @property
    def overall(self) -> Row:
        """MFU and MBU by the model as a whole: all stages together, on all GPUs.

        The keys are the fields of llmperf_overall (findings.h): mfu and mbu (while busy, 0 to 1),
        mfu_elapsed and mbu_elapsed, busy_ms and elapsed_ms (sums over stages and GPUs), and
        mfu_reason, mbu_reason and elapsed_reason: why a value is None.
        """
        overall = _native.sized(_native.llmperf_overall)
        check(library().llmperf_profile_overall(self._pointer(), byref(overall)))
        return row_of(overall)

    @property
    def advice(self) -> List[Row]:
        """Recommendations, the largest possible saving first.

        The keys are id (of the rule), text, stage (path; None: the whole run), saving_ms (all calls
        together; None: unknown), saving_call_ms (of one call), mended_tokens_per_s (of the stage,
        if this alone was mended), severity ("high", "medium", "low"), and evidence: a list of
        dicts of name, value (a number or a word) and unit ("ms", "us", or "": a number without a
        unit or a share from 0 to 1).
        """
        rows = self._rows("advice")
        for position, row in enumerate(rows):
            row["severity"] = _SEVERITIES.get(row["severity"])
            row["evidence"] = [self._evidence(position, index) for index in range(row["evidence"])]
        return rows

    @property
    def gpus(self) -> List[Row]:
        """The GPUs that the program could use.

        The keys are name, uuid, device (as in the other rows), process_id (of the only process that
        used it; None: none or several did) and memory_bytes.
        """
        rows = self._rows("gpus")
        for row in rows:
            row["process_id"] = row["process_id"] or None
        return rows

    @property
    def problems(self) -> List[str]:
        """Reasons why the profile is not complete, one line each."""
        return self._lines(library().llmperf_profile_problem)

    @property
    def notes(self) -> List[str]:
        """Reasons for values that are None, one line each."""
        return self._lines(library().llmperf_profile_note)

    def fact(self, key: str) -> Optional[str]:
        """A fact about the run: "run_id", "created_at", "tier", "source", ...; None: unknown."""
        return text_of(library().llmperf_profile_fact(self._pointer(), key.encode()))

    def apply_model(self, model: Optional[AnyPath] = None, dtype: Optional[str] = None) -> None:
        """Apply a model (a config.json, its folder, or a name such as "llama_3_8b") and the dtype
        that the program computed in, for example to a profile collected without them. FLOPs, bytes,
        MFU and roofline bounds of stages are computed from them. If that is not possible, fact
        "model_reason" has the reason."""
        check(library().llmperf_profile_apply_model(
            self._pointer(), None if model is None else path_bytes(model),
            None if dtype is None else dtype.encode()))

    def document(self, name: str) -> str:
        """The text of a document: "report.md", "report.html", "stages.md", "kernels.md",
        "operators.md", "metrics.json", "env.json", "stakeholder_summary.md", "assumptions.md",
        "inputs.yaml", "metrics.prom" (Prometheus), "rows.csv" or "rows.jsonl"."""
        text = _native.text()
        check(library().llmperf_document_text(self._pointer(), _document(name), byref(text)))
        return take_text(text)

    def to_dict(self) -> Row:
        """metrics.json as a dict; its schema is conf/schema/metrics.schema.json."""
        return dict(json.loads(self.document("metrics.json")))

    def to_pandas(self, table: str = "kernels") -> Any:
        """Rows as a pandas.DataFrame, with None as a missing value. Needs pandas.

        table: name of the method or property that has the rows, such as "regions", "kernels" or
            "stages", which also documents keys and units.

        Raises ImportError without pandas, ValueError for other names.
        """
        if table not in _TABLES:
            raise ValueError(f"table {table!r} is not one of {', '.join(_TABLES)}")
        rows = getattr(self, table)
        rows = rows() if callable(rows) else rows
        columns = list(rows[0]) if rows else list(row_of(_TABLES[table][1]()))
        return importlib.import_module("pandas").DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        return profile_html(self) if self._handle is not None else "<p>Profile (closed)</p>"

    def report_markdown(self) -> str:
        """The text of report.md."""
        return self.document("report.md")

    def write(self, name: str, path: AnyPath) -> None:
        """Write the document `name` (see document()) to the file `path`, atomically."""
        check(library().llmperf_document_write(self._pointer(), _document(name), path_bytes(path)))

    def write_artifacts(self, run_dir: AnyPath) -> None:
        """Write all documents into the folder `run_dir`, which must exist."""
        check(library().llmperf_artifacts_write(self._pointer(), path_bytes(run_dir)))

    def save(self, path: AnyPath) -> None:
        """Save as a run file (SQLite) for open(); an existing file is replaced."""
        check(library().llmperf_profile_save(self._pointer(), path_bytes(path)))

    def _pointer(self) -> Any:
        if self._handle is None:
            raise ValueError("the profile is closed")
        return self._handle

    def _rows(self, table: str) -> List[Row]:
        name, structure, names = _TABLES.get(table) or _INNER_TABLES[table]
        handle, lib = self._pointer(), library()
        get = getattr(lib, f"llmperf_profile_{name}")
        stats = _native.sized(structure)
        rows = []
        kind = getattr(_native, f"LLMPERF_ROWS_{table.upper()}")
        for position in range(lib.llmperf_profile_count(handle, kind)):
            check(get(handle, position, byref(stats)))
            rows.append(row_of(stats))
            if names is not None:
                rows[-1]["kind"] = name_of(names, rows[-1]["kind"])
        return rows

    def _evidence(self, advice: int, index: int) -> Row:
        evidence = _native.sized(_native.llmperf_evidence)
        check(library().llmperf_profile_evidence(self._pointer(), advice, index, byref(evidence)))
        row = row_of(evidence)
        text = row.pop("text")
        return {**row, "value": row["value"] if text is None else text}

    def _lines(self, get: Callable[..., Optional[bytes]]) -> List[str]:
        lines: List[str] = []
        while True:
            line = text_of(get(self._pointer(), len(lines)))
            if line is None:
                return lines
            lines.append(line)


def open(path: AnyPath) -> Profile:  # noqa: A001 - reads as llmperf.open()
    """Read a run, also that of a killed process.

    path: a run directory, or its run.llmperf.
    """
    handle = POINTER(_native.llmperf_profile)()
    check(library().llmperf_profile_open(path_bytes(path), byref(handle)))
    return Profile(handle)


def import_files(*paths: AnyPath, run_id: Optional[str] = None,
                 exact_names: bool = False) -> Profile:
    """Import exports (SQLite) and tables of nsys, and reports and tables of ncu, as one profile.

    paths: files; the format is detected from the contents.
    run_id: name of the run, for a profile that is saved as one.
    exact_names: keep the suffix that PyTorch appends to the names of ranges (", op_id = 7").
    """
    files = (c_char_p * len(paths))(*[path_bytes(path) for path in paths])
    options = _native.sized(_native.llmperf_import_options)
    options.run_id = run_id.encode() if run_id else None
    options.flags = _native.LLMPERF_IMPORT_EXACT_NAMES if exact_names else 0
    handle = POINTER(_native.llmperf_profile)()
    check(library().llmperf_import(files, len(paths), byref(options), byref(handle)))
    return Profile(handle)


def merge(*profiles: Profile) -> Profile:
    """Merge runs: ranks or processes of one job, or parts of a long job."""
    handles = (POINTER(_native.llmperf_profile) * len(profiles))(*[profile._pointer() for profile in profiles])
    handle = POINTER(_native.llmperf_profile)()
    check(library().llmperf_profile_merge(cast(handles, _native.const_profile_pp), len(profiles),
                                          byref(handle)))
    return Profile(handle)


class Job:
    """The runs of a program and its processes, in the folder that `llmperf run` wrote.

    runs: folders of the runs, that of the program itself first.
    forked: number of forked processes that used CUDA and have no run.
    """

    def __init__(self, folder: AnyPath) -> None:
        self._folder = path_bytes(folder)
        job = self._find()
        count = library().llmperf_job_run_count(job)
        self.runs = [text_of(library().llmperf_job_run(job, i)) for i in range(count)]
        self.forked = library().llmperf_job_forked_count(job)
        library().llmperf_job_free(job)

    def _find(self) -> Any:
        job = POINTER(_native.llmperf_job)()
        check(library().llmperf_job_find(self._folder, byref(job)))
        return job

    def processes(self) -> List[int]:
        """Ids of the processes of the job that are still running."""
        job = self._find()
        try:
            count = library().llmperf_job_processes(job, None, 0)
            pids = (c_uint32 * count)()
            count = min(count, library().llmperf_job_processes(job, pids, count))
        finally:
            library().llmperf_job_free(job)
        return list(pids[:count])

    def merge(self) -> Profile:
        """All runs that can be read, merged; the others become problems of the result."""
        handle = POINTER(_native.llmperf_profile)()
        job = self._find()
        try:
            check(library().llmperf_job_merge(job, byref(handle)))
        finally:
            library().llmperf_job_free(job)
        return Profile(handle)


def ledger_row(ledger: Any) -> Row:
    """A structure with a verdict as a dict, with the verdict as a word."""
    row = row_of(ledger)
    row["verdict"] = name_of(_native.LLMPERF_NAME_VERDICT, row["verdict"])
    return row


def row_of(stats: Any) -> Row:
    """A structure as a dict; NaN, LLMPERF_UNKNOWN and device -1 become None."""
    return {name: _value(name, getattr(stats, name)) for name, _ in stats._fields_
            if name not in ("struct_size", "reserved")}


def name_classes(rows: List[Row], class_of: Callable[[int], Optional[bytes]]) -> None:
    """Make class_ms of iterations, a list by class number, a dict from class to milliseconds."""
    names = [text_of(class_of(number)) for number in range(_native.LLMPERF_ITERATION_CLASSES)]
    for row in rows:
        row["class_ms"] = {name: time for name, time in zip(names, row["class_ms"])
                           if name is not None and time is not None}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, float):
        return None if isnan(value) else value
    if isinstance(value, Array):
        return [_value(name, item) for item in value]
    if value == _native.LLMPERF_UNKNOWN or (name == "device" and value < 0):
        return None
    return value


def _document(name: str) -> int:
    if name not in _DOCUMENTS:
        raise ValueError(f"document {name!r} is not one of {', '.join(_DOCUMENTS)}")
    return _DOCUMENTS[name]
