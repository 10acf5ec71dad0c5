#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plant small faults in the library, one at a time, and see whether a test notices each.

    tests/mutants.py                     all faults of tests/mutants.txt
    tests/mutants.py 3 10-20 "json"      by number, range, or part of the name
    tests/mutants.py --check             only: is the old text of each fault there exactly once?
    tests/mutants.py --patience 10       leave out tests that take longer, by the map, unless the list names them
    tests/mutants.py --map               learn which test reaches which function (needs clang and llvm-profdata)

It works on a copy of the tree below --work (build-tests/mutants), never on the tree itself. For each fault it builds and runs the
tests named in the list first, then the others: with a map only those that reach the changed function. It stops at the first test
that fails with the fault and passes without it. The exit status is 1 if a fault survived or is not in the tree any more.

The list, one fault after another:

    == what goes wrong, in plain words
    lib/base/text.c: unit/text cli/schema
    -old text; several such lines are one text, which may begin and end inside a line
    +new text
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("unit", "flow", "cli", "python", "abi")


class Fault:
    def __init__(self, number, name):
        self.number, self.name, self.file, self.tests, self.old, self.new = number, name, "", [], [], []

    def plant(self, text):
        """`text` with the fault in it, and where it begins; None where the old text is not found exactly once."""
        old = "\n".join(self.old)
        if not old or text.count(old) != 1:
            return None
        at = text.index(old)
        return text[:at] + "\n".join(self.new) + text[at + len(old):], at


def read_list(path):
    faults = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith("== "):
                faults.append(Fault(len(faults) + 1, line[3:].strip()))
            elif not line or line.startswith("#"):
                continue
            elif faults and line[0] in "-+":
                (faults[-1].old if line[0] == "-" else faults[-1].new).append(line[1:])
            elif faults and not faults[-1].file and ":" in line:
                faults[-1].file, tests = (part.strip() for part in line.split(":", 1))
                faults[-1].tests = tests.split()
            else:
                sys.exit(f"{path}:{number}: expected '== NAME', 'FILE: TESTS', '-OLD' or '+NEW'")
    return faults


def choose(faults, words):
    def chosen(fault, word):
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if numbers:
            return int(numbers.group(1)) <= fault.number <= int(numbers.group(2) or numbers.group(1))
        return word in fault.name or word == fault.file

    return [fault for fault in faults if not words or any(chosen(fault, word) for word in words)]


def functions(text):
    """(begin, end, name) of each function of a C file."""
    return [(match.start(), match.end(), match.group(1))
            for match in re.finditer(r"^\w[^;={}#]*?\b(\w+)\([^;{}]*\)\n\{\n.*?^\}", text, re.M | re.S)]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class Tree:
    """A copy of the tree with a build folder beside it."""

    def __init__(self, work, compiler, options):
        self.source, self.build = os.path.join(work, "tree"), os.path.join(work, "build")
        changed = self.copy()
        env = {**os.environ, "CC": compiler}
        if shutil.which("mold"):
            env["CC_LD"] = "mold"
        configured = os.path.exists(os.path.join(self.build, "build.ninja"))
        if not configured or changed:
            subprocess.run(["meson", "setup", self.build, self.source, "-Doptimization=1", "-Ddebug=false", "-Dexamples=disabled",
                            "-Dbench=disabled", *options, *(["--reconfigure"] if configured else [])],
                           check=True, env=env, stdout=subprocess.DEVNULL)
        self.tests = self.read_tests()

    def copy(self):
        """True if files came or went, or a build file changed."""
        names = output("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
        names = {name for name in names if os.path.isfile(os.path.join(ROOT, name))}
        changed = False
        for folder, _, files in os.walk(self.source):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.source) not in names:
                    os.unlink(path)
                    changed = True
        for name in names:
            here, there = os.path.join(ROOT, name), os.path.join(self.source, name)
            with open(here, "rb") as file:
                content = file.read()
            if os.path.exists(there):
                with open(there, "rb") as file:
                    if file.read() == content:
                        continue
            changed |= not os.path.exists(there) or "meson" in os.path.basename(name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copyfile(here, there)
            shutil.copymode(here, there)
        return changed

    def read_tests(self):
        """{"suite/name": what meson says of the test, and what ninja must build for it}"""
        targets = {target["id"]: [os.path.relpath(path, self.build) for path in target["filename"]]
                   for target in json.loads(output("meson", "introspect", "--targets", self.build))}
        tests = {}
        for test in json.loads(output("meson", "introspect", "--tests", self.build)):
            suite = test["suite"][0].split(":")[-1]
            if suite in SUITES:
                test["needs"] = [path for target in test["depends"] for path in targets.get(target, [])]
                tests[f"{suite}/{test['name']}"] = test
        return tests

    def make(self, names):
        """Build what these tests need; the compiler's words where that fails."""
        needs = sorted({need for name in names for need in self.tests[name]["needs"]})
        done = subprocess.run(["ninja", "-C", self.build, *needs], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return None if done.returncode == 0 else done.stdout.decode(errors="replace")

    def passes(self, name, seconds, log, env=None):
        """Run one test; it may print into `log`. A test that skips itself passes."""
        test = self.tests[name]
        with open(log, "wb") as file:
            process = subprocess.Popen(test["cmd"], env={**os.environ, **test["env"], **(env or {})}, cwd=test["workdir"] or self.build,
                                       stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
            try:
                return process.wait(timeout=seconds) in (0, 77)
            except subprocess.TimeoutExpired:
                return False
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()


def learn_map(work, path):
    """Which test reaches which function, from one run of each test in a build of its own."""
    os.environ["LLVM_PROFILE_FILE"] = os.devnull # of what is built and run here but is no test
    tree = Tree(os.path.join(work, "map"), "clang", ["-Dc_args=-fprofile-instr-generate", "-Dc_link_args=-fprofile-instr-generate",
                                                     "-Db_lundef=false"])
    failure = tree.make(tree.tests)
    if failure:
        sys.exit(failure[-3000:])
    raw = os.path.join(work, "map", "raw")
    known = {}
    for name in sorted(tree.tests):
        shutil.rmtree(raw, ignore_errors=True)
        os.makedirs(raw)
        begin = time.monotonic()
        passed = tree.passes(name, 600, os.path.join(work, "map", "log"), {"LLVM_PROFILE_FILE": os.path.join(raw, "%p.profraw")})
        seconds = time.monotonic() - begin
        files = glob.glob(os.path.join(raw, "*.profraw"))
        reached = []
        if files:
            merged = os.path.join(work, "map", "merged")
            subprocess.run(["llvm-profdata", "merge", "--failure-mode=all", "-o", merged, *files], check=False, stderr=subprocess.DEVNULL)
            reached = output("llvm-profdata", "show", "--covered", merged).decode().split("\n")
        known[name] = {"seconds": round(seconds, 2), "functions": sorted({line.split(":")[-1] for line in reached if line})}
        print(f"{name}: {len(known[name]['functions'])} functions, {seconds:.1f} s{'' if passed else ', failed'}", flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(known, file)


class Run:
    def __init__(self, work, known, patience):
        compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
        self.tree, self.known, self.log = Tree(work, compiler, []), known, os.path.join(work, "log")
        self.sound, self.unsound = set(), set() # tests that pass and that fail without a fault
        self.patience = patience
        failure = self.tree.make(self.tree.tests)
        if failure:
            sys.exit(f"the tree does not build:\n{failure[-3000:]}")

    def order(self, fault, text, at, quick):
        unknown = [name for name in fault.tests if name not in self.tree.tests]
        if unknown:
            sys.exit(f"{fault.name}: no test {', '.join(unknown)}")
        names = [] if quick else sorted(self.tree.tests, key=lambda name: (self.known.get(name, {}).get("seconds", 0), name))
        names = [name for name in names if self.known.get(name, {}).get("seconds", 0) <= self.patience]
        if self.known:
            spans = functions(text)
            reached = {name for begin, end, name in spans if begin <= at <= end} or {name for _, _, name in spans}
            names = [name for name in names if name not in self.known or reached & set(self.known[name]["functions"])]
        return fault.tests + [name for name in names if name not in fault.tests]

    def seconds(self, name):
        return max(60, 10 * self.known[name]["seconds"]) if name in self.known else 600

    def notices(self, name, write, texts):
        """Does the test fail with the fault, and pass without it?"""
        if name in self.unsound or self.tree.passes(name, self.seconds(name), self.log):
            return False
        if name not in self.sound:
            write(texts[0])
            self.tree.make([name])
            passes = self.tree.passes(name, self.seconds(name), self.log + ".sound")
            (self.sound if passes else self.unsound).add(name)
            write(texts[1])
            self.tree.make([name])
            if not passes:
                print(f"    {name} fails without a fault too: not counted", flush=True)
            return passes
        return True

    def try_fault(self, fault, quick):
        """(the test that noticed it, or None; what to say of a fault that could not be planted)"""
        path = os.path.join(self.tree.source, fault.file)

        def write(content):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)

        with open(path, encoding="utf-8") as file:
            text = file.read()
        planted = fault.plant(text)
        if not planted:
            return None, "its old text is not there exactly once"
        try:
            write(planted[0])
            names = self.order(fault, text, planted[1], quick)
            for group in (names[:len(fault.tests)], names[len(fault.tests):]):
                failure = self.tree.make(group) if group else None
                if failure:
                    return None, f"it does not compile:\n{failure[-2000:]}"
                for name in group:
                    if self.notices(name, write, (text, planted[0])):
                        return name, None
            return None, None
        finally:
            write(text)


def self_test():
    """The list is read as it is written, and a fault is planted only where its text is found once."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("# faults\n\n== a sum is short\nlib/a.c: unit/a cli/b\n-    a++;\n-    b++;\n+    a++;\n\n"
                   "== twice\nlib/a.c:\n-a++\n+b++\n\n== gone\nlib/b.c:\n-c++\n+d++\n")
        file.flush()
        faults = read_list(file.name)
    text = "static int f(int a)\n{\n    a++;\n    b++;\n    return a++;\n}\n\nint g(void)\n{\n    return 1;\n}\n"
    assert [fault.number for fault in faults] == [1, 2, 3]
    assert (faults[0].file, faults[0].tests) == ("lib/a.c", ["unit/a", "cli/b"])
    assert faults[0].plant(text) == (text.replace("    b++;\n", ""), text.index("    a++"))
    assert faults[1].plant(text) is None and faults[2].plant(text) is None
    assert [fault.name for fault in choose(faults, ["2-3"])] == ["twice", "gone"]
    assert [fault.number for fault in choose(faults, ["sum", "3"])] == [1, 3]
    assert [fault.number for fault in choose(faults, ["lib/b.c"])] == [3]
    assert [(text[begin:].split("(")[0], name) for begin, _, name in functions(text)] == [("static int f", "f"), ("int g", "g")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", help="numbers, ranges, parts of names, or a file of the library")
    parser.add_argument("--list", default=os.path.join(ROOT, "tests", "mutants.txt"))
    parser.add_argument("--work", default=os.path.join(ROOT, "build-tests", "mutants"))
    parser.add_argument("--map", action="store_true", help="learn which test reaches which function, for the runs after this one")
    parser.add_argument("--quick", action="store_true", help="only the tests that the list names")
    parser.add_argument("--patience", type=float, default=float("inf"), help="leave out tests that take more seconds, unless the list names them")
    parser.add_argument("--self-test", action="store_true", help="test this program")
    parser.add_argument("--check", action="store_true", help="plant nothing: is each old text there exactly once?")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    map_path = os.path.join(args.work, "map.json")
    os.makedirs(args.work, exist_ok=True)
    if args.map:
        return learn_map(args.work, map_path)
    faults = choose(read_list(args.list), args.faults)
    if args.check:
        bad = []
        for fault in faults:
            source = os.path.join(ROOT, fault.file)
            if not os.path.exists(source):
                bad.append(f"{fault.number} {fault.file}: no such file: {fault.name}")
                continue
            with open(source, encoding="utf-8") as file:
                if not fault.plant(file.read()):
                    bad.append(f"{fault.number} {fault.file}: {fault.name}")
        print("\n".join(bad + [f"{len(faults)} faults, {len(bad)} not found exactly once"]))
        return 1 if bad else 0
    known = {}
    if os.path.exists(map_path):
        with open(map_path, encoding="utf-8") as file:
            known = json.load(file)
    run = Run(args.work, known, args.patience)
    noticed = refused = 0
    for fault in faults:
        begin = time.monotonic()
        test, problem = run.try_fault(fault, args.quick)
        noticed += test is not None
        refused += problem is not None
        word = f"refused ({problem})" if problem else f"noticed by {test}" if test else "SURVIVED"
        print(f"{fault.number} {word}, {time.monotonic() - begin:.0f} s: {fault.name}", flush=True)
    tried = len(faults) - refused
    print(f"{noticed} of {tried} faults noticed ({100 * noticed / max(tried, 1):.0f} %), {refused} refused")
    return 1 if noticed < len(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
