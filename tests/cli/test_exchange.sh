#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs of other tools in, runs out in formats of other tools, two runs compared, several merged.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"

expect 0 import "$recordings/two_stages.llmrec" -o a
expect 0 import "$recordings/two_stages.llmrec" -o b

# A table of nsys becomes a run that is listed, reported and valid.
cat >kernels.csv <<'TABLE'
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
70.0,700000,7,100000.0,90000.0,80000,200000,4.5,"void gemm<int, 4>(int, float)"
TABLE
expect 0 import kernels.csv -o imported
stdout_has "kernels.csv: verdict incomplete, 7 kernels"
expect 0 report imported
stdout_has "gemm"
expect 0 validate imported/metrics.json
expect 2 import kernels.csv -o imported
stderr_has "already contains a run"
LLMPERF_OUT=$TMPDIR/out_here expect 0 import kernels.csv
[ -s "$(tail -n 1 out)/report.md" ] || die "no run below LLMPERF_OUT"

# Exports: each line of jsonl is an object, numbers of csv are numbers, samples of prometheus are well formed.
expect 0 export a --format jsonl -o rows.jsonl
expect 2 export a --format csv -o a/run.llmperf
stderr_has "is a run or another database"
python3 - rows.jsonl <<'PY' || die "rows.jsonl is wrong"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
kinds = {row["type"] for row in rows}
assert rows[0]["type"] == "run" and rows[0]["verdict"] == "complete", rows[0]
assert isinstance(rows[0]["duration_ms"], (float, type(None))), rows[0]
assert {"ledger", "region", "kernel", "operator"} <= kinds, kinds
PY
expect 0 export a --format csv
cp out rows.csv
python3 - rows.csv <<'PY' || die "rows.csv is wrong"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
wall = [float(row["value"]) for row in rows
        if row["type"] == "region" and row["region"] == "LLM@prefill" and row["quantity"] == "wall_sum_ms"]
assert wall == [0.008], wall
assert all(row["value"] for row in rows)
PY
expect 0 export a --format prometheus
cp out metrics.prom
python3 - <<'PY' || die "the exports do not have the same counts of the ledger as metrics.json"
import csv, json, re
expected = {key: value for key, value in json.load(open("a/metrics.json"))["ledger"].items()
            if key not in ("verdict", "problems")}
line = next(row for row in map(json.loads, open("rows.jsonl")) if row["type"] == "ledger")
del line["type"]
assert line == expected, (line, expected)
known = {key: value for key, value in expected.items() if value is not None}
table = {row["quantity"]: float(row["value"]) for row in csv.DictReader(open("rows.csv")) if row["type"] == "ledger"}
assert table == known, (table, known)
page = dict(re.findall(r'^llmperf_ledger\{quantity="(\w+)"\} (\S+)$', open("metrics.prom").read(), re.M))
assert {key: float(value) for key, value in page.items()} == known, (page, known)
PY
python3 - metrics.prom <<'PY' || die "metrics.prom is wrong"
import re, sys
label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
seen = set()
for line in open(sys.argv[1]):
    if line.startswith("# "):
        continue
    match = re.fullmatch(rf'([a-z0-9_]+\{{{label}(?:,{label})*\}}) (\S+)\n', line)
    assert match, line
    float(match.group(2))
    assert match.group(1) not in seen, line
    seen.add(match.group(1))
assert any(name.startswith("llmperf_kernel_seconds_total{") for name in seen)
PY
# Of a run that samples: the share that device times are of, and counts below each limit that never fall.
expect 0 import "$LLMPERF_TEST_DATA/h200/engine/light.llmrec" -o sampled
expect 0 export sampled --format prometheus
cp out sampled.prom
python3 - sampled.prom <<'PY' || die "sampled.prom is wrong"
import re, sys
samples = dict(line.rsplit(" ", 1) for line in open(sys.argv[1]) if not line.startswith("# "))
share = float(samples['llmperf_region_sampled_fraction{region="LLM@decode_all/LLM@decode_step",process="829"}'])
assert abs(share - 0.02) < 1e-4, share
start = 'llmperf_stage_wall_seconds_bucket{region="LLM@decode_all/LLM@decode_step",le="'
limits = [(float(name[len(start):-2]), int(value)) for name, value in samples.items() if name.startswith(start)]
assert len(limits) == 37 and limits == sorted(limits), limits
assert [count for _, count in limits] == sorted(count for _, count in limits), limits
assert limits[0][1] == 0 and limits[-1] == (float("inf"), 400), limits
count = samples['llmperf_stage_wall_seconds_count{region="LLM@decode_all/LLM@decode_step"}']
assert int(count) == 400, count
assert dict(limits)[0.0015] == 399, limits # one step of 400 took 1.69 ms
PY
# Traces: of a run that kept one, or of a recording.
for format in chrome perfetto nsys-sqlite; do
    expect 2 export a --format $format
    stderr_has "a has totals but no trace: profile with llmperf run --trace (keep_trace)"
    stderr_has "or export the recording (.llmrec) that the run was made from"
    stderr_is_one_line
    expect 2 export "$recordings/two_stages.llmrec" --format $format
    stderr_has "give -o FILE"
    expect 0 export "$recordings/two_stages.llmrec" --format $format -o trace.$format
    stdout_has "15 kernels, 6 memcpys and memsets, 0 graphs, 7 regions, 15 launches, 0 samples in 0.000 s"
    [ "$(tail -n 1 out)" = trace.$format ] || die "the file is not named last"
done
LLMPERF_TRACE=1 expect 0 import "$recordings/two_stages.llmrec" -o traced
expect 0 export traced --format perfetto
cmp traced/trace.pftrace trace.perfetto && die "titles are not those of the sources"
expect 0 export traced --format chrome
# Merged runs have the traces of those that keep one.
LLMPERF_TRACE=1 expect 0 import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o traced2
expect 0 merge traced traced2 imported -o traces
stderr_has "2 of 3 runs have a trace, in their own folders; llmperf export traces --format perfetto"
grep -q "2 of 3 runs have a trace; these have none: " traces/report.md || die "the report does not say what has no trace"
expect 0 export traces --format perfetto
stdout_has "$((15 + 950)) kernels, "
stderr_has "the events of 1 of 3 runs are missing"
expect 0 merge traced traced2 -o traces2
expect 0 export traces2 --format chrome
[ ! -s err ] || die "$(cat err)"
expect 0 export traced --format nsys-sqlite
expect 0 list traced
for file in trace.llmrec trace.pftrace trace.json trace.sqlite; do stdout_has $file; done
"$LLMPERF" export traced --format chrome -o - | python3 -m json.tool >out || die "standard output is no JSON"
expect 2 export traced --format nsys-sqlite -o -
# A database needs a file; and what a trace is made from is never replaced by it.
mkfifo pipe
ln -s elsewhere link
for special in pipe link .; do
    expect 3 export traced --format nsys-sqlite -o $special
    stderr_has "cannot write $special: the database must be a regular file"
    stderr_is_one_line
done
[ -p pipe ] && [ -L link ] || die "a pipe or a link was replaced"
cp "$recordings/two_stages.llmrec" own.llmrec
ln own.llmrec also.llmrec
for target in own.llmrec ./own.llmrec also.llmrec; do
    expect 2 export own.llmrec --format perfetto -o $target
    stderr_has "$target is the source of the trace"
done
expect 2 export traced --format chrome -o traced/trace.llmrec
cmp own.llmrec "$recordings/two_stages.llmrec" || die "the recording was replaced"
expect 0 import trace.nsys-sqlite -o round
stdout_has "verdict complete, 15 kernels"
head -c 700 "$recordings/two_stages.llmrec" >cut.llmrec
expect 0 export cut.llmrec --format perfetto -o cut.pftrace
stderr_has "the recording is incomplete at its end"
expect 2 export a
expect 2 export a --format pdf
expect 2 export nosuch --format csv

# Nothing changed, so nothing is slower; a run of one of two stages lacks something, but is not slower either.
expect 0 compare a b
stdout_has "**No regression**"
expect 0 compare a b --format json --threshold 0 -o compared.json
python3 -c 'import json; assert json.load(open("compared.json"))["slower"] == 0' || die "compared.json is wrong"
expect 0 validate compared.json
# Where little is in both, "nothing is slower" would say nothing: exit code 4, and why.
expect 0 import "$LLMPERF_TEST_DATA/h200/dummy_resnet.llmrec" -o resnet
expect 0 import "$LLMPERF_TEST_DATA/ncu/kernels.ncu-rep" -o kernels
expect 4 compare a kernels
stdout_has "new was measured by ncu, kernel by kernel"
expect 0 compare kernels kernels
expect 4 compare a resnet
[ "$(head -n 1 out)" = "# llmperf compare: not comparable: only 0 % of the device time of base is in regions or kernels that new has too" ] ||
    die "the first line does not say why"
stderr_has "not comparable: only 0 %"
stderr_is_one_line
expect 4 compare a resnet --format json -o other.json
stdout_empty
python3 -c 'import json; assert json.load(open("other.json"))["verdict"] == "not comparable"' || die "other.json is wrong"
expect 0 validate other.json
sed 's/"not comparable"/"fine"/' other.json >wrong.json
expect 1 validate wrong.json
stderr_has '$.verdict: must be'
expect 2 compare a
expect 2 compare a b --threshold much
expect 2 compare a b --format xml
expect 2 compare a nosuch

# An export of nsys and one whose kernels take three times as long: exit code 1.
python3 - <<'PY'
import sqlite3
for name, duration in (("fast", 1000), ("slow", 3000)):
    database = sqlite3.connect(name + ".sqlite")
    process = 1 << 48 | 10 << 24
    database.executescript("""
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES(1, 'sgemm_kernel'), (2, 'cudaLaunchKernel'), (3, 'LLM@prefill');
        CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, "end", deviceId, correlationId, globalPid, demangledName);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, "end", globalTid, correlationId, nameId);
        CREATE TABLE NVTX_EVENTS(start, "end", eventType, globalTid, textId, domainId);""")
    for i in range(1, 51):
        start = i * 1000000
        database.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,?,3,0)", (start, start + 10000 + i, process | 1))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,2)",
                         (start + 10, start + 20, process | 1, i))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,0,?,?,1)",
                         (start + 100, start + 100 + duration + i, i, process))
    database.commit()
PY
expect 0 import fast.sqlite -o fast
expect 0 import slow.sqlite -o slow
expect 1 compare fast slow
stdout_has "**Regression**: 2 slower"
expect 0 compare slow fast
expect 0 compare fast slow --threshold 300

# Two H200 that share each layer, launched one by one and in CUDA graphs: ranks are held against themselves, not mixed.
for name in tensor tensor_graphs; do
    for rank in 0 1; do
        expect 0 import "$LLMPERF_TEST_DATA/h200/engine/${name}_$rank.llmrec" -o "$name.$rank"
    done
    expect 0 merge "$name.0" "$name.1" -o "$name"
done
expect 1 compare tensor tensor_graphs
stdout_has ", complete, 2 ranks"
stdout_has '| `LLM@decode_all/LLM@decode_step` | job (rank 1) | waiting |'
expect 1 compare tensor tensor_graphs --format json -o ranks.json
expect 0 validate ranks.json
python3 - <<'PY' || die "ranks.json does not say what the ranks did"
import json
rows = {(row["region"], row["quantity"], row["scope"], row["number"]): row for row in json.load(open("ranks.json"))["rows"]}
step = "LLM@decode_all/LLM@decode_step"
walls = [rows[step, "wall", "rank", rank] for rank in range(2)]
job = rows[step, "wall", "job", None]
for side in ("base", "new"):
    assert job[side]["mean_ms"] == max(wall[side]["mean_ms"] for wall in walls)
    assert job[side]["instances"] == 8
    devices = [rows[step, "device", "rank", rank][side]["mean_ms"] for rank in range(2)]
    assert abs(rows[step, "device", "job", None][side]["mean_ms"] - sum(devices)) < 1e-9
    talks = [rows[step, "collective", "rank", rank][side]["mean_ms"] for rank in range(2)]
    assert abs(rows[step, "communicating", "job", None][side]["mean_ms"] - min(talks)) < 1e-9
    assert max(talks) - min(talks) <= rows[step, "waiting", "job", None][side]["mean_ms"] < 1.2 * (max(talks) - min(talks))
assert job["verdict"] == rows[step, "waiting", "job", None]["verdict"] == "faster"
PY
expect 0 compare tensor.0 tensor
stdout_has "The runs have different ranks"
expect 0 compare tensor tensor

# Ranks become one run; the verdict is that of the worst.
expect 0 merge fast slow -o ranks
stdout_has "2 runs: verdict complete, 100 kernels"
expect 0 validate ranks/metrics.json
expect 0 merge ranks imported -o more
stdout_has "verdict incomplete, 107 kernels"
expect 2 merge fast -o one
expect 2 merge fast slow
ln -s fast latest
expect 2 merge fast slow latest -o again
stderr_has "would be counted twice: input 1 and input 3 both contain it; give each run once"
stderr_is_one_line
expect 2 merge slow slow/run.llmperf -o again
cp -r fast copied
expect 2 merge slow fast copied -o again
"$LLMPERF" import fast.sqlite -o imported_again >/dev/null || die "no second import"
expect 2 merge fast imported_again -o again
expect 2 merge ranks fast -o again
expect 2 merge more slow -o again
expect 2 merge ranks more -o again
stderr_has "would be counted twice: input 1 and input 2"
[ ! -e again ] || die "a run counts twice"
expect 2 merge fast slow -o ranks
expect 2 merge fast nosuch -o two
[ ! -e two ] || die "a failed merge left a folder"
