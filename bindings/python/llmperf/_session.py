# SPDX-License-Identifier: Apache-2.0
"""Sessions: one profiling run inside this process."""
from __future__ import annotations

import os
import re
import threading
import warnings
import weakref
from ctypes import byref, c_size_t, sizeof
from functools import partial
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import _native
from ._errors import LlmperfError
from ._library import check, library, name_of, path_bytes, text_of
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

    tier: how much is collected. "regions": host times; "light": kernels; "deep": kernels, copies
        and sets; "counters": deep and hardware counters. None: LLMPERF_TIER, else "deep".
    out: folder of runs; the run goes to out/run_id. None: LLMPERF_OUT, else nothing is written.
    source: where device activity comes from. "auto": "cupti" if it works, else "none", the reason
        in the profile's notes; "cupti": this process's GPU, or fail; "replay": a recording; "fake":
        a script, for tests; "none": host times only.
    run_dir: folder of this run, created; instead of `out`.
    run_id: name of the run; None: UTC YYYYMMDD-HHMMSS-PID.
    config_path: configuration (docs/reference/configuration.md): fills in what is left open here; kept with the run as config.yaml.
    model_path: a config.json, its folder or a name of the data files ("llama_3_8b"): gives each
        prefill, decode step and vision pass its FLOPs and bytes, those of this GPU's share.
    device_path: recording (source "replay") or script (source "fake").
    record_path: file to write a recording of this session to.
    counters: counter preset of tier "counters", or a sampled one ("live") of tier "light".
    ring_bytes: host records kept per thread between two reads; 0: 4 MiB.
    pool_bytes: most memory for device records under way; 0: 256 MiB.
    overhead_budget_permille: for tier "light", in thousandths of the run time; 0: 10.
    sample_regions: for tier "light", labels, or one text with commas between them.
    rules: for tier "light", texts such as "decode_step p99 above 30 ms for 2 s": while one holds,
        the next instances are collected one and all (docs/explanation/sampling.md).
    keep_trace: keep a recording of all facts in the folder of the run, for export_trace(). False:
        as LLMPERF_TRACE says.
    trace_bytes: size at which that recording ends; the run says so then. 0: 1 GiB.
    tensor_parallel: with a model, GPUs that share each layer of its decoder; 0:
        LLMPERF_TENSOR_PARALLEL, else 1.
    expert_parallel: with a model, GPUs that whole experts are spread over: 1, or a multiple of
        tensor_parallel; 0: LLMPERF_EXPERT_PARALLEL, else 1.
    path_limit: limit of region paths. Regions above it are counted together, except 1024 more
        stages, and the run is incomplete. 0: 65536.
    settings: other keys of the configuration (`llmperf config --help`), such as
        {"artifacts.keep_runs": 10}; they come before the environment and config_path.
    reports: write the report files at stop, beside run.llmperf.
    release: give CUPTI up at stop, so that another profiler (torch.profiler) can start.
    detach: for tier "light": between samples CUPTI is taken out of the process. For programs in
        which one thread launches all device work and opens the sampled regions
        (docs/explanation/sampling.md). False: as LLMPERF_DETACH says.
    graph_level: each launch of a CUDA graph as one span, not its kernels; not in one process with
        sessions that do not.

    Collecting starts at the `with` statement or start() and ends with its block or stop(). All
    methods may be called from any thread. A forked child records nothing: there the end of the
    block does nothing, and calls raise LlmperfError (LLMPERF_ESTATE).

    run_dir: folder of this run once started; None: nothing is written.
    profile: the Profile of the whole run once stopped, else None.
    """

    def __init__(self, tier: Optional[str] = None, out: Any = None, source: str = "auto", *,
                 run_dir: Any = None, run_id: Optional[str] = None, config_path: Any = None,
                 model_path: Any = None, device_path: Any = None, record_path: Any = None,
                 counters: Optional[str] = None, ring_bytes: int = 0, pool_bytes: int = 0,
                 overhead_budget_permille: int = 0,
                 sample_regions: Union[str, Sequence[str], None] = None,
                 rules: Union[str, Sequence[str], None] = None, keep_trace: bool = False,
                 trace_bytes: int = 0,
                 tensor_parallel: int = 0, expert_parallel: int = 0,
                 path_limit: int = 0, settings: Optional[Mapping[str, Any]] = None,
                 reports: bool = True, release: bool = False,
                 graph_level: bool = False, detach: bool = False) -> None:
        options = _native.sized(_native.llmperf_session_options)
        options.tier = _code("tier", tier, _TIERS)
        options.device_source = _code("source", source, _SOURCES)
        texts = {"run_dir": run_dir, "out_dir": out, "run_id": run_id, "config_path": config_path,
                 "model_path": model_path, "device_path": device_path, "record_path": record_path,
                 "counters": counters, "sample_regions": _joined(sample_regions, ","),
                 "rules": _joined(rules, "; "),
                 "settings": settings and "\n".join(_setting(*item) for item in settings.items())}
        for field, value in texts.items():
            if value is not None:
                setattr(options, field, path_bytes(value))
        options.ring_bytes = _size("ring_bytes", ring_bytes, 2**64)
        options.pool_bytes = _size("pool_bytes", pool_bytes, 2**64)
        options.overhead_budget_permille = _size(
            "overhead_budget_permille", overhead_budget_permille, 2**32)
        options.keep_trace = 1 if keep_trace else 0
        options.trace_bytes = _size("trace_bytes", trace_bytes, 2**64)
        options.tensor_parallel = _size("tensor_parallel", tensor_parallel, 2**32)
        options.expert_parallel = _size("expert_parallel", expert_parallel, 2**32)
        options.path_limit = _size("path_limit", path_limit, 2**64)
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
        self.profile: Optional[Profile] = None

    def start(self) -> "Session":
        """Start collecting; `with` does it. A session can be started once."""
        if self._handle is not None:
            raise _state_error("the session was started before; make a new one")
        handle = _native._session()
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
            # The exception of the block is the one to see.
            warnings.warn(f"llmperf session: {stop_error}", RuntimeWarning, stacklevel=2)

    def pause(self) -> None:
        """Stop collecting device activity until resume(); the time in between is not counted."""
        check(library().llmperf_session_pause(self._pointer()))

    def resume(self) -> None:
        """Go on after pause()."""
        check(library().llmperf_session_resume(self._pointer()))

    def add_input(self, path: Any = None, *, name: Optional[str] = None, kind: Optional[str] = None,
                  size_bytes: int = 0, tokens: int = 0, width: int = 0, height: int = 0) -> None:
        """Keep an input with the run, for inputs.yaml: a file or (without `path`) a name.

        path: made absolute; it need not exist. kind: "image", "text" and so on. 0: not known;
        the size is then that of the file. width, height: pixels of an image.
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
        """Take in all that is complete by now and commit it to run.llmperf; waits for that."""
        check(library().llmperf_session_flush(self._pointer()))

    def snapshot(self) -> Dict[str, Any]:
        """Totals so far, while the session goes on, as metrics.json has them; includes a flush."""
        with self._snapshot() as profile:
            return profile.to_dict()

    def document(self, name: str) -> str:
        """A document of the totals so far, as Profile.document(): "metrics.prom" is what a metrics
        endpoint answers; includes a flush."""
        with self._snapshot() as profile:
            return profile.document(name)

    def _snapshot(self) -> Profile:
        handle = _native._profile()
        check(library().llmperf_session_snapshot(self._pointer(), byref(handle)))
        return Profile(handle)

    def ledger(self) -> Dict[str, Any]:
        """What was expected, seen and lost so far; the keys are those of Profile.ledger()."""
        ledger = _native.sized(_native.llmperf_ledger)
        check(library().llmperf_session_ledger(self._pointer(), byref(ledger)))
        return ledger_row(ledger)

    def status(self) -> Dict[str, Any]:
        """How the session does, also once it is stopped; takes no lock and waits for nobody.

        The keys are those of llmperf_session_state (session.h); "verdict" is a word as in
        ledger(), "state" is "running", "paused" or "stopped". "dead": kernels were launched and
        the driver reported none of them for two seconds.
        """
        state = _native.sized(_native.llmperf_session_state)
        check(library().llmperf_session_status(self._pointer(), byref(state)))
        row = ledger_row(state)
        row["state"] = name_of(_native.LLMPERF_NAME_STATE, row["state"])
        return row

    def iterations(self, after: int = 0) -> List[Dict[str, Any]]:
        """The newest instances of stages while the session goes on, oldest first; waits for nobody.

        after: the "sequence" that was read last. The keys are those of llmperf_iteration
        (session.h); class_ms is a dict from kernel class to milliseconds.
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

    def stop(self) -> Optional[Profile]:
        """Stop, write the reports, and return the profile; a second call returns the same one.

        Waits until the device has reported the work launched so far, at most a few seconds after it
        falls silent. If a file cannot be written, LlmperfError is raised and `profile` is set all
        the same.
        """
        with self._stop_lock:
            if not self._stopped:
                handle = _native._profile()
                status = library().llmperf_session_stop(self._pointer(), byref(handle))
                self._stopped = True
                if handle:
                    self.profile = Profile(handle)
                check(status)
            return self.profile

    def _pointer(self) -> Any:
        if self._handle is None:
            raise _state_error("the session is not started; use `with` or start()")
        return self._handle


def _free_session(handle: Any, pid: int) -> None:
    # In a forked child the collector thread does not exist, so there is nothing to stop or join.
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
