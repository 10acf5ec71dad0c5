# SPDX-License-Identifier: Apache-2.0
"""Sessions: one profiling run inside this process."""
from __future__ import annotations

import os
import re
import threading
import warnings
import weakref
from ctypes import POINTER, byref, c_size_t, sizeof
from functools import partial
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import _native
from ._errors import LlmperfError
from ._library import AnyPath, check, library, name_of, path_bytes
from ._profile import Profile, ledger_row, name_classes, row_of

_TIERS = {
    None: _native.LLMPERF_TIER_DEFAULT,
    "regions": _native.LLMPERF_TIER_REGIONS,
    "light": _native.LLMPERF_TIER_LIGHT,
    "deep": _native.LLMPERF_TIER_DEEP,
    "counters": _native.LLMPERF_TIER_COUNTERS,
}
_SOURCES = {
    "auto": _native.LLMPERF_SOURCE_AUTO,
    "cupti": _native.LLMPERF_SOURCE_CUPTI,
    "replay": _native.LLMPERF_SOURCE_REPLAY,
    "fake": _native.LLMPERF_SOURCE_FAKE,
    "none": _native.LLMPERF_SOURCE_NONE,
}


def _joined(texts: Union[str, Sequence[str], None], between: str) -> Optional[str]:
    return texts if texts is None or isinstance(texts, str) else between.join(texts)


def _setting(key: str, value: Any) -> str:
    """KEY=VALUE of one key; texts in quotes."""
    if value is None or isinstance(value, bool):
        return f"{key}={'null' if value is None else str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"{key}={value}"
    quoted = re.sub(r"(\\*)('|\Z)", lambda at: at[1] * 2 + ("\\'" if at[2] else ""), str(value))
    return f"{key}='{quoted}'"


class Session:
    """One profiling run inside this process; only one may run at a time.

        with llmperf.Session(tier="deep", out="runs") as session:
            with llmperf.region("LLM@prefill", tokens=512):
                forward()
        print(session.profile.report_markdown())

    tier: what is collected. "regions": host times; "light": kernels of a sample of steps; "deep":
        all kernels, memcpys and memsets; "counters": as deep, and hardware counters. None:
        LLMPERF_TIER, else "deep".
    out: folder for runs; this run is written to out/run_id. None: LLMPERF_OUT, else no files.
    source: where device records come from. "auto": "cupti" if it works, else "none", with the
        reason in the profile's notes; "cupti": the GPU, or an error; "replay": a recording; "fake":
        a script, for tests; "none": host times only.
    run_dir: folder of this run, instead of `out`; it is created.
    run_id: name of the run. None: UTC time and process id, YYYYMMDD-HHMMSS-PID.
    config_path: configuration file for everything not given here or in the environment
        (docs/reference/configuration.md). It is stored with the run as config.yaml.
    model_path: a config.json, its folder, or the name of a model that llmperf knows ("llama_3_8b").
        FLOPs and bytes of each prefill, decode step and vision pass are computed from it, for this
        GPU's share of the model.
    device_path: recording (source "replay") or script (source "fake").
    record_path: file into which a recording of this session is written.
    counters: counter preset of tier "counters"; or "live" in tier "light".
    ring_bytes: buffer for host records of each thread; 0: 4 MiB.
    pool_bytes: maximum memory for device records that are not processed yet; 0: 256 MiB.
    overhead_budget_permille: overhead budget of tier "light", in 1/1000 of the run time; 0: 10.
    sample_regions: labels that tier "light" samples: a sequence, or one text with commas.
    rules: for tier "light", texts such as "decode_step p99 above 30 ms for 2 s". When a rule
        triggers, the next calls are all collected (docs/explanation/sampling.md).
    keep_trace: store every event in the run folder, for export_trace(). False: LLMPERF_TRACE.
    trace_bytes: maximum size of that trace; the run reports it if the limit was reached. 0: 1 GiB.
    tensor_parallel: number of GPUs that share each decoder layer of the model; 0:
        LLMPERF_TENSOR_PARALLEL, else 1.
    expert_parallel: number of GPUs over which whole experts are spread: 1, or a multiple of
        tensor_parallel; 0: LLMPERF_EXPERT_PARALLEL, else 1.
    path_limit: limit of region paths. Regions above it are counted together, and the run is
        incomplete. Stages have their own paths, up to 1024 above the limit. 0: 65536.
    settings: other configuration keys (`llmperf config --help`), such as
        {"artifacts.keep_runs": 10}. They take precedence over the environment and config_path.
    reports: write the report files next to run.llmperf when the session stops.
    release: detach CUPTI when the session stops, so that another profiler can start.
    detach: for tier "light": remove CUPTI from the process between samples. For programs in which
        one thread launches all device work and opens the sampled regions
        (docs/explanation/sampling.md). False: LLMPERF_DETACH.
    graph_level: record each launch of a CUDA graph as one activity, without its kernels. All
        sessions of a process must have the same setting.

    A value that is not one of the words above, or outside of its range, raises ValueError. Calls
    that fail raise LlmperfError with the name and the text of the error: LLMPERF_ESTATE before the
    start or after the stop, LLMPERF_EIO if a file cannot be written.

    The session runs from the `with` statement or start() to the end of the block or stop(). All
    methods may be called from any thread. A forked child records nothing: the end of the block
    does nothing there, and calls raise LlmperfError (LLMPERF_ESTATE).

    run_dir: folder of this run, after the start; None: nothing is written.
    """

    def __init__(self, tier: Optional[str] = None, out: Optional[AnyPath] = None,
                 source: str = "auto", *,
                 run_dir: Optional[AnyPath] = None, run_id: Optional[str] = None,
                 config_path: Optional[AnyPath] = None, model_path: Optional[AnyPath] = None,
                 device_path: Optional[AnyPath] = None, record_path: Optional[AnyPath] = None,
                 counters: Optional[str] = None, ring_bytes: int = 0, pool_bytes: int = 0,
                 overhead_budget_permille: int = 0,
                 sample_regions: Union[str, Sequence[str], None] = None,
                 rules: Union[str, Sequence[str], None] = None, keep_trace: bool = False,
                 trace_bytes: int = 0, tensor_parallel: int = 0, expert_parallel: int = 0,
                 path_limit: int = 0, settings: Optional[Mapping[str, Any]] = None,
                 reports: bool = True, release: bool = False,
                 graph_level: bool = False, detach: bool = False) -> None:
        options = _native.sized(_native.llmperf_session_options)
        options.tier = _code("tier", tier, _TIERS)
        options.device_source = _code("source", source, _SOURCES)
        texts: Dict[str, Optional[AnyPath]] = {
            "run_dir": run_dir, "out_dir": out, "run_id": run_id, "config_path": config_path,
            "model_path": model_path, "device_path": device_path, "record_path": record_path,
            "counters": counters, "sample_regions": _joined(sample_regions, ","),
            "rules": _joined(rules, "; "),
            "settings": "\n".join(_setting(*item) for item in settings.items()) if settings else None}
        for field, text in texts.items():
            if text is not None:
                setattr(options, field, path_bytes(text))
        sizes = {"ring_bytes": (ring_bytes, 2**64), "pool_bytes": (pool_bytes, 2**64),
                 "overhead_budget_permille": (overhead_budget_permille, 2**32),
                 "trace_bytes": (trace_bytes, 2**64), "path_limit": (path_limit, 2**64),
                 "tensor_parallel": (tensor_parallel, 2**32),
                 "expert_parallel": (expert_parallel, 2**32)}
        for field, (value, limit) in sizes.items():
            setattr(options, field, _size(field, value, limit))
        options.keep_trace = 1 if keep_trace else 0
        options.flags = ((0 if reports else _native.LLMPERF_SESSION_NO_REPORTS)
                         | (_native.LLMPERF_SESSION_RELEASE if release else 0)
                         | (_native.LLMPERF_SESSION_GRAPH_LEVEL if graph_level else 0)
                         | (_native.LLMPERF_SESSION_DETACH if detach else 0))
        self._options = options
        self._handle: Any = None
        self._pid = 0
        self._stop_lock = threading.Lock()
        self._stopped = False
        self.run_dir: Optional[str] = None
        self._profile: Optional[Profile] = None

    @property
    def profile(self) -> Profile:
        """The profile of the whole run. Before the stop it raises LlmperfError (LLMPERF_ESTATE):
        snapshot() has the totals so far."""
        if self._profile is None:
            raise _state_error("the session has no profile before it is stopped; use snapshot()")
        return self._profile

    def start(self) -> "Session":
        """Start the session, as `with` does. A session can be started once.

        LlmperfError: LLMPERF_EBUSY (another session runs, the folder holds a run, or another
        profiler uses CUPTI), LLMPERF_ENODEVICE (source "cupti" without a GPU), LLMPERF_ENOENT,
        LLMPERF_EINVAL or LLMPERF_EFORMAT (an option, the configuration or a file it names).
        """
        if self._handle is not None:
            raise _state_error("the session was started before; create a new one")
        handle = POINTER(_native.llmperf_session)()
        check(library().llmperf_session_start(byref(self._options), byref(handle)))
        self._handle = handle
        self._pid = os.getpid()
        # Freed with the object, not in stop(): another thread may be inside snapshot().
        weakref.finalize(self, _free_session, handle, self._pid)
        run_dir = library().llmperf_session_run_dir(handle)
        self.run_dir = None if run_dir is None else os.fsdecode(run_dir)
        return self

    def __enter__(self) -> "Session":
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if os.getpid() != self._pid:
            return
        try:
            self.stop()
        except LlmperfError as stop_error:
            if error is None:
                raise
            # Raise the exception of the block, not this one.
            warnings.warn(f"llmperf session: {stop_error}", RuntimeWarning, stacklevel=2)

    def pause(self) -> None:
        """Record no regions and no device work until resume(). The time in between is not counted."""
        check(library().llmperf_session_pause(self._pointer()))

    def resume(self) -> None:
        """Collect again after pause()."""
        check(library().llmperf_session_resume(self._pointer()))

    def add_input(self, path: Optional[AnyPath] = None, *, name: Optional[str] = None,
                  kind: Optional[str] = None, size_bytes: int = 0, tokens: int = 0,
                  width: int = 0, height: int = 0) -> None:
        """Add an input to inputs.yaml of the run: a file, or only a name.

        path: stored as an absolute path; it need not exist. kind: "image", "text" and so on.
        size_bytes: 0: the size of the file. tokens: 0: unknown. width, height: of an image, in
        pixels; both 0: those in the header of a PNG, JPEG or WebP file, else unknown.
        """
        row = _native.sized(_native.llmperf_input)
        row.path = None if path is None else path_bytes(path)
        row.name = None if name is None else name.encode()
        row.kind = None if kind is None else kind.encode()
        row.size_bytes = _size("size_bytes", size_bytes, 2**64)
        row.tokens = _size("tokens", tokens, 2**64)
        row.width = _size("width", width, 2**32)
        row.height = _size("height", height, 2**32)
        check(library().llmperf_session_add_input(self._pointer(), byref(row)))

    def flush(self) -> None:
        """Process all complete records and commit them to run.llmperf; returns when that is done."""
        check(library().llmperf_session_flush(self._pointer()))

    def snapshot(self) -> Dict[str, Any]:
        """Totals so far as a dict like metrics.json. The session continues. Calls flush() first."""
        with self._snapshot() as profile:
            return profile.to_dict()

    def document(self, name: str) -> str:
        """A document of the totals so far, as Profile.document(): "metrics.prom" is the text for a
        Prometheus endpoint. Calls flush() first."""
        with self._snapshot() as profile:
            return profile.document(name)

    def _snapshot(self) -> Profile:
        handle = POINTER(_native.llmperf_profile)()
        check(library().llmperf_session_snapshot(self._pointer(), byref(handle)))
        return Profile(handle)

    def ledger(self) -> Dict[str, Any]:
        """Records expected, received and lost so far; the keys are those of Profile.ledger()."""
        ledger = _native.sized(_native.llmperf_ledger)
        check(library().llmperf_session_ledger(self._pointer(), byref(ledger)))
        return ledger_row(ledger)

    def status(self) -> Dict[str, Any]:
        """State of the session, also after its stop. Takes no lock and never blocks.

        The keys are those of llmperf_session_state (session.h). "verdict" is a word as in
        ledger(); "dead" means that kernels were launched, but no records arrived for two seconds.
        "state" is "running", "paused" or "stopped".
        """
        state = _native.sized(_native.llmperf_session_state)
        check(library().llmperf_session_status(self._pointer(), byref(state)))
        row = ledger_row(state)
        row["state"] = name_of(_native.LLMPERF_NAME_STATE, row["state"])
        return row

    def iterations(self, after: int = 0) -> List[Dict[str, Any]]:
        """The newest iterations of stages so far, oldest first. Never blocks.

        after: "sequence" of the last iteration that was read; only newer ones are returned. The
        keys are those of llmperf_iteration (rows.h); class_ms is a dict from kernel class to
        milliseconds.
        """
        rows = (_native.llmperf_iteration * _native.LLMPERF_ITERATIONS_KEPT)()
        rows[0].struct_size = sizeof(_native.llmperf_iteration)
        count = c_size_t()
        after = _size("after", after, 2**64)
        check(library().llmperf_session_iterations(self._pointer(), after, rows, len(rows),
                                                   byref(count)))
        found = [row_of(rows[position]) for position in range(count.value)]
        name_classes(found, partial(library().llmperf_session_class, self._pointer()))
        return found

    def stop(self) -> Profile:
        """Stop, write the reports, and return the profile. A second call returns the same profile.

        Waits for the records of all launched work, at most a few seconds after the last record
        arrived. If a file cannot be written, LlmperfError is raised; `profile` is set nevertheless.
        """
        with self._stop_lock:
            if not self._stopped:
                handle = POINTER(_native.llmperf_profile)()
                status = library().llmperf_session_stop(self._pointer(), byref(handle))
                self._stopped = True
                if handle:
                    self._profile = Profile(handle)
                check(status)
            return self.profile

    def _pointer(self) -> Any:
        if self._handle is None:
            raise _state_error("the session is not started; use `with` or start()")
        return self._handle


def _free_session(handle: Any, pid: int) -> None:
    # A forked child has no collector thread, so there is nothing to stop or join.
    if os.getpid() == pid:
        library().llmperf_session_free(handle)


def _state_error(text: str) -> LlmperfError:
    return LlmperfError(_native.LLMPERF_ESTATE, "LLMPERF_ESTATE", text)


def _code(what: str, word: Optional[str], codes: Dict[Any, int]) -> int:
    if word not in codes:
        raise ValueError(f"{what} {word!r} is not one of {', '.join(filter(None, codes))}")
    return codes[word]


def _size(name: str, value: int, limit: int) -> int:
    if not 0 <= value < limit:
        raise ValueError(f"{name} must be from 0 to {limit - 1}, not {value}")
    return value
