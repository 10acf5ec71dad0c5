# SPDX-License-Identifier: Apache-2.0
"""Examples where something is missing end with one line and exit code 3, not with a traceback."""
import os
import subprocess
import sys
from typing import List

import support

EXAMPLES = [["examples/torch_graph_decode.py"], ["examples/python/profile_hf.py"]]
# As much of torch as an import of the examples needs.
TORCH = """
class nn:
    Module = object
class Tensor:
    pass
class cuda:
    @staticmethod
    def is_available():
        return {gpu}
def manual_seed(seed):
    pass
"""
BINDINGS = str(support.SOURCE / "bindings/python")


class Examples(support.TestCase):
    def module(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")

    def ends_with_one_line(self, command: List[str], part: str, *path: str, **environment: str) -> None:
        result = subprocess.run(
            [sys.executable, str(support.SOURCE / command[0]), *command[1:]], timeout=120, text=True, cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), *path]), **environment})
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_without_torch(self) -> None:
        self.module("torch", "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
        for command in EXAMPLES:
            self.ends_with_one_line(command, "torch is missing; pip install torch", BINDINGS)

    def test_without_transformers(self) -> None:
        self.module("torch", TORCH.format(gpu=True))
        self.module("transformers", "raise ModuleNotFoundError('no', name='transformers')\n")
        self.ends_with_one_line(EXAMPLES[1], "transformers is missing; pip install", BINDINGS)

    def test_without_a_gpu(self) -> None:
        self.module("torch", TORCH.format(gpu=False))
        self.module("transformers", "")
        for command in EXAMPLES:
            self.ends_with_one_line(command, "torch sees no GPU", BINDINGS)

    def test_without_the_package(self) -> None:
        self.module("torch", TORCH.format(gpu=True))
        self.module("llmperf", "raise ModuleNotFoundError(\"No module named 'llmperf'\", name='llmperf')\n")
        for command in EXAMPLES:
            self.ends_with_one_line(command, "llmperf is missing; set PYTHONPATH=bindings/python")


if __name__ == "__main__":
    support.main()
