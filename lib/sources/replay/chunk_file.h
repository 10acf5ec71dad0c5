/* SPDX-License-Identifier: Apache-2.0 */
/** The chunks of a recording, read one at a time: a recording may be larger than memory. For
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
    uint64_t size; /* of the file when it was opened; what is written later is not read */
    uint64_t at;   /* of the chunk that is next */
    struct lp_chunk_header header; /* of the chunk that was looked at last */
    const uint8_t *payload;        /* of the chunk that was read last, until the next call */
    uint8_t *bytes;                /* a part of the file: */
    uint64_t start;
    size_t count, capacity;
};

/** Open a file and read its first bytes; they are 0 where it has none. 0, LLMPERF_ENOENT,
 * LLMPERF_EIO. */
int lp_chunk_file_open(struct lp_chunk_file *chunks, const char *path,
                       char head[LP_RECORDING_HEAD]);

/** Look at the next whole chunk's header, without its payload. false: the end, or the file was cut.
 */
bool lp_chunk_file_peek(struct lp_chunk_file *chunks);

/** Read the payload of the chunk that was looked at. 0; LLMPERF_EFORMAT (wrong checksum; the caller
 * writes the text), LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_chunk_file_read(struct lp_chunk_file *chunks);

/** Skip the chunk that was looked at; go back to the first one. */
void lp_chunk_file_pass(struct lp_chunk_file *chunks);
void lp_chunk_file_rewind(struct lp_chunk_file *chunks);

void lp_chunk_file_close(struct lp_chunk_file *chunks);

#endif
