#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages that come from headers, tables and --help.

    docs/generate.py           renew the pages and the man page
    docs/generate.py --check   exit code 1 if a committed page is not current

reference/api.md comes from include/llmperf, reference/cli.md and llmperf.1 from `llmperf help`. In the other pages a part
between two comments, `<!-- generated: NAME -->` and `<!-- end -->`, comes from the function of that name in BLOCKS. The
command is $LLMPERF or tools/llmperf of the build folder $LLMPERF_BUILD (default: build)."""
import argparse
import glob
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOTE = "<!-- docs/generate.py made this page from {}. Change those, not this page. -->\n"
DECLARATION = re.compile(r"/\*\*(?P<text>(?:(?!\*/).)*?)\*/\n(?P<code>(?:LLMPERF_API|typedef|enum|#define|struct)\b.*?)(?=\n\n|\n/\*\*|\n#ifdef|\Z)", re.S)


def command(*arguments):
    tool = os.environ.get("LLMPERF") or os.path.join(os.environ.get("LLMPERF_BUILD") or os.path.join(SOURCE, "build"), "tools/llmperf")
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout


def commands():
    """(name, text of its help) in the order of `llmperf help`."""
    names = re.findall(r"^  ([a-z]+) {2,}\S", command("help"), re.M)
    return [(name, command("help", name)) for name in names]


def cli_page():
    sections = [f"## llmperf {name}\n\n```text\n{text.strip()}\n```\n" for name, text in commands()]
    return "\n".join(["# Command line\n", NOTE.format("`llmperf help`"), f"```text\n{command('help').strip()}\n```\n", *sections])


def comment_text(comment):
    """A doc comment as Markdown: paragraphs, then one item for each parameter, the result and the threads."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().split("\n")]
    text = re.sub(r"\s*@(param|return|threads)\b", r"\n@\1", "\n".join(lines))
    body, *tags = re.split(r"^@", text, flags=re.M)
    body = re.sub(r"\b(llmperf_\w+\(\))", r"`\1`", body.strip())
    items = []
    for tag in tags:
        kind, _, rest = " ".join(tag.split()).partition(" ")
        name, _, meaning = rest.partition(" ")
        items.append({"param": f"- `{name}`: {meaning.strip()}", "return": f"- Returns {rest}", "threads": f"- Threads: {rest}"}[kind])
    return "\n\n".join(part for part in (body, "\n".join(items)) if part)


def declarations(text):
    """(names, comment, code) of each documented declaration of a header."""
    for match in DECLARATION.finditer(text):
        code = match["code"].strip()
        names = re.findall(r"LLMPERF_API[^;(]*?\b(\w+)\(", code) or re.findall(r"\} (\w+);", code) or re.findall(r"typedef .*?\b(\w+)(?:\)\(.*)?;", code, re.S)
        yield names, match["text"], code


def header_section(path, short):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, _, rest = text.partition("#ifndef")
    about = re.search(r"/\*\*(.*?)\*/", head, re.S)
    name = os.path.relpath(path, os.path.join(SOURCE, "include"))
    parts = [f"## {name}\n", (comment_text(about[1]) if about else "") + "\n"]
    for names, comment, code in declarations(rest):
        if short:
            first = re.split(r"(?<=[.?]) |\n\n", comment_text(comment))[0].replace("\n", " ")
            parts += [f"- `{function}()`: {first}" for function in names if "LLMPERF_API" in code]
        else:
            title = ", ".join(f"`{function}`" for function in names)
            code = re.sub(r"^LLMPERF_API ", "", code, flags=re.M)
            code = re.sub(r"\n#define (\w+_INIT)\b.*", r"\n/* Initialise with \1. */", code, flags=re.S)
            parts += [*([f"### {title}\n"] if title else []), comment_text(comment) + "\n", f"```c\n{code}\n```\n"]
    return "\n".join(parts).rstrip() + "\n"


def api_page():
    stable = [path for path in sorted(glob.glob(os.path.join(SOURCE, "include/llmperf/*.h"))) if os.path.basename(path) not in ("llmperf.h", "sys.h")]
    system = sorted(glob.glob(os.path.join(SOURCE, "include/llmperf/sys/*.h")))
    parts = ["# C API\n", NOTE.format("the headers in `include/llmperf`"),
             "Include `llmperf/llmperf.h`; it includes all of these headers. C++ programs include `llmperf/llmperf.hpp`, "
             "which closes regions when a scope ends.\n"]
    parts += [header_section(path, short=False) for path in stable]
    if system:
        parts += ["# Functions for the command line\n", "The headers in `include/llmperf/sys` serve the `llmperf` command. "
                  "They may change in any version.\n"]
        parts += [header_section(path, short=True) for path in system]
    return "\n".join(parts)


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def environment():
    """(variable, meaning) from the table of reference/configuration.md."""
    with open(os.path.join(SOURCE, "docs/reference/configuration.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \| (.*?) \|", file.read(), re.M)
    for names, meaning in rows:
        meaning = re.sub(r" ?\(?\[[^]]*\]\([^)]*\)\)?", "", meaning)
        yield names.replace("`", ""), meaning.replace("`", "").replace("\\|", "|")


def man_page():
    with open(os.path.join(SOURCE, "include/llmperf/api.h"), encoding="utf-8") as file:
        version = re.search(r'_STRING "([^"]+)"', file.read())[1]
    lines = ['.\\" SPDX-License-Identifier: Apache-2.0', '.\\" docs/generate.py made this page from `llmperf help`.',
             f'.TH LLMPERF 1 "" "libllmperf {version}"', ".SH NAME", "llmperf \\- profile LLM inference and report the results",
             ".SH SYNOPSIS", ".B llmperf", ".I COMMAND", "[options]", ".SH DESCRIPTION", ".nf", roff(command("help").strip()), ".fi", ".SH COMMANDS"]
    for name, text in commands():
        lines += [f".SS llmperf {name}", ".nf", roff(text.strip()), ".fi"]
    lines += [".SH ENVIRONMENT", "Options and KEY=VALUE of the command line take precedence over these variables, and these over the configuration."]
    for names, meaning in environment():
        lines += [".TP", f".B {names}", roff(meaning)]
    lines += [".SH SEE ALSO", "The documentation in share/doc/llmperf."]
    return "\n".join(lines) + "\n"


BLOCKS = {}
PAGES = {"docs/reference/api.md": api_page, "docs/reference/cli.md": cli_page, "docs/llmperf.1": man_page}


def with_blocks(text):
    return re.sub(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", lambda block: block[1] + BLOCKS[block[2]]() + block[3], text, flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed pages")
    check = parser.parse_args().check
    stale = 0
    pages = [*PAGES, *(os.path.relpath(page, SOURCE) for page in sorted(glob.glob(os.path.join(SOURCE, "docs/*/*.md"))))]
    for page in dict.fromkeys(pages):
        path, old = os.path.join(SOURCE, page), ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        new = PAGES[page]() if page in PAGES else with_blocks(old)
        if new != old and check:
            print(f"{page} is not current: run docs/generate.py")
            stale += 1
        elif new != old:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print(page)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
