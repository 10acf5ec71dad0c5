/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merge_kept.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/profile.h"

/* The first of several ids is that of the only process that was kept. */
static uint32_t process_of(const json_t *call, const struct lp_kept_from *from)
{
    const json_t *known = json_object_get(call, "process_id");

    if (json_is_integer(known))
        return (uint32_t)json_integer_value(known);
    return from->process_id ? (uint32_t)strtoul(from->process_id, NULL, 10) : 0;
}

static int add_call(struct lp_text *text, json_t *call, const struct lp_kept_from *from)
{
    uint32_t process = process_of(call, from);
    int status =
        from->processes ? lp_merged_process(from->processes, from->part, process, &process) : 0;
    char *dumped;

    json_object_set_new(call, "process_id", json_integer(process));
    if (from->clock && !json_object_get(call, "clock"))
        json_object_set_new(call, "clock", json_string(from->clock));
    dumped = json_dumps(call, JSON_COMPACT);
    lp_text_printf(text, "%s%s", text->length > 1 ? "," : "", dumped ? dumped : "null");
    free(dumped);
    return status;
}

/* Those of earlier parts, without the bracket at the end. Returns how many. */
static size_t put_earlier(struct lp_text *text, const char *list)
{
    size_t count = 0, length = list ? strlen(list) : 0;

    lp_text_add(text, length ? list : "[", length ? length - 1 : 1);
    for (const char *at = list; at && (at = strstr(at, "\"begin_ns\"")); at++)
        count++;
    return count;
}

int lp_merge_kept(llmperf_profile *out, const char *key, const char *value,
                  const struct lp_kept_from *from)
{
    json_t *read = json_loads(value, 0, NULL), *calls = read;
    struct lp_text text = { 0 };
    size_t kept = put_earlier(&text, llmperf_profile_fact(out, key));
    int status = 0;

    if (json_is_object(read)) {
        calls = json_array();
        json_array_append_new(calls, read);
    }
    for (size_t i = 0; i < json_array_size(calls) && status == 0; i++)
        if (kept + i < LP_KEPT_PROCESSES && json_is_object(json_array_get(calls, i)))
            status = add_call(&text, json_array_get(calls, i), from);
    json_decref(calls);
    lp_text_puts(&text, "]");
    if (status == 0)
        status = text.failed ? lp_out_of_memory() : lp_profile_set_fact(out, key, text.bytes);
    lp_text_clear(&text);
    return status;
}
