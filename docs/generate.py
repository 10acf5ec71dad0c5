#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages that come from headers, tables and --help.

    docs/generate.py           renew the pages and the man page
    docs/generate.py --check   exit code 1 if a committed page is not current

reference/api.md comes from include/llmperf, reference/fields.md from lib/profile/fields.h and internal_fields.h, reference/cli.md and llmperf.1 from
`llmperf help`, and the declarations of the Python package from include/llmperf. In the other pages a part
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
    # The keys that `llmperf help config` lists stand in reference/configuration.md.
    return [(name, command("help", name).split("\nKeys, ")[0]) for name in names]


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
    text = read(path)
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
            shown = f"Its members are in [Fields](fields.md#{names[0]}).\n" if names and names[0] in row_structs() else f"```c\n{code}\n```\n"
            parts += [*([f"### {title}\n"] if title else []), comment_text(comment) + "\n", shown]
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


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def arguments(text):
    """The arguments of a call or braced entry in C, split at its own commas."""
    parts, depth = [""], 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[^"]', text):
        depth += (token in "({") - (token in ")}") if len(token) == 1 else 0
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def string(expression, names):
    """A C expression of string literals and names of such; None for NULL."""
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"|(\w+)', expression)
    if not pieces or pieces[0][1] == "NULL":
        return None
    return "".join(literal if not name else names.get(name, name) for literal, name in pieces).replace('\\"', '"').replace("|", "\\|")


def options():
    """Each entry of lib/config/option_table.c as a dict."""
    text = re.sub(r"\n *(/\*.*?\*/)?(?=\n)", "", read("lib/config/option_table.c"), flags=re.S)
    names = dict(re.findall(r'^#define (\w+) +"(.*)"$', text, re.M))
    table = text[text.index("lp_options[] = {"):]
    found = []
    for kind, inner in re.findall(r"^    (\w+)\((.*?)\),$(?=\n    \w|\n+\})", table, re.M | re.S):
        parts = arguments(inner)
        key = parts[0][5:-1].split(",")[0] if parts[0].startswith("KEYS") else parts[0]
        field = re.match(r"(FIELD|FLAG)\((\w+)\)", parts[2])
        line = arguments(parts[3][4:-1]) if parts[3].startswith("CLI") else None
        option = {"key": string(key, names), "variable": string(parts[1], names), "field": field and field[2],
                  "line": line and " ".join(filter(None, (string(line[0], names), string(line[1], names)))),
                  "help": string(parts[-1], names), "default": None if kind == "ANY" else string(parts[-2], names), "values": ""}
        if kind == "WORD":
            option["values"] = ", ".join(string(parts[5], names).split("\\|"))
        elif kind == "NUMBER":
            most = {"INT64_MAX": "", "INT32_MAX": "", "1 << 30": "1073741824"}.get(parts[5], parts[5])
            unit = string(parts[6], names) or ""
            option["values"] = (f"{parts[4]} to {most}" if most else f"{parts[4]} or more") + (f" {unit}" if unit else "")
        elif kind == "ANY":
            option["values"] = string(parts[4], names) or ""
        elif kind == "SWITCH":
            option["values"] = "true, false" + ("; variable: 1, 0" if option["variable"] else "")
        found.append(option)
    return found


def code(text):
    return f"`{text}`" if text else ""


def options_table():
    rows = ["| key | variable | option of a session | command line | values | default | meaning |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for option in options():
        if option["help"] and (option["key"] or option["field"]):
            cells = [code(option[name]) for name in ("key", "variable", "field", "line")] + [option["values"], code(option["default"]), option["help"]]
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def words_table():
    rows = ["| key | values |", "| --- | --- |"]
    rows += [f"| `{option['key']}` | {option['values']} |" for option in options() if not option["help"]]
    return "\n".join(rows) + "\n"


def environment_table():
    rows = ["| variable | meaning |", "| --- | --- |"]
    rows += [f"| `{option['variable']}` | {option['help']} |" for option in options() if option["variable"] and not (option["key"] or option["field"])]
    return "\n".join(rows) + "\n"


def environment():
    """(variable, meaning): those of options, then those of the table in reference/configuration.md."""
    seen = {}
    for option in options():
        if option["variable"]:
            default = f" Default: {option['default']}." if option["default"] else ""
            seen.setdefault(option["variable"], option["help"] + default)
    for name, meaning in re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|$", read("docs/reference/configuration.md"), re.M):
        seen.setdefault(name, re.sub(r" ?\(?\[[^]]*\]\([^)]*\)\)?", "", meaning).replace("`", ""))
    return sorted((name, meaning.replace("\\|", "|")) for name, meaning in seen.items())


FIELD_TYPES = {"NAME": "text", "TEXT": "text or null", "WORD": "number or word", "DEVICE": "number or null", "COUNT": "integer",
               "NUMBER": "number", "CLASSES": "number for each kernel class"}


C_TYPES = {"const char *": "text", "uint32_t": "number or word", "int32_t": "number", "uint64_t": "integer", "double": "number"}


def struct_members(header):
    """{struct: {member: (C type, its comment as Markdown)}} of a public header."""
    found = {}
    for struct, body in re.findall(r"^typedef struct (\w+) \{\n(.*?)^\}", read("include/llmperf/" + header), re.M | re.S):
        found[struct] = {}
        for kind, names, comment in re.findall(r"^    ([\w ]+[ *])([\w, \[\]]+);\s*/\*\*<(.*?)\*/", body, re.M | re.S):
            meaning = re.sub(r'"([^"]*)"|(?<![\w.])(llmperf_\w+\.\w+|[a-z]\w*_\w+(?:\(\))?)', lambda part: f"`{part[1] or part[2] or part[0]}`", " ".join(comment.split()))
            found[struct].update({name.split("[")[0]: (kind.strip(), meaning) for name in names.split(", ") if name != "reserved"})
    return found


def row_structs():
    return [*struct_members("findings.h"), *re.findall(r"^/\*\* (llmperf_\w+) \*/$", read("lib/profile/fields.h"), re.M)]


def fields_page():
    """The members of rows, from lib/profile/fields.h, with their comments in the public headers."""
    text = read("lib/profile/fields.h") + read("lib/profile/internal_fields.h")
    public = {**struct_members("rows.h"), **struct_members("findings.h")}
    percentiles = [arguments(line)[1] for line in re.findall(r"^    P\((.*)\)", text, re.M)]
    enums = {word.replace("LP_", "").split("_", 1)[1]: note for word, note in re.findall(r"^    (LP_(?:MERGE|UNKNOWN)_\w+),? +/\* (.*?) \*/", text, re.M)}
    parts = ["# Fields\n", NOTE.format("lib/profile/fields.h and the headers in include/llmperf"),
             "The members of all rows of a profile. The C structs, `run.llmperf`, `metrics.json`, CSV, JSON lines, Prometheus and the Python package have the same members. "
             "[Metrics](metrics.md) has formulas and sources. Rows without a C struct are named as in `metrics.json`. An unknown value is `NULL`, `NaN`, `LLMPERF_UNKNOWN` or a device of -1 in C, `null` in JSON. *Nested* values of a region include the regions inside it.\n",
             "*In metrics.json* is the name of the member there; – means that the value is not in `metrics.json`, or under a name that the meaning gives. "
             "*Null* says when the value is unknown, *merge* how rows of several runs are merged into one:\n"]
    for prefix, title in (("UNKNOWN", "null | the value is unknown"), ("MERGE", "merge | value of the merged row")):
        parts += [f"| {title} |", "| --- | --- |"]
        parts += [f"| {word.lower().replace('_', ' ')} | {note} |" for word, note in enums.items() if f"LP_{prefix}_{word}" in text] + [""]
    parts.pop()
    for struct, body in re.findall(r"^/\*\* (\w+) \*/\n#define LP_\w+_FIELDS\(F\) \\\n(.*?)\n\n", text, re.M | re.S):
        parts += [f"\n## {struct}\n", "| member | type | unit | in metrics.json | merge | null | meaning |", "| --- | --- | --- | --- | --- | --- | --- |"]
        for line in body.split("\n"):
            row = line.strip(" \\")
            expanded = [row]
            if row.startswith("LP_PERCENTILES("):
                template = re.search(rf"^#define {row[15:].split(',')[0]}\(.*?\) \\\n    (.*)$", text, re.M)[1]
                expanded = [re.sub(r"#p\b", f'"{name}"', re.sub(r"(##)?\bp##|##p\b", name, template)) for name in percentiles]
            if row.startswith("LP_ESTIMATE_FIELDS("):
                merges = dict(zip(("merge", "merge_reason"), arguments(row[19:-1])[1:]))
                template = re.search(r"^#define LP_ESTIMATE_FIELDS\(.*?\) \\\n(.*?)\n\n", text, re.M | re.S)[1]
                expanded = [re.sub(r"\bmerge(_reason)?\b", lambda word: merges[word[0]], call.strip(" \\")) for call in template.split("\n")]
            for call in expanded:
                kind, member, unit, merge, unknown, json, *rest = arguments(call[2:-1])
                if kind not in FIELD_TYPES:
                    continue
                json = string(json, {}) if json != "NULL" else None
                cells = [f"`{member}`", FIELD_TYPES[kind], string(unit, {}) or "", f"`{json}`" if json else "–", merge.lower().replace("_", " "),
                         "" if unknown == "NEVER" else unknown.lower().replace("_", " "),
                         public[struct][member][1] if struct in public else string(rest[1], {})]
                parts.append("| " + " | ".join(cells) + " |")
    for struct, members in ((struct, public[struct]) for struct in struct_members("findings.h") if f"/** {struct} */" not in text):
        parts += [f"\n## {struct}\n", "| member | type | meaning |", "| --- | --- | --- |"]
        parts += [f"| `{member}` | {C_TYPES[kind]} | {meaning} |" for member, (kind, meaning) in members.items()]
    return "\n".join(parts) + "\n"


CTYPES_HEAD = '''# SPDX-License-Identifier: Apache-2.0
# docs/generate.py made this file from the headers in include/llmperf. Change those, not this file.
"""Constants, structures and functions of the C API as ctypes sees them. Nothing here loads the library (see _library.py)."""
from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Structure, _Pointer, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Tuple

log_function = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
# A text that is ours to free: c_char_p would be copied on return and its address lost.
text = POINTER(c_char)
'''
# Pointers to what the library only reads, where the compiler must see that: a member of a struct, and a pointer to pointers.
CONST_POINTERS = {"const uint64_t *": "const_uint64_p", "const llmperf_config *": "const_config_p",
                  "const llmperf_profile *const *": "const_profile_pp", "const char *const *": "const_char_pp"}
PLAIN = {"void": "None", "char *": "text", "const char *": "c_char_p", "void *": "c_void_p", "llmperf_log_function": "log_function"}


def ctype(declared, member=False):
    """The ctypes name of a type of the headers."""
    declared = " ".join(declared.replace("*", " * ").split()).replace("* *", "**").replace("* const", "*const")
    if declared in CONST_POINTERS and (member or declared == "const llmperf_profile *const *"):
        return CONST_POINTERS[declared]
    if declared in PLAIN:
        return PLAIN[declared]
    if declared.endswith("*"):
        return f"POINTER({ctype(re.sub(r'( const| )$', '', declared[:-1].replace('*const', '*')))})"
    declared = declared.replace("const ", "")
    return f"c_{declared.removesuffix('_t')}" if declared != "size_t" and not declared.startswith("llmperf_") else declared.replace("size_t", "c_size_t")


def header_parts():
    """(header, constants, structs with their members or None, functions) of each public header, without its comments."""
    folder = os.path.join(SOURCE, "include/llmperf")
    for path in [*sorted(glob.glob(os.path.join(folder, "*.h"))), *sorted(glob.glob(os.path.join(folder, "sys/*.h")))]:
        text = re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S)
        constants = [(name, value) for body in re.findall(r"\benum \w* ?\{(.*?)\}", text, re.S) for name, value in re.findall(r"(\w+) =\s+([^,}]+)", body)]
        constants += [(name, value.replace("UINT64_MAX", "2**64 - 1")) for name, value in re.findall(r"^#define (LLMPERF_\w+) +(UINT64_MAX|\d+)$", text, re.M)]
        text = re.sub(r"^[ \t]*#.*$", "", text.replace("\\\n", " "), flags=re.M)
        structs = [(name, None) for name in re.findall(r"typedef struct (\w+) \1;", text)]
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S):
            members = []
            for declaration in filter(str.strip, body.split(";")):
                base = re.match(r"[\w\s]+(?=\s|\*)", declaration)[0]
                for stars, member, count in re.findall(r"((?:\*(?:const )?)*)(\w+)(?:\[(\w+)\])?\s*(?:,|$)", declaration):
                    members.append((member, ctype(base + stars, member=True) + (f" * {count}" if count else "")))
            structs.append((name, members))
        functions = [(name, ctype(result), [ctype(re.sub(r"\w+$", "", part)) for part in parameters.split(",") if part != "void"])
                     for result, name, parameters in re.findall(r"LLMPERF_API ([^;()]*?)(llmperf_\w+)\(([^;()]*)\);", text)]
        yield os.path.relpath(path, folder), [(name, value.strip()) for name, value in constants], structs, functions


def python_declarations():
    """bindings/python/llmperf/_declarations.py."""
    headers = list(header_parts())
    structs = [struct for _, _, found, _ in headers for struct in found]
    lines = [CTYPES_HEAD]
    for header, constants, _, _ in headers:
        if constants:
            lines += [f"# {header}", *(f"{name} = {value}" for name, value in constants), ""]
    lines += ["CONSTANTS: Dict[str, int] = {", '    name: value for name, value in globals().items() if name.startswith("LLMPERF_")', "}"]
    lines += [f"\n\nclass {name}(Structure):\n    \"\"\"Opaque.\"\"\"" for name, members in structs if members is None]
    for declared, name in CONST_POINTERS.items():
        target = ctype(re.sub(r"(const )?\*$", "", declared))
        lines += [f"\n\nclass {name}(_Pointer):  # type: ignore[type-arg]\n    \"\"\"{declared}\"\"\"\n\n    _type_ = {target}"]
    for name, members in structs:
        if members:
            lines += [f"\n\nclass {name}(Structure):", "    _fields_ = [", *(f'        ("{member}", {kind}),' for member, kind in members), "    ]"]
    lines += ["\n\nSTRUCTURES: List[Any] = [", *(f"    {name}," for name, members in structs if members), "]\n",
              "# Name: (result, parameters).", "FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {"]
    for header, _, _, functions in headers:
        lines += [f"    # {header}", *(f'    "{name}": ({result}, [{", ".join(parameters)}]),' for name, result, parameters in functions)] if functions else []
    return "\n".join([*lines, "}"]) + "\n"


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def man_page():
    version = re.search(r'_STRING "([^"]+)"', read("include/llmperf/api.h"))[1]
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


def dtypes():
    """Formats of weights with their bits, from the enumeration."""
    rows = re.findall(r"LLMPERF_DTYPE_(\w+) = \d+,? */\*\*< \(([^)]*)\)", read("include/llmperf/model.h"))
    return "".join(f"- `{name.lower()}`: {bits}\n" for name, bits in rows)


BLOCKS = {"dtypes": dtypes, "options": options_table, "words": words_table, "environment": environment_table}
PAGES = {"docs/reference/api.md": api_page, "docs/reference/fields.md": fields_page, "docs/reference/cli.md": cli_page,
         "docs/llmperf.1": man_page, "bindings/python/llmperf/_declarations.py": python_declarations}


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
