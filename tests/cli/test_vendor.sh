#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# llmperf nsys, ncu and deep, with programs that stand in for NVIDIA's.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
fakes=$LLMPERF_TEST_DATA/fake_tools
export FAKE_TOOLS_LOG=$TMPDIR/calls.log
python=$(python3 -c 'import sys; print(sys.executable)')
mkdir both only_nsys only_ncu none
# The fakes are found through links, so that each PATH holds one of them, both or none; none of a real installation.
for folder in both only_nsys only_ncu none; do
    ln -s "$python" $folder/python3
    for program in env bash true; do ln -s "$(command -v $program)" $folder/$program; done
done
ln -s "$fakes/nsys" both/nsys; ln -s "$fakes/nsys" only_nsys/nsys
ln -s "$fakes/ncu" both/ncu; ln -s "$fakes/ncu" only_ncu/ncu
with() { # FOLDER CODE ARGUMENT...: llmperf with that PATH
    local folder=$1 code=$2 got
    shift 2
    PATH=$TMPDIR/$folder "$LLMPERF" "$@" >out 2>err
    got=$?
    [ "$got" = "$code" ] || die "llmperf $*: exit code $got, not $code"
}
last_line() { tail -n 1 out; }
calls() { # EXPRESSION: of the calls since the last one, as c; PROG stands for programs
    python3 -c 'import json, sys
c = [json.loads(line) for line in open("calls.log")]
assert eval("(" + sys.argv[1] + ")"), (sys.argv[1], c)' "$1" 2>err || die "$1"
    : >calls.log
}
run_has() { # RUN EXPRESSION: of metrics.json as m, regions by path as r
    python3 -c 'import json, sys
m = json.load(open(sys.argv[1] + "/metrics.json")); r = {x["path"]: x for x in m["regions"]}
assert eval(sys.argv[2]), (sys.argv[2], json.dumps(m)[:3000])' "$1" "$2" 2>err || die "$2"
}
program=$TMPDIR/prog
printf '#!/bin/bash\necho "prog $*"\n' >"$program"
chmod +x "$program"

# What would be run, with and without the tools.
with none 0 nsys --dry-run run.stage=LLM@prefill profiling/nsys@pipeline.nsys=nsys.stage -- python x.py 'a b'
stderr_empty
python3 - <<'PYTHON' || die "the dry run of nsys"
import json
seen = json.load(open("out"))
argv = seen["commands"][0]["argv"]
assert seen["tool"] == "nsys" and seen["version"] is None and argv[:2] == ["nsys", "profile"]
assert argv[-3:] == ["python", "x.py", "a b"]
for option in ("--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node", "--capture-range=nvtx",
               "--capture-range-end=stop", "--nvtx-capture=prefill@LLM", "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0",
               "--force-overwrite=true", "--discard-environment=true"):
    assert option in argv, option
assert [c["step"] for c in seen["commands"]] == ["profile", "export", "stats", "stats", "stats", "stats"]
PYTHON
[ ! -e runs ] || die "a dry run leaves a folder"
with both 0 ncu range replay --dry-run 'run.stage=[LLM@prefill,LLM@decode_all]' -- ./absent
python3 - <<'PYTHON' || die "the dry run of ncu"
import json
seen = json.load(open("out"))
argv = seen["commands"][0]["argv"]
assert seen["version"] == "2025.3.1.0" and argv[0].endswith("/ncu") and argv[1:3] == ["--replay-mode", "range"]
at = argv.index("--nvtx")
assert argv[at:at + 5] == ["--nvtx", "--nvtx-include", "LLM@prefill/", "--nvtx-include", "LLM@decode_all/"]
PYTHON
with none 0 deep --dry-run -- ./absent
python3 -c 'import json; assert [x["tool"] for x in json.load(open("out"))] == ["nsys", "ncu"]' || die "the dry run of deep"

# nsys: a run with reports, and each command kept.
with both 0 nsys --out runs run.id=a -- "$program" 1 "2 3"
[ "$(last_line)" = runs/a ] || die "the last line is $(last_line)"
stdout_has "prog 1 2 3"
for file in run.llmperf report.md metrics.json config.yaml nsys/cmd.txt nsys/run.nsys-rep nsys/run.sqlite nsys/run_cuda_gpu_kern_sum.csv; do
    [ -s runs/a/$file ] || die "no $file"
done
grep -q "profile.*$program 1 '2 3'" runs/a/nsys/cmd.txt || die "cmd.txt lacks the program"
grep -q "^# nsys 2025.3.2" runs/a/nsys/cmd.txt || die "cmd.txt lacks the version"
[ "$(grep -c '^# exit code 0' runs/a/nsys/cmd.txt)" = 6 ] || die "cmd.txt has not six commands"
stderr_has "nsys found no data for runs/a/nsys/run_nvtx_sum.csv"
run_has runs/a 'r["LLM@prefill"]["kernel_count"] == 3 and r["LLM@decode_all"]["kernel_count"] == 1 and m["run_id"] == "a"'
grep -q "$(sha256sum <runs/a/config.yaml | cut -d' ' -f1)" runs/a/report.md || die "the report lacks the fingerprint"
calls 'len(c) == 6 and c[1][1:3] == ["export", "--type=sqlite"]'
with both 2 nsys --out runs run.id=a -- "$program"
stderr_has "already contains a run"

# Secrets among the arguments reach the program and no file of the run; what the tools write is for its owner.
with both 0 nsys --out runs run.id=secret +site.api_key=hunter2 -- "$program" --api-key hunter2 HF_TOKEN=hunter2 https://me:hunter2@host/
stdout_has "prog --api-key hunter2 HF_TOKEN=hunter2"
grep -q "$program --api-key '\*\*\*' 'HF_TOKEN=\*\*\*' 'https://me:\*\*\*@host/'" runs/secret/nsys/cmd.txt || die "cmd.txt masks other words"
grep -q "api_key: '\*\*\*'" runs/secret/config.yaml || die "config.yaml does not mask the key"
! grep -rl hunter2 runs/secret || die "a secret is in a file of the run"
for file in cmd.txt log.txt run.nsys-rep run.sqlite; do
    [ "$(stat -c %a runs/secret/nsys/$file)" = 600 ] || die "others may read nsys/$file"
done
calls 'len(c) == 6 and "hunter2" in c[0]'

# Older versions, an exit code of the tool, reports of repeated ranges.
echo 2022.4.2.50-3 >both/nsys.version
with both 0 nsys --out runs run.id=old pipeline.nsys.nsys_cli.gpu_metrics_devices=all -- "$program"
stderr_has "has no --discard-environment"
calls '"--gpu-metrics-device=all" in c[0] and not any("discard" in a for a in c[0]) and "--report=gpukernsum" in c[2]'
echo 2021.2.1 >both/nsys.version
with both 0 nsys --out runs run.id=older -- "$program"
calls 'c[1][-1] == "runs/older/nsys/run.qdrep"'
rm both/nsys.version
FAKE_NSYS_EXIT=143 with both 0 nsys --out runs run.id=ended -- "$program"
stderr_has "nsys profile ended with exit code 143; its partial result is used"
: >calls.log
with both 0 nsys --out runs run.id=rep run.stage=prefill profiling/nsys@pipeline.nsys=nsys.stage pipeline.nsys.nsys_cli.capture_range_end=repeat:2 -- "$program"
stderr_has "only the first is imported"
calls 'c[1][-1] == "runs/rep/nsys/run.1.nsys-rep" and "--nvtx-capture=prefill@LLM" in c[0]'
FAKE_NSYS_EMPTY=1 with both 3 nsys --out runs run.id=empty -- "$program"
stderr_has "nsys profile ended with exit code 0 and wrote no runs/empty/nsys/run.nsys-rep"
calls 'len(c) == 1'

# ncu: counters of kernels within the range.
with both 0 ncu --out runs run.id=n run.stage=LLM@prefill pipeline.ncu.ncu_cli.kernel_name=regex:gemm pipeline.ncu.ncu_cli.launch_skip=2 -- "$program"
[ -s runs/n/ncu/raw.csv ] && [ -s runs/n/ncu/run.ncu-rep ] || die "no files of ncu"
grep -q "Section: GPU Speed Of Light Throughput" runs/n/regions/LLM@prefill/sections.txt || die "no sections.txt"
run_has runs/n 'any(x["name"] == "dram__bytes_read.sum" for x in m["metrics"])'
calls '[c[0][i + 1] for i, a in enumerate(c[0]) if a in ("--kernel-name", "--kernel-name-base", "--launch-skip", "--nvtx-include")] ==
    ["LLM@prefill/", "demangled", "regex:gemm", "2"]'
: >calls.log
pattern='pipeline.ncu.ncu_cli.kernel_exclude=["regex:^void copy|memset","mine(int)","at::*"]'
with both 0 ncu --out runs run.id=x "$pattern" -- "$program"
calls 'c[0][c[0].index("--kernel-name") + 1] == "regex:^(?!.*(?:^void copy|memset))(?!mine\\(int\\)$)(?!at::.*$)"'
with both 0 ncu --out runs run.id=y "$pattern" pipeline.ncu.ncu_cli.kernel_name=regex:gemm -- "$program"
calls 'c[0][c[0].index("--kernel-name") + 1].endswith("(?!at::.*$)(?=.*(?:gemm))")'
with both 0 ncu --out runs run.id=z "$pattern" 'pipeline.ncu.ncu_cli.kernel_name="mine(long)"' -- "$program"
calls 'c[0][c[0].index("--kernel-name") + 1].endswith("(?!at::.*$)mine\\(long\\)$")'
FAKE_NCU_ERROR=permission with both 3 ncu --out runs run.id=p -- "$program"
stderr_has "NVreg_RestrictProfilingToAdminUsers=0"
FAKE_NCU_ERROR=none with both 3 ncu --out runs run.id=q -- "$program"
stderr_has "No kernels were profiled"
echo 2020.3.0.0 >both/ncu.version
: >calls.log
with both 0 ncu --out runs run.id=o pipeline.ncu.ncu_cli.kernel_name=regex:gemm -- "$program"
calls 'c[0][c[0].index("--kernel-regex") + 1] == "gemm" and "--kernel-regex-base" in c[0]'
rm both/ncu.version

# deep: the kernels that took longest in the stage, under ncu in that stage, one run.
with both 0 deep --out runs run.id=d run.stage=LLM@prefill run.top_n_kernels=1 -- "$program"
stderr_has "ncu profiles 1 of 2 kernels in LLM@prefill, those with the largest total time"
calls 'c[-1][0] == "ncu" and c[-1][c[-1].index("--kernel-name") + 1] == "regex:^(gemm)$" and
    c[-1][c[-1].index("--nvtx-include") + 1] == "LLM@prefill/" and c[-1][c[-1].index("--launch-count") + 1] == "10"'
run_has runs/d 'r["LLM@prefill"]["kernel_count"] == 3 and any(x["name"] == "dram__bytes_read.sum" for x in m["metrics"])'
with both 0 deep --out runs run.id=e run.stage=prefill pipeline.ncu.ncu_cli.kernel_exclude=regex:gemm -- "$program"
calls 'c[-1][c[-1].index("--kernel-name") + 1] == "regex:^(copy_rows)$"'
with both 0 deep --out runs run.id=nothing run.stage=LLM@vision -- "$program"
stderr_has "the profile has no kernel in LLM@vision"
calls 'all(call[0] == "nsys" for call in c)'

# When, where and with what, of all three: model, inputs, dtype and configuration as in any run.
echo "[$program]" >inputs.txt
for command in nsys ncu deep; do
    with both 0 $command --out runs run.id=of_$command --model llama_3_8b --dtype bf16 inputs.manifest=inputs.txt -- "$program"
    : >calls.log
    python3 - runs/of_$command "$program" <<'PYTHON' || die "provenance of $command"
import datetime
import json
import os
import sys

run, program = sys.argv[1:]
metrics, env = json.load(open(f"{run}/metrics.json")), json.load(open(f"{run}/env.json"))
age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(metrics["created_at"].replace("Z", "+00:00"))
assert abs(age.total_seconds()) < 600, metrics["created_at"]
assert env["host"]["hostname"] and env["program"] == program and "driver" in env and env["llmperf_version"], env
nsys, ncu = not run.endswith("_ncu"), not run.endswith("_nsys")
assert env["tools"]["nsys"] == ("2025.3.2.474" if nsys else None) and env["tools"]["ncu"] == ("2025.3.1.0" if ncu else None), env["tools"]
assert metrics["model"]["name"] == "llama_3_8b" and metrics["hardware"]["dtype"] == "bf16", (metrics["model"], metrics["hardware"])
report = open(f"{run}/report.md").read()
for tool, version, used in (("nsys", "2025.3.2.474", nsys), ("ncu", "2025.3.1.0", ncu)):
    assert (f"| {tool} | {version} |" in report) == used
assert program in open(f"{run}/inputs.yaml").read() and os.path.getsize(f"{run}/config.yaml") > 100
PYTHON
done

# A Python program is named after its script.
with both 0 ncu --out runs run.id=python -- python3 -c "" x.py
with both 0 ncu --out runs run.id=script -- python3 "$TMPDIR/both/env" gen.py
grep -q '"program": ".*both/python3"' runs/python/env.json && grep -q '"program": ".*both/env"' runs/script/env.json || die "program"

# What is missing is said; what is there is used.
with only_ncu 0 deep --out runs run.id=f -- "$program"
stderr_has "nsys not found on PATH; install NVIDIA Nsight Systems"
stderr_has "ncu measures every launch in run.stage; pipeline.ncu.ncu_cli.launch_count=N limits them"
FAKE_NSYS_EMPTY=1 FAKE_NSYS_EXIT=139 with both 0 deep --out runs run.id=broken -- "$program"
stderr_has "nsys profile ended with exit code 139 and wrote no runs/broken/nsys/run.nsys-rep"
run_has runs/broken 'len(m["metrics"]) > 0'
run_has runs/f 'len(m["metrics"]) > 0'
with only_nsys 0 deep --out runs run.id=g -- "$program"
stderr_has "ncu not found on PATH"
run_has runs/g 'r["LLM@prefill"]["kernel_count"] == 3'
with none 3 deep --out runs run.id=h -- "$program"
stderr_has "neither nsys nor ncu produced a result"
with none 3 nsys --out runs run.id=h -- "$program"
stdout_empty
stderr_is_one_line
[ ! -e runs/h ] || die "a run of nothing"

refused() { # WORDS ARGUMENT...
    local words=$1
    shift
    with both 2 "$@"
    stdout_empty
    stderr_is_one_line
    stderr_has "$words"
}
refused "run.mode=light: nsys and ncu measure each kernel" deep run.mode=light -- "$program"
refused "use llmperf run --tier regions" ncu profiling/session@session=regions -- "$program"
refused "expected a program" ncu
refused "expected a program after --" ncu "$program"
refused "expected KEY=VALUE" ncu range -- x
refused "nosuchprogram" nsys -- nosuchprogram
refused "nearest: pipeline.ncu.ncu_cli.sections" ncu --dry-run pipeline.ncu.ncu_cli.section=x -- x
refused "ncu does not support for ranges" ncu --dry-run 'pipeline.ncu.ncu_cli.nvtx.include=LLM@*' -- x
refused "write a list" ncu --dry-run 'pipeline.ncu.ncu_cli.nvtx.include='"'a;b'" -- x
refused "set run.stage" ncu app-range replay --dry-run -- x
refused "is an nvprof metric" ncu --dry-run 'pipeline.ncu.ncu_cli.metrics=[dram__bytes_read.sum,flop_count_hp]' -- x
refused "write regex:gemm.*" ncu --dry-run 'pipeline.ncu.ncu_cli.kernel_name=gemm.*' -- x
refused "not one of kernel, application" ncu --dry-run pipeline.ncu.ncu_cli.replay_mode=ranges -- x
refused "not one of none, nvtx" nsys --dry-run pipeline.nsys.nsys_cli.capture_range=range -- x
refused "nvtx needs a region" nsys --dry-run pipeline.nsys.nsys_cli.capture_range=nvtx -- x
refused "no path and no pattern" nsys --dry-run profiling/nsys@pipeline.nsys=nsys.stage run.stage=LLM@a/LLM@b -- x
refused "folder name without a path" nsys run.id=../x -- "$program"
echo "fine"
