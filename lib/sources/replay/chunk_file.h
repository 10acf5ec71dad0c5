/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the chunks of a recording one at a time, since a recording may be larger than memory. For
 * lib/sources/replay only.
 * @threads one at a time per object, all functions */
#ifndef LP_SOURCES_REPLAY_CHUNK_FILE_H
#define LP_SOURCES_REPLAY_CHUNK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sources/replay/recording.h"

#define LP_RECORDING_HEAD 8u /* bytes: magic and version */

/** Zero-initialised: closed. */
struct lp_chunk_file {
    bool is_open;
    int file;
    uint64_t size;                 /* at the time of opening; later additions are not read */
    uint64_t at;                   /* position of the next chunk */
    struct lp_chunk_header header; /* of the current chunk */
    const uint8_t *payload;        /* of the current chunk; valid until the next call */
    uint8_t *bytes;                /* a part of the file: */
    uint64_t start;
    size_t count, capacity;
};

/** Open a file and read its first bytes; they are 0 past its end. 0, LLMPERF_ENOENT, LLMPERF_EIO.
 */
int lp_chunk_file_open(struct lp_chunk_file *chunks, const char *path,
                       char head[LP_RECORDING_HEAD]);

/** Read the header of the next complete chunk, which becomes the current one. false: end of the
 * file, or truncated. */
bool lp_chunk_file_peek(struct lp_chunk_file *chunks);

/** Read the payload of the current chunk. 0; LLMPERF_EFORMAT (wrong checksum; the caller sets the
 * text), LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_chunk_file_read(struct lp_chunk_file *chunks);

/** Skip the current chunk; return to the first chunk. */
void lp_chunk_file_pass(struct lp_chunk_file *chunks);
void lp_chunk_file_rewind(struct lp_chunk_file *chunks);

void lp_chunk_file_close(struct lp_chunk_file *chunks);

#endif
