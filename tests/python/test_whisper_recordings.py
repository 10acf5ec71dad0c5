# SPDX-License-Identifier: Apache-2.0
"""Recordings of an engine of others on an H200 (tests/data/h200/README.md): whisper.cpp with CUDA graphs and without."""
from __future__ import annotations

from typing import Any, Dict

import support

support.need_library()

RECORDINGS = support.DATA / "h200/whisper"
REQUESTS, STEPS = 2, 20  # the first of them warms up
STEP = "LLM@decode_all/LLM@decode_step"


def replay(name: str) -> Dict[str, Any]:
    return support.replay(RECORDINGS / f"{name}.llmrec").to_dict()


def regions(metrics: Dict[str, Any]) -> Dict[str, Any]:
    return {row["path"]: row for row in metrics["regions"] if row["path"]}


class Whisper(support.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.graph, cls.eager = replay("graph"), replay("eager")

    def test_nothing_is_missing(self) -> None:
        for metrics in (self.graph, self.eager):
            ledger = metrics["ledger"]
            self.assertEqual(ledger["verdict"], "complete")
            self.assertEqual(ledger["problems"], [])
            self.assertEqual(ledger["kernels_seen"], 9894)
            self.assertEqual(ledger["kernels_attributed"], 9894)
        self.assertEqual(self.eager["ledger"]["graph_launches"], 0)
        self.assertEqual(self.graph["ledger"]["graph_launches"], 3)
        self.assertEqual(self.graph["ledger"]["graph_kernels_seen"] + self.graph["ledger"]["launches_expected"], 9894)

    def test_graphs_run_what_launches_run(self) -> None:
        graph, eager = regions(self.graph), regions(self.eager)
        self.assertEqual(graph.keys(), eager.keys())
        for path, row in eager.items():
            for column in ("instances", "tokens", "kernel_count", "memcpy_count", "memcpy_bytes"):
                self.assertEqual(graph[path][column], row[column], (path, column))
        self.assertEqual(eager[STEP]["instances"], REQUESTS * STEPS)
        self.assertEqual(eager[STEP]["kernel_count"], REQUESTS * STEPS * 211)
        self.assertLess(abs(graph[STEP]["kernel_ms"] / eager[STEP]["kernel_ms"] - 1), 0.03)

    def test_a_host_that_launches_kernel_by_kernel_is_what_the_device_waits_for(self) -> None:
        """The kernels of a step last 2.4 us and are launched every 6 us or so, which is less than a launch takes to arrive."""
        for metrics in (self.graph, self.eager):
            step = next(row for row in metrics["iterations"] if row["region"] == STEP)
            share = step["idle_launch_ms"]["sum"] / step["idle_ms"]["sum"]
            self.assertGreater(step["idle_ms"]["sum"], step["busy_ms"]["sum"])
            self.assertGreater(share, 0.7)
            saving = {row["id"]: row["saving_ms"] for row in metrics["recommendations"] if row["region"] == STEP}
            self.assertGreater(saving["launch_bound"], 5 * saving.get("waiting", 0))

    def test_its_kernels_have_classes(self) -> None:
        rows = self.eager["kernel_classes"]
        found = {row["kernel_class"]: row["total_ms"] for row in rows if row["stage"] == "LLM@decode_step"}
        self.assertNotIn("other", found)
        self.assertEqual(max(found, key=found.__getitem__), "GEMM")


if __name__ == "__main__":
    support.main()
