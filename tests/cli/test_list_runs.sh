#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A list of runs says what each is of, in 120 columns; reports have the same title.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 0 import "$LLMPERF_SOURCE/examples/data/dsocr_base.llmrec" --model deepseek_ocr --dtype bf16 -o runs/20261123-120000-12345
expect 0 import "$LLMPERF_TEST_DATA/h200/whisper/eager.llmrec" -o runs/whisper
expect 0 list runs
grep -Eq '^20261123-120000-12345 +dsocr_profile +deepseek_ocr +H200 +845.5 tokens/s +complete$' out || die "$(cat out)"
grep -Eq '^whisper +whisper_profile +- +H200 +603.5 tokens/s +complete$' out || die "$(cat out)"
[ "$(wc -L <out)" -le 120 ] || die "wider than 120 columns: $(cat out)"
title="dsocr_profile · deepseek_ocr · NVIDIA H200 · batch 1 · bf16"
for document in report.md stakeholder_summary.md; do
    head -n 1 runs/20261123-120000-12345/$document | grep -qF "$title" || die "title of $document"
done
grep -qF "<title>llmperf: $title</title>" runs/20261123-120000-12345/report.html || die "title of the page"
echo fine
