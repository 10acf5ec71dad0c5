# SPDX-License-Identifier: Apache-2.0
"""What the Python tests on a GPU share: checks that go on after the first wrong one, and the reason to skip."""
import sys

SKIPPED = 77

wrong = []


def check(name, holds, text):
    print(f"{'ok   ' if holds else 'WRONG'} {name}: {text}", flush=True)
    if not holds:
        wrong.append(name)


def result():
    """The exit status, after the last check."""
    print(f"{len(wrong)} wrong" if wrong else "ok")
    return 1 if wrong else 0


def what_lacks(device="cuda"):
    """Why a program of transformers cannot run here; None: it can."""
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        return f"no module {error.name} in {sys.executable}"
    return "no GPU" if device == "cuda" and not torch.cuda.is_available() else None


def skip(reason):
    print("skipped:", reason)
    return SKIPPED
