#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trim.py EXPORT OUT: an export of nsys without names of the machine, its processes and paths, and without tables that say nothing of CUDA and NVTX."""
import shutil
import sqlite3
import sys

EMPTIED = ("META_DATA_CAPTURE", "PROCESSES", "ThreadNames", "TARGET_INFO_SYSTEM_ENV", "PROFILER_OVERHEAD", "ProcessStreams")
TEXTS = (("NVTX_EVENTS", "textId"), ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"), ("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"),
         ("CUPTI_ACTIVITY_KIND_KERNEL", "shortName"), ("CUPTI_ACTIVITY_KIND_KERNEL", "mangledName"))


def main() -> None:
    source, out = sys.argv[1:]
    shutil.copyfile(source, out)
    file = sqlite3.connect(out, isolation_level=None)
    tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in tables:
        if name.startswith("ENUM_") and not name.startswith(("ENUM_CUDA_", "ENUM_NSYS_")):
            file.execute(f'DROP TABLE "{name}"')
        elif name in EMPTIED:
            file.execute(f'DELETE FROM "{name}"')
    file.execute("DELETE FROM META_DATA_EXPORT WHERE name LIKE '%HOST' OR name LIKE '%USER' OR name LIKE '%PATH%' OR name LIKE '%FILE'")
    file.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds WHERE value IN ('cuKernelGetName', 'cuGetProcAddress_v2'))")
    used = " UNION ".join(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL" for table, column in TEXTS)
    file.execute(f"DELETE FROM StringIds WHERE id NOT IN ({used})")
    file.execute("UPDATE TARGET_INFO_GPU SET uuid = ''")
    file.execute("VACUUM")
    file.close()


main()
