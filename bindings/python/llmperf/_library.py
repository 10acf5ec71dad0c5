# SPDX-License-Identifier: Apache-2.0
"""Finds, loads and binds libllmperf.so at the first call that needs it."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import sysconfig
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator, Optional, Union

from . import _native
from ._errors import LibraryNotFoundError, LlmperfError

_SONAME = f"libllmperf.so.{_native.LLMPERF_VERSION_MAJOR}"
# These never block and take well under a microsecond. Releasing the GIL would cost more than the
# call, and in a busy engine taking it again can take milliseconds.
_KEEP_GIL = ("llmperf_region_", "llmperf_prefill_", "llmperf_decode_", "llmperf_last_error")

AnyPath = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_lock = threading.Lock()
_bound: Optional[SimpleNamespace] = None


def library() -> Any:
    """The library, with its C functions as attributes.

    Raises LibraryNotFoundError while it cannot be loaded.
    """
    global _bound
    if _bound is None:
        with _lock:
            if _bound is None:
                _bound = _bind(_load())
    return _bound


def available() -> bool:
    """Load the library; False if that is not possible. Never raises."""
    try:
        library()
    except LibraryNotFoundError:
        return False
    return True


def check(status: int) -> None:
    """Raise LlmperfError with the error text of this thread if status is a failure."""
    if status < 0:
        lib = library()
        raise LlmperfError(status, text_of(lib.llmperf_status_name(status)) or "",
                           text_of(lib.llmperf_last_error()) or "")


def text_of(value: Optional[bytes]) -> Optional[str]:
    """Text of the library as str; None stays None."""
    return None if value is None else value.decode("utf-8", "replace")


def name_of(enumeration: int, value: int) -> str:
    """Name of a value of an enumeration of the library, LLMPERF_NAME_..."""
    return text_of(library().llmperf_name(enumeration, value)) or ""


def take_text(text: Any) -> str:
    """Copy a text that the library allocated, and free it."""
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        library().llmperf_text_free(text)


def path_bytes(path: AnyPath) -> bytes:
    """A str, bytes or os.PathLike for a `const char *` parameter."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("a path contains a NUL character")
    return encoded


def _load() -> ctypes.CDLL:
    chosen = os.environ.get("LLMPERF_LIBRARY")
    if chosen:
        # If the chosen library cannot be loaded, that is an error: never use another one silently.
        try:
            return ctypes.CDLL(os.path.abspath(chosen))
        except OSError as error:
            raise LibraryNotFoundError(
                f"LLMPERF_LIBRARY={chosen} cannot be loaded: {error}") from None
    try:
        # `llmperf run` injected a copy, which has the session; a second copy would have no regions.
        return ctypes.CDLL(_SONAME, mode=os.RTLD_NOLOAD)
    except OSError:
        pass
    failures = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            failures.append(str(error))
    raise LibraryNotFoundError(
        "libllmperf.so not found; set LLMPERF_LIBRARY to its path, or install it and run ldconfig "
        f"(tried: {'; '.join(failures)})")


def _candidates() -> Iterator[str]:
    injected = os.environ.get("CUDA_INJECTION64_PATH") or ""
    if os.path.basename(injected).startswith("libllmperf.so"):
        yield injected  # the driver will load it: `llmperf run`
    package = Path(__file__).resolve().parent
    folders = [package]
    if len(package.parents) > 3:
        # PREFIX/lib/pythonX.Y/site-packages/llmperf: `meson install` puts the library below PREFIX.
        prefix = package.parents[3]
        multiarch = sysconfig.get_config_var("MULTIARCH") or ""
        folders += [prefix / "lib" / multiarch, prefix / "lib64", prefix / "lib"]
    for folder in dict.fromkeys(folders):
        for name in (_SONAME, "libllmperf.so"):
            if (folder / name).exists():
                yield str(folder / name)
    yield _SONAME
    found = ctypes.util.find_library("llmperf")  # last: it runs a compiler
    if found and found != _SONAME:
        yield found


def _bind(loaded: ctypes.CDLL) -> SimpleNamespace:
    holding_gil = ctypes.PyDLL(loaded._name, handle=loaded._handle)
    bound = SimpleNamespace()
    for name, (result, parameters) in _native.FUNCTIONS.items():
        try:
            function = getattr(holding_gil if name.startswith(_KEEP_GIL) else loaded, name)
        except AttributeError:
            raise LibraryNotFoundError(
                f"{loaded._name} has no {name}: it is not the version of this package; "
                "set LLMPERF_LIBRARY to the libllmperf.so of that version") from None
        function.restype = result
        function.argtypes = parameters
        setattr(bound, name, function)
    return bound
