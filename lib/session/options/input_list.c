/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session/options/input_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/config/image_size.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/format/json_writer.h"

void lp_input_list_init(struct lp_input_list *list)
{
    *list = (struct lp_input_list){ .more = 0 };
    pthread_mutex_init(&list->lock, NULL);
}

static void clear_row(llmperf_input *row)
{
    free((char *)row->path);
    free((char *)row->name);
    free((char *)row->kind);
}

void lp_input_list_clear(struct lp_input_list *list)
{
    for (size_t i = 0; i < list->rows.count; i++)
        clear_row(&list->rows.items[i]);
    lp_vector_clear(&list->rows);
    pthread_mutex_destroy(&list->lock);
}

/* The file may not exist here: its name may be of a container or another machine. */
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
        return lp_out_of_memory();
    }
    if (!row->path || stat(row->path, &info) < 0 || !S_ISREG(info.st_mode))
        return 0;
    if (row->size_bytes == 0)
        row->size_bytes = (uint64_t)info.st_size;
    if (row->width == 0 && row->height == 0)
        lp_image_size(row->path, &row->width, &row->height);
    return 0;
}

/* 1: stored; 0: only counted; LLMPERF_ENOMEM. */
static int keep(struct lp_input_list *list, const llmperf_input *row)
{
    int status = 0;

    pthread_mutex_lock(&list->lock);
    if (list->rows.count >= LP_INPUTS_KEPT)
        list->more++;
    else if ((status = lp_vector_push(&list->rows, *row)) == 0)
        status = 1;
    pthread_mutex_unlock(&list->lock);
    return status;
}

int lp_input_list_add(struct lp_input_list *list, const llmperf_input *input)
{
    llmperf_input row = LLMPERF_INPUT_INIT;
    int status;

    if (!input->path && !input->name)
        return lp_error(LLMPERF_EINVAL, "an input needs a path or a name");
    if ((status = copy_row(&row, input)) < 0)
        return status;
    if ((status = keep(list, &row)) <= 0)
        clear_row(&row);
    return status < 0 ? status : 0;
}

/* 0 means not known in the API, null in documents. */
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

int lp_input_list_json(struct lp_input_list *list, char **json_out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    *json_out = NULL;
    pthread_mutex_lock(&list->lock);
    if (list->rows.count == 0) {
        pthread_mutex_unlock(&list->lock);
        return 0;
    }
    lp_json_open(&json, NULL, '{');
    lp_json_open(&json, "inputs", '[');
    for (size_t i = 0; i < list->rows.count; i++)
        put_row(&json, &list->rows.items[i]);
    lp_json_close(&json, ']');
    lp_json_count(&json, "not_listed", list->more);
    lp_json_close(&json, '}');
    pthread_mutex_unlock(&list->lock);
    return lp_text_take(&json.text, json_out);
}
