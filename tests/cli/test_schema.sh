#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our schema check and python3-jsonschema say the same of metrics.json and of hundreds of changed copies.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || {
    echo "python3-jsonschema is not installed"
    exit 77
}
for name in two_stages faults; do
    expect 0 import "$recordings/$name.llmrec" -o $name
done
most=400
sanitized && most=150 # a program under a sanitizer starts slowly
exec python3 "$LLMPERF_SOURCE/tests/cli/compare_validators.py" $most two_stages/metrics.json faults/metrics.json
