/* SPDX-License-Identifier: Apache-2.0 */
/* Run files: a small run of which the input changes bytes, or the input itself. Refused with one
 * line, or a profile whose documents are written. */
#include <string.h>

#include "lib/base/file.h"
#include "tests/fuzz/fuzz.h"

#define WHOLE 'S' /* as SQLite's files begin: the input is the file */

static char *run;
static size_t run_size;

/* What the recording of tests/fuzz/run.sh gives, or a session without anything. */
static void make_run(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    const char *recording = getenv("LLMPERF_FUZZ_RECORDING"), *path = fuzz_path(".llmperf");
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    setenv("LLMPERF_OPEN_CHANGED", "1", 1); /* checksums would refuse nearly every input */
    options.device_source = recording ? LLMPERF_SOURCE_REPLAY : LLMPERF_SOURCE_NONE;
    options.device_path = recording;
    if (llmperf_session_start(&options, &session) < 0 ||
        llmperf_session_stop(session, &profile) < 0 || llmperf_profile_save(profile, path) < 0 ||
        lp_file_read(path, &run, &run_size) < 0)
        abort();
    llmperf_session_free(session);
    llmperf_profile_free(profile);
}

/* Four bytes each: where, in three of them, and what stands there then. */
static const char *write_changed(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(run_size);
    const char *path;

    memcpy(copy, run, run_size);
    for (size_t at = 0; at + 4 <= size; at += 4)
        copy[((size_t)bytes[at] << 16 | (size_t)bytes[at + 1] << 8 | bytes[at + 2]) % run_size] =
            bytes[at + 3];
    path = fuzz_file(copy, run_size, ".llmperf");
    free(copy);
    return path;
}

static void write_documents(const llmperf_profile *profile)
{
    static const uint32_t documents[] = { LLMPERF_DOCUMENT_REPORT_MD, LLMPERF_DOCUMENT_REPORT_HTML,
                                          LLMPERF_DOCUMENT_METRICS_JSON,
                                          LLMPERF_DOCUMENT_PROMETHEUS, LLMPERF_DOCUMENT_ROWS_CSV };

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        char *text;

        if (llmperf_document_text(profile, documents[i], &text) < 0)
            continue;
        for (const char *at = text; *at; at++)
            if ((unsigned char)*at < 0x20 && *at != '\n')
                abort(); /* nothing that a terminal obeys */
        llmperf_text_free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    llmperf_profile *profile = NULL;
    const char *path;

    if (!run)
        make_run();
    path = size > 0 && bytes[0] == WHOLE ? fuzz_file(bytes, size, ".llmperf")
                                         : write_changed(bytes, size);
    if (llmperf_profile_open(path, &profile) < 0) {
        if (strlen(llmperf_last_error()) < 10 || strchr(llmperf_last_error(), '\n'))
            abort();
        return 0;
    }
    write_documents(profile);
    llmperf_profile_free(profile);
    return 0;
}
