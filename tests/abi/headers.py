# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: the public headers, the compilers, a way to run a command."""
import os
import re
import shlex
import shutil
import subprocess

SOURCE = os.environ.get("LLMPERF_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(SOURCE, "include")
LIBRARY = os.environ.get("LLMPERF_LIBRARY", "")
BUILD = os.environ.get("LLMPERF_BUILD", "")
CC = shlex.split(os.environ.get("CC", "cc"))
# The C++ compiler beside the C compiler of the build, else any.
CXX = next((name for name in ("clang++" if "clang" in CC[-1] else "g++", "c++", "g++", "clang++") if shutil.which(name)), None)


def header_names():
    """Public headers below include/llmperf, those of sys/ last."""
    folder = os.path.join(INCLUDE, "llmperf")
    return [prefix + name for prefix in ("", "sys/") for name in sorted(os.listdir(os.path.join(folder, prefix))) if name.endswith(".h")]


def is_sys(name):
    """Does this header come without a promise?"""
    return name.startswith("sys")


def header_text(name):
    with open(os.path.join(INCLUDE, "llmperf", name), encoding="utf-8") as file:
        return file.read()


def code_only(text):
    """The text without comments and preprocessor lines; line numbers do not survive."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = text.replace("\\\n", " ")
    return re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)


def map_nodes():
    """{node of lib/llmperf.map: [function]}"""
    with open(os.path.join(SOURCE, "lib", "llmperf.map"), encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    return {node: [name for name in re.findall(r"(\w+);", re.sub(r"local:\s*\*;", "", body))]
            for node, body in re.findall(r"(\w+) \{(.*?)\};", text, re.S)}


def structs():
    """(header, name, body) of each public struct that users can see into."""
    for name in header_names():
        for match in re.finditer(r"typedef struct (\w+) \{(.*?)\} (\w+);", code_only(header_text(name)), re.S):
            yield name, match.group(3), match.group(2)


def run(command, **options):
    """(exit status, output of both kinds)"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def compile_text(compiler, language, text, flags, folder):
    """Compile a text without linking; (exit status, messages)."""
    source = os.path.join(folder, "unit." + ("cpp" if language == "c++" else "c"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    return run(compiler + ["-I" + INCLUDE, "-c", "-o", os.path.join(folder, "unit.o"), source] + flags)
