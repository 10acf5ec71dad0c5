#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the rules of docs/explanation/architecture.md: who may include whom, an SPDX line in each source, no path of a developer's machine.

include_rules.py [ROOT]       check the tree; prints each fault as FILE:LINE: what is wrong, exit 1 if there was one
include_rules.py --self-test  plant each kind of fault and see that it is found
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch

# lib/meson.build lists the folders of lib/ from the lowest to the highest; a folder includes itself and those listed before it.
LEVELS = re.compile(r"foreach folder : \[(.*?)\]", re.S)


def levels(root):
    with open(os.path.join(root, "lib/meson.build"), encoding="utf-8") as file:
        found = LEVELS.search(file.read())
    return re.findall(r"'([^']+)'", found.group(1)) if found else []


FOLDERS = levels(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# Each third-party header stands in these files and nowhere else, and never in a header of ours (tests are free).
THIRD_PARTY = {
    "yaml.h":          ["lib/base/yaml_tree.c"],
    "zlib.h":          ["lib/sources/kineto/input.c"],
    "jansson.h":       ["lib/findings/limits/facts.c", "lib/sources/kineto/json.c", "lib/sources/kineto/origin.c", "lib/output/*.c", "lib/compare/*.c", "lib/store/merge_gpus.c", "lib/store/merge_kept.c", "lib/store/merge_processes.c",
                         "lib/machine/environment.c", "lib/vendor/import/provenance.c", "lib/machine/doctor.c", "lib/trace/export/clocks.c", "lib/trace/export/export.c", "tools/llmperf/*.c"],
    "sqlite3.h":       ["lib/base/open_sqlite.c", "lib/store/*_sqlite.c", "lib/trace/nsys_sqlite.c", "lib/vendor/database_sqlite.c"],
    "nvtx3/*":         ["lib/regions/nvtx_*.c"],
    "cupti*.h":        ["lib/cupti/*.c", "lib/sources/cupti/*.c", "lib/counters/*.c"],
    "generated_cuda*": ["lib/cupti/*.c", "lib/sources/cupti/*.c", "lib/counters/*.c"],
    "cublasLt.h":      ["lib/measure/blaslt_check.c", "examples/*.cu"],
    "mma.h":           ["examples/*.cu"],
    "png.h":           ["examples/*.c"],
    "jpeglib.h":       ["examples/*.c"],
    "whisper.h":       ["examples/whisper_profile/*.cpp"],
    "cuda*.h":         ["lib/cupti/*.c", "lib/sources/cupti/*.c", "lib/counters/*.c",
                        "examples/*.cu", "examples/*.cuh"],
}

# Headers of C and of POSIX/Linux. Whatever stands in neither table is a dependency that nobody decided on.
PUBLIC_STANDARD = {"stddef.h", "stdint.h"}
CPP_STANDARD = {"stdexcept", "string"}
STANDARD = PUBLIC_STANDARD | {
    "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h",
    "stdarg.h", "stdalign.h", "stdatomic.h", "stdbool.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "time.h",
    "dirent.h", "dlfcn.h", "elf.h", "fcntl.h", "fnmatch.h", "ftw.h", "getopt.h", "glob.h", "libgen.h", "link.h", "poll.h",
    "pthread.h", "regex.h", "sched.h", "semaphore.h", "spawn.h", "strings.h", "termios.h", "unistd.h", "wchar.h", "cxxabi.h",
    "linux/*.h", "sys/*.h",
    # C++ and device code of the examples
    "algorithm", "chrono", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "map", "memory", "stdexcept", "string",
    "vector", "x86intrin.h",
}

SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_FILES = ["*.c", "*.h", "*.hpp", "*.cu", "*.cuh", "*.cpp", "*.py", "*.sh", "*.yaml", "*.yml", "meson.build", "*/meson.build",
              "meson_options.txt", ".ci/run", "tools/dev/*"]
SPDX_EXCEPT = ["tests/data/*", "examples/data/*"]

# Written in pieces, so that this file does not hold what it forbids.
FORBIDDEN = [re.compile("/wo" + r"rk/(?:main|shared|\.)"), re.compile("/ro" + "ot/"), re.compile("/ho" + r"me/[a-z]"),
             re.compile("/Us" + r"ers/[A-Za-z]"), re.compile("/bash_" + "jobs")]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def matches(name, patterns):
    return any(fnmatch(name, pattern) for pattern in patterns)


def third_party_pattern(header):
    return next((pattern for pattern in THIRD_PARTY if fnmatch(header, pattern)), None)


def system_fault(path, header):
    """What is wrong with `#include <header>` in path, or None."""
    pattern = third_party_pattern(header)
    if pattern:
        if path.endswith(".h"):
            return f"<{header}>: a header of ours shows no third-party header"
        if not matches(path, THIRD_PARTY[pattern]):
            return f"<{header}> stands only in {', '.join(THIRD_PARTY[pattern])}"
        return None
    if path.startswith("include/"):
        if path.endswith(".hpp"):
            return None if header in CPP_STANDARD else f"<{header}>: llmperf.hpp includes llmperf.h, stdexcept and string only"
        return None if header in PUBLIC_STANDARD else f"<{header}>: public headers include llmperf/*.h, stddef.h and stdint.h only"
    if header.startswith("llmperf/"):
        return f"<{header}>: our headers are included with quotes"
    if not matches(header, STANDARD):
        return f"<{header}> is neither a standard header nor a known dependency (see the tables of tests/include_rules.py)"
    return None


def library_fault(folder, header):
    """What is wrong with `#include "header"` in lib/<folder>/, or None."""
    if folder not in FOLDERS:
        return f"lib/{folder} is not in the list of lib/meson.build"
    if header.startswith("llmperf/"):
        return None
    if not header.startswith("lib/") or header.count("/") < 2:
        return f'"{header}": internal includes carry the full path ("lib/{folder}/...")'
    other = os.path.dirname(header)[len("lib/"):]
    if other not in FOLDERS[:FOLDERS.index(folder) + 1]:
        return f'"{header}": lib/{folder} may not include lib/{other} (lib/meson.build lists the folders from the lowest to the highest)'
    return None


def quoted_fault(path, header):
    """What is wrong with `#include "header"` in path, or None."""
    top = path.split("/")[0]
    if top == "lib":
        return library_fault(os.path.dirname(path)[len("lib/"):], header)
    if top == "include":
        if path.count("/") == 2 and header.startswith("llmperf/sys/") and path != "include/llmperf/sys.h":
            return f'"{header}": a stable header includes no header of llmperf/sys/'
        return None if header.startswith("llmperf/") else f'"{header}": public headers include llmperf/*.h only'
    if header.startswith(("lib/", "../")):
        return f'"{header}": {top}/ uses the public headers (llmperf/*.h) only'
    return None


def include_faults(path, text):
    if not path.startswith(("lib/", "include/", "tools/", "examples/")):
        return
    for match in INCLUDE.finditer(text):
        quoted, system = match.groups()
        fault = quoted_fault(path, quoted) if quoted else system_fault(path, system)
        if quoted and third_party_pattern(quoted):
            fault = system_fault(path, quoted)
        if fault:
            yield text.count("\n", 0, match.start()) + 1, "include " + fault


# The environment is read in one place, which ignores it in programs with more rights than their user has.
GETENV = re.compile(r"\b(?:secure_|__secure_)?getenv\s*\(")
GETENV_FILE = "lib/base/variable.c"


def variable_faults(path, text):
    if path.startswith("lib/") and path != GETENV_FILE:
        for match in GETENV.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, f"getenv() stands only in {GETENV_FILE}: use lp_variable()"


# Files are created in one place, which follows no link. The others: the claim of a run (exclusive), and files that users name.
CREATE = re.compile(r'\bfopen\s*\([^;]*"[wa][^"]*"|\bO_CREAT\b|\bSQLITE_OPEN_CREATE\b|\bcreat\s*\(')
CREATORS = {"lib/base/file.c", "lib/session/run_claim.c", "lib/output/run_dir/artifacts.c", "lib/trace/out_file.c", "lib/sources/replay/recording.c",
            "tools/llmperf/folder.c", "tools/llmperf/vendor_run.c"}


def creation_faults(path, text):
    if path.startswith(("lib/", "tools/")) and path not in CREATORS:
        for match in CREATE.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, "files are created by lib/base/file.c (tools: folder_new_file()), which follows no link"


def spdx_faults(path, text):
    if not matches(path, SPDX_FILES) or matches(path, SPDX_EXCEPT):
        return
    lines = text.split("\n", 2)
    first = 1 if lines[0].startswith("#!") else 0
    if len(lines) <= first or SPDX not in lines[first]:
        yield first + 1, f"line {first + 1} must hold {SPDX}"


def word_faults(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        for word in FORBIDDEN:
            match = word.search(line)
            if match:
                yield number, f"a path of somebody's machine: {match.group(0)}"


def faults(path, text):
    for check in (include_faults, variable_faults, creation_faults, spdx_faults, word_faults):
        for line, message in check(path, text):
            yield f"{path}:{line}: {message}"


def document_faults(text):
    """docs/explanation/architecture.md says what each folder of lib/ holds."""
    for folder in FOLDERS:
        if f"`lib/{folder}/`" not in text:
            yield f"docs/explanation/architecture.md: no row for `lib/{folder}/`"


def list_files(root):
    """What belongs to the repository; where there is no git, what .gitignore does not name."""
    git = None
    if shutil.which("git"):
        git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True)
    if git and git.returncode == 0:
        return sorted(name for name in git.stdout.decode().split("\0") if name)
    with open(os.path.join(root, ".gitignore"), encoding="utf-8") as file:
        patterns = [".git"] + [line.strip().rstrip("/") for line in file]
    found = []
    for folder, folders, files in os.walk(root):
        inside = "/" + os.path.relpath(folder, root) + "/" if folder != root else "/"
        folders[:] = [name for name in folders if not is_ignored(inside + name, patterns)]
        found += [(inside + name)[1:] for name in files if not is_ignored(inside + name, patterns)]
    return sorted(found)


def is_ignored(path, patterns):
    """A pattern with a slash at its front is of the whole path from the root, another one of the name alone."""
    return any(fnmatch(path if pattern.startswith("/") else path.rsplit("/", 1)[1], pattern) for pattern in patterns)


def check_list_without_git():
    """Files of a tree that git does not know: 0, or 1 with a message."""
    with tempfile.TemporaryDirectory() as root:
        for name in ("lib/base/x.c", "lib/runs/x.c", "runs/x/report.md", "build-a/x.c", "lib/__pycache__/x.c", "lib/x.pyc"):
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            open(os.path.join(root, name), "w", encoding="utf-8").close()
        with open(os.path.join(root, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("/build*/\n__pycache__/\n*.pyc\n/runs/\n")
        found = list_files(root)
    if found == [".gitignore", "lib/base/x.c", "lib/runs/x.c"]:
        return 0
    print(f"WRONGLY LISTED without git: {found}")
    return 1


def check_tree(root):
    found, sources = [], 0
    for path in list_files(root):
        full = os.path.join(root, path)
        if not os.path.isfile(full):
            continue  # deleted, not yet committed
        with open(full, "rb") as file:
            content = file.read()
        sources += matches(path, ["*.c", "*.h"])
        text = content.decode("utf-8", "replace")  # recordings and other binary data hold text, too
        found += faults(path, text)
        if path == "docs/explanation/architecture.md":
            found += document_faults(text)
    if sources < 10:
        found.append(f"{root}: only {sources} C files found; is this the source tree?")
    for fault in found:
        print(fault)
    print(f"{sources} C files, {len(found)} faults")
    return 1 if found else 0


C_LINE = f"/* {SPDX} */\n"
PLANTED = [  # path, text, a part of the fault that must be found
    ("lib/base/x.c", C_LINE + '#include "lib/record/names.h"\n', "may not include lib/record"),
    ("lib/record/x.c", C_LINE + '#include "lib/regions/capture.h"\n', "may not include lib/regions"),
    ("lib/regions/x.c", C_LINE + '#include "lib/attribution/attribution.h"\n', "may not include lib/attribution"),
    ("lib/attribution/x.c", C_LINE + '#include "lib/profile/profile.h"\n', "may not include lib/profile"),
    ("lib/output/md/x.c", C_LINE + '#include "lib/output/html/svg.h"\n', "may not include lib/output/html"),
    ("lib/profile/x.c", C_LINE + '#include "histogram.h"\n', "full path"),
    ("lib/profile/x.c", C_LINE + '#include "../base/text.h"\n', "full path"),
    ("lib/profile/x.c", C_LINE + "#include <sqlite3.h>\n", "stands only in lib/base/open_sqlite.c"),
    ("lib/profile/x.c", C_LINE + '#include "sqlite3.h"\n', "stands only in lib/base/open_sqlite.c"),
    ("lib/profile/x.h", C_LINE + "#include <sqlite3.h>\n", "shows no third-party header"),
    ("lib/config/x.c", C_LINE + "#  include <yaml.h>\n", "stands only in lib/base/yaml_tree.c"),
    ("lib/session/session.c", C_LINE + "#include <jansson.h>\n", "stands only in"),
    ("lib/regions/regions.c", C_LINE + "#include <nvtx3/nvToolsExt.h>\n", "stands only in lib/regions/nvtx_"),
    ("lib/regions/regions.c", C_LINE + "#include <cupti.h>\n", "stands only in"),
    ("lib/base/x.c", C_LINE + "#include <cuda.h>\n", "stands only in"),
    ("lib/base/x.c", C_LINE + "#include <curl/curl.h>\n", "nor a known dependency"),
    ("lib/nonsense/x.c", C_LINE + '#include "lib/base/text.h"\n', "not in the list"),
    ("include/llmperf/x.h", C_LINE + "#include <stdbool.h>\n", "public headers include"),
    ("include/llmperf/x.h", C_LINE + "#include <string>\n", "public headers include"),
    ("include/llmperf/x.hpp", C_LINE + "#include <iostream>\n", "llmperf.hpp includes llmperf.h, stdexcept and string only"),
    ("include/llmperf/x.h", C_LINE + "#include <jansson.h>\n", "shows no third-party header"),
    ("include/llmperf/x.h", C_LINE + '#include "lib/base/text.h"\n', "public headers include"),
    ("include/llmperf/x.h", C_LINE + '#include "llmperf/sys/config.h"\n', "no header of llmperf/sys/"),
    ("tools/llmperf/x.c", C_LINE + '#include "lib/base/text.h"\n', "public headers (llmperf/*.h) only"),
    ("tools/llmperf/x.c", C_LINE + "#include <sqlite3.h>\n", "stands only in"),
    ("examples/demo/x.c", C_LINE + '#include "../../lib/base/text.h"\n', "public headers (llmperf/*.h) only"),
    ("lib/regions/x.c", C_LINE + 'const char *home = getenv("HOME");\n', "lp_variable()"),
    ("lib/base/x.c", C_LINE + 'const char *home = secure_getenv ("HOME");\n', "lp_variable()"),
    ("lib/session/x.c", C_LINE + 'file = fopen(path, "wbe");\n', "follows no link"),
    ("tools/llmperf/x.c", C_LINE + "fd = open(path, O_WRONLY | O_CREAT, 0666);\n", "follows no link"),
    ("lib/base/x.c", "int x;\n", "line 1 must hold"),
    ("tests/x.sh", "#!/bin/sh\nset -e\n", "line 2 must hold"),
    ("conf/model/x.yaml", "a: 1\n", "line 1 must hold"),
    ("lib/meson.build", "x = 1\n", "line 1 must hold"),
    ("docs/x.md", "see /wo" + "rk/main/lib\n", "somebody's machine"),
    ("tests/data/x.json", '{"cwd": "/ho' + 'me/jane/engine"}\n', "somebody's machine"),
]
CLEAN = [
    ("lib/store/read_sqlite.c", C_LINE + '#include <sqlite3.h>\n#include "lib/base/text.h"\n#include "llmperf/profile.h"\n'),
    ("lib/regions/nvtx_out.c", C_LINE + "#include <nvtx3/nvToolsExt.h>\n#include <dlfcn.h>\n"),
    ("lib/sources/cupti/device_cupti.c", C_LINE + '#include <cupti.h>\n#include "lib/record/names.h"\n'),
    ("lib/session/session.c", C_LINE + '#include "lib/profile/profile.h"\n#include "llmperf/session.h"\n'),
    ("lib/base/variable.c", C_LINE + 'const char *home = secure_getenv("HOME");\n'),
    ("lib/vendor/x.c", C_LINE + 'file = fopen(path, "rbe");\n'),
    ("tools/llmperf/main.c", C_LINE + '#include "llmperf/llmperf.h"\n#include "commands.h"\n#include <stdio.h>\n'),
    ("include/llmperf/x.h", C_LINE + '#include <stdint.h>\n#include "llmperf/api.h"\n'),
    ("tests/unit/test_x.c", C_LINE + '#include <sqlite3.h>\n#include "lib/statistics/histogram.h"\n'),
    ("tests/x.sh", f"#!/bin/sh\n# {SPDX}\n"),
    ("docs/x.md", "framework, network/main, the rootless home\n"),
]


def self_test():
    failed = 0
    for path, text, expected in PLANTED:
        found = list(faults(path, text))
        if not any(expected in fault for fault in found):
            print(f"NOT FOUND in {path}: {expected} (found: {found})")
            failed += 1
    for path, text in CLEAN:
        found = list(faults(path, text))
        if found:
            print(f"WRONGLY FOUND: {found}")
            failed += 1
    if len(list(document_faults("| `lib/base/` | text |"))) != len(FOLDERS) - 1:
        print("NOT FOUND: rows that docs/explanation/architecture.md lacks")
        failed += 1
    failed += check_list_without_git()
    print(f"{len(PLANTED) + len(CLEAN) + 2 - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(check_tree(arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
