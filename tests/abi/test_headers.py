#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Public headers: each compiles alone, in C99 and C++11; structs grow safely; nothing in them differs between languages."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-pedantic", "-Wundef", "-Werror"]
C99 = ["-std=c99", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wconversion"] + STRICT
CPP11 = ["-std=c++11", "-Wold-style-cast"] + STRICT
FUNCTION = "\nvoid use(void);\nvoid use(void)\n{\n}\n"  # pedantic C wants at least one declaration in a file


class Headers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compiles(self, compiler, language, text, flags):
        status, messages = headers.compile_text(compiler, language, text, flags, self.folder.name)
        self.assertEqual(status, 0, messages)

    def test_each_header_compiles_alone_as_c99(self):
        for name in headers.header_names():
            with self.subTest(name):
                self.compiles(headers.CC, "c", f'#include "llmperf/{name}"\n#include "llmperf/{name}"' + FUNCTION, C99)

    def test_each_header_compiles_alone_as_cpp11(self):
        if not headers.CXX:
            self.skipTest("no C++ compiler")
        for name in headers.header_names():
            with self.subTest(name):
                self.compiles([headers.CXX], "c++", f'#include "llmperf/{name}"\n#include "llmperf/{name}"' + FUNCTION, CPP11)

    def test_the_umbrellas_include_every_header(self):
        for umbrella, names in (("llmperf.h", [name for name in headers.header_names() if not headers.is_sys(name)]),
                                ("sys.h", ["llmperf.h"] + [name for name in headers.header_names() if name.startswith("sys/")])):
            included = re.findall(r'#include "llmperf/(.*)"', headers.header_text(umbrella))
            self.assertEqual(included, [name for name in names if name != umbrella])

    def test_each_header_that_is_not_stable_says_so(self):
        for name in headers.header_names():
            if headers.is_sys(name):
                self.assertRegex(headers.header_text(name), r"^/\* SPDX[^\n]*\n/\*\* Not stable: ", name)

    def test_structs_have_no_hidden_padding(self):
        self.compiles(headers.CC, "c", '#include "llmperf/sys.h"' + FUNCTION, C99 + ["-Wpadded"])

    def test_a_hole_in_a_struct_would_be_found(self):
        hole = "struct hole { unsigned char small; double large; };" + FUNCTION
        status, messages = headers.compile_text(headers.CC, "c", hole, C99 + ["-Wpadded"], self.folder.name)
        self.assertNotEqual(status, 0)
        self.assertIn("pad", messages)

    def test_struct_size_comes_first(self):
        found = list(headers.structs())
        self.assertGreaterEqual(len(found), 6, "the headers were not understood")
        for header, name, body in found:
            with self.subTest(name):
                self.assertRegex(body.strip(), r"^size_t struct_size;", f"{header}: {name}")

    def test_init_macros_set_the_size_and_zero_the_rest(self):
        program = ['#include "llmperf/sys.h"', "#include <string.h>"]
        for _, name, _ in headers.structs():
            program += [f"int check_{name}(void);", f"int check_{name}(void)", "{",
                        f"    {name} set = {name.upper()}_INIT, zero;",
                        "    memset(&zero, 0, sizeof(zero));", "    zero.struct_size = sizeof(zero);",
                        "    return memcmp(&set, &zero, sizeof(set)) != 0;", "}"]
        calls = " + ".join(f"check_{name}()" for _, name, _ in headers.structs())
        program += ["int main(void)", "{", f"    return {calls};", "}", ""]
        self.compiles(headers.CC, "c", "\n".join(program), C99)
        binary = os.path.join(self.folder.name, "init")
        status, messages = headers.run(headers.CC + [os.path.join(self.folder.name, "unit.o"), "-o", binary])
        self.assertEqual(status, 0, messages)
        self.assertEqual(headers.run([binary])[0], 0, "an _INIT macro leaves something other than zero behind struct_size")

    def test_init_macros_compile_as_cpp11(self):
        if not headers.CXX:
            self.skipTest("no C++ compiler")
        lines = [f"{name} x_{name} = {name.upper()}_INIT;" for _, name, _ in headers.structs()]
        self.compiles([headers.CXX], "c++", '#include "llmperf/sys.h"\n' + "\n".join(lines) + "\n", CPP11)

    def test_init_macros_need_no_change_when_a_struct_grows(self):
        for name in headers.header_names():
            for macro, value in re.findall(r"#define (LLMPERF_\w+_INIT)\s+((?:.*\\\n)*.*)", headers.header_text(name)):
                with self.subTest(macro):
                    self.assertRegex(value, r"^LLMPERF_INIT\(\w+\)$")

    def test_no_type_that_differs_between_compilers_or_languages(self):
        forbidden = r"\b(bool|_Bool|long|wchar_t|__int128|inline|va_list)\b|\.\.\.|^\s*\w[\w ]*\s+\w+\s*:\s*\d+;"
        for name in headers.header_names():
            with self.subTest(name):
                match = re.search(forbidden, headers.code_only(headers.header_text(name)), re.M)
                self.assertIsNone(match, match and f"{name}: {match.group(0)}")

    def test_enums_have_no_count_member(self):
        for name in headers.header_names():
            with self.subTest(name):
                self.assertNotRegex(headers.code_only(headers.header_text(name)), r"\bLLMPERF_\w*_(COUNT|MAX|LAST)\b")


if __name__ == "__main__":
    unittest.main()
