# SPDX-License-Identifier: Apache-2.0
"""Device memory through the Python package."""
from __future__ import annotations

import support

SCRIPT = """
begin LLM@weights
call cuMemAlloc id=1 bytes=500
end
begin LLM@decode_step context=30
call cuMemAllocAsync id=2 bytes=70 reserved=200
launch k
call cuMemFreeAsync id=2
end
"""


class Memory(support.TestCase):
    """From calls of the driver to rows."""

    def test_devices_come_before_regions(self) -> None:
        profile = self.play(SCRIPT, tier="deep")
        device, weights, step = profile.memory()
        self.assertEqual((device["region"], device["allocations"], device["frees"]), (None, 2, 1))
        self.assertEqual((device["peak_bytes"], device["live_bytes"]), (570, 500))
        self.assertEqual((device["pool_reserved_bytes"], device["pool_used_bytes"]), (200, 70))
        self.assertEqual((device["weight_allocated_bytes"], device["weight_bytes"]), (500, None))
        self.assertIn("no model was given", device["reason"])
        self.assertEqual((weights["region"], weights["largest_bytes"]), ("LLM@weights", 500))
        self.assertEqual((step["region"], step["context_tokens"]), ("LLM@decode_step", 30))
        self.assertEqual(profile.to_dict()["memory"][0]["reason"], device["reason"])


if __name__ == "__main__":
    support.need_library()
    support.main()
