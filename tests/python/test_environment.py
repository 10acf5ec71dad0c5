# SPDX-License-Identifier: Apache-2.0
"""Versions of Python and its packages in the documents of a run."""
from __future__ import annotations

import json
import mmap
import sys

import support
import llmperf


class Environment(support.TestCase):
    def test_versions_are_in_the_documents_of_the_run(self) -> None:
        packages = self.folder / "lib/python3.11/site-packages"
        for name in ("torch", "torch-2.11.0.dist-info", "transformers-5.17.0.dist-info"):
            (packages / name).mkdir(parents=True)
        library = packages / "torch/libtorch.so"
        library.write_bytes(b"library")
        with llmperf.Session(source="none", run_dir=self.folder / "run") as session, \
                library.open("rb") as file:
            session.flush()
            # Loaded after env.json was made for the first time.
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
                profile = session.stop()
        software = json.loads(profile.document("env.json"))["software"]
        self.assertEqual(profile.to_dict()["software"], software)
        self.assertEqual([software[name] for name in ("torch", "vllm", "transformers_installed")],
                         ["2.11.0", None, "5.17.0"])
        # Before 3.11 only the name of the program or its library is known.
        parts = sys.version_info[:3 if sys.version_info >= (3, 11) else 2]
        self.assertEqual(software["python"], ".".join(map(str, parts)))
        report = profile.report_markdown()
        for row in (f"| python | {software['python']} |", "| torch | 2.11.0 |",
                    "| transformers_installed | 5.17.0 |"):
            self.assertIn(row, report)


if __name__ == "__main__":
    support.need_library()
    support.main()
