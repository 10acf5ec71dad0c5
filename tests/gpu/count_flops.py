#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The two halves of count_flops.sh: run products under ncu, and compare its counts with the formulas.

count_flops.py --multiply              one product of each shape, after a marker kernel of its own
count_flops.py --compare FOLDER BATCH  prints two tables; exit 1 if an unpadded product differs by more than 2 %
"""
import csv
import json
import os
import sys

# Rows, columns of the weights, inner size; few rows are a decode step. What a tile does not divide is padded.
SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 28672, 4096), (2048, 4096, 14336), (1000, 1000, 1000), (512, 6144, 4096),
          (64, 4096, 4096), (16, 4096, 4096), (8, 4096, 4096)]
TENSOR = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
FFMA = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"
FADD = "sm__sass_thread_inst_executed_op_fadd_pred_on.sum"
FMUL = "sm__sass_thread_inst_executed_op_fmul_pred_on.sum"


def multiply():
    import torch

    torch.manual_seed(1)
    for rows, columns, inner in SHAPES:
        a = torch.randn(rows, inner, device="cuda", dtype=torch.bfloat16)
        weights = torch.randn(columns, inner, device="cuda", dtype=torch.bfloat16)
        torch.nn.functional.linear(a, weights)
        torch.cuda.synchronize()


def rows_of(path):
    """Rows of an ncu CSV file (raw page): name of the kernel, values by metric."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    for row in csv.DictReader(lines):
        if not row.get("ID"):
            continue  # the line of units
        values = {}
        for key, text in row.items():
            if key and key.startswith("sm__"):
                values[key] = float((text or "0").replace(",", ""))
        yield row["Kernel Name"], values


def compare_resnet(folder, batch):
    with open(os.path.join(folder, "resnet.json"), encoding="utf-8") as file:
        model = json.load(file)
    expected = batch * model["vision"]["model_flops"]
    sums = {}
    tensor = 0
    for name, values in rows_of(os.path.join(folder, "resnet.csv")):
        short = name.split("(")[0].split("::")[-1].split("<")[0]
        total = sums.setdefault(short, [0, 0, 0])
        total[0] += 2 * values[FFMA]
        total[1] += values[FADD] + values[FMUL]
        total[2] += 1
        tensor += values.get(TENSOR, 0)
    products = sum(sums[name][0] for name in ("conv3x3_kernel", "linear_kernel") if name in sums)
    print(f"dummy_resnet, batch {batch}, one forward pass\n\n| kernel | calls | 2 x FFMA | FADD + FMUL |\n| --- | --- | --- | --- |")
    for name, (fma, other, calls) in sums.items():
        print(f"| {name} | {calls} | {fma:.0f} | {other:.0f} |")
    print(f"\nmodel FLOPs {expected}, counted {products:.0f}, tensor cores {tensor:.0f}: {100 * (products / expected - 1):+.4f} %\n")
    return abs(products / expected - 1) <= 0.02


def compare_products(folder):
    kernels = list(rows_of(os.path.join(folder, "gemm.csv")))
    good = True
    print("| rows x columns x inner | 2 m n k | counted | difference | kernels |\n| --- | --- | --- | --- | --- |")
    at = 0
    for index, (rows, columns, inner) in enumerate(SHAPES):
        expected = 2 * rows * columns * inner
        counted, names = 0, []
        # A product may be several kernels (split along k, then summed): those without tensor work belong to the one before.
        while at < len(kernels):
            name, values = kernels[at]
            if values[TENSOR] > 0 and counted > 0:
                break
            counted += values[TENSOR]
            names.append(name.split("(")[0].split("<")[0][:60])
            at += 1
            if index == len(SHAPES) - 1 and at == len(kernels):
                break
        print(f"| {rows} x {columns} x {inner} | {expected} | {counted:.0f} | {100 * (counted / expected - 1):+.2f} % | {', '.join(names)} |")
        if rows % 256 == 0 and columns % 256 == 0:
            good &= abs(counted / expected - 1) <= 0.02
    return good


if __name__ == "__main__":
    if sys.argv[1:] == ["--multiply"]:
        multiply()
    elif len(sys.argv) == 4 and sys.argv[1] == "--compare":
        fine = compare_resnet(sys.argv[2], int(sys.argv[3]))
        fine &= compare_products(sys.argv[2])
        sys.exit(0 if fine else 1)
    else:
        sys.exit(__doc__)
