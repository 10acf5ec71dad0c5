#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `llmperf config` composes with what Hydra composed (expected.json, see make_expected.py).

compare.py LLMPERF   prints each difference, and a count; exit 1 if there is one
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def in_order(text):
    """The order of keys counts, and so do true and 1, 1 and 1.0."""
    return repr(json.loads(text, object_pairs_hook=lambda pairs: ("map", pairs)))


def run(llmperf, config, *arguments):
    return subprocess.run([llmperf, "config", "--config", config, *arguments], capture_output=True, text=True, check=False)


def differences(llmperf, case, again):
    config = os.path.join(HERE, "conf", case["name"] + ".yaml")
    if "/" in case["name"] or not os.path.exists(config):
        os.environ["LLMPERF_CONFIG_DIR"] = os.path.join(HERE, "conf")
        config = case["name"]
    ours = run(llmperf, config, "--format", "json", *case["overrides"])
    if "error" in case:
        if ours.returncode != 2 or ours.stdout or ours.stderr.count("\n") != 1:
            yield f"must fail in one line ({case['error']}), but: {ours.returncode} {ours.stdout}{ours.stderr}"
        return
    if ours.returncode != 0:
        yield f"{ours.stderr}"
    elif in_order(ours.stdout) != in_order(json.dumps(case["config"])):
        yield f"\n  ours  {in_order(ours.stdout)}\n  hydra {in_order(json.dumps(case['config']))}"
    else:
        with open(again, "w", encoding="utf-8") as file:
            file.write(run(llmperf, config, *case["overrides"]).stdout)
        read = run(llmperf, again, "--format", "json")
        if read.stdout != ours.stdout:
            yield f"the YAML does not read back as the same: {read.stderr}{read.stdout}"


def main(llmperf):
    with open(os.path.join(HERE, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    os.environ.update(expected["environment"])
    usual, failed = os.environ.get("LLMPERF_CONFIG_DIR", ""), 0
    for case in expected["cases"]:
        os.environ["LLMPERF_CONFIG_DIR"] = usual
        for difference in differences(llmperf, case, os.path.join(os.environ.get("TMPDIR", "/tmp"), "again.yaml")):
            print("DIFFERS", case["name"], case["overrides"], difference)
            failed += 1
    composed = sum("config" in case for case in expected["cases"])
    print(f"{composed} compositions and {len(expected['cases']) - composed} errors as Hydra {expected['hydra']}: {failed} differ")
    return 1 if failed or composed < 40 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
