# SPDX-License-Identifier: Apache-2.0
"""The first screen of report.html, its links to rows, and ranks side by side."""
from __future__ import annotations

import html
import itertools
import json
import math
import re
import shutil
from typing import Any, List, Tuple

import support
import llmperf
from test_report_html import render

ENGINE = support.DATA / "h200/engine"


def recorded(name: str) -> llmperf.Profile:
    profile = support.replay(ENGINE / f"{name}.llmrec")
    profile.apply_model(support.DATA / "model/deepseek_ocr.json", dtype="bf16")
    return profile


class Page(support.TestCase):
    def show(self, profile: llmperf.Profile) -> Tuple[Any, str, Any]:
        return render(self.folder, profile.document("report.html"))

    def tiles(self, markup: str) -> List[str]:
        return [html.unescape(re.sub("<[^>]*>", " ", tile)) for tile in re.findall('<div class="tile">(.*?)</div>', markup, re.S)]

    def test_the_first_screen_has_rate_time_use_loss_and_gain(self) -> None:
        _, markup, _ = self.show(recorded("tensor_0"))
        first = markup[:markup.index("<h2 id=\"timeline-section\"")]
        tiles = " | ".join(self.tiles(markup))
        for words in ("tokens/s", "a call of", "its lower bound of", "GPU busy", "MBU", "; limited by ", "Complete"):
            self.assertIn(words, tiles)
        for words in ('class="headline"', 'class="bars"', "Roofline bound", "saves up to", "Measured"):
            self.assertIn(words, first)

    def test_a_program_in_python_is_named_by_its_script(self) -> None:
        with llmperf.Session(source="none") as session:
            pass
        _, markup, _ = self.show(session.profile)
        self.assertRegex(markup, r"<h1>test_report_page\.py")

    def test_an_import_of_ncu_begins_with_what_it_measured(self) -> None:
        _, markup, more = self.show(llmperf.import_files(support.DATA / "ncu/ranges.ncu-rep"))
        first = markup[:markup.index('id="ncu-section"')]
        self.assertIn("470 us", first)
        self.assertNotIn('class="verdict bad"', markup)
        self.assertIn("latency  limits it", " ".join(self.tiles(markup)))
        self.assertIn("LLM@stem", first[first.index('class="bars"'):])
        self.assertEqual([link for link in more["links"] if not link[2]], [])
        self.assertIn("ncu-kernels", [link[0] for link in more["links"]])

    def test_a_program_without_stages_begins_with_its_gpu(self) -> None:
        _, markup, _ = self.show(self.play("launch gemm duration=9000\nwait 90000\n" * 20))
        tiles = " | ".join(self.tiles(markup))
        self.assertIn("GPU 0 busy", tiles)
        self.assertIn("waiting for launches", tiles)

    def test_stages_with_several_calls_at_once_show_their_classes(self) -> None:
        _, markup, _ = self.show(recorded("streams"))
        first = markup[markup.index('id="waterfall"'):markup.index('id="advice"')]
        self.assertIn("GEMM", first)
        self.assertIn("ran at the same time", first)

    def test_small_parts_are_folded_as_in_report_md(self) -> None:
        profile = recorded("tensor_0")
        _, markup, _ = self.show(profile)
        plain = profile.report_markdown()
        shown = plain[plain.index("## Where the time goes"):plain.index("## What to look at first")]
        rows = [line for line in shown.splitlines() if re.match(r"\| [^-]", line)][1:]
        bars = markup[markup.index('class="bars"'):markup.index("</figure>")]
        self.assertEqual(bars.count('class="track"'), len(rows) + 1)  # the last one is the measured time
        self.assertEqual("Parts below 2 %" in bars, "Parts below 2 %" in shown)

    def test_each_link_of_an_advice_finds_its_row(self) -> None:
        found = set()
        for name in ("tensor_0", "streams"):
            _, _, more = self.show(recorded(name))
            self.assertEqual([link for link in more["links"] if not link[2]], [])
            found |= {link[0] for link in more["links"]}
            self.assertFalse([link for link in more["links"] if link[0] == "operators" and "layer0" in link[1]])  # the row of all layers
        self.assertLessEqual({"stages", "kernels", "operators"}, found)

    def test_links_to_ranks_find_their_rows(self) -> None:
        _, _, more = self.show(llmperf.merge(recorded("tensor_0"), recorded("tensor_1")))
        self.assertIn("ranks", [link[0] for link in more["links"]])
        self.assertEqual([link for link in more["links"] if not link[2]], [])

    def test_ranks_have_lanes_of_their_own_and_say_whom_they_wait_for(self) -> None:
        ranks = [recorded(f"tensor_{i}") for i in range(2)]
        page, _, more = self.show(llmperf.merge(*ranks))
        lanes = {lane["name"]: lane["items"] for lane in more["lanes"]}
        self.assertEqual(list(lanes), ["process 607 operators", "process 607 GPU 0, stream 14", "process 608 operators", "process 608 GPU 1, stream 14"])
        waits = [[item for item in lanes[name] if item.get("waiting", 0) > 0] for name in list(lanes)[1::2]]
        arrivals = [[item for item in lanes[name] if item.get("arrival")] for name in list(lanes)[1::2]]
        # Where one rank waits, the other one arrives.
        self.assertEqual([len(rank) for rank in waits], [len(rank) for rank in reversed(arrivals)])
        self.assertTrue(all("waiting for process 608 GPU 1" in item["text"] for item in waits[0]))
        self.assertTrue(all("waiting for process 607 GPU 0" in item["text"] for item in waits[1]))
        arrived = {item["start"] for item in arrivals[0]}
        self.assertTrue(all(min(abs(item["start"] + item["waiting"] - at) for at in arrived) < 1 for item in waits[1]))
        self.assertIn("Striped kernels: a collective waits", page.words)
        # One run alone has no other rank to wait for, and no process in its lanes.
        _, _, alone = self.show(ranks[0])
        self.assertFalse(any("waiting" in item for lane in alone["lanes"] for item in lane["items"]))
        self.assertIn("GPU 0, stream 14", [lane["name"] for lane in alone["lanes"]])

    def test_parts_that_were_not_kept_are_hatched(self) -> None:
        page, _, more = self.show(recorded("light"))
        lanes = {lane["name"]: lane["items"] for lane in more["lanes"]}
        kernels = lanes["GPU 0, stream 13"]
        missing = [item for item in kernels if item["style"] == "missing"]
        self.assertGreater(len(missing), 1)
        begin = min(item["start"] for items in lanes.values() for item in items)
        end = max(item["start"] + item["length"] for items in lanes.values() for item in items)
        self.assertEqual(missing[0]["start"], begin)
        self.assertAlmostEqual(missing[-1]["start"] + missing[-1]["length"], end, delta=1)
        for gap, item in itertools.product(missing, [item for item in kernels if item["style"] != "missing"]):
            self.assertFalse(gap["start"] <= item["start"] < gap["start"] + gap["length"])
        self.assertIn("the last 256 calls of 400", [item["text"] for item in lanes["LLM@decode_step"] if item["style"] == "missing"][0])
        self.assertFalse([item for item in lanes["LLM@prefill"] if item["style"] == "missing"])  # all of its calls are there
        self.assertIn("Hatched: calls or kernels are not in this page", page.words)

    def test_generic_kernels_say_what_they_compute(self) -> None:
        fill = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, at::native::FillFunctor<int>)"
        silu = "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}>(int)"
        scaled = "void at::native::elementwise_kernel<128, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, at::native::binary_internal::MulFunctor<float> > > >(int)"
        product = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_64x64>(cutlass_80_tensorop_bf16_s16816gemm_64x64::Params)"
        names = [(fill, 300), (silu, 100), (scaled, 50), (product, 50), ("void mine::kernel<FillFunctor<int> >(int)", 50)]
        _, markup, more = self.show(self.play("".join(f'launch "{name}" duration={ns}\n' for name, ns in names)))
        rows = markup[markup.index('id="table-kernels"'):]
        self.assertIn("vectorized_elementwise_kernel</code> <small>Fill 75 %, silu 25 %</small>", rows)
        self.assertIn("::elementwise_kernel</code> <small>Mul</small>", rows)
        self.assertIn("cutlass::Kernel2</code> <small>cutlass_80_tensorop_bf16_s16816gemm_64x64</small>", rows)
        self.assertIn("mine::kernel</code></td>", rows)
        self.assertIn('title="void at::native::vectorized_elementwise_kernel&lt;4,', rows)
        self.assertIn("\nat::native::vectorized_elementwise_kernel,", more["csv"]["kernels"])

    def test_paper_has_the_colours_of_the_light_page(self) -> None:
        text = recorded("tensor_0").document("report.html")
        self.assertIn("@media screen and (prefers-color-scheme: dark)", text)
        self.assertNotIn("@media (prefers-color-scheme: dark)", text)

    def test_merging_merged_runs_keeps_the_calls_of_all(self) -> None:
        pair = llmperf.merge(recorded("tensor_0"), recorded("tensor_1"))
        _, _, more = self.show(llmperf.merge(pair, recorded("tensor_graphs_0")))
        self.assertEqual(len({lane["name"].split(" GPU")[0] for lane in more["lanes"] if " GPU" in lane["name"]}), 3)

    def test_points_of_the_roofline_do_not_cover_each_other(self) -> None:
        page, markup, _ = self.show(llmperf.merge(recorded("tensor_0"), recorded("tensor_1")))
        dots = [(float(x), float(y)) for x, y in re.findall(r'<circle[^>]* cx="([\d.]+)" cy="([\d.]+)"', markup)]
        self.assertGreater(len(dots), 1)
        for a, b in itertools.combinations(dots, 2):
            self.assertGreater(math.dist(a, b), 16)
        names = re.findall(r"<div><code>([^<]+)</code>: [\d.]+ of", markup)
        self.assertGreater(len(names), len(dots))
        self.assertIn("LLM@prefill on GPU 1", names)

    def test_operators_fold_into_the_stage_in_the_table_of_use(self) -> None:
        _, markup, _ = self.show(recorded("streams"))
        use = markup[markup.index('id="table-utilisation"'):]
        use = use[:use.index("</table>")]
        shown = re.findall(r'data-row="/regions/\d+" data-key="([^"]+)"', use)
        self.assertTrue(shown)
        self.assertEqual([path for path in shown if path.rsplit("@")[-1].startswith("layer")], [])
        self.assertIn('class="fold"', use)


    def test_intervals_of_sampled_runs_are_shown(self) -> None:
        profile = recorded("tensor_0")
        text = profile.document("report.html")
        begin = text.index('id="data">') + len('id="data">')
        data = json.loads(text[begin:text.index("</script>", begin)])
        metrics = data["metrics"]
        main = next(row for row in metrics["stages"] if row["path"] == data["main"]["path"])
        main["intervals"] = {"time_ms": [0.98 * main["time_ms"], 1.02 * main["time_ms"]], "mbu": [0.5, 0.51]}
        metrics["waterfall"][0]["parts"][0]["half_interval_ms"] = 0.0117
        for row in metrics["kernels"]:
            row["estimate"] = {"collected": 4, "total": 2 * row["total_ms"], "low": 1.9 * row["total_ms"], "high": 2.1 * row["total_ms"], "reason": None}
        _, markup, more = render(self.folder, text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[text.index("</script>", begin):])
        self.assertRegex(next(tile for tile in self.tiles(markup) if "a call of" in tile), r"[\d.]+ ± [\d.]+ ms")
        self.assertRegex(markup, r"± 0\.012 ms")
        self.assertRegex(markup[markup.index('id="table-stages"'):], r"</data> ± [\d.]+</td>")
        self.assertRegex(markup[markup.index('id="table-kernels"'):], r"</data> ± [\d.]+</td>")
        self.assertIn("All calls ms", more["csv"]["kernels"].split("\n")[0])
        self.assertNotIn("±", render(self.folder, text)[1])


if __name__ == "__main__":
    support.need_library()
    if not shutil.which("node"):
        support.skip_all("node is missing; apt-get install nodejs")
    support.main()
