#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_cases.py LOG.json...   adds up the cases of meson's test logs; prints "PASSED FAILED SKIPPED"
count_cases.py --skipped LOG.json...   prints each reason for skipping with the number of cases and the tests
count_cases.py --self-test

A program that names its cases (cmocka, unittest, or a last line "N passed, N failed, N skipped") counts by case, any other as one.
A program that ends badly counts as at least one failure, whatever its cases said: a leak report comes after the last case.
"""
import json
import re
import sys

CMOCKA = {word: re.compile(rf"^\[ +{word} +\] \w", re.M) for word in ("RUN", "OK", "SKIPPED")}
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n+(?:OK|FAILED)(?: \((.*)\))?$", re.M)
UNITTEST_SKIP = re.compile(r"\.\.\. skipped ['\"](.*)['\"]$", re.M)  # with -v
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def cases(test):
    """(passed, failed, skipped) as the program's own output says, or None."""
    stdout, stderr = test.get("stdout") or "", test.get("stderr") or ""
    runs, passed, skipped = (len(CMOCKA[word].findall(stdout)) for word in ("RUN", "OK", "SKIPPED"))
    if runs:
        return passed, runs - passed - skipped, skipped
    match = UNITTEST.search(stderr) or UNITTEST.search(stdout)
    if match:
        words = dict(re.findall(r"(\w+)=(\d+)", match.group(2) or ""))
        failed = int(words.get("failures", 0)) + int(words.get("errors", 0))
        skipped = int(words.get("skipped", 0))
        # A case with failing subtests is counted once a subtest, so the rest can fall below zero.
        return max(int(match.group(1)) - failed - skipped, 0), failed, skipped
    plain = PLAIN.findall(stdout)
    if plain:
        return tuple(int(number or 0) for number in plain[-1])
    return None


def count(test):
    result = test["result"]
    if result == "SKIP":
        return 0, 0, 1
    passed, failed, skipped = cases(test) or (int(result == "OK"), 0, 0)
    if result not in ("OK", "EXPECTEDFAIL"):
        failed = max(failed, 1)
    return passed, failed, skipped


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def reasons(test):
    """Why cases were skipped, a text for each: what the program printed last before it said so."""
    stdout, stderr = test.get("stdout") or "", test.get("stderr") or ""
    if test["result"] == "SKIP":
        return [last_line(stdout) or last_line(stderr) or "no reason given"]
    found = []
    for match in CMOCKA["SKIPPED"].finditer(stdout):
        before = last_line(stdout[:match.start()])
        found.append("no reason given" if before.startswith("[") or not before else before)
    found += UNITTEST_SKIP.findall(stdout) + UNITTEST_SKIP.findall(stderr)
    return found + ["no reason given"] * (count(test)[2] - len(found))


def tests_of(paths):
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from (json.loads(line) for line in file)


def print_skipped(paths):
    by_reason = {}
    for test in tests_of(paths):
        for reason in reasons(test):
            reason = re.sub("^skipped: ", "", reason)
            by_reason.setdefault(reason, []).append(test.get("name", "").rsplit(" / ", 1)[-1])
    for reason, names in by_reason.items():
        print(f"{len(names)} in {', '.join(dict.fromkeys(names))}: {reason}")


def main(paths):
    total = [0, 0, 0]
    for test in tests_of(paths):
        total = [sum(pair) for pair in zip(total, count(test))]
    print(*total)


CMOCKA_RUN = "[==========] Running 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n"
SAMPLES = [  # result, standard output, standard error, what it counts as
    ("OK", "hello\n", "", (1, 0, 0)),
    ("FAIL", "hello\n", "", (0, 1, 0)),
    ("TIMEOUT", None, None, (0, 1, 0)),
    ("SKIP", "no device\n", "", (0, 0, 1)),
    ("OK", CMOCKA_RUN + "[       OK ] b\n[ RUN      ] c\n[  SKIPPED ] c\n", "[  PASSED  ] 2 test(s).\n", (2, 0, 1)),
    ("FAIL", CMOCKA_RUN + "[  FAILED  ] b\n[ RUN      ] c\n[       OK ] c\n", "", (2, 1, 0)),
    ("FAIL", CMOCKA_RUN, "Segmentation fault\n", (1, 1, 0)),
    ("FAIL", CMOCKA_RUN + "[       OK ] b\n", "ERROR: LeakSanitizer: detected memory leaks\n", (2, 1, 0)),
    ("OK", "", "....\nRan 4 tests in 0.1s\n\nOK\n", (4, 0, 0)),
    ("OK", "", "..s.\nRan 4 tests in 0.1s\n\nOK (skipped=1)\n", (3, 0, 1)),
    ("FAIL", "", "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3)\n", (3, 3, 3)),
    ("OK", "one\n40 passed, 0 failed, 0 skipped\n", "", (40, 0, 0)),
    ("FAIL", "39 passed, 1 failed\n", "", (39, 1, 0)),
]


REASONS = [  # result, standard output, standard error, reasons
    ("OK", "hello\n", "", []),
    ("SKIP", "one\nno device\n", "", ["no device"]),
    ("SKIP", "", "", ["no reason given"]),
    ("OK", "[ RUN      ] a\nno locale\n[  SKIPPED ] a\n[ RUN      ] b\n[  SKIPPED ] b\n[ RUN      ] c\n[       OK ] c\n", "",
     ["no locale", "no reason given"]),
    ("OK", "", "test_a (x.Y.test_a) ... skipped 'no meson'\ntest_b (x.Y.test_b) ... ok\n\nRan 2 tests in 1s\n\nOK (skipped=1)\n",
     ["no meson"]),
    ("OK", "40 passed, 0 failed, 2 skipped\n", "", ["no reason given", "no reason given"]),
]


def self_test():
    failed = 0
    for result, stdout, stderr, expected in REASONS:
        found = reasons({"result": result, "stdout": stdout, "stderr": stderr})
        if found != expected:
            print(f"{stdout!r} {stderr!r}: expected {expected}, found {found}")
            failed += 1
    for result, stdout, stderr, expected in SAMPLES:
        found = count({"result": result, "stdout": stdout, "stderr": stderr})
        if found != expected:
            print(f"{stdout!r} {stderr!r}: expected {expected}, found {found}")
            failed += 1
    print(f"{len(SAMPLES) + len(REASONS) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if sys.argv[1:2] == ["--skipped"]:
        sys.exit(print_skipped(sys.argv[2:]))
    sys.exit(main(sys.argv[1:]))
