#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording of a real H200 gives the report that the live run gave.
set -eu
unset LLMPERF_DTYPE LLMPERF_PEAK_TFLOPS LLMPERF_BANDWIDTH_GBS
export XDG_CACHE_HOME=$TMPDIR/cache # no measured peaks of this machine
data=$LLMPERF_TEST_DATA/h200

"$LLMPERF" import "$data/dummy_resnet.llmrec" -o "$TMPDIR/run" >/dev/null
"$LLMPERF" validate "$TMPDIR/run/metrics.json" >/dev/null
grep -q 'NVIDIA H200' "$TMPDIR/run/report.md"

python3 - "$data/dummy_resnet.metrics.json" "$TMPDIR/run/metrics.json" <<'EOF'
import json
import sys

# Follow from the rest and from the table of GPUs, which grows.
DERIVED = ("mfu", "mbu", "bound", "time_floor_ms", "floor_ratio", "peak", "peak_source", "bandwidth_gbs", "bandwidth_source",
           "wall_ratio", "intensity", "achieved_tflops", "attainable_tflops", "achieved_gbs", "mfu_limit", "cv", "dtype", "ridge",
           "sampled_fraction", "kernels_outside_window", "kernels_in_windows", "launches_duplicate", "graph_records_missing", "memory_missing", "records_before_launch", "records_foreign", "names_over_limit", "source_errors", "regions_abandoned", "regions_over_limit", "allocations_over_limit", "window_instances", "window_ms", "flops_origin", "bytes_origin", "mfu_measured", "mbu_measured", "measured", "measured_source", "collected_instances", "mfu_elapsed", "mbu_elapsed", "message_bytes", "clock", "time_ms", "warm_up_ms", "active_ms", "collected_wall_ms", "idle_ms")
DERIVED += ("warm_up_calls", "energy_j", "energy_error_j", "joules_per_token", "sm_clock_mhz", "mfu_at_clock")


def plain(part):
    if isinstance(part, list):
        return [plain(row) for row in part]
    if isinstance(part, dict):
        return {key: plain(value) for key, value in part.items() if key not in DERIVED}
    return part


live, replayed = (json.load(open(path)) for path in sys.argv[1:])
for part in ("regions", "stages", "operators", "kernels", "ledger", "hardware"):
    assert plain(live[part]) == plain(replayed[part]), f"{part}: {live[part]} is not {replayed[part]}"
ledger = replayed["ledger"]
assert ledger["verdict"] == "complete", ledger
assert ledger["launches_expected"] == ledger["kernels_seen"] == ledger["kernels_attributed"] == 950, ledger
counts = {region["path"].rsplit("@", 1)[1]: region["kernel_count"] for region in replayed["regions"]}
# A forward pass: stem 2, each of 3 blocks 2 + 2 + 1, head 2; 50 passes.
assert counts == {"forward": 950, "stem": 100, "residual": 750, "block.conv1": 300, "block.conv2": 300, "head": 100}, counts
EOF

# Nobody told the dtype: no peak to hold FLOPs against, but bytes meet the bandwidth. Told, all follows from the table.
LLMPERF_DTYPE=fp32 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/told.json"
LLMPERF_DTYPE=fp4 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/lacking.json"
LLMPERF_DTYPE=int4 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/stored.json"
LLMPERF_DTYPE=fp32 LLMPERF_PEAK_TFLOPS=1 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/low.json"
LLMPERF_PEAK_TFLOPS=abc "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/wrong.json"
for file in told lacking stored low wrong; do
    "$LLMPERF" validate "$TMPDIR/$file.json" >/dev/null
done
python3 - "$TMPDIR" <<'EOF'
import json
import sys

folder = sys.argv[1]
untold, told, lacking, stored, low, wrong = (
    json.load(open(f"{folder}/{name}.json")) for name in ("run/metrics", "told", "lacking", "stored", "low", "wrong"))


def near(value, expected):
    assert abs(value / expected - 1) < 1e-9, (value, expected)


def noted(metrics, key, words):
    assert any(note.startswith(key) and words in note for note in metrics["notes"]), (key, words, metrics["notes"])


hardware = told["hardware"]
assert hardware["peak"]["bf16"] == 989.4 and "fp4" not in hardware["peak"], hardware
assert hardware["bandwidth_gbs"] == 4800 and hardware["peak_source"].startswith("table: "), hardware
for region in told["regions"]:
    flops, data, busy = region["flops"], region["bytes"], region["gpu_busy_ms"]
    near(region["mfu"], flops / (busy / 1e3 * 67e12))
    near(region["mbu"], data / (busy / 1e3 * 4800e9))
    floor = 1e3 * max(flops / 67e12, data / 4800e9)
    near(region["time_floor_ms"], floor)
    near(region["floor_ratio"], busy / floor)
noted(told, "mfu and floors", "dense fp32 peak of 67 TFLOP/s")
bounds = {region["label"]: region["bound"] for region in told["regions"]}
# The head is busy for a third of its host time because the host waits in it for the rest of the pass.
assert bounds == {"LLM@forward": "balanced", "LLM@head": "memory", "LLM@residual": "balanced", "LLM@block.conv1": "compute",
                  "LLM@block.conv2": "compute", "LLM@stem": "memory"}, bounds
for metrics, words in ((untold, "set LLMPERF_DTYPE"), (lacking, "no fp4 unit"), (stored, "activations")):
    noted(metrics, "mfu is null", words)
    for region in metrics["regions"]:
        assert region["mfu"] is region["bound"] is region["time_floor_ms"] is None, region
        near(region["mbu"], region["bytes"] / (region["gpu_busy_ms"] / 1e3 * 4800e9))
# A peak that the run exceeds is a fault, not 300 %.
noted(low, "mfu is null", "above 1")
assert all(region["mfu"] is None or 0 < region["mfu"] <= 1 for region in low["regions"])
noted(wrong, "mfu is null", "LLMPERF_PEAK_TFLOPS=abc")
assert wrong["hardware"]["peak"] == {} and wrong["hardware"]["bandwidth_gbs"] is None
assert all(region["mfu"] is region["mbu"] is None for region in wrong["regions"])
EOF

# Peaks measured on this GPU with this driver: the reports have both denominators.
mkdir -p "$XDG_CACHE_HOME/llmperf"
cat >"$XDG_CACHE_HOME/llmperf/GPU-d43566c9-05c7-ccde-7af9-7c28194876bd-580.159.04.yaml" <<'EOF'
schema_version: 1
measured_at: '2026-11-21T07:30:53Z'
driver: '580.159.04'
peaks:
  copy: {best: 4276.869, median: 4250.612, clock_mhz: 1980.000, repeats: 250, how: 'kernel'}
  read: {best: 4535.300, median: 4511.600, clock_mhz: 1980.000, repeats: 250, how: 'kernel'}
  fp32: {best: 51.140, median: 51.000, clock_mhz: 1935.000, repeats: 12, how: 'cuBLASLt'}
  tf32: {reason: 'no time'}
EOF
LLMPERF_DTYPE=fp32 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/cached.json"
LLMPERF_DTYPE=tf32 "$LLMPERF" report "$TMPDIR/run" --format json >"$TMPDIR/part.json"
LLMPERF_DTYPE=fp32 "$LLMPERF" report "$TMPDIR/run" >"$TMPDIR/cached.md"
# A run that recorded measured peaks keeps them, whatever this machine has.
cp -r "$TMPDIR/run" "$TMPDIR/recorded"
python3 - "$TMPDIR/recorded/run.llmperf" <<'EOF'
import json
import sqlite3
import sys

store = sqlite3.connect(sys.argv[1])
(text,) = store.execute("SELECT value FROM fact WHERE key = 'env'").fetchone()
env = json.loads(text)
env["gpus"][0]["measured"] = {"measured_at": "2026-01-01T00:00:00Z", "read": 4000, "fp32": 50, "bf16": -1, "fp16": "x"}
store.execute("UPDATE fact SET value = ? WHERE key = 'env'", (json.dumps(env),))
store.execute("DELETE FROM checksum")  # of rows as they were written
store.commit()
EOF
LLMPERF_DTYPE=fp32 "$LLMPERF" report "$TMPDIR/recorded" --format json >"$TMPDIR/recorded.json"
for file in cached part recorded; do
    "$LLMPERF" validate "$TMPDIR/$file.json" >/dev/null
done
python3 - "$TMPDIR" <<'EOF'
import json
import sys

told, cached, part, recorded = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("told", "cached", "part", "recorded"))


def check(metrics, tflops, gbs):
    above = 0
    for region in metrics["regions"]:
        for share, achieved, peak in (("mfu_measured", "achieved_tflops", tflops), ("mbu_measured", "achieved_gbs", gbs)):
            expected = region[achieved] / peak
            if expected > 1:
                above += 1
                assert region[share] is None, region
            else:
                assert abs(region[share] / expected - 1) < 1e-9, region
    return above


assert told["hardware"]["measured"] == {} and told["hardware"]["measured_source"] is None
assert all(region["mfu_measured"] is region["mbu_measured"] is None for region in told["regions"])
assert any(note.startswith("mfu_measured is null") and "--measure" in note for note in told["notes"])
assert cached["hardware"]["measured"] == {"copy": 4276.869, "read": 4535.3, "fp32": 51.14}
assert "2026-11-21T07:30:53Z with driver 580.159.04" in cached["hardware"]["measured_source"]
above = check(cached, 51.14, 4535.3)
assert (above > 0) == any("faster than the measured peak" in note for note in cached["notes"])
assert [region["mfu"] for region in cached["regions"]] == [region["mfu"] for region in told["regions"]]
assert all(region["mfu_measured"] is None for region in part["regions"])
assert any("mfu_measured is null" in note and "no time" in note for note in part["notes"])
assert recorded["hardware"]["measured"] == {"read": 4000, "fp32": 50} and "env.json" in recorded["hardware"]["measured_source"]
check(recorded, 50, 4000)
EOF
grep -q "^## Roofline, MFU and MBU" "$TMPDIR/cached.md"
grep -qE "^- fp32 peak: 67.00 TFLOP/s \(table, .*; measured: 51.14, 76.3 % of it$" "$TMPDIR/cached.md"
grep -qE "^- memory bandwidth: 4800 GB/s \(table, .*; measured: 4535, 94.5 % of it$" "$TMPDIR/cached.md"

# Nobody is told of a floor above the time that was measured.
LLMPERF_DTYPE=fp32 "$LLMPERF" report "$TMPDIR/run" --format summary | grep -q "this GPU could do it in"
LLMPERF_DTYPE=fp32 LLMPERF_PEAK_TFLOPS=0.1 "$LLMPERF" report "$TMPDIR/run" --format summary >"$TMPDIR/wrong.md"
! grep -q "this GPU could do it in" "$TMPDIR/wrong.md"
