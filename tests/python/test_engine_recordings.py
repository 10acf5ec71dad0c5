# SPDX-License-Identifier: Apache-2.0
"""Recordings of the mini engine on H200s (tests/data/h200/README.md): the tables of the live runs come out again, and what
several streams, ranks, counters and samples of one model say agrees with what one request says."""
from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, Tuple

import support
import trace_files
import llmperf
from support import replay

support.need_library()
EXAMPLES = support.SOURCE / "examples/data"
sys.path.insert(0, str(EXAMPLES))

import golden  # noqa: E402

ENGINE = support.DATA / "h200/engine"
RECORDINGS = sorted(ENGINE.glob("*.llmrec"))
STEP = "LLM@decode_all/LLM@decode_step"
STREAMS, STEPS = 4, 8  # of streams*.llmrec; steps of a request in ranks, too


def with_model(name: str) -> llmperf.Profile:
    profile = replay(ENGINE / f"{name}.llmrec")
    profile.apply_model(support.DATA / "model/deepseek_ocr.json", dtype="bf16")
    return profile


def regions(metrics: Dict[str, Any]) -> Dict[str, Any]:
    return {row["path"]: row for row in metrics["regions"]}


def one_request() -> Dict[str, Any]:
    """Regions of one request of 256 steps, eager."""
    with open(EXAMPLES / "dsocr_base.golden.json", encoding="utf-8") as file:
        found = json.load(file)["regions"]
    return {path: dict(zip(golden.REGION, row)) for path, row in found.items()}


class Recorded(support.TestCase):
    def metrics(self, name: str) -> Dict[str, Any]:
        return replay(ENGINE / f"{name}.llmrec").to_dict()

    def test_each_gives_the_tables_of_its_live_run(self) -> None:
        self.assertGreaterEqual(len(RECORDINGS), 6)
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                metrics = replay(recording).to_dict()
                self.assertLess(recording.stat().st_size, 300_000)
                self.assertEqual(len(metrics["ledger"]["problems"]), 2 if recording.stem == "light_late" else 0)
                self.assertEqual(metrics["hardware"]["name"], "NVIDIA H200")
                with open(recording.with_suffix(".golden.json"), encoding="utf-8") as file:
                    self.assertEqual(golden.tables(metrics), json.load(file))

    def test_verdicts(self) -> None:
        found = {recording.stem: replay(recording).ledger()["verdict"] for recording in RECORDINGS}
        sampled = {"light": "sampled", "light_late": "incomplete"}
        self.assertEqual(found, {recording.stem: sampled.get(recording.stem, "complete") for recording in RECORDINGS})

    def test_what_is_put_down_to_the_host_is_gone_in_a_graph(self) -> None:
        """Rank 0 is the one that the other does not wait for: launched kernel by kernel and as one graph."""
        eager, graph = (
            next(row for row in self.metrics(name)["iterations"] if row["region"] == STEP)
            for name in ("tensor_0", "tensor_graphs_0")
        )
        gone = eager["idle_ms"]["mean"] - graph["idle_ms"]["mean"]
        self.assertGreater(gone, 0.4)
        self.assertLess(abs(eager["idle_launch_ms"]["mean"] / gone - 1), 0.1)

    def test_a_comparison_says_if_kernels_are_slower_but_no_stage(self) -> None:
        """One rank waits in collectives for the other, which launches more slowly: their steps are equally long."""
        ranks = [replay(ENGINE / f"tensor_{rank}.llmrec") for rank in (0, 1)]
        text = llmperf.compare_document(*ranks, form="md")
        self.assertIn("**Regression**: 21 slower", text)
        self.assertIn("\n\nNo stage is slower as a whole.", text)
        self.assertNotIn("No stage is slower", llmperf.compare_document(*ranks[::-1], form="md"))

    def test_streams_have_the_kernels_of_as_many_requests(self) -> None:
        one = one_request()
        eager = regions(self.metrics("streams"))
        for path, row in one.items():
            if not path.startswith(("LLM@prefill", "LLM@decode_all")):
                continue
            requests = STREAMS * STEPS / 256 if path.startswith(STEP) else STREAMS
            if path == "LLM@decode_all":
                requests = STREAMS * STEPS / 256
                self.assertEqual(eager[path]["instances"], STREAMS)
            else:
                self.assertEqual(eager[path]["instances"], requests * row["instances"], path)
            for column in ("kernel_count", "memcpy_count"):
                self.assertEqual(eager[path][column], requests * row[column], (path, column))
        for path in ("LLM@prefill", "LLM@prefill/LLM@vision"):
            self.assertEqual(eager[path]["flops"], STREAMS * one[path]["flops"])

    def test_streams_in_graphs_have_the_kernels_of_eager_ones(self) -> None:
        eager, graphs = (regions(self.metrics(name)) for name in ("streams", "streams_graphs"))
        for path in [STEP, *(path for path in eager if path.startswith("LLM@prefill"))]:
            for column in ("instances", "kernel_count", "memcpy_count", "flops", "tokens"):
                self.assertEqual(graphs[path][column], eager[path][column], (path, column))
        self.assertEqual(graphs["LLM@graph_capture"]["instances"], STREAMS)

    def test_kernels_of_graphs_on_streams_are_known_by_layer(self) -> None:
        calls: Dict[str, int] = defaultdict(int)
        for row in replay(ENGINE / "streams_graphs.llmrec").kernels():
            if row["region"] == STEP and row["kind"] == "kernel":
                calls[row["captured_in"]] += row["calls"]
        one = one_request()
        wanted = {path.replace(STEP, "LLM@graph_capture"): one[path]["kernel_count"] * STREAMS * STEPS / 256
                  for path in one if path.startswith(STEP + "/") and not any(other.startswith(path + "/") for other in one)}
        self.assertEqual({path: calls[path] for path in wanted}, wanted)
        self.assertEqual(sum(calls.values()), sum(wanted.values()))

    def by_stream(self, name: str) -> Tuple[List[Any], List[Any]]:
        """(stream, kernels), and (stream, thread) of the launches of kernels that have one each."""
        path = self.folder / f"{name}.sqlite"
        llmperf.export_trace(ENGINE / f"{name}.llmrec", path, "nsys-sqlite")
        kernels = trace_files.rows(path, "SELECT streamId, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY streamId")
        threads = trace_files.rows(path, """
            SELECT DISTINCT k.streamId, r.globalTid FROM CUPTI_ACTIVITY_KIND_KERNEL k
            JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId""")
        return list(kernels), list(threads)

    def test_each_stream_is_of_one_thread_and_has_its_share(self) -> None:
        one = one_request()
        share = one["LLM@prefill"]["kernel_count"] + one[STEP]["kernel_count"] * STEPS / 256
        for name in ("streams", "streams_graphs"):
            with self.subTest(recording=name):
                kernels, threads = self.by_stream(name)
                self.assertEqual([count for _, count in kernels], STREAMS * [share])
                self.assertEqual(len({stream for stream, _ in threads}), STREAMS)
                self.assertEqual(len({thread for _, thread in threads}), STREAMS)
                self.assertEqual(len(threads), STREAMS)

    def test_work_on_a_stream_does_not_overlap(self) -> None:
        """What is wrong with times shows here, whatever the totals say: an end of a later replay lies over all that follows."""
        for recording in [*RECORDINGS, *sorted(EXAMPLES.glob("*.llmrec"))]:
            with self.subTest(recording=recording.name):
                path = self.folder / f"{recording.stem}_order.sqlite"
                llmperf.export_trace(recording, path, "nsys-sqlite")
                spans = trace_files.rows(path, "SELECT deviceId, streamId, start, end FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1, 2, 3")
                until: Dict[Tuple[int, int], int] = {}
                overlap = total = 0
                for device, stream, start, end in spans:
                    overlap += max(0, min(until.get((device, stream), 0), end) - start)
                    until[device, stream] = max(until.get((device, stream), 0), end)
                    total += end - start
                self.assertGreater(total, 0)
                self.assertLess(overlap, total / 1000)

    def test_streams_that_overlap_are_busy_for_less_than_their_kernels(self) -> None:
        for name in ("streams", "streams_graphs"):
            for path, row in regions(self.metrics(name)).items():
                self.assertLessEqual(row["gpu_busy_ms"], row["kernel_ms"] + row["memcpy_ms"] + row["memset_ms"] + 1e-6, path)
            prefill = regions(self.metrics(name))["LLM@prefill"]
            self.assertGreater(prefill["kernel_ms"], 1.05 * prefill["gpu_busy_ms"])

    def test_streams_that_overlap_are_not_said_to_wait(self) -> None:
        for name in ("streams", "streams_graphs"):
            with self.subTest(recording=name):
                profile = replay(ENGINE / f"{name}.llmrec")
                rules = {row["id"] for row in profile.to_dict()["recommendations"]}
                self.assertFalse(rules & {"waiting", "launch_bound", "host_gap", "device_idle"}, rules)
                self.assertIn("Several calls ran on the device at once", profile.report_markdown())
        self.assertIn("waiting", {row["id"] for row in replay(EXAMPLES / "dsocr_base.llmrec").to_dict()["recommendations"]})
        self.assertNotIn("at once", replay(EXAMPLES / "dsocr_base.llmrec").report_markdown().split("## Where the time goes")[0])

    def cost(self, path: Path, stage: str = STEP) -> Any:
        return {row["region"]: row for row in replay(path).to_dict()["profiler_cost"]["stages"]}[stage]

    def test_the_cost_of_profiling_is_about_what_runs_without_it_gained(self) -> None:
        # Decode of this engine without a profiler: 911 tokens/s eager, 1048 with graphs.
        for name, bare in (("dsocr_base", 911), ("dsocr_base_graphs", 1048)):
            metrics = replay(EXAMPLES / f"{name}.llmrec").to_dict()
            cost = self.cost(EXAMPLES / f"{name}.llmrec")
            gained = regions(metrics)[STEP]["time_ms"] - 1000 / bare
            self.assertEqual((cost["method"], cost["error_ms"]), ("estimated", None))
            self.assertLess(abs(cost["call_ms"] / gained - 1), 0.35, (name, cost, gained))
        # Prefill is launched ahead of the GPU: the host's time costs it nearly nothing.
        self.assertLess(self.cost(EXAMPLES / "dsocr_base.llmrec", "LLM@prefill")["share"], 0.005)

    def test_the_cost_of_collecting_a_call_is_measured(self) -> None:
        profile = replay(ENGINE / "light.llmrec")
        step, cost = regions(profile.to_dict())[STEP], self.cost(ENGINE / "light.llmrec")
        others = (step["wall_ms"]["sum"] - step["collected_wall_ms"]) / (step["instances"] - 8)
        self.assertEqual(cost["method"], "measured")
        self.assertLess(abs(cost["call_ms"] - (step["collected_wall_ms"] / 8 - others)), cost["error_ms"])
        self.assertTrue(0.2 < cost["call_ms"] < 0.35 and 0.003 < cost["share"] < 0.008, cost)
        self.assertRegex(profile.report_markdown(), r"Profiling itself cost about 0\.\d+ % of the time of `LLM@decode_step` \(measured\)")

    def test_what_the_profiler_took_is_no_advice(self) -> None:
        profile = replay(EXAMPLES / "dsocr_base_graphs.llmrec")
        metrics = profile.to_dict()
        self.assertNotIn("host_gap", {row["id"] for row in metrics["recommendations"]})
        step = next(row for row in metrics["waterfall"] if row["region"] == STEP)
        parts = {row["part"]: row["adds_ms"] for row in step["parts"] if row["part"] != "kernels"}
        self.assertEqual(step["parts"][-1]["part"], "profiler")
        self.assertAlmostEqual(parts["profiler"], self.cost(EXAMPLES / "dsocr_base_graphs.llmrec")["call_ms"], places=9)

    def test_the_rate_of_streams_is_that_of_all_of_them(self) -> None:
        for name in ("streams", "streams_graphs"):
            profile = replay(ENGINE / f"{name}.llmrec")
            step = regions(profile.to_dict())[STEP]
            steps = [row for row in profile.iterations() if row["region"] == STEP]
            begin = min(row["begin_ns"] for row in steps)
            end = max(row["begin_ns"] + row["wall_ms"] * 1e6 for row in steps)
            self.assertAlmostEqual(step["active_ms"], (end - begin) / 1e6, delta=0.1)  # no pause between steps
            self.assertAlmostEqual(step["tokens_per_s"], STREAMS * STEPS * 1000 / step["active_ms"], places=6)
            self.assertIn(" tokens/s in all", profile.report_markdown())

    def test_counters_are_of_each_instance_of_a_stage(self) -> None:
        metrics = self.metrics("counters")
        found = regions(metrics)
        counted = {(row["region"], row["name"]): row for row in metrics["metrics"]}
        for path in ("LLM@prefill", "LLM@prefill/LLM@vision", STEP):
            for name in ("gpu_time", "dram_read_bytes", "dram_write_bytes", "tensor_flops_bf16"):
                row = counted[path, name]
                self.assertEqual((row["count"], row["source"]), (found[path]["instances"], "range_profiler"), (path, name))
                self.assertGreater(row["min"], 0, (path, name))
        # What the analysis says of one step's bytes is what DRAM moved, and a product fills its tiles up.
        moved = found[STEP]["counters"]["dram_read_bytes"] + found[STEP]["counters"]["dram_write_bytes"]
        self.assertLess(abs(moved * found[STEP]["instances"] / found[STEP]["bytes"] - 1), 0.05)
        vision = found["LLM@prefill/LLM@vision"]
        filled = vision["counters"]["tensor_flops_bf16"] * vision["instances"] / vision["flops"]
        self.assertTrue(1 < filled < 1.1, filled)
        self.assertIn("Hardware counters", replay(ENGINE / "counters.llmrec").report_markdown())

    def test_a_sample_of_steps_has_whole_steps_of_the_same_length(self) -> None:
        metrics = self.metrics("light")
        step, ledger, whole = regions(metrics)[STEP], metrics["ledger"], one_request()[STEP]
        each = whole["kernel_count"] // 256
        self.assertEqual((metrics["tier"], self.metrics("streams")["tier"]), ("light", "deep"))
        self.assertEqual((step["instances"], step["kernel_count"] % each), (2 * 200, 0))
        collected = step["kernel_count"] // each
        self.assertEqual(collected, ledger["graph_launches"])
        self.assertTrue(0 < collected < 2 * 200)
        self.assertEqual((ledger["records_invalid_time"], ledger["launches_missing"]), (0, 0))
        self.assertLess(abs(step["gpu_busy_ms"] / collected / (whole["gpu_busy_ms"] / 256) - 1), 0.05)
        # Collected steps took longer; their share is that of their work all the same.
        self.assertLess(abs(step["sampled_fraction"] / (collected / 400) - 1), 0.01)
        self.assertGreater(step["mbu"], 0.25)
        self.assertLess(step["mbu"], 0.265)

    def test_the_parts_of_a_call_add_up_to_its_elapsed_time(self) -> None:
        stages = 0
        for recording in RECORDINGS + sorted(EXAMPLES.glob("*.llmrec")):
            profile = replay(recording)
            profile.apply_model(support.DATA / "model/deepseek_ocr.json", dtype="bf16")
            for row in profile.to_dict()["waterfall"]:
                with self.subTest(recording=recording.name, stage=row["region"]):
                    total = sum(part["adds_ms"] for part in row["parts"])
                    self.assertAlmostEqual(total, row["elapsed_ms"], delta=1e-6 * row["elapsed_ms"])
                    stages += 1
        self.assertGreater(stages, 10)

    def test_attention_of_a_graph_is_far_above_its_bound(self) -> None:
        profile = replay(EXAMPLES / "dsocr_base_graphs.llmrec")
        profile.apply_model(support.DATA / "model/deepseek_ocr.json", dtype="bf16")
        row = next(row for row in profile.to_dict()["waterfall"] if row["region"] == STEP)
        parts = {(part.get("region"), part.get("kernel_class")): part for part in row["parts"]}
        attention = parts["LLM@attention", "attention"]
        self.assertAlmostEqual(attention["duration_ms"], 0.1268, delta=0.0001)
        # KV cache of 411.5 positions on average x 61,440 bytes, at 4.8 TB/s.
        self.assertAlmostEqual(attention["bound_ms"], 411.5 * 61440 / 4.8e9, delta=0.0001)
        self.assertLess(parts["LLM@lm_head", "GEMM"]["duration_ms"], 1.2 * parts["LLM@lm_head", "GEMM"]["bound_ms"])
        self.assertNotIn("bound_reason", row)

    def test_shares_of_sampled_steps_are_of_the_sampled_steps(self) -> None:
        report = replay(ENGINE / "light.llmrec").report_markdown()
        steps = report[report.index("400 calls, device times of 8 of them."):]
        busy = next(line for line in steps.splitlines() if line.startswith("| …… busy"))
        self.assertGreater(float(busy.split("|")[3]), 80)  # percent of the wall time

    def test_vision_in_a_sampled_prefill_is_not_counted_again(self) -> None:
        for name in ("light", "light_late"):
            metrics = self.metrics(name)
            outer = [row for row in metrics["regions"] if row["path"] in (STEP, "LLM@prefill")]
            collected, all_ms = (sum(row["wall_ms"]["sum"] * share for row in outer for share in (row["sampled_fraction"] ** power,))
                                 for power in (1, 0))
            self.assertAlmostEqual(metrics["ledger"]["sampled_fraction"], collected / all_ms, places=3)

    def test_the_headline_says_which_calls_were_collected(self) -> None:
        profile = replay(ENGINE / "light.llmrec")
        found, report = regions(profile.to_dict()), profile.report_markdown()
        headline = report[:report.index("## Further advice")]
        calls = [found[path]["collected_instances"] for path in ("LLM@decode_all", STEP, "LLM@prefill", "LLM@prefill/LLM@vision")]
        self.assertEqual(calls, [None, 8, 2, 2])
        self.assertIn(f"- `{STEP}`: 8 of 400 calls, 2.00 % of its work\n- `LLM@prefill`: 2 of 2 calls, 100 % of its work\n\n", headline)
        wall = sum(found[path]["wall_ms"]["sum"] * found[path]["sampled_fraction"] for path in (STEP, "LLM@prefill"))
        self.assertIn(f"44.2 ms of device time in {wall:.3g} ms of host time. The whole run: 456 ms.", headline)
        self.assertIn("| Stage | GPU | Collected calls |", report)
        self.assertIn(f"| ↳ `{STEP}` | 0 | 8 | 8.213 | 7.507 | 91.40 | 0.7061 |", report)
        self.assertIn("| `LLM@decode_all` | 0 | – | 8.221 | 7.507 |", report)
        self.assertNotIn("Collected calls", replay(ENGINE / "streams.llmrec").report_markdown())

    def test_advice_names_the_class_of_the_class_table_and_adds_no_saving_twice(self) -> None:
        for name in ("light", "streams", "tensor_1"):
            metrics = with_model(name).to_dict()
            found = regions(metrics)
            slow = {row["region"]: row for row in metrics["recommendations"] if row["id"] == "slow_kernels"}
            for path, row in slow.items():
                classes = [entry for entry in metrics["kernel_classes"] if entry["stage"] == found[path]["label"]
                           and entry["kernel_class"] not in ("collective", "memory op")]
                own = sum(entry["total_ms"] for entry in classes)
                self.assertEqual(row["evidence"]["top_class"], classes[0]["kernel_class"], (name, path))
                self.assertAlmostEqual(row["evidence"]["top_class_share"], classes[0]["total_ms"] / own, places=9)
                self.assertEqual("mostly" in row["text"], classes[0]["total_ms"] / own > 0.5, row["text"])
            if name == "tensor_1":
                continue
            prefill = found["LLM@prefill"]
            vision = found["LLM@prefill/LLM@vision"]
            both = slow["LLM@prefill"]["saving_ms"] + vision["gpu_busy_ms"] - vision["time_floor_ms"] / 0.8
            both += sum(row["saving_ms"] for row in metrics["recommendations"] if row["region"] == "LLM@prefill"
                        and row["id"] in ("slow_operator", "unfused_attention", "tiny_kernels", "copy_cast", "memcpys", "few_blocks", "collectives"))
            self.assertAlmostEqual(both, prefill["gpu_busy_ms"] - prefill["time_floor_ms"] / 0.8, places=6)

    def test_mfu_is_of_elapsed_time_and_of_busy_time(self) -> None:
        profile = with_model("light")
        metrics = profile.to_dict()
        found = regions(metrics)
        for path in (STEP, "LLM@prefill", "LLM@prefill/LLM@vision"):
            row = found[path]
            everything = row["sampled_fraction"] == 1
            collected = row["active_ms"] if everything else row["wall_ms"]["sum"] * row["sampled_fraction"]
            busy = row["gpu_busy_ms"] / collected
            self.assertLess(busy, 1)
            for name in ("mfu", "mbu"):
                self.assertAlmostEqual(row[f"{name}_elapsed"], row[name] * busy, places=12)
        vision = found["LLM@prefill/LLM@vision"]  # asynchronous: the GPU works for 13.3 ms of 14.1, the host left after 4.3
        self.assertEqual((vision["clock"], round(vision["time_ms"], 1), round(vision["wall_ms"]["mean"], 1)), ("gpu", 14.1, 4.3))
        stage = next(stage for stage in profile.stages if stage["path"] == STEP)
        self.assertAlmostEqual(stage["mbu_elapsed"], found[STEP]["mbu_elapsed"], places=12)
        at_once = with_model("streams").to_dict()
        step = regions(at_once)[STEP]
        self.assertAlmostEqual(step["mfu_elapsed"], step["mfu"] * step["gpu_busy_ms"] / step["active_ms"], places=12)
        self.assertIsNone(regions(at_once)[f"{STEP}/LLM@layer00"]["mfu_elapsed"])
        self.assertTrue(any(note.startswith("mfu_elapsed is null") and "same time" in note for note in at_once["notes"]), at_once["notes"])

    def test_captures_of_sampled_steps_are_of_a_sampled_step(self) -> None:
        metrics = self.metrics("light")
        whole = next(row for row in metrics["captures"] if row["region"] == STEP)
        step = regions(metrics)[STEP]
        self.assertAlmostEqual(whole["instance_ms"], whole["kernel_ms"] / (step["sampled_fraction"] * step["instances"]), places=6)

    def test_costs_of_a_sampled_stage_stand_for_all_of_its_steps(self) -> None:
        profile = replay(ENGINE / "light.llmrec")
        metrics = profile.to_dict()
        step = regions(metrics)[STEP]
        costs = {}  # (class in words, stage): ms, as the summary says
        for what, stage, ms in re.findall(r"^\| (.+) \| `(.+?)` \| ([\d.]+) ms \|", profile.document("stakeholder_summary.md"), re.MULTILINE):
            costs[what, stage] = float(ms)
        gemm = next(row["total_ms"] for row in metrics["kernel_classes"]
                    if (row["stage"], row["kernel_class"]) == ("LLM@decode_step", "GEMM"))
        self.assertEqual(len(costs), 5)
        self.assertTrue(all(stage == "LLM@decode_step" for _, stage in costs), costs)
        self.assertLess(abs(costs["matrix products", "LLM@decode_step"] / (gemm / step["sampled_fraction"]) - 1), 0.01)
        self.assertLess(sum(costs.values()), step["wall_ms"]["sum"])

    def test_kernels_of_sampled_graphs_with_the_end_of_a_later_replay_are_left_out(self) -> None:
        metrics = self.metrics("light_late")
        step, ledger = regions(metrics)[STEP], metrics["ledger"]
        each = one_request()[STEP]["kernel_count"] // 256
        self.assertEqual(step["instances"], 2 * 200)
        self.assertEqual((step["kernel_count"], step["kernel_ms"], step["mfu"]), (0, 0, None))
        self.assertEqual(ledger["records_invalid_time"], ledger["graph_launches"] * each)
        self.assertIn("the end time of a later replay", " ".join(ledger["problems"]))
        self.assertTrue(0 < ledger["sampled_fraction"] < 1)
        # Prefill was launched one by one: its kernels have their own ends.
        whole, prefill = one_request()["LLM@prefill"], regions(metrics)["LLM@prefill"]
        self.assertEqual(prefill["kernel_count"], 2 * whole["kernel_count"])
        self.assertLess(abs(prefill["gpu_busy_ms"] / (2 * whole["gpu_busy_ms"]) - 1), 0.05)

    def ranks(self, name: str = "ranks") -> List[llmperf.Profile]:
        return [replay(ENGINE / f"{name}_{rank}.llmrec") for rank in range(2)]

    def test_ranks_that_are_copies_do_the_work_of_one_each(self) -> None:
        one = one_request()
        found = [regions(profile.to_dict()) for profile in self.ranks()]
        self.assertNotEqual(found[0][STEP]["process_id"], found[1][STEP]["process_id"])
        for rank in found:
            for path, row in one.items():
                if path.startswith("LLM@prefill"):
                    self.assertEqual((rank[path]["kernel_count"], rank[path]["flops"]), (row["kernel_count"], row["flops"]), path)
            self.assertEqual(rank[STEP]["kernel_count"], one[STEP]["kernel_count"] * STEPS / 256)

    def test_ranks_that_share_layers_do_half_the_work_each_and_talk(self) -> None:
        whole = regions(self.ranks()[0].to_dict())
        layers = 12
        for name in ("tensor", "tensor_graphs"):
            for rank, profile in enumerate(self.ranks(name)):
                with self.subTest(name=name, rank=rank):
                    metrics = profile.to_dict()
                    share = regions(metrics)
                    self.assertEqual(share[STEP]["device"], rank)
                    self.assertEqual(2 * share[STEP]["flops"], whole[STEP]["flops"])
                    self.assertEqual(share["LLM@prefill/LLM@vision"]["flops"], whole["LLM@prefill/LLM@vision"]["flops"])
                    talks: Dict[str, int] = defaultdict(int)
                    for row in metrics["kernels"]:
                        if row["kernel_class"] == "collective" and row["region"].startswith(STEP):
                            talks[(row["captured_in"] or row["region"]).rsplit("/", 1)[-1]] += row["calls"]
                    # Two sums a layer, behind attention and experts, and one gathering of the logits' halves.
                    self.assertEqual(talks, {"LLM@all_reduce": 2 * layers * STEPS, "LLM@all_gather": STEPS})
                    self.assertEqual(share[STEP]["kernel_count"], whole[STEP]["kernel_count"] + (2 * layers + 1) * STEPS)

    def test_merged_ranks_say_who_waits(self) -> None:
        metrics = llmperf.merge(*self.ranks("tensor")).to_dict()
        for path, count in ((STEP, 2 * 12 + 1), ("LLM@prefill", 2 * 12 + 1)):
            rows = [row for row in metrics["ranks"] if row["region"] == path]
            self.assertEqual([(row["device"], row["collective_count"]) for row in rows], [(0, count), (1, count)])
            least = min(row["collective_ms"] for row in rows)
            for row in rows:
                self.assertEqual(row["waiting_source"], "calls")
                self.assertAlmostEqual(row["waiting_ms"] + row["transfer_ms"], row["collective_ms"], places=9)
                self.assertGreaterEqual(row["waiting_ms"], row["collective_ms"] - least)
            self.assertAlmostEqual(sum(row["last_share"] for row in rows), 1)
            # Both GPUs are in the transfer together.
            self.assertAlmostEqual(rows[0]["transfer_ms"], rows[1]["transfer_ms"], delta=0.02 * rows[0]["transfer_ms"])
        # Each step the second GPU waited 0.19 ms and more for the first, whose host was late.
        advice = {row["id"]: row for row in metrics["recommendations"]}["uneven_ranks"]
        self.assertEqual((advice["region"], advice["evidence"]["waiting_gpu"], advice["evidence"]["last_gpu"]), (STEP, 1, 0))
        self.assertTrue(0.05 < advice["evidence"]["waiting_share"] < 0.2, advice)
        self.assertIn("its host launches late", advice["text"])
        for row in metrics["collectives"]:
            self.assertEqual((row["ranks"], row["transfer_source"], row["algorithm"], row["protocol"]), (2, "ranks", "not tree", None))
        self.assertEqual({row["kind"] for row in metrics["collectives"]}, {"all_reduce", "all_gather"})

    def test_merged_ranks_are_the_sum_of_both(self) -> None:
        profiles = self.ranks()
        merged = llmperf.merge(*profiles).to_dict()
        alone = [profile.to_dict() for profile in profiles]
        self.assertEqual(merged["ledger"]["verdict"], "complete")
        for column in ("kernels_seen", "kernels_attributed", "launches_expected", "memory_calls"):
            self.assertEqual(merged["ledger"][column], sum(metrics["ledger"][column] for metrics in alone), column)
        columns = ("path", "process_id", "device", "instances", "kernel_count", "memcpy_count", "flops", "bytes", "gpu_busy_ms", "kernel_ms")

        def table(metrics: Dict[str, Any]) -> List[Any]:
            return [tuple(round(row[column], 6) if isinstance(row[column], float) else row[column] for column in columns)
                    for row in metrics["regions"]]

        self.assertEqual(sorted(table(merged), key=repr), sorted(table(alone[0]) + table(alone[1]), key=repr))


if __name__ == "__main__":
    support.main()
