#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the library call one another in one direction: none uses a symbol of a file that uses one of its own, over any way round."""
import json
import os
import shutil
import sys
import unittest

from headers import BUILD, LIBRARY, run


def objects():
    """Object files of the library, as the build has them; those of sources that are gone may still lie beside them."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        outputs = [os.path.join(BUILD, entry["output"]) for entry in json.load(file)]
    return [path for path in outputs if os.path.dirname(path) == LIBRARY + ".p"]


def symbols(paths):
    """{file: (symbols that it defines for others, those that it asks of others)}"""
    status, text = run(["nm", "-A", "-P"] + paths)
    if status != 0:
        raise AssertionError(f"nm: {text}")
    files = {}
    for line in text.splitlines():
        path, name, kind = line.split()[:3]
        defined, asked = files.setdefault(os.path.basename(path).split(".")[0], (set(), set()))
        if kind == "U":
            asked.add(name)
        elif kind in "TDBRV":
            defined.add(name)
    return files


def uses(files):
    """{file: {file that it uses: symbols}} of {file: (defined, asked)}."""
    owner = {symbol: name for name, (defined, _) in files.items() for symbol in defined}
    graph = {name: {} for name in files}
    for name, (_, asked) in files.items():
        for symbol in asked:
            if owner.get(symbol, name) != name:
                graph[name].setdefault(owner[symbol], set()).add(symbol)
    return graph


def reached(graph, start):
    """All that a file uses, over others too."""
    seen, waiting = set(), list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(graph[name])
    return seen


def circles(graph):
    """A line for each use that has a way back."""
    below = {name: reached(graph, name) for name in graph}
    return [f"{name} uses {', '.join(sorted(names))} of {other}, which uses it in turn"
            for name in sorted(graph) for other, names in sorted(graph[name].items()) if name in below[other]]


class Circles(unittest.TestCase):
    def test_a_planted_circle_is_found(self):
        graph = uses({"a": ({"f"}, {"g"}), "b": ({"g"}, {"h"}), "c": ({"h"}, {"f"}), "d": ({"i"}, {"f", "strlen"})})
        self.assertEqual(circles(graph), ["a uses g of b, which uses it in turn", "b uses h of c, which uses it in turn",
                                          "c uses f of a, which uses it in turn"])

    def test_files_of_the_library_use_one_another_in_one_direction(self):
        files = symbols(objects())
        self.assertGreater(len(files), 100)
        self.assertEqual(circles(uses(files)), [])


if __name__ == "__main__":
    if not shutil.which("nm") or not os.path.exists(os.path.join(BUILD, "compile_commands.json")):
        print("no nm, or not built by ninja")
        sys.exit(77)
    unittest.main()
