#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how easy the code is to find one's way in and to change, and compares it with targets.

house.py               what can be counted in the sources
house.py BUILD         the same and what must be run: what one changed line builds, how long the tests take, how often a report reads
                       each file of conf/ (needs strace). Takes minutes; nothing else should run meanwhile
house.py --self-test   plant faults and see that each is found

Prints a table; a measure without a target is for information. Exit 1 if a target is missed."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

import include_rules

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDING = "tests/data/h200/engine/tensor_0.llmrec"
NO_LEVELS = ("tests/data/",)  # samples, a folder for each format or machine they come from
FUNCTION = re.compile(r"^\{\n(.*?)^\}$", re.M | re.S)  # clang-format puts both braces into the first column
SYMBOL = re.compile(r"^ {8}(llmperf_\w+);$", re.M)
NODE = re.compile(r"^(LLMPERF_\w+) \{(.*?)^\}", re.M | re.S)
STEP = re.compile(r"^\[\d+/\d+\] (Compiling|Linking|Generating)", re.M)


class Measure:
    def __init__(self, name, value, most=None, note=""):
        self.name, self.value, self.most, self.note = name, value, most, note

    @property
    def missed(self):
        return self.most is not None and self.value is not None and self.value > self.most


# What the sources say: {path: text}


def most_files(texts):
    levels = Counter(os.path.dirname(path) for path in texts if not path.startswith(NO_LEVELS))
    folder, count = max(levels.items(), key=lambda level: (level[1], level[0]))
    return Measure("files of the largest folder level", count, 45, folder)


def function_counts(texts):
    nodes = {name: len(SYMBOL.findall(body)) for name, body in NODE.findall(texts.get("lib/llmperf.map", ""))}
    return [Measure("stable functions (node LLMPERF_0)", nodes.get("LLMPERF_0", 0), 95),
            Measure("functions of the command line (node LLMPERF_SYS)", nodes.get("LLMPERF_SYS", 0))]


def included(path, text, texts):
    """Files of the tree that a file includes."""
    for quoted, _ in include_rules.INCLUDE.findall(text):
        for other in (quoted, "include/" + quoted):
            if other in texts and other != path:
                yield other


def circles(graph):
    """Files that include themselves over others."""
    found = set()
    for start in graph:
        seen, waiting = set(), list(graph[start])
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting.extend(graph.get(path, ()))
        if start in seen:
            found.add(start)
    return sorted(found)


def include_measures(library, texts):
    graph = {path: set(included(path, text, texts)) for path, text in library.items()}
    upward = [f"{path} {quoted}" for path, text in library.items() for quoted, _ in include_rules.INCLUDE.findall(text)
              if quoted and include_rules.library_fault(os.path.dirname(path)[len("lib/"):], quoted)]
    round_about = circles(graph)
    users = defaultdict(set)
    for path, others in graph.items():
        for other in others:
            if other.endswith(".h") and os.path.splitext(other)[0] != os.path.splitext(path)[0]:
                users[other].add(path)
    headers = [path for path in library if path.endswith(".h")]
    single = [path for path in headers if len(users[path]) == 1]
    return [Measure("includes of lib that run upward", len(upward), 0, upward[0] if upward else ""),
            Measure("files of lib in circles of includes", len(round_about), 0, round_about[0] if round_about else ""),
            Measure("headers of lib that serve one other file", len(single), None, f"of {len(headers)}")]


def size_measures(library):
    functions = [(body.count("\n"), path) for path, text in library.items() for body in FUNCTION.findall(text)]
    files = [(text.count("\n"), path) for path, text in library.items()]
    longest, file = max(functions, default=(0, "")), max(files, default=(0, ""))
    short = sum(lines <= 5 for lines, _ in functions)
    folders = Counter()
    for lines, path in files:
        folders[path.split("/")[1]] += lines
    return [Measure("lines of the longest function of lib", longest[0], 80, longest[1]),
            Measure("lines of the longest file of lib", file[0], 700, file[1]),
            Measure("functions of lib with at most 5 lines", short, None, f"of {len(functions)}"),
            Measure("lines of lib", sum(folders.values()), None,
                    ", ".join(f"{folder} {lines}" for folder, lines in folders.most_common()))]


def source_measures(texts):
    library = {path: text for path, text in texts.items() if path.startswith("lib/") and path.endswith((".c", ".h"))}
    return [most_files(texts)] + function_counts(texts) + include_measures(library, texts) + size_measures(library)


def read_tree(root):
    texts = {}
    for path in include_rules.list_files(root):
        if os.path.isfile(os.path.join(root, path)):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                texts[path] = file.read() if path.startswith(("lib/", "include/")) else ""
    return texts


# What must be run


def run(command, **options):
    """Output and CPU seconds of a command that must succeed; the compiler cache is off, so that all work is seen."""
    environment = dict(os.environ, CCACHE_DISABLE="1", LC_ALL="C", **options)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def steps(output):
    """What ninja says that it did: (compile steps, links). An nvcc program that is "generated" counts as compiled."""
    words = Counter(STEP.findall(re.sub(r".*Generating symbol file.*\n?", "", output)))
    return words["Compiling"] + words["Generating"], words["Linking"]


def change(build, path):
    """Steps and CPU seconds of a build after a change of one file."""
    run(["ninja", "-C", build])
    os.utime(os.path.join(ROOT, path))
    output, seconds = run(["ninja", "-C", build])
    return steps(output) + (round(seconds, 1),)


def common_header(texts):
    """The header of lib that has as many users as half of the headers have at most."""
    users = Counter(other for path, text in texts.items() if path.startswith("lib/") for other in included(path, text, texts))
    headers = sorted((users[path], path) for path in texts if path.startswith("lib/") and path.endswith(".h"))
    return headers[len(headers) // 2][1]


def build_measures(build, texts):
    source, header = "lib/profile/totals.c", common_header(texts)
    compiled, links, seconds = change(build, source)
    header_compiled, header_links, header_seconds = change(build, header)
    return [Measure("links after one changed line of lib", links, 5, source),
            Measure("compile steps after it", compiled, 5), Measure("CPU seconds after it", seconds, 10),
            Measure("links after a change of a header", header_links, None, header),
            Measure("compile steps after it", header_compiled), Measure("CPU seconds after it", header_seconds)]


def opened(trace, folder):
    """{file: how often it was opened}, of strace's lines."""
    names = re.findall(r'open(?:at)?\([^"]*"([^"]+)"[^=]*= \d+', trace)
    paths = [os.path.realpath(name) for name in names]
    return Counter(os.path.relpath(path, folder) for path in paths if path.startswith(folder + os.sep) and os.path.isfile(path))


def conf_measures(build):
    """Reads by an import: of the report that it writes once the recording is played, and of all that it does."""
    names = "times one report reads a file of conf", "times an import reads a file of conf, with its session"
    if not shutil.which("strace"):
        return [Measure(names[0], None, 1, "not measured: install strace"), Measure(names[1], None)]
    conf, recording = os.path.realpath(os.path.join(ROOT, "conf")), os.path.join(ROOT, RECORDING)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        run(["strace", "-f", "-e", "trace=open,openat", "-s", "4096", "-o", trace, os.path.join(build, "tools/llmperf"), "import",
             "--model", os.path.join(ROOT, "tests/data/model/deepseek_ocr.json"), "--dtype", "bf16", "-o", os.path.join(folder, "run"),
             recording], LLMPERF_CONFIG_DIR=conf)
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = file.read()
    parts = lines[lines.rindex(f'"{recording}"'):], lines
    times = [opened(part, conf) for part in parts]
    if not times[0]:
        sys.exit("the report reads no file of conf: what is measured here has changed")
    return [Measure(name, max(found.values()), most, ", ".join(f"{path} {count}" for path, count in found.most_common(3)))
            for name, most, found in zip(names, (1, None), times)]


def test_measures(build):
    def seconds(*suites):
        begin = time.monotonic()
        run(["meson", "test", "-C", build, "--no-rebuild"] + list(suites))
        return round(time.monotonic() - begin)
    quick = seconds("--suite", "unit", "--suite", "flow")
    rest = seconds(*[word for suite in ("unit", "flow", "gpu") for word in ("--no-suite", suite)])
    cores = f"{os.cpu_count()} cores"
    return [Measure("seconds of the unit and flow tests", quick, 60, cores), Measure("seconds of all tests without a GPU", quick + rest, 150, cores)]


def show(measures):
    rows = [(m.name, "-" if m.value is None else str(m.value), "" if m.most is None else f"<= {m.most}",
             "" if m.most is None or m.value is None else "NO" if m.missed else "yes", m.note) for m in measures]
    rows.insert(0, ("measure", "value", "target", "ok", ""))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), row[1].rjust(widths[1])] + [row[i].ljust(widths[i]) for i in (2, 3)] + [row[4]]).rstrip())
    missed = sum(m.missed for m in measures)
    print(f"{missed} of {sum(m.most is not None for m in measures)} targets missed")
    return 1 if missed else 0


# Faults


def planted():
    """(files, the measure that they miss)"""
    many = {f"lib/base/f{i}.c": "" for i in range(46)}
    symbols = "".join(f"        llmperf_f{i};\n" for i in range(96))
    around = {"lib/base/a.h": '#include "lib/base/b.h"\n', "lib/base/b.h": '#include "lib/base/a.h"\n'}
    return [(many, "files of the largest folder level"),
            ({"lib/llmperf.map": "LLMPERF_0 {\n    global:\n" + symbols + "};\n"}, "stable functions (node LLMPERF_0)"),
            ({"lib/base/a.c": '#include "lib/record/names.h"\n'}, "includes of lib that run upward"),
            (around, "files of lib in circles of includes"),
            ({"lib/base/a.c": "void f(void)\n{\n" + "    g();\n" * 81 + "}\n"}, "lines of the longest function of lib"),
            ({"lib/base/a.c": "\n" * 701}, "lines of the longest file of lib")]


CLEAN = {"lib/base/a.c": '#include "lib/base/a.h"\nvoid f(void)\n{\n    g();\n}\n', "lib/base/a.h": "", "lib/base/b.c": '#include "lib/base/a.h"\n',
         "lib/llmperf.map": "LLMPERF_0 {\n    global:\n        llmperf_f;\n};\n\nLLMPERF_SYS {\n    global:\n        llmperf_g;\n} LLMPERF_0;\n"}
NINJA = ("[1/5] Compiling C object lib/a.o\n[2/5] Linking target lib/a.so\n[3/5] Generating symbol file lib/a.symbols\n"
         "[4/5] Linking static target lib/a.a\n[5/5] Generating tests/a.o with a custom command\n")


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        path = os.path.join(folder, "a.yaml")
        with open(path, "w", encoding="utf-8"):
            pass
        trace = f'1 openat(AT_FDCWD, "{path}", O_RDONLY) = 3\n2 open("{path}", O_RDONLY) = 4\n1 openat(AT_FDCWD, "{path}.no", O_RDONLY) = -1 ENOENT\n'
        checks = [(f"{name} is missed", [name], [m.name for m in source_measures(files) if m.missed]) for files, name in planted()]
        clean = {m.name: m.value for m in source_measures(CLEAN)}
        checks += [("a clean tree misses nothing", [], [m.name for m in source_measures(CLEAN) if m.missed]),
                   ("functions of both nodes are counted", (1, 1), (clean["stable functions (node LLMPERF_0)"],
                                                                    clean["functions of the command line (node LLMPERF_SYS)"])),
                   ("a header with one user is counted", 1, clean["headers of lib that serve one other file"]),
                   ("steps are counted, symbol files are none", (2, 2), steps(NINJA)),
                   ("files are counted each time they are opened", {"a.yaml": 2}, dict(opened(trace, folder)))]
    wrong = [f"{what}: expected {expected}, found {found}" for what, expected, found in checks if expected != found]
    print("".join(line + "\n" for line in wrong) + f"{len(checks) - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or (arguments and not os.path.isfile(os.path.join(arguments[0], "build.ninja"))):
        print(__doc__, file=sys.stderr)
        return 2
    texts = read_tree(ROOT)
    measures = source_measures(texts)
    if arguments:
        build = os.path.abspath(arguments[0])
        measures += build_measures(build, texts) + conf_measures(build) + test_measures(build)
    return show(measures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
