#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Structure found in programs without regions, live: the mini engine against its own regions, and programs that say what they did.

LLMPERF=llmperf DSOCR=dsocr_profile found_live.py [FOLDER [NAME ...]]      exits 77 with a reason without a GPU; keeps runs in FOLDER

Without NAME all but jax, of which the decode steps are not found yet (docs/lab/validation.md).
"""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, result, skip, what_lacks

PROGRAMS = {
    "eager": "generate(model, ids)",
    "compiled": "generate(model, ids, cache_implementation='static')",
    "batch": """
from transformers import GenerationConfig
model.set_attn_implementation("sdpa")
config = GenerationConfig(max_new_tokens=24, do_sample=False, eos_token_id=-1)
forward, truth = model.forward, {"steps": 0}
def counted(*words, **options):
    truth["steps"] += 1
    return forward(*words, **options)
model.forward = counted
model.generate_batch(inputs=[ids[0, :40 + 8 * i].tolist() for i in range(12)], generation_config=config)
say(truth)
""",
}
TORCH = """
import json, torch, transformers
def say(truth): print("truth", json.dumps(truth), flush=True)
torch.manual_seed(1)
config = transformers.AutoConfig.for_model("llama", hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                                           num_key_value_heads=8, head_dim=64, vocab_size=128256)
with torch.device("cuda"):
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
ids = torch.randint(1000, (2, 512), device="cuda")
def generate(model, ids, calls=3, new=32, **options):
    for _ in range(calls):
        model.generate(ids, min_new_tokens=new, max_new_tokens=new, do_sample=False, pad_token_id=0, **options)
    say({"layers": 16, "prefill": calls, "decode": calls * (new - 1)})
"""
JAX = """
import json, jax, jax.numpy as jnp
def say(truth): print("truth", json.dumps(truth), flush=True)
L, D, H, F, V, B = 12, 1024, 16, 4096, 32000, 4
keys = jax.random.split(jax.random.key(1), 8)
def weights(i, *shape): return (jax.random.normal(keys[i], shape) * 0.02).astype(jnp.bfloat16)
layers = dict(qkv=weights(0, L, D, 3 * D), o=weights(1, L, D, D), up=weights(2, L, D, F), down=weights(3, L, F, D))
table = weights(4, V, D)
def norm(x): return (x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-6)).astype(jnp.bfloat16)
def forward(tokens, cache, at):
    x, length = table[tokens], tokens.shape[1]
    for i in range(L):
        q, k, v = jnp.split(norm(x) @ layers["qkv"][i], 3, -1)
        cache = jax.lax.dynamic_update_slice(cache, jnp.stack([k, v])[None], (i, 0, 0, at, 0))
        shape = lambda t: t.reshape(B, -1, H, D // H)
        scores = jnp.einsum("bqhd,bkhd->bhqk", shape(q), shape(cache[i, 0])) / 8
        mask = jnp.arange(cache.shape[3])[None, :] <= at + jnp.arange(length)[:, None]
        attended = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9), -1), shape(cache[i, 1]))
        x = x + attended.reshape(B, -1, D) @ layers["o"][i]
        x = x + jax.nn.gelu(norm(x) @ layers["up"][i]) @ layers["down"][i]
    return jnp.argmax(norm(x[:, -1]) @ table.T, -1)[:, None], cache
forward = jax.jit(forward, donate_argnums=1)
prompt = jnp.ones((B, 256), jnp.int32)
for _ in range(3):
    token, cache = forward(prompt, jnp.zeros((L, 2, B, 320, D), jnp.bfloat16), 0)
    for i in range(40):
        token, cache = forward(token, cache, 256 + i)
        token.block_until_ready()
say({"layers": L, "prefill": 3, "decode": 120})
"""
ENGINES = {
    "engine deepseek_ocr": ["--mode", "base", "dataset.samples=1"],
    "engine deepseek_ocr graphs": ["--mode", "base", "dataset.samples=1", "--graphs"],
    "engine llama_3_8b": ["--model", "llama_3_8b", "--layers", "8", "--prompt-tokens", "512"],
    "engine llama_3_8b graphs": ["--model", "llama_3_8b", "--layers", "8", "--prompt-tokens", "512", "--graphs"],
}
MARKED = {"found@decode": "LLM@decode_step", "found@prefill": "LLM@prefill"}

def run(name, words, folder, prefix=()):
    """The metrics and the output of a program."""
    out = os.path.join(folder, name.replace(" ", "-") + ("" if prefix else "-marked"))
    os.makedirs(out, exist_ok=True)
    done = subprocess.run([*prefix, *words], env=dict(os.environ, LLMPERF_OUT=out), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=200)
    if done.returncode != 0:
        check(name, False, f"exit code {done.returncode}: {done.stdout[-1500:]}")
        return None, done.stdout
    runs = [root for root, _, files in os.walk(out) if "metrics.json" in files]
    with open(os.path.join(runs[0], "metrics.json"), encoding="utf-8") as file:
        return json.load(file), done.stdout


def stages_of(metrics):
    """Stages by label, with the mean time of a call after warm-up."""
    elapsed = {row["region"]: row["elapsed_ms"] for row in metrics["waterfall"]}
    return {row["label"]: dict(row, elapsed_ms=elapsed.get(row["path"])) for row in metrics["stages"]}


def report(name, metrics):
    found = metrics["found"]
    print(f"      {name}: verdict {metrics['ledger']['verdict']}, {metrics['ledger']['kernels_seen']} kernels; steps {found['steps']}, layers "
          f"{found['layers']}, covered {found['covered']}, confidence {found['confidence']}; {found.get('text')}")
    for path, row in stages_of(metrics).items():
        print(f"      {path}: {row['instances']} calls, {row['elapsed_ms']} ms, bound {row['bound']}, MFU {row['mfu']}, MBU {row['mbu']}")
    for row in metrics["recommendations"][:2]:
        print(f"      advice: {row['text']}")


def try_engine(name, words, folder, tool):
    program = os.environ["DSOCR"]
    marked, _ = run(name, [program, *words, "--tier", "deep"], folder)
    found, _ = run(name, [program, *words, "--tier", "none"], folder, (tool, "run", "--tier", "deep", "--"))
    if not marked or not found:
        return
    report(name, found)
    truth, rows = stages_of(marked), stages_of(found)
    for label, path in MARKED.items():
        true, row = truth.get(path), rows.get(label)
        if not row or not row["elapsed_ms"]:
            check(f"{name}, {label}", False, "not found")
            continue
        check(f"{name}, {label}", abs(row["elapsed_ms"] / true["elapsed_ms"] - 1) < 0.02,
              f"{row['elapsed_ms']:.4f} ms of {row['instances']} calls, marked {true['elapsed_ms']:.4f} of {true['instances']}")


def try_program(name, text, folder, tool):
    metrics, output = run(name, [sys.executable, "-c", text], folder, (tool, "run", "--tier", "deep", "--"))
    if not metrics:
        return
    report(name, metrics)
    truth, found = json.loads(next(line for line in output.splitlines() if line.startswith("truth "))[6:]), metrics["found"]
    if "layers" in truth:
        check(f"{name}: layers", found["layers"] and found["layers"]["count"] == truth["layers"], f"{found['layers']}, {truth['layers']}")
    for kind in ("prefill", "decode"):
        if kind in truth:
            check(f"{name}: {kind}", (found["steps"] or {}).get(kind) == truth[kind], f"{found['steps']}, {truth[kind]}")
    if "steps" in truth:
        check(f"{name}: steps", (found["steps"] or {}).get("count") == truth["steps"], f"{found['steps']}, {truth['steps']}")


def main():
    tool = os.environ.get("LLMPERF")
    reason = what_lacks() or (None if tool else "LLMPERF names no program")
    if reason:
        return skip(reason)
    with tempfile.TemporaryDirectory(prefix="llmperf-found-") as scratch:
        folder, names = sys.argv[1] if len(sys.argv) > 1 else scratch, sys.argv[2:]
        for name, words in ENGINES.items() if "DSOCR" in os.environ else ():
            if not names or name in names:
                try_engine(name, words, folder, tool)
        for name, text in PROGRAMS.items():
            if not names or name in names:
                try_program(name, TORCH + text, folder, tool)
        if "jax" in names:
            try_program("jax", JAX, folder, tool)
    return result()


if __name__ == "__main__":
    sys.exit(main())
