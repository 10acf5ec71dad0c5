#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# FLOPs of a model against what the hardware counted (Nsight Compute): dummy_resnet, and products in bf16 through PyTorch.
# Needs a GPU whose counters may be read, ncu, and a python3 with torch. Changes no setting of the GPU.
#   count_flops.sh LLMPERF DUMMY_RESNET [FOLDER FOR THE CSV FILES]
set -eu
llmperf=$1 resnet=$2 out=${3:-$(mktemp -d)}
mkdir -p "$out"
here=$(cd "$(dirname "$0")" && pwd)
batch=8
fp32=sm__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__sass_thread_inst_executed_op_fadd_pred_on.sum,sm__sass_thread_inst_executed_op_fmul_pred_on.sum
tensor=sm__ops_path_tensor_src_bf16_dst_fp32.sum

ncu --clock-control none --csv --page raw --metrics "$fp32,$tensor" --log-file "$out/resnet.csv" \
    "$resnet" --device cuda --batch $batch --iterations 1 --warmup 0 --tier regions --out "$out/runs" >"$out/resnet.log" 2>&1
"$llmperf" model dummy_shallow_resnet --format json >"$out/resnet.json"
ncu --clock-control none --csv --page raw --metrics "$tensor" --kernel-name "regex:gemm|nvjet|cutlass|gemv|splitK|dot" \
    --log-file "$out/gemm.csv" python3 "$here/count_flops.py" --multiply >"$out/gemm.log" 2>&1
python3 "$here/count_flops.py" --compare "$out" $batch
