#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of the documents run, and each field of metrics.json is explained."""
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

with open(os.path.join(headers.SOURCE, "README.md"), encoding="utf-8") as readme:
    README = readme.read()


def example(language, page=README):
    return re.search(rf"^```{language}\n(.*?)^```$", page, re.M | re.S).group(1)


def field_names(schema):
    """All names of properties in a JSON Schema."""
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from field_names(inner)
    for inner in [*schema.get("$defs", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from field_names(inner)


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "LLMPERF_OUT": os.path.join(self.folder, "runs")}

    @unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
    def test_the_c_example_compiles_runs_and_writes_a_report(self):
        output = self.run_c(example("c"))
        reports = [top for top, _, names in os.walk(self.folder) if "metrics.json" in names]
        self.assertEqual(len(reports), 1, output)

    @unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
    def test_the_example_of_a_scripted_device_runs(self):
        with open(os.path.join(headers.SOURCE, "docs/reference/fake-script.md"), encoding="utf-8") as file:
            page = file.read()
        with open(os.path.join(self.folder, "steps.txt"), "w", encoding="utf-8") as file:
            file.write(example("text", page))
        output = self.run_c(example("c", page))
        self.assertIn("3 kernels seen from 3 launches", output)
        self.assertIn("`LLM@decode_step`: ", output)

    @unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
    def test_the_engine_of_the_tutorial_prints_its_stages(self):
        with open(os.path.join(headers.SOURCE, "docs/tutorial/first-engine.md"), encoding="utf-8") as file:
            output = self.run_c(example("c", file.read()))
        self.assertRegex(output, r"^/\S+/runs/\S+/report.md\n")
        for stage in ("prefill", "decode_all", "decode_step"):
            self.assertRegex(output, rf"LLM@{stage}: [1-9]\d* tokens/s")

    @unittest.skipUnless(headers.CXX and os.path.exists(headers.LIBRARY), "no C++ compiler, or LLMPERF_LIBRARY names no file")
    def test_the_cpp_example_compiles_runs_and_writes_a_report(self):
        with open(os.path.join(headers.SOURCE, "docs/how-to/cpp-engine.md"), encoding="utf-8") as file:
            output = self.run_text(example("cpp", file.read()), "example.cpp", [headers.CXX, "-std=c++11"])
        self.assertRegex(output, r"^/\S+/runs/\S+/report.md, [1-9]\d+ bytes of metrics")
        self.assertEqual(len([top for top, _, names in os.walk(self.folder) if "report.md" in names and "run.llmperf" in names]), 1)

    def run_c(self, text):
        return self.run_text(text, "example.c", headers.CC + ["-std=c99"])

    def run_text(self, text, name, compiler):
        """What a program prints, compiled as its readers compile it."""
        source, binary = os.path.join(self.folder, name), os.path.join(self.folder, "example")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        status, output = headers.run(compiler + ["-Wall", "-Wextra", "-pedantic", "-Werror", "-I" + headers.INCLUDE,
                                                 source, "-o", binary, headers.LIBRARY,
                                                 "-Wl,-rpath," + os.path.dirname(headers.LIBRARY)])
        self.assertEqual(status, 0, output)
        status, output = headers.run([binary], cwd=self.folder, env=self.environment)
        self.assertEqual(status, 0, output)
        return output

    @unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
    @unittest.skipUnless(os.path.exists(os.path.join(headers.SOURCE, "bindings/python/llmperf/__init__.py")), "no bindings")
    def test_the_python_example_runs(self):
        status, output = headers.run([sys.executable, "-c", example("python")], cwd=self.folder, env=self.environment)
        self.assertEqual(status, 0, output)

    @unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
    @unittest.skipUnless(os.path.exists(os.path.join(headers.SOURCE, "bindings/python/llmperf/__init__.py")), "no bindings")
    def test_the_example_of_rules_for_regions_of_a_program_runs(self):
        with open(os.path.join(headers.SOURCE, "docs/reference/fake-script.md"), encoding="utf-8") as file:
            program = example("python", file.read())
        status, output = headers.run([sys.executable, "-c", program], cwd=self.folder, env=self.environment)
        self.assertEqual(status, 0, output)
        self.assertIn("7 kernels seen from 7 launches, 100 % of device time has a known launch", output)
        self.assertIn("`LLM@decode_step`: ", output)
        reports = [top for top, _, names in os.walk(self.folder) if "report.html" in names]
        self.assertEqual(len(reports), 1, output)
        with open(os.path.join(reports[0], "stages.md"), encoding="utf-8") as file:
            self.assertIn("LLM@prefill", file.read())

    def test_every_field_of_metrics_json_is_explained(self):
        with open(os.path.join(headers.SOURCE, "conf/schema/metrics.schema.json"), encoding="utf-8") as file:
            fields = set(field_names(json.load(file)))
        quoted = set()
        for page in ("metrics", "fields"):
            with open(os.path.join(headers.SOURCE, f"docs/reference/{page}.md"), encoding="utf-8") as file:
                quoted |= set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", file.read()))))
        self.assertIn("gpu_busy_ms", fields)
        self.assertEqual(sorted(fields - quoted), [])


if __name__ == "__main__":
    unittest.main()
