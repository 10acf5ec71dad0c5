#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The continuous batching of transformers under llmperf: requests that arrive at random, a Llama 1B with random weights.

The engine stamps arrival, start, tokens and end of each request with its own clock. TTFT, TPOT, ITL, end-to-end latency, queue time,
goodput and the delay of decode steps by prefills are computed from these stamps and compared with the report. Device memory is
compared with PyTorch's own statistics, once with its caching allocator and once with memory pools of the driver (cudaMallocAsync).

LLMPERF_LIBRARY=libllmperf.so PYTHONPATH=bindings/python continuous_batching.py [FOLDER]
                          needs torch, transformers and a GPU; exits 77 with a reason without them
LLMPERF_TEST_DEVICE=cpu   requests only, a small model, without a GPU
"""
import collections
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import checks
from checks import check, result, skip

MODEL = "llama_3_2_1b"
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 512}
LLAMA_1B = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "tie_word_embeddings": True,
            "max_position_embeddings": 4096}
REQUESTS = 120
WARM_UP = 8
MEAN_GAP = 0.05  # seconds between two arrivals, exponentially distributed
PROMPTS = {"cuda": (600, 2000), "cpu": (32, 400)}
BATCH = 16
BLOCKS, BLOCK = 160, 256
# Stamps of the engine and calls of llmperf lie a few lines of Python apart.
RELATIVE, ABSOLUTE_MS, LONGEST_MS = 0.01, 0.2, 3.0
HISTOGRAM = 0.025
MIB = 1 << 20


def near(name, reported, by_hand, relative=RELATIVE, absolute=ABSOLUTE_MS):
    holds = reported is not None and abs(reported - by_hand) <= absolute + relative * abs(by_hand)
    check(name, holds, f"{reported} reported, {by_hand:.4f} by hand")


class Steps:
    """Forward passes of the engine, and when requests waited for tokens, by the clock of the test."""

    def __init__(self):
        self.ends = []      # seconds, of decode steps
        self.prefills = []  # likewise, of forward passes with tokens of prompts
        self.context = 0    # most tokens of context in one decode step
        self.decoding = []  # (seconds, +1 or -1): requests with a first token


def mark_engine(llmperf, cb, steps):
    """Calls of llmperf in the engine: requests where it stamps them, regions around its forward passes."""
    from transformers.generation.continuous_batching import continuous_api, requests

    state_class, processor = requests.RequestState, continuous_api.ContinuousBatchProcessor
    status, update, step = state_class.status, state_class.update_and_check_completion, processor._generation_step
    cache_init = continuous_api.PagedAttentionCache.__init__
    open_requests = {}

    def set_status(state, value):
        if state._status == cb.RequestStatus.PENDING and state.request_id not in open_requests:
            open_requests[state.request_id] = llmperf.request(
                prompt_tokens=len(state.initial_tokens), arrival_ns=int(state.created_time * 1e9), id=int(state.request_id))
        status.fset(state, value)
        if value >= cb.RequestStatus.FINISHED:
            open_requests.pop(state.request_id).end("length")
            steps.decoding.append((time.perf_counter(), -1))

    def add_token(state, token, logprob):
        if state.generated_len() == 0:
            steps.decoding.append((time.perf_counter(), 1))
        open_requests[state.request_id].token()
        return update(state, token, logprob)

    def run_step(self, model):
        batch = self.inputs_and_outputs.requests_in_batch
        prompts = [one for one in batch if one.state.generated_len() == 0]
        decodes = [one for one in batch if one.state.generated_len() > 0]
        new = sum(one.query_length for one in prompts)
        prefill = llmperf.region("LLM@prefill", tokens=new, context=sum(one.state.position_offset for one in prompts))
        context = sum(one.state.position_offset for one in decodes)
        decode = llmperf.region("LLM@decode_step", sequences=len(decodes), context=context)
        if not decodes:
            with prefill:
                step(self, model)
            steps.prefills.append(time.perf_counter())
            return
        # A prompt in the batch makes the decode step a prefill, too.
        with decode:
            if prompts:
                prefill.__enter__()
            step(self, model)
            if prompts:
                prefill.__exit__(None, None, None)
                steps.prefills.append(time.perf_counter())
        steps.ends.append(time.perf_counter())
        steps.context = max(steps.context, context)

    def make_cache(self, *args, **kwargs):
        with llmperf.region("kv_cache"):
            cache_init(self, *args, **kwargs)

    state_class.status = property(status.fget, set_status)
    state_class.update_and_check_completion = add_token
    processor._generation_step = run_step
    continuous_api.PagedAttentionCache.__init__ = make_cache


def make_model(llmperf, device):
    import torch
    import transformers

    shapes = LLAMA_1B if device == "cuda" else SMALL
    with llmperf.region("weights"), torch.device(device):
        config = transformers.AutoConfig.for_model("llama", **shapes)
        config._attn_implementation = "sdpa"
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16 if device == "cuda" else torch.float32)
    model.generation_config.eos_token_id = -1
    return model.eval()


def serve(model, count, first, seed):
    """Outputs of the engine for `count` requests with Poisson arrivals."""
    import transformers

    rng = random.Random(seed)
    config = transformers.ContinuousBatchingConfig(
        block_size=BLOCK, num_blocks=BLOCKS, max_batch_tokens=2048, max_requests_per_batch=BATCH, allow_block_sharing=False,
        use_async_batching=False, use_cuda_graph=False)
    done, outputs = threading.Event(), []
    with model.continuous_batching_context_manager(continuous_batching_config=config, warmup=False) as manager:
        def collect():
            while len(outputs) < count and manager.is_running():
                output = manager.get_result(timeout=0.1)
                if output is not None:
                    outputs.append(output)
            done.set()

        reader = threading.Thread(target=collect)
        reader.start()
        at = time.perf_counter()
        for i in range(count):
            at += rng.expovariate(1 / MEAN_GAP)
            time.sleep(max(0.0, at - time.perf_counter()))
            prompt = [rng.randrange(SMALL["vocab_size"]) for _ in range(rng.randrange(*PROMPTS[model.device.type]))]
            manager.add_request(prompt, request_id=str(first + i), max_new_tokens=rng.randrange(1, 40), record_timestamps=True)
        done.wait(300)
        reader.join()
    if len(outputs) != count or any(output.error for output in outputs):
        sys.exit(f"the engine served {len(outputs)} of {count} requests: {[output.error for output in outputs if output.error][:1]}")
    return outputs


def by_hand(outputs):
    """Latencies in ms by name, from the stamps of the engine."""
    found = collections.defaultdict(list)
    for output in outputs:
        stamps, arrival = output.timestamps, output.created_time
        found["queue"].append(output.lifespan[0] - arrival)
        found["ttft"].append(stamps[0] - arrival)
        found["e2e"].append(output.lifespan[1] - arrival)
        found["itl"] += [later - stamp for stamp, later in zip(stamps, stamps[1:])]
        if len(stamps) > 1:
            found["tpot"].append((stamps[-1] - stamps[0]) / (len(stamps) - 1))
    return {name: [1e3 * value for value in values] for name, values in found.items()}


def step_times(steps):
    """From the end of a decode step to the end of the next, while a request waited for its next token all the time."""
    found = {"step": [], "step_prefill": []}
    changes = sorted(steps.decoding)
    for before, end in zip(steps.ends, steps.ends[1:]):
        waiting = sum(change for stamp, change in changes if stamp <= before)
        least = waiting
        for change in (change for stamp, change in changes if before < stamp <= end):
            waiting += change
            least = min(least, waiting)
        if least > 0:
            delayed = any(before < stamp <= end for stamp in steps.prefills)
            found["step_prefill" if delayed else "step"].append(1e3 * (end - before))
    return found


def compare_latency(name, row, values):
    values = sorted(values)
    check(f"{name} n", row["count"] == len(values), f"{row['count']} reported, {len(values)} by hand")
    near(f"{name} mean ms", row["mean_ms"], sum(values) / len(values))
    near(f"{name} max ms", row["max_ms"], values[-1], absolute=LONGEST_MS)
    for key, fraction, least in (("p50_ms", 0.5, 1), ("p90_ms", 0.9, 10), ("p99_ms", 0.99, 100)):
        if len(values) < least:
            check(f"{name} {key}", row[key] is None, f"{row[key]} reported, {len(values)} values are too few")
            continue
        rank = math.ceil(fraction * len(values)) - 1
        low = values[max(rank - 1, 0)] * (1 - HISTOGRAM) - ABSOLUTE_MS
        high = values[min(rank + 1, len(values) - 1)] * (1 + HISTOGRAM) + ABSOLUTE_MS
        holds = row[key] is not None and low <= row[key] <= high
        check(f"{name} {key}", holds, f"{row[key]} reported, {values[rank]:.4f} by hand")


def compare_goodput(found, outputs, slo):
    sure = unsure = 0
    for output in outputs:
        stamps = output.timestamps
        ttft = 1e3 * (stamps[0] - output.created_time)
        tpot = 1e3 * (stamps[-1] - stamps[0]) / (len(stamps) - 1) if len(stamps) > 1 else 0
        sure += ttft <= slo[0] - LONGEST_MS and tpot <= slo[1] - ABSOLUTE_MS
        unsure += ttft <= slo[0] + LONGEST_MS and tpot <= slo[1] + ABSOLUTE_MS
    check("good requests", sure <= found["good"] <= unsure, f"{found['good']} reported, {sure} to {unsure} by hand (SLO {slo} ms)")
    seconds = max(output.lifespan[1] for output in outputs) - min(output.created_time for output in outputs)
    near("goodput/s", found["goodput_per_s"], found["good"] / seconds, absolute=0.01)
    near("requests/s", found["requests_per_s"], len(outputs) / seconds, absolute=0.01)
    near("output tokens/s", found["output_tokens_per_s"], sum(len(output.timestamps) for output in outputs) / seconds, absolute=0.1)


def compare_requests(profile, outputs, steps, slo):
    found, latencies = profile.requests(), by_hand(outputs)
    check("requests", (found["requests"], found["finished"], found["open"], found["stray_calls"]) == (len(outputs), len(outputs), 0, 0),
          f"{found['requests']} begun, {found['finished']} finished, {found['stray_calls']} stray calls")
    check("prompt tokens", found["prompt_tokens"] == sum(len(output.prompt_ids) for output in outputs), str(found["prompt_tokens"]))
    for name, values in latencies.items():
        compare_latency(name, found["latencies"][name], values)
    compare_goodput(found, outputs, slo)
    times = step_times(steps)
    for name, values in times.items():
        check(f"{name} is there", bool(values) and name in found["latencies"], f"{len(values)} by hand")
    if not all(times.values()):
        return
    for name, values in times.items():
        compare_latency(name, found["latencies"][name], values)
    means = {name: sum(values) / len(values) for name, values in times.items()}
    delay = means["step_prefill"] - means["step"]
    reported = profile.to_dict()["requests"]
    near("prefill delay ms", reported["prefill_delay_ms"], delay)
    if max(len(output.prompt_ids) for output in outputs) > 600:
        check("a prefill delays decode", reported["prefill_delay_ms"] > 0, f"{delay:.3f} ms by hand")
    share = len(times["step_prefill"]) / (len(times["step"]) + len(times["step_prefill"]))
    near("share of steps with a prefill", reported["prefill_share"], share, absolute=0.001)


def compare_memory(profile, model, steps):
    import torch

    stats, total = torch.cuda.memory_stats(), torch.cuda.mem_get_info()[1]
    device = profile.memory()[0]
    for row in profile.memory()[:8]:
        print(f"      {row['region']}: {row['allocations']} allocations, {row['allocated_bytes'] / MIB:.1f} MiB, peak {row['peak_bytes']}")
    reserved, pools = stats["reserved_bytes.all.peak"], torch.cuda.get_allocator_backend() == "cudaMallocAsync"
    weights = sum(one.numel() * one.element_size() for one in {id(one): one for one in model.parameters()}.values())
    config = model.config
    token = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * 2
    check("weights of the model", device["weight_bytes"] == weights, f"{device['weight_bytes']} reported, {weights} in PyTorch")
    check("KV cache in use", device["cache_bytes"] == steps.context * token,
          f"{device['cache_bytes']} reported, {steps.context} tokens of {token} bytes by hand")
    for name, least in (("weight_allocated_bytes", weights), ("cache_allocated_bytes", (BLOCKS + 2) * BLOCK * token)):
        check(name, device[name] is not None and 0.95 * least <= device[name] <= 1.1 * least + 512 * MIB,
              f"{device[name]} reported, {least} in tensors")
    if pools:
        near("pool_reserved_bytes", device["pool_reserved_bytes"], reserved, absolute=0)
        near("pool_used_bytes", device["pool_used_bytes"], stats["allocated_bytes.all.peak"], absolute=0)
    else:
        # cuBLAS and others allocate a little beside PyTorch.
        check("peak_bytes", reserved <= device["peak_bytes"] <= reserved + 128 * MIB,
              f"{device['peak_bytes']} reported, {reserved} reserved by PyTorch at most")
        check("no pools", device["pool_reserved_bytes"] is None, str(device["pool_reserved_bytes"]))
    near("GPU memory", device["total_bytes"], total, relative=0.03, absolute=0)
    check("free", device["free_bytes"] is not None and device["free_bytes"] <= total - 0.9 * reserved, str(device["free_bytes"]))


def session_options(device, out):
    options = {"tier": "deep", "out": out, "model_path": MODEL} if device == "cuda" else {"tier": "regions", "out": out}
    return dict(options, reports=True)


def run(device, out):
    import llmperf
    from transformers.generation import continuous_batching as cb

    steps = Steps()
    with llmperf.Session(**session_options(device, out)) as session:
        mark_engine(llmperf, cb, steps)
        model = make_model(llmperf, device)
        latencies = by_hand(serve(model, WARM_UP, 1, 1))
    print(f"memory run: {session.profile.verdict}")
    if device == "cuda":
        compare_memory(session.profile, model, steps)
    if os.environ.get("PYTORCH_CUDA_ALLOC_CONF"):
        return
    serve(model, WARM_UP, 101, 2)
    latencies = by_hand(serve(model, 24, 201, 3))
    slo = [max(1, round(sorted(latencies[name])[len(latencies[name]) // 2])) for name in ("ttft", "tpot")]
    slo[1] = 2 * slo[1]
    steps.__init__()
    settings = {"session.slo_ttft_ms": slo[0], "session.slo_tpot_ms": slo[1]}
    with llmperf.Session(**session_options(device, out), settings=settings) as session:
        outputs = serve(model, REQUESTS, 1001, 4)
    print(f"requests run: {session.profile.verdict}")
    if device == "cuda":
        check("verdict", session.profile.verdict == "complete", "; ".join(session.profile.problems))
    compare_requests(session.profile, outputs, steps, slo)


def what_lacks(device):
    reason = checks.what_lacks(device)
    if reason:
        return reason
    import transformers

    if not hasattr(transformers, "ContinuousBatchingConfig"):
        return f"transformers {transformers.__version__} has no continuous batching that this test knows"
    return None


def main():
    device = os.environ.get("LLMPERF_TEST_DEVICE", "cuda")
    reason = what_lacks(device)
    if reason:
        return skip(reason)
    with tempfile.TemporaryDirectory(prefix="llmperf-batching-") as folder:
        out = sys.argv[1] if len(sys.argv) > 1 else folder
        run(device, out)
        if device == "cuda" and not os.environ.get("PYTORCH_CUDA_ALLOC_CONF"):
            print("with memory pools of the driver:")
            done = subprocess.run([sys.executable, os.path.abspath(__file__), os.path.join(out, "pools")], check=False,
                                  env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
            check("memory pools", done.returncode == 0, f"exit code {done.returncode}")
    return result()


if __name__ == "__main__":
    sys.exit(main())
