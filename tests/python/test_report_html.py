# SPDX-License-Identifier: Apache-2.0
"""report.html: well formed, loads nothing, escapes what others wrote, and shows the numbers of metrics.json."""
from __future__ import annotations

import json
import os
import re
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
        self.numbers: List[Tuple[str, str, str]] = []  # pointer, raw value, text shown
        self.texts: List[Tuple[str, str]] = []         # pointer, text
        self.loose: List[str] = []                     # text of cells outside of <data> and <code>
        self._number: Optional[Tuple[str, str]] = None
        self._text: Optional[Tuple[int, str]] = None
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
        self.addresses += [values[name] for name in ("href", "src", "action", "srcset", "data") if name in values]
        self.handlers += [name for name in values if name.startswith("on")]
        if tag == "table":
            self._columns: List[Optional[str]] = []
        elif tag == "th":
            self._columns.append(values.pop("data-metric", None))
        elif tag == "tr":
            self._row, self._cell = values.get("data-row"), -1
        elif tag == "td":
            self._cell, self._raw, self._shown = self._cell + 1, None, ""
        elif tag == "data" and "data-metric" not in values:
            self._raw, self._shown = values["value"], ""
        if "data-metric" in values:
            if tag == "data":
                self._number, self._shown = (values["data-metric"], values["value"]), ""
            else:
                self.numbers.append((values["data-metric"], values["data-value"], ""))
        if "data-text" in values:
            self._text, self._shown = (len(self.open), values["data-text"]), ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()
        if tag == "td" and self._metric():
            raw = self._raw or ("null" if self._shown == "–" else self._shown)
            self.numbers.append((f"{self._row}/{self._metric()}", raw, self._shown))
        if tag == "data" and self._number:
            self.numbers.append((*self._number, self._shown))
            self._number = None
        if self._text and len(self.open) == self._text[0]:
            self.texts.append((self._text[1], self._shown))
            self._text = None

    def _metric(self) -> Optional[str]:
        """Of a cell in a row of metrics.json."""
        return self._columns[self._cell] if self._row else None

    def handle_data(self, data: str) -> None:
        self._shown += data
        if "td" in self.open and not {"data", "code"} & set(self.open) and not self._metric():
            self.loose.append(data)

    def error(self, message: str) -> None:
        raise AssertionError(message)


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


class Html(support.TestCase):
    """One page for everything."""

    def page(self, profile: llmperf.Profile) -> Tuple[Page, Any, str]:
        text = profile.document("report.html")
        return Page(text), json.loads(profile.document("metrics.json")), text

    def scripted(self, script: str = SCRIPT) -> llmperf.Profile:
        path = self.folder / "script"
        path.write_text(script)
        with llmperf.Session(source="fake", device_path=path) as session:
            pass
        assert session.profile is not None
        return session.profile

    def recorded(self) -> llmperf.Profile:
        path = os.path.join(os.environ["LLMPERF_TEST_DATA"], "h200/dummy_resnet.llmrec")
        with llmperf.Session(source="replay", device_path=path) as session:
            pass
        assert session.profile is not None
        return session.profile

    def assert_numbers(self, page: Page, metrics: Any) -> None:
        """Each number is the one of metrics.json, rounded to what is shown."""
        self.assertTrue(page.numbers)
        for pointer, raw, shown in page.numbers:
            if raw == "null":
                if not pointer.startswith("/hardware/peak/"):  # holds known peaks only
                    self.assertIsNone(look_up(metrics, pointer), pointer)
                self.assertIn(shown, ("–", ""))
                continue
            value = look_up(metrics, pointer)
            self.assertEqual(json.loads(raw), value, pointer)
            if isinstance(value, int) and not shown.endswith(" %") and "." not in shown:
                self.assertIn(shown, (str(value), ""), pointer)
            elif shown.endswith(" %"):
                self.assertTrue(is_rounded(shown[:-2], 100 * value), (pointer, shown, value))
            elif shown:
                self.assertTrue(is_rounded(shown, value), (pointer, shown, value))
        for pointer, shown in page.texts:
            self.assertEqual(shown, look_up(metrics, pointer), pointer)
        for text in page.loose:
            self.assertNotRegex(text.replace("p50", "").replace("p95", "").replace("p99", ""), r"\d", text)

    def test_a_recording_of_a_gpu_is_shown_with_the_numbers_of_metrics_json(self) -> None:
        for dtype in ("fp32", ""):
            with mock.patch.dict(os.environ, {"LLMPERF_DTYPE": dtype}):
                page, metrics, text = self.page(self.recorded())
            self.assert_numbers(page, metrics)
            self.assertEqual("<polyline" in text, dtype == "fp32")
        self.assertIn("svg", page.tags)
        self.assertIn("NVIDIA H200", text)
        shown = {pointer for pointer, _, _ in page.numbers}
        for pointer in ("/regions/0/wall_ms/mean", "/regions/0/mbu", "/kernels/0/total_ms", "/operators/0/calls",
                        "/kernel_classes/0/share", "/ledger/kernels_seen"):
            self.assertIn(pointer, shown)

    def test_iterations_are_drawn_and_counted(self) -> None:
        page, metrics, text = self.page(self.scripted())
        self.assert_numbers(page, metrics)
        shown = [pointer for pointer, _, _ in page.numbers]
        stages = {row["region"]: i for i, row in enumerate(metrics["iterations"])}
        step = stages["LLM@decode_all/LLM@decode_step"]
        bars = [pointer for pointer in shown if re.fullmatch(f"/iterations/{step}/recent/\\d+/wall_ms", pointer)]
        self.assertEqual(len(bars), 60)
        columns = [look_up(metrics, pointer) for pointer in shown if f"/iterations/{step}/wall_histogram/" in pointer]
        self.assertEqual(sum(columns), 60)
        self.assertIn(f"/iterations/{step}/idle_launch_ms/mean", shown)
        self.assertIn(f"/iterations/{step}/class_ms/norm/p99", shown)

    def test_requests_are_shown_with_the_numbers_of_metrics_json(self) -> None:
        script = "launch a\nbegin LLM@decode_step sequences=2\nend\n" + "".join(f"""
request begin {i} tokens=7 arrival={100 + i}
wait {1000 * i}
request first {i}
request tokens {i} tokens=2
request stop {i}
""" for i in range(1, 40))
        settings = {"session.slo_ttft_ms": 1, "session.gpu_hour_cents": 200}
        path = self.folder / "script"
        path.write_text(script)
        with llmperf.Session(source="fake", device_path=path, settings=settings) as session:
            pass
        page, metrics, _ = self.page(session.profile)
        page.loose = [text.replace("e2e", "") for text in page.loose]
        self.assert_numbers(page, metrics)
        shown = {pointer for pointer, _, _ in page.numbers}
        for pointer in ("/requests/finished", "/requests/good_share", "/requests/ttft/p90", "/requests/slowest/29/e2e_ms",
                        "/requests/load/0/output_tokens", "/requests/cost/per_million_output_tokens"):
            self.assertIn(pointer, shown)

    def test_each_id_is_there_once_and_each_reference_has_its_id(self) -> None:
        for profile in (self.scripted(), self.recorded()):
            page, _, _ = self.page(profile)
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertTrue(page.references)
            self.assertEqual(set(page.references) - set(page.ids), set())
            self.assertEqual(page.tags.count("title"), len(re.findall("<title", profile.document("report.html"))))

    def test_nothing_is_loaded_from_anywhere(self) -> None:
        for profile in (self.scripted(), self.recorded()):
            page, _, text = self.page(profile)
            self.assertEqual([address for address in page.addresses if not address.startswith("#")], [])
            self.assertEqual({"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags), set())
            style = text[text.index("<style>"):text.index("</style>")]
            self.assertNotIn("url(", style)
            self.assertNotIn("@import", style)
            self.assertIn("default-src 'none'", text)

    def test_names_that_others_wrote_are_only_text(self) -> None:
        page, _, text = self.page(self.scripted())
        self.assertEqual(page.tags.count("script"), 1)
        self.assertEqual(page.tags.count("style"), 1)
        self.assertNotIn("img", page.tags)
        self.assertEqual(page.handlers, [])
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;x", text)
        self.assertNotIn("alert(1)</script", text)
        self.assertIn("&lt;img src=x", text)

    def test_invalid_text_is_replaced(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.region("caf\u00e9 \"quoted\" <b>"):
                pass
        page, _, text = self.page(session.profile)
        self.assertIn("café &quot;quoted&quot; &lt;b&gt;", text)
        self.assertNotIn("b", page.tags)

    def test_numbers_are_withheld_as_the_ledger_says(self) -> None:
        script = "begin LLM@prefill\nlaunch a\nfault drop\nlaunch b\nlaunch c\nend\n"
        page, metrics, text = self.page(self.scripted(script))
        self.assertEqual(metrics["ledger"]["verdict"], "incomplete")
        self.assertEqual(text.count("<p>Withheld: "), 4)
        self.assertNotIn('id="timeline-t"', text)
        self.assertIn('class="verdict bad"', text)
        self.assert_numbers(page, metrics)

    def test_no_device_is_unknown_and_never_zero(self) -> None:
        with llmperf.Session(source="none") as session:
            with llmperf.prefill(8):
                pass
        page, metrics, text = self.page(session.profile)
        self.assert_numbers(page, metrics)
        busy = [shown for pointer, _, shown in page.numbers if pointer.endswith("/gpu_busy_ms")]
        self.assertTrue(busy)
        self.assertEqual(set(busy), {"–"})
        self.assertIn('class="wall unknown"', text)
        self.assertNotIn('class="busy"', text)

    def test_charts_have_words_for_those_who_cannot_see_them(self) -> None:
        text = self.scripted().document("report.html")
        for svg in re.findall(r"<svg.*?</svg>", text, re.S):
            self.assertRegex(svg, r'role="img" aria-labelledby="(\S+)-t \1-d"')
            self.assertRegex(svg, r"<title id=\"[^\"]+\">[^<]+</title><desc id=\"[^\"]+\">[^<]+</desc>")
        self.assertGreaterEqual(text.count("<svg"), 3)


if __name__ == "__main__":
    support.need_library()
    support.main()
