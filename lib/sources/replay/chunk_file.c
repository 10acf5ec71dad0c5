/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/replay/chunk_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "llmperf/api.h"

#define READ_BYTES (128u << 10) /* bytes of one read call; calls are sequential */
#define HEAD_BYTES 64u          /* bytes of one read call while chunks are skipped */

/* Read up to `count` bytes at `start`. Negative: an error; see errno. */
static int read_part(struct lp_chunk_file *chunks, uint64_t start, size_t count)
{
    chunks->start = start;
    chunks->count = 0;
    while (chunks->count < count) {
        ssize_t got = pread(chunks->file, chunks->bytes + chunks->count, count - chunks->count,
                            (off_t)(start + chunks->count));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        chunks->count += (size_t)got;
    }
    return 0;
}

static bool is_there(const struct lp_chunk_file *chunks, uint64_t at, size_t count)
{
    return at >= chunks->start && at - chunks->start <= chunks->count &&
           chunks->count - (at - chunks->start) >= count;
}

/* Read `count` bytes of the file; more, if the part before them was read too. 0 (there may be fewer
 * at the end), LLMPERF_EIO, LLMPERF_ENOMEM. */
static int fetch(struct lp_chunk_file *chunks, uint64_t at, size_t count)
{
    size_t wanted = at - chunks->start <= chunks->count ? READ_BYTES : HEAD_BYTES;
    size_t room = count > READ_BYTES ? count : READ_BYTES;
    uint8_t *grown;

    if (is_there(chunks, at, count))
        return 0;
    if (room > chunks->capacity) {
        if (!(grown = realloc(chunks->bytes, room)))
            return lp_error(LLMPERF_ENOMEM, "out of memory (a chunk of %zu bytes)", count);
        chunks->bytes = grown;
        chunks->capacity = room;
    }
    if (read_part(chunks, at, count > wanted ? count : wanted) < 0)
        return lp_error(LLMPERF_EIO, "cannot read a recording: %s", strerror(errno));
    return 0;
}

int lp_chunk_file_open(struct lp_chunk_file *chunks, const char *path, char head[LP_RECORDING_HEAD])
{
    struct stat info;
    int status = lp_file_open(path, &chunks->file);

    memset(head, 0, LP_RECORDING_HEAD);
    chunks->is_open = status == 0;
    if (status < 0)
        return status;
    if (fstat(chunks->file, &info) < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    chunks->size = (uint64_t)info.st_size;
    chunks->at = LP_RECORDING_HEAD;
    if ((status = fetch(chunks, 0, LP_RECORDING_HEAD)) < 0)
        return status;
    if (is_there(chunks, 0, LP_RECORDING_HEAD))
        memcpy(head, chunks->bytes, LP_RECORDING_HEAD);
    return 0;
}

bool lp_chunk_file_peek(struct lp_chunk_file *chunks)
{
    if (chunks->at > chunks->size || chunks->size - chunks->at < sizeof(chunks->header) ||
        fetch(chunks, chunks->at, sizeof(chunks->header)) < 0 ||
        !is_there(chunks, chunks->at, sizeof(chunks->header)))
        return false;
    memcpy(&chunks->header, chunks->bytes + (chunks->at - chunks->start), sizeof(chunks->header));
    return chunks->size - chunks->at - sizeof(chunks->header) >= chunks->header.size;
}

int lp_chunk_file_read(struct lp_chunk_file *chunks)
{
    uint64_t at = chunks->at + sizeof(chunks->header);
    size_t size = chunks->header.size;
    int status = fetch(chunks, at, size);

    if (status < 0)
        return status;
    if (!is_there(chunks, at, size))
        return lp_error(LLMPERF_EIO,
                        "cannot read a recording: it became shorter while it was read");
    chunks->payload = chunks->bytes + (at - chunks->start);
    return lp_crc32c(chunks->payload, size) == chunks->header.crc ? 0 : LLMPERF_EFORMAT;
}

void lp_chunk_file_pass(struct lp_chunk_file *chunks)
{
    chunks->at += sizeof(chunks->header) + chunks->header.size;
    lp_progress("reading a recording", chunks->at, chunks->size);
}

void lp_chunk_file_rewind(struct lp_chunk_file *chunks)
{
    chunks->at = LP_RECORDING_HEAD;
}

void lp_chunk_file_close(struct lp_chunk_file *chunks)
{
    if (chunks->is_open)
        close(chunks->file);
    free(chunks->bytes);
    *chunks = (struct lp_chunk_file){ 0 };
}
