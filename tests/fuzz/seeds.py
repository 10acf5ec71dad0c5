#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for the fuzz targets: seeds.py FOLDER writes a folder for each target, of its own and of tests/data and conf."""
import glob
import os
import shutil
import sqlite3
import struct
import sys

KERNEL = ("start INTEGER, \"end\" INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
          "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER, graphNodeId INTEGER")
RUNTIME = ("start INTEGER, \"end\" INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, "
           "returnValue INTEGER")
NVTX = ("start INTEGER, \"end\" INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, "
        "textId INTEGER, domainId INTEGER")
MEMCPY = ("start INTEGER, \"end\" INTEGER, deviceId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, "
          "copyKind INTEGER")


def write_export(path: str) -> None:
    process = 1 << 48 | 10 << 24
    database = sqlite3.connect(path)
    database.executescript(f"""
        PRAGMA page_size=512;
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL({KERNEL});
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME({RUNTIME});
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY({MEMCPY});
        CREATE TABLE NVTX_EVENTS({NVTX});
        CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, cuDevice INTEGER, smCount INTEGER);
        INSERT INTO StringIds VALUES(1, 'void gemm<int>(float *)'), (2, 'cudaLaunchKernel_v7000'), (3, 'LLM@prefill');
        INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.25.0');
        INSERT INTO TARGET_INFO_GPU VALUES(0, 'NVIDIA H100', 0, 132);""")
    for i in range(1, 6):
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,0,1,7,?,?,1,1,1,NULL)",
                         (i * 100, i * 100 + 50, i, process))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,2,0)",
                         (i * 10, i * 10 + 5, process | 11, i))
        database.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,NULL,?,NULL,3,0)", (i, 200 - i, process | 11))
    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(700,800,0,9,?,64,1)", (process,))
    database.commit()
    database.close()


RANGES = '"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"'
CELL = '"916  ""LLM:prefill:none:none:none:none:ASCII:prefill""  ""LLM:mlp:none:none:none:none:ASCII:mlp"" "'
TABLES = {
    "raw": f'==PROF== x\n"ID","Process ID",{RANGES},"Kernel Name","Block Size","Grid Size","Device","CC",'
           f'"gpu__time_duration.sum","a"\n"","","","","","","","","us","Mbyte"\n'
           f'"0","916",{CELL},"k<4>(int)","(1, 1, 1)","(1, 1, 1)","0","9.0","1,234.5","n/a"\n',
    "range": f'"ID","Process ID",{RANGES},"Kernel Name","Device","CC","a"\n"","","","","","","byte"\n'
             f'"0","916",{CELL},"range","0","9.0","5"\n',
    "details": '"ID","Process ID","Kernel Name","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value",'
               '"Rule Name"\n"0","1","k","0","9.0","S","Duration","us","6.46",\n"0","1","k","0","9.0","S","","","","r"\n',
    "summary": '"Process ID","Process Name","Host Name","Kernel Name","Device","CC","Invocations","Section Name",'
               '"Metric Name","Metric Unit","Minimum","Maximum","Average"\n"1","x","h","k","0","9.0","4","S","Duration",'
               '"us","1","7","2.5"\n',
    "sums": 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n'
            '70.0,700,7,100.0,90.0,80,200,4.5,"k<int, 4>(int)"\n\n'
            'Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n50.0,70,9,1,cudaLaunchKernel\n\n'
            'Total (MB),Count,Avg (MB),Operation\n1.5,4,0.4,[CUDA memcpy HtoD]\n\n'
            'Time (%),Total Time (ns),Instances,Style,Range\n100.0,5000,2,PushPop,:LLM@prefill\n',
    "traces": 'Start (ns),End (ns),Name,PID,TID,Lvl\n100,900,:a,5,6,1\n200,300,D:b,5,6,2\n\n'
              'Start (ns),Duration (ns),CorrId,Bytes (MB),Device,Strm,Name\n5000,700,12,,GPU (0),13,k\n\n'
              'Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n250,20,cudaLaunchKernel,0,12,5,6\n',
    "projections": 'Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Min (ns)\n'
                   ':s,PushPop,900,1200,3,300,200\n\nNVTX Range,Kern Inst,Total Time (ns),Kernel Name\n:s,6,840,k\n',
}


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: object) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    assert isinstance(value, bytes)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_report(path: str) -> None:
    """A kernel and a range of ncu, with names and ranges."""
    ranges = field(1, 4) + field(3, field(1, b"prefill")) + field(3, field(1, b"mlp"))
    state = field(1, field(1, 4) + field(2, b"LLM")) + field(2, field(1, 5) + field(2, ranges))
    values = [field(1, 0) + field(2, varint(25) + struct.pack("<d", 1500)), field(1, 1) + field(2, field(5, 3)),
              field(1, 2) + field(2, field(1, b"text"))]
    kernel = field(1, 5) + field(7, b"void k<4>(int)") + b"".join(field(13, v) for v in values) + field(21, state)
    measured = field(1, 5) + b"".join(field(4, v) for v in values) + field(10, state)
    names = b"".join(field(1, n) for n in (b"gpu__time_duration.sum", b"launch__device_id", b"dram__bytes.sum"))
    command = field(3, field(11, b"ncu --replay-mode app-range"))
    report = b"NVR\0" + struct.pack("<I", 2) + field(1, 7)
    for kind, result in ((2, kernel), (7, measured)):
        header = field(kind, 1) + field(5, len(result) + 4) + field(6, field(1, 77)) + command
        header += field(4, names) if kind == 2 else b""
        report += struct.pack("<I", len(header)) + header + struct.pack("<I", len(result)) + result
    with open(path, "wb") as file:
        file.write(report)


OVERRIDES = ("run.stage=LLM@prefill\nprofiling/ncu@pipeline.ncu=ncu.hopper", "+a.b=[1,{c:2},'x y']\n~inputs\n++k=${run.id}",
             "a=\\\"b\\\"\nb='it''s'\nc=null\nd=1e-3", "hardware=h200,a100\ndataset=null\nrun.id=${oc.env:HOME}")


# Where, in three bytes, and what stands there then (fuzz_run.c); a document and a schema behind a NUL (fuzz_json.c); a domain, a
# text and a wide text (fuzz_nvtx.c); what a row of fuzz_timeline.c holds.
SMALL = {
    "run": [b"", b"\0\0\0\0", b"\0\0\x64\x05\0\0\x67\x01", b"\x01\x20\x10\xff" * 8, b"SQLite format 3\0" + bytes(84)],
    "json": [b"{}", b'{"schema_version": 1, "regions": [{"path": "LLM@prefill", "wall_ms": {"sum": 1e3}}], "notes": []}',
             b'{"a": [1, "x", null, true]}\0{"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/x"}}},'
             b' "$defs": {"x": {"anyOf": [{"type": "number"}, {"enum": ["x", null, true]}]}}}',
             b"[" * 3000, b'"\xc3\x28\x1b[31m"\0true'],
    "nvtx": [b"LLM\0prefill", b"NCCL\0AllReduce@x\0" + "weit\u00e4\u6f22".encode("utf-32-le"), b"\0\0", b"@\0@", b"a@b\0LLM@decode_step",
             b"\xff\x1b[31m\0\xe2\x80\xae" + b"x" * 2000, b"LLM\0" + b"\xc3" * 1100 + b"\0" + b"\xff" * 64],
    "timeline": [bytes(range(12)) * 3, b"\0" * 24],
    "recording": [b'{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "computeMajor": 9}], "baseTimeNanoseconds": 1760000000000000000,'
                  b' "distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents": [\n'
                  b'{"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=8]", "pid": 9, "tid": 1, "ts": 10.5, "dur": 90},\n'
                  b'{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": "[TP0] 9", "tid": 1, "ts": 20, "dur": 1, "args": {"correlation": 3}},\n'
                  b'{"ph": "X", "cat": "kernel", "name": "k\\u00e9", "pid": "[TP0] 0", "tid": 7, "ts": 30, "dur": 1e1, "args": {"stream": 7, "correlation": 3,'
                  b' "grid": [1, 2, 3], "graph id": 5, "graph node id": 21474836481, "captured in": "LLM@a/LLM@b"}},\n'
                  b'{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "ts": 50, "dur": 1, "args": {"bytes": 4096}}\n]}',
                  b'[{"ph": "B", "cat": "user_annotation", "name": "LLM@decode_step", "pid": 1, "tid": 1, "ts": 1}, {"ph": "E", "pid": 1, "tid": 1, "ts": 2}'],
}
COPIED = {
    "report": ["tests/data/ncu/*.ncu-rep"],
    "recording": ["tests/data/recordings/*.llmrec", "tests/data/h200/*.llmrec"],
    "model": ["tests/data/model/*.json", "conf/model/*/arch/*.yaml"],
    "limits": ["conf/hardware/*.yaml", "conf/kernel_classes.yaml"],
}


def main(folder: str) -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name in ("sqlite", "csv", "overrides", *SMALL, *COPIED):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for name, seeds in SMALL.items():
        for i, seed in enumerate(seeds):
            with open(os.path.join(folder, name, str(i)), "wb") as file:
                file.write(seed)
    for name, patterns in COPIED.items():
        for path in (path for pattern in patterns for path in glob.glob(os.path.join(root, pattern))):
            shutil.copy(path, os.path.join(folder, name))
    path = os.path.join(folder, "sqlite", "export")
    if os.path.exists(path):
        os.remove(path)
    write_export(path)
    write_report(os.path.join(folder, "report", "small"))
    for i, text in enumerate(OVERRIDES):
        with open(os.path.join(folder, "overrides", str(i)), "w", encoding="utf-8") as file:
            file.write(text)
    for name, text in TABLES.items():
        with open(os.path.join(folder, "csv", name), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(folder, "csv", name + "-wide"), "w", encoding="utf-16") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
