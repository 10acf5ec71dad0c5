#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents agree with the source: links, options of the command line, generated pages, quoted messages."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

TOOL = os.path.join(headers.BUILD, "tools/llmperf")
PAGES = [os.path.join(headers.SOURCE, name) for name in ("README.md", "CONTRIBUTING.md")]
PAGES += sorted(glob.glob(os.path.join(headers.SOURCE, "docs/**/*.md"), recursive=True))


def read(page):
    with open(page, encoding="utf-8") as file:
        return file.read()


def short(page):
    return os.path.relpath(page, headers.SOURCE)


def without_code(page):
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)


def headings(page):
    """The anchors of a page's headings, as GitHub makes them."""
    titles = [title.lower() for title in re.findall(r"^#+ (.*)$", without_code(page), re.M)]
    return [re.sub(r"[^\w -]", "", title).strip().replace(" ", "-") for title in titles]


def command_lines(page):
    """(command, options) of each llmperf command in code, up to `--` or the end of that code."""
    text = read(page)
    code = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) + re.findall(r"`([^`\n]+)`", without_code(page))
    for line in "\n".join(code).replace("\\\n", " ").split("\n"):
        for name, rest in re.findall(r"(?:^|[;&|(]\s*|=\S+ |sudo )llmperf ([a-z]+)\b(.*?)(?= -- |[;#|]|&&|$)", line):
            yield name, re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*|-[a-z]\b)", rest)


def source_texts():
    """All string literals of the library and its tools, adjacent ones joined."""
    texts = []
    for folder, kind in (("lib", "*.[ch]"), ("tools", "*.[ch]"), ("bindings/python", "*.py")):
        for path in glob.glob(os.path.join(headers.SOURCE, folder, "**", kind), recursive=True):
            for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s|PRI\w+|\bf(?="))*)+', read(path)):
                texts.append("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run)))
    return "\n".join(texts)


class Docs(unittest.TestCase):
    def test_quoted_messages_stand_in_the_source(self):
        texts = source_texts()
        rows = re.findall(r"^\| `([^`]+)` \|", read(os.path.join(headers.SOURCE, "docs/how-to/errors.md")), re.M)
        self.assertGreater(len(rows), 40)
        for row in rows:
            with self.subTest(row):
                self.assertEqual([part for part in row.split("…") if part.strip(" :;,") not in texts], [])

    def test_links_point_at_files_and_headings(self):
        for page in [*PAGES, os.path.join(headers.SOURCE, "CHANGES.md")]:
            for link in re.findall(r"\]\(([^)]+)\)", without_code(page)):
                path, _, heading = link.partition("#")
                target = os.path.join(os.path.dirname(page), path) if path else page
                if "://" not in link:
                    with self.subTest(f"{short(page)}: {link}"):
                        self.assertTrue(os.path.exists(target))
                        if heading:
                            self.assertIn(heading, headings(target))

    def test_pages_named_in_the_source_exist(self):
        for folder in ("include", "lib", "tools", "tests", "bindings", "conf", "examples"):
            for path in glob.glob(os.path.join(headers.SOURCE, folder, "**/*.*"), recursive=True):
                if path.endswith((".c", ".h", ".hpp", ".cu", ".py", ".sh", ".yaml", ".md", ".build")):
                    for page in re.findall(r"\bdocs/[\w/-]+\.md\b", read(path)):
                        with self.subTest(f"{short(path)}: {page}"):
                            self.assertTrue(os.path.exists(os.path.join(headers.SOURCE, page)) or page == "docs/x.md")

    @unittest.skipUnless(os.path.exists(TOOL), "the command line is not built")
    def test_commands_without_a_program_run_as_printed(self):
        """Those of blocks that need neither a GPU nor a program: a recorded run, configurations, models."""
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(headers.SOURCE, "examples"), os.path.join(folder, "examples"))
            os.symlink(TOOL, os.path.join(folder, "llmperf"))
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            for page, wanted in (("tutorial/first-report.md", r"llmperf (import|report) .*"), ("reference/configuration.md", r"llmperf config(?!.*my.yaml).*")):
                blocks = "".join(re.findall(r"^```sh\n(.*?)^```$", read(os.path.join(headers.SOURCE, "docs", page)), re.M | re.S))
                lines = [line for line in blocks.split("\n") if re.fullmatch(wanted, line)]
                self.assertGreater(len(lines), 1, page)
                for line in lines:
                    status, output = headers.run(["bash", "-c", line], cwd=folder, env=environment)
                    self.assertEqual(status, 0, f"{page}: {line}\n{output}")

    def test_functions_of_the_documents_are_declared(self):
        declared = set()
        for path in glob.glob(os.path.join(headers.INCLUDE, "llmperf/**/*.h"), recursive=True):
            declared |= set(re.findall(r"\b(llmperf_\w+)\(", headers.code_only(read(path))))
        for page in PAGES:
            with self.subTest(short(page)):
                self.assertEqual(sorted(set(re.findall(r"\b(llmperf_\w+)\(\)", read(page))) - declared), [])

    def test_each_page_is_reached_from_the_index(self):
        index = os.path.join(headers.SOURCE, "docs/README.md")
        linked = {os.path.normpath(os.path.join(os.path.dirname(index), link)) for link in re.findall(r"\]\(([^)#]+)", read(index))}
        pages = {os.path.normpath(page) for page in PAGES if short(page).startswith("docs/")} - {index}
        self.assertEqual(sorted(short(page) for page in pages - linked), [])

    @unittest.skipUnless(os.path.exists(TOOL), "the command line is not built")
    def test_options_of_llmperf_in_the_documents_exist(self):
        helps = {}
        for page in PAGES:
            for name, options in (found for found in command_lines(page) if found[0] != "help"):
                if name not in helps:
                    answer = subprocess.run([TOOL, "help", name], capture_output=True, text=True, check=False)
                    helps[name] = answer.stdout if answer.returncode == 0 else None
                with self.subTest(f"{short(page)}: llmperf {name} {' '.join(options)}"):
                    self.assertIsNotNone(helps[name], "no such command")
                    self.assertEqual([option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", helps[name] + " --help")], [])

    @unittest.skipUnless(os.path.exists(TOOL), "the command line is not built")
    def test_generated_pages_are_current(self):
        status, output = headers.run([sys.executable, os.path.join(headers.SOURCE, "docs/generate.py"), "--check"],
                                     env={**os.environ, "LLMPERF": TOOL})
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
