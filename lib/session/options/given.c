/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/given.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/format/json_writer.h"

void lp_given_init(struct lp_given *given)
{
    *given = (struct lp_given){ .more = 0 };
    pthread_mutex_init(&given->lock, NULL);
}

static void clear_row(llmperf_input *row)
{
    free((char *)row->path);
    free((char *)row->name);
    free((char *)row->kind);
}

void lp_given_clear(struct lp_given *given)
{
    for (size_t i = 0; i < given->rows.count; i++)
        clear_row(&given->rows.items[i]);
    lp_vector_clear(&given->rows);
    pthread_mutex_destroy(&given->lock);
}

/* The file need not be there: it may be a name in a container or on another machine. */
static char *absolute_path(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : lp_path_absolute(path);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static int copy_row(llmperf_input *row, const llmperf_input *input)
{
    struct stat info;

    *row = *input;
    row->path = input->path ? absolute_path(input->path) : NULL;
    row->name = lp_text_copy(input->name ? input->name : last_part(input->path));
    row->kind = lp_text_copy(input->kind);
    if ((input->path && !row->path) || !row->name || (input->kind && !row->kind)) {
        clear_row(row);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    if (row->size_bytes == 0 && row->path && stat(row->path, &info) == 0 && S_ISREG(info.st_mode))
        row->size_bytes = (uint64_t)info.st_size;
    return 0;
}

/* 1: kept, 0: only counted, LLMPERF_ENOMEM. */
static int keep(struct lp_given *given, const llmperf_input *row)
{
    int status = 0;

    pthread_mutex_lock(&given->lock);
    if (given->rows.count >= LP_GIVEN_KEPT)
        given->more++;
    else if ((status = lp_vector_push(&given->rows, *row)) == 0)
        status = 1;
    pthread_mutex_unlock(&given->lock);
    return status;
}

int lp_given_add(struct lp_given *given, const llmperf_input *input)
{
    llmperf_input row = LLMPERF_INPUT_INIT;
    int status;

    if (!input->path && !input->name)
        return lp_error(LLMPERF_EINVAL, "an input needs a path or a name");
    if ((status = copy_row(&row, input)) < 0)
        return status;
    if ((status = keep(given, &row)) <= 0)
        clear_row(&row);
    return status < 0 ? status : 0;
}

/* 0 is "not known" in the API and null in documents. */
static void put_count(struct lp_json *json, const char *key, uint64_t value)
{
    lp_json_count(json, key, value ? value : LLMPERF_UNKNOWN);
}

static void put_row(struct lp_json *json, const llmperf_input *row)
{
    lp_json_open(json, NULL, '{');
    lp_json_string(json, "path", row->path);
    lp_json_string(json, "name", row->name);
    lp_json_string(json, "kind", row->kind);
    put_count(json, "size_bytes", row->size_bytes);
    put_count(json, "width", row->width);
    put_count(json, "height", row->height);
    put_count(json, "tokens", row->tokens);
    lp_json_close(json, '}');
}

int lp_given_json(struct lp_given *given, char **json_out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    *json_out = NULL;
    pthread_mutex_lock(&given->lock);
    if (given->rows.count == 0) {
        pthread_mutex_unlock(&given->lock);
        return 0;
    }
    lp_json_open(&json, NULL, '{');
    lp_json_open(&json, "inputs", '[');
    for (size_t i = 0; i < given->rows.count; i++)
        put_row(&json, &given->rows.items[i]);
    lp_json_close(&json, ']');
    lp_json_count(&json, "not_listed", given->more);
    lp_json_close(&json, '}');
    pthread_mutex_unlock(&given->lock);
    return lp_text_take(&json.text, json_out);
}
