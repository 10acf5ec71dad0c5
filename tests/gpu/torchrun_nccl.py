#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An all-reduce loop under `llmperf run -- torchrun`: NVTX ranges of PyTorch and of NCCL stay apart in the paths. Then collectives
of several sizes, whose bus bandwidth is computed by hand from the trace, and a GPU with more work, which must be named.

LLMPERF=llmperf torchrun_nccl.py      needs torch with NCCL and two GPUs; exits 77 with a reason without them
LLMPERF_TEST_PROCESSES=4              number of processes, one GPU each (2)
"""
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

STEPS = 50
PRODUCTS = 3  # elementwise, one kernel each
STEP = "default@step"
MULTIPLY = STEP + "/default@multiply"
ALLREDUCE = STEP + "/default@allreduce"
DECODE = "LLM@decode_step"
SIZES = (1 << 16, 1 << 20, 1 << 24, 1 << 27)  # elements of bf16 that a GPU sends
CALLS = 30
WITHIN = 0.05


def collectives(device, rank, processes):
    """Each size in a range of its own, then steps in which the last GPU computes more than the others."""
    import torch
    import torch.distributed as dist
    from torch.cuda import nvtx

    for size in SIZES:
        part = torch.ones(size, device=device, dtype=torch.bfloat16)
        whole = torch.empty(size * processes, device=device, dtype=torch.bfloat16)
        calls = {"all_reduce": lambda n: dist.all_reduce(part[:n]),
                 "all_gather": lambda n: dist.all_gather_into_tensor(whole[:n * processes], part[:n]),
                 "reduce_scatter": lambda n: dist.reduce_scatter_tensor(part[:n], whole[:n * processes])}
        for kind, call in calls.items():
            call(size - 8)  # warm-up: connections; its size is another one
            torch.cuda.synchronize()
            nvtx.range_push(f"{kind} {2 * size}")
            for _ in range(CALLS):
                call(size)
            nvtx.range_pop()
            torch.cuda.synchronize()
    side = 4608 if rank == processes - 1 else 4096
    matrix = torch.randn(side, side, device=device, dtype=torch.bfloat16)
    sums = torch.ones(1 << 20, device=device, dtype=torch.bfloat16)
    matrix @ matrix
    torch.cuda.synchronize()
    dist.barrier()
    for _ in range(CALLS):
        nvtx.range_push(DECODE)
        for _ in range(8):
            matrix @ matrix
            dist.all_reduce(sums)
        torch.cuda.synchronize()
        nvtx.range_pop()


def worker(mode):
    import torch
    import torch.distributed as dist
    from torch.cuda import nvtx

    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    # Eager: the communicator is made here, inside no range; lazy: in the first all-reduce.
    dist.init_process_group("nccl", device_id=device if mode != "lazy" else None)
    if mode == "collectives":
        collectives(device, dist.get_rank(), dist.get_world_size())
        dist.destroy_process_group()
        return
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
    """The run of all processes, and its metrics.json."""
    environment = {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo", **os.environ}
    command = [os.environ["LLMPERF"], "run", "--tier", "deep", "--trace", "--out", out, "--",
               sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1",
               "--nproc-per-node", str(processes), os.path.abspath(__file__), "--worker", mode]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=280)
    if done.returncode != 0:
        sys.exit(f"{mode}: exit code {done.returncode}\n{done.stdout}")
    run = done.stdout.strip().splitlines()[-1]
    with open(os.path.join(run, "metrics.json"), encoding="utf-8") as file:
        return run, json.load(file)


def calls_by_hand(run):
    """(kind, bytes of a GPU) -> collectives, each a list of (start, end) in us of all GPUs, from the trace alone."""
    path = os.path.join(run, "trace.json")
    subprocess.run([os.environ["LLMPERF"], "export", run, "--format", "chrome", "-o", path], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for event in trace["traceEvents"] if isinstance(trace, dict) else trace:
        if event.get("cat") != "kernel" or "nccl" not in event["name"]:
            continue
        for label in (event["args"]["region"] or "").split("/"):
            kind, _, size = label.replace("default@", "").partition(" ")
            if size.isdigit():
                found[kind, int(size)][event["args"]["device"]].append((event["ts"], event["ts"] + event["dur"]))
    return {key: list(zip(*(sorted(calls) for _, calls in sorted(gpus.items())))) for key, gpus in found.items()}


def factor(kind, processes):
    """Of nccl-tests, for the bytes that one GPU sends (all-reduce) or gives to and takes from the whole (the others)."""
    return 2 * (processes - 1) / processes if kind == "all_reduce" else processes - 1


def wrong_bandwidths(run, metrics, processes):
    """Compares each size with the trace; one line for each number that differs."""
    ours = collections.defaultdict(list)
    for row in metrics["collectives"]:
        if row["region"] is None:  # the sizes are in no stage
            ours[row["kind"], row["message_bytes"]].append(row)
    print(f"  {'kind':14} {'bytes':>10} {'call us':>9} {'transfer us':>11} {'bus GB/s':>9} {'ours':>9} {'whole call':>10} {'ours':>9} {'link %':>7}")
    for (kind, size), calls in sorted(calls_by_hand(run).items()):
        rows = ours.get((kind, size), [])
        # The transfer of a call begins when it has started on all GPUs.
        transfers = [end - max(start for start, _ in call) for call in calls for _, end in call]
        whole = [end - start for call in calls for start, end in call]
        bus = size * factor(kind, processes) / statistics.mean(transfers) / 1e3
        elapsed = statistics.mean(size * factor(kind, processes) / statistics.mean(end - start for start, end in gpu) / 1e3 for gpu in zip(*calls))
        if len(rows) != processes or {row["calls"] for row in rows} != {CALLS}:
            yield f"{kind} of {size} bytes: rows {[(row['device'], row['calls']) for row in rows]}, not {CALLS} calls on {processes} GPUs"
            continue
        if {(row["message_source"], row["transfer_source"], row["ranks"]) for row in rows} != {("nvtx", "ranks", processes)}:
            yield f"{kind} of {size} bytes: {rows}"
            continue
        mean = statistics.mean(row["bus_gbs"] for row in rows)
        mean_elapsed = statistics.mean(row["bus_elapsed_gbs"] for row in rows)
        share = rows[0]["link_share"]
        print(f"  {kind:14} {size:10} {statistics.mean(whole):9.2f} {statistics.mean(transfers):11.2f} {bus:9.2f} {mean:9.2f} {elapsed:10.2f} "
              f"{mean_elapsed:9.2f} {100 * share if share else float('nan'):7.1f}")
        for name, value, by_hand in (("transfer", mean, bus), ("whole call", mean_elapsed, elapsed)):
            if abs(value / by_hand - 1) > WITHIN:
                yield f"{kind} of {size} bytes, {name}: {value} GB/s, by hand {by_hand}"


def wrong_straggler(metrics, processes):
    """The last GPU has larger products than the others."""
    rows = [row for row in metrics["ranks"] if row["region"] == DECODE]
    print("\n".join(f"  GPU {row['device']}: computes {row['compute_ms']:.3f} ms, waits {row['waiting_ms']:.3f}, transfers "
                    f"{row['transfer_ms'] if row['transfer_ms'] is None else round(row['transfer_ms'], 3)}, last {row['last_share']}, {row['cause']}"
                    for row in rows))
    print("\n".join("  " + row["text"] for row in metrics["recommendations"] if row["id"] == "uneven_ranks"))
    if [row["waiting_source"] for row in rows] != ["calls"] * processes:
        yield f"ranks: {rows}"
    elif "GEMM" not in (rows[-1]["cause"] or ""):
        yield f"the cause of the last GPU is {rows[-1]['cause']}"
    elif not any(f"for GPU {processes - 1}, which arrives last" in row["text"] for row in metrics["recommendations"]):
        yield "no advice names the last GPU"


def check_collectives(processes):
    with tempfile.TemporaryDirectory() as out:
        run, metrics = profile("collectives", processes, out)
        print(f"collectives: {processes} GPUs, verdict {metrics['ledger']['verdict']}")
        faults_found = [*wrong_bandwidths(run, metrics, processes), *wrong_straggler(metrics, processes)]
    for fault in faults_found:
        print("  WRONG:", fault)
    return bool(faults_found)


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
            _, metrics = profile(mode, processes, out)
        paths = sorted({row["path"] for row in metrics["regions"]})
        print(f"{mode}: {processes} processes, {len(paths)} paths, verdict {metrics['ledger']['verdict']}")
        print("\n".join("  " + path for path in paths))
        if not any("ncclCommInit" in path for path in paths):
            print("  NCCL marks no range when it starts: this test shows less than it could")
        for fault in faults(metrics, processes):
            failed = True
            print("  WRONG:", fault)
    return check_collectives(processes) or failed


if __name__ == "__main__":
    sys.exit(main())
