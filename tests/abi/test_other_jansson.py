#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that bring functions with names of jansson's: another copy of it works, anything else is refused with one line."""
import os
import shutil
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headers  # noqa: E402

PROGRAM = textwrap.dedent("""\
    #include <llmperf/llmperf.h>
    #include <stdio.h>
    #include <string.h>

    int main(int argc, char **argv)
    {
        llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
        llmperf_session *session = NULL;
        llmperf_profile *profile = NULL;
        char *text = NULL;

        if (argc < 3)
            return 2;
        options.device_source = LLMPERF_SOURCE_FAKE;
        options.device_path = argv[1];
        options.run_dir = argv[2];
        if (llmperf_session_start(&options, &session) < 0) {
            printf("refused: %s\\n", llmperf_last_error());
            return 0;
        }
        if (llmperf_session_stop(session, &profile) < 0 ||
            llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text) < 0)
            return 1;
        printf("%s\\n", text);
        llmperf_text_free(text);
        llmperf_profile_free(profile);
        llmperf_session_free(session);
        return 0;
    }
    """)

FOREIGN = textwrap.dedent("""\
    #include <stddef.h>

    void *json_object_get(void *object, const char *key);
    void *json_object_get(void *object, const char *key)
    {
        (void)key;
        return object; /* as json-c's, which counts a reference */
    }
    """)


def library_path(name):
    status, output = headers.run(headers.CC + [f"-print-file-name={name}"])
    path = output.strip()
    return path if status == 0 and os.path.isabs(path) and os.path.exists(path) else None


@unittest.skipUnless(headers.LIBRARY and headers.BUILD and shutil.which("pkg-config"), "LLMPERF_LIBRARY or LLMPERF_BUILD is not set")
class OtherJansson(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("program.c", PROGRAM)
        self.write("foreign.c", FOREIGN)
        self.write("script.txt", "begin a\nlaunch k\nend\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def ok(self, command, **options):
        status, output = headers.run(command, **options)
        self.assertEqual(status, 0, f"{command}\n{output}")
        return output

    def linked(self, shared, *inputs):
        library = os.path.dirname(headers.LIBRARY)
        if shared:
            words = ["-L" + library, "-l:" + os.path.basename(headers.LIBRARY), "-Wl,-rpath," + library]
        else:
            private = os.path.join(os.path.dirname(library), "meson-private", "llmperf.pc")
            names = [line.split()[0] for line in self.ok(["pkg-config", "--print-requires-private", private]).splitlines()]
            needed = self.ok(["pkg-config", "--libs", *names]).split()
            words = [os.path.join(library, "libllmperf.a")] + needed + ["-lpthread", "-ldl", "-lm"]
        binary = self.path("program")
        self.ok(headers.CC + [f"-I{headers.INCLUDE}", self.path("program.c"), "-o", binary] + list(inputs) + words)
        return self.ok([binary, self.path("script.txt"), self.path("shared" if shared else "static")])

    def test_functions_with_names_of_jansson_are_refused(self):
        for shared in True, False:
            output = self.linked(shared, self.path("foreign.c"))
            self.assertIn("refused: the program defines functions that have the names of jansson's", output)

    def test_hidden_functions_beside_the_shared_library_do_no_harm(self):
        output = self.linked(True, "-fvisibility=hidden", self.path("foreign.c"))
        self.assertIn('"kernels_seen": 1', output)

    def test_another_copy_of_jansson_in_the_program_works(self):
        copy = library_path("libjansson.a")
        if not copy:
            self.skipTest("no libjansson.a here")
        for shared in True, False:
            output = self.linked(shared, "-Wl,--whole-archive", copy, "-Wl,--no-whole-archive")
            self.assertIn('"kernels_seen": 1', output)
            self.assertIn('"boot_id"', self.ok(["cat", os.path.join(self.path("shared" if shared else "static"), "env.json")]))


if __name__ == "__main__":
    unittest.main()
