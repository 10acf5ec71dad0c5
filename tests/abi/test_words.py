#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts that people read contain none of the phrases that say nothing to somebody who meets them for the first time."""
import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

PHRASES = ("at stake", "by the way", "held against", "is no file", "is no folder", "nobody told", "not one was reported",
           "once and for all", "one and all", "put together", "was not told", "copies and sets", "copies and memsets", "ran nodes")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "include/**/*.h*", "conf/**/*.*", "bindings/python/**/*.[mp]*")
TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|((?:\"(?:\\.|[^\"\\\n])*\"\s*)+)", re.S)


def texts(path):
    """(line, text) of each string of a C file, adjoining literals as one."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    for match in TEXT.finditer(source):
        if match.group(1):
            yield source.count("\n", 0, match.start()) + 1, re.sub(r"\"\s*\"", "", match.group(1))


class Words(unittest.TestCase):
    def test_messages_have_no_riddles(self):
        found, count = [], 0
        for folder in ("lib", "tools"):
            for path in glob.glob(os.path.join(headers.SOURCE, folder, "**", "*.[ch]"), recursive=True):
                for line, text in texts(path):
                    count += 1
                    found += [f"{os.path.relpath(path, headers.SOURCE)}:{line}: {phrase}" for phrase in PHRASES if phrase in text.lower()]
        self.assertGreater(count, 3000)
        self.assertEqual(found, [])

    def test_documents_have_no_riddles(self):
        paths = [path for pattern in PAGES for path in glob.glob(os.path.join(headers.SOURCE, pattern), recursive=True)
                 if path.endswith((".md", ".h", ".hpp", ".yaml", ".json", ".py"))]
        self.assertGreater(len(paths), 120)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"\s+(?:\* |# )?", " ", file.read().lower())
            with self.subTest(os.path.relpath(path, headers.SOURCE)):
                self.assertEqual([phrase for phrase in PHRASES if phrase in text], [])


if __name__ == "__main__":
    unittest.main()
