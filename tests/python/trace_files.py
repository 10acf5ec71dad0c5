# SPDX-License-Identifier: Apache-2.0
"""Readers of the trace files that the library writes, made from the public descriptions of their formats and from nothing of the
library. Each gives the same: slices by track, counters, arrows."""
from __future__ import annotations

import json
import sqlite3
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple


def varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def message(data: bytes) -> Dict[int, List[Any]]:
    """Fields of a protobuf message by number: integers, or bytes."""
    fields: Dict[int, List[Any]] = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field that ends behind its message")
        else:
            raise ValueError(f"wire type {wire}")
        fields[key >> 3].append(value)
    return fields


def one(fields: Dict[int, List[Any]], number: int, default: Any = None) -> Any:
    values = fields.get(number, [default])
    if len(values) != 1:
        raise ValueError(f"field {number} stands {len(values)} times")
    return values[0]


@dataclass
class Slice:
    track: Any
    name: str
    category: str
    begin: int
    end: int
    args: Dict[str, Any] = field(default_factory=dict)
    depth: int = 0


@dataclass
class Trace:
    slices: List[Slice] = field(default_factory=list)
    instants: List[Slice] = field(default_factory=list)
    tracks: Dict[Any, Tuple[str, Any]] = field(default_factory=dict)
    counters: Dict[str, List[Tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    arrows: List[Tuple[Slice, Slice]] = field(default_factory=list)
    process: Optional[int] = None

    def of(self, category: str) -> List[Slice]:
        return [item for item in self.slices if item.category == category]

    def name_of_track(self, item: Slice) -> str:
        return self.tracks[item.track][0]


class Perfetto:
    """https://perfetto.dev/docs/reference/trace-packet-proto"""

    def __init__(self, data: bytes) -> None:
        self.trace = Trace()
        self.sequences: Dict[int, Dict[int, Dict[int, str]]] = defaultdict(lambda: {1: {}, 2: {}, 3: {}, 29: {}})
        self.sequence = 0
        self.open: Dict[int, List[Slice]] = defaultdict(list)
        self.last: Dict[int, int] = defaultdict(int)
        self.flows: Dict[int, Slice] = {}
        whole = message(data)
        if set(whole) - {1}:
            raise ValueError("a trace holds packets only")
        for packet in whole[1]:
            self.packet(message(packet))
        if any(self.open.values()):
            raise ValueError("a slice without an end")

    def intern(self, data: bytes) -> None:
        for number, items in message(data).items():
            table = self.sequences[self.sequence][number]
            for item in items:
                fields = message(item)
                if one(fields, 1) in table:
                    raise ValueError("a number that is given twice")
                table[one(fields, 1)] = one(fields, 2).decode()

    def packet(self, fields: Dict[int, List[Any]]) -> None:
        state = one(fields, 13, 0)
        self.sequence = one(fields, 10, 0)
        if self.sequence == 0 or (state & 2 and self.sequence not in self.sequences):
            raise ValueError("a packet of no sequence, or before its state")
        if state & 1:
            self.sequences.pop(self.sequence, None)
        if 12 in fields:
            self.intern(one(fields, 12))
        if 60 in fields:
            self.track(message(one(fields, 60)))
        if 11 in fields:
            self.event(one(fields, 8), message(one(fields, 11)))

    def track(self, fields: Dict[int, List[Any]]) -> None:
        uuid, parent = one(fields, 1), one(fields, 5)
        name = one(fields, 2, b"").decode()
        if uuid in self.trace.tracks:
            raise ValueError("a track that is given twice")
        if parent is not None and parent not in self.trace.tracks:
            raise ValueError("a track below one that is not there")
        if 3 in fields:
            process = message(one(fields, 3))
            self.trace.process = one(process, 1)
            name = one(process, 6).decode()
        self.trace.tracks[uuid] = (name, parent)

    def args(self, fields: Dict[int, List[Any]]) -> Dict[str, Any]:
        found = {}
        tables = self.sequences[self.sequence]
        for item in fields.get(4, []):
            argument = message(item)
            value = next(tables[29][one(argument, 17)] if number == 17 else one(argument, number)
                         for number in (17, 3, 2) if number in argument)
            found[tables[3][one(argument, 1)]] = value
        return found

    def event(self, time: int, fields: Dict[int, List[Any]]) -> None:
        kind, track = one(fields, 9), one(fields, 11)
        if track not in self.trace.tracks:
            raise ValueError("an event on no track")
        if kind == 4:
            value = struct.unpack("<d", struct.pack("<Q", one(fields, 44)))[0]
            self.trace.counters[self.trace.tracks[track][0]].append((time, value))
            return
        if time < self.last[track]:
            raise ValueError("a track that goes back in time")
        self.last[track] = time
        if kind == 2:
            ended = self.open[track].pop()
            ended.end = time
            ended.args.update(self.args(fields))
            return
        name = one(fields, 23).decode() if 23 in fields else self.sequences[self.sequence][2][one(fields, 10)]
        item = Slice(track, name, self.sequences[self.sequence][1][one(fields, 3)], time, time, self.args(fields), len(self.open[track]))
        if kind == 1:
            self.open[track].append(item)
            self.trace.slices.append(item)
        elif kind == 3:
            self.trace.instants.append(item)
        else:
            raise ValueError(f"an event of type {kind}")
        for flow in fields.get(47, []):
            self.flows[flow] = item
        for flow in fields.get(48, []):
            self.trace.arrows.append((self.flows.pop(flow), item))


def read_perfetto(path: Any) -> Trace:
    with open(path, "rb") as file:
        return Perfetto(file.read()).trace


def nanoseconds(text: str) -> int:
    """Microseconds with three decimals, exactly."""
    whole, decimals = text.split(".")
    if len(decimals) != 3:
        raise ValueError(f"a time of {text}")
    return int(whole + decimals)


def read_chrome(path: Any) -> Trace:
    """JSON as Kineto writes it: the JSON module gives each number as its text, so that nothing is rounded."""
    with open(path, encoding="utf-8") as file:
        whole = json.load(file, parse_float=str)
    trace = Trace()
    begun: Dict[Tuple[int, int, int], Slice] = {}
    flows: Dict[int, Slice] = {}
    for event in whole["traceEvents"]:
        track = (event["pid"], event["tid"])
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                trace.tracks[track] = (event["args"]["name"], event["pid"])
            continue
        time = nanoseconds(event["ts"])
        if event["ph"] == "X":
            item = Slice(track, event["name"], event["cat"], time, time + nanoseconds(event["dur"]), event["args"])
            trace.slices.append(item)
            begun[track + (time,)] = item
        elif event["ph"] == "s":
            flows[event["id"]] = begun[track + (time,)]
        elif event["ph"] == "f":
            trace.arrows.append((flows.pop(event["id"]), begun[track + (time,)]))
        elif event["ph"] == "C":
            trace.counters[event["name"]].append((time, float(event["args"]["value"])))
        elif event["ph"] == "i":
            trace.instants.append(Slice(track, event["name"], event["cat"], time, time))
        else:
            raise ValueError(f"phase {event['ph']}")
    return trace


def nests(slices: List[Slice]) -> bool:
    """Of each two slices of a track one holds the other, or they do not overlap."""
    tracks: Dict[Any, List[Slice]] = defaultdict(list)
    for item in slices:
        tracks[item.track].append(item)
    for items in tracks.values():
        stack: List[Slice] = []
        for item in sorted(items, key=lambda item: (item.begin, -item.end)):
            while stack and stack[-1].end <= item.begin:
                stack.pop()
            if stack and item.end > stack[-1].end:
                return False
            stack.append(item)
    return True


def rows(path: Any, query: str) -> Iterator[Tuple[Any, ...]]:
    database = sqlite3.connect(path)
    try:
        yield from database.execute(query)
    finally:
        database.close()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unsigned(value: int) -> bytes:
    """A varint."""
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def put_machine(recording: Path, start: Optional[Tuple[int, int, int]] = None, **said: Any) -> None:
    """Make a recording say this of its machine (lib/sources/replay/recording.h has the format). start: a time on its clock, the same since
    1970, and its process."""
    data = recording.read_bytes()
    out, at, found = data[:8], 8, set()
    while at < len(data):
        kind, size, _ = struct.unpack_from("<III", data, at)
        payload = data[at + 12:at + 12 + size]
        if kind == 1:
            payload = json.dumps({**json.loads(payload), **said}).encode()
        elif kind == 11 and start:
            payload = b"".join(unsigned(number) for number in start)
        found.add(kind)
        out += struct.pack("<III", kind, len(payload), crc32c(payload)) + payload
        at += 12 + size
    if not {1, 11} <= found:
        raise ValueError("a recording that does not say where it was made")
    recording.write_bytes(out)


def put_gpus(recording: Path, gpus: List[Dict[str, Any]]) -> None:
    put_machine(recording, gpus=gpus)
