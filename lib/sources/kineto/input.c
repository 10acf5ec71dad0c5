/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/kineto/input.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef LP_HAVE_ZLIB
#include <zlib.h>
#endif

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"

#define READ_BYTES ((size_t)1 << 20)

enum place { BEFORE, MEMBERS, EVENTS, AFTER };

static ssize_t read_bytes(struct lp_kineto_input *input, char *to, size_t most)
{
#ifdef LP_HAVE_ZLIB
    return gzread(input->stream, to, (unsigned)most); /* -1: cut or damaged */
#else
    return read(input->fd, to, most);
#endif
}

/* Read more, keeping what is not used. 1: more; 0: the end; LLMPERF_ENOMEM. */
static int refill(struct lp_kineto_input *input)
{
    ssize_t count;

    if (input->at > 0)
        memmove(input->bytes, input->bytes + input->at, input->filled -= input->at);
    input->at = 0;
    if (input->capacity - input->filled < READ_BYTES) {
        char *grown = realloc(input->bytes, input->capacity + READ_BYTES);

        if (!grown)
            return lp_out_of_memory();
        input->bytes = grown;
        input->capacity += READ_BYTES;
    }
    count = read_bytes(input, input->bytes + input->filled, READ_BYTES);
    if (count <= 0)
        return 0;
    input->filled += (size_t)count;
    lp_progress("reading a trace", (uint64_t)lseek(input->fd, 0, SEEK_CUR), input->size);
    return 1;
}

/* The next byte that is neither blank nor `also`, without using it up. 1; 0: the end. */
static int look(struct lp_kineto_input *input, char also, char *byte_out)
{
    int status;

    for (;; input->at++) {
        if (input->at == input->filled && (status = refill(input)) <= 0)
            return status;
        *byte_out = input->bytes[input->at];
        if (!isspace((unsigned char)*byte_out) && *byte_out != also)
            return 1;
    }
}

/* Is an event's first key before `mark`? Then it begins there. */
static bool begin_event(struct lp_kineto_input *input, const char *mark)
{
    const char *from = input->bytes + input->at;
    const char *open = memrchr(from, '{', (size_t)(mark - from));

    if (!open)
        return false;
    input->at = (size_t)(open - input->bytes);
    input->place = EVENTS;
    return true;
}

/* Find the next event, after something that cannot be read. 1; 0: the end; LLMPERF_ENOMEM. */
static int find_event(struct lp_kineto_input *input)
{
    int status = 1;

    while (status > 0) {
        const char *from = input->bytes + input->at;
        const char *mark = memmem(from, input->filled - input->at, "\"ph\"", 4);

        if (mark && begin_event(input, mark))
            return 1;
        input->at = mark                              ? (size_t)(mark + 4 - input->bytes)
                    : input->filled - input->at > 256 ? input->filled - 256
                                                      : input->at;
        if (!mark)
            status = refill(input);
    }
    return status;
}

/* Cut the value at `at`. 1: done; 2: skipped; 0: the end of the file; LLMPERF_ENOMEM. */
static int cut_value(struct lp_kineto_input *input, struct lp_json_text *value)
{
    struct lp_json_scan scan = { .depth = 0 };
    size_t length = 0;
    bool too_long = false;
    int status;

    while (!scan.done && !scan.broken) {
        length += lp_json_scan(&scan, input->bytes + input->at + length,
                               input->filled - input->at - length);
        if (scan.done || scan.broken)
            break;
        if (length > LP_KINETO_PIECE_MOST) {
            too_long = true;
            input->at += length;
            length = 0;
        }
        if ((status = refill(input)) <= 0)
            return status;
    }
    *value = (struct lp_json_text){ input->bytes + input->at, length };
    input->at += length;
    input->damaged += too_long || scan.broken;
    if (!scan.broken)
        return too_long ? 2 : 1;
    return (status = find_event(input)) > 0 ? 2 : status;
}

/* The key of a member, up to its value. As cut_value(). */
static int cut_key(struct lp_kineto_input *input, char *key, size_t size)
{
    struct lp_json_text text;
    char byte;
    int status = cut_value(input, &text);

    if (status != 1)
        return status;
    if (text.length < 2 || *text.at != '"')
        return lp_error(LLMPERF_EFORMAT, "%s is not a JSON trace", input->path);
    lp_json_unescape((struct lp_json_text){ text.at + 1, text.length - 2 }, key, size);
    return look(input, ':', &byte);
}

/* 1: a piece; 2: go on; 0: the end; negative: an error. */
static int next_member(struct lp_kineto_input *input, char byte, struct lp_kineto_piece *piece)
{
    int status;

    if (byte == '}') {
        input->place = AFTER;
        return 0;
    }
    if ((status = cut_key(input, piece->key, sizeof(piece->key))) != 1)
        return status;
    if (strcmp(piece->key, "traceEvents") == 0 && input->bytes[input->at] == '[') {
        input->at++;
        input->place = EVENTS;
        return 2;
    }
    return cut_value(input, &piece->text);
}

static int next_event(struct lp_kineto_input *input, char byte, struct lp_kineto_piece *piece)
{
    int status;

    piece->key[0] = '\0';
    if (byte == ']') {
        input->at++;
        input->place = input->bare ? AFTER : MEMBERS;
        return input->bare ? 0 : 2;
    }
    if ((status = cut_value(input, &piece->text)) == 1 && piece->text.length == 0) {
        input->at++; /* a bracket that nothing opened */
        input->damaged++;
    }
    return status == 1 && (byte != '{' || piece->text.length == 0) ? 2 : status;
}

static int begin(struct lp_kineto_input *input, char byte)
{
    if (byte != '{' && byte != '[')
        return lp_error(LLMPERF_EFORMAT, "%s is not a JSON trace", input->path);
    input->bare = byte == '[';
    input->place = input->bare ? EVENTS : MEMBERS;
    input->at++;
    return 2;
}

int lp_kineto_input_next(struct lp_kineto_input *input, struct lp_kineto_piece *piece)
{
    int status = 2;
    char byte;

    while (status == 2 && input->place != AFTER && (status = look(input, ',', &byte)) > 0) {
        if (input->place == BEFORE)
            status = begin(input, byte);
        else if (input->place == MEMBERS)
            status = next_member(input, byte, piece);
        else
            status = next_event(input, byte, piece);
    }
    input->cut |= status == 0 && input->place != AFTER;
    return status == 2 ? 0 : status;
}

static int open_stream(struct lp_kineto_input *input)
{
#ifdef LP_HAVE_ZLIB
    int copy = dup(input->fd); /* gzclose() closes it */

    input->stream = copy >= 0 ? gzdopen(copy, "rb") : NULL;
    if (!input->stream && copy >= 0)
        close(copy);
    if (!input->stream)
        return lp_out_of_memory();
    gzbuffer(input->stream, 256u << 10);
#else
    unsigned char magic[2] = { 0, 0 };

    if (pread(input->fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
        return lp_error(LLMPERF_EFORMAT,
                        "%s is compressed, and llmperf was built without zlib; run gunzip first",
                        input->path);
#endif
    return 0;
}

int lp_kineto_input_open(struct lp_kineto_input *input, const char *path)
{
    struct stat info;
    int status;

    input->path = path;
    input->fd = -1;
    if ((status = lp_file_open(path, &input->fd)) < 0)
        return status;
    input->size = fstat(input->fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    return open_stream(input);
}

void lp_kineto_input_close(struct lp_kineto_input *input)
{
#ifdef LP_HAVE_ZLIB
    if (input->stream)
        gzclose(input->stream);
#endif
    if (input->fd >= 0)
        close(input->fd);
    free(input->bytes);
}

bool lp_kineto_is_trace(const char *path)
{
    struct lp_kineto_input input = { .fd = -1 };
    struct lp_kineto_piece piece = { .key = "" };
    int status = lp_kineto_input_open(&input, path);
    bool found;

    while (status >= 0 && (status = lp_kineto_input_next(&input, &piece)) > 0 && *piece.key)
        continue;
    found = status > 0 && memmem(piece.text.at, piece.text.length, "\"ph\"", 4);
    lp_kineto_input_close(&input);
    return found;
}
