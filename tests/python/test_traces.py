# SPDX-License-Identifier: Apache-2.0
"""Traces of recordings of an H200, read by readers of their own, against the profile of the same recording."""
from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Dict, List

import support
import trace_files
import llmperf
from support import replay

support.need_library()

H200 = support.DATA / "h200"
EXAMPLES = support.SOURCE / "examples/data"
SMALL = [H200 / "dummy_resnet.llmrec", *sorted((H200 / "graphs").glob("*.llmrec"))]
EAGER, GRAPHS = EXAMPLES / "dsocr_base.llmrec", EXAMPLES / "dsocr_base_graphs.llmrec"
RECORDINGS = [*SMALL, EAGER, GRAPHS]
KERNEL, MEMCPY, MEMSET = 1, 2, 3


def kernel_sums(profile: llmperf.Profile) -> Dict[Any, Any]:
    """Calls and nanoseconds by name, region and region of capture."""
    sums: Dict[Any, Any] = {}
    for row in profile.kernels():
        key = (row["demangled"], row["region"], row["captured_in"])
        calls, time = sums.get(key, (0, 0))
        sums[key] = (calls + row["calls"], time + round(row["total_ms"] * 1e6))
    return sums


def slice_sums(slices: List[trace_files.Slice], name: Any) -> Dict[Any, Any]:
    sums: Dict[Any, Any] = {}
    for item in slices:
        region = item.args.get("region", "")
        key = (name(item), None if region in (None, "(launch not seen)") else region, item.args.get("captured in"))
        calls, time = sums.get(key, (0, 0))
        sums[key] = (calls + 1, time + item.end - item.begin)
    return sums


class Recorded(support.TestCase):
    """Real recordings: eager, graphs of all kinds, threads."""

    def export(self, recording: Path, form: str) -> Any:
        self.path = self.folder / f"out.{form}"
        self.summary = llmperf.export_trace(recording, self.path, form)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], [self.path.name])
        return self.path

    def check_regions(self, profile: llmperf.Profile, spans: List[trace_files.Slice]) -> None:
        """Instances and host time of each path, which the histogram of a profile keeps exactly."""
        wanted = {row["path"]: (row["instances"], round(row["wall_sum_ms"] * 1e6)) for row in profile.regions()
                  if row["path"] and row["instances"] and row["device"] in (None, 0)}
        found: Dict[str, Any] = {}
        for item in spans:
            calls, time = found.get(item.args["region"], (0, 0))
            length = 0 if item.args.get("truncated") else item.end - item.begin
            found[item.args["region"]] = (calls + 1, time + length)
        self.assertEqual(found, wanted)

    def check_counts(self, profile: llmperf.Profile, trace: trace_files.Trace) -> None:
        ledger = profile.ledger()
        self.assertEqual(self.summary["kernels"], ledger["kernels_seen"])
        self.assertEqual(self.summary["memory"], ledger["memory_seen"])
        self.assertEqual(self.summary["launches"], ledger["launches_expected"] + ledger["graph_launches"]
                         + ledger["memory_calls"])
        self.assertEqual((self.summary["missing_from_ns"], self.summary["cut"]), (0, 0))
        self.assertTrue(trace_files.nests(trace.slices))

    def test_perfetto(self) -> None:
        for recording in [*SMALL, GRAPHS]:
            with self.subTest(recording=recording.name):
                profile = replay(recording)
                trace = trace_files.read_perfetto(self.export(recording, "perfetto"))
                device = trace.of("device")
                self.check_counts(profile, trace)
                self.assertEqual(slice_sums(device, lambda item: item.args.get("kernel", item.name)),
                                 self.known(kernel_sums(profile)))
                self.check_regions(profile, trace.of("region"))
                launches = [item for item in trace.instants if item.category == "launch"]
                self.assertEqual(len(launches), self.summary["launches"])
                # Each launch that brought something has one arrow, to the first that it brought.
                brought = {item.args["correlation"] for item in device if "since launch ns" in item.args}
                self.assertEqual({start.args["correlation"] for start, _ in trace.arrows}, brought)
                for start, end in trace.arrows:
                    self.assertEqual(start.args["correlation"], end.args["correlation"])
                begins = [item.begin for item in device]
                self.assertEqual(begins, sorted(begins))
                self.assertEqual({trace.tracks[trace.tracks[item.track][1]][0] for item in device},
                                 {"GPU 0 NVIDIA H200"} if device else set())

    def known(self, sums: Dict[Any, Any]) -> Dict[Any, Any]:
        """No activity of these recordings is of a launch that was not seen."""
        self.assertFalse([key for key in sums if key[1] is None])
        return sums

    def test_chrome(self) -> None:
        for recording in [*SMALL, EAGER]:
            with self.subTest(recording=recording.name):
                profile = replay(recording)
                trace = trace_files.read_chrome(self.export(recording, "chrome"))
                device = trace.of("kernel") + trace.of("gpu_memcpy") + trace.of("gpu_memset")
                self.check_counts(profile, trace)
                self.assertEqual(slice_sums(device, lambda item: item.name), kernel_sums(profile))
                self.check_regions(profile, trace.of("user_annotation"))
                self.assertEqual(len(trace.of("cuda_runtime")), self.summary["launches"])
                self.assertEqual(len(trace.arrows), len({start.args["correlation"] for start, _ in trace.arrows}))
                for start, end in trace.arrows:
                    self.assertEqual(start.args["correlation"], end.args["correlation"])
                self.assertTrue(all(item.args["stream"] >= 0 and item.args["device"] == 0 for item in device))
                self.assertEqual([("bytes" in item.args) for item in device], [item.category != "kernel" for item in device])

    def test_a_process_is_named_by_its_program_and_gpu(self) -> None:
        with open(self.export(EAGER, "chrome"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual({event["args"]["name"] for event in events if event["name"] == "process_name" and event["pid"] != 0 and " GPU" not in event["args"]["name"]},
                         {"dsocr_profile · NVIDIA H200"})

    def test_counts_of_the_program_stand_at_their_region(self) -> None:
        profile = replay(EAGER)
        trace = trace_files.read_perfetto(self.export(EAGER, "perfetto"))
        tokens: Counter[str] = Counter()
        for item in trace.of("region"):
            tokens[item.args["region"]] += item.args.get("tokens", 0)
        for row in profile.regions():
            if row["tokens"] is not None and row["path"]:
                self.assertEqual(tokens[row["path"]], row["tokens"], row["path"])
        self.assertGreater(sum(tokens.values()), 0)

    def test_sampled_counters_are_tracks_of_their_gpu(self) -> None:
        quantities = {"sm_active", "occupancy", "tensor_active", "dram_read_bytes", "dram_write_bytes"}
        for form, read in (("perfetto", trace_files.read_perfetto), ("chrome", trace_files.read_chrome)):
            trace = read(self.export(H200 / "pm.llmrec", form))
            self.assertEqual(self.summary["samples"], 87)
            self.assertEqual({name.split(" [")[0] for name in trace.counters}, quantities)
            for samples in trace.counters.values():
                self.assertEqual(len(samples), 87)
                times = [time for time, _ in samples]
                self.assertEqual(times, sorted(times))
                self.assertTrue(all(later > time for time, later in zip(times, times[1:])))
            busy = [value for name, samples in trace.counters.items() if name.startswith("sm_active") for _, value in samples]
            self.assertTrue(0 < max(busy) <= 100)
            self.path.unlink()

    def test_nsys_round_trip(self) -> None:
        """What goes out comes in again: kernels by region, regions, ledger. Where a graph's nodes were captured has no time in
        a recording, so such a file cannot say it."""
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                before = replay(recording)
                after = llmperf.import_files(self.export(recording, "nsys-sqlite"), exact_names=True)
                self.assertEqual(self.without_capture(kernel_sums(after)), self.without_capture(kernel_sums(before)))
                keys = ("path", "instances", "wall_sum_ms", "gpu_busy_ms", "kernel_ms", "kernel_count")
                self.assertEqual(self.region_rows(after, keys), self.region_rows(before, keys))
                for key in ("launches_expected", "graph_launches", "memory_calls", "kernels_seen", "memory_seen",
                            "kernels_attributed", "kernels_unattributed", "kernels_outside", "launches_missing"):
                    self.assertEqual(after.ledger()[key], before.ledger()[key], key)
                self.assertEqual(after.fact("process_id"), before.fact("process_id"))

    @staticmethod
    def without_capture(sums: Dict[Any, Any]) -> Dict[Any, Any]:
        found: Dict[Any, Any] = {}
        for (name, region, _), (calls, time) in sums.items():
            before = found.get((name, region), (0, 0))
            found[(name, region)] = (before[0] + calls, before[1] + time)
        return found

    @staticmethod
    def region_rows(profile: llmperf.Profile, keys: Any) -> List[Any]:
        return sorted(tuple(round(row[key], 6) if isinstance(row[key], float) else row[key] for key in keys)
                      for row in profile.regions() if row["path"])

    def test_nsys_has_the_columns_that_readers_join(self) -> None:
        path = self.export(H200 / "dummy_resnet.llmrec", "nsys-sqlite")
        kernels = list(trace_files.rows(path, """
            SELECT count(*), min(s.value), min(r.start), max(k.end) FROM CUPTI_ACTIVITY_KIND_KERNEL k
            JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
                AND r.globalTid & 0xFFFFFFFFFF000000 = k.globalPid
            JOIN StringIds s ON s.id = r.nameId WHERE k.start >= r.start AND k.gridX IS NULL"""))
        self.assertEqual(kernels[0][:2], (950, "cudaLaunchKernel"))
        self.assertGreaterEqual(kernels[0][2], 0)
        self.assertEqual(list(trace_files.rows(path, "SELECT name, smCount, clockRate FROM TARGET_INFO_GPU")),
                         [("NVIDIA H200", 132, 1980000000)])
        self.assertEqual(list(trace_files.rows(path, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59")), [(500,)])


class Scripted(support.TestCase):
    """What recordings of an H200 do not have."""

    def test_a_region_that_was_open_at_the_end_has_no_end_for_nsys(self) -> None:
        self.play("begin ended\nlaunch k\nend\nbegin open\nlaunch k\n", run_dir=self.folder / "run", keep_trace=True)
        llmperf.export_trace(self.folder / "run", self.folder / "a", "nsys-sqlite")
        rows = list(trace_files.rows(self.folder / "a", """
            SELECT s.value, e.end IS NULL FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId WHERE e.eventType = 59 ORDER BY e.start"""))
        self.assertEqual(rows, [("ended", 0), ("open", 1)])

    def test_the_run_of_a_job_has_the_traces_of_its_processes(self) -> None:
        job = self.folder / "job"
        profiles = [self.play(script, run_dir=place, keep_trace=True)
                    for place, script in ((job, "begin a\nlaunch k\nend\n"), (job / "processes/2", "begin b\nlaunch k\nlaunch m\nend\n"))]
        (job / "merged").mkdir()
        llmperf.merge(*profiles).save(job / "merged/run.llmperf")
        for source in (job / "merged", job / "merged/run.llmperf"):
            for form, read in (("perfetto", trace_files.read_perfetto), ("chrome", trace_files.read_chrome)):
                summary = llmperf.export_trace(source, self.folder / "a", form)
                self.assertEqual((summary["kernels"], summary["regions"], summary["launches"]), (3, 2, 3))
                trace = read(self.folder / "a")
                self.assertEqual(len(trace.arrows), 3)
                # Both are this process: in Chrome's format a thread of one process id is one thread.
                self.assertEqual(len({item.track for item in trace.slices}), 4 if form == "perfetto" else 3)
        llmperf.export_trace(job / "merged", self.folder / "a", "nsys-sqlite")
        after = llmperf.import_files(self.folder / "a")
        self.assertEqual(kernel_sums(after), {key: value for profile in profiles for key, value in kernel_sums(profile).items()})
        self.assertEqual(llmperf.export_trace(job, self.folder / "a")["kernels"], 1)

    def test_processes_that_each_call_their_gpu_0_have_several(self) -> None:
        job = self.folder / "job"
        profiles = []
        for number, place in enumerate((job, job / "processes/2", job / "processes/3")):
            profiles.append(self.play(f"begin step\nlaunch k{number}\nend\n", run_dir=place, keep_trace=True))
            # The third one has the GPU of the second.
            trace_files.put_gpus(place / "trace.llmrec", [{"device": 0, "name": "G", "uuid": f"GPU-{min(number, 1)}"}])
        (job / "merged").mkdir()
        llmperf.merge(*profiles).save(job / "merged/run.llmperf")
        llmperf.export_trace(job / "merged", self.folder / "a", "perfetto")
        trace = trace_files.read_perfetto(self.folder / "a")
        self.assertEqual({item.args.get("kernel", item.name): trace.tracks[trace.tracks[item.track][1]][0] for item in trace.of("device")},
                         {"k0": "GPU 0 G", "k1": "GPU 1 G", "k2": "GPU 1 G"})
        llmperf.export_trace(job / "merged", self.folder / "a", "chrome")
        self.assertEqual({item.name: item.args["device"] for item in trace_files.read_chrome(self.folder / "a").of("kernel")},
                         {"k0": 0, "k1": 1, "k2": 1})
        llmperf.export_trace(job / "merged", self.folder / "a", "nsys-sqlite")
        after = llmperf.import_files(self.folder / "a")
        self.assertEqual({row["name"]: row["device"] for row in after.kernels()}, {"k0": 0, "k1": 1, "k2": 1})
        with closing(sqlite3.connect(self.folder / "a")) as database:
            self.assertEqual(database.execute("SELECT id, name FROM TARGET_INFO_GPU ORDER BY id").fetchall(), [(0, "G"), (1, "G")])

    def test_a_run_that_keeps_totals_only_says_what_to_do(self) -> None:
        with llmperf.Session(source="none", run_dir=self.folder / "run"):
            pass
        for source in (self.folder / "run", self.folder / "run/run.llmperf"):
            with self.assertRaises(llmperf.LlmperfError) as refused:
                llmperf.export_trace(source, self.folder / "a")
            self.assertEqual(refused.exception.name, "LLMPERF_ENOENT")
            self.assertIn("llmperf run --trace", refused.exception.text)
        self.assertFalse((self.folder / "a").exists())
        with self.assertRaises(ValueError):
            llmperf.export_trace(self.folder / "run", self.folder / "a", "pdf")

    def test_odd_names_stay_valid(self) -> None:
        self.play('begin "a \\ é"\nlaunch "f<\\x>(int)"\nend\n', run_dir=self.folder / "run", keep_trace=True)
        for form, read in (("perfetto", trace_files.read_perfetto), ("chrome", trace_files.read_chrome)):
            llmperf.export_trace(self.folder / "run", self.folder / "a", form)
            trace = read(self.folder / "a")
            self.assertEqual(len(trace.slices), 3 if form == "chrome" else 2)


if __name__ == "__main__":
    support.main()
