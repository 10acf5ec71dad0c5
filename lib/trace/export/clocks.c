/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/export/clocks.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/trace/trace.h"

/* NTP may move the time of day between two starts; the clocks then still count as one if they
 * differ by less. */
#define SAME_CLOCK_NS INT64_C(1000000000)

static int copy_text(const json_t *object, const char *key, char **copy)
{
    const char *text = json_string_value(json_object_get(object, key));

    *copy = text ? lp_text_copy(text) : NULL;
    return text && !*copy ? lp_out_of_memory() : 0;
}

int lp_trace_clocks_add(struct lp_trace_clocks *clocks, const char *env, uint64_t start_ns,
                        uint64_t start_utc_ns)
{
    struct lp_trace_clock clock = { .timed = start_ns != 0 && start_utc_ns != 0 };
    json_t *root = env ? json_loads(env, 0, NULL) : NULL;
    const json_t *host = json_object_get(root, "host");
    int status = copy_text(host, "boot_id", &clock.boot);

    if (status == 0)
        status = copy_text(host, "hostname", &clock.host);
    json_decref(root);
    clock.since_1970_ns = (int64_t)(start_utc_ns - start_ns);
    if (status == 0)
        status = lp_vector_push(&clocks->items, clock);
    if (status < 0) {
        free(clock.boot);
        free(clock.host);
    }
    return status;
}

static bool is_same(const struct lp_trace_clock *a, const struct lp_trace_clock *b)
{
    int64_t apart = a->since_1970_ns - b->since_1970_ns;

    if (a->boot && b->boot)
        return strcmp(a->boot, b->boot) == 0;
    if (a->host && b->host && strcmp(a->host, b->host) != 0)
        return false;
    return apart < SAME_CLOCK_NS && apart > -SAME_CLOCK_NS;
}

/* The first recording of a clock decides for all its recordings, which keeps their relative
 * times. */
static void find_groups(struct lp_trace_clocks *clocks)
{
    for (size_t i = 0; i < clocks->items.count; i++) {
        struct lp_trace_clock *clock = &clocks->items.items[i];

        clock->group = (uint32_t)i;
        for (size_t j = 0; j < i && clock->timed && clock->group == i; j++) {
            const struct lp_trace_clock *other = &clocks->items.items[j];

            if (other->timed && other->group == j && is_same(clock, other))
                clock->group = (uint32_t)j;
        }
        clocks->count += clock->timed && clock->group == i;
        clocks->untimed += !clock->timed;
    }
    if (clocks->untimed == clocks->items.count)
        clocks->untimed = 0;
}

void lp_trace_clocks_settle(struct lp_trace_clocks *clocks)
{
    int64_t least = INT64_MAX;

    find_groups(clocks);
    for (size_t i = 0; i < clocks->items.count; i++) {
        const struct lp_trace_clock *clock = &clocks->items.items[i];

        if (clock->timed && clock->group == i && clock->since_1970_ns < least)
            least = clock->since_1970_ns;
    }
    for (size_t i = 0; i < clocks->items.count; i++) {
        struct lp_trace_clock *clock = &clocks->items.items[i];
        uint64_t apart = (uint64_t)(clocks->items.items[clock->group].since_1970_ns - least);

        clock->shift_ns = clock->timed ? apart - apart % LP_TRACE_SHIFT_STEP : 0;
    }
}

void lp_trace_clocks_clear(struct lp_trace_clocks *clocks)
{
    for (size_t i = 0; i < clocks->items.count; i++) {
        free(clocks->items.items[i].boot);
        free(clocks->items.items[i].host);
    }
    lp_vector_clear(&clocks->items);
}
