#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the library costs an inference engine: decode steps of a document model and of a part of Llama 3 8B, without regions and
# session, with regions only, in light and in deep, launched one by one and as a CUDA graph. Each measurement is a process of its
# own; the modes take turns. Fails if a process in deep is not complete, one in light not sampled, or a kernel is missing. Needs
# bash, awk, sort and a device.
#
#   bench_engine.sh PROGRAM [ROUNDS] [REPEATS]    PROGRAM is dsocr_profile; 3 rounds of 4 repeats of 256 steps unless told
set -euo pipefail
export LC_ALL=C
for name in "${!LLMPERF_@}"; do
    case $name in LLMPERF_CONFIG_DIR | LLMPERF_CUPTI_*) ;; *) unset "$name" ;; esac
done
program=$(realpath "$1")
rounds=${2:-3}
repeats=${3:-4}
# Beside the program, so that the two can be carried to another machine together.
export LD_LIBRARY_PATH=$(dirname "$program")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lines=$folder/lines

workloads="deepseek_ocr llama_3_8b"
options_of() {
    case $1 in
    deepseek_ocr) echo "--mode base dataset.samples=1" ;;
    llama_3_8b) echo "--model llama_3_8b --layers 8 --prompt-tokens 128" ;;
    esac
}
title_of() {
    case $1 in
    deepseek_ocr) echo "DeepSeek-OCR" ;;
    llama_3_8b) echo "Llama 3 8B, 8 of 32 layers" ;;
    esac
}

run_engine() { # WORKLOAD LAUNCHED MODE REPEATS
    local graphs=--graphs
    [ "$2" = graph ] || graphs=
    # shellcheck disable=SC2046,SC2086 # words
    "$program" $(options_of "$1") $graphs --tier "$3" --new-tokens 256 --repeats "$4" --out "$folder/runs" >"$folder/out" 2>&1 && return 0
    local status=$?
    if grep -q "no GPU to run on" "$folder/out"; then
        echo "no device"
        exit 77
    fi
    echo "$1 $2 $3: exit code $status"
    cat "$folder/out"
    exit 1
}

# WORKLOAD LAUNCHED MODE MEAN_US MEDIAN_US P99_US STEPS VERDICT KERNELS COLLECTED_PERCENT KERNELS_A_STEP
read_engine() { # WORKLOAD LAUNCHED MODE
    awk -v head="$1 $2 $3" '
        /^Decode step: / { step = sprintf("%.2f %.2f %.2f %d", 1e3 * $3, 1e3 * $6, 1e3 * $9, $13) }
        /^ledger: / {
            verdict = $2; sub(",", "", verdict); kernels = $3
            for (i = 4; i < NF; i++) {
                if ($i == "%") collected = $(i - 1)
                if ($(i + 1) == "in") each = $i
            }
        }
        END { if (!step) exit 1; print head, step, verdict ? verdict : "-", kernels + 0, collected ? collected : "-", each ? each : "-" }
    ' "$folder/out"
    grep "^problem: " "$folder/out" || true
    rm -rf "$folder/runs"
}

run_engine deepseek_ocr eager none 1 # brings its files into memory, and ends here without a device
for ((round = 0; round < rounds; round++)); do
    for workload in $workloads; do
        for launched in eager graph; do
            for mode in none regions light deep; do
                run_engine "$workload" $launched $mode "$repeats"
                read_engine "$workload" $launched $mode | tee -a "$lines"
            done
        done
    done
done

# WORKLOAD LAUNCHED MODE COLUMN -> the median of its rounds, or "-"
median() {
    awk -v w="$1" -v l="$2" -v m="$3" -v c="$4" '$1 == w && $2 == l && $3 == m { print $c }' "$lines" | sort -g |
        awk '{ v[NR] = $1 } END { print NR % 2 || v[1] == "-" ? v[int((NR + 1) / 2)] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
words() { # WORKLOAD LAUNCHED MODE COLUMN -> each that occurs, once
    awk -v w="$1" -v l="$2" -v m="$3" -v c="$4" '$1 == w && $2 == l && $3 == m { print $c }' "$lines" | sort -u | paste -sd,
}

echo "$rounds processes a mode, medians of the mean and of the median step:"
for workload in $workloads; do
    for launched in eager graph; do
        for mode in none regions light deep; do
            awk -v w="$workload" -v l=$launched -v m=$mode -v a="$(median "$workload" $launched $mode 4)" -v b="$(median "$workload" $launched $mode 5)" \
                -v na="$(median "$workload" $launched none 4)" -v nb="$(median "$workload" $launched none 5)" \
                -v verdict="$(words "$workload" $launched $mode 8)" -v share="$(median "$workload" $launched $mode 10)" 'BEGIN {
                    printf "  %-12s %-5s %-7s mean %9.2f us (%+6.2f %%)  median %9.2f us (%+6.2f %%)  %s%s\n", w, l, m,
                        a, 100 * (a / na - 1), b, 100 * (b / nb - 1), verdict, share == "-" ? "" : ", collected " share " %"
                }'
        done
        awk -v none="$(median "$workload" $launched none 4)" -v regions="$(median "$workload" $launched regions 4)" \
            -v deep="$(median "$workload" $launched deep 4)" -v n="$(words "$workload" $launched deep 11)" 'BEGIN {
                printf "  attribution: %.1f ns for each of %s kernels of a step, %.4f %% of the step; regions %.2f us, records and attribution %.2f us\n",
                    1e3 * (deep - none) / n, n, 100 * (deep - none) / none / n, regions - none, deep - regions
            }'
    done
done

row() { # WORKLOAD LAUNCHED MODE AIM
    awk -v what="$(title_of "$1"), decode step, $2, $3" -v x="$(median "$1" "$2" "$3" 4)" -v none="$(median "$1" "$2" none 4)" \
        -v n="$(words "$1" "$2" deep 11)" -v share="$(median "$1" "$2" "$3" 10)" -v verdict="$(words "$1" "$2" "$3" 8)" -v aim="$4" 'BEGIN {
            more = 100 * (x / none - 1)
            printf "| %s | %.1f us, %+.2f %%, %s%s | none %.1f us, %s kernels | %s | %s |\n", what, x, more, verdict, share == "-" ? "" : ", collected " share " %",
                none, n, aim ? "<= " aim " %" : "-", aim ? (more <= aim ? "yes" : "no") : "-"
        }'
}
for workload in $workloads; do
    for launched in eager graph; do
        row "$workload" $launched light 1
        row "$workload" $launched deep ""
    done
done

# A profiler that loses records must not win. Graphs replay what is launched one by one, so all in deep see as many kernels.
status=0
for workload in $workloads; do
    verdicts=$(words "$workload" eager deep 8),$(words "$workload" graph deep 8),$(words "$workload" eager light 8),$(words "$workload" graph light 8)
    kernels=$(awk -v w="$workload" '$1 == w && $3 == "deep" { print $9 }' "$lines" | sort -u | paste -sd,)
    if [ "$verdicts" != complete,complete,sampled,sampled ]; then
        echo "$workload: verdicts of deep and light, eager and graph, are $verdicts"
        status=1
    fi
    if [ "${kernels%,*}" != "$kernels" ]; then
        echo "$workload: processes in deep do not see the same number of kernels: $kernels"
        status=1
    fi
done
exit $status
