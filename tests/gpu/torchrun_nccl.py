#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An all-reduce loop under `llmperf run -- torchrun`: NVTX ranges of PyTorch and of NCCL stay apart in the paths.

LLMPERF=llmperf torchrun_nccl.py      needs torch with NCCL and two GPUs; exits 77 with a reason without them
LLMPERF_TEST_PROCESSES=4              number of processes, one GPU each (2)
"""
import json
import os
import subprocess
import sys
import tempfile

STEPS = 50
PRODUCTS = 3  # elementwise, one kernel each
STEP = "default@step"
MULTIPLY = STEP + "/default@multiply"
ALLREDUCE = STEP + "/default@allreduce"


def worker(mode):
    import torch
    import torch.distributed as dist
    from torch.cuda import nvtx

    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    # Eager: the communicator is made here, inside no range; lazy: in the first all-reduce.
    dist.init_process_group("nccl", device_id=device if mode == "eager" else None)
    data = torch.ones(1 << 20, device=device)
    sums = torch.ones(1 << 20, device=device)
    for _ in range(STEPS):
        nvtx.range_push("step")
        nvtx.range_push("multiply")
        for _ in range(PRODUCTS):
            data.mul_(1.0001)
        nvtx.range_pop()
        nvtx.range_push("allreduce")
        dist.all_reduce(sums, op=dist.ReduceOp.MAX)
        nvtx.range_pop()
        nvtx.range_pop()
    nvtx.range_push("after")
    data.mul_(0.5)
    nvtx.range_pop()
    torch.cuda.synchronize()
    dist.destroy_process_group()


def what_lacks(processes):
    try:
        import torch
    except ImportError:
        return "no module torch in " + sys.executable
    if torch.cuda.device_count() < processes:
        return f"{torch.cuda.device_count()} GPUs, {processes} are needed"
    if not (torch.distributed.is_available() and torch.distributed.is_nccl_available()):
        return "torch has no NCCL"
    if not os.path.exists(os.environ.get("LLMPERF", "")):
        return "LLMPERF names no llmperf"
    return None


def profile(mode, processes, out):
    """metrics.json of all processes as one run."""
    environment = {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo", **os.environ}
    command = [os.environ["LLMPERF"], "run", "--tier", "deep", "--out", out, "--",
               sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1",
               "--nproc-per-node", str(processes), os.path.abspath(__file__), "--worker", mode]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=280)
    if done.returncode != 0:
        sys.exit(f"{mode}: exit code {done.returncode}\n{done.stdout}")
    with open(os.path.join(done.stdout.strip().splitlines()[-1], "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def kernels_below(metrics, path, part=""):
    """Kernel calls in a region and those nested in it, over all processes."""
    return sum(row["calls"] for row in metrics["kernels"]
               if row["kind"] == "kernel" and part in row["kernel_name"] and ((row["region"] or "") + "/").startswith(path + "/"))


def faults(metrics, processes):
    """What is not as it must be, one line each."""
    ledger = metrics["ledger"]
    paths = sorted({row["path"] for row in metrics["regions"]})
    for path in paths:
        labels = path.split("/")
        for at, label in enumerate(labels[:-1]):
            if "ncclCommInit" in label and any(not below.startswith("NCCL@ncclComm") for below in labels[at + 1:]):
                yield f"{path} is nested in the range of NCCL's initialisation"
    for path in (STEP, MULTIPLY, ALLREDUCE, "default@after"):
        rows = [row for row in metrics["regions"] if row["path"] == path]
        wanted = 1 if path == "default@after" else STEPS
        if len({row["process_id"] for row in rows}) != processes or {row["instances"] for row in rows} != {wanted}:
            yield f"{path}: instances {[row['instances'] for row in rows]}, not {processes} x {wanted}"
        for row in rows:
            if not row["wall_ms"]["sum"] or not row["gpu_busy_ms"]:
                yield f"{path}: host {row['wall_ms']['sum']} ms, device {row['gpu_busy_ms']} ms"
    for path, part, wanted in ((MULTIPLY, "", PRODUCTS * STEPS), (ALLREDUCE, "nccl", STEPS), (ALLREDUCE, "", STEPS),
                               ("default@after", "", 1)):
        seen = kernels_below(metrics, path, part)
        if seen != wanted * processes:
            yield f"{path}: {seen} kernels {part}, not {wanted * processes}"
    if ledger["verdict"] != "complete":
        yield f"verdict {ledger['verdict']}: {ledger['problems']}"
    for count in ("regions_unbalanced", "regions_abandoned", "regions_truncated"):
        if ledger[count] != 0:
            yield f"{count} {ledger[count]}"


def main():
    processes = int(os.environ.get("LLMPERF_TEST_PROCESSES", "2"))
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2])
        return 0
    lack = what_lacks(processes)
    if lack:
        print("skipped:", lack)
        return 77
    failed = False
    for mode in ("lazy", "eager"):
        with tempfile.TemporaryDirectory() as out:
            metrics = profile(mode, processes, out)
        paths = sorted({row["path"] for row in metrics["regions"]})
        print(f"{mode}: {processes} processes, {len(paths)} paths, verdict {metrics['ledger']['verdict']}")
        print("\n".join("  " + path for path in paths))
        if not any("ncclCommInit" in path for path in paths):
            print("  NCCL marks no range when it starts: this test shows less than it could")
        for fault in faults(metrics, processes):
            failed = True
            print("  WRONG:", fault)
    return failed


if __name__ == "__main__":
    sys.exit(main())
