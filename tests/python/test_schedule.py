# SPDX-License-Identifier: Apache-2.0
"""Profiles of some steps of a program."""
from __future__ import annotations

import os
import tempfile
import unittest.mock
from typing import Any, List

import support
import llmperf


def labels(profile: llmperf.Profile) -> List[str]:
    return [row["path"] for row in profile.regions()]


class Schedule(support.TestCase):
    """Regions of steps 0, 1, 2 … are named by their number."""

    def run_steps(self, count: int, *parts: int, **options: Any) -> llmperf.Schedule:
        with llmperf.schedule(*parts, source="none", **options) as schedule:
            for number in range(count):
                with llmperf.region(f"step{number}"):
                    pass
                schedule.step()
        return schedule

    def test_active_steps_of_each_cycle_are_kept_and_no_others(self) -> None:
        ready: List[llmperf.Profile] = []
        schedule = self.run_steps(20, 2, 1, 2, 2, on_ready=ready.append)
        self.assertEqual([labels(profile) for profile in schedule.profiles],
                         [["LLM@step3", "LLM@step4"], ["LLM@step8", "LLM@step9"]])
        self.assertEqual(ready, schedule.profiles)
        self.assertEqual(sorted(labels(schedule.profile)),
                         ["LLM@step3", "LLM@step4", "LLM@step8", "LLM@step9"])
        for profile in schedule.profiles:
            self.assertEqual(profile.ledger()["regions_truncated"], 0)

    def test_parts_of_no_steps_are_left_out(self) -> None:
        for parts, expected in (((0, 0, 2, 2), [[0, 1], [2, 3]]), ((0, 1, 1, 2), [[1], [3]]),
                                ((1, 0, 1, 1), [[1]]), ((0, 0, 9, 0), [[0, 1, 2, 3, 4, 5]])):
            schedule = self.run_steps(6, *parts)
            self.assertEqual([labels(profile) for profile in schedule.profiles],
                             [[f"LLM@step{number}" for number in part] for part in expected])

    def test_only_active_parts_leave_a_run(self) -> None:
        (self.folder / "tmp").mkdir()
        with unittest.mock.patch.dict(os.environ, LLMPERF_OUT=str(self.folder)), \
                unittest.mock.patch.object(tempfile, "tempdir", str(self.folder / "tmp")):
            self.run_steps(9, 1, 1, 1, 2)
        runs = [run for run in self.folder.iterdir() if (run / "run.llmperf").exists()]
        self.assertEqual(len(runs), 2)
        self.assertEqual({*self.folder.iterdir()}, {*runs, self.folder / "tmp"})
        self.assertEqual([*(self.folder / "tmp").iterdir()], [])

    def test_steps_that_are_thrown_away_leave_no_trace(self) -> None:
        with unittest.mock.patch.dict(os.environ, LLMPERF_TRACE="1"), \
                unittest.mock.patch.object(tempfile, "tempdir", str(self.folder)), \
                llmperf.schedule(0, 1, 1, source="none", out=self.folder / "runs") as schedule:
            self.assertEqual([*self.folder.glob("*/*/*.llmrec")], [])
            schedule.step()
            self.assertEqual(len([*self.folder.glob("runs/*/*.llmrec")]), 1)

    def test_while_steps_are_awaited_no_session_records(self) -> None:
        with llmperf.schedule(1, 0, 1, 1, source="none") as schedule:
            with self.assertRaisesRegex(llmperf.LlmperfError, "no active part .* has ended"):
                schedule.profile
            with llmperf.request() as request:
                self.assertEqual(request._handle, 0)
            schedule.step()
        self.assertEqual(labels(schedule.profile), [])
        with llmperf.Session(source="none"):  # none is left running
            pass

    def test_an_exception_ends_the_schedule(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "body"):
            with llmperf.schedule(active=3, source="none") as schedule:
                with llmperf.region("step"):
                    raise RuntimeError("body")
        self.assertEqual(labels(schedule.profile), ["LLM@step"])

    def test_wrong_schedules_are_refused_at_once(self) -> None:
        for parts, words in (((0, 0, 0, 1), "active must be at least 1"),
                             ((-1, 0, 1, 1), "wait must be from 0")):
            with self.assertRaisesRegex(ValueError, words):
                llmperf.schedule(*parts)
        with self.assertRaisesRegex(ValueError, "run_dir is for one run"):
            llmperf.schedule(run_dir=self.folder / "run")
        with self.assertRaisesRegex(ValueError, "tier 'fast' is not one of"):
            llmperf.schedule(tier="fast")


if __name__ == "__main__":
    support.need_library()
    support.main()
