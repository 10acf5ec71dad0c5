#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf run --repeat: the same program several times, and its runs beside each other.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
program=$LLMPERF_TEST_PROGRAMS/nvtx_program
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH LLMPERF_COUNTERS

for word in 0 1 -3 2x auto 1001; do
    expect 2 run --repeat $word -- /bin/true
    stderr_is_one_line
    stderr_has "--repeat"
done

expect 0 run --tier deep --repeat 3 --out jobs -- "$program"
folder=$(tail -n 1 out)
case $folder in "$PWD"/jobs/*) ;; *) die "the folder of all runs is not the last line: $folder" ;; esac
stderr_has "3 runs, "
[ "$(ls -d "$folder"/repeat-* | wc -l)" = 3 ] || die "not three runs"
for i in 1 2 3; do
    grep -qF "$folder/repeat-$i" out || die "run $i is not named"
    [ -s "$folder/repeat-$i/run.llmperf" ] || die "run $i is not there"
done
expect 0 validate "$folder/repeats.json"
python3 - "$folder/repeats.json" <<'PYTHON' || die "repeats.json"
import json
import sys
found = json.load(open(sys.argv[1]))
assert found["repeats"] == 3, found["repeats"]
assert [run["run_id"] for run in found["runs"]] == ["repeat-1", "repeat-2", "repeat-3"], found["runs"]
assert not [line for line in found["differences"] if not line.startswith("work of")], found["differences"]
assert any(row["quantity"] == "wall_ms.mean" and row["count"] == 3 for row in found["rows"])
PYTHON
for listed in jobs "$folder"; do
    expect 0 list "$listed"
    [ "$(grep -c 'repeat-[123] ' out)" = 3 ] || die "list $listed does not show the three runs"
done
# The folder stands for its runs.
"$LLMPERF" repeats "$folder" --threshold 1000000 >out 2>err
stdout_has "over 3 runs"
cmp -s "$folder/repeats.md" /dev/null && die "repeats.md is empty"

# A run that fails is the last one, and its code is that of all.
expect 5 run --repeat 4 --out failed -- /bin/sh -c 'exit 5'
stderr_has "run 1 ended with exit code 5: no further runs are started"
[ "$(ls -d failed/*/repeat-* | wc -l)" = 1 ] || die "it went on"
printf '#!/bin/sh\necho once >>"%s/times"\n[ "$(wc -l <"%s/times")" -lt 2 ]\n' "$PWD" "$PWD" >second.sh
chmod +x second.sh
expect 1 run --repeat 4 --out second -- ./second.sh
[ "$(wc -l <"times")" = 2 ] || die "the program ran $(wc -l <"times") times"
# A name for the folder, which is not used twice.
expect 0 run --repeat 2 --out named run.id=mine -- /bin/true
[ -s named/mine/repeats.md ] || die "run.id is not the name of the folder"
# A program that is nothing for a profiler: said in words, and no verdict over how long nothing took.
[ "$(grep -c 'used no CUDA, no NVTX and no libllmperf regions: the run is empty' err)" = 2 ] || die "an empty run is not told"
stderr_has "2 runs, none with a region or GPU activity: there is nothing to compare"
grep -q 'within 10' err && die "empty runs are said to be alike"
expect 1 repeats named/mine
stdout_has "no run contains a region or device activity"
stdout_has "**Unknown**"
expect 2 run --repeat 2 --out named run.id=mine -- /bin/true
stderr_has "already contains a run"
# Signals reach the program in later runs too.
cat >stopped.sh <<'PROGRAM'
#!/bin/sh
echo once >>count
[ "$(wc -l <count)" = 2 ] && kill -TERM $$
exit 0
PROGRAM
chmod +x stopped.sh
expect 143 run --repeat 3 --out stopped -- ./stopped.sh
[ "$(wc -l <count)" = 2 ] || die "a signal did not end the second run"
echo fine
