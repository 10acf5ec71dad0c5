# SPDX-License-Identifier: Apache-2.0
"""Profiling of some steps of a long program, as torch.profiler.schedule."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, List, Optional, Tuple

from ._profile import Profile, merge
from ._session import Session, _size, _state_error

_OF_ONE_RUN = ("run_dir", "run_id", "record_path")  # options that two sessions cannot share
_FILES = ("out", "keep_trace", "reports", *_OF_ONE_RUN)


class Schedule:
    """What schedule() returns: a context manager. step() ends one step and begins the next.

    profiles: a Profile for each active part that has ended, oldest first.
    """

    def __init__(self, wait: int, warmup: int, active: int, repeat: int,
                 on_ready: Optional[Callable[[Profile], None]], **options: Any) -> None:
        self._wait = _size("wait", wait, 2**63)
        self._warmup = _size("warmup", warmup, 2**63)
        self._active = _size("active", active, 2**63)
        self._repeat = _size("repeat", repeat, 2**63)
        if active == 0:
            raise ValueError("active must be at least 1")
        shared = [name for name in _OF_ONE_RUN if repeat != 1 and options.get(name) is not None]
        if shared:
            raise ValueError(f"{shared[0]} is for one run: it needs repeat=1; out holds several")
        Session(**options)  # checks the options
        self._options = options
        self._on_ready = on_ready
        self._steps = 0
        self._part = (0, "")
        self._session: Optional[Session] = None
        self._merged: Optional[Profile] = None
        self.profiles: List[Profile] = []

    @property
    def profile(self) -> Profile:
        """The profile of all active parts that have ended, merged.

        LlmperfError (LLMPERF_ESTATE): none has ended.
        """
        if not self.profiles:
            raise _state_error("no active part of the schedule has ended")
        if self._merged is None:
            self._merged = self.profiles[0] if len(self.profiles) == 1 else merge(*self.profiles)
        return self._merged

    def step(self) -> None:
        """End a step. Where a part ends, this waits for its device work; errors of a session's start
        and stop (LlmperfError) are raised here."""
        self._steps += 1
        self._go(self._part_of(self._steps))

    def __enter__(self) -> "Schedule":
        self._go(self._part_of(0))
        return self

    def __exit__(self, *error: object) -> None:
        self._go((0, "done"))

    def _part_of(self, steps: int) -> Tuple[int, str]:
        cycle, step = divmod(steps, self._wait + self._warmup + self._active)
        if self._repeat and cycle >= self._repeat:
            return 0, "done"
        if step < self._wait:
            return cycle, "wait"
        return cycle, "warmup" if step < self._wait + self._warmup else "active"

    def _go(self, part: Tuple[int, str]) -> None:
        if part == self._part:
            return
        before, self._part = self._part[1], part
        if before == "active":
            self._keep()
        elif part[1] in ("active", "done"):
            self._discard()
        if part[1] == "active":
            self._session = Session(**self._options).start()
        elif part[1] == "warmup" and self._session:
            self._session.resume()
        elif part[1] in ("wait", "warmup"):
            self._session = self._discarded()
            if part[1] == "wait":
                self._session.pause()

    def _discarded(self) -> Session:
        """A session whose files are removed. LLMPERF_OUT would give it a folder that is kept, and
        LLMPERF_TRACE a trace."""
        self._folder = tempfile.TemporaryDirectory(prefix="llmperf-")
        options = {name: value for name, value in self._options.items() if name not in _FILES}
        options["settings"] = {**(options.get("settings") or {}), "artifacts.keep_trace": False}
        return Session(run_dir=os.path.join(self._folder.name, "run"), reports=False,
                       **options).start()

    def _discard(self) -> None:
        session, self._session = self._session, None
        if session:
            session.stop().close()
            self._folder.cleanup()

    def _keep(self) -> None:
        session, self._session = self._session, None
        if session:
            self.profiles.append(session.stop())
            self._merged = None
            if self._on_ready:
                self._on_ready(self.profiles[-1])


def schedule(wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0, *,
             on_ready: Optional[Callable[[Profile], None]] = None, **options: Any) -> Schedule:
    """Profile some steps of a long program, as torch.profiler.schedule::

        with llmperf.schedule(wait=10, warmup=2, active=5, repeat=1, out="runs") as schedule:
            for batch in batches:
                forward(batch)
                schedule.step()
        print(schedule.profile.report_markdown())

    wait: steps at the begin of each cycle in which nothing is recorded: no kernels, no regions, no
        requests. Only the capture of CUDA graphs is followed, so that their kernels have their
        capture regions later.
    warmup: steps that are recorded like active ones and thrown away. CUPTI's start and the first
        buffers are paid here.
    active: steps that are recorded, by a session of their own: what they launch and the regions
        that open in them. A region that is open at either end is counted as truncated.
    repeat: cycles; 0: until the end of the block. Nothing is recorded after the last one.
    on_ready: called with the Profile of each active part at its end, in step().
    options: those of Session. Each active part is a run of its own below `out`.

    An active part that the block ends early is kept with the steps that it has. step() is for one
    thread; what is recorded is that of all threads. The parts begin and end between two steps, where
    step() waits for the device work of the part.
    """
    return Schedule(wait, warmup, active, repeat, on_ready, **options)
