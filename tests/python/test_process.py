# SPDX-License-Identifier: Apache-2.0
"""What a process does to a session: fork, signals, exit."""
from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from typing import Any, Callable

import support
import llmperf


def in_child(work: Callable[[], Any]) -> int:
    """Exit status of a forked child that runs `work`; a signal that ended it is negative."""
    with warnings.catch_warnings():
        # CPython 3.12 and newer warn of the session's thread; that it does no harm is the test.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
        os._exit(status)
    _, status = os.waitpid(pid, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def use_regions() -> None:
    for _ in range(1000):
        with llmperf.region("child", tokens=1), llmperf.prefill(1):
            llmperf.count(tokens=1)


class Fork(support.TestCase):
    """A forked child records nothing and does no harm."""

    def test_child_marks_regions_while_the_parent_records(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("parent"):
                self.assertEqual(in_child(use_regions), 0)
        self.assertEqual([row["path"] for row in session.profile.regions()], ["LLM@parent"])

    def test_session_calls_in_a_child_are_refused(self) -> None:
        def refused() -> None:
            for call in (session.stop, session.snapshot, session.flush):
                try:
                    call()
                except llmperf.LlmperfError as error:
                    assert error.name == "LLMPERF_ESTATE", error
                else:
                    raise AssertionError(f"{call} worked")

        with llmperf.Session(source="none") as session:
            self.assertEqual(in_child(refused), 0)
        self.assertIsNotNone(session.profile)

    def test_child_that_leaves_the_block_leaves_the_session_alone(self) -> None:
        code = ("import os, sys, llmperf\n"
                f"run = {str(self.folder / 'run')!r}\n"
                "with llmperf.Session(source='none', run_dir=run) as session:\n"
                "    with llmperf.region('both'):\n"
                "        pid = os.fork()\n"
                "        if pid == 0:\n"
                "            sys.exit(7)\n"
                "    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
                "print([row['path'] for row in session.profile.regions()])\n")
        ended = support.child(code, PYTHONWARNINGS="ignore::DeprecationWarning")
        self.assertEqual((ended.returncode, ended.stdout), (0, "7\n['LLM@both']\n"))
        with llmperf.open(self.folder / "run") as profile:
            self.assertEqual([row["path"] for row in profile.regions()], ["LLM@both"])

    def test_profile_of_the_parent_can_be_read_in_a_child(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("parent"):
                pass

        def read() -> None:
            assert session.profile.regions()[0]["path"] == "LLM@parent"
            session.profile.close()

        self.assertEqual(in_child(read), 0)
        self.assertEqual(session.profile.regions()[0]["path"], "LLM@parent")


class Signals(support.TestCase):
    """Python signal handlers run between two steps of the main thread."""

    def test_handler_that_marks_regions_keeps_the_stack_balanced(self) -> None:
        seen = 0

        def handler(number: int, frame: Any) -> None:
            nonlocal seen
            seen += 1
            with llmperf.region("handler"):
                pass

        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        marked = 0
        with llmperf.Session(source="none", ring_bytes=16 << 20) as session:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            try:
                while seen < 50:
                    with llmperf.region("loop"):
                        marked += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        ledger = session.profile.ledger()
        self.assertEqual((ledger["regions_unbalanced"], ledger["regions_truncated"]), (0, 0))
        rows = session.profile.regions()
        handled = sum(row["instances"] for row in rows if row["label"] == "LLM@handler")
        looped = sum(row["instances"] for row in rows if row["path"] == "LLM@loop")
        if ledger["regions_dropped"] == 0:
            self.assertEqual((handled, looped), (seen, marked))


if __name__ == "__main__":
    support.need_library()
    support.main()
