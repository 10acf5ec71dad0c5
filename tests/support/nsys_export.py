#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nsys_export.py FILE: a small export in the layout of nsys 2022.2 (schema 2.9.1): five calls of a kernel in a range, on an A100."""
import sqlite3
import sys

PROCESS = 1000 << 24
THREAD = PROCESS | 1000
TABLES = {
    "EXPORT_META_DATA": "name value",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime localTime",
    "ANALYSIS_DETAILS": "globalVid duration startTime stopTime",
    "TARGET_INFO_GPU": "vmId id name busLocation isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount uuid computeMajor computeMinor",
    "StringIds": "id value",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start end deviceId contextId streamId correlationId globalPid demangledName shortName mangledName launchType"
                                  " registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory gridId graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind dstKind graphNodeId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid correlationId nameId returnValue",
    "NVTX_EVENTS": "start end eventType rangeId category color text globalTid endGlobalTid textId domainId",
}
ROWS = {
    "EXPORT_META_DATA": [("EXPORT_PRODUCT_VERSION", "2022.2.1.31"), ("EXPORT_SCHEMA_VERSION", "2.9.1")],
    "TARGET_INFO_SESSION_START_TIME": [(1_700_000_000_000_000_000, "2023-11-14T22:13:20", "2023-11-14T22:13:20")],
    "ANALYSIS_DETAILS": [(0, 2_000_000_000, 0, 2_000_000_000)],
    "TARGET_INFO_GPU": [(0, 0, "NVIDIA A100-SXM4-40GB", "", 1, 41_943_040, 42_297_524_224, 1_555_200_000_000, 1_410_000_000, 108, "", 8, 0)],
    "StringIds": [(1, "saxpy(double *, double *)"), (2, "saxpy"), (3, "_Z5saxpyPdS_"), (4, "cudaLaunchKernel"), (5, "cudaMemcpy")],
}


def call(i):
    """A copy, and a kernel of 17.7 ms in a range."""
    at, copy, launch = 100_000_000 * (i + 1), 2 * i + 1, 2 * i + 2
    yield "CUPTI_ACTIVITY_KIND_RUNTIME", (at, at + 19_000_000, 0, THREAD, copy, 5, 0)
    yield "CUPTI_ACTIVITY_KIND_MEMCPY", (at + 100_000, at + 18_900_000, 0, 1, 7, copy, PROCESS, 262_144_000, 1, 0, 2, None)
    yield "NVTX_EVENTS", (at + 20_000_000, at + 20_060_000, 59, None, None, None, "saxpy", THREAD, None, None, 0)
    yield "CUPTI_ACTIVITY_KIND_RUNTIME", (at + 20_010_000, at + 20_030_000, 0, THREAD, launch, 4, 0)
    yield "CUPTI_ACTIVITY_KIND_KERNEL", (at + 20_040_000, at + 37_740_000, 0, 1, 7, launch, PROCESS, 1, 2, 3, 1, 26, 2, 1, 1, 512, 1, 1, 0, 0, i + 1, None)


def main():
    with sqlite3.connect(sys.argv[1]) as file:
        for table, columns in TABLES.items():
            names = columns.split()
            file.execute(f"CREATE TABLE {table} ({', '.join(chr(34) + name + chr(34) for name in names)})")
            file.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(names))})", ROWS.get(table, []))
        for i in range(5):
            for table, row in call(i):
                file.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)


main()
