#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long a browser takes to open report.html of a run of a million kernels: tests/bench/open_page.sh BUILD [ROUNDS]
# 24 layers x 6 operators, two kernels in each, 3473 decode steps on the fake device. Chromium without a window and without a GPU draws the page at
# 1280 x 1400; a script added at its end says when the first frame after the load event was drawn, in ms since the navigation began. Debian package: chromium.
set -eu
build=$(realpath "${1:?usage: open_page.sh BUILD [ROUNDS]}") source=$(realpath "$(dirname "$0")/../..")
command -v chromium >/dev/null || { echo "open_page.sh: no chromium; apt-get install chromium" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LLMPERF_LIBRARY="$build/lib/libllmperf.so" LLMPERF_CONFIG_DIR="$source/conf" PYTHONPATH="$source/bindings/python" python3 - "$work" <<'PYTHON'
import pathlib
import sys

import llmperf

lines = ["begin LLM@decode_all", "repeat 3473", "begin LLM@decode_step tokens=1"]
for i, name in ((i, name) for i in range(24) for name in ("norm", "qkv", "attention", "proj", "gate", "mlp")):
    lines += [f"begin LLM@layer_{i:02d}", f"begin LLM@{name}"]
    lines += [f'launch "void {name}_kernel_{i % 2}<float, 128, 4>(float const*, float*, int)" stream={stream} duration={900 + 317 * (i % 11)}' for stream in (7, 8)]
    lines += ["end", "end"]
folder = pathlib.Path(sys.argv[1])
(folder / "script").write_text("\n".join(lines + ["end", "done", "end"]) + "\n", encoding="utf-8")
with llmperf.Session(source="fake", device_path=folder / "script") as session:
    pass
(folder / "report.html").write_text(session.profile.document("report.html"), encoding="utf-8")
print(session.profile.ledger()["kernels_seen"], "kernels,", (folder / "report.html").stat().st_size, "bytes")
PYTHON
cat >>"$work/report.html" <<'SCRIPT'
<script>addEventListener("load", () => requestAnimationFrame(() => setTimeout(() =>
    console.log(`opened: drawn after ${Math.round(performance.now())} ms, ${document.querySelectorAll("*").length} elements;`))));</script>
SCRIPT
for ((i = 0; i < ${2:-5}; i++)); do
    timeout 60 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" --enable-logging=stderr --window-size=1280,1400 \
        --screenshot="$work/shot.png" "file://$work/report.html" 2>&1 | grep -o "opened: [^;]*"
done
