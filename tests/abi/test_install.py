#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Used from outside: as an installed library through pkg-config, shared and static, and as a meson subproject."""
import os
import shutil
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

PROGRAM = textwrap.dedent("""\
    #include <llmperf/llmperf.h>
    #include <string.h>

    int main(void)
    {
        llmperf_region_begin("LLM@prefill");
        llmperf_region_end();
        return strcmp(llmperf_version(), LLMPERF_VERSION_STRING) == 0 && llmperf_last_error() != NULL ? 0 : 1;
    }
    """)

MESON_BUILD = textwrap.dedent("""\
    project('engine', 'c', default_options: ['c_std=c99'])
    llmperf = dependency('llmperf', fallback: 'llmperf')
    executable('engine', 'engine.c', dependencies: llmperf)
    """)


class Outside(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(self.folder, "engine.c")
        self.binary = os.path.join(self.folder, "engine")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def ok(self, command, **options):
        status, output = headers.run(command, **options)
        self.assertEqual(status, 0, f"{command}\n{output}")
        return output


@unittest.skipUnless(headers.BUILD and shutil.which("meson"), "LLMPERF_BUILD is not set, or there is no meson")
class Installed(Outside):
    def setUp(self):
        super().setUp()
        self.ok(["meson", "install", "-C", headers.BUILD, "--no-rebuild", "--quiet", "--destdir", self.folder])
        found = [os.path.join(top, name) for top, _, names in os.walk(self.folder) for name in names if name == "llmperf.pc"]
        self.assertEqual(len(found), 1, "llmperf.pc is installed once")
        self.pc_folder = os.path.dirname(found[0])
        self.lib_folder = os.path.dirname(self.pc_folder)
        with open(found[0], encoding="utf-8") as file:
            prefix = next(line.split("=", 1)[1].strip() for line in file if line.startswith("prefix="))
        self.prefix = self.folder + prefix

    def pkg_config(self, *arguments):
        environment = {**os.environ, "PKG_CONFIG_PATH": self.pc_folder}
        return self.ok(["pkg-config", f"--define-variable=prefix={self.prefix}", *arguments, "llmperf"], env=environment).split()

    def test_a_program_builds_with_pkg_config_and_runs(self):
        self.ok(headers.CC + ["-std=c99", "-Wall", "-Werror", self.program, "-o", self.binary]
                + self.pkg_config("--cflags", "--libs"))
        self.ok([self.binary], env={**os.environ, "LD_LIBRARY_PATH": self.lib_folder})

    def test_the_tool_finds_its_library(self):
        tool = os.path.join(self.prefix, "bin", "llmperf")
        if not os.path.exists(tool):
            self.skipTest("built without tools")
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        self.ok([tool, "--version"], env=environment)

    def test_the_static_library_links_and_runs(self):
        # Not --libs --static: that is for static copies of what we need, too, and sqlite3's wants a zlib that need not be there.
        needed = [line.split()[0] for line in self.pkg_config("--print-requires-private")]
        libraries = ["-l:libllmperf.a" if word == "-lllmperf" else word for word in self.pkg_config("--libs")]
        libraries += self.ok(["pkg-config", "--libs", *needed]).split() + ["-lpthread", "-ldl", "-lm"]
        self.ok(headers.CC + [self.program, "-o", self.binary] + self.pkg_config("--cflags") + libraries)
        self.ok([self.binary])

    def test_library_and_python_package_stand_where_debian_looks(self):
        self.assertEqual(self.lib_folder, os.path.join(self.prefix, "lib"), "/usr/local/lib64 is on no search path")
        # As the build asked it: python3 of PATH, with its own idea of where packages are.
        searched = self.ok(["python3", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
        if not (self.folder + searched).startswith(self.prefix + "/"):
            self.skipTest(f"python3 looks into {searched}, outside of the prefix")
        self.assertTrue(os.path.exists(os.path.join(self.folder + searched, "llmperf", "__init__.py")), searched)

    def test_the_python_package_is_installed_whole(self):
        source = os.path.join(headers.SOURCE, "bindings/python/llmperf")
        installed = next((top for top, _, names in os.walk(self.folder) if "_library.py" in names), None)
        if not installed:
            self.skipTest("built without the Python package")
        wanted = sorted(name for name in os.listdir(source) if name.endswith((".py", "py.typed")))
        self.assertEqual(sorted(name for name in os.listdir(installed) if name != "__pycache__"), wanted)

    def test_headers_and_data_are_installed(self):
        for name in headers.header_names():
            self.assertTrue(os.path.exists(os.path.join(self.prefix, "include", "llmperf", name)), name)
        source = os.path.join(headers.SOURCE, "conf")
        for top, _, names in os.walk(source):
            for name in names:
                path = os.path.join(self.prefix, "share", "llmperf", os.path.relpath(os.path.join(top, name), source))
                self.assertEqual(os.path.exists(path), name != "meson.build", path)


@unittest.skipUnless(shutil.which("meson"), "there is no meson")
class Subproject(Outside):
    def test_a_meson_project_builds_with_it_and_runs(self):
        os.mkdir(os.path.join(self.folder, "subprojects"))
        os.symlink(headers.SOURCE, os.path.join(self.folder, "subprojects", "llmperf"))
        with open(os.path.join(self.folder, "meson.build"), "w", encoding="utf-8") as file:
            file.write(MESON_BUILD)
        build = os.path.join(self.folder, "build")
        # Only the subproject: an installed llmperf must not answer for it.
        self.ok(["meson", "setup", build, self.folder, "--buildtype=plain", "--wrap-mode=forcefallback",
                 "-Dllmperf:tests=disabled", "-Dllmperf:examples=disabled", "-Dllmperf:tools=disabled"])
        self.ok(["ninja", "-C", build, "engine"])
        self.ok([os.path.join(build, "engine")])


if __name__ == "__main__":
    unittest.main()
