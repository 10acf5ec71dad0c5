#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pictures of reports in docs/, of runs made from the recordings in the repository, by a Chromium without a window.
#   docs/picture.sh LLMPERF [FOLDER]     LLMPERF: the command, such as build/tools/llmperf
# Debian packages: chromium, pngquant.
set -eu
source=$(realpath "$(dirname "$0")/..")
llmperf=$(realpath "${1:?usage: docs/picture.sh LLMPERF [FOLDER]}") out=$(realpath "${2:-$source/docs}")
export LLMPERF_CONFIG_DIR=${LLMPERF_CONFIG_DIR:-$source/conf}
for tool in chromium pngquant; do
    command -v "$tool" >/dev/null || { echo "picture.sh: no $tool; apt-get install $tool" >&2; exit 3; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out/pictures"

# run NAME FILE [OPTION...]: a run, made from a recording or a file of another profiler.
run() {
    name=$1 file=$2
    shift 2
    "$llmperf" import "$source/$file" -o "$work/$name" "$@" >/dev/null
}

# picture PAGE NAME HEIGHT [CLICK]: light and dark. CLICK: what is clicked first, as a selector.
picture() {
    page="$work/page.html"
    sed "s#</body>#<script>addEventListener('load', () => { const first = document.querySelector('${4:-none}'); if (first) first.click(); });</script></body>#" "$1" >"$page"
    for scheme in light dark; do
        [ "$scheme" = light ] && number=1 suffix= || number=0 suffix=-dark
        timeout 60 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --enable-logging=stderr \
            --blink-settings=preferredColorScheme="$number" --window-size=1280,"$3" --screenshot="$work/shot.png" "file://$page" >"$work/log" 2>&1
        if grep CONSOLE "$work/log"; then
            echo "picture.sh: $2: the page has messages for the console" >&2
            exit 1
        fi
        pngquant --force --speed 1 --output "$out/pictures/$2$suffix.png" 64 "$work/shot.png"
        stat -c '%n: %s bytes' "$out/pictures/$2$suffix.png"
    done
}

run eager examples/data/dsocr_base.llmrec --model deepseek_ocr --dtype bf16
run graphs examples/data/dsocr_base_graphs.llmrec --model deepseek_ocr --dtype bf16
run rank_0 tests/data/h200/engine/tensor_0.llmrec --model deepseek_ocr --dtype bf16
run rank_1 tests/data/h200/engine/tensor_1.llmrec --model deepseek_ocr --dtype bf16
run ncu tests/data/ncu/ranges.ncu-rep
run whisper tests/data/h200/whisper/eager.llmrec
run whisper_graph tests/data/h200/whisper/graph.llmrec
"$llmperf" merge "$work/rank_0" "$work/rank_1" -o "$work/ranks" >/dev/null
"$llmperf" compare "$work/whisper" "$work/whisper_graph" --format html >"$work/compare.html" || [ $? = 1 ]
picture "$work/eager/report.html" eager 960
picture "$work/graphs/report.html" graphs 1000
picture "$work/ranks/report.html" ranks 1420 '[data-jump="2"]'
picture "$work/ncu/report.html" ncu 960
picture "$work/compare.html" compare 700
cp "$out/pictures/graphs.png" "$out/report.png"
