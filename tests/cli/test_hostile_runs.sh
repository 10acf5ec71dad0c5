#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs that somebody made to hang or to mislead who looks at them: one clear line, at once, and the other runs are still shown.
. "$LLMPERF_SOURCE/tests/cli/common.sh"
# A test that hangs fails here. On a busy machine under sanitizers a command takes seconds.
expect_soon() {
    local code=$1
    shift
    timeout 60 "$LLMPERF" "$@" >out 2>err
    local got=$?
    [ "$got" != 124 ] || die "llmperf $*: does not end"
    [ "$got" = "$code" ] || die "llmperf $*: exit code $got, not $code"
}

"$LLMPERF" import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o runs/m_good >out 2>err || die import
for run in a_view b_generated z_pipe; do cp -r runs/m_good runs/$run; done
mkfifo runs/z_pipe/run.llmperf-wal
python3 - <<'PYTHON' || die "the hostile runs cannot be made"
import sqlite3

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n)"

def change(name, *statements):
    database = sqlite3.connect(f"runs/{name}/run.llmperf")
    for statement in ("DROP TABLE checksum", *statements):
        database.execute(statement)
    database.commit()
    database.close()

database = sqlite3.connect("runs/m_good/run.llmperf")
columns = [row[1] for row in database.execute("PRAGMA table_info(region)")]
database.close()
change("a_view", "DROP TABLE region",
       f"CREATE VIEW region AS {ENDLESS} SELECT " + ", ".join(f"'x' AS {c}" if c in ("path", "label") else f"i AS {c}" for c in columns)
       + " FROM n")
change("b_generated", "ALTER TABLE region DROP COLUMN stage",
       "ALTER TABLE region ADD COLUMN stage AS (hex(zeroblob(400000000)) || hex(zeroblob(400000000)))")
PYTHON
for run in a_view b_generated; do
    for command in report "top --once" "export --format csv" "compare runs/m_good"; do
        # shellcheck disable=SC2086
        expect_soon 2 $command runs/$run
        [ "${command%% *}" = top ] || stdout_empty
        stderr_is_one_line
        stderr_has "region is not an ordinary table in it"
    done
done
expect_soon 2 report runs/z_pipe
stderr_is_one_line
stderr_has "run.llmperf-wal is not a regular file"
# The list goes on past them, and the exit code says that there are some.
expect_soon 1 list runs
stderr_empty
for run in a_view b_generated z_pipe; do
    [ "$(grep -c "^$run .*unreadable: " out)" = 1 ] || die "$run has not one line"
done
grep -q "^m_good .* complete$" out || die "the good run is not in the list"
[ "$(wc -l <out)" = 5 ] || die "the list has other lines"
echo "fine"
