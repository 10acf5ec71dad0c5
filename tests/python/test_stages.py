# SPDX-License-Identifier: Apache-2.0
"""Stages, advice and GPUs of recorded runs: what programs read is what metrics.json says, scaled to all calls in tier light."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

import support
import llmperf

support.need_library()
RECORDED = support.DATA / "h200"
RECORDINGS = sorted(RECORDED.rglob("*.llmrec"))
MODEL = support.DATA / "model/deepseek_ocr.json"
STEP = "LLM@decode_all/LLM@decode_step"


def replay(recording: Path) -> llmperf.Profile:
    profile = support.replay(recording)
    if "engine" in recording.parts:
        profile.apply_model(MODEL, "bf16")
    return profile


def rounded(value: Any) -> Any:
    """As metrics.json writes numbers."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def scale_of(row: Dict[str, Any]) -> float:
    """All calls of a stage / those whose device work was collected."""
    wall = row["wall_ms"]["sum"] or 0
    collected = (wall - (row["window_ms"] or 0)) * row["sampled_fraction"]
    return wall / collected if 0 < collected < wall else 1


class Stages(support.TestCase):
    def check_number(self, stage: Dict[str, Any], name: str, expected: Optional[float]) -> None:
        if expected is None:
            self.assertIsNone(stage[name], name)
            self.assertTrue(stage["reasons"][name], name)
        else:
            self.assertAlmostEqual(stage[name] / (expected or 1), 1 if expected else 0, 11, name)

    def check_stage(self, stage: Dict[str, Any], row: Dict[str, Any]) -> None:
        known = row["sampled_fraction"] > 0
        scale = scale_of(row)
        for name in ("path", "label", "process_id", "device"):
            self.assertEqual(stage[name], row[name])
        self.assertEqual(stage["calls"], row["instances"])
        self.check_number(stage, "wall_ms", row["wall_ms"]["sum"])
        self.check_number(stage, "call_ms", row["wall_ms"]["mean"])
        for name in ("tokens", "tokens_per_s", "mfu", "mbu", "floor_ratio", "wall_ratio"):
            self.check_number(stage, name, row[name])
        for name, given in (("busy_ms", "gpu_busy_ms"), ("idle_ms", "idle_ms"), ("floor_ms", "time_floor_ms")):
            self.check_number(stage, name, scale * row[given] if known and row[given] is not None else None)
        self.assertEqual(stage["bound"], row["bound"])
        self.assertAlmostEqual(stage["collected"], row["sampled_fraction"], 12)

    def test_stages_are_those_of_metrics_json(self) -> None:
        self.assertGreaterEqual(len(RECORDINGS), 12)
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name), replay(recording) as profile:
                metrics = profile.to_dict()
                stages = profile.stages
                self.assertEqual(len(stages), len(metrics["stages"]))
                for stage, row in zip(stages, metrics["stages"]):
                    self.check_stage(stage, row)
                    self.assertEqual(profile.regions()[stage["region"]]["path"], stage["path"])
                self.assertEqual(profile.verdict, metrics["ledger"]["verdict"])

    def test_overall_use_is_that_of_metrics_json(self) -> None:
        known = 0
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name), replay(recording) as profile:
                sums, overall = profile.to_dict()["aggregates"], profile.overall
                for name in ("mfu", "mbu", "mfu_elapsed", "mbu_elapsed"):
                    self.assertEqual(rounded(overall[name]), rounded(sums[name]))
                    self.assertNotEqual(overall[name] is None, overall[name.replace("_elapsed", "") + "_reason"] is None
                                        and (overall["elapsed_reason"] is None or "elapsed" not in name))
                self.assertEqual(rounded(overall["busy_ms"]), rounded(sums["stages_busy_ms"]))
                known += overall["mbu"] is not None
        self.assertGreater(known, 3)

    def test_advice_is_that_of_metrics_json(self) -> None:
        advised = 0
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name), replay(recording) as profile:
                rows = profile.to_dict()["recommendations"]
                advised += len(rows)
                self.assertEqual([(row["id"], row["text"], row["stage"], rounded(row["saving_ms"]), row["severity"],
                                   {part["name"]: rounded(part["value"]) for part in row["evidence"]}) for row in profile.advice],
                                 [(row["id"], row["text"], row["region"], rounded(row["saving_ms"]), row["severity"],
                                   {name: rounded(value) for name, value in row["evidence"].items()}) for row in rows])
                for part in (part for row in profile.advice for part in row["evidence"]):
                    self.assertEqual(part["unit"], next((unit for unit in ("ms", "us") if part["name"].endswith("_" + unit)), ""))
        self.assertGreater(advised, 10)

    def test_a_sampled_step_stands_for_all_of_its_calls(self) -> None:
        """8 steps of 400 were collected; the engine's own tables say 0.94 ms a step."""
        with replay(RECORDED / "engine/light.llmrec") as profile:
            step = next(stage for stage in profile.stages if stage["path"] == STEP)
            around = next(stage for stage in profile.stages if stage["path"] == "LLM@decode_all")
        self.assertEqual(step["calls"], 400)
        self.assertAlmostEqual(step["busy_ms"] / 400, 0.94, 2)
        self.assertIsNone(step["busy_low_ms"])
        self.assertIn("chance", step["reasons"]["busy_low_ms"])  # recorded by a version that did not record it
        self.assertEqual((step["bound"], step["confidence"], step["rate"]), ("memory", "high", "stage"))
        self.assertIn("only part", around["reasons"]["busy_low_ms"])

    def test_gpus_have_names_and_processes(self) -> None:
        ranks = [replay(RECORDED / f"engine/tensor_{rank}.llmrec") for rank in range(2)]
        for profile in [*ranks, llmperf.merge(*ranks)]:
            gpus = profile.gpus
            used = {(stage["device"], stage["process_id"]) for stage in profile.stages}
            self.assertEqual({gpu["name"] for gpu in gpus}, {"NVIDIA H200"})
            self.assertEqual({(gpu["device"], gpu["process_id"]) for gpu in gpus if gpu["process_id"]}, used)
            self.assertGreater(gpus[0]["memory_bytes"], 100e9)
            profile.close()


if __name__ == "__main__":
    support.main()
