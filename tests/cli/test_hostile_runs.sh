#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs that somebody made to hang or to mislead who looks at them: one clear line, at once, and the other runs are still shown.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
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
        stderr_has "region is not an ordinary table"
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

# Names and lines that mean something to who reads them: a terminal, a browser, a spreadsheet, Markdown.
cp -r runs/m_good named
python3 - <<'PYTHON' || die "the named run cannot be made"
import sqlite3

TEXTS = ["\x1b[31mred\x1b]0;title\x07", "\u009b31mC1", "\u202egnp.exe\u2066", "<script>alert(1)</script>", "![x](http://x/x.png)",
         "[c](javascript:alert(1))", "\"><img src=x onerror=alert(1)>", "=cmd|'/c calc'!A1", "+1+1", "@SUM(A1)", "-2+3", "\t=1", "\r=2",
         "'=1", "\n# Heading\n- list\n", "<!-- c -->", "| a | b |", "line\u2028end", "1. x", "> q"]
database = sqlite3.connect("named/run.llmperf")
database.execute("DROP TABLE checksum")

def copies(table, row, *texts):
    columns = [column[1] for column in database.execute(f"PRAGMA table_info({table})")][1:]
    values = ", ".join("?" if column in texts else column for column in columns)
    for text in TEXTS:
        database.execute(f"INSERT INTO {table}({', '.join(columns)}) SELECT {values} FROM {table} LIMIT 1 OFFSET ?", [text] * len(texts) + [row])

copies("region", 1, "path", "label")
copies("kernel", 0, "name", "captured_in")
for text in TEXTS:
    database.execute("INSERT INTO note(line) VALUES(?)", [text])
    database.execute("INSERT INTO problem(line) VALUES(?)", [text])
    database.execute("INSERT INTO metric(name, metric_group, source, region, kernel, unit, text, count, mean) VALUES(?,?,?,?,?,?,?,1,1.5)",
                     [text] * 7)
for key in ("created_at", "tier", "source", "model"):
    database.execute("INSERT OR REPLACE INTO fact(id, key, value) VALUES((SELECT id FROM fact WHERE key=?), ?, ?)",
                     [key, key, "\x1b[31m\u202e\u061c<script>alert(2)</script>\nz_fake 2030 deep complete"])
database.execute("UPDATE fact SET value = ? WHERE key LIKE 'kept_call.%'", ["]}]</script><script>alert(3)</script>"])
assert database.total_changes > 100
database.commit()
database.close()
PYTHON
mkdir shown
for format in md json html; do expect_soon 0 report named --format $format; cp out shown/report.$format; done
if command -v node >/dev/null; then
    node "$LLMPERF_SOURCE/tests/support/render_page.js" shown/report.html | sed "/^--more--$/,\$d" >shown/page.html; [ "${PIPESTATUS[0]}" = 0 ] || die "the page of the named run shows nothing"
fi
for format in csv jsonl prometheus; do expect_soon 0 export named --format $format; cp out shown/export.$format; done
expect_soon 0 compare runs/m_good named --threshold 1e9; cp out shown/compare.md
expect_soon 0 compare runs/m_good named --threshold 1e9 --format json; cp out shown/compare.json
expect_soon 0 top --once named; cp out shown/top
mkdir "named/$(printf 'a\033[31m\nb')" && : >"named/$(printf 'a\033[31m\nb')/file"
expect_soon 0 list named; cp out shown/list.files
mkdir jobs && mv named jobs/ && expect_soon 0 list jobs; cp out shown/list
[ "$(wc -l <out)" = 2 ] || die "a fact makes a line of its own in the list"
expect_soon 0 merge jobs/named runs/m_good -o merged && cp -r merged shown/ && rm shown/merged/run.llmperf
python3 - <<'PYTHON' || die "a name is taken for more than a name"
import csv
import html.parser
import os
import re

CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
paths = [os.path.join(folder, name) for folder, _, names in os.walk("shown") for name in names]
assert len(paths) > 40
for path in paths:
    text = open(path, encoding="utf-8", newline="").read()
    found = CONTROLS.search(text)
    assert not found, (path, text[max(0, found.start() - 40):found.end() + 40])
    if path.endswith(".md"):
        plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        for sign in (r"<(?:script|img|!--)", r"!?\[[xc]\]", r"^(?:- )?(?:# Heading|> q|1\. x|[+-] ?[12]\+)"):
            found = re.search(r"(?<!\\)(?:" + sign + ")", plain, re.M)
            assert not found, (path, plain[max(0, found.start() - 40):found.end() + 40])

class Page(html.parser.HTMLParser):
    scripts = 0

    def handle_starttag(self, tag, attributes):
        assert tag != "img" and not any(name.startswith("on") for name, _ in attributes), (tag, attributes)
        assert all(value.startswith("#") for name, value in attributes if name in ("href", "src")), attributes
        self.scripts += tag == "script"

for name, scripts in (("report", 2), ("page", 0)):
    page = Page()
    if os.path.exists(f"shown/{name}.html"):
        page.feed(open(f"shown/{name}.html", encoding="utf-8").read())
        assert page.scripts == scripts, (name, page.scripts)
rows = list(csv.DictReader(open("shown/export.csv", encoding="utf-8", newline="")))
assert {"'=cmd|'/c calc'!A1", "'+1+1", "'@SUM(A1)", "'-2+3", "''=1"} <= {row["region"] for row in rows}
for row in rows:
    assert not any(row[name].startswith(("=", "+", "-", "@")) for name in ("region", "kernel", "name", "group")), row
    float(row["value"])  # numbers stay numbers
PYTHON

# Nesting and labels far beyond what programs have: documents in proportion to the file, at once.
cp -r runs/m_good nested
python3 - <<'PYTHON' || die "the nested run cannot be made"
import sqlite3

database = sqlite3.connect("nested/run.llmperf")
database.execute("DROP TABLE checksum")
database.execute("UPDATE kernel SET captured_in = ?", ["/".join(f"LLM@level{i}" for i in range(8000))])
database.execute("UPDATE region SET label = ?, parent = ? WHERE id = 3", ["a" * 200000, "a" * 400000])
database.execute("UPDATE fact SET value = ? WHERE key LIKE 'kept_call.%'",
                 ['{"begin_ns": 1, "names": [], "regions": {}, "streams": 1, "classes": [], "events": [[0, 1, 2, 3, 4, 5], 7, null]}'])
database.commit()
database.close()
PYTHON
expect_soon 0 report nested --format json
[ "$(stat -c %s out)" -lt 20000000 ] || die "the document is $(stat -c %s out) bytes"
expect_soon 0 report nested --format html; cp out nested.html
! command -v node >/dev/null || node "$LLMPERF_SOURCE/tests/support/render_page.js" nested.html >/dev/null || die "the page of the nested run shows nothing"
echo "fine"
