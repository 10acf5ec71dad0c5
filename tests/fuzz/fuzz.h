/* SPDX-License-Identifier: Apache-2.0 */
/** What the fuzz targets share: an input becomes a file, and the file a profile whose documents are
 * written. */
#ifndef LP_TESTS_FUZZ_FUZZ_H
#define LP_TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "llmperf/sys.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/** In memory if the machine has such a place. */
static inline const char *fuzz_path(const char *suffix)
{
    static char path[96];

    if (!*path)
        snprintf(path, sizeof(path), "%s/llmperf-fuzz-%ld%s",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(), suffix);
    return path;
}

static inline void fuzz_documents(llmperf_profile *profile)
{
    char *text;

    if (llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text) == LLMPERF_OK)
        llmperf_text_free(text);
    llmperf_profile_free(profile);
}

/** The input as a file. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t size, const char *suffix)
{
    const char *path = fuzz_path(suffix);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    close(file);
    return path;
}

static inline void fuzz_import(const uint8_t *bytes, size_t size, const char *suffix)
{
    const char *path = fuzz_file(bytes, size, suffix);
    llmperf_profile *profile = NULL;

    if (llmperf_import(&path, 1, NULL, &profile) == LLMPERF_OK)
        fuzz_documents(profile);
}

#endif
