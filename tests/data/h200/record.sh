#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of dsocr_profile on this machine's GPU, each with the golden tables of the run that made it: those of examples/data
# (dsocr_*) and those of tests/data/h200/engine. Everything runs in /tmp/llmperf-record, because a recording holds the name of its
# program and the folder of its configuration. Goes on after a recording that failed; exit code 1 then.
#
#   record.sh DSOCR_PROFILE CONF_FOLDER OUT [NAME...]
set -uo pipefail
export LC_ALL=C
unset "${!LLMPERF_@}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden=$here/../../../examples/data/golden.py
work=/tmp/llmperf-record
program=$(realpath "$1")
conf=$(realpath "$2")
out=$(realpath -m "$3")
shift 3
library=$(ldd "$program" 2>/dev/null | awk '$1 == "libllmperf.so.0" { print $3 }')

rm -rf "$work"
mkdir -p "$work/bin" "$out"
cp "$program" ${library:+"$library"} "$work/bin/"
cp -r "$conf" "$work/conf"
export LLMPERF_CONFIG_DIR=$work/conf PATH=$work/bin:$PATH LD_LIBRARY_PATH=$work/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$work" || exit 1

options_of() {
    case $1 in
    dsocr_base) echo "--mode base --new-tokens 256 --repeats 1 dataset.samples=1" ;;
    dsocr_base_graphs) echo "--mode base --new-tokens 256 --repeats 1 dataset.samples=1 --graphs" ;;
    streams) echo "--streams 4 --mode base --new-tokens 8 --repeats 1 dataset.samples=4" ;;
    streams_graphs) echo "--streams 4 --mode base --new-tokens 8 --repeats 1 dataset.samples=4 --graphs" ;;
    counters) echo "--tier counters --mode base --new-tokens 8 --repeats 2 dataset.samples=1 --graphs" ;;
    light) echo "--tier light --mode base --new-tokens 200 --repeats 2 dataset.samples=1 --graphs" ;;
    ranks) echo "--ranks 2 --parallel replicas --mode base --new-tokens 8 --repeats 1 dataset.samples=1" ;;
    tensor) echo "--ranks 2 --mode base --new-tokens 8 --repeats 1 dataset.samples=1" ;;
    tensor_graphs) echo "--ranks 2 --mode base --new-tokens 8 --repeats 1 dataset.samples=1 --graphs" ;;
    *)
        echo "record.sh: no recording is called $1" >&2
        return 1
        ;;
    esac
}

keep() { # NAME RUN_DIRECTORY RECORDING
    mv "$3" "$out/$1.llmrec" && cp "$2/metrics.json" "$out/$1.metrics.json" && python3 "$golden" "$2/metrics.json" >"$out/$1.golden.json"
}

record() { # NAME
    local options run rank=0
    options=$(options_of "$1") || return 1
    # shellcheck disable=SC2086 # words
    if [[ $options = *--ranks* ]]; then # a recording is of one process: each rank keeps a trace, which is one
        LLMPERF_TRACE=1 dsocr_profile $options --out runs >"$out/$1.log" 2>&1 || return 1
        while read -r run; do
            keep "$1_$rank" "$run" "$run/trace.llmrec" || return 1
            rank=$((rank + 1))
        done < <(sed -n 's/^rank [0-9]*: //p' "$out/$1.log")
        [ "$rank" = 2 ]
    else
        dsocr_profile $options --record "$1.llmrec" --out runs >"$out/$1.log" 2>&1 && keep "$1" "$(tail -n 1 "$out/$1.log")" "$1.llmrec"
    fi
}

status=0
[ $# -gt 0 ] || set -- dsocr_base dsocr_base_graphs streams streams_graphs counters light ranks tensor tensor_graphs
for name; do
    if record "$name"; then
        echo "$name: $(du -cb "$out/$name"*.llmrec | tail -n 1 | cut -f 1) bytes"
    else
        echo "$name: failed"
        cat "$out/$name.log"
        status=1
    fi
done
exit $status
