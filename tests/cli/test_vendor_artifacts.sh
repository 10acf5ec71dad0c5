#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each file of a vendor run, made from an export in the layout of nsys (tests/support/nsys_export.py) and real files of ncu (tests/data/ncu), which programs in place of
# these tools deliver.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
export FAKE_TOOLS_LOG=$TMPDIR/calls.log FAKE_NSYS_EXPORT=$TMPDIR/saxpy.sqlite
python3 "$LLMPERF_SOURCE/tests/support/nsys_export.py" "$FAKE_NSYS_EXPORT" || die "no export"
PATH=$LLMPERF_TEST_DATA/fake_tools:$PATH
printf '#!/bin/bash\n' >prog
chmod +x prog
echo "[$TMPDIR/prog]" >inputs.txt
has() { # FILE TEXT: of the run
    [ -s "$run/$1" ] || die "no $run/$1"
    grep -qF -- "$2" "$run/$1" || die "$run/$1 lacks: $2"
}
files_of_every_run() {
    [ "$(head -c 6 "$run/run.llmperf")" = SQLite ] || die "run.llmperf"
    has env.json '"hostname"'
    has config.yaml "manifest: inputs.txt"
    has inputs.yaml "$TMPDIR/prog"
    has assumptions.md "#"
    has report.md "| Created | 20"
    has report.html ncu_kernels
    has stakeholder_summary.md "#"
    has operators.md "#"
    has stages.md "#"
    has regions/report.md "| region | device |"
    expect 0 validate "$run"
}

# nsys: an export with ranges and kernels on an A100.
run=runs/nsys
expect 0 nsys --out runs run.id=nsys inputs.manifest=inputs.txt -- ./prog
files_of_every_run
for file in cmd.txt log.txt run.nsys-rep run.sqlite run_cuda_gpu_kern_sum.csv; do [ -s "$run/nsys/$file" ] || die "no nsys/$file"; done
has kernels.md '| `saxpy` | `default@saxpy` | 0 | 88.50 | 5 | 17.70 |'
has regions/default@saxpy/report.md '| `saxpy(double *, double *)` | 5 | 88.50 |'
has report.md "| GPU 0 | NVIDIA A100-SXM4-40GB, compute capability 8.0, 108 SMs"
has report.md "| nsys | 2022.2.1.31 |"

# ncu: kernels and a graph of an H200.
run=runs/kernels
FAKE_NCU_RESULT=$LLMPERF_TEST_DATA/ncu/kernels expect 0 ncu --out runs run.id=kernels inputs.manifest=inputs.txt -- ./prog
files_of_every_run
for file in cmd.txt run.ncu-rep raw.csv; do [ -s "$run/ncu/$file" ] || die "no ncu/$file"; done
has kernels.md '| `sample::scale` | `LLM@prefill/LLM@mlp` | 1 | 352.1 |'
has regions/LLM@mlp/report.json '"kernel_name": "void sample::scale<(int)2'
has regions/LLM@mlp/sections.txt "Theoretical Occupancy                      %          100.000"
has stakeholder_summary.md "graph takes 33.9 % of the time that ncu measured"

# Ranges, replayed as a whole.
run=runs/ranges
FAKE_NCU_RESULT=$LLMPERF_TEST_DATA/ncu/ranges expect 0 ncu range replay --out runs run.id=ranges run.stage=LLM@stem inputs.manifest=inputs.txt -- ./prog
files_of_every_run
has regions/LLM@stem/sections.txt "L2 Hit Rate                                %          87.7"
has regions/LLM@stem/report.json '"bound": "latency"'

# deep: both, with the regions and kernels of nsys and what ncu measured.
run=runs/deep
FAKE_NCU_RESULT=$LLMPERF_TEST_DATA/ncu/kernels expect 0 deep --out runs run.id=deep inputs.manifest=inputs.txt -- ./prog
files_of_every_run
has report.md "## Kernels measured by ncu"
has kernels.md '| `saxpy` | `default@saxpy` | 0 | 88.50 | 5 | 17.70 |'
expect 0 list runs/deep
for file in nsys/run.sqlite ncu/run.ncu-rep regions report.html; do stdout_has "$file"; done
echo "fine"
