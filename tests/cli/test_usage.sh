#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help, version, wrong usage, and output that cannot be written.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 0 --version
stdout_has "llmperf $(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$LLMPERF_SOURCE/include/llmperf/api.h")"

for word in --help -h help; do
    expect 0 $word
    stderr_empty
    for command in report list top import validate doctor hardware model; do
        stdout_has "  $command "
    done
done
for command in report list top import validate doctor hardware model; do
    expect 0 $command --help
    stdout_has "usage: llmperf $command"
    stderr_empty
    cp out whole
    expect 0 help $command
    cmp -s out whole || die "help $command is not what $command --help says"
    expect 2 $command --nonsense
    stdout_empty
    stderr_is_one_line
    stderr_has "--nonsense"
done

# Lines of help fit a terminal; each option of the library's table is where its commands are.
for command in run report top list import export compare repeats merge validate hardware counters nsys ncu deep config doctor model; do
    expect 0 help $command
    stdout_has "usage: llmperf $command "
    awk 'NR > 1 && length($0) > 80 { exit 1 }' out || die "help $command has long lines"
done
for command in run nsys ncu deep import report; do
    expect 0 help $command
    stdout_has "--dtype DTYPE"
done
expect 0 help run
tr -s ' \n' ' ' <out | grep -F '(default: $LLMPERF_TIER, run.mode, deep)' >one || die "--tier lacks its default"
expect 0 config --help
stdout_has 'session.path_limit  (16 to 1048576 paths, default 65536)'
stdout_has 'artifacts.dir  (text, $LLMPERF_OUT, --out)'
expect 2 report a --format xml
stderr_has "--format is xml; it must be one of md, json, html"
expect 2 report a --format
stderr_has "option --format needs a value"
expect 2 top --once=1
stderr_has "--once takes no value"
expect 2 run --trace=no -- true
stderr_has "--trace takes no value"
for command in report list compare import; do
    expect 2 $command ""
    stderr_is_one_line
    stderr_has "an argument is empty"
done
expect 2 counters roofline
stderr_has "such as --preset roofline"
expect 2 hardware --measure --list
stderr_has "omit --list"
cp "$LLMPERF_TEST_DATA/h200/engine/light.llmrec" .
expect 2 report light.llmrec
stderr_has "llmperf import makes runs of recordings"
expect 2 model llama_3_8b --batch 0
stderr_has "--batch is 0; it must be an integer between 1 and 1000000"

expect 2
stderr_is_one_line
expect 2 nonsense
stderr_has "unknown command nonsense"
expect 2 help nonsense
stdout_empty
stderr_has "unknown command nonsense"
expect 2 report
stderr_has "expected one run"
expect 2 report a b
expect 2 report --format
expect 2 validate
expect 2 validate a b
expect 2 import
expect 2 list a b
expect 2 doctor a
expect 2 doctor --format xml

# A full disk is an error, a reader that went away is not.
"$LLMPERF" --help >/dev/full 2>err
[ $? = 3 ] || die "a full disk was not reported"
grep -q "cannot write" err || die "a full disk was not reported"
{
    sleep 0.2
    "$LLMPERF" --help 2>err
    echo $? >code
} | true
[ "$(cat code)" = 0 ] || die "a closed pipe gave exit code $(cat code)"
[ ! -s err ] || die "a closed pipe gave a message"
