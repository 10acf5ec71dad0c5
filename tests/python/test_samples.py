# SPDX-License-Identifier: Apache-2.0
"""Real files of nsys and ncu import to numbers that other programs computed from them.

The files are not part of the repository: LLMPERF_SAMPLES names the folder that holds nsys/ and ncu/, with
expected numbers in nsys/expected/*.json and ncu/expected.json.
"""
import glob
import json
import os
import sys
import unittest
from typing import Any, Dict, List

import llmperf

SAMPLES = os.environ.get("LLMPERF_SAMPLES", "")


def kernels(profile: llmperf.Profile) -> Dict[str, List[int]]:
    """Calls and nanoseconds by name, over all regions."""
    found: Dict[str, List[int]] = {}
    for row in profile.kernels():
        if row["kind"] == "kernel":
            entry = found.setdefault(row["demangled"], [0, 0])
            entry[0] += row["calls"]
            entry[1] += round(row["total_ms"] * 1e6)
    return found


class Exports(unittest.TestCase):
    """nsys/sqlite against nsys/expected."""

    def check(self, path: str, expected: Dict[str, Any]) -> None:
        profile = llmperf.import_files(path, exact_names=True)
        ledger, found = profile.ledger(), kernels(profile)
        self.assertEqual(ledger["kernels_seen"], expected["kernels"])
        self.assertEqual(ledger["kernels_unattributed"], expected["kernels_without_api"])
        self.assertEqual(len(found), expected["kernel_names"])
        self.assertEqual(sum(entry[1] for entry in found.values()), expected["kernel_total_ns"])
        for row in expected["kern_sum_top10"]:
            self.assertEqual(found[row["name"]], [row["instances"], row["total_ns"]])
        self.check_copies(profile, expected)
        if "projection_total_pairs" in expected:
            self.check_projection(profile, expected)

    def check_copies(self, profile: llmperf.Profile, expected: Dict[str, Any]) -> None:
        names = {"1": "[memcpy HtoD]", "2": "[memcpy DtoH]", "8": "[memcpy DtoD]"}
        copies = [row for row in profile.kernels() if row["kind"] == "memcpy"]
        kinds = expected.get("CUPTI_ACTIVITY_KIND_MEMCPY", {}).get("by_copyKind", {})
        for kind, (calls, size) in kinds.items():
            rows = [row for row in copies if row["name"] == names[kind]]
            self.assertEqual(sum(row["calls"] for row in rows), calls)
            self.assertEqual(sum(row["bytes"] for row in rows), size)
        self.assertEqual(sum(row["calls"] for row in copies),
                         sum(calls for calls, _ in kinds.values()))

    def check_projection(self, profile: llmperf.Profile, expected: Dict[str, Any]) -> None:
        regions = [row for row in profile.regions() if row["path"]]
        self.assertEqual(sum(row["instances"] for row in regions), expected["nvtx_ranges"])
        self.assertEqual(sum(row["kernel_count"] for row in regions),
                         expected["projection_total_pairs"])
        self.assertEqual(sum(round(row["kernel_ms"] * 1e6) for row in regions),
                         expected["projection_total_ns"])
        self.assertEqual(len({row["label"] for row in regions if row["kernel_count"]}),
                         expected["projection_range_names"])

    def test_all_of_them(self) -> None:
        paths = sorted(glob.glob(f"{SAMPLES}/nsys/sqlite/*.sqlite"))
        self.assertGreaterEqual(len(paths), 5)
        for path in paths:
            name = os.path.basename(path)[:-len(".sqlite")]
            with self.subTest(name), open(f"{SAMPLES}/nsys/expected/{name}.json") as file:
                self.check(path, json.load(file))


class Tables(unittest.TestCase):
    """ncu/ against ncu/expected.json, and sums of nsys stats."""

    def check(self, path: str, expected: Dict[str, Any]) -> None:
        if not expected.get("results"):
            with self.assertRaises(llmperf.LlmperfError):
                llmperf.import_files(path)
            return
        profile = llmperf.import_files(path)
        ranges = sum(row["instances"] for row in profile.regions())
        self.assertEqual(ranges + profile.ledger()["kernels_seen"], expected["results"])
        names = expected.get("kernel_names", {})
        for name, count in names.items():
            if name != "range":
                self.assertEqual(kernels(profile)[name][0], count)
        durations = [row for row in profile.metrics()
                     if row["name"] in ("gpu__time_duration.sum", "Duration")]
        if durations and "duration_ns_sum" in expected:
            self.assertAlmostEqual(sum(row["mean"] * row["count"] for row in durations),
                                   float(expected["duration_ns_sum"]), places=3)

    def test_all_of_ncu(self) -> None:
        with open(f"{SAMPLES}/ncu/expected.json") as file:
            expected = json.load(file)
        self.assertGreater(len(expected), 5)
        for name, numbers in expected.items():
            with self.subTest(name):
                self.check(f"{SAMPLES}/{name}", numbers)

    def test_tables_of_kernels_add_up(self) -> None:
        import csv
        for path in sorted(glob.glob(f"{SAMPLES}/nsys/csv/*/*kern_sum.csv")):
            with self.subTest(path), open(path, newline="") as file:
                rows = list(csv.DictReader(file))
                found = kernels(llmperf.import_files(path))
                self.assertEqual(sum(entry[0] for entry in found.values()),
                                 sum(int(row["Instances"]) for row in rows))
                self.assertEqual(sum(entry[1] for entry in found.values()),
                                 sum(int(row["Total Time (ns)"]) for row in rows))

    def test_tables_of_ranges_have_all_rows(self) -> None:
        for path in sorted(glob.glob(f"{SAMPLES}/nsys/csv/*/*pushpop_trace.csv")):
            with self.subTest(path), open(path) as file:
                rows = sum(1 for _ in file) - 1
                profile = llmperf.import_files(path, exact_names=True)
                self.assertEqual(sum(row["instances"] for row in profile.regions()), rows)


if __name__ == "__main__":
    if not SAMPLES:
        print("skipped: LLMPERF_SAMPLES names no folder of sample files")
        sys.exit(77)
    unittest.main(verbosity=2)
