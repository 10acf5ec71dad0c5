# SPDX-License-Identifier: Apache-2.0
"""The package and the examples of its documents pass mypy --strict."""
from __future__ import annotations

import re
import shutil
import subprocess

import support

PAGES = ["README.md", "bindings/python/README.md", "docs/reference/python.md"]
# Types that a reader of the examples relies on; the "type: ignore" must be needed (warn_unused_ignores).
USES = """
from typing import AsyncIterator, Iterator, List
import llmperf

@llmperf.region("a")
async def decorated(number: int) -> str:
    return str(number)

@llmperf.region("b")
async def tokens(count: int) -> AsyncIterator[int]:
    yield count

async def serve(prompt: bytes) -> List[int]:
    text: str = await decorated(3)
    await decorated(text)  # type: ignore[arg-type]
    async with llmperf.request() as request:
        return [token + 1 async for token in request.stream(tokens(3))]

def kept(session: llmperf.Session) -> str:
    with llmperf.schedule(1, 1, 1, 1, on_ready=lambda profile: profile.save("x")) as schedule:
        schedule.step()
    words: Iterator[str] = llmperf.request().stream(["a"])
    return session.profile.verdict + schedule.profile.verdict + session.stop().verdict + next(words)
"""


class Typing(support.TestCase):
    def test_package_and_examples_are_strictly_typed(self) -> None:
        mypy = shutil.which("mypy")
        if mypy is None:
            self.skipTest("mypy is not installed")
        examples = []
        for page in PAGES:
            text = (support.SOURCE / page).read_text(encoding="utf-8")
            examples += re.findall(r"^```python\n(import .*?)^```$", text, re.M | re.S)
        self.assertGreaterEqual(len(examples), len(PAGES))
        paths = []
        for number, example in enumerate([*examples, USES]):
            paths.append(self.folder / f"example{number}.py")
            paths[-1].write_text(example, encoding="utf-8")
        checked = subprocess.run(
            [mypy, "--strict", "--cache-dir", str(self.folder / "cache"),
             str(support.SOURCE / "bindings/python/llmperf"), *map(str, paths)],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == "__main__":
    support.main()
