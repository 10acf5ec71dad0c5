#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden tables of a run: what its metrics.json says of the ledger, of each region, of the larger kernels and of counters.

golden.py METRICS_JSON > NAME.golden.json
"""
import json
import sys

LEDGER = ("verdict", "launches_expected", "graph_launches", "memory_calls", "kernels_seen", "memory_seen", "kernels_attributed",
          "kernels_unattributed", "launches_missing", "records_dropped", "sampled_fraction")
REGION = ("instances", "kernel_count", "memcpy_count", "tokens", "flops", "bytes", "wall_ms", "gpu_busy_ms", "kernel_ms")
KERNEL = ("calls", "total_ms")
METRIC = ("count", "mean", "min", "max")
SMALLEST_SHARE = 0.001  # of device time, for a kernel to have a row


def rows(items, key, columns, value):
    found = {}
    for item in items:
        name = key(item)
        if name in found:
            raise ValueError(f"two rows of {name}: golden tables are of one process and one device")
        found[name] = [value(item[column]) for column in columns]
    return found


def exact(value):
    value = value["sum"] if isinstance(value, dict) else value
    return round(value, 6) if isinstance(value, float) else value


def six_digits(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def tables(metrics):
    large = [kernel for kernel in metrics["kernels"] if (kernel["share"] or 0) > SMALLEST_SHARE]
    return {
        "ledger": {key: six_digits(metrics["ledger"][key]) for key in LEDGER},
        "regions": rows(metrics["regions"], lambda row: row["path"], REGION, exact),
        "kernels": rows(large, lambda row: " | ".join(str(row[key]) for key in ("kernel_name", "region", "captured_in")), KERNEL, exact),
        "metrics": rows(metrics["metrics"], lambda row: " | ".join(str(row[key]) for key in ("region", "kernel", "name")), METRIC,
                        six_digits),
    }


def write(found, file):
    """A line for each row, so that a change reads well."""
    parts = []
    for part, table in found.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items()]
        parts.append(f" {json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n }" if lines else f" {json.dumps(part)}: {{}}")
    file.write("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        write(tables(json.load(source)), sys.stdout)
