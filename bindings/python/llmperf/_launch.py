# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program with hooks for all known engines, and its spawned processes too."""
from __future__ import annotations

import os
import runpy
import sys
from multiprocessing import spawn
from typing import Any, List

from . import sglang, transformers, vllm

_CHILD = "exec('try:\\n from llmperf._launch import install\\n install()\\nexcept ImportError: pass'); "


def install() -> None:
    """Hooks for the engines that this process imports later, and for the processes that it spawns."""
    for engine in (transformers, vllm, sglang):
        engine.register()
    original: Any = spawn.get_command_line

    def get_command_line(**arguments: Any) -> List[str]:
        line: List[str] = original(**arguments)
        if "-c" in line:
            line[line.index("-c") + 1] = _CHILD + line[line.index("-c") + 1]
        return line

    spawn.get_command_line = get_command_line


def execute(words: List[str]) -> None:
    """Run PROGRAM.py ARG... or -m MODULE ARG... as the main program."""
    install()
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")
