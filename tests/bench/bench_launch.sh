#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of a kernel launch and of a CUDA graph replay: no profiler, a bare CUPTI program, llmperf. Each measurement is a process
# of its own; the modes take turns, so that a machine that drifts drifts for all of them. Needs bash, awk, sort and a device.
#
#   bench_launch.sh PROGRAM [ROUNDS]      PROGRAM is bench_launch; 7 rounds unless told
set -eu
export LC_ALL=C
program=$(realpath "$1")
rounds=${2:-7}
# Beside the program, so that the two can be carried to another machine together.
LD_LIBRARY_PATH=$(dirname "$program")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

for workload in launch graph graph_long; do
    for ((round = 0; round < rounds; round++)); do
        for mode in none bare llmperf regions; do
            "$program" "$workload" "$mode" >"$lines.one" || { status=$?; cat "$lines.one"; rm -f "$lines.one"; exit $status; }
            cat "$lines.one" >>"$lines"
        done
    done
done
rm -f "$lines.one"

# WORKLOAD MODE COLUMN -> the median of its rounds
median() {
    awk -v w="$1" -v m="$2" -v c="$3" '$1 == w && $2 == m { print $c }' "$lines" | sort -n |
        awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

echo "$rounds processes a mode, medians:"
for workload in launch graph graph_long; do
    for mode in none bare llmperf regions; do
        states=$(awk -v w="$workload" -v m="$mode" '$1 == w && $2 == m { print $5 }' "$lines" | sort | uniq -c | awk '{ printf "%s%s x%s", ((NR > 1) ? ", " : ""), $2, $1 }')
        awk -v w="$workload" -v m="$mode" -v a="$(median $workload $mode 3)" -v b="$(median $workload $mode 4)" \
            -v c="$(median $workload none 3)" -v d="$(median $workload none 4)" -v s="$states" 'BEGIN {
                if (w == "launch")
                    printf "  %-10s %-8s %8.0f ns a launch in bursts (x%.3f)  %8.0f ns back to back (x%.3f)  %s\n", w, m, a, a / c, b, b / d, s
                else
                    printf "  %-10s %-8s %8.4f ms a replay (%+.2f %%)  mean %8.4f ms (%+.2f %%)  %s\n", w, m, a, (a / c - 1) * 100, b, (b / d - 1) * 100, s
            }'
    done
done

# A profiler that loses records must not win: how many measurements of WORKLOAD and MODE did not get all of theirs.
faulty() {
    awk -v w="$1" -v m="$2" '$1 == w && $2 == m && $5 != "ok" && $5 != "complete" { n++ } END { print n + 0 }' "$lines"
}
row_ratio() { # WHAT MODE COLUMN
    awk -v what="$1" -v faulty="$(faulty launch "$2")" -v x="$(median launch "$2" "$3")" -v bare="$(median launch bare "$3")" -v none="$(median launch none "$3")" 'BEGIN {
        printf "| %s | %.0f ns, %.3f x bare | bare CUPTI %.0f ns, none %.0f ns | <= 1.05 x bare | %s |\n", what, x, x / bare, bare, none, faulty ? "NO: records are missing" : x / bare <= 1.05 ? "yes" : "NO"
    }'
}
row_graph() { # WHAT WORKLOAD
    awk -v what="$1" -v faulty="$(faulty "$2" llmperf)" -v x="$(median "$2" llmperf 3)" -v bare="$(median "$2" bare 3)" -v none="$(median "$2" none 3)" 'BEGIN {
        a = (x / none - 1) * 100; b = (bare / none - 1) * 100
        printf "| %s | %.4f ms, %+.2f %% | bare CUPTI %.4f ms (%+.2f %%), none %.4f ms | <= bare + 1 point | %s |\n", what, x, a, bare, b, none, faulty ? "NO: records are missing" : a - b <= 1 ? "yes" : "NO"
    }'
}
row_ratio "eager launch, host time in bursts of 500" llmperf 3
row_ratio "eager launch, back to back" llmperf 4
row_ratio "eager launch and its region, in bursts" regions 3
row_graph "graph replay, 500 empty kernels" graph
row_graph "graph replay, 500 kernels of 4.5 us" graph_long
