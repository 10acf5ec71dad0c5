/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, played by a session: refused with one line, or a profile whose documents are written.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;

    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = fuzz_file(bytes, size, ".llmrec");
    options.tier = LLMPERF_TIER_DEEP;
    if (llmperf_session_start(&options, &session) < 0) {
        if (strlen(llmperf_last_error()) < 5 || strchr(llmperf_last_error(), '\n'))
            abort();
        return 0;
    }
    if (llmperf_session_stop(session, &profile) == LLMPERF_OK)
        fuzz_documents(profile);
    else
        llmperf_profile_free(profile); /* of what was played until it was found damaged */
    llmperf_session_free(session);
    return 0;
}
