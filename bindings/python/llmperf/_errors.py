# SPDX-License-Identifier: Apache-2.0
"""Exceptions of this package."""
from __future__ import annotations


class LibraryNotFoundError(ImportError):
    """libllmperf.so was not found or cannot be used; the text lists the places searched."""


class LlmperfError(RuntimeError):
    """A call of the library failed.

    status: negative error code, for example -6.
    name: name of the code, for example "LLMPERF_ENOENT".
    text: error message of the library, one line.
    """

    def __init__(self, status: int, name: str, text: str) -> None:
        super().__init__(status, name, text)
        self.status = status
        self.name = name
        self.text = text

    def __str__(self) -> str:
        return f"{self.text} ({self.name})" if self.text else self.name
