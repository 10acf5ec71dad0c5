#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a first report: installs missing packages, builds, profiles a small network, and prints the paths of the
# reports and the next command.
# With a GPU it runs live on it, and DeepSeek-OCR with random weights too. Without one it runs on the CPU, and shows the reports of
# recorded runs on an H200.
set -euo pipefail
export LC_ALL=C
unset "${!LLMPERF_@}"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build-quickstart
runs=$root/runs
log=$runs/build.log
llmperf=$build/tools/llmperf
dummy_resnet=$build/examples/dummy_resnet/dummy_resnet
dsocr_profile=$build/examples/dsocr_profile/dsocr_profile
recording=$root/tests/data/h200/dummy_resnet.llmrec
. "$root/tests/packages.sh"

build_all() {
    local options=(--buildtype=debugoptimized -Dtests=disabled -Dbench=disabled -Dtools=enabled -Dexamples=enabled)
    if [ -f "$build/build.ninja" ] && ! meson setup "$build" "$root" --reconfigure "${options[@]}"; then
        rm -rf "${build:?}" # made by another meson, or for a tree that was moved
    fi
    [ -f "$build/build.ninja" ] || meson setup "$build" "$root" "${options[@]}"
    ninja -C "$build"
}

show() { # title, run directory
    printf '\n===== %s =====\n\n' "$1"
    head -n 40 "$2/report.md"
    shown+=("$2/report.html")
}

mkdir -p "$runs"
need_to_build
install_packages
echo "building in $build"
if ! with_progress "$log" build_all; then
    tail -n 40 "$log" >&2
    echo "the build failed; the whole log: $log" >&2
    exit 1
fi

shown=()
printf '\n===== llmperf doctor =====\n\n'
device=cpu
if "$llmperf" doctor; then
    device=cuda
fi

# The dtype of dummy_resnet, which MFU needs. For DeepSeek-OCR the model has it.
in_fp32=(env LLMPERF_DTYPE=fp32)

# The last line on standard output is the run directory.
if [ "$device" = cuda ] && run=$("${in_fp32[@]}" LLMPERF_TIER=deep "$dummy_resnet" --device cuda --iterations 50 --out "$runs" | tail -n 1); then
    show "dummy_resnet on this machine's GPU" "$run"
    if run=$(LLMPERF_TIER=deep "$dsocr_profile" --graphs --out "$runs" dataset.samples=1 | tail -n 1); then
        show "DeepSeek-OCR, random weights, on this machine's GPU" "$run"
    fi
else
    [ "$device" = cpu ] || echo "dummy_resnet did not run on the GPU (is there an nvcc? see $log); going on with the CPU"
    run=$("${in_fp32[@]}" "$dummy_resnet" --device cpu --iterations 5 --out "$runs" | tail -n 1)
    show "dummy_resnet on the CPU: host times only" "$run"
    if [ -f "$recording" ]; then
        rm -rf "${runs:?}/h200-recording"
        "${in_fp32[@]}" "$llmperf" import "$recording" -o "$runs/h200-recording" >/dev/null
        show "the same program, recorded on an H200" "$runs/h200-recording"
    fi
    run=$("$dsocr_profile" --recorded --out "$runs" | tail -n 1)
    show "DeepSeek-OCR, random weights, recorded on an H200" "$run"
fi

printf '\nReports, to be opened in a browser:\n'
printf '  %s\n' "${shown[@]}"
printf '\nNext, your own program (python3 train.py, a server, any command):\n'
printf '  %s run --out %s -- python3 train.py\n' "$llmperf" "$runs"
