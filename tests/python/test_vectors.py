# SPDX-License-Identifier: Apache-2.0
"""The stored vectors of the analysis are those that their script computes."""
from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import support

FOLDER = support.SOURCE / "tests/data/analytics"


class Vectors(support.TestCase):
    """make_vectors.py shares no code with the library."""

    def assert_same(self, computed: Any, stored: Any, path: str) -> None:
        """Integers are equal, other numbers within the rounding of a double."""
        self.assertIs(type(computed), type(stored), path)
        if isinstance(stored, dict):
            self.assertEqual(list(computed), list(stored), path)
            for key, value in stored.items():
                self.assert_same(computed[key], value, f"{path}.{key}")
        elif isinstance(stored, list):
            self.assertEqual(len(computed), len(stored), path)
            for index, value in enumerate(stored):
                self.assert_same(computed[index], value, f"{path}[{index}]")
        elif isinstance(stored, float):
            self.assertAlmostEqual(computed / stored, 1, delta=1e-12, msg=path)
        else:
            self.assertEqual(computed, stored, path)

    def test_the_stored_vectors_are_those_of_the_script(self) -> None:
        computed = subprocess.run([sys.executable, FOLDER / "make_vectors.py"], check=True,
                                  capture_output=True, text=True).stdout
        stored = (FOLDER / "model_vectors.json").read_text()
        self.assert_same(json.loads(computed), json.loads(stored), "$")


if __name__ == "__main__":
    support.main()
