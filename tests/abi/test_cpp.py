#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llmperf.hpp in a C++ program: regions close when an exception leaves them, tokens are counted, failures are thrown."""
import os
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

FLAGS = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wold-style-cast", "-Wnon-virtual-dtor", "-Wshadow", "-Werror"]

PROGRAM = textwrap.dedent("""\
    #include <llmperf/llmperf.hpp>
    #include <cstdio>
    #include <cstring>
    #include <type_traits>

    static_assert(!std::is_copy_constructible<llmperf::region>::value, "a guard was copied");
    static_assert(!std::is_move_constructible<llmperf::session>::value, "a guard was moved");

    static void step(bool fails)
    {
        llmperf::decode_step step(4, 400);
        llmperf::region attention("attention");

        if (fails)
            throw std::runtime_error("out of cache");
    }

    static int start_another(const llmperf_session_options &options)
    {
        try {
            llmperf::session second(options);
        } catch (const llmperf::error &failure) {
            return std::strstr(failure.what(), "session") ? failure.status() : LLMPERF_OK;
        }
        return LLMPERF_OK;
    }

    int main(int, char **arguments)
    {
        llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

        options.run_dir = arguments[1];
        options.device_source = LLMPERF_SOURCE_NONE;
        llmperf::session session(options);
        {
            llmperf::prefill prefill(512);
        }
        {
            llmperf::decode_all loop;

            for (int i = 0; i < 3; i++) {
                try {
                    step(i == 1);
                } catch (const std::runtime_error &) {
                }
                loop.add(4);
            }
        }
        std::fputs(session.document(LLMPERF_DOCUMENT_PROMETHEUS).c_str(), stdout);
        if (start_another(options) != LLMPERF_EBUSY || session.run_dir() != arguments[1])
            return 1;
        session.stop();
        try {
            session.stop();
        } catch (const llmperf::error &failure) {
            return failure.status() == LLMPERF_ESTATE ? 0 : 1;
        }
        return 1;
    }
    """)


@unittest.skipUnless(headers.CXX and headers.LIBRARY, "there is no C++ compiler, or LLMPERF_LIBRARY is not set")
class Cpp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_regions_close_when_an_exception_leaves_them(self):
        source, binary = os.path.join(self.folder, "engine.cpp"), os.path.join(self.folder, "engine")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        status, output = headers.run([headers.CXX, *FLAGS, "-I" + headers.INCLUDE, source, headers.LIBRARY, "-o", binary])
        self.assertEqual(status, 0, output)
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(headers.LIBRARY)}
        status, output = headers.run([binary, os.path.join(self.folder, "run")], env=environment)
        self.assertEqual(status, 0, output)
        samples = {}
        for line in output.splitlines():
            if not line.startswith("# "):
                name, value = line.rsplit(" ", 1)
                samples[name.split(",process")[0].rstrip("}")] = float(value)
        for region, instances in (("LLM@prefill", 1), ("LLM@decode_all", 1), ("LLM@decode_all/LLM@decode_step", 3),
                                  ("LLM@decode_all/LLM@decode_step/LLM@attention", 3)):
            self.assertEqual(samples[f'llmperf_region_instances_total{{region="{region}"'], instances, region)
        self.assertEqual(samples['llmperf_region_tokens_total{region="LLM@prefill"'], 512)
        self.assertEqual(samples['llmperf_region_tokens_total{region="LLM@decode_all"'], 12)
        self.assertEqual(samples['llmperf_ledger{quantity="regions_unbalanced"'], 0)


if __name__ == "__main__":
    unittest.main()
