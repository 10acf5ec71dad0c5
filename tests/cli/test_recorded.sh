#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording of a real H200 gives the report that the live run gave.
set -eu
data=$LLMPERF_TEST_DATA/h200

"$LLMPERF" import "$data/dummy_resnet.llmrec" -o "$TMPDIR/run" >/dev/null
"$LLMPERF" validate "$TMPDIR/run/metrics.json" >/dev/null
grep -q 'NVIDIA H200' "$TMPDIR/run/report.md"

python3 - "$data/dummy_resnet.metrics.json" "$TMPDIR/run/metrics.json" <<'EOF'
import json
import sys

live, replayed = (json.load(open(path)) for path in sys.argv[1:])
for part in ("regions", "stages", "operators", "kernels", "ledger", "hardware"):
    assert live[part] == replayed[part], f"{part}: {live[part]} is not {replayed[part]}"
ledger = replayed["ledger"]
assert ledger["verdict"] == "complete", ledger
assert ledger["launches_expected"] == ledger["kernels_seen"] == ledger["kernels_attributed"] == 950, ledger
counts = {region["path"].rsplit("@", 1)[1]: region["kernel_count"] for region in replayed["regions"]}
# A forward pass: stem 2, each of 3 blocks 2 + 2 + 1, head 2; 50 passes.
assert counts == {"forward": 950, "stem": 100, "residual": 750, "block.conv1": 300, "block.conv2": 300, "head": 100}, counts
EOF
