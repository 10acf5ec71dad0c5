/* SPDX-License-Identifier: Apache-2.0 */
/** Reads a JSON trace of any size, also compressed by gzip, and cuts it into its members and its
 * events.
 * @threads one at a time per object */
#ifndef LP_SOURCES_KINETO_INPUT_H
#define LP_SOURCES_KINETO_INPUT_H

#include "lib/sources/kineto/json.h"

/** Longer events and members are skipped. */
#define LP_KINETO_PIECE_MOST ((size_t)16 << 20)

struct lp_kineto_input {
    const char *path;
    void *stream; /* of zlib */
    int fd;
    uint64_t size; /* of the file */
    char *bytes;   /* those from `at` to `filled` are not used yet */
    size_t at, filled, capacity;
    uint32_t place;   /* in the document */
    bool bare;        /* a list without a document around it */
    bool cut;         /* the file ended before its document */
    uint64_t damaged; /* pieces that were too long or could not be read */
};

/** An event, if `key` is empty, or a member of the document other than "traceEvents". Its text is
 * valid until the next call. */
struct lp_kineto_piece {
    char key[64];
    struct lp_json_text text;
};

/** Zero-initialised before. 0, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_EFORMAT (compressed, and this
 * build has no zlib), LLMPERF_ENOMEM. Close it in any case. */
int lp_kineto_input_open(struct lp_kineto_input *input, const char *path);

/** @return 1: a piece; 0: the end; LLMPERF_EFORMAT: not JSON, LLMPERF_ENOMEM. */
int lp_kineto_input_next(struct lp_kineto_input *input, struct lp_kineto_piece *piece);

void lp_kineto_input_close(struct lp_kineto_input *input);

/** Is the file a JSON trace, compressed or not? */
bool lp_kineto_is_trace(const char *path);

#endif
