#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints model_vectors.json: parameters, FLOPs and bytes of models, from textbook formulas.

It shares no code with the library, so that an error of one is not one of the other. Sums run over layers and pairs one by
one where the library has closed forms. make_vectors.py >model_vectors.json renews the file.
"""
import json

BITS = {  # of an element of a linear weight, by format: its own, and those of scales / elements that share them
    "bf16": 16, "fp8_tensor": 8, "fp8_block128": 8 + 32 / 16384, "int8_chan": 8, "int4_g128": 4 + (16 + 4) / 128,
    "nvfp4": 4 + 8 / 16, "mxfp4": 4 + 8 / 32,
}


CONVENTIONS = {
    "flops": "matmul/conv only, MAC=2, no bias, no vector ops",
    "decode_context": "c KV positions attended, including the new token",
    "prefill_pairs": "T*prefix + T(T+1)/2 causal exact",
    "active_params": ("weights multiplied for one token: attention+MLP(+router,shared,k routed)+LM head; "
                      "embedding table excluded unless named"),
    "mla_expanded": "per-head dims dn+dr (QK) and dv (AV); used for model FLOPs (MFU)",
    "mla_absorbed": "per-head dims kv_lora+dr (QK) and kv_lora (AV); what an absorbed decode kernel executes (HFU)",
    "weight_bytes": "quantised formats quantise linear weights only; embed, lm_head, norms, router, biases stay 16-bit (router bias fp32)",
}


class Decoder:
    """A transformer decoder with grouped queries, a gated MLP and perhaps experts."""

    def __init__(self, hidden, layers, heads, kv_heads, head_dim, inter, vocab, tied=False, moe=None):
        self.config = {"hidden": hidden, "layers": layers, "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim,
                       "inter": inter, "vocab": vocab, "tied": tied}
        if moe:
            self.config["moe"] = moe
        self.hidden, self.layers, self.moe = hidden, layers, moe
        dense = moe["first_dense"] if moe else layers
        sparse = layers - dense
        query, key = heads * head_dim, kv_heads * head_dim
        self.params = {
            "embed": vocab * hidden, "lm_head": 0 if tied else vocab * hidden, "norm": (2 * layers + 1) * hidden,
            "attn_qkv": layers * hidden * (query + 2 * key), "attn_o": layers * query * hidden,
            "mlp_dense": dense * 3 * hidden * inter,
        }
        if moe:
            self.params["moe_router"] = sparse * hidden * moe["E"]
            self.params["moe_shared"] = sparse * 3 * hidden * moe["shared_inter"]
            self.params["moe_routed"] = sparse * moe["E"] * 3 * hidden * moe["inter"]
        self.routed_active = self.params.get("moe_routed", 0) // moe["E"] * moe["k"] if moe else 0
        self.head = vocab * hidden
        # Matrices that each token is multiplied with.
        self.body = (sum(self.params.get(name, 0) for name in ("attn_qkv", "attn_o", "mlp_dense", "moe_router", "moe_shared"))
                     + self.routed_active)
        self.pair_flops = layers * heads * (2 * head_dim + 2 * head_dim)  # q times k, and its weight times v
        self.kv_elements = layers * 2 * key

    def prefill(self, new, cached=0, rows=1, count=None):
        """FLOPs; `rows` of logits; `count` of pairs, if not the causal ones."""
        pairs = sum(cached + i for i in range(1, new + 1)) if count is None else count
        return 2 * self.body * new + self.pair_flops * pairs + 2 * self.head * rows

    def decode(self, context):
        return 2 * (self.body + self.head) + self.pair_flops * context

    def weight_bytes(self, bits):
        linear = sum(self.params.get(name, 0) for name in ("attn_qkv", "attn_o", "mlp_dense", "moe_shared", "moe_routed"))
        return whole(linear * bits / 8 + 2 * (sum(self.params.values()) - linear))

    def decode_bytes(self, contexts):
        """bf16: weights read once, a row of embeddings a request, keys and values."""
        batch = len(contexts)
        touched = experts(self.moe["E"], self.moe["k"], batch) if self.moe else None
        fixed = sum(self.params.values()) - self.params["embed"] - self.params.get("moe_routed", 0)
        if not self.params["lm_head"]:
            fixed += self.head
        routed = self.params["moe_routed"] * touched / self.moe["E"] if self.moe else 0
        parts = {"weights": whole(2 * (fixed + routed + batch * self.hidden)),
                 "kv_read": 2 * self.kv_elements * sum(contexts), "kv_write": 2 * self.kv_elements * batch}
        return {**parts, "total": sum(parts.values()), "experts_touched_expected": touched}

    def vectors(self):
        body, total = self.body, sum(self.params.values())
        new = 2048
        causal, square = sum(range(1, new + 1)), new * new
        return {
            "config": self.config, "params": self.params, "params_total": total,
            "params_active_matmul_no_embed": body + self.head,
            "params_active_incl_embed": body + self.head + self.params["embed"],
            "params_non_embedding": total - self.params["embed"] - self.params["lm_head"],
            "flops_linear_per_token_body": 2 * body, "flops_lm_head_per_token": 2 * self.head,
            "flops_attn_per_pair": self.pair_flops, "kv_elems_per_token": self.kv_elements,
            "kv_bytes_per_token": {"bf16": 2 * self.kv_elements, "fp8": self.kv_elements},
            "weight_bytes": {name: self.weight_bytes(bits) for name, bits in BITS.items()},
            "prefill_2048": {f"{name}_{logits}": self.prefill(new, rows=rows, count=pairs)
                             for name, pairs in (("exact", causal), ("full", square), ("half", square // 2))
                             for logits, rows in (("last", 1), ("all", new))},
            "prefill_chunk_512_after_1536": self.prefill(512, 1536),
            "decode": {str(context): self.decode(context) for context in (1, 2048, 8192)},
            "decode_bytes": {f"B{batch}_c{context}": self.decode_bytes([context] * batch)
                             for batch in (1, 8, 64) for context in (2048, 8192)},
        }


def whole(number):
    """Bytes are whole."""
    return round(number)


def experts(number, chosen, tokens):
    """Experts of which at least one token makes use, where each chooses at random."""
    return number * (1 - (1 - chosen / number) ** tokens)


def pairs(new, prefix, window, causal):
    if not causal:
        return new * (prefix + new)
    return sum(min(prefix + i, window or prefix + i) for i in range(1, new + 1))


def drafted(alpha, gamma):
    """Expected tokens of a step that verifies `gamma` drafted ones."""
    return sum(alpha ** i for i in range(gamma + 1))


def convolution(size, kernel, inputs, outputs):
    """FLOPs; `size`: outputs along a side."""
    return 2 * size * size * kernel * kernel * inputs * outputs


def sam(pixels):
    """SAM ViT-B with windows of 14 that are padded, a neck and two convolutions that halve each side."""
    width, mlp, window, layers, global_layers = 768, 4 * 768, 14, 12, 4
    grid = pixels // 16
    tokens, across = grid * grid, -(-grid // window)
    windows, padded = across * across, (across * window) ** 2
    linear = 2 * 4 * width * width  # q, k, v and o, of a token

    def block(attended, side):
        # Relative positions: two products of each query with the rows and the columns of its window.
        return (attended * linear + 4 * width * side * side * attended + 4 * width * side * attended
                + tokens * 4 * width * mlp)

    whole_block, window_block = block(tokens, grid), block(padded, window)
    unpadded = block(tokens, window)
    patch = convolution(grid, 16, 3, width)
    neck = convolution(grid, 1, width, 256) + convolution(grid, 3, 256, 256)
    half, quarter = grid // 2, grid // 4
    compressor = convolution(half, 3, 256, 512) + convolution(quarter, 3, 512, 1024)
    blocks = global_layers * whole_block + (layers - global_layers) * window_block
    return {"grid": grid, "tokens": tokens, "window_tokens_padded": padded, "windows": windows, "patch_embed": patch,
            "block_global_each": whole_block, "block_window_each": window_block, "blocks": blocks, "neck": neck,
            "compressor": compressor, "total": patch + blocks + neck + compressor,
            "window_padding_waste": (layers - global_layers) * (window_block - unpadded), "out_tokens": quarter * quarter}


def vit_blocks(tokens, width, mlp, layers):
    return layers * (tokens * 2 * 4 * width * width + 4 * width * tokens * tokens + tokens * 4 * width * mlp)


def clip(pixels):
    """CLIP-L over the tokens that SAM leaves, and a class token."""
    tokens = (pixels // 64) ** 2 + 1
    return {"tokens": tokens, "total": vit_blocks(tokens, 1024, 4096, 24)}


def ocr_image(mode, pixels, tile_pixels=0, across=0, down=0):
    tiles = across * down
    side, tile_side = pixels // 64, tile_pixels // 64
    tokens = side * side + tiles * tile_side * tile_side
    # A newline a row, of the whole picture and of the tiles put together, and one separator.
    positions = side * (side + 1) + 1 + (down * tile_side * (across * tile_side + 1) if tiles else 0)
    parts = {"sam": sam(pixels)["total"] + (tiles * sam(tile_pixels)["total"] if tiles else 0),
             "clip": clip(pixels)["total"] + (tiles * clip(tile_pixels)["total"] if tiles else 0),
             "proj": 2 * tokens * 2048 * 1280}
    return {"mode": mode, "tiles": tiles, **parts, "vision_tokens": tokens, "llm_positions": positions,
            "total": sum(parts.values())}


def sam_params():
    width, mlp, layers, window = 768, 4 * 768, 12, 14
    block = 4 * (width * width + width) + width * mlp + mlp + mlp * width + width + 4 * width
    # Tables of relative positions, of 64 channels a head: of a window, or of the grid of 64.
    relative = 4 * 2 * (2 * 64 - 1) * 64 + 8 * 2 * (2 * window - 1) * 64
    neck = width * 256 + 2 * 256 + 9 * 256 * 256 + 2 * 256
    return (3 * 256 * width + width + 64 * 64 * width + layers * block + relative + neck
            + 9 * 256 * 512 + 9 * 512 * 1024)


def clip_params():
    width, mlp, layers = 1024, 4096, 24
    block = 4 * (width * width + width) + width * mlp + mlp + mlp * width + width + 4 * width
    return 3 * 14 * 14 * width + width + 257 * width + 2 * width + layers * block


def deepseek_ocr(decoder):
    text = 10
    params = {"sam": sam_params(), "clip": clip_params(), "clip_unused_patch_conv": 3 * 14 * 14 * 1024,
              "projector": 2048 * 1280 + 1280, "special": 2 * 1280, "decoder": sum(decoder.params.values())}
    params["total"] = params["sam"] + params["clip"] + params["projector"] + params["special"] + params["decoder"]
    params["deepencoder"] = params["sam"] + params["clip"]
    params["decoder_active_matmul_no_embed"] = decoder.body + decoder.head
    images = {"tiny": ocr_image("tiny", 512), "small": ocr_image("small", 640), "base": ocr_image("base", 1024),
              "large": ocr_image("large", 1280)}
    for across, down in ((2, 1), (2, 2), (3, 2), (3, 3)):
        images[f"gundam_{across}x{down}"] = ocr_image("gundam", 1024, 640, across, down)
    images["gundam-m_2x2"] = ocr_image("gundam-m", 1280, 1024, 2, 2)
    for name in ("base", "gundam_3x2"):
        tokens = images[name]["llm_positions"] + text
        images[name]["prefill_with_10_text_tokens"] = {
            "tokens": tokens, "causal_last": decoder.prefill(tokens),
            "full_all": decoder.prefill(tokens, rows=tokens, count=tokens * tokens)}
    sizes = (512, 640, 1024, 1280)
    return {"params": params, **images, "sam_detail": {str(size): sam(size) for size in sizes},
            "clip_detail": {str(size): clip(size) for size in sizes},
            "decode_100_steps_from_493": sum(decoder.decode(493 + step) for step in range(1, 101)),
            "decode_900": {"flops": decoder.decode(900), "bytes": decoder.decode_bytes([900])["total"]},
            "prefill_913_last": decoder.prefill(913)}


def resnet_50():
    flops, inputs, size = convolution(112, 7, 3, 64), 64, 56
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            before = size
            if stage > 0 and block == 0:
                size //= 2
            flops += convolution(before, 1, inputs, width) + convolution(size, 3, width, width)
            flops += convolution(size, 1, width, 4 * width)
            if block == 0:
                flops += convolution(size, 1, inputs, 4 * width)
            inputs = 4 * width
    return flops + 2 * inputs * 1000


def vit_b_16():
    return convolution(14, 16, 3, 768) + vit_blocks(197, 768, 3072, 12) + 2 * 768 * 1000


PEAK, BANDWIDTH = 989.4e12, 4.8e12  # of an H200 in bf16: FLOP/s, bytes/s


def floor(flops, bytes):
    """The least time of a step."""
    compute, memory = flops / PEAK * 1e6, bytes / BANDWIDTH * 1e6
    slowest = max(compute, memory)
    return {"flops": flops, "bytes": bytes, "ai": flops / bytes, "t_compute_us": compute, "t_mem_us": memory,
            "bound": "memory" if memory > compute else "compute", "floor_us": slowest, "mfu_at_floor": compute / slowest,
            "tok_s_per_user_at_floor": 1e6 / slowest}



def worked(llama):
    context, new = 2048, 2048
    both = {logits: {name: llama.prefill(new, rows=rows, count=count) for name, count in
                     (("exact", None), ("full", new * new), ("half", new * new // 2))} for logits, rows in (("last", 1), ("all", new))}
    big = Decoder(16384, 126, 128, 8, 128, 53248, 128256)
    ragged = [100, 1000, 2048, 8192]
    alpha, gamma = 0.8, 3
    lookups = [(1, 0, None, True), (4, 0, None, True), (4, 3, None, True), (4, 0, 2, True), (1, 99, 16, True), (8, 3, 6, True),
               (2048, 0, None, True), (2048, 0, None, False), (512, 1536, None, True), (8192, 0, 4096, True),
               (1024, 8191, 4096, True)]
    found = {
        "megatron_vs_exact_llama3_8b_2048": {"half": both["all"]["half"], "exact": both["all"]["exact"]},
        "vision_generic": {"resnet50_224_flops": resnet_50(), "vit_b16_224_flops": vit_b_16()},
        "pairs": [{"n": n, "prefix": prefix, "window": window, "causal": causal, "pairs": pairs(n, prefix, window, causal)}
                  for n, prefix, window, causal in lookups],
        "spec_decode_expected_tokens": [{"alpha": a, "gamma": g, "tokens": drafted(a, g)} for a in (0.6, 0.8) for g in (1, 3, 5)],
        "spec_decode_llama3_8b_c2048_gamma3_alpha0.8": {
            "verify_flops": sum(llama.decode(context + i) for i in range(gamma + 1)), "expected_tokens": drafted(alpha, gamma),
            # The token at place i is kept if all drafted ones before it were.
            "useful_flops_expected": sum(alpha ** i * llama.decode(context + i) for i in range(gamma + 1))},
        "ragged_decode_llama3_8b": {"ctx": ragged, "flops": sum(llama.decode(c) for c in ragged), "bytes": llama.decode_bytes(ragged)},
        "conventions_llama3_8b_2048": {
            "default": both["last"]["exact"], "vllm_full_last": both["last"]["full"],
            "two_n_active": 2 * (llama.body + llama.head) * new, "megatron_half_all": both["all"]["half"],
            "exact_all": both["all"]["exact"], "two_n_total": 2 * sum(llama.params.values()) * new,
            "palm_full_all": both["all"]["full"]},
        "llama31_405b_8192": {  # of a token, forwards and twice as much backwards
            "causal": 3 * big.prefill(8192, rows=8192) / 8192, "full": 3 * big.prefill(8192, rows=8192, count=8192 ** 2) / 8192},
    }
    for batch in (1, 8, 32, 128, 256):
        flops, read = batch * llama.decode(context), llama.decode_bytes([context] * batch)["total"]
        found[f"llama3_8b_decode_B{batch}_c2048"] = {"flops": flops, "bytes": read}
    for batch in (1, 8, 32, 128, 256):
        found[f"llama3_8b_H200_decode_B{batch}_c2048"] = floor(**found[f"llama3_8b_decode_B{batch}_c2048"])
    return found


def vectors():
    llama = Decoder(4096, 32, 32, 8, 128, 14336, 128256)
    decoder = Decoder(1280, 12, 10, 10, 128, 6848, 129280,
                      moe={"E": 64, "k": 6, "inter": 896, "shared_inter": 1792, "first_dense": 1, "bias": False})
    return {
        "conventions": CONVENTIONS,
        "models": {"llama-3-8b": llama.vectors(), "llama-3-70b": Decoder(8192, 80, 64, 8, 128, 28672, 128256).vectors(),
                   "deepseek-ocr-decoder": decoder.vectors()},
        "deepseek_ocr": deepseek_ocr(decoder),
        "moe_expected_experts": {f"E{number}_k{chosen}": {str(1 << i): experts(number, chosen, 1 << i) for i in range(9)}
                                 for number, chosen in ((8, 2), (64, 6), (256, 8), (160, 6), (128, 8))},
        "worked": worked(llama),
    }


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=1))
