#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profile a transformers model: prefill and decode as stages, operators from hooks on its modules, optionally decode as one CUDA graph.

    profile_hf.py --model FOLDER                        a checkpoint on disk
    profile_hf.py --model FOLDER --trust-remote-code --image PAGE.png
                                                        DeepSeek-OCR, or another checkpoint whose code has infer()
    profile_hf.py --model qwen2_5_7b --layers 4         random weights in the shapes of a model of conf/model
    profile_hf.py                                       random weights, a small Llama

Needs torch, transformers and libllmperf.so (see bindings/python). The last line is the run directory.
"""
import argparse
import json
import os
import sys
import tempfile


def fail(text):
    print(f"profile_hf.py: {text}", file=sys.stderr)
    raise SystemExit(3)


try:
    import llmperf
    import llmperf.transformers
except ImportError as error:
    fail(f"{error.name} is missing; set PYTHONPATH=bindings/python, or install the library")

SMALL = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 4,
         "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 8192}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", help="folder of a checkpoint, or a model of conf/model (random weights)")
    parser.add_argument("--layers", type=int, help="fewer layers, with random weights")
    parser.add_argument("--prompt-tokens", type=int, default=128)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--graphs", action="store_true", help="decode steps are one CUDA graph")
    parser.add_argument("--tier", choices=("regions", "light", "deep", "counters"))
    parser.add_argument("--out", default=os.environ.get("LLMPERF_OUT") or "runs")
    parser.add_argument("--trust-remote-code", action="store_true", help="run the code that a checkpoint brings")
    parser.add_argument("--image", help="page to read, through the infer() of the checkpoint's code")
    parser.add_argument("--prompt", default="<image>\nFree OCR. ", help="for --image")
    return parser.parse_args()


def read_shapes(name):
    """Keys of a file of conf/model, which are those of its config.json."""
    import yaml

    path = os.path.join(llmperf.config_dir(), "model", name, "arch", f"{name}.default.yaml")
    if not os.path.isfile(path):
        fail(f"{name} is no folder and no model of {os.path.dirname(os.path.dirname(path))}")
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_folder(folder, trusted):
    """Name of the class that loads a checkpoint; errors are reported in one line."""
    path = os.path.join(folder, "config.json")
    if not os.path.isfile(path):
        fail(f"{folder} holds no config.json; --model takes the folder of a checkpoint")
    try:
        with open(path, encoding="utf-8") as file:
            code = json.load(file).get("auto_map", {})
    except (OSError, ValueError, AttributeError) as error:
        fail(f"{path} is no JSON object: {error}")
    if code and not trusted:
        fail(f"{folder} brings code of its own ({', '.join(sorted(set(code.values())))}); look at it, then add --trust-remote-code")
    return "AutoModel" if "AutoModel" in code and "AutoModelForCausalLM" not in code else "AutoModelForCausalLM"


def load_checkpoint(arguments):
    import torch
    import transformers

    loader = getattr(transformers, check_folder(arguments.model, arguments.trust_remote_code))
    try:
        model = loader.from_pretrained(arguments.model, dtype=getattr(torch, arguments.dtype),
                                       trust_remote_code=arguments.trust_remote_code)
    except Exception as error:  # the code of a checkpoint can raise anything
        fail(f"transformers {transformers.__version__} cannot load {arguments.model}: {type(error).__name__}: "
             f"{' '.join(str(error).split())[:300] or 'no text'}")
    return model.to(arguments.device).eval()


def load_model(arguments):
    import torch
    import transformers

    dtype = getattr(torch, arguments.dtype)
    if arguments.model and os.path.isdir(arguments.model):
        return load_checkpoint(arguments)
    if arguments.model and os.sep in arguments.model:
        fail(f"{arguments.model} is no folder; --model takes the folder of a checkpoint or the name of a model of conf/model")
    shapes = read_shapes(arguments.model) if arguments.model else dict(SMALL)
    if arguments.layers:
        shapes["num_hidden_layers"] = arguments.layers
    config = transformers.AutoConfig.for_model(shapes.pop("model_type"), **shapes)
    with torch.device(arguments.device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
    return model.eval()


class Eager:
    """Decode steps as PyTorch launches them."""

    def __init__(self, model, ids, _capacity):
        self.model, self.ids, self.cache = model, ids, None

    def prefill(self):
        out = self.model(self.ids, use_cache=True)
        self.cache = out.past_key_values
        return out.logits[:, -1].argmax(-1, keepdim=True)

    def step(self, token):
        out = self.model(token, past_key_values=self.cache, use_cache=True)
        self.cache = out.past_key_values
        return out.logits[:, -1].argmax(-1, keepdim=True)


class Graph:
    """Decode steps as one CUDA graph over a cache of fixed size. It is captured inside the session: only then are its kernels
    known by the module that captured them."""

    def __init__(self, model, ids, capacity):
        import torch
        import transformers

        self.model, self.ids, self.torch = model, ids, torch
        self.cache = transformers.StaticCache(config=model.config, max_cache_len=capacity)
        self.token = torch.zeros((ids.shape[0], 1), dtype=torch.long, device=ids.device)
        self.position = torch.zeros(1, dtype=torch.long, device=ids.device)
        self.graph = self.next = None

    def run(self, ids, position):
        out = self.model(ids, past_key_values=self.cache, cache_position=position,
                         position_ids=position.unsqueeze(0), use_cache=True)
        return out.logits[:, -1].argmax(-1, keepdim=True)

    def prefill(self):
        self.cache.reset()
        length = self.ids.shape[1]
        self.position.fill_(length)
        return self.run(self.ids, self.torch.arange(length, device=self.ids.device))

    def capture(self):
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(side):
            for _ in range(2):
                self.run(self.token, self.position)
        self.torch.cuda.current_stream().wait_stream(side)
        self.graph = self.torch.cuda.CUDAGraph()
        with llmperf.region("graph_capture"), self.torch.cuda.graph(self.graph):
            self.next = self.run(self.token, self.position)

    def step(self, token):
        self.token.copy_(token)
        self.graph.replay()
        self.position += 1
        return self.next


def read_image(model, tokenizer, arguments):
    """The checkpoint's own way from a page to text."""
    with tempfile.TemporaryDirectory(prefix="profile_hf-") as folder:
        model.infer(tokenizer, prompt=arguments.prompt, image_file=arguments.image, output_path=folder, save_results=False)


def generate(engine, batch, prompt, count):
    """One prompt and `count` tokens after it. Each token is read on the host, as in a server."""
    with llmperf.prefill(tokens=batch * prompt):
        llmperf.count(sequences=batch, context=batch * prompt)
        token = engine.prefill()
        token.tolist()
    with llmperf.decode_all(tokens=batch * count):
        for i in range(count):
            with llmperf.decode_step(batch, batch * (prompt + i + 1)):
                token = engine.step(token)
                token.tolist()


def check_arguments(arguments):
    if arguments.graphs and arguments.device == "cpu":
        fail("CUDA graphs need --device cuda")
    if arguments.image and arguments.graphs:
        fail("--image runs the checkpoint's own generate(); leave --graphs out")
    if arguments.image and not os.path.isfile(arguments.image):
        fail(f"{arguments.image} is no file")
    if arguments.image and not (arguments.model and os.path.isdir(arguments.model)):
        fail("--image needs --model FOLDER, a checkpoint whose code has infer()")


def session_of(arguments):
    return llmperf.Session(tier=arguments.tier, out=arguments.out, source="none" if arguments.device == "cpu" else "auto")


def profile_image(model, arguments):
    import transformers

    if not hasattr(model, "infer"):
        fail(f"{type(model).__name__} has no infer(); leave --image out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model, trust_remote_code=arguments.trust_remote_code)
    read_image(model, tokenizer, arguments)  # warm-up
    with session_of(arguments) as session:
        for _ in range(arguments.repeats):
            read_image(model, tokenizer, arguments)
    return session


def profile_text(model, arguments):
    import torch

    ids = torch.randint(model.config.get_text_config().vocab_size, (arguments.batch, arguments.prompt_tokens),
                        device=arguments.device)
    engine = (Graph if arguments.graphs else Eager)(model, ids, arguments.prompt_tokens + arguments.new_tokens + 8)
    with torch.inference_mode():
        token = engine.prefill()  # warm-up
        if not arguments.graphs:
            engine.step(token)
        with session_of(arguments) as session:
            if arguments.graphs:
                engine.capture()
            for _ in range(arguments.repeats):
                generate(engine, arguments.batch, arguments.prompt_tokens, arguments.new_tokens)
    return session


def main():
    arguments = parse_arguments()
    check_arguments(arguments)
    try:
        import torch
        import transformers  # noqa: F401 - fails here rather than later
    except ImportError as error:
        fail(f"{error.name} is missing; pip install torch transformers")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        fail("torch sees no GPU; --device cpu runs small models")
    torch.manual_seed(1)
    model = load_model(arguments)
    print(f"model: {type(model).__name__}, {sum(p.numel() for p in model.parameters())} weights on {arguments.device}", flush=True)
    # A replay of a CUDA graph is no forward pass, so profile_text() marks its stages itself.
    llmperf.transformers.profile(model, stages=bool(arguments.image))
    session = (profile_image if arguments.image else profile_text)(model, arguments)
    ledger = session.profile.ledger()
    print(f"ledger: {ledger['verdict']}, {ledger['kernels_seen']} kernels seen, {ledger['kernels_attributed']} attributed")
    print(session.run_dir)


if __name__ == "__main__":
    try:
        main()
    except (llmperf.LlmperfError, llmperf.LibraryNotFoundError) as error:
        fail(error)
