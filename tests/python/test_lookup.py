# SPDX-License-Identifier: Apache-2.0
"""Finding the library; mostly in processes of their own, because a process loads it once."""
from __future__ import annotations

import os
import shutil
import unittest

import support

LIBRARY = os.environ.get("LLMPERF_LIBRARY", "")
MISSING = "/nonexistent/libllmperf.so"


class WithoutLibrary(support.TestCase):
    """LLMPERF_LIBRARY names a file that is not there."""

    def outcome(self, code: str) -> str:
        ended = support.child(f"import llmperf\n{code}", LLMPERF_LIBRARY=MISSING)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return ended.stdout.strip()

    def test_import_works_and_available_says_no(self) -> None:
        self.assertEqual(self.outcome("print(llmperf.available(), llmperf.available())"),
                         "False False")

    def test_first_use_says_what_was_tried(self) -> None:
        for use in ("llmperf.version()", "llmperf.region('x').__enter__()",
                    "llmperf.count(tokens=1)", "llmperf.prefill(1).__enter__()",
                    "llmperf.Session().start()", "llmperf.open('run')", "llmperf.doctor()"):
            said = self.outcome(f"try: {use}\nexcept ImportError as error: print(error)")
            self.assertIn(f"LLMPERF_LIBRARY={MISSING} cannot be loaded", said, use)

    def test_marking_and_decorating_work_until_the_region_opens(self) -> None:
        self.assertEqual(self.outcome("@llmperf.region('x')\ndef f(): pass\n"
                                      "llmperf.region('y', tokens=1)\nprint('ok')"), "ok")

    def test_a_body_is_not_entered_when_its_region_cannot_open(self) -> None:
        code = ("try:\n    with llmperf.region('x'): print('inside')\n"
                "except llmperf.LibraryNotFoundError: print('refused')")
        self.assertEqual(self.outcome(code), "refused")


class OtherFiles(support.TestCase):
    """Files that are not the library that the package needs."""

    def test_a_file_that_is_no_library_is_named(self) -> None:
        text = self.folder / "libllmperf.so"
        text.write_text("not a library")
        ended = support.child("import llmperf\ntry: llmperf.version()\n"
                              "except ImportError as error: print(error)",
                              LLMPERF_LIBRARY=str(text))
        self.assertIn(str(text), ended.stdout)

    def test_a_library_without_our_functions_is_refused(self) -> None:
        code = ("import _ctypes, os, llmperf\n"
                "os.environ['LLMPERF_LIBRARY'] = _ctypes.__file__\n"
                "try: llmperf.version()\n"
                "except ImportError as error: print(error)")
        ended = support.child(code)
        if "__file__" in ended.stdout:
            self.skipTest("this Python has _ctypes built in")
        self.assertIn("is not the version of this package", ended.stdout)


@unittest.skipUnless(LIBRARY, "set LLMPERF_LIBRARY")
class Places(support.TestCase):
    """The places beside LLMPERF_LIBRARY."""

    code = ("import os, llmperf._library as where\n"
            "where.library()\n"
            "print([os.path.dirname(os.path.realpath(line.split()[-1]))\n"
            "       for line in open('/proc/self/maps') if 'libllmperf' in line][0])")

    def folder_used(self, code: str, **environment: str) -> str:
        ended = support.child(code, LLMPERF_LIBRARY="", **environment)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return ended.stdout.strip()

    def test_beside_the_package(self) -> None:
        package = self.folder / "llmperf"
        shutil.copytree(support.SOURCE / "bindings/python/llmperf", package)
        shutil.copy(os.path.realpath(LIBRARY), package / "libllmperf.so")
        self.assertEqual(self.folder_used(self.code, PYTHONPATH=str(self.folder)),
                         os.path.realpath(package))

    def test_below_the_prefix_of_an_installed_package(self) -> None:
        packages = self.folder / "lib/python3/site-packages"
        shutil.copytree(support.SOURCE / "bindings/python/llmperf", packages / "llmperf")
        shutil.copy(os.path.realpath(LIBRARY), self.folder / "lib/libllmperf.so.0")
        self.assertEqual(self.folder_used(self.code, PYTHONPATH=str(packages)),
                         os.path.realpath(self.folder / "lib"))

    def test_on_the_library_path(self) -> None:
        shutil.copy(os.path.realpath(LIBRARY), self.folder / "libllmperf.so.0")
        self.assertEqual(self.folder_used(self.code, LD_LIBRARY_PATH=str(self.folder)),
                         os.path.realpath(self.folder))

    def test_a_copy_in_the_process_comes_before_all_places(self) -> None:
        injected = self.folder / "libllmperf.so"
        shutil.copy(os.path.realpath(LIBRARY), injected)
        used = self.folder_used(
            f"import ctypes, llmperf._library\nctypes.CDLL({str(injected)!r})\n"
            "llmperf._library._candidates = lambda: ['/asked/for/a/place']\n"
            f"{self.code}")
        self.assertEqual(used, os.path.realpath(self.folder))


if __name__ == "__main__":
    support.main()
