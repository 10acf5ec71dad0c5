#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of the always-on tier: decode steps of 300 kernels, in a CUDA graph, launched one by one, and in a graph of which 90 kernels get
# new parameters in each step, without a profiler, in light and in deep, and with a bare CUPTI program. Each measurement is a process of its own; the modes take turns. Needs bash, awk, sort and a device.
#
#   bench_light.sh PROGRAM [ROUNDS] [SECONDS] [MODES] [WORKLOADS]     PROGRAM is bench_light; 4 rounds of 4 s unless told
# Mode bare needs bare_cupti.so beside PROGRAM.
set -eu
export LC_ALL=C
program=$(realpath "$1")
rounds=${2:-4}
seconds=${3:-4}
modes=${4:-none light detach deep}
workloads=${5:-graph eager update}
# Beside the program, so that the two can be carried to another machine together.
LD_LIBRARY_PATH=$(dirname "$program")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

for workload in $workloads; do
    for ((round = 0; round < rounds; round++)); do
        for mode in $modes; do
            if [ "$mode" = bare ]; then
                CUDA_INJECTION64_PATH=$(dirname "$program")/bare_cupti.so "$program" "$workload" none "$seconds" | sed 's/ none / bare /'
            else
                "$program" "$workload" "$mode" "$seconds"
            fi | tee -a "$lines"
        done
    done
done

# WORKLOAD MODE COLUMN -> the median of its rounds
median() {
    awk -v w="$1" -v m="$2" -v c="$3" '$1 == w && $2 == m { print $c }' "$lines" | sort -n |
        awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

echo "$rounds processes a mode, medians of the mean step:"
for workload in $workloads; do
    for mode in $modes; do
        awk -v w="$workload" -v m="$mode" -v a="$(median "$workload" "$mode" 3)" -v n="$(median "$workload" none 3)" \
            -v s="$(median "$workload" "$mode" 7)" 'BEGIN { printf "  %-6s %-6s %9.2f us a step (%+.2f %%)  collected %.1f %%\n", w, m, a, 100 * (a / n - 1), 100 * s }'
    done
done
