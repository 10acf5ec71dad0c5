#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# metrics.json against its schema: good ones pass, changed ones fail and the message names the place.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

for name in two_stages faults; do
    expect 0 import "$recordings/$name.llmrec" -o $name
    expect 0 validate $name/metrics.json
    stdout_has "$name/metrics.json: ok"
    stderr_empty
done

# change SED-SCRIPT PLACE: a changed copy must fail, and the message must hold PLACE
change() {
    sed "$1" two_stages/metrics.json >changed.json
    cmp -s two_stages/metrics.json changed.json && die "nothing was changed by $1"
    expect 1 validate changed.json
    stdout_empty
    stderr_is_one_line
    stderr_has "$2"
}
change '0,/"schema_version": 1/s//"schema_version": 2/' '$.schema_version: must be 1'
change '/"run_id"/d' '$: key "run_id" is missing'
change '0,/"verdict": "complete"/s//"verdict": "fine"/' '$.ledger.verdict: must be'
change '0,/"kernels_seen": 15/s//"kernels_seen": "15"/' '$.ledger.kernels_seen: is string, must be integer'
change '0,/"mfu": null/s//"mfu": 1.56/' '$.regions[0].mfu: is 1.56, must be at most 1'
change '0,/"instances": 1/s//"instances": -1/' '$.regions[0].instances: is -1, must be at least 0'
change '0,/"tier": "deep"/s//"tier": "deep", "extra": 1/' '$.extra: is not allowed by the schema'
change '$d' 'is not valid JSON'

# A run: each of its files with a schema, a line each.
expect 0 validate two_stages/
[ "$(wc -l <out)" = "$(find two_stages -name '*.json' ! -name env.json | wc -l)" ] || die "not a line for each file"
stdout_has "two_stages/metrics.json: ok"
stdout_has "two_stages/regions/report.json: ok"
stdout_has "two_stages/regions/LLM@prefill/report.json: ok"
stderr_empty
files=$(wc -l <out)
mkdir -p job/processes
cp -r two_stages job/processes/1
cp -r two_stages job/processes/2
expect 0 validate job
[ "$(wc -l <out)" = $((2 * files)) ] || die "not all files of both processes"
sed -i '/"scope"/d' job/processes/1/regions/report.json
sed -i '0,/"verdict": "complete"/s//"verdict": "fine"/' job/processes/2/metrics.json
expect 1 validate job
[ "$(wc -l <out)" = $((2 * files - 2)) ] || die "one that fails keeps others from being checked"
[ "$(wc -l <err)" = 2 ] || die "not a line for each that fails"
stderr_has "job/processes/1/regions/report.json"
stderr_has "job/processes/2/metrics.json does not match"
stderr_has '$.ledger.verdict: must be'
expect 0 validate two_stages/regions
[ "$(wc -l <out)" = $((files - 1)) ] || die "not the region reports"
expect 2 validate two_stages --schema schema.json
stderr_has "needs a file"
mkdir empty
expect 2 validate empty
stderr_has "empty contains no metrics.json"
stderr_is_one_line

expect 2 validate nosuch.json
stderr_is_one_line
expect 2 validate two_stages/metrics.json --schema nosuch.json
echo '{"pattern": "x"}' >schema.json
expect 1 validate two_stages/metrics.json --schema schema.json
stderr_has "this keyword is not supported"
echo '{"required": ["ledger"]}' >schema.json
expect 0 validate two_stages/metrics.json --schema=schema.json
LLMPERF_CONFIG_DIR=$TMPDIR/nowhere "$LLMPERF" validate two_stages/metrics.json >out 2>err
[ $? -ge 2 ] || die "no schema, and yet an answer"
exit 0
