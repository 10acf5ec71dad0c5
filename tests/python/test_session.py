# SPDX-License-Identifier: Apache-2.0
"""Sessions without a device: options, states, files, errors."""
from __future__ import annotations

import gc
import json
import os
import struct
import threading
import time
import warnings
import weakref
from pathlib import Path
from typing import Any, List

import support
import llmperf


class Life(support.TestCase):
    """From start to profile."""

    def test_with_block_gives_a_profile(self) -> None:
        with llmperf.Session(source="none", tier="regions") as session:
            with self.assertRaisesRegex(llmperf.LlmperfError, "no profile before it is stopped"):
                session.profile
            with llmperf.region("LLM@prefill", tokens=512):
                pass
        self.assertIsInstance(session.profile, llmperf.Profile)
        self.assertEqual(session.profile.ledger()["verdict"], "no_device")
        self.assertEqual(session.profile.fact("tier"), "regions")

    def test_stop_inside_the_block_is_the_end(self) -> None:
        with llmperf.Session(source="none") as session:
            profile = session.stop()
        self.assertIs(session.profile, profile)
        self.assertIs(session.stop(), profile)

    def test_an_exception_passes_and_the_profile_is_kept(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "body"):
            with llmperf.Session(source="none") as session:
                with llmperf.region("x"):
                    raise RuntimeError("body")
        self.assertEqual(session.profile.regions()[0]["instances"], 1)

    def test_snapshot_and_ledger_while_running(self) -> None:
        with llmperf.Session(source="none") as session:
            for expected in (1, 2):
                with llmperf.region("LLM@prefill", tokens=512):
                    pass
                snapshot = session.snapshot()
                self.assertEqual([(row["path"], row["instances"], row["tokens"])
                                  for row in snapshot["regions"]],
                                 [("LLM@prefill", expected, 512 * expected)])
            self.assertEqual(session.ledger()["regions_dropped"], 0)
            session.flush()

    def test_status_is_told_in_words_and_outlives_the_session(self) -> None:
        with llmperf.Session(source="none") as session:
            status = session.status()
            self.assertEqual((status["state"], status["verdict"]), ("running", "no_device"))
            self.assertIsNone(status["launches_expected"])
            self.assertEqual((status["regions_dropped"], status["deaths"]), (0, 0))
            session.pause()
            self.assertEqual(session.status()["state"], "paused")
            session.resume()
        self.assertEqual(session.status()["state"], "stopped")

    def test_rules_are_texts_or_a_list_of_them(self) -> None:
        rules = ["decode_step p99 above 30 ms for 2 s", "prefill idle > 40 %"]
        with llmperf.Session(tier="light", source="none", rules=rules,
                             sample_regions=["decode_step", "prefill"]) as session:
            self.assertEqual(session.status()["windows"], 0)
        self.assertEqual(session.profile.windows(), [])
        self.assertIn("rules: no device activity was sampled, so no window was opened",
                      session.profile.notes)
        with self.assertRaisesRegex(llmperf.LlmperfError, "p98.*is not a known quantity"):
            llmperf.Session(tier="light", source="none", rules="decode_step p98 > 1 s").start()

    def test_detach_is_for_tier_light(self) -> None:
        with llmperf.Session(tier="light", source="none", detach=True) as session:
            self.assertEqual(session.status()["detached"], 0)
        with self.assertRaisesRegex(llmperf.LlmperfError, "detach .* needs tier light"):
            llmperf.Session(tier="deep", source="none", detach=True).start()

    def test_a_metrics_endpoint_answers_while_it_runs(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("LLM@prefill", tokens=512):
                pass
            text = session.document("metrics.prom")
            self.assertRegex(text, r'(?m)^llmperf_region_tokens_total\{region="LLM@prefill",process="\d+"\} 512$')
            self.assertIn("# TYPE llmperf_stage_wall_seconds histogram\n", text)
            with self.assertRaisesRegex(ValueError, "is not one of"):
                session.document("prometheus")

    def test_iterations_are_read_while_it_runs(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("LLM@prefill", tokens=512):
                pass
            rows: List[Any] = []
            for _ in range(1000):
                rows = rows or session.iterations()
                time.sleep(0 if rows else 0.01)
            self.assertEqual([(row["region"], row["tokens"], row["busy_ms"]) for row in rows],
                             [("LLM@prefill", 512, None)])
            self.assertEqual(session.iterations(after=rows[0]["sequence"]), [])
            for wrong in (-1, 2**64):  # ctypes would cut it to another number, in silence
                with self.assertRaises(ValueError):
                    session.iterations(after=wrong)

    def test_snapshots_beside_stop_in_another_thread(self) -> None:
        session = llmperf.Session(source="none").start()
        started = threading.Event()
        ended: List[Any] = []

        def watch() -> None:
            try:
                while True:
                    session.snapshot()
                    session.ledger()
                    started.set()
            except llmperf.LlmperfError as error:
                ended.append(error.name)

        watcher = threading.Thread(target=watch)
        watcher.start()
        self.assertTrue(started.wait(60))
        session.stop()
        watcher.join(60)
        self.assertEqual(ended, ["LLMPERF_ESTATE"])

    def test_pause_and_resume(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("before"):
                pass
            session.pause()
            with llmperf.region("paused"):
                pass
            session.resume()
            with llmperf.region("after"):
                pass
        paths = {row["path"]: row["instances"] for row in session.profile.regions()
                 if row["instances"]}
        self.assertEqual(paths, {"LLM@before": 1, "LLM@after": 1})

    def test_a_dropped_session_stops(self) -> None:
        session = llmperf.Session(source="none").start()
        watch = weakref.ref(session)
        del session
        gc.collect()
        self.assertIsNone(watch())
        with llmperf.Session(source="none"):
            pass

    def test_a_session_open_at_exit_is_stopped(self) -> None:
        code = ("import llmperf\n"
                f"session = llmperf.Session(source='none', run_dir={str(self.folder / 'run')!r})\n"
                "session.start()\n"
                "with llmperf.region('x'): pass\n")
        ended = support.child(code)
        self.assertEqual((ended.returncode, ended.stdout), (0, ""))
        with llmperf.open(self.folder / "run") as profile:
            self.assertEqual([row["path"] for row in profile.regions()], ["LLM@x"])


class Files(support.TestCase):
    """What a session writes."""

    def test_nothing_is_written_unless_asked(self) -> None:
        os.environ.pop("LLMPERF_OUT", None)
        with llmperf.Session(source="none") as session:
            pass
        self.assertIsNone(session.run_dir)

    def test_out_and_run_id_name_the_folder(self) -> None:
        with llmperf.Session(source="none", out=self.folder / "runs", run_id="first") as session:
            with llmperf.prefill(8):
                pass
        self.assertEqual(session.run_dir, str(self.folder / "runs/first"))
        folder = Path(session.run_dir)
        for name in ("run.llmperf", "report.md", "metrics.json", "stages.md", "kernels.md",
                     "operators.md", "env.json"):
            self.assertTrue((folder / name).is_file(), name)
        llmperf.validate(folder / "metrics.json")
        written = json.loads((folder / "metrics.json").read_text())
        self.assertEqual(written["regions"], session.profile.to_dict()["regions"])
        self.assertEqual((written["run_id"], session.profile.fact("run_id")), ("first", "first"))

    def test_inputs_are_kept_with_the_run(self) -> None:
        image = self.folder / "a b.png"
        image.write_bytes(b"12345")
        with llmperf.Session(source="none", run_dir=self.folder / "run") as session:
            session.add_input(image, kind="image", width=640, height=480, tokens=100)
            session.add_input(name='prompt "1"\n')
            session.add_input(support.SOURCE / "docs/report.png")
            with self.assertRaises(llmperf.LlmperfError):
                session.add_input()
            with self.assertRaises(ValueError):
                session.add_input("x", width=-1)
        kept = json.loads(session.profile.fact("given"))
        self.assertEqual(kept["not_listed"], 0)
        self.assertEqual(kept["inputs"][0], {
            "path": os.path.realpath(image), "name": "a b.png", "kind": "image", "size_bytes": 5,
            "width": 640, "height": 480, "tokens": 100})
        self.assertEqual((kept["inputs"][1]["path"], kept["inputs"][1]["width"]), (None, None))
        size = (support.SOURCE / "docs/report.png").read_bytes()[16:24]  # in the header of a PNG
        self.assertEqual((kept["inputs"][2]["width"], kept["inputs"][2]["height"]),
                         struct.unpack(">II", size))
        lines = (self.folder / "run/inputs.yaml").read_text().splitlines()
        self.assertIn(f'  - path: "{os.path.realpath(image)}"', lines)
        self.assertIn("    height: 480", lines)

    def test_run_dir_without_reports_holds_the_run_only(self) -> None:
        run_dir = self.folder / "größe"
        with llmperf.Session(source="none", run_dir=run_dir, reports=False) as session:
            pass
        self.assertEqual(session.run_dir, str(run_dir))
        names = {name for name in os.listdir(run_dir) if not name.startswith("run.llmperf")}
        self.assertTrue((run_dir / "run.llmperf").is_file())
        self.assertNotIn("report.md", names)
        self.assertNotIn("metrics.json", names)

    def test_config_file_is_kept_with_the_run(self) -> None:
        config = self.folder / "mine.yaml"
        config.write_text("batch: 4\n")
        with llmperf.Session(source="none", run_dir=self.folder / "run", config_path=config):
            pass
        self.assertEqual((self.folder / "run/config.yaml").read_text(), "batch: 4\n")


class Errors(support.TestCase):
    """What is refused, and how."""

    def test_unknown_words_are_refused_with_the_choice(self) -> None:
        with self.assertRaisesRegex(ValueError, "tier 'fast' is not one of regions, light, deep"):
            llmperf.Session(tier="fast")
        with self.assertRaisesRegex(ValueError, "source 'gpu' is not one of auto, cupti, replay"):
            llmperf.Session(source="gpu")
        with self.assertRaises(TypeError):
            llmperf.Session(ringbytes=1)

    def test_values_that_do_not_fit_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "ring_bytes must be from 0"):
            llmperf.Session(ring_bytes=-1)
        with self.assertRaisesRegex(ValueError, "overhead_budget_permille must be from 0"):
            llmperf.Session(overhead_budget_permille=2**32)
        with self.assertRaisesRegex(ValueError, "NUL"):
            llmperf.Session(out="a\0b")

    def test_settings_are_keys_of_the_configuration(self) -> None:
        with llmperf.Session(source="none", settings={"run.id": "it's ${one}", "run.dtype": "fp8"}) as session:
            pass
        self.assertEqual(session.profile.fact("run_id"), "it's ${one}")
        for settings, words in (({"session.path_limit": 3}, "session.path_limit: must be between 16"),
                                ({"artifacts.keep_trace": "maybe"}, "artifacts.keep_trace"),
                                ({"session.path_limits": 99}, "nearest: session.path_limit")):
            with self.assertRaisesRegex(llmperf.LlmperfError, words):
                llmperf.Session(source="none", settings=settings).start()

    def test_second_session_is_busy(self) -> None:
        with llmperf.Session(source="none"):
            with self.assertRaises(llmperf.LlmperfError) as refused:
                llmperf.Session(source="none").start()
        error = refused.exception
        self.assertEqual((error.status, error.name), (-4, "LLMPERF_EBUSY"))
        self.assertTrue(error.text)
        self.assertEqual(str(error), f"{error.text} (LLMPERF_EBUSY)")

    def test_a_trace_needs_a_folder(self) -> None:
        with self.assertRaises(llmperf.LlmperfError) as refused:
            llmperf.Session(source="none", keep_trace=True).start()
        self.assertEqual(refused.exception.name, "LLMPERF_EINVAL")
        self.assertIn("set run_dir or out_dir", refused.exception.text)

    def test_a_share_of_the_model_is_told(self) -> None:
        flops = []
        for gpus in (1, 2):
            with llmperf.Session(source="none", model_path="llama_3_8b", tensor_parallel=gpus) as session:
                with llmperf.region("LLM@decode_step", sequences=1, context=100):
                    pass
            flops.append(session.profile.regions()[0]["flops"])
        self.assertEqual(flops, [15061745664, 7530872832])
        with self.assertRaisesRegex(llmperf.LlmperfError, "does not divide the number of heads .32."):
            llmperf.Session(source="none", model_path="llama_3_8b", tensor_parallel=3).start()
        with self.assertRaises(ValueError):
            llmperf.Session(expert_parallel=-1)

    def test_a_model_can_be_given_later(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("LLM@decode_step", sequences=1, context=100):
                pass
        self.assertIsNone(session.profile.regions()[0]["flops"])
        session.profile.apply_model("llama_3_8b", dtype="fp8")
        self.assertEqual(session.profile.regions()[0]["flops"], 15061745664)
        self.assertEqual(session.profile.fact("dtype"), "fp8")
        with self.assertRaisesRegex(llmperf.LlmperfError, "unknown dtype bf61"):
            session.profile.apply_model(dtype="bf61")

    def test_missing_recording(self) -> None:
        with self.assertRaises(llmperf.LlmperfError) as refused:
            llmperf.Session(source="replay", device_path=self.folder / "none.rec").start()
        self.assertIn("none.rec", refused.exception.text)

    def test_calls_in_the_wrong_state(self) -> None:
        session = llmperf.Session(source="none")
        for call in (session.stop, session.snapshot, session.ledger, session.pause):
            with self.assertRaisesRegex(llmperf.LlmperfError, "not started"):
                call()
        with session:
            with self.assertRaisesRegex(llmperf.LlmperfError, "started before"):
                session.start()
        for call in (session.snapshot, session.flush, session.pause, session.resume):
            with self.assertRaises(llmperf.LlmperfError) as refused:
                call()
            self.assertEqual(refused.exception.name, "LLMPERF_ESTATE")

    def test_a_failing_stop_does_not_hide_the_exception_of_the_block(self) -> None:
        session = llmperf.Session(source="none")

        def failing_stop() -> None:
            raise llmperf.LlmperfError(-3, "LLMPERF_EIO", "disk full")

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.assertRaisesRegex(RuntimeError, "body"):
                with session:
                    right_stop, session.stop = session.stop, failing_stop
                    raise RuntimeError("body")
        right_stop()
        self.assertEqual([str(warning.message) for warning in caught],
                         ["llmperf session: disk full (LLMPERF_EIO)"])

    def test_validate_names_what_is_wrong(self) -> None:
        for text in ("{}", "not json"):
            path = self.folder / "metrics.json"
            path.write_text(text)
            with self.assertRaises(llmperf.LlmperfError) as refused:
                llmperf.validate(path)
            self.assertEqual(refused.exception.name, "LLMPERF_EFORMAT")
            self.assertTrue(refused.exception.text)
        with self.assertRaises(llmperf.LlmperfError) as refused:
            llmperf.validate(self.folder / "missing.json")
        self.assertEqual(refused.exception.name, "LLMPERF_ENOENT")


class Questions(support.TestCase):
    """Calls that need no session."""

    def test_version_is_that_of_the_package(self) -> None:
        self.assertEqual(llmperf.version(), llmperf.__version__)
        self.assertTrue(llmperf.available())

    def test_doctor_answers_on_every_machine(self) -> None:
        answer = llmperf.doctor()
        self.assertIsInstance(answer, dict)
        self.assertTrue(answer)

    def test_config_dir_is_a_folder_or_none(self) -> None:
        folder = llmperf.config_dir()
        if folder is not None:
            self.assertTrue(os.path.isdir(folder))


if __name__ == "__main__":
    support.need_library()
    support.main()
