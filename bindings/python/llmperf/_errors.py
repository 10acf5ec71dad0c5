# SPDX-License-Identifier: Apache-2.0
"""What this package raises of its own."""
from __future__ import annotations


class LibraryNotFoundError(ImportError):
    """libllmperf.so was not found or cannot be used; the text says where it was looked for."""


class LlmperfError(RuntimeError):
    """A call of the library failed.

    status: the negative code, for example -6.
    name: its name, for example "LLMPERF_ENOENT".
    text: one line of the library that says what to do.
    """

    def __init__(self, status: int, name: str, text: str) -> None:
        super().__init__(status, name, text)
        self.status = status
        self.name = name
        self.text = text

    def __str__(self) -> str:
        return f"{self.text} ({self.name})" if self.text else self.name
