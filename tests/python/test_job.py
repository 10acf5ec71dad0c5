# SPDX-License-Identifier: Apache-2.0
"""Runs of several processes in one folder."""
from __future__ import annotations

import os
import subprocess
import tempfile

import support
import llmperf


class Jobs(support.TestCase):
    """llmperf.Job."""

    def test_runs_are_found_and_put_together(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            processes = os.path.join(folder, "processes")
            for _ in range(2):
                with llmperf.Session(source="none", out=processes):
                    with llmperf.prefill(512):
                        pass
            open(os.path.join(folder, "forked-7"), "w", encoding="utf-8").close()
            job = llmperf.Job(folder)
            self.assertEqual([os.path.dirname(run) for run in job.runs], [processes, processes])
            self.assertEqual(job.forked, 1)
            merged = job.merge()
            self.assertEqual(merged.fact("run_id"), os.path.basename(folder))
            self.assertEqual(sum(row["instances"] for row in merged.regions()), 2)

    def test_processes_that_still_run_are_known(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            job = llmperf.Job(folder)
            self.assertEqual(job.processes(), [])
            environment = {**os.environ, "LLMPERF_RUN_DIR": os.path.realpath(folder)}
            with subprocess.Popen(["cat"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
                assert child.stdin and child.stdout
                child.stdin.write(b"\n")
                child.stdin.flush()
                child.stdout.readline()  # Its environment cannot be read before it runs.
                self.assertEqual(job.processes(), [child.pid])
                child.kill()
            self.assertEqual(job.processes(), [])

    def test_what_is_no_folder_is_refused(self) -> None:
        with self.assertRaises(llmperf.LlmperfError):
            llmperf.Job("/nonexistent")


if __name__ == "__main__":
    support.need_library()
    support.main()
