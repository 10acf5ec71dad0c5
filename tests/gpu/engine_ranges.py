#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges of engines on a GPU, under llmperf run: steps named as vLLM names them, around the forward passes of a small transformers model,
and PyTorch's emit_nvtx(). The report is compared with what the program did.

LLMPERF=llmperf LLMPERF_CONFIG_DIR=conf engine_ranges.py [FOLDER]
    needs torch, transformers and a GPU; exits 77 with a reason without them
"""
import json
import os
import subprocess
import sys
import tempfile

PREFILLS, STEPS, PROMPT, BATCH = 2, 30, 128, 4
CONFIG = {"hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
          "vocab_size": 4096, "max_position_embeddings": 1024}


def step_name(prefill, context):
    new = BATCH * PROMPT if prefill else BATCH
    sums = f"sq{new}sk{context}sqsq{new}sqsk{context}"
    none = "sq0sk0sqsq0sqsk0"
    return f"execute_{new}_context_{BATCH if prefill else 0}({sums if prefill else none})" \
           f"_generation_{0 if prefill else BATCH}({none if prefill else sums})"


def engine():
    """The child: `PREFILLS` batches, each prompt once and `STEPS` decode steps; then one forward pass under emit_nvtx()."""
    import torch
    import transformers

    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG)).to("cuda", torch.bfloat16).eval()
    nvtx = torch.cuda.nvtx
    with torch.no_grad():
        for _ in range(PREFILLS):
            tokens = torch.randint(0, CONFIG["vocab_size"], (BATCH, PROMPT), device="cuda")
            cache = None
            for step in range(STEPS + 1):
                nvtx.range_push(step_name(step == 0, BATCH * (PROMPT + step)))
                nvtx.range_push("gpu_model_runner: forward")
                out = model(tokens, past_key_values=cache, use_cache=True)
                nvtx.range_pop()
                nvtx.range_push("gpu_model_runner: sample")
                tokens = out.logits[:, -1:].argmax(-1)
                nvtx.range_pop()
                torch.cuda.synchronize()
                nvtx.range_pop()
                cache = out.past_key_values
        with torch.autograd.profiler.emit_nvtx(record_shapes=True):
            model(tokens)
        torch.cuda.synchronize()


def check(name, holds, text):
    print(f"{'ok   ' if holds else 'WRONG'} {name}: {text}")
    return not holds


def main(folder):
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        return 77
    os.makedirs(folder, exist_ok=True)
    config = os.path.join(folder, "config.json")
    with open(config, "w") as file:
        json.dump(dict(CONFIG, architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="bfloat16"), file)
    command = [os.environ["LLMPERF"], "run", "--out", os.path.join(folder, "runs"), "--model", config, "--dtype", "bf16", "--",
               sys.executable, os.path.abspath(__file__), "--engine"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[-2]
    with open(os.path.join(run, "metrics.json")) as file:
        metrics = json.load(file)
    rows = {row["path"]: row for row in metrics["regions"]}
    steps, prefill = rows["vllm@decode_step"], rows["vllm@prefill"]
    forward = rows["vllm@decode_step/vllm@forward"]
    contexts = sum(BATCH * (PROMPT + step) for step in range(1, STEPS + 1))
    operators = {row["op_name"] for row in metrics["operators"]}
    wrong = [
        check("steps", steps["instances"] == PREFILLS * STEPS and steps["kind"] == "stage", steps["instances"]),
        check("prefills", prefill["instances"] == PREFILLS and prefill["tokens"] == PREFILLS * BATCH * PROMPT, prefill["tokens"]),
        check("tokens of steps", steps["tokens"] == PREFILLS * STEPS * BATCH, steps["tokens"]),
        check("context of steps", steps["context"] == PREFILLS * contexts, steps["context"]),
        check("kernels of steps", steps["kernel_count"] % (PREFILLS * STEPS) == 0 and steps["kernel_count"] > 0, steps["kernel_count"]),
        check("forward has most kernels", forward["kernel_count"] > 0.9 * steps["kernel_count"], forward["kernel_count"]),
        check("FLOPs of steps", steps["flops"] is not None and steps["mfu"] is not None, steps["mfu"]),
        check("operators of emit_nvtx", "default@aten::mm" in operators or "default@aten::linear" in operators, sorted(operators)[:12]),
        check("no numbers in names", not any(" = " in name for name in operators), len(operators)),
        check("verdict", metrics["ledger"]["verdict"] == "complete", metrics["ledger"]["verdict"]),
    ]
    print(f"{len(metrics['regions'])} regions, {len(operators)} operators; {run}")
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    if "--engine" in sys.argv:
        engine()
        sys.exit(0)
    if len(sys.argv) > 1:
        sys.exit(main(sys.argv[1]))
    with tempfile.TemporaryDirectory() as own:
        sys.exit(main(own))
