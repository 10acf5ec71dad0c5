#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the style and the script of report.html as C strings.  embed.py OUT.c STYLE.css SCRIPT.js..."""
import re
import sys

COMMENT = re.compile(r"^\s*(?://[^\n]*|\"use strict\";)\n|^/\*.*?\*/\n", re.M | re.S)


def c_string(name, text):
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.splitlines()]
    return f"const char {name}[] =\n" + "\n".join(f'    "{line}\\n"' for line in lines) + ";\n"


def read(path):
    with open(path, encoding="utf-8") as file:
        return COMMENT.sub("", file.read()).strip("\n") + "\n"


def main():
    out, style, *scripts = sys.argv[1:]
    with open(out, "w", encoding="utf-8") as file:
        file.write('/* SPDX-License-Identifier: Apache-2.0 */\n#include "lib/output/html/page.h"\n\n'
                   '#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
        file.write(c_string("lp_page_style", read(style)))
        file.write(c_string("lp_page_script", '"use strict";\n' + "".join(read(path) for path in scripts)))


main()
