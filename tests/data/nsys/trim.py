#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a small sample of an export of nsys: trim.py EXPORT OUT. Only the tables that the importer reads stay, with the strings that
they use; environment, processes, program output, host samples, paths and the GPU's UUID go."""
import sqlite3
import sys

TABLES = ("EXPORT_META_DATA", "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS", "TARGET_INFO_GPU",
          "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
          "NVTX_EVENTS")
STRINGS = ("demangledName", "shortName", "mangledName", "nameId", "textId")


def main(source, out):
    old, new = sqlite3.connect(f"file:{source}?mode=ro", uri=True), sqlite3.connect(out)
    used = set()
    for name, sql in old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
        if name not in TABLES:
            continue
        new.execute(sql)
        cursor = old.execute(f'SELECT * FROM "{name}"')
        columns = [column[0] for column in cursor.description]
        for row in cursor:
            cells = dict(zip(columns, row))
            if "META" in name and not cells["name"].startswith(("EXPORT_PRODUCT", "EXPORT_SCHEMA", "EXPORT_PARAM")):
                continue
            used.update(cells[key] for key in STRINGS if cells.get(key) is not None)
            for key in ("uuid", "busLocation"):
                if key in cells:
                    cells[key] = ""
            new.execute(f'INSERT INTO "{name}" VALUES({", ".join("?" * len(columns))})', list(cells.values()))
    new.execute("CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    new.executemany("INSERT INTO StringIds VALUES(?, ?)", [row for row in old.execute("SELECT id, value FROM StringIds") if row[0] in used])
    new.commit()
    new.execute("VACUUM")


if __name__ == "__main__":
    main(*sys.argv[1:])
