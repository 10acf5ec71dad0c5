# SPDX-License-Identifier: Apache-2.0
"""The ctypes declarations, and the members of rows that the library names, against the C compiler's
view of the headers.

The C code is generated from the declarations: nothing of the headers is parsed here.
"""
from __future__ import annotations

import ctypes
import inspect
import os
import shlex
import shutil
import subprocess
from typing import Any, List

import support
import llmperf
from llmperf import _native
from llmperf._library import library

CC = shlex.split(os.environ.get("CC") or "cc")
PLAIN = {
    None: "void",
    ctypes.c_int: "int",
    ctypes.c_int32: "int32_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_size_t: "size_t",
    ctypes.c_double: "double",
    ctypes.c_char: "char",
    ctypes.c_char_p: "const char *",
    ctypes.c_void_p: "void *",
    _native.log_function: "llmperf_log_function",
    _native.const_uint64_p: "const uint64_t *",
    _native.const_config_p: "const llmperf_config *",
    _native.const_profile_pp: "const llmperf_profile *const *",
    _native.const_char_pp: "const char *const *",
}


def c_type(declared: Any) -> str:
    """C's spelling of a ctypes type."""
    if declared in PLAIN:
        return PLAIN[declared]
    if isinstance(declared, type) and issubclass(declared, ctypes.Array):
        return f"{c_type(declared._type_)}[{declared._length_}]"
    if hasattr(declared, "_type_") and not isinstance(declared._type_, str):
        return c_type(declared._type_) + " *"
    return declared.__name__


def layout_program() -> str:
    """Prints a line "what value" for all that is compared."""
    lines = ["#include <stdio.h>", "#include <llmperf/sys.h>", "int main(void)", "{"]
    for structure in _native.STRUCTURES:
        name = structure.__name__
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, declared in structure._fields_:
            member = f"(({name} *)0)->{field}"
            same = f"__builtin_types_compatible_p(__typeof__({member}), {c_type(declared)})"
            lines.append(f'printf("{name}.{field} %zu %zu %d\\n", offsetof({name}, {field}), '
                         f"sizeof({member}), {same});")
    for name in _native.CONSTANTS:
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
    lines += ['printf("version %s\\n", LLMPERF_VERSION_STRING);', "return 0;", "}"]
    return "\n".join(lines) + "\n"


def expected_layout() -> List[str]:
    lines = []
    for structure in _native.STRUCTURES:
        name = structure.__name__
        lines.append(f"{name} {ctypes.sizeof(structure)}")
        for field, _ in structure._fields_:
            member = getattr(structure, field)
            lines.append(f"{name}.{field} {member.offset} {member.size} 1")
    for name, value in _native.CONSTANTS.items():
        lines.append(f"{name} {ctypes.c_int64(value).value}")
    return lines + [f"version {llmperf.__version__}"]


def prototype_program() -> str:
    """Calls each function with variables of the declared types: the compiler judges them."""
    lines = ["#include <llmperf/sys.h>"]
    for name, (result, parameters) in _native.FUNCTIONS.items():
        arguments = ", ".join(f"{c_type(declared)} a{i}" for i, declared in enumerate(parameters))
        call = f"{name}({', '.join(f'a{i}' for i in range(len(parameters)))})"
        lines += [
            f"void check_{name}({arguments or 'void'});",
            f"void check_{name}({arguments or 'void'})",
            "{",
            f"_Static_assert(__builtin_types_compatible_p(__typeof__({call}), {c_type(result)}),",
            f'    "result of {name}");',
            f"(void){call};",
            "}",
        ]
    return "\n".join(lines) + "\n"


class Layout(support.TestCase):
    """One program for the layout, one for the prototypes."""

    def compile(self, code: str, *options: str) -> "subprocess.CompletedProcess[str]":
        source = self.folder / "program.c"
        source.write_text(code)
        return subprocess.run(
            [*CC, "-std=gnu11", "-I", str(support.SOURCE / "include"), "-Werror", *options,
             str(source), "-o", str(self.folder / "program")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_structures_and_constants_are_those_of_the_headers(self) -> None:
        built = self.compile(layout_program())
        self.assertEqual(built.returncode, 0, built.stdout)
        seen = subprocess.run([str(self.folder / "program")], stdout=subprocess.PIPE, text=True,
                              check=True)
        self.assertEqual(seen.stdout.splitlines(), expected_layout())

    def test_prototypes_are_those_of_the_headers(self) -> None:
        built = self.compile(prototype_program(), "-Wconversion", "-Wsign-conversion", "-c")
        self.assertEqual(built.returncode, 0, built.stdout)

    def test_each_option_of_a_session_has_its_field(self) -> None:
        info, fields, index = _native.sized(_native.llmperf_option_info), set(), 0
        while llmperf._library.library().llmperf_option_info_get(index, ctypes.byref(info)) == 0:
            fields.add(info.field and info.field.decode())
            index += 1
        self.assertGreater(index, 30)
        declared = {field for field, _ in _native.llmperf_session_options._fields_}
        self.assertEqual(fields - {None} | {"struct_size", "reserved", "config", "settings"}, declared)
        accepted = set(inspect.signature(llmperf.Session.__init__).parameters)
        self.assertEqual(fields - {None, "flags"} - accepted, {"out_dir", "device_source"})  # out, source

    def test_a_wrong_prototype_is_seen(self) -> None:
        right = prototype_program()
        narrowed = right.replace("uint32_t a0", "uint64_t a0")
        self.assertNotEqual(right, narrowed)
        built = self.compile(narrowed, "-Wconversion", "-Wsign-conversion", "-c")
        self.assertNotEqual(built.returncode, 0)

    def test_each_structure_a_function_takes_is_compared(self) -> None:
        opaque = {_native.llmperf_commands, _native.llmperf_config, _native.llmperf_counters, _native.llmperf_hardware, _native.llmperf_job,
                  _native.llmperf_model, _native.llmperf_profile, _native.llmperf_session}
        for name, (_, parameters) in _native.FUNCTIONS.items():
            for declared in parameters:
                while hasattr(declared, "_type_") and not isinstance(declared._type_, str):
                    declared = declared._type_
                if isinstance(declared, type) and issubclass(declared, ctypes.Structure):
                    self.assertIn(declared, opaque.union(_native.STRUCTURES), name)


if __name__ == "__main__":
    if not shutil.which(CC[0]):
        support.skip_all(f"no C compiler ({CC[0]}); set CC")
    support.need_library()
    library()  # it names the members of rows
    support.main()
