/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "lib/capture/chunk_file.h"
#include "llmperf/api.h"

#define READ_BYTES (256u << 10) /* asked of the system at once */

int lp_chunk_file_open(struct lp_chunk_file *chunks, const char *path, char head[LP_RECORDING_HEAD])
{
    struct stat info;

    memset(head, 0, LP_RECORDING_HEAD);
    if (!(chunks->file = fopen(path, "rbe")) || fstat(fileno(chunks->file), &info) < 0)
        return lp_error(errno == ENOENT ? LLMPERF_ENOENT : LLMPERF_EIO, "cannot read %s: %s", path,
                        strerror(errno));
    if (!S_ISREG(info.st_mode))
        return lp_error(LLMPERF_EIO, "cannot read %s: a recording is a regular file", path);
    setvbuf(chunks->file, NULL, _IOFBF, READ_BYTES);
    chunks->size = (uint64_t)info.st_size;
    chunks->at = chunks->position = LP_RECORDING_HEAD;
    if (fread(head, 1, LP_RECORDING_HEAD, chunks->file) < LP_RECORDING_HEAD && ferror(chunks->file))
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    return 0;
}

bool lp_chunk_file_peek(struct lp_chunk_file *chunks)
{
    if (chunks->at > chunks->size || chunks->size - chunks->at < sizeof(chunks->header) ||
        fread(&chunks->header, sizeof(chunks->header), 1, chunks->file) != 1)
        return false;
    chunks->position += sizeof(chunks->header);
    return chunks->size - chunks->position >= chunks->header.size;
}

int lp_chunk_file_read(struct lp_chunk_file *chunks)
{
    size_t size = chunks->header.size;

    if (size > chunks->capacity || !chunks->payload) {
        uint8_t *grown = realloc(chunks->payload, size + 1);

        if (!grown)
            return lp_error(LLMPERF_ENOMEM, "out of memory (a chunk of %zu bytes)", size);
        chunks->payload = grown;
        chunks->capacity = size;
    }
    if (size > 0 && fread(chunks->payload, size, 1, chunks->file) != 1)
        return lp_error(LLMPERF_EIO, "cannot read a recording: %s",
                        ferror(chunks->file) ? strerror(errno) : "it became shorter meanwhile");
    chunks->position += size;
    return lp_crc32c(chunks->payload, size) == chunks->header.crc ? 0 : LLMPERF_EFORMAT;
}

static void seek(struct lp_chunk_file *chunks, uint64_t at)
{
    chunks->at = at;
    if (chunks->position == at)
        return;
    chunks->position = at;
    /* What cannot be reached cannot be read either: that is when it is told. */
    (void)fseeko(chunks->file, (off_t)at, SEEK_SET);
}

void lp_chunk_file_pass(struct lp_chunk_file *chunks)
{
    seek(chunks, chunks->at + sizeof(chunks->header) + chunks->header.size);
}

void lp_chunk_file_rewind(struct lp_chunk_file *chunks)
{
    seek(chunks, LP_RECORDING_HEAD);
}

void lp_chunk_file_close(struct lp_chunk_file *chunks)
{
    if (chunks->file)
        fclose(chunks->file);
    free(chunks->payload);
    *chunks = (struct lp_chunk_file){ 0 };
}
