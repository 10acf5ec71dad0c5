# SPDX-License-Identifier: Apache-2.0
"""Regions: named, nested intervals of host time on the calling thread.

Regions need no session: a library can mark them, and the application decides whether to profile.
Kernels that a thread launches while a region is open are assigned to it, whenever they run.

Each thread has its own stack of open regions, as NVTX has of its push and pop ranges. A `with` block
must therefore not contain an `await` (other tasks would run inside the region), and in a generator
it must not contain a `yield`. Decorated functions may: their regions close at each `await` and
`yield` and open again when the task continues, on whichever thread.
"""
from __future__ import annotations

import functools
import inspect
import types
from ctypes import byref
from operator import index
from typing import Any, Callable, Dict, Generator, Optional, TypeVar, Union, cast

from . import _native
from ._library import library

_KINDS = {
    None: _native.LLMPERF_REGION_AUTO,
    "auto": _native.LLMPERF_REGION_AUTO,
    "stage": _native.LLMPERF_REGION_STAGE,
    "operator": _native.LLMPERF_REGION_OPERATOR,
}
_PLAIN_LIMIT = 4096  # bounds memory if a program puts a number into each label
_plain: Dict[Any, "Region"] = {}

Amount = Optional[int]
Function = TypeVar("Function", bound=Callable[..., Any])


# The first call of any of these loads the library and replaces all of them with the C functions. A
# region then costs one global look-up and the call.
def _begin(label: bytes) -> None:
    _bind()
    _begin(label)


def _begin_attr(attr: Any) -> None:
    _bind()
    _begin_attr(attr)


def _end() -> None:
    _bind()
    _end()


def _count(quantity: int, amount: int) -> None:
    _bind()
    _count(quantity, amount)


def _bind() -> None:
    global _begin, _begin_attr, _end, _count
    lib = library()
    _begin = lib.llmperf_region_begin
    _begin_attr = lib.llmperf_region_begin_attr
    _end = lib.llmperf_region_end
    _count = lib.llmperf_region_count


class Region:
    """A region from region(): a context manager and decorator.

    It may be reused, nested in itself, and used on any thread.
    """

    __slots__ = ("_label", "_attr")

    def __init__(self, label: bytes, attr: Any = None) -> None:
        self._label = label
        self._attr = attr

    def __enter__(self) -> "Region":
        if self._attr is None:
            _begin(self._label)
        else:
            _begin_attr(self._attr)
        return self

    def __exit__(self, *error: object) -> None:
        _end()

    def __call__(self, function: Function) -> Function:
        """Decorate a function, generator function, coroutine function or asynchronous generator
        function; see region()."""
        if not callable(function) or inspect.isclass(function):
            raise TypeError("region decorates functions; put it below @staticmethod, @classmethod "
                            "and @property")
        if inspect.isasyncgenfunction(function):
            around = self._around_async_generator
        elif inspect.iscoroutinefunction(function):
            around = self._around_coroutine
        elif inspect.isgeneratorfunction(function):
            around = self._around_generator
        else:
            around = self._around_call
        return cast(Function, functools.wraps(function)(around(function)))

    def _around_call(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return call

    def _around_generator(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            return (yield from self._resumes(function(*args, **kwargs)))

        return call

    def _around_coroutine(self, function: Any) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._resumes(function(*args, **kwargs))

        return call

    def _around_async_generator(self, function: Any) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            around, plain = self, Region(self._label)
            step, value = generator.asend, None
            while True:
                try:
                    item = await around._resumes(step(value))
                except StopAsyncIteration:
                    return
                around = plain
                try:
                    step, value = generator.asend, (yield item)
                except GeneratorExit:
                    await plain._resumes(generator.aclose())
                    raise
                except BaseException as error:
                    step, value = generator.athrow, error

        return call

    @types.coroutine
    def _resumes(self, inner: Any) -> Any:
        """Run a generator or coroutine; the region is open while it runs, not while it waits."""
        around, plain = self, Region(self._label)  # amounts are counted at the first resume
        step, value = inner.send, None
        while True:
            try:
                with around:
                    item = step(value)
            except StopIteration as stop:
                return stop.value
            around = plain
            try:
                step, value = inner.send, (yield item)
            except GeneratorExit:
                with plain:
                    inner.close()
                raise
            except BaseException as error:
                step, value = inner.throw, error


def region(label: Union[str, bytes], *, tokens: Amount = None, sequences: Amount = None,
           context: Amount = None, flops: Amount = None, bytes: Amount = None,
           kind: Optional[str] = None) -> Region:
    """A region around a `with` block or, as a decorator, around each call of a function.

    label: `DOMAIN@name`; without `@` the domain is `LLM`.
    tokens: new tokens computed.
    sequences: sequences (requests) in the batch.
    context: length of the KV cache, new tokens included, summed over the sequences.
    flops: floating-point operations; a multiply-add counts as 2.
    bytes: bytes read from and written to device memory.
    kind: "stage", "operator" or "auto": prefill, decode_all, decode_step and vision of domain LLM
        are stages, all others operators. The first kind given for a path is kept.

    Amounts are integers from 0 to 2**64 - 1 and are counted each time the region opens; None and 0
    mean "not given". An exception in the block ends the region and propagates.

    If it decorates an async function or a generator function, the region belongs to that call, not
    to the thread: it is open while the function runs, and closed while it waits at an `await` or
    `yield`, so work of other tasks is never in it. Host time is therefore the time in which the
    function ran, without waiting; request() measures latencies. Each resume is one call
    ("instances") of the region; the amounts are counted at the first. Regions of decorated
    functions that await each other are nested.

    Cost of begin and end together, on an AMD EPYC with CPython 3.11: 0.32 us without a session and
    0.38 us with one, or 0.22 and 0.28 us if the object is created once and reused. With amounts it
    is 1.5 us, or 0.35 and 0.43 us if the object is reused.

    Without the library, opening a region raises LibraryNotFoundError; see available().
    """
    if (tokens is None and sequences is None and context is None and flops is None and bytes is None
            and kind is None):
        try:
            return _plain[label]
        except KeyError:
            return _remember(label)
    if kind not in _KINDS:
        raise ValueError(f"kind {kind!r} is not one of auto, stage, operator")
    encoded = _encode(label)
    attr = _native.sized(_native.llmperf_region_attr)
    attr.label = encoded
    attr.kind = _KINDS[kind]
    attr.tokens = _amount("tokens", tokens)
    attr.sequences = _amount("sequences", sequences)
    attr.context = _amount("context", context)
    attr.flops = _amount("flops", flops)
    attr.bytes = _amount("bytes", bytes)
    return Region(encoded, byref(attr))


def count(*, tokens: Amount = None, sequences: Amount = None, context: Amount = None,
          flops: Amount = None, bytes: Amount = None, message_bytes: Amount = None) -> None:
    """Add amounts to the innermost open region of this thread; units as in region().

    message_bytes: size of the message of a collective that the region launches.
    Without an open region this does nothing.
    """
    if tokens is not None:
        _count(_native.LLMPERF_QUANTITY_TOKENS, _amount("tokens", tokens))
    if sequences is not None:
        _count(_native.LLMPERF_QUANTITY_SEQUENCES, _amount("sequences", sequences))
    if context is not None:
        _count(_native.LLMPERF_QUANTITY_CONTEXT, _amount("context", context))
    if flops is not None:
        _count(_native.LLMPERF_QUANTITY_FLOPS, _amount("flops", flops))
    if bytes is not None:
        _count(_native.LLMPERF_QUANTITY_BYTES, _amount("bytes", bytes))
    if message_bytes is not None:
        _count(_native.LLMPERF_QUANTITY_MESSAGE_BYTES, _amount("message_bytes", message_bytes))


class prefill:
    """`LLM@prefill`: the forward pass over the prompt, up to the first logits.

    tokens: prompt tokens computed; None: unknown.
    """

    __slots__ = ("_tokens",)

    def __init__(self, tokens: Amount = None) -> None:
        self._tokens = _amount("tokens", tokens)

    def __enter__(self) -> "prefill":
        library().llmperf_prefill_begin(self._tokens)
        return self

    def __exit__(self, *error: object) -> None:
        library().llmperf_prefill_end()


class decode_all:
    """`LLM@decode_all`: the whole token loop.

    tokens: tokens that the loop generated; None: unknown. It may be set inside the block::

        with llmperf.decode_all() as loop:
            loop.tokens = generate()
    """

    __slots__ = ("tokens",)

    def __init__(self, tokens: Amount = None) -> None:
        _amount("tokens", tokens)
        self.tokens = tokens

    def __enter__(self) -> "decode_all":
        library().llmperf_decode_all_begin()
        return self

    def __exit__(self, *error: object) -> None:
        tokens = 0
        try:
            tokens = _amount("tokens", self.tokens)
        finally:
            library().llmperf_decode_all_end(tokens)


class decode_step:
    """`LLM@decode_step`: one step of the token loop. It also counts `sequences` as its tokens.

    sequences: sequences in the batch, with one new token each; None: unknown.
    context: length of the KV cache, new tokens included, summed over the sequences; None: unknown.
    """

    __slots__ = ("_sequences", "_context")

    def __init__(self, sequences: Amount = None, context: Amount = None) -> None:
        self._sequences = _amount("sequences", sequences)
        self._context = _amount("context", context)

    def __enter__(self) -> "decode_step":
        library().llmperf_decode_step_begin(self._sequences, self._context)
        return self

    def __exit__(self, *error: object) -> None:
        library().llmperf_decode_step_end()


def _amount(name: str, value: Amount) -> int:
    """The amount as an int. ctypes would silently truncate a number of more than 64 bits."""
    if value is None:
        return 0
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"{name} must be from 0 to 2**64 - 1, not {number}")
    return number


def _encode(label: Union[str, bytes]) -> bytes:
    if isinstance(label, str):
        label = label.encode("utf-8", "replace")
    elif not isinstance(label, bytes):
        raise TypeError(f"a label is a str or bytes, not {type(label).__name__}")
    return label.replace(b"\0", b"?")  # a NUL ends a C string


def _remember(label: Union[str, bytes]) -> Region:
    if len(_plain) >= _PLAIN_LIMIT:
        _plain.clear()
    new = _plain[label] = Region(_encode(label))
    return new
