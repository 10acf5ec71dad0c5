#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rows of the tables of longest ones: as usual, by option and by key.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
recording=$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec

rows() { # FILE: of operators, of kernels by name, of kernels
    sed -n '/^## Operators/,/^## Kernel shapes/p' "$1" | awk '
        /^\| ---/ { table++; next }
        /^\| `/ { count[table]++ }
        END { print count[1], count[2], count[3] }'
}
is() { [ "$1" = "$2" ] || die "$3: $1 rows, not $2"; }

expect 0 import "$recording" -o usual
is "$(rows usual/report.md)" "4 5 7" "all, where there are few"
expect 0 report usual --top 2
is "$(rows out)" "2 2 2" "--top 2"
expect 0 report usual --top=7
is "$(rows out)" "4 5 7" "--top 7"
expect 0 report usual
is "$(rows out)" "4 5 7" "the run itself is not changed"
expect 0 report usual --top 4 --format html -o page.html
grep -q '"top":4,' page.html || die "the page does not know how many rows to show"
expect 0 import "$recording" -o few report.top=3
is "$(rows few/report.md)" "3 3 3" "report.top=3"
expect 0 report few --top 2
is "$(rows out)" "2 2 2" "the option comes before the configuration of the run"
expect 0 run --out o --tier regions --top 5 -- /bin/true
expect 0 config --config "$(tail -n 1 out)/config.yaml"
stdout_has "top: 5"
expect 2 report usual --top 0
stderr_has "--top is 0; it must be an integer between 1 and 100000"
expect 2 import "$recording" -o refused report.top=many
stderr_has "report.top"
expect 2 import "$recording" -o refused +report.tops=3
stderr_has "nearest: report.top"
echo fine
