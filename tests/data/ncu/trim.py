#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a small sample of a report of ncu and of its table: trim.py REPORT TABLE OUT_BASE RESULTS.

RESULTS: numbers of the results that stay, as "0,1,5". What names the machine, its paths and its processes goes, and so do sources,
sections, advice and values of single instances; results, their metrics and the state of NVTX stay byte by byte.
"""
import csv
import os
import struct
import sys

DROPPED = {"kernel": {15, 17, 18, 19, 28, 32}, "other": {7, 8, 14, 16, 17, 19, 20, 21, 22}}
NUMBERS = {1: "source", 2: "kernel", 7: "other", 8: "other", 9: "other"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def encode(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """(number, type, value, bytes as they stand) of a message."""
    at = 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            at += 8 if key & 7 == 1 else 4
            value = data[begin:at]
        yield key >> 3, key & 7, value, data[begin:at]


def field(number, value):
    if isinstance(value, int):
        return encode(number << 3) + encode(value)
    return encode(number << 3 | 2) + encode(len(value)) + value


def trim_result(kind, data):
    metrics = 13 if kind == "kernel" else 4
    out = b""
    for number, _, value, raw in fields(data):
        if number == metrics:
            out += field(number, b"".join(r for n, _, _, r in fields(value) if n != 3))
        elif number not in DROPPED[kind]:
            out += raw
    return out


def trim_header(header):
    out = b""
    for number, _, value, raw in fields(header):
        if number == 3:
            command = [v for n, _, v, _ in fields(value) if n == 11]
            if command:
                words = command[0].decode().split()
                mode = words[words.index("--replay-mode") + 1] if "--replay-mode" in words else "kernel"
                out += field(3, field(11, f"ncu --replay-mode {mode}".encode()))
        elif number == 6:
            out += field(6, b"".join(r for n, _, _, r in fields(value) if n == 1))
        elif number == 4:
            out += raw
    return out


def trim(data, kept):
    size = struct.unpack_from("<I", data, 4)[0]
    out, at, seen = data[:8 + size], 8 + size, 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        header, at = data[at + 4:at + 4 + size], at + 4 + size
        counts = {n: v for n, t, v, _ in fields(header) if t == 0}
        end, payload, left = at + counts.get(5, 0), b"", dict.fromkeys(NUMBERS, 0)
        for number, kind in NUMBERS.items():
            for _ in range(counts.get(number, 0)):
                size = struct.unpack_from("<I", data, at)[0]
                if kind != "source":
                    if seen in kept:
                        result = trim_result(kind, data[at + 4:at + 4 + size])
                        payload += struct.pack("<I", len(result)) + result
                        left[number] += 1
                    seen += 1
                at += 4 + size
        assert at == end
        header = trim_header(header) + b"".join(field(n, c) for n, c in left.items() if c) + field(5, len(payload))
        out += struct.pack("<I", len(header)) + header + payload
    return out


def main(report, table, base, numbers):
    kept = {int(number) for number in numbers.split(",")}
    with open(report, "rb") as file:
        data = trim(file.read(), kept)
    with open(base + ".ncu-rep", "wb") as file:
        file.write(data)
    with open(table, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) > 5]
    for row in rows[2:]:
        row[2] = os.path.basename(row[2])
    with open(base + ".csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
            rows[:2] + [row for i, row in enumerate(rows[2:]) if i in kept])


if __name__ == "__main__":
    main(*sys.argv[1:])
