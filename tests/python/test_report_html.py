# SPDX-License-Identifier: Apache-2.0
"""report.html: well formed, loads nothing, escapes what others wrote, and shows the numbers of metrics.json."""
from __future__ import annotations

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

import support
import llmperf

VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
HOSTILE = "<script>alert(1)</script>&'x"
ENTITIES = "</title></style>]]>--><img src=x onerror=alert(2)>"


class Page(HTMLParser):
    """Elements must be closed in order; collects what the tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: List[str] = []
        self.tags: List[str] = []
        self.ids: List[str] = []
        self.references: List[str] = []
        self.addresses: List[str] = []
        self.handlers: List[str] = []
        self.numbers: List[Tuple[str, str, str]] = []  # pointer into metrics.json, raw value, text shown
        self.words = ""
        self._columns: List[str] = []
        self._row: Optional[str] = None
        self._cell = -1
        self._raw: Optional[str] = None
        self._shown = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        values: Dict[str, str] = {name: value or "" for name, value in attributes}
        assert len(values) == len(attributes), (tag, attributes)
        self.tags.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("aria-labelledby", "for"):
            self.references += values.get(name, "").split()
        if values.get("href", "").startswith("#"):
            self.references.append(values["href"][1:])
        self.addresses += [values[name] for name in ("href", "src", "action", "srcset") if name in values]
        self.handlers += [name for name in values if name.startswith("on")]
        if tag == "table":
            self._columns = []
        elif tag == "th":
            self._columns.append(values["data-metric"])
        elif tag == "tr":
            self._row, self._cell = values.get("data-row"), -1
        elif tag == "td":
            self._cell += 1
        elif tag == "data":
            self._raw, self._shown = values["value"], ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag == "data" and self._row and self._columns[self._cell]:
            self.numbers.append((f"{self._row}/{self._columns[self._cell]}", self._raw or "", self._shown))

    def handle_data(self, data: str) -> None:
        self._shown += data
        self.words += data


def look_up(metrics: Any, pointer: str) -> Any:
    """RFC 6901."""
    for word in pointer.split("/")[1:]:
        word = word.replace("~1", "/").replace("~0", "~")
        metrics = metrics[int(word)] if isinstance(metrics, list) else metrics[word]
    return metrics


def is_rounded(shown: str, value: float) -> bool:
    """Four significant digits, at most six decimals; a half may go either way."""
    decimals = next((n for n in range(6) if abs(value) >= 10 ** (3 - n) * (1 - 0.5e-4)), 6)
    if value == 0:
        return shown == "0"
    return len(shown.partition(".")[2]) == decimals and abs(float(shown) - value) <= 0.500001 * 10 ** -decimals


SCRIPT = f"""
begin LLM@prefill tokens=512 flops=4000000000 bytes=16000000
launch "{HOSTILE}" duration=50000
begin "{ENTITIES}"
launch flash_fwd duration=20000
end
launch _ZN2ns4gemmIfEEvPKT_ duration=70000
end
begin LLM@decode_all
""" + "".join(f"""
begin LLM@decode_step tokens=4 sequences=4 context={100 + step}
launch rms_norm duration=2000
wait {20000 + 3000 * step}
launch nvjet duration=9000
copy dtoh bytes=64 duration=1000
end
""" for step in range(60)) + "end\nlaunch outside duration=3000\n"


def render(folder: pathlib.Path, text: str) -> Tuple[Page, str, Any]:
    """The page as its script makes it, its markup, and what tests/support/render_page.js says of it."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    script = pathlib.Path(__file__).parents[1] / "support" / "render_page.js"
    done = subprocess.run(["node", str(script), str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    markup, more = done.stdout.split("\n--more--\n")
    return Page(markup), markup, json.loads(more)


class Html(support.TestCase):
    """One page for everything."""

    def render(self, text: str) -> Tuple[Page, Any]:
        page, self.markup, more = render(self.folder, text)
        return page, more["csv"]

    def data(self, text: str) -> Any:
        """What the page holds for its script."""
        return json.loads(re.search('id="data">(.*)</script>', text).group(1))

    def page(self, profile: llmperf.Profile) -> Tuple[Page, Any, str]:
        text = profile.document("report.html")
        page, self.csv = self.render(text)
        return page, json.loads(profile.document("metrics.json")), text

    def assert_numbers(self, page: Page, metrics: Any) -> None:
        """Each number is the one of metrics.json, rounded to what is shown."""
        self.assertTrue(page.numbers)
        for pointer, raw, shown in page.numbers:
            value = look_up(metrics, pointer)
            if raw == "null":
                self.assertIsNone(value, pointer)
                self.assertEqual(shown, "–", pointer)
                continue
            self.assertEqual(json.loads(raw), value, pointer)
            if shown.endswith(" %"):
                exact = shown == f"{100 * value:.0f} %" and 100 * value == round(100 * value)
                self.assertTrue(exact or is_rounded(shown[:-2], 100 * value), (pointer, shown, value))
            elif value == int(value):
                self.assertEqual(shown, str(int(value)), pointer)
            else:
                self.assertTrue(is_rounded(shown, value), (pointer, shown, value))

    def test_a_recording_of_a_gpu_is_shown_with_the_numbers_of_metrics_json(self) -> None:
        for dtype in ("fp32", ""):
            with mock.patch.dict(os.environ, {"LLMPERF_DTYPE": dtype}):
                page, metrics, _ = self.page(support.replay(support.DATA / "h200/dummy_resnet.llmrec"))
            self.assert_numbers(page, metrics)
            self.assertEqual('class="roof"' in self.markup, dtype == "fp32")
        self.assertIn("NVIDIA H200", page.words)
        shown = {pointer for pointer, _, _ in page.numbers}
        for pointer in ("/stages/0/wall_ms/mean", "/regions/0/mbu", "/kernel_classes/0/share"):
            self.assertIn(pointer, shown)

    def test_sections_are_those_of_report_md_in_its_order(self) -> None:
        profile = self.play(SCRIPT)
        plain = re.findall(r"^## (.+)$", profile.report_markdown(), re.MULTILINE)
        self.page(profile)
        shown = re.findall(r"<h2 id=[^>]*>([^<]+)</h2>", self.markup)
        self.assertEqual([title for title in shown if title in plain], [title for title in plain if title in shown])
        self.assertEqual(shown[:3], ["Where the time goes", "What to look at first", "Timeline"])
        self.assertGreater(len([title for title in shown if title in plain]), 9)
        self.assertLess(self.markup.index("What to look at first"), self.markup.index('class="verdict"'))

    def test_calls_of_stages_are_drawn_and_counted(self) -> None:
        page, metrics, _ = self.page(self.play(SCRIPT))
        self.assert_numbers(page, metrics)
        shown = [pointer for pointer, _, _ in page.numbers]
        stages = {row["region"]: i for i, row in enumerate(metrics["iterations"])}
        step = stages["LLM@decode_all/LLM@decode_step"]
        self.assertIn(f"/iterations/{step}/elapsed_ms/mean", shown)
        counts = [int(count) for count in re.findall(r": (\d+) calls?</title>", self.markup)]
        self.assertEqual(sum(counts), 60)

    def test_a_call_of_each_stage_is_kept_with_all_its_kernels(self) -> None:
        profile = self.play(SCRIPT)
        calls = self.data(profile.document("report.html"))["calls"]
        stages = [row["region"] for row in json.loads(profile.document("metrics.json"))["iterations"]]
        kept = {stages[call["stage"]]: call["call"] for call in calls}
        step = kept["LLM@decode_all/LLM@decode_step"]
        self.assertEqual(step["events_total"], 3)
        self.assertEqual([step["names"][event[3]] for event in step["events"]], ["rms_norm", "nvjet", "[memcpy DtoH]"])
        self.assertEqual([event[1] for event in step["events"]], [2000, 9000, 1000])
        # The newest of the 1st, 2nd, 3rd, 5th, 9th, 17th and 33rd of 60 calls.
        recent = next(row for row in json.loads(profile.document("metrics.json"))["iterations"]
                      if row["region"] == "LLM@decode_all/LLM@decode_step")["recent"]
        self.assertEqual(step["begin_ns"], recent[32]["begin_ns"])

    def test_long_calls_keep_their_first_kernels_and_say_so(self) -> None:
        self.page(self.play("begin LLM@prefill\n" + "launch k duration=100\n" * 4200 + "end\n"))
        self.assertIn("the first kernels are kept", self.markup)

    def test_long_lists_keep_their_longest_rows_and_say_so(self) -> None:
        launches = "".join(f"launch k{i} duration={1000 + i}\n" for i in range(1100))
        page, metrics, text = self.page(self.play("begin LLM@prefill\n" + launches + "end\n"))
        data = self.data(text)
        self.assertEqual(len(metrics["kernels"]), 1100)
        self.assertEqual(data["cut"]["kernels"], 1100)
        self.assertEqual({row["short_name"] for row in data["metrics"]["kernels"]}, {f"k{i}" for i in range(100, 1100)})
        self.assertIn("The page has the 1000 longest of 1100; metrics.json has all.", page.words)

    def test_sections_that_the_page_does_not_draw_are_those_of_report_md(self) -> None:
        script = "launch a\nbegin LLM@decode_step sequences=2\nend\n" + "".join(f"""
request begin {i} tokens=7 arrival={100 + i}
wait {1000 * i}
request first {i}
request tokens {i} tokens=2
request stop {i}
""" for i in range(1, 40))
        profile = self.play(script, settings={"session.slo_ttft_ms": 1, "session.gpu_hour_cents": 200})
        page, _, _ = self.page(profile)
        plain = profile.report_markdown()
        for title in ("Requests", "Aggregates", "Completeness", "Environment"):
            section = plain[plain.index(f"## {title}\n"):].split("\n## ")[0]
            cells = [cell.strip().replace("\\", "") for line in section.splitlines() if re.match(r"\| [^-]", line) for cell in line.split("|")]
            self.assertGreater(len(cells), 5, title)
            self.assertEqual([cell for cell in cells if cell not in page.words], [], title)

    def test_a_comparison_is_a_page_with_the_numbers_of_its_json(self) -> None:
        runs = [self.play(SCRIPT.replace("duration=9000", f"duration={duration}")) for duration in (9000, 18000)]
        texts = {form: llmperf.compare_document(*runs, form=form) for form in ("json", "html")}
        page, _ = self.render(texts["html"])
        self.assert_numbers(page, json.loads(texts["json"]))
        self.assertIn("nvjet (2.0x, 1 call)", page.words)
        self.assertEqual(set(page.references) - set(page.ids), set())
        self.assertIn("# llmperf compare", texts["html"])  # without scripts

    def test_each_id_is_there_once_and_each_reference_has_its_id(self) -> None:
        for profile in (self.play(SCRIPT), support.replay(support.DATA / "h200/dummy_resnet.llmrec")):
            page, _, _ = self.page(profile)
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertTrue(page.references)
            self.assertEqual(set(page.references) - set(page.ids), set())

    def test_nothing_is_loaded_from_anywhere(self) -> None:
        for profile in (self.play(SCRIPT), support.replay(support.DATA / "h200/dummy_resnet.llmrec")):
            page, _, text = self.page(profile)
            raw = Page(text)
            self.assertEqual([address for address in page.addresses + raw.addresses if not address.startswith("#")], [])
            self.assertEqual({"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags + raw.tags), set())
            self.assertNotIn("http", text[text.index("<style>"):text.index("</style>")] + text[text.rindex("<script>"):])
            self.assertIn("default-src 'none'", text)

    def test_names_that_others_wrote_are_only_text(self) -> None:
        page, _, text = self.page(self.play(SCRIPT))
        raw = Page(text)
        self.assertEqual(raw.tags.count("script"), 2)
        self.assertEqual(raw.tags.count("style"), 1)
        for shown in (page, raw):
            self.assertNotIn("img", shown.tags)
            self.assertEqual(shown.handlers, [])
        self.assertNotIn("script", page.tags)
        self.assertIn(ENTITIES, page.words)
        self.assertNotIn("alert(1)</script", text)

    def test_text_that_a_spreadsheet_would_compute_is_quoted(self) -> None:
        self.page(self.play('begin LLM@prefill\nlaunch "=1+1" duration=5\nlaunch "a,b" duration=5\nend\n'))
        self.assertIn("'=1+1,", self.csv["kernels"])
        self.assertIn('"a,b",', self.csv["kernels"])

    def test_text_that_is_not_ascii_is_shown(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("caf\u00e9 \"quoted\" <b>"):
                pass
        page, _, _ = self.page(session.profile)
        self.assertIn("café \"quoted\" <b>", page.words)
        self.assertNotIn("b", page.tags)

    def test_numbers_are_withheld_as_the_ledger_says(self) -> None:
        page, metrics, _ = self.page(self.play("begin LLM@prefill\nlaunch a\nfault drop\nlaunch b\nlaunch c\nend\n"))
        self.assertEqual(metrics["ledger"]["verdict"], "incomplete")
        self.assertEqual(self.markup.count("<p>Withheld: "), 3)
        self.assertNotIn("canvas", page.tags)
        self.assertIn('class="verdict bad"', self.markup)
        self.assert_numbers(page, metrics)

    def test_no_device_is_unknown_and_never_zero(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.prefill(8):
                pass
        page, metrics, _ = self.page(session.profile)
        self.assert_numbers(page, metrics)
        busy = [shown for pointer, _, shown in page.numbers if pointer.endswith("/gpu_busy_ms")]
        self.assertTrue(busy)
        self.assertEqual(set(busy), {"–"})

    def test_without_scripts_the_report_is_text(self) -> None:
        profile = self.play(SCRIPT)
        text = profile.document("report.html")
        shown = re.search("<noscript><pre>(.*)</pre></noscript>", text, re.S)
        self.assertEqual(html.unescape(shown.group(1)), profile.document("report.md"))

    def test_charts_have_words_for_those_who_cannot_see_them(self) -> None:
        self.page(self.play(SCRIPT))
        for svg in re.findall(r"<svg.*?</svg>", self.markup, re.S):
            self.assertRegex(svg, r'role="img" aria-label(ledby="(\S+)-t \2-d"|=")')
        self.assertGreaterEqual(self.markup.count("<svg"), 3)


if __name__ == "__main__":
    support.need_library()
    if not shutil.which("node"):
        support.skip_all("node is missing; apt-get install nodejs")
    support.main()
