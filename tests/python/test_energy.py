# SPDX-License-Identifier: Apache-2.0
"""Energy of GPUs and stages through the Python package."""
from __future__ import annotations

import support

SCRIPT = """
at 1000000000
nvml energy=1000 power=400000 sm_clock=1500 reasons=4 used=7 total=9
begin LLM@decode_step tokens=40
launch k duration=900000000
at 2000000000
end
nvml energy=401000 power=400000 sm_clock=1500 reasons=0 used=8 total=9
"""


class Energy(support.TestCase):
    """From samples to rows."""

    def test_a_gpu_and_its_stages_have_energy(self) -> None:
        profile = self.play(SCRIPT, tier="deep")
        gpu, = profile.energy()
        self.assertEqual((gpu["device"], gpu["source"], gpu["reason"]), (0, "counter", None))
        self.assertAlmostEqual(gpu["energy_j"], 400)
        self.assertAlmostEqual(gpu["stages_j"] + gpu["outside_j"], gpu["energy_j"])
        self.assertEqual((gpu["throttled_share"], gpu["memory_peak_bytes"]), (0.5, 8))
        stage, = profile.stages
        self.assertAlmostEqual(stage["token_j"], 10, delta=0.1)
        self.assertEqual(stage["sm_clock_mhz"], 1500)
        self.assertEqual(profile.to_dict()["energy"][0]["energy_j"], gpu["energy_j"])

    def test_a_run_without_samples_has_no_rows_and_a_reason(self) -> None:
        profile = self.play("begin LLM@decode_step\nlaunch k\nend\n", tier="deep")
        self.assertEqual(profile.energy(), [])
        stage, = profile.stages
        self.assertIsNone(stage["energy_j"])
        self.assertEqual(stage["reasons"]["energy_j"], "NVML was not read in this run")


if __name__ == "__main__":
    support.need_library()
    support.main()
