#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stable part of the built library against the stored dump of its binary interface: only functions, and fields
at the end of structs, may be new. Structs say their size, so programs do not notice these.

test_dump.py --renew: write the dump anew, from a debug build by gcc in LLMPERF_LIBRARY (abigail-tools of Debian 12).
"""
import gzip
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

DUMP = os.path.join(headers.SOURCE, "tests/data/abi/libllmperf.abi.gz")
# Types of other headers are behind pointers. (--headers-dir takes lib/session/session.h for llmperf/session.h.)
PRIVATE = "[suppress_type]\n  source_location_not_regexp = .*include/llmperf/[^/]*$\n  drop = yes\n"


# What abidiff says of a struct that grew at its end, besides size and offsets.
GROWTH = re.compile(r"$|Functions changes summary: 0 Removed|Variables changes summary: 0 Removed, 0 Changed|\d+ functions? with |\[C\] "
                    r"|(parameter \d+|return type|in |underlying type )?.*(has sub-type changes:|' changed:|indirect sub-type changes:)$"
                    r"|in (pointed to|unqualified underlying) type|\d+ data member insertions?:$")


def why_not():
    """What keeps the library from being compared; None: nothing."""
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        return "abidw and abidiff are not there (abigail-tools)"
    if os.uname().machine != "x86_64":
        return "the dump is of x86_64"
    if "gcc" not in os.path.basename(headers.CC[-1]):
        return "the dump is of a build by gcc"
    if ".debug_info" not in headers.run(["readelf", "-SW", headers.LIBRARY])[1]:
        return "LLMPERF_LIBRARY names no library with debug information"
    if ".gnu.debuglto" in headers.run(["readelf", "-SW", headers.LIBRARY])[1]:
        return "link-time optimisation leaves other debug information"
    return None


def dump(library, path, functions):
    with open(path + ".private", "w", encoding="utf-8") as file:
        file.write(PRIVATE)
    with open(path + ".functions", "w", encoding="utf-8") as file:
        file.write("[abi_whitelist]\n" + "".join(f"  {name}\n" for name in functions))
    status, output = headers.run(["abidw", "--suppressions", path + ".private", "--kmi-whitelist", path + ".functions",
                                  "--exported-interfaces-only", "--no-corpus-path",
                                  "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names", "--no-elf-needed",
                                  "--no-write-default-sizes", "--out-file", path, library])
    if status != 0:
        raise RuntimeError(f"abidw: {output}")


def only_grows(output):
    size = 0
    for line in output.split("\n"):
        grown = re.match(r"type size changed from (\d+) to \d+", line.strip())
        member = re.match(r"'.*', at offset (\d+) ", line.strip())
        size = int(grown[1]) if grown else size
        if not (grown or (member and int(member[1]) >= size > 0) or GROWTH.match(line.strip())):
            return False
    return size > 0


def changes(old, new):
    """What abidiff says of all that is not a new function or a field at the end of a struct; "": nothing."""
    status, output = headers.run(["abidiff", "--no-added-syms", old, new])
    if status == 0 or only_grows(output):
        return ""
    return output or f"abidiff: exit code {status}"


class Dump(unittest.TestCase):
    def setUp(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_the_library_keeps_the_stored_interface(self):
        dump(headers.LIBRARY, self.path("new.abi"), headers.map_nodes()["LLMPERF_0"])
        with gzip.open(DUMP) as packed, open(self.path("old.abi"), "wb") as file:
            file.write(packed.read())
        self.assertEqual(changes(self.path("old.abi"), self.path("new.abi")), "",
                         "CONTRIBUTING.md (A new function of the public API) says how to renew the dump")

    def made(self, name, fields="int a; long b;", second="int", functions="f g", hidden="int c;"):
        """The dump of a small library."""
        include = self.path(name + "/include/llmperf")
        os.makedirs(include)
        with open(os.path.join(include, "api.h"), "w", encoding="utf-8") as file:
            file.write(f"typedef struct thing {{ {fields} }} thing;\ntypedef struct secret secret;\nint know(secret *it);\n")
            file.writelines(f"int {function}(const thing *it, {second} x);\n" for function in functions.split())
        with open(os.path.join(include, "api.c"), "w", encoding="utf-8") as file:
            file.write('#include "api.h"\n#include "' + self.path(name + "/hidden.h") + '"\nint know(secret *it) { return it->c; }\n')
            file.writelines(f"int {function}(const thing *it, {second} x) {{ return it->a + (int)x; }}\n"
                            for function in functions.split())
        with open(self.path(name + "/hidden.h"), "w", encoding="utf-8") as file:
            file.write(f"struct secret {{ {hidden} }};\n")
        library = os.path.join(include, "lib.so")
        status, output = headers.run(headers.CC + ["-g", "-shared", "-fPIC", os.path.join(include, "api.c"), "-o", library])
        self.assertEqual(status, 0, output)
        dump(library, self.path(name + ".abi"), ["know"] + functions.split())
        return self.path(name + ".abi")

    def test_changes_that_a_program_would_notice_are_found(self):
        old = self.made("old")
        for name, change in (("gone", {"functions": "f"}), ("order", {"fields": "long b; int a;"}),
                             ("wider", {"fields": "long a; long b;"}), ("between", {"fields": "int a; int c; int d; long b;"}),
                             ("removed", {"fields": "int a;"}), ("both", {"fields": "int a; double b; long c;"}),
                             ("moved", {"fields": "long b; int a; long c;"}),
                             ("argument", {"second": "double"})):
            self.assertNotEqual(changes(old, self.made(name, **change)), "", name)

    def test_new_functions_last_fields_and_private_structs_are_no_change(self):
        old = self.made("old")
        for name, change in (("same", {}), ("function", {"functions": "f g h"}),
                             ("last", {"fields": "int a; long b; long c;"}), ("private", {"hidden": "long d; int c;"})):
            self.assertEqual(changes(old, self.made(name, **change)), "", name)


def renew():
    reason = why_not()
    if reason:
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "new.abi")
        dump(headers.LIBRARY, path, headers.map_nodes()["LLMPERF_0"])
        with open(path, "rb") as file, open(DUMP, "wb") as out:
            with gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=9, mtime=0) as packed:
                packed.write(file.read())


if __name__ == "__main__":
    if sys.argv[1:] == ["--renew"]:
        renew()
    else:
        unittest.main()
