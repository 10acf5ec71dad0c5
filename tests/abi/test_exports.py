#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built shared library: exactly the symbols of lib/llmperf.map, all documented; its soname; what it is linked to."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

# Everything NVIDIA is opened at run time and must never appear here.
ALLOWED_LIBRARIES = r"^(libc|libm|libpthread|libdl|librt|libgcc_s|libjansson|libyaml-0|libsqlite3|ld-linux-[\w-]+)\.so\.\d+$"


def map_symbols(text):
    body = re.search(r"global:(.*?)local:", text, re.S).group(1)
    return sorted(name.strip() for name in body.split(";") if name.strip())


def declared_functions():
    """{function: is the block of declarations that it stands in opened by a doc comment?}"""
    functions = {}
    for name in headers.header_names():
        for block in re.split(r"\n[ \t]*\n", headers.header_text(name)):
            for match in re.finditer(r"^LLMPERF_API [^;]*?\b(llmperf_\w+|InitializeInjection\w*)\(", block, re.M):
                functions[match.group(1)] = re.search(r"/\*\*.*?\*/", block[:match.start()], re.S) is not None
    return functions


@unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
class Exports(unittest.TestCase):
    def lines(self, *command):
        status, output = headers.run([*command, headers.LIBRARY], env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(status, 0, output)
        return output.splitlines()

    def exported(self):
        rows = [line.split() for line in self.lines("nm", "-D", "--defined-only")]
        # The version node itself is listed as an absolute symbol.
        return sorted(row[-1].split("@")[0] for row in rows if row[-2] != "A")

    def mapped(self):
        with open(os.path.join(headers.SOURCE, "lib", "llmperf.map"), encoding="utf-8") as file:
            return map_symbols(file.read())

    def test_exports_equal_the_map(self):
        self.assertEqual(self.exported(), self.mapped())

    def test_every_export_is_declared_and_documented(self):
        functions = declared_functions()
        self.assertEqual(sorted(functions), self.mapped(), "functions of the headers against lib/llmperf.map")
        self.assertEqual([name for name, documented in functions.items() if not documented], [])

    def test_the_map_is_sorted(self):
        with open(os.path.join(headers.SOURCE, "lib", "llmperf.map"), encoding="utf-8") as file:
            names = re.findall(r"^\s+(\w+);", file.read(), re.M)
        self.assertEqual(names, sorted(set(names)))

    def test_soname_carries_the_major_version_of_the_headers(self):
        major = re.search(r"VERSION_MAJOR\s+(\d+)", headers.header_text("version.h")).group(1)
        soname = [line for line in self.lines("readelf", "-d") if "(SONAME)" in line]
        self.assertEqual(len(soname), 1)
        self.assertIn(f"[libllmperf.so.{major}]", soname[0])

    def test_version_string_matches_its_numbers(self):
        text = headers.header_text("version.h")
        numbers = re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)", text)
        self.assertIn(f'VERSION_STRING "{".".join(numbers)}"', text)

    def test_links_only_to_known_libraries(self):
        needed = [re.search(r"\[(.*)\]", line).group(1) for line in self.lines("readelf", "-d") if "(NEEDED)" in line]
        self.assertTrue(needed)
        self.assertEqual([name for name in needed if not re.match(ALLOWED_LIBRARIES, name)], [])


class TheChecksThemselves(unittest.TestCase):
    def test_nvidia_libraries_are_not_allowed(self):
        for name in ("libcuda.so.1", "libcupti.so.13", "libcudart.so.13", "libnvidia-ml.so.1", "libstdc++.so.6"):
            self.assertNotRegex(name, ALLOWED_LIBRARIES)

    def test_map_is_understood(self):
        self.assertEqual(map_symbols("A_0 {\n global:\n  b;\n  a;\n local:\n  *;\n};\n"), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
