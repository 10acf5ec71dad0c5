#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seeds.sh PROGRAM TARGET: the program takes each seed of the target once (tests/fuzz/replay.c).
set -u
seeds=$(mktemp -d) || exit 99
trap 'rm -rf "$seeds"; rm -f /dev/shm/llmperf-fuzz-$program.* /tmp/llmperf-fuzz-$program.*' EXIT
python3 "$LLMPERF_SOURCE/tests/fuzz/seeds.py" "$seeds" || exit 99
export LLMPERF_FUZZ_RECORDING=$LLMPERF_TEST_DATA/recordings/two_stages.llmrec
"$1" "$seeds/$2" &
program=$!
wait $program
