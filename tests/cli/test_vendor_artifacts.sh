#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each file of a vendor run, made from real files of nsys and ncu (tests/data/nsys, tests/data/ncu), which programs in place of these tools deliver.
. "${LLMPERF_SOURCE:?not set: use tools/dev/dev test}/tests/cli/common.sh"
export FAKE_TOOLS_LOG=$TMPDIR/calls.log FAKE_NSYS_EXPORT=$LLMPERF_TEST_DATA/nsys/dummy_resnet.sqlite
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

# nsys: a network of convolutions on an H200.
run=runs/nsys
expect 0 nsys --out runs run.id=nsys inputs.manifest=inputs.txt -- ./prog
stderr_is_one_line
stderr_has "nsys found no data for runs/nsys/nsys/run_nvtx_sum.csv"
files_of_every_run
for file in cmd.txt log.txt run.nsys-rep run.sqlite run_cuda_gpu_kern_sum.csv; do [ -s "$run/nsys/$file" ] || die "no nsys/$file"; done
has kernels.md '| `resnet::conv3x3_kernel` | `LLM@forward/LLM@stem` | 0 | 0.1345 | 25 | 0.005380 |'
has regions/LLM@stem/report.md '| 25 | 0.1345 |'
has report.md "**Complete**: 475 kernels seen from 475 launches"
has report.md "| GPU 0 | NVIDIA H200, compute capability 9.0, 132 SMs"
has report.md "| nsys | 2023.4.4.54 |"

[ "$(stat -c %a $run/nsys)" = 700 ] || die "others may read the files of nsys"

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
has kernels.md '| `resnet::conv3x3_kernel` | `LLM@forward/LLM@stem` | 0 | 0.1345 | 25 | 0.005380 |'
expect 0 list runs/deep
for file in nsys/run.sqlite ncu/run.ncu-rep regions report.html; do stdout_has "$file"; done

# Both of one program: the kernels that nsys found longest, with what ncu measured of them.
run=runs/one
: >calls.log
FAKE_NCU_RESULT=$LLMPERF_TEST_DATA/ncu/sections expect 0 deep --out runs run.id=one run.top_n_kernels=2 inputs.manifest=inputs.txt -- ./prog
stderr_has "ncu profiles 2 of 5 kernels, those with the largest total time"
files_of_every_run
grep -qF '"regex:^(conv3x3_kernel|batch_norm_kernel)$"' calls.log || die "the kernels that ncu was asked for"
has kernels.md '| `resnet::conv3x3_kernel` | `LLM@forward/LLM@residual/LLM@block.conv1` | 2 | 27.71 |'
has regions/LLM@block.conv1/sections.txt "Warp State Statistics"
echo "fine"
