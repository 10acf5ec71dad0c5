#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reports of runs made from real files of ncu (tests/data/ncu): kernels, sections and advice.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
ncu=$LLMPERF_TEST_DATA/ncu
files_have() { grep -qF -- "$2" "$1" || die "$1 lacks: $2"; }
files_lack() { ! grep -qF -- "$2" "$1" || die "$1 has: $2"; }

expect 0 import "$ncu/sections.csv" -o raw pipeline.ncu.ncu_cli.export.sections=true
expect 0 validate raw
python3 - "$ncu/sections.csv" "$ncu/sections_details.csv" <<'PYTHON' || die "ncu_kernels"
import csv
import json
import sys

rows = json.load(open("raw/metrics.json"))["ncu_kernels"]
table = list(csv.reader(line for line in open(sys.argv[1]) if line.startswith('"')))
results = [dict(zip(table[0], line)) for line in table[2:]]
assert sum(row["results"] for row in rows) == len(results) == 7, rows
assert [row["total_ms"] for row in rows] == sorted((row["total_ms"] for row in rows), reverse=True)
assert abs(sum(row["share"] for row in rows) - 1) < 1e-9
number = lambda result, name: float(result[name].replace(",", ""))
for row in rows:
    mine = [r for r in results if r["Kernel Name"] == row["kernel_name"] and ("prefill" in r[table[0][4]]) == ("prefill" in (row["region"] or ""))
            and ("mlp" in r[table[0][4]]) == ("mlp" in (row["region"] or "")) and ("decode" in r[table[0][4]]) == ("decode" in (row["region"] or ""))]
    assert len(mine) == row["results"], (row, len(mine))
    for column, name, factor in (("duration_ms", "gpu__time_duration.sum", 1e-6), ("sm_percent", "sm__throughput.avg.pct_of_peak_sustained_elapsed", 1),
                                 ("memory_percent", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 1),
                                 ("dram_gbs", "dram__bytes.sum.per_second", 1e-9), ("l1_hit_percent", "l1tex__t_sector_hit_rate.pct", 1),
                                 ("l2_hit_percent", "lts__t_sector_hit_rate.pct", 1), ("occupancy_limit_percent", "sm__maximum_warps_per_active_cycle_pct", 1),
                                 ("occupancy_percent", "sm__warps_active.avg.pct_of_peak_sustained_active", 1), ("registers", "launch__registers_per_thread", 1),
                                 ("waves", "launch__waves_per_multiprocessor", 1)):
        mean = sum(number(r, name) for r in mine) / len(mine) * factor
        assert abs(row[column] - mean) <= 1e-6 * max(1, abs(mean)), (row, column, mean)

# The verdicts of ncu's own rule.
says = {"Compute is more heavily utilized than Memory": "compute", "This workload exhibits low compute throughput": "latency"}
details = list(csv.DictReader(line for line in open(sys.argv[2]) if line.startswith('"')))
for line in details:
    if line["Rule Name"] == "SOLBottleneck":
        assert {row["bound"] for row in rows if row["kernel_name"] == line["Kernel Name"]} == {says[line["Rule Description"]]}, line
PYTHON
files_have raw/report.md '| `templ` | `LLM@decode_all` | 2 | 49.58 |'
grep -A1 "What to look at first" raw/report.md >/dev/null && grep -q '^1. \*\*Medium\*\*: templ takes .* latency-bound' raw/report.md || die "the first advice"
files_lack raw/report.md "does not add up"
files_have raw/kernels.md "## Kernels measured by ncu"
files_have raw/report.html ncu_kernels

# Sections in the region's files; attributes of the device are in metrics.json only.
sections=raw/regions/LLM@decode_all/sections.txt
for line in "Section: GPU Speed Of Light Throughput" "Section: Memory Workload Analysis" "Section: Occupancy" "Section: Scheduler Statistics" "Achieved Occupancy"; do
    files_have "$sections" "$line"
done
for file in "$sections" raw/report.md raw/regions/*/report.md; do files_lack "$file" device__attribute; done
files_have raw/metrics.json device__attribute_warp_size
expect 0 import "$ncu/sections.csv" -o tables
[ ! -e tables/regions/LLM@decode_all/sections.txt ] || die "sections.txt without the configuration"

# Page details of the same run: the same numbers, as far as ncu prints digits.
expect 0 import "$ncu/sections_details.csv" -o details
python3 - <<'PYTHON' || die "page details"
import json

raw, details = (json.load(open(f"{run}/metrics.json"))["ncu_kernels"] for run in ("raw", "details"))
assert [(r["kernel_name"], r["region"], r["bound"]) for r in raw] == [(r["kernel_name"], r["region"], r["bound"]) for r in details]
for a, b in zip(raw, details):
    for column in ("duration_ms", "sm_percent", "memory_percent", "dram_gbs", "l2_hit_percent", "occupancy_percent"):
        assert abs(a[column] - b[column]) <= 2e-3 * a[column], (column, a, b)
    assert "LaunchStats" in b["reason"]
PYTHON

# A report of kernels with the same sections, and their states of warps.
expect 0 import "$ncu/sections.ncu-rep" -o report pipeline.ncu.ncu_cli.export.sections=true
files_have report/report.md "Unknown: no stage was marked"
files_have raw/report.md "Unknown: ncu measured kernels or ranges one by one"
files_lack report/report.md "| Stage | Clock | Calls |" # ncu sees no calls of regions
files_have report/kernels.md '| `resnet::conv3x3_kernel` | `LLM@forward/LLM@residual/LLM@block.conv1` | 2 | 27.71 | 93.42 | latency | 7.857 | 5.506 | 39.21 |'
files_have report/kernels.md '| 127.0 | 0.1212 | long scoreboard 57 %, wait 11 %, dispatch stall 3.1 % |'
for line in "Memory Workload Analysis" "Launch Statistics" "Warp State Statistics, cycles between two instructions" "long_scoreboard                            cycle      51.3758"; do
    files_have report/regions/LLM@residual/sections.txt "$line"
done

# Whole ranges: the measured duration is the busy time, and their sections are tables of the region.
expect 0 import "$ncu/ranges.ncu-rep" -o ranges
python3 - <<'PYTHON' || die "ranges"
import json

metrics = json.load(open("ranges/metrics.json"))
rows = {row["region"]: row for row in metrics["ncu_kernels"]}
assert metrics["created_at"] == "2026-11-21T10:33:26Z", metrics["created_at"]
assert len(rows) == 3 and all(row["kernel_name"] is None and row["bound"] == "latency" for row in rows.values())
for region in metrics["regions"]:
    if region["path"] in rows:
        assert abs(region["gpu_busy_ms"] - rows[region["path"]]["total_ms"]) < 1e-9, region
assert metrics["recommendations"][0]["id"] == "measured_kernel" and "LLM@forward/LLM@stem is the longest range" in metrics["recommendations"][0]["text"]
assert all(row["calls"] == 1 and row["total_time_ms"] is None and row["mean_ms"] is None for row in metrics["operators"]), metrics["operators"]
gpu = json.load(open("ranges/env.json"))["gpus"][0]
assert gpu["memory_bytes"] > 1e11 and gpu["l2_bytes"] > 5e7 and gpu["clock_khz"] == 1980000, gpu
PYTHON
files_have ranges/regions/LLM@stem/report.md "Section: Memory Workload Analysis"
files_have ranges/regions/LLM@stem/report.md "L2 Hit Rate                                %          87.7"
files_lack ranges/regions/LLM@stem/report.md device__attribute

# Region reports have the utilisation of the whole model, and a fingerprint with and without a configuration.
expect 0 import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o whole --dtype fp32
python3 - <<'PYTHON' || die "totals of a region report"
import hashlib
import json

report, metrics = json.load(open("whole/regions/report.json")), json.load(open("whole/metrics.json"))
assert report["totals"]["mfu"] == metrics["aggregates"]["mfu"] > 0 and report["totals"]["mbu"] == metrics["aggregates"]["mbu"], report["totals"]
assert report["config_fingerprint"] == hashlib.sha256(open("whole/config.yaml", "rb").read()).hexdigest()
assert json.load(open("tables/regions/report.json"))["config_fingerprint"] == hashlib.sha256(b"").hexdigest()
PYTHON
echo "fine"
