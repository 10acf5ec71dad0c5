# SPDX-License-Identifier: Apache-2.0
"""A decode step of 24 layers in one CUDA graph, reported by layer.

Regions stand around the modules while PyTorch captures the graph; the graph is replayed as it is.
Needs PyTorch with a GPU. Run it with PYTHONPATH=bindings/python; it prints the time of each layer
in the replay beside the same layer run eagerly, and exits 1 if a kernel is missing or all layers
together differ by over 3 %; 3 where PyTorch, a GPU or libllmperf is missing.
"""
import sys
from typing import Any, Dict, List, Tuple


def fail(text: str) -> None:
    print(f"torch_graph_decode.py: {text}", file=sys.stderr)
    raise SystemExit(3)


try:
    import torch

    import llmperf
except ImportError as error:
    fail(f"{error.name} is missing; " + ("pip install torch" if error.name == "torch" else
                                         "set PYTHONPATH=bindings/python, or install the library"))

LAYERS, WIDTH, HEADS, CONTEXT, BATCH, STEPS = 24, 2048, 16, 1024, 8, 100


class Attention(torch.nn.Module):
    """One new token per sequence, with a KV cache of CONTEXT tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        shape = (BATCH, HEADS, CONTEXT, WIDTH // HEADS)
        self.register_buffer("keys", torch.randn(shape))
        self.register_buffer("values", torch.randn(shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).view(BATCH, 3, HEADS, 1, WIDTH // HEADS).unbind(1)
        self.keys[:, :, -1:].copy_(k)
        self.values[:, :, -1:].copy_(v)
        y = torch.nn.functional.scaled_dot_product_attention(q, self.keys, self.values)
        return self.out(y.reshape(BATCH, WIDTH))


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1 = torch.nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.norm2 = torch.nn.LayerNorm(WIDTH)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False),
                                       torch.nn.GELU(),
                                       torch.nn.Linear(4 * WIDTH, WIDTH, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def mark(module: torch.nn.Module, label: str) -> None:
    """Open a region around each call of a module."""
    opened: List[Any] = []

    def enter(*_: Any) -> None:
        opened.append(llmperf.region(label).__enter__())

    def leave(*_: Any) -> None:
        opened.pop().__exit__(None, None, None)

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave)


def make_model() -> torch.nn.Module:
    model = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)]).cuda().half().eval()
    for index, layer in enumerate(model):
        mark(layer, f"layer{index}")
        mark(layer.attention, "attention")
        mark(layer.mlp, "mlp")
    return model


def by_layer(rows: List[Dict[str, Any]], path: str) -> Dict[str, Tuple[float, int]]:
    """Kernel time and kernels by layer and part; `path`: the key that names the layer."""
    layers: Dict[str, Tuple[float, int]] = {}
    for row in rows:
        name = row[path] or ""
        if "LLM@layer" in name:
            key = name[name.index("LLM@layer"):].replace("LLM@", "")
            layers[key] = (1e3 * row["kernel_ms"] / STEPS, row["kernel_count"])
    return layers


def main() -> int:
    torch.manual_seed(0)
    model, x = make_model(), torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.half)
    with torch.no_grad():
        for _ in range(20):
            model(x)
        torch.cuda.synchronize()
        with llmperf.Session(tier="deep", source="cupti") as session:
            for _ in range(STEPS):
                with llmperf.decode_step(BATCH, BATCH * CONTEXT):
                    model(x)
            torch.cuda.synchronize()
        eager = session.profile
        with llmperf.Session(tier="deep", source="cupti") as session:
            graph = torch.cuda.CUDAGraph()
            with llmperf.region("capture"), torch.cuda.graph(graph):
                model(x)
            for _ in range(STEPS):
                with llmperf.decode_step(BATCH, BATCH * CONTEXT):
                    graph.replay()
            torch.cuda.synchronize()
        replay = session.profile
    ledger = replay.ledger()
    print("verdict", ledger["verdict"], "| graph launches", ledger["graph_launches"], "| kernels",
          ledger["kernels_seen"], "| unmapped", ledger["graph_nodes_unmapped"])
    ran = by_layer([row for row in replay.captures() if row["region"] == "LLM@decode_step"],
                   "captured_in")
    seen = by_layer(eager.regions(), "path")
    same = ledger["graph_nodes_unmapped"] == 0 and ran.keys() == seen.keys()
    print("| Part | Replay us/step | Eager us/step | % |\n| --- | ---: | ---: | ---: |")
    for name, (time, kernels) in ran.items():
        same = same and kernels == seen[name][1]
        print(f"| {name} | {time:.2f} | {seen[name][0]:.2f} | {100 * (time / seen[name][0] - 1):+.2f} |")
    whole = [sum(time for name, (time, _) in rows.items() if "/" not in name) for rows in (ran, seen)]
    off = 100 * (whole[0] / whole[1] - 1)
    print(f"all layers: {whole[0]:.1f} us replayed, {whole[1]:.1f} us eager, {off:+.2f} %")
    return 0 if same and abs(off) < 3 else 1


if __name__ == "__main__":
    if not torch.cuda.is_available():
        fail("torch sees no GPU; this example needs one")
    try:
        sys.exit(main())
    except (llmperf.LlmperfError, llmperf.LibraryNotFoundError) as error:
        fail(str(error))
