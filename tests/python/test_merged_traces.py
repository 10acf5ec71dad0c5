# SPDX-License-Identifier: Apache-2.0
"""Runs that were put together have one trace: of two ranks of an H200 each, on the clocks of one machine and of two."""
from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Dict, List, Tuple

import support
import trace_files
import llmperf

support.need_library()

ENGINE = support.DATA / "h200/engine"
RANKS = [ENGINE / f"tensor_{rank}.llmrec" for rank in range(2)]
SECOND = 10**9
START = (10**12, 1_800_000_000 * SECOND)  # on the clock of a machine, and since 1970


class Merged(support.TestCase):
    def run_of(self, name: str, recording: Path = RANKS[0], trace: bool = True, **said: Any) -> Path:
        """A run in a folder of its own. said: as for trace_files.put_machine()."""
        copy = self.folder / f"{name}.llmrec"
        shutil.copy(recording, copy)
        if said:
            trace_files.put_machine(copy, **said)
        folder = self.folder / "runs" / name
        with llmperf.Session(source="replay", device_path=copy, run_dir=folder, keep_trace=trace):
            pass
        if trace:
            shutil.copy(copy, folder / "trace.llmrec")
        return folder

    def merge(self, *runs: Path) -> Path:
        """A new run of these together."""
        folder = self.folder / "runs" / f"merged{len(list((self.folder / 'runs').glob('merged*')))}"
        folder.mkdir()
        llmperf.merge(*(llmperf.open(run) for run in runs)).save(folder / "run.llmperf")
        return folder

    def export(self, run: Path) -> Tuple[Dict[str, Any], trace_files.Trace]:
        summary = llmperf.export_trace(run, self.folder / "trace")
        return summary, trace_files.read_perfetto(self.folder / "trace")

    def remarks(self, trace: trace_files.Trace) -> List[str]:
        return [item.name for item in trace.instants if item.category == "llmperf"]

    def first_kernels(self, trace: trace_files.Trace) -> Dict[int, int]:
        """Begin of the first kernel of each GPU, by the number in its name."""
        first: Dict[int, int] = {}
        for item in trace.of("device"):
            gpu = int(trace.tracks[trace.tracks[item.track][1]][0].split()[1])
            first[gpu] = min(item.begin, first.get(gpu, item.begin))
        return first

    def test_ranks_on_one_machine_have_one_trace(self) -> None:
        runs = [self.run_of(f"rank{rank}", recording) for rank, recording in enumerate(RANKS)]
        merged = self.merge(*runs)
        apart = [self.export(run) for run in runs]
        summary, trace = self.export(merged)
        for column in ("kernels", "memory", "regions", "launches"):
            self.assertEqual(summary[column], sum(one[column] for one, _ in apart), column)
        self.assertEqual((summary["runs"], summary["runs_missing"], summary["clocks"], summary["runs_untimed"]), (2, 0, 1, 0))
        # Nothing was moved in time.
        self.assertEqual(self.first_kernels(trace), {**self.first_kernels(apart[0][1]), **self.first_kernels(apart[1][1])})
        self.assertEqual(self.remarks(trace), [])
        self.assertEqual(llmperf.open(merged).fact("merged_traces"), "2 of 2")
        self.assertEqual(self.export(merged / "run.llmperf")[0], summary)

    def test_numbers_are_those_of_the_merged_run(self) -> None:
        gpus = [[{"device": device, "name": "G", "uuid": f"GPU-{name}-{device}"} for device in range(2)] for name in "ab"]
        alike = (*START, 77)
        runs = [self.run_of(f"host{number}", start=alike, gpus=gpus[number]) for number in range(2)]
        plain = self.run_of("first", RANKS[1], trace=False, start=alike, gpus=gpus[1])
        merged = self.merge(plain, *runs)
        metrics = llmperf.open(merged).to_dict()
        _, trace = self.export(merged)
        self.assertEqual({int(name.split()[1]) for name, _ in trace.tracks.values() if name.startswith("GPU ")},
                         {row["device"] for row in metrics["regions"]} - {-1} - {1})
        pids = [llmperf.open(merged).fact("process_id").split()[number] for number in (1, 2)]
        self.assertEqual(len(set(pids)), 2)
        llmperf.export_trace(merged, self.folder / "json", "chrome")
        self.assertEqual({str(item.track[0]) for item in trace_files.read_chrome(self.folder / "json").of("user_annotation")}, set(pids))

    def test_runs_without_a_trace_are_named(self) -> None:
        runs = [self.run_of("with"), self.run_of("without", RANKS[1], trace=False)]
        name = llmperf.open(runs[1]).fact("run_id")
        merged = self.merge(*runs)
        profile = llmperf.open(merged)
        self.assertEqual(profile.fact("merged_traces"), "1 of 2")
        self.assertTrue(any("1 of 2 runs have a trace" in note and name in note for note in profile.notes), profile.notes)
        summary, trace = self.export(merged)
        self.assertEqual((summary["runs"], summary["runs_missing"]), (1, 1))
        self.assertEqual(self.remarks(trace), [f"runs without a trace, whose events are missing: {name}"])
        none = llmperf.open(self.merge(runs[1], self.run_of("neither", trace=False)))
        self.assertIsNone(none.fact("merged_traces"))
        self.assertFalse(any("trace" in note for note in none.notes))

    def test_runs_are_found_where_they_went_and_never_mistaken(self) -> None:
        runs = [self.run_of(f"rank{rank}", recording) for rank, recording in enumerate(RANKS)]
        inner = self.merge(*runs)
        outer = self.merge(inner, self.run_of("third", ENGINE / "ranks_0.llmrec"))
        before = self.export(outer)[0]
        self.assertEqual(before["runs"], 3)
        (self.folder / "runs").rename(self.folder / "elsewhere")
        moved = self.folder / "elsewhere" / outer.name
        self.assertEqual(self.export(moved)[0], before)
        # Another run in the folder of one.
        shutil.rmtree(self.folder / "elsewhere/rank1")
        (self.run_of("rank1", ENGINE / "ranks_1.llmrec")).rename(self.folder / "elsewhere/rank1")
        summary, trace = self.export(moved)
        self.assertEqual((summary["runs"], summary["runs_missing"]), (2, 1))
        self.assertIn("runs that were moved or deleted", self.remarks(trace)[0])
        self.assertIn(str(runs[1]), self.remarks(trace)[0])
        for name in ("rank0", "rank1", "third"):
            shutil.rmtree(self.folder / "elsewhere" / name)
        with self.assertRaises(llmperf.LlmperfError) as refused:
            self.export(moved)
        self.assertEqual(refused.exception.name, "LLMPERF_ENOENT")
        self.assertIn("put them back", refused.exception.text)

    def clocks(self, *machines: Dict[str, Any]) -> Tuple[Dict[str, Any], trace_files.Trace, Dict[int, int]]:
        """Ranks of machines that say this of themselves, and how far each was moved in time."""
        runs = [self.run_of(f"clock{len(machines)}.{rank}", RANKS[rank], **machine) for rank, machine in enumerate(machines)]
        apart = [self.first_kernels(self.export(run)[1]) for run in runs]
        summary, trace = self.export(self.merge(*runs))
        together = self.first_kernels(trace)
        for run in runs:
            shutil.rmtree(run)
        return summary, trace, {gpu: together[gpu] - first[gpu] for first in apart for gpu in first}

    def test_machines_stand_beside_each_other_by_the_time_of_day(self) -> None:
        ns, utc = START
        first = {"start": (ns, utc, 7), "host": {"hostname": "a", "boot_id": "1"}}
        # Its clock began 5 s later, so it shows 5 s less at the same time.
        second = {"start": (ns, utc + 5 * SECOND, 8), "host": {"hostname": "b", "boot_id": "2"}}
        for machines, moved in (((first, second), {0: 0, 1: 5 * SECOND}), ((second, first), {0: 5 * SECOND, 1: 0})):
            summary, trace, shifts = self.clocks(*machines)
            self.assertEqual(summary["clocks"], 2)
            for gpu, shift in shifts.items():
                self.assertTrue(0 <= moved[gpu] - shift < 64, (gpu, shift))
            self.assertEqual(len([text for text in self.remarks(trace) if "aligned by time of day" in text]), 1)
            # What is between a launch and its kernel stays.
            self.assertTrue(all(0 <= item.args.get("since launch ns", 0) < SECOND for item in trace.of("device")))

    def test_one_machine_is_known_by_its_boot(self) -> None:
        ns, utc = START
        for hosts, clocks in (
            # Containers of one machine, whose time of day was set between the starts.
            (({"hostname": "a", "boot_id": "1"}, {"hostname": "b", "boot_id": "1"}), 1),
            # Recordings that do not know their boot: by name and time.
            (({"hostname": "a"}, {"hostname": "a", "boot_id": "1"}), 2),
        ):
            summary, _, shifts = self.clocks(*({"start": (ns, utc + number * 5 * SECOND, 7 + number), "host": host}
                                               for number, host in enumerate(hosts)))
            self.assertEqual((summary["clocks"], shifts[1] == 0), (clocks, clocks == 1))
        near = [{"start": (ns, utc + number * SECOND // 2, 7 + number), "host": {"hostname": "a"}} for number in range(2)]
        self.assertEqual(self.clocks(*near)[0]["clocks"], 1)
        near[1]["host"] = {"hostname": "b"}
        self.assertEqual(self.clocks(*near)[0]["clocks"], 2)

    def test_a_recording_without_a_time_is_told(self) -> None:
        timed = {"start": (*START, 7), "host": {"boot_id": "1"}}
        summary, trace, shifts = self.clocks(timed, {"start": (0, 0, 0), "host": {"boot_id": "1"}})
        self.assertEqual((summary["clocks"], summary["runs_untimed"], shifts), (1, 1, {0: 0, 1: 0}))
        self.assertTrue(any("have no start time" in text for text in self.remarks(trace)))


if __name__ == "__main__":
    support.main()
