# SPDX-License-Identifier: Apache-2.0
"""Reading profiles: rows, documents, files, memory."""
from __future__ import annotations

import ctypes
import html.parser
import json
import math
import sys
import types
import unittest.mock
from typing import Any, List

import support
import llmperf
from llmperf import _native, _profile


def make_profile(**options: Any) -> llmperf.Profile:
    """One prefill with two operators."""
    with llmperf.Session(source="none", **options) as session:
        with llmperf.prefill(512):
            for name in ("attention", "mlp", "mlp"):
                with llmperf.region(name, flops=1000):
                    pass
    return session.profile


class Rows(support.TestCase):
    """Structures as dicts."""

    def test_unknown_values_become_none(self) -> None:
        stats = _native.sized(_native.llmperf_region_stats)
        stats.path, stats.device, stats.tokens = "größe".encode(), -1, _native.LLMPERF_UNKNOWN
        stats.idle_ms, stats.wall_sum_ms, stats.instances = math.nan, 1.5, 0
        row = _profile.row_of(stats)
        self.assertEqual((row["path"], row["wall_sum_ms"], row["instances"], row["depth"]),
                         ("größe", 1.5, 0, 0))
        for name in ("device", "tokens", "idle_ms", "parent"):
            self.assertIsNone(row[name], name)
        self.assertNotIn("struct_size", row)
        self.assertNotIn("reserved", _profile.row_of(_native.llmperf_ledger()))

    def test_each_field_of_each_row_is_there(self) -> None:
        profile = make_profile()
        for rows, structure in ((profile.regions(), _native.llmperf_region_stats),
                                (profile.operators(), _native.llmperf_operator_stats),
                                ([profile.ledger()], _native.llmperf_ledger)):
            self.assertTrue(rows)
            names = {name for name, _ in structure._fields_} - {"struct_size", "reserved"}
            for row in rows:
                self.assertEqual(set(row), names)
        self.assertEqual(profile.kernels(), [])
        self.assertEqual(profile.metrics(), [])

    def test_operators_are_below_their_stage(self) -> None:
        rows = {row["name"]: row for row in make_profile().operators()}
        self.assertEqual({name: (row["stage"], row["calls"]) for name, row in rows.items()},
                         {"LLM@attention": ("LLM@prefill", 1), "LLM@mlp": ("LLM@prefill", 2)})
        mlp = rows["LLM@mlp"]
        self.assertAlmostEqual(mlp["total_time_ms"], 2 * mlp["mean_ms"])
        self.assertIsNone(mlp["cuda_time_ms"])

    def test_notes_give_reasons_and_problems_are_lines(self) -> None:
        profile = make_profile()
        self.assertTrue(profile.notes)
        for line in profile.notes + profile.problems:
            self.assertIsInstance(line, str)
            self.assertNotIn("\n", line)
        self.assertIsNone(profile.fact("no such fact"))


SCRIPT = """
begin LLM@prefill tokens=8
begin mlp
launch _Z4gemmIfEvPKT_i duration=5000
launch _Z4gemmIfEvPKT_i duration=7000
copy htod bytes=64 duration=1000
end
launch softmax duration=2000 device=1
end
set bytes=32 duration=500
"""


class Device(support.TestCase):
    """Rows with device activity, scripted."""

    def test_kernel_rows(self) -> None:
        profile = self.play(SCRIPT, tier="deep")
        rows = {row["name"]: row for row in profile.kernels()}
        gemm = rows["_Z4gemmIfEvPKT_i"]
        self.assertEqual(set(gemm), {name for name, _ in _native.llmperf_kernel_stats._fields_}
                         - {"struct_size"})
        self.assertEqual((gemm["region"], gemm["captured_in"], gemm["kind"], gemm["device"],
                          gemm["calls"], gemm["short_name"]),
                         ("LLM@prefill/LLM@mlp", None, "kernel", 0, 2, "gemm"))
        for name, value in (("total_ms", 0.012), ("mean_ms", 0.006), ("min_ms", 0.005),
                            ("max_ms", 0.007)):
            self.assertAlmostEqual(gemm[name], value)
        self.assertAlmostEqual(sum(row["share"] for row in rows.values()), 1)
        copy, fill = rows["[memcpy HtoD]"], rows["[memset]"]
        self.assertEqual((copy["kind"], copy["bytes"], copy["region"]),
                         ("memcpy", 64, "LLM@prefill/LLM@mlp"))
        self.assertEqual((fill["kind"], fill["bytes"], fill["region"]), ("memset", 32, ""))

    def test_region_rows_have_a_device_each(self) -> None:
        profile = self.play(SCRIPT, tier="deep")
        rows = {(row["path"], row["device"]): row for row in profile.regions()}
        self.assertEqual(set(rows), {("", 0), ("LLM@prefill", 0), ("LLM@prefill", 1),
                                     ("LLM@prefill/LLM@mlp", 0)})
        self.assertAlmostEqual(rows["", 0]["memset_ms"], 0.0005)
        self.assertIsNone(rows["", 0]["wall_sum_ms"])
        self.assertAlmostEqual(rows["LLM@prefill", 0]["kernel_ms"], 0.012)
        self.assertAlmostEqual(rows["LLM@prefill", 1]["gpu_busy_ms"], 0.002)
        self.assertEqual(rows["LLM@prefill/LLM@mlp", 0]["memcpy_bytes"], 64)
        ledger = profile.ledger()
        self.assertEqual((ledger["verdict"], ledger["launches_expected"], ledger["kernels_seen"],
                          ledger["memory_seen"], ledger["kernels_outside"]),
                         ("complete", 3, 3, 2, 0))
        self.assertEqual(ledger["attributed_gpu_time_share"], 1)

    def test_a_recording_replays_to_the_same_rows(self) -> None:
        recording = self.folder / "session.recording"
        played = self.play(SCRIPT, tier="deep", record_path=recording)
        replayed = support.replay(recording)
        self.assertEqual(replayed.kernels(), played.kernels())
        self.assertEqual(replayed.ledger(), played.ledger())
        for row, again in zip(played.regions(), replayed.regions()):
            self.assertEqual({**row, "process_id": 0}, {**again, "process_id": 0})

    def test_the_recording_of_a_gpu_gives_the_figures_of_its_run(self) -> None:
        recording = support.DATA / "h200/dummy_resnet.llmrec"
        if not recording.exists():
            self.skipTest(f"no {recording}")
        with support.replay(recording) as profile:
            ledger, kernels, document = profile.ledger(), profile.kernels(), profile.to_dict()
        self.assertEqual((ledger["verdict"], ledger["kernels_seen"]),
                         ("complete", ledger["launches_expected"]))
        self.assertEqual(sum(row["calls"] for row in kernels), ledger["kernels_seen"])
        expected = json.loads(recording.with_suffix(".metrics.json").read_text())
        self.assertTrue(expected["kernels"])
        # Numbers that came later are not in the recorded document.
        self.assertEqual([{key: row[key] for key in old} for row, old in
                          zip(document["kernels"], expected["kernels"])], expected["kernels"])
        self.assertEqual({**document["ledger"], **expected["ledger"]}, document["ledger"])

    def test_a_faulty_script_names_its_line(self) -> None:
        with self.assertRaises(llmperf.LlmperfError) as refused:
            self.play("begin x\nlunch kernel\n")
        self.assertEqual(refused.exception.name, "LLMPERF_EFORMAT")
        self.assertIn("2", refused.exception.text)


class Documents(support.TestCase):
    """Texts and files."""

    def test_a_comparison_says_what_cannot_be_compared(self) -> None:
        with llmperf.Session(source="none") as session:
            pass
        empty, base = session.profile, make_profile()
        same = llmperf.compare(base, [base, base], threshold_percent=1000)
        self.assertEqual((same["verdict"], same["reason"]), ("no regression", None))
        self.assertEqual(len(same["new"]["runs"]), 2)
        other = llmperf.compare(base, empty)
        self.assertEqual((other["verdict"], other["reason"]),
                         ("not comparable", "new has no kernels and no regions"))
        with self.assertRaises(llmperf.LlmperfError):
            llmperf.compare(base, base, threshold_percent=-1)

    def test_dict_agrees_with_the_rows(self) -> None:
        profile = make_profile()
        document = profile.to_dict()
        self.assertEqual([row["path"] for row in document["regions"]],
                         [row["path"] for row in profile.regions()])
        self.assertEqual(document["ledger"]["verdict"], profile.ledger()["verdict"])
        by_path = {row["path"]: row for row in profile.regions()}
        for row in document["regions"]:
            self.assertEqual(row["tokens"], by_path[row["path"]]["tokens"])
            self.assertAlmostEqual(row["wall_ms"]["sum"], by_path[row["path"]]["wall_sum_ms"],
                                   places=3)

    def test_dict_fits_the_schema(self) -> None:
        try:
            import jsonschema
        except ImportError:
            self.skipTest("jsonschema is not installed")
        schema = json.loads((support.SOURCE / "conf/schema/metrics.schema.json").read_text())
        document = make_profile().to_dict()
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(document)
        del document["ledger"]["verdict"]
        self.assertFalse(validator.is_valid(document))

    def test_markdown_documents(self) -> None:
        profile = make_profile()
        self.assertIn("LLM@prefill", profile.report_markdown())
        for name in ("stages.md", "kernels.md", "operators.md"):
            self.assertTrue(profile.document(name).strip(), name)
        self.assertIsInstance(json.loads(profile.document("env.json")), dict)
        with self.assertRaisesRegex(ValueError, "'report' is not one of report.md, stages.md"):
            profile.document("report")

    def test_files_hold_the_documents(self) -> None:
        profile = make_profile()
        profile.write("operators.md", self.folder / "operators.md")
        self.assertEqual((self.folder / "operators.md").read_text(),
                         profile.document("operators.md"))
        profile.write_artifacts(self.folder)
        self.assertTrue((self.folder / "report.md").is_file())
        with self.assertRaises(llmperf.LlmperfError) as refused:
            profile.write("report.md", self.folder / "missing/report.md")
        self.assertEqual(refused.exception.name, "LLMPERF_EIO")


class Notebooks(support.TestCase):
    """What data frames and notebooks show."""

    def test_a_frame_has_the_rows_and_their_keys(self) -> None:
        pandas = types.ModuleType("pandas")
        pandas.DataFrame = lambda rows, columns: (rows, columns)  # type: ignore[attr-defined]
        with unittest.mock.patch.dict(sys.modules, pandas=pandas):
            profile = make_profile()
            rows, columns = profile.to_pandas("operators")
            self.assertEqual((rows, columns), (profile.operators(), list(rows[0])))
            rows, columns = profile.to_pandas()
            self.assertEqual(rows, [])
            self.assertIn("total_ms", columns)
            self.assertEqual(profile.to_pandas("stages")[0], profile.stages)
            with self.assertRaisesRegex(ValueError, "'rows' is not one of regions, kernels"):
                profile.to_pandas("rows")

    def test_a_frame_needs_pandas(self) -> None:
        with unittest.mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(ImportError, "pandas"):
                make_profile().to_pandas()

    def test_a_notebook_shows_verdict_stages_and_kernels(self) -> None:
        profile = self.play(SCRIPT)
        shown = profile._repr_html_()
        for part in ("<b>test_profile.py</b>: complete", "<code>LLM@prefill</code>", "<code>gemm</code>"):
            self.assertIn(part, shown)
        parser = html.parser.HTMLParser()
        opened: List[str] = []
        parser.handle_starttag = lambda tag, attrs: opened.append(tag)  # type: ignore[method-assign]
        parser.handle_endtag = lambda tag: self.assertEqual(tag, opened.pop())  # type: ignore
        parser.feed(shown)
        self.assertEqual(opened, [])
        profile.close()
        self.assertEqual(profile._repr_html_(), "<p>Profile (closed)</p>")


class Saved(support.TestCase):
    """save() and open()."""

    def test_saved_profile_reads_back_the_same(self) -> None:
        profile = make_profile()
        path = self.folder / "copy.llmperf"
        profile.save(path)
        profile.save(path)
        with llmperf.open(str(path)) as copy:
            self.assertEqual(copy.regions(), profile.regions())
            self.assertEqual(copy.operators(), profile.operators())
            self.assertEqual(copy.ledger(), profile.ledger())
            self.assertEqual((copy.notes, copy.problems), (profile.notes, profile.problems))

    def test_a_run_folder_opens_by_its_name(self) -> None:
        profile = make_profile(run_dir=self.folder / "run")
        for run in (self.folder / "run", self.folder / "run/run.llmperf"):
            with llmperf.open(run) as copy:
                self.assertEqual(copy.regions(), profile.regions())

    def test_missing_and_foreign_runs_are_refused(self) -> None:
        with self.assertRaises(llmperf.LlmperfError) as refused:
            llmperf.open(self.folder / "missing")
        self.assertEqual(refused.exception.name, "LLMPERF_ENOENT")
        self.assertIn("missing", refused.exception.text)
        foreign = self.folder / "foreign.llmperf"
        foreign.write_bytes(b"not a database" * 1000)
        with self.assertRaises(llmperf.LlmperfError) as refused:
            llmperf.open(foreign)
        self.assertEqual(refused.exception.name, "LLMPERF_EFORMAT")


class Memory(support.TestCase):
    """Each profile is freed once, and early."""

    def setUp(self) -> None:
        super().setUp()
        library = _profile.library()
        free = library.llmperf_profile_free
        self.freed: List[int] = []

        def counting_free(handle: Any) -> None:
            self.freed.append(ctypes.addressof(handle.contents))
            free(handle)

        library.llmperf_profile_free = counting_free
        self.addCleanup(setattr, library, "llmperf_profile_free", free)

    def test_close_frees_once(self) -> None:
        profile = make_profile()
        profile.close()
        profile.close()
        self.assertEqual(len(self.freed), 1)
        for read in (profile.regions, profile.to_dict, profile.ledger, lambda: profile.notes):
            with self.assertRaisesRegex(ValueError, "closed"):
                read()

    def test_a_dropped_profile_is_freed(self) -> None:
        make_profile().regions()
        self.assertEqual(len(self.freed), 1)

    def test_a_snapshot_is_freed_at_once(self) -> None:
        with llmperf.Session(source="none") as session:
            session.snapshot()
            self.assertEqual(len(self.freed), 1)


if __name__ == "__main__":
    support.need_library()
    support.main()
