#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From a recording to a run, its report and its lists.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 0 import "$recordings/two_stages.llmrec" -o run
[ "$(tail -n 1 out)" = "$PWD/run" ] || die "the run directory is not the last line"
stdout_has "verdict complete, 15 kernels"
for file in run.llmperf report.md stages.md kernels.md operators.md metrics.json env.json stakeholder_summary.md assumptions.md inputs.yaml report.html; do
    [ -s run/$file ] || die "run/$file is missing"
done
expect 2 import "$recordings/two_stages.llmrec" -o run
stderr_has "already contains a run"

# The report is the same from the folder, from the file and as it was written.
expect 0 report run
cmp -s out run/report.md || die "report.md differs"
stdout_has "**Complete**: 15 kernels seen"
expect 0 report run/run.llmperf --format=md
cmp -s out run/report.md || die "the report of run.llmperf differs"
expect 0 report --format json run
cmp -s out run/metrics.json || die "metrics.json differs"
expect 0 report run --format json -o other.json
stdout_empty
cmp -s other.json run/metrics.json || die "-o wrote something else"
expect 0 validate run/metrics.json
expect 0 report run --format json -o /dev/stdout
cmp -s out run/metrics.json || die "-o /dev/stdout wrote something else"
expect 3 report run -o nowhere/report.md
stderr_has "nowhere"

for format in html:report.html summary:stakeholder_summary.md assumptions:assumptions.md inputs:inputs.yaml stages:stages.md kernels:kernels.md; do
    expect 0 report run --format "${format%%:*}"
    cmp -s out "run/${format#*:}" || die "--format ${format%%:*} is not ${format#*:}"
done
expect 2 report run --format pdf
stderr_has "pdf"
expect 2 report nosuch
stderr_has "nosuch"
stderr_is_one_line
mkdir damaged
head -c 4096 /dev/zero >damaged/run.llmperf
expect 2 report damaged
stderr_is_one_line

# A run that changed after it was written is refused, and read as it is for those who ask for that.
mkdir changed
cp run/run.llmperf changed
python3 -c 'import sqlite3
with sqlite3.connect("changed/run.llmperf") as run:
    run.execute("UPDATE kernel SET total_ms = 2 * total_ms")' || die "no sqlite3 in Python"
expect 2 report changed
stderr_is_one_line
stderr_has "changed/run.llmperf was changed after it was written: the rows of kernel do not match their checksum"
expect 2 compare run changed
LLMPERF_OPEN_CHANGED=1 expect 0 report changed
stdout_has "the run file was changed after it was written: rows of kernel do not match"
stdout_has "**Incomplete: "
rm -r changed

expect 0 list run
stdout_has "report.md"
cp out listed
expect 0 list run/run.llmperf
cmp -s out listed || die "list of run.llmperf differs"
expect 1 list .
stdout_has " complete"
grep -q "^damaged .*unreadable" out || die "the damaged run is not listed"
rm -r damaged
expect 0 list .
mkdir empty
expect 0 list empty
stdout_has "no runs found in empty"
expect 2 list nosuch

# An incomplete run says so in its first lines.
expect 0 import "$recordings/faults.llmrec" -o faults
stdout_has "verdict incomplete"
head -n 3 faults/report.md | grep -qF "**Incomplete" || die "the report does not begin with its verdict"
expect 0 validate faults/metrics.json

# Several recordings are several runs, also within one second.
LLMPERF_OUT=$TMPDIR/several expect 0 import "$recordings/two_stages.llmrec" "$recordings/faults.llmrec"
[ "$(ls several | wc -l)" = 2 ] || die "two recordings did not become two runs"
expect 2 import "$recordings/two_stages.llmrec" "$recordings/faults.llmrec" -o one
expect 0 import "$recordings/two_stages.llmrec"
[ -s "$(tail -n 1 out)/report.md" ] || die "no run in runs"
expect 0 list
stdout_has " complete"

# What cannot be imported is refused before anything is written.
expect 2 import nosuch.llmrec
touch notes.txt
expect 2 import notes.txt -o refused
stderr_has "has no known format; give an nsys SQLite export"
expect 2 import notes.txt "$recordings/two_stages.llmrec" -o refused
stderr_has "import them separately"
expect 2 import notes.txt --names long -o refused
printf 'not an llmperf recording' >bad.llmrec
expect 2 import bad.llmrec -o refused
stderr_is_one_line
