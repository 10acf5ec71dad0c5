# SPDX-License-Identifier: Apache-2.0
"""python -m llmperf run [OPTIONS] [--] PROGRAM.py|-m MODULE ARG...

`llmperf run` for a Python program, with hooks for the engines that it imports (transformers, vLLM,
SGLang). Other commands are passed to llmperf as they are.
"""
from __future__ import annotations

import os
import shutil
import sys
from typing import List, NoReturn


def fail(code: int, text: str) -> NoReturn:
    print(f"python -m llmperf: {text}", file=sys.stderr)
    raise SystemExit(code)


def wrapped(words: List[str]) -> List[str]:
    """Words of `llmperf run` whose program is this module, which executes the user's program."""
    starts = [i for i, word in enumerate(words) if word in ("--", "-m") or word.endswith(".py")]
    if not starts or not words[starts[0]:][words[starts[0]] == "--":]:
        fail(2, "run: expected PROGRAM.py, -m MODULE, or -- before a program with another name")
    at = starts[0]
    program = words[at + 1:] if words[at] == "--" else words[at:]
    return [*words[:at], "--", sys.executable, "-m", "llmperf", "exec", *program]


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["exec"] and len(words) > 1:
        from ._launch import execute

        return execute(words[1:])
    tool = shutil.which("llmperf")
    if tool is None:
        fail(3, "llmperf is not in PATH; install it, or add the folder of the program to PATH")
    if words[:1] == ["run"] and not {"--help", "-h"} & set(words):
        words = ["run", *wrapped(words[1:])]
    os.execv(tool, [tool, *words])


if __name__ == "__main__":
    main()
