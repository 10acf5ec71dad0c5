#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Causes planted in decode steps of Llama 3 8B (transformers, random weights): a slow attention kernel, a sleep of the host, a memcpy to
pageable memory. Steps are timed with and without the cause, in turn and without a session; then tier deep looks at the steps with it.

LLMPERF_LIBRARY=libllmperf.so PYTHONPATH=bindings/python planted_llama.py [eager|graphs [LAYERS]]
                          needs torch, transformers and a GPU; exits 77 with a reason without them
"""
import os
import sys
import tempfile
import time

from checks import check, result, skip, what_lacks

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "python"))
STEP = "LLM@decode_all/LLM@decode_step"
LLAMA_8B = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
            "head_dim": 128, "vocab_size": 128256, "max_position_embeddings": 8192}
BATCH, PROMPT, STEPS, TURNS = 8, 2048, 12, 5
# Larger than every loss that the program itself has: eager steps wait 20 to 60 ms for launches, graphs copy the KV cache for 10 ms.
PLANTS = {"eager": {"attention": 120, "sleep": 0.2, "memcpy": 4 << 30}, "graphs": {"attention": 12, "sleep": 0.02, "memcpy": 1 << 29}}
WORDS = {"attention": "attention", "sleep": "host", "memcpy": "memcpy DtoH"}

class Planted:
    """An engine of profile_hf with a cause in each step, while it is switched on."""

    def __init__(self, kind, model, ids, cause, size):
        import torch
        import profile_hf

        self.engine = {"eager": profile_hf.Eager, "graphs": profile_hf.Graph}[kind](model, ids, PROMPT + STEPS + 8)
        self.torch, self.cause, self.size, self.on = torch, cause, size, False
        self.attend = torch.nn.functional.scaled_dot_product_attention
        torch.nn.functional.scaled_dot_product_attention = self.attention
        self.graphs = {}
        self.source = torch.zeros(size, dtype=torch.uint8, device="cuda") if cause == "memcpy" else None
        self.target = torch.zeros(size, dtype=torch.uint8) if cause == "memcpy" else None

    def close(self):
        self.torch.nn.functional.scaled_dot_product_attention = self.attend

    def attention(self, query, *rest, **options):
        decode = query.shape[-2] == 1
        for _ in range(self.size - 1 if self.on and decode and self.cause == "attention" else 0):
            self.attend(query, *rest, **options)
        return self.attend(query, *rest, **options)

    def switch(self, on, fresh=False):
        """A graph is captured once for each, and again in a session, which must see its kernels being captured."""
        self.on = on
        if not hasattr(self.engine, "capture"):
            return
        if fresh or on not in self.graphs:
            self.engine.prefill()
            self.engine.capture()
            self.graphs[on] = (self.engine.graph, self.engine.next)
        self.engine.graph, self.engine.next = self.graphs[on]

    def prefill(self):
        return self.engine.prefill()

    def step(self, token):
        if self.on and self.cause == "sleep":
            time.sleep(self.size)
        if self.on and self.cause == "memcpy":
            self.target.copy_(self.source)
        return self.engine.step(token)


def time_steps(engine, torch):
    token = engine.prefill()
    engine.step(token).tolist()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        token = engine.step(token)
        token.tolist()
    return 1000 * (time.perf_counter() - begin) / STEPS


def median(values):
    return sorted(values)[len(values) // 2]


def profile(llmperf, engine, out):
    import profile_hf

    with llmperf.Session(tier="deep", out=out) as session:
        engine.switch(engine.on, fresh=True)
        profile_hf.generate(engine, BATCH, PROMPT, STEPS)
        profile_hf.generate(engine, BATCH, PROMPT, STEPS)
    return session.profile


def of_step(rows):
    return [row for row in rows if row["region"] == STEP]


def try_cause(llmperf, torch, kind, model, ids, cause, out):
    name = f"{kind}, {cause}"
    engine = Planted(kind, model, ids, cause, PLANTS[kind][cause])
    times = {False: [], True: []}
    for _ in range(TURNS):
        for on in (False, True):
            engine.switch(on)
            times[on].append(time_steps(engine, torch))
    removed = median(times[True]) - median(times[False])
    advice, parts = {}, None
    for on in (False, True):
        engine.switch(on)
        metrics = profile(llmperf, engine, os.path.join(out, f"{kind}-{cause}-{'with' if on else 'without'}")).to_dict()
        advice[on] = metrics["recommendations"]
        parts = next(iter(of_step(metrics["waterfall"])))
    engine.close()
    print(f"      {name}: steps without {[round(ms, 2) for ms in times[False]]}, with {[round(ms, 2) for ms in times[True]]} ms")
    for on in (False, True):
        for row in advice[on][:4]:
            print(f"      {'with' if on else 'without'}: {row['id']} {row['saving_call_ms']} ms a call in {row['region']}: {row['text']}")
    total = sum(part["adds_ms"] for part in parts["parts"])
    check(f"{name}: parts of a step", abs(total / parts["elapsed_ms"] - 1) < 0.01, f"{total:.3f} of {parts['elapsed_ms']:.3f} ms")
    first = advice[True][0]
    same = next((row["saving_call_ms"] for row in of_step(advice[False]) if row["id"] == first["id"]
                 and WORDS[cause] in row["text"]), 0) if cause == "attention" else 0
    gain = first["saving_call_ms"] - same
    check(f"{name}: first advice", first["region"] == STEP and WORDS[cause] in first["text"], first["id"])
    check(f"{name}: gain", abs(gain / removed - 1) < 0.1, f"{gain:.2f} ms a step, without a session {removed:.2f} ({gain / removed - 1:+.1%})")


def run(out):
    import torch
    import transformers
    import llmperf
    import llmperf.transformers

    torch.manual_seed(1)
    layers = int(sys.argv[2]) if len(sys.argv) > 2 else LLAMA_8B["num_hidden_layers"]
    config = transformers.AutoConfig.for_model("llama", **dict(LLAMA_8B, num_hidden_layers=layers))
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    ids = torch.randint(config.vocab_size, (BATCH, PROMPT), device="cuda")
    with torch.inference_mode(), llmperf.transformers.profile(model, stages=False):
        for kind in sys.argv[1:2] or PLANTS:
            for cause in PLANTS[kind]:
                try_cause(llmperf, torch, kind, model, ids, cause, out)


def main():
    reason = what_lacks()
    if reason:
        return skip(reason)
    with tempfile.TemporaryDirectory(prefix="llmperf-planted-") as folder:
        run(os.environ.get("LLMPERF_OUT", folder))
    return result()


if __name__ == "__main__":
    sys.exit(main())
