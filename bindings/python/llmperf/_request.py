# SPDX-License-Identifier: Apache-2.0
"""Requests of a serving engine: when they begin, when their tokens come, and when they end."""
from __future__ import annotations

from ctypes import byref, c_uint64
from types import TracebackType
from typing import (Any, AsyncIterable, AsyncIterator, Iterable, Iterator, Optional, Type, TypeVar,
                    overload)

from . import _native
from ._library import library
from ._region import Amount, _amount

Item = TypeVar("Item")

_REASONS = {
    "other": _native.LLMPERF_FINISH_OTHER,
    "stop": _native.LLMPERF_FINISH_STOP,
    "length": _native.LLMPERF_FINISH_LENGTH,
    "aborted": _native.LLMPERF_FINISH_ABORTED,
    "failed": _native.LLMPERF_FINISH_FAILED,
}


class Request:
    """What request() returns; its methods may be called on any thread, one after the other."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def first_token(self) -> None:
        """The first output token is there. Ignored after a token was reported."""
        library().llmperf_request_first_token(self._handle)

    def token(self, tokens: int = 1) -> None:
        """New output tokens are there. The first call is the first token, each later one an ITL."""
        library().llmperf_request_tokens(self._handle, _amount("tokens", tokens))

    def end(self, reason: str = "stop", output_tokens: Amount = None) -> None:
        """The request has ended. Calls after it are ignored.

        reason: "stop", "length", "other" (finished), "aborted" (by the client) or "failed".
        output_tokens: all of them; None: those that were reported.
        """
        if reason not in _REASONS:
            raise ValueError(f"reason {reason!r} is not one of {', '.join(_REASONS)}")
        tokens = _amount("output_tokens", output_tokens)
        handle, self._handle = self._handle, 0
        library().llmperf_request_end(handle, _REASONS[reason], tokens)

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        # Cancellations and exits are no Exception.
        self.end("stop" if error is None
                 else "failed" if isinstance(error, Exception) else "aborted")

    async def __aenter__(self) -> "Request":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.__exit__(kind, error, trace)

    @overload
    def stream(self, tokens: AsyncIterable[Item]) -> AsyncIterator[Item]: ...

    @overload
    def stream(self, tokens: Iterable[Item]) -> Iterator[Item]: ...

    def stream(self, tokens: Any) -> Any:
        """Pass the items of an iterable or asynchronous iterable on; each is one output token."""
        return self._async_stream(tokens) if isinstance(tokens, AsyncIterable) else self._stream(tokens)

    def _stream(self, tokens: Iterable[Item]) -> Iterator[Item]:
        for item in tokens:
            self.token()
            yield item

    async def _async_stream(self, tokens: AsyncIterable[Item]) -> AsyncIterator[Item]:
        async for item in tokens:
            self.token()
            yield item


def request(*, prompt_tokens: Amount = None, arrival_ns: Amount = None,
            id: Amount = None) -> Request:
    """A request leaves the queue: the engine starts to work on it.

    prompt_tokens: tokens of its prompt.
    arrival_ns: time.monotonic_ns() of its arrival; without it the queue time is not known, and
        latencies count from this call.
    id: a number for the table of the slowest requests; it never becomes a label.

    In a `with` or `async with` block the request ends with the block: as "stop", after an exception
    as "failed", after a cancellation as "aborted". Unlike a region it belongs to no thread, so the
    block may hold an `await`::

        async with llmperf.request(prompt_tokens=512, arrival_ns=arrived) as request:
            async for token in request.stream(generate(prompt)):
                await send(token)

    While no session runs, requests are not recorded and cost little.
    """
    attr = _native.sized(_native.llmperf_request_attr)
    attr.arrival_ns = _amount("arrival_ns", arrival_ns)
    attr.prompt_tokens = _amount("prompt_tokens", prompt_tokens)
    attr.id = _amount("id", id)
    return Request(library().llmperf_request_begin(byref(attr)))


def requests_token(requests: Iterable[Request]) -> None:
    """One more output token for each request of a batch."""
    handles = [one._handle for one in requests]
    library().llmperf_requests_token((c_uint64 * len(handles))(*handles), len(handles))
