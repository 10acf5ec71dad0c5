#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built shared library: exactly the symbols of lib/llmperf.map, all documented and the stable ones tested; its soname;
what it is linked to."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

# Everything NVIDIA is opened at run time and must never appear here.
ALLOWED_LIBRARIES = r"^(libc|libm|libpthread|libdl|librt|libgcc_s|libjansson|libyaml-0|libsqlite3|libz|ld-linux-[\w-]+)\.so\.\d+$"


STABLE_LIMIT = 95
TEST_FOLDERS = ("unit", "flow", "gpu", "python", "fuzz", "abi")


def declared_functions():
    """{node: {function: the doc comment directly above its declaration, or ""}}"""
    functions = {"LLMPERF_0": {}, "LLMPERF_SYS": {}}
    for name in headers.header_names():
        for comment, function in re.findall(r"^(/\*\*(?:(?!\*/).)*\*/\n)?LLMPERF_API [^;]*?\b(llmperf_\w+|InitializeInjection\w*)\(",
                                            headers.header_text(name), re.M | re.S):
            functions["LLMPERF_SYS" if headers.is_sys(name) else "LLMPERF_0"][function] = comment
    return functions


def words_of_tests():
    """All words in the sources of the tests."""
    words = set()
    for folder in TEST_FOLDERS:
        for top, _, names in os.walk(os.path.join(headers.SOURCE, "tests", folder)):
            for name in names:
                if name.endswith((".c", ".cu", ".py")):
                    with open(os.path.join(top, name), encoding="utf-8") as file:
                        words.update(re.findall(r"\w+", file.read()))
    return words


@unittest.skipUnless(os.path.exists(headers.LIBRARY), "LLMPERF_LIBRARY names no file")
class Exports(unittest.TestCase):
    def lines(self, *command):
        status, output = headers.run([*command, headers.LIBRARY], env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(status, 0, output)
        return output.splitlines()

    def exported(self):
        """{node: [function]}"""
        nodes = {}
        for line in self.lines("nm", "-D", "--defined-only", "--with-symbol-versions"):
            # The version nodes themselves are listed as absolute symbols.
            if line.split()[-2] != "A":
                name, node = re.split("@+", line.split()[-1])
                nodes.setdefault(node, []).append(name)
        return nodes

    def test_exports_equal_the_map(self):
        exported = self.exported()
        self.assertEqual({node: sorted(names) for node, names in exported.items()}, headers.map_nodes())

    def test_the_map_says_which_functions_are_stable_as_the_headers_do(self):
        self.assertEqual({node: sorted(functions) for node, functions in declared_functions().items()}, headers.map_nodes())

    def test_every_export_is_documented(self):
        for functions in declared_functions().values():
            self.assertEqual([name for name, comment in functions.items() if not comment], [])
            self.assertEqual([name for name, comment in functions.items() if "@threads" not in comment], [])

    def test_every_stable_result_is_documented(self):
        for name in headers.header_names():
            if not headers.is_sys(name):
                undocumented = re.findall(r"^/\*\*(?:(?!\*/|@return).)*\*/\nLLMPERF_API (?!void )[^;]*?\b(\w+)\(", headers.header_text(name), re.M | re.S)
                self.assertEqual(undocumented, [], name)

    def test_every_stable_function_is_used_in_a_test(self):
        words = words_of_tests()
        self.assertEqual([name for name in headers.map_nodes()["LLMPERF_0"] if name not in words], [])

    def test_the_promise_stays_small(self):
        self.assertLessEqual(len(headers.map_nodes()["LLMPERF_0"]), STABLE_LIMIT)

    def test_the_map_is_sorted(self):
        for names in headers.map_nodes().values():
            self.assertEqual(names, sorted(set(names)))

    def test_soname_carries_the_major_version_of_the_headers(self):
        major = re.search(r"VERSION_MAJOR\s+(\d+)", headers.header_text("api.h")).group(1)
        soname = [line for line in self.lines("readelf", "-d") if "(SONAME)" in line]
        self.assertEqual(len(soname), 1)
        self.assertIn(f"[libllmperf.so.{major}]", soname[0])

    def test_version_string_matches_its_numbers(self):
        text = headers.header_text("api.h")
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


if __name__ == "__main__":
    unittest.main()
