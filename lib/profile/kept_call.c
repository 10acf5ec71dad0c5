/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/kept_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"

int lp_kept_call_add(struct lp_kept_call *call, const struct lp_activity *activity,
                     uint8_t kernel_class)
{
    struct lp_kept_event event = {
        .start_ns = activity->start_ns,
        .length_ns = activity->end_ns - activity->start_ns,
        .name = activity->name,
        .node = activity->captured != LP_PATH_UNKNOWN ? activity->captured : activity->node,
        .stream = activity->stream,
        .device = activity->device,
        .kernel_class = kernel_class,
    };

    call->total++;
    return call->events.count < LP_KEPT_EVENTS ? lp_vector_push(&call->events, event) : 0;
}

static int compare_starts(const void *left, const void *right)
{
    const struct lp_kept_event *a = left, *b = right;

    return LP_ORDER(a->start_ns, b->start_ns);
}

/* A list of different texts, in the order in which they come first. */
struct list {
    struct lp_hashmap numbers; /* by key */
    struct lp_text text;
    uint32_t count;
    bool failed;
};

/* Number of a key in a list; a new one becomes the last, and its text is to be added. */
static uint32_t number_of(struct list *list, uint64_t key, bool *new_out)
{
    uint32_t number = lp_hashmap_get(&list->numbers, key, 0);

    *new_out = number == LP_HASHMAP_NONE;
    if (!*new_out)
        return number;
    list->failed |= lp_hashmap_put(&list->numbers, key, 0, list->count) < 0;
    lp_text_puts(&list->text, list->count > 0 ? "," : "");
    return list->count++;
}

static uint32_t name_number(struct list *list, const struct lp_names *names, uint32_t name)
{
    struct lp_text plain = { 0 };
    bool is_new;
    uint32_t number = number_of(list, name, &is_new);

    if (is_new) {
        lp_kernel_short_name(&plain, lp_names_text(names, name));
        list->failed |= plain.failed;
        lp_text_json(&list->text, list->failed ? "" : plain.bytes);
    }
    lp_text_clear(&plain);
    return number;
}

static uint32_t region_number(struct list *list, uint32_t node)
{
    struct lp_text path = { 0 };
    bool is_new;
    uint32_t number = number_of(list, node, &is_new);

    if (is_new) {
        if (node != LP_PATH_UNKNOWN)
            lp_path_print(&path, node);
        list->failed |= path.failed;
        lp_text_json(&list->text, path.bytes ? path.bytes : "");
    }
    lp_text_clear(&path);
    return number;
}

static uint32_t stream_number(struct list *list, const struct lp_kept_event *event)
{
    bool is_new;
    uint32_t number = number_of(list, (uint64_t)event->device << 32 | event->stream, &is_new);

    if (is_new)
        lp_text_printf(&list->text, "\"GPU %u, stream %" PRIu32 "\"", (unsigned)event->device,
                       event->stream);
    return number;
}

static uint32_t class_number(struct list *list, const struct lp_classifier *classifier,
                             uint8_t kernel_class)
{
    bool is_new;
    uint32_t number = number_of(list, kernel_class, &is_new);
    const char *name =
        classifier->name ? classifier->name(classifier->context, kernel_class) : NULL;

    if (is_new)
        lp_text_json(&list->text, name ? name : "other");
    return number;
}

enum { NAMES, REGIONS, STREAMS, CLASSES, LISTS };

static void add_event(struct lp_text *out, const struct lp_kept_call *call,
                      const struct lp_kept_event *event, struct list lists[LISTS],
                      const struct lp_names *names, const struct lp_classifier *classifier)
{
    int64_t start = (int64_t)(event->start_ns - call->begin_ns);

    lp_text_printf(out, "[%" PRId64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
                   start, event->length_ns, stream_number(&lists[STREAMS], event),
                   name_number(&lists[NAMES], names, event->name),
                   region_number(&lists[REGIONS], event->node),
                   class_number(&lists[CLASSES], classifier, event->kernel_class));
}

/* NULL: out of memory. */
static char *make_text(struct lp_kept_call *call, const struct lp_names *names,
                       const struct lp_classifier *classifier)
{
    static const char *const keys[LISTS] = { "names", "regions", "streams", "classes" };
    struct list lists[LISTS] = { 0 };
    struct lp_text out = { 0 };
    bool failed = false;

    lp_vector_sort(&call->events, compare_starts);
    lp_text_printf(&out,
                   "{\"begin_ns\":%" PRIu64 ",\"sequence\":%" PRIu64 ",\"events_total\":%" PRIu64
                   ",\"events\":[",
                   call->begin_ns, call->sequence, call->total);
    for (size_t i = 0; i < call->events.count; i++) {
        lp_text_puts(&out, i > 0 ? "," : "");
        add_event(&out, call, &call->events.items[i], lists, names, classifier);
    }
    lp_text_puts(&out, "]");
    for (size_t i = 0; i < LISTS; i++) {
        failed |= lists[i].failed || lists[i].text.failed;
        lp_text_printf(&out, ",\"%s\":[%s]", keys[i],
                       lists[i].text.bytes ? lists[i].text.bytes : "");
        lp_text_clear(&lists[i].text);
        lp_hashmap_clear(&lists[i].numbers);
    }
    lp_text_puts(&out, "}");
    if (failed || out.failed)
        lp_text_clear(&out);
    return out.bytes;
}

/* NULL: the call has no long gap, or out of memory. */
static char *make_gap_text(const struct lp_kept_call *call, const struct lp_names *names)
{
    uint64_t frontier_ns = 0, longest_ns = 0;
    const struct lp_kept_event *next = NULL;
    struct lp_text out = { 0 }, full = { 0 };

    for (size_t i = 0; i < call->events.count; i++) {
        const struct lp_kept_event *event = &call->events.items[i];
        uint64_t end_ns = event->start_ns + event->length_ns;

        if (i > 0 && event->start_ns > frontier_ns && event->start_ns - frontier_ns > longest_ns) {
            longest_ns = event->start_ns - frontier_ns;
            next = event;
        }
        frontier_ns = end_ns > frontier_ns ? end_ns : frontier_ns;
    }
    if (longest_ns < LP_HOST_GAP_NS)
        return NULL;
    lp_text_printf(&out, "%s ms before ", LP_NUMBER((double)longest_ns / 1e6, 3));
    lp_kernel_demangle(&full, lp_names_text(names, next->name));
    lp_kernel_shorten(&out, full.failed ? "" : full.bytes);
    if (next->node != LP_PATH_UNKNOWN && next->node != LP_PATH_ROOT) {
        lp_text_puts(&out, " in ");
        lp_path_print(&out, next->node);
    }
    lp_text_clear(&full);
    return out.bytes;
}

static int set_fact(llmperf_profile *profile, const char *prefix, const char *path,
                    const char *value)
{
    struct lp_text key = { 0 };
    int status;

    lp_text_printf(&key, "%s%s", prefix, path);
    status = key.failed ? lp_out_of_memory() : lp_profile_set_fact(profile, key.bytes, value);
    lp_text_clear(&key);
    return status;
}

int lp_kept_call_freeze(struct lp_kept_call *call, const char *path, const struct lp_names *names,
                        const struct lp_classifier *classifier, llmperf_profile *profile)
{
    int status;

    if (call->events.count == 0)
        return 0;
    if (!call->text) {
        call->text = make_text(call, names, classifier);
        call->gap = make_gap_text(call, names);
    }
    if (!call->text)
        return lp_out_of_memory();
    status = set_fact(profile, LP_KEPT_CALL_FACT, path, call->text);
    return status < 0 || !call->gap ? status : set_fact(profile, LP_KEPT_GAP_FACT, path, call->gap);
}

void lp_kept_call_clear(struct lp_kept_call *call)
{
    lp_vector_clear(&call->events);
    free(call->text);
    free(call->gap);
    *call = (struct lp_kept_call){ 0 };
}
