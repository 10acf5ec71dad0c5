#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llmperf.transformers.profile() on a small Llama with random weights: eager, with a static cache and torch.compile, and with decode
steps as a CUDA graph that the test captures.

LLMPERF_LIBRARY=libllmperf.so PYTHONPATH=bindings/python transformers_hooks.py [FOLDER]
                          needs torch, transformers and a GPU; exits 77 with a reason without them. FOLDER: where runs are kept
LLMPERF_TEST_DEVICE=cpu   what needs no GPU
"""
import os
import sys
import tempfile

from checks import check, result, skip, what_lacks

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "python"))
STEP = "LLM@decode_all/LLM@decode_step"
SHAPES = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 4,
          "vocab_size": 32000}
BATCH, PROMPT, NEW, CALLS = 2, 64, 16, 3

def same(name, found, expected):
    check(name, found == expected, f"{found}" + ("" if found == expected else f", not {expected}"))


def check_stages(name, profile, steps):
    contexts = CALLS * BATCH * sum(PROMPT + 1 + i for i in range(steps))
    for path, expected in (("LLM@prefill", (CALLS, CALLS * BATCH * PROMPT, CALLS * BATCH * PROMPT)),
                           (STEP, (CALLS * steps, CALLS * steps * BATCH, contexts))):
        row = next((row for row in profile.regions() if row["path"] == path), None)  # of any device
        same(f"{name}: calls, tokens and context of {path}",
             row and (row["instances"], row["tokens"], row["context"]), expected)
    check(f"{name}: the model describes itself", any("Model: from the configuration" in note for note in profile.notes), "")


def check_device(name, profile, device):
    if device == "cpu":
        return
    ledger = profile.ledger()
    same(f"{name}: verdict", profile.verdict, "complete")
    same(f"{name}: kernels attributed", ledger["kernels_attributed"], ledger["kernels_seen"])
    outside = sum(row["calls"] for row in profile.kernels() if not row["region"])
    print(f"      {ledger['kernels_seen']} kernels, {outside} outside of regions, {ledger['graph_launches']} graph launches")
    for stage in profile.stages:
        print(f"      {stage['path']}: {stage['calls']} calls, {stage['busy_ms']} ms busy, bound {stage['bound']}")
        if stage["path"] in ("LLM@prefill", STEP):
            check(f"{name}: MFU and MBU of {stage['path']}", stage["mfu"] is not None and stage["mbu"] is not None,
                  f"{stage['mfu']}, {stage['mbu']}")


def generate(llmperf, name, model, ids, out, device, **options):
    with llmperf.Session(tier="deep" if device == "cuda" else "regions", out=os.path.join(out, name)) as session:
        for _ in range(CALLS):
            model.generate(ids, min_new_tokens=NEW, max_new_tokens=NEW, do_sample=False, **options)
    check_stages(name, session.profile, NEW - 1)
    check_device(name, session.profile, device)
    return session.profile


def eager(llmperf, model, ids, out, device):
    profile = generate(llmperf, "eager", model, ids, out, device)
    for operator in ("layer03", "attention", "mlp", "norm", "lm_head", "embedding"):
        rows = [row for row in profile.regions() if row["path"].startswith(STEP) and row["path"].endswith("LLM@" + operator)]
        check(f"eager: {operator}", bool(rows) and (device == "cpu" or sum(row["kernel_count"] or 0 for row in rows) > 0),
              f"{sum(row['kernel_count'] or 0 for row in rows)} kernels")


def compiled(llmperf, model, ids, out, device):
    profile = generate(llmperf, "compiled", model, ids, out, device, cache_implementation="static")
    if device == "cpu":
        return
    ledger = profile.ledger()
    check("compiled: graph launches", ledger["graph_launches"] > 0, str(ledger["graph_launches"]))
    same("compiled: kernels of graphs without a capture", ledger["graph_nodes_unmapped"], 0)
    for row in profile.captures()[:8]:
        print(f"      {row['region']} replays {row['kernel_count']} kernels captured in {row['captured_in']}")


def captured(llmperf, model, ids, out):
    """Decode steps as one CUDA graph; the hooks on the modules run while it is captured."""
    import torch
    import profile_hf

    engine = profile_hf.Graph(model, ids, PROMPT + NEW + 8)
    with torch.inference_mode():
        engine.prefill()
        with llmperf.Session(tier="deep", out=os.path.join(out, "captured")) as session:
            engine.capture()
            for _ in range(CALLS):
                profile_hf.generate(engine, BATCH, PROMPT, NEW - 1)
    check_stages("captured", session.profile, NEW - 1)
    check_device("captured", session.profile, "cuda")
    rows = [row for row in session.profile.captures() if row["region"] == STEP]
    for operator in ("layer00/LLM@attention", "layer03/LLM@mlp", "LLM@lm_head"):
        kernels = sum(row["kernel_count"] for row in rows if (row["captured_in"] or "").endswith(operator))
        check(f"captured: kernels of {operator} in replays", kernels > 0 and kernels % (CALLS * (NEW - 1)) == 0, str(kernels))


def run(device, out):
    import torch
    import transformers
    import llmperf
    import llmperf.transformers

    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model("llama", **SHAPES)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    ids = torch.randint(config.vocab_size, (BATCH, PROMPT), device=device)
    model.generate(ids, max_new_tokens=2, do_sample=False)  # libraries are loaded
    with llmperf.transformers.profile(model):
        eager(llmperf, model, ids, out, device)
        compiled(llmperf, model, ids, out, device)
    if device == "cuda":
        with llmperf.transformers.profile(model, stages=False):
            captured(llmperf, model, ids, out)


def main():
    device = os.environ.get("LLMPERF_TEST_DEVICE", "cuda")
    reason = what_lacks(device)
    if reason:
        return skip(reason)
    with tempfile.TemporaryDirectory(prefix="llmperf-hooks-") as folder:
        run(device, sys.argv[1] if len(sys.argv) > 1 else folder)
    return result()


if __name__ == "__main__":
    sys.exit(main())
