/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/varint.h"
#include "lib/profile/data.h"
#include "lib/profile/totals.h"

#define CALLS_KEPT 8192u /* of all GPUs: 128 steps with 64 collectives */
#define SPANS_MOST 16384u
#define CALLS_MOST 4096u
#define LATE_NS    UINT64_C(500000000) /* records may arrive that much later than newer ones */

static bool is_collective(const struct lp_totals *totals, const struct lp_kernel_total *kernel)
{
    return totals->collective_class != 0 && kernel->kind == LLMPERF_ACTIVITY_KERNEL &&
           kernel->kernel_class == totals->collective_class;
}

static uint64_t end_of(const struct lp_collective_call *call)
{
    return call->start_ns + call->length_ns;
}

static struct lp_collective_device *find_device(struct lp_collectives *collectives, uint16_t device)
{
    for (size_t i = 0; i < collectives->devices.count; i++)
        if (collectives->devices.items[i].device == device)
            return &collectives->devices.items[i];
    return NULL;
}

static int by_start(const void *a, const void *b)
{
    const struct lp_compute_span *first = a, *second = b;

    return LP_ORDER(first->start_ns, second->start_ns);
}

/* Sort the spans and join those that overlap. */
static void join(struct lp_collective_device *device)
{
    struct lp_compute_span *items = device->compute.items;
    size_t kept = 0;

    if (device->compute.count == 0)
        return;
    qsort(items, device->compute.count, sizeof(*items), by_start);
    for (size_t i = 1; i < device->compute.count; i++) {
        if (items[i].start_ns > items[kept].end_ns)
            items[++kept] = items[i];
        else if (items[i].end_ns > items[kept].end_ns)
            items[kept].end_ns = items[i].end_ns;
    }
    device->compute.count = kept + 1;
}

/* The spans are joined. */
static void compare(const struct lp_collective_device *device,
                    const struct lp_collective_call *call, struct lp_overlap *overlap)
{
    const struct lp_compute_span *items = device->compute.items;
    size_t low = 0, high = device->compute.count;

    while (low < high) { /* the first that ends after the call starts */
        size_t middle = low + (high - low) / 2;

        if (items[middle].end_ns <= call->start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    overlap->compared_ns += call->length_ns;
    for (; low < device->compute.count && items[low].start_ns < end_of(call); low++) {
        uint64_t from = items[low].start_ns > call->start_ns ? items[low].start_ns : call->start_ns;
        uint64_t to = items[low].end_ns < end_of(call) ? items[low].end_ns : end_of(call);

        overlap->shared_ns += to - from;
    }
}

/* Settle the calls that ended before `before_ns`, and drop the spans that no call can overlap with
 * any more. */
static void settle(struct lp_totals *totals, struct lp_collective_device *device,
                   uint64_t before_ns)
{
    uint64_t needed_ns = before_ns;
    size_t kept = 0;

    join(device);
    for (size_t i = 0; i < device->calls.count; i++) {
        struct lp_collective_call call = device->calls.items[i];

        if (end_of(&call) <= before_ns) {
            compare(device, &call, &totals->kernels.items[call.kernel].overlap);
            continue;
        }
        needed_ns = call.start_ns < needed_ns ? call.start_ns : needed_ns;
        device->calls.items[kept++] = call;
    }
    device->calls.count = kept;
    kept = 0;
    for (size_t i = 0; i < device->compute.count; i++)
        if (device->compute.items[i].end_ns > needed_ns)
            device->compute.items[kept++] = device->compute.items[i];
    device->compute.count = kept;
}

/* Nothing waits longer than LATE_NS, and less if that is too much to keep. */
static void bound(struct lp_totals *totals, struct lp_collective_device *device)
{
    if (device->compute.count < SPANS_MOST && device->calls.count < CALLS_MOST)
        return;
    settle(totals, device, device->newest_ns > LATE_NS ? device->newest_ns - LATE_NS : 0);
    if (device->compute.count >= SPANS_MOST / 2 || device->calls.count >= CALLS_MOST / 2)
        settle(totals, device, device->newest_ns);
}

static int add_call(struct lp_collectives *collectives, struct lp_collective_device *device,
                    const struct lp_collective_call *call)
{
    if (!collectives->recent &&
        !(collectives->recent = calloc(CALLS_KEPT, sizeof(*collectives->recent))))
        return lp_out_of_memory();
    collectives->recent[collectives->count++ % CALLS_KEPT] = *call;
    return lp_vector_push(&device->calls, *call);
}

static int add_compute(struct lp_collective_device *device, const struct lp_activity *activity)
{
    struct lp_compute_span span = { activity->start_ns, activity->end_ns };
    struct lp_compute_span *last =
        device->compute.count > 0 ? &device->compute.items[device->compute.count - 1] : NULL;

    if (!last || span.start_ns < last->start_ns || span.start_ns > last->end_ns)
        return lp_vector_push(&device->compute, span);
    last->end_ns = span.end_ns > last->end_ns ? span.end_ns : last->end_ns;
    return 0;
}

/* The kernels before the first collective of a GPU are not kept. */
void lp_collectives_add(struct lp_totals *totals, struct lp_kernel_total *kernel,
                        const struct lp_activity *activity)
{
    struct lp_collectives *collectives = &totals->collectives;
    bool is_call = is_collective(totals, kernel);
    uint64_t length_ns = activity->end_ns - activity->start_ns;
    struct lp_collective_call call = { activity->start_ns,
                                       length_ns < UINT32_MAX ? (uint32_t)length_ns : UINT32_MAX,
                                       (uint32_t)(kernel - totals->kernels.items) };
    struct lp_collective_device *device;
    int status = 0;

    if ((!is_call && collectives->devices.count == 0) || kernel->kind != LLMPERF_ACTIVITY_KERNEL)
        return;
    device = find_device(collectives, activity->device);
    if (!device && is_call) {
        status = lp_vector_push(&collectives->devices,
                                (struct lp_collective_device){ .device = activity->device });
        device = status < 0 ? NULL : &collectives->devices.items[collectives->devices.count - 1];
    }
    if (device) {
        if (activity->end_ns > device->newest_ns)
            device->newest_ns = activity->end_ns;
        status = is_call ? add_call(collectives, device, &call) : add_compute(device, activity);
        bound(totals, device);
    }
    totals->failed |= status < 0;
}

/* Rows */

static int by_kernel(const void *a, const void *b)
{
    const struct lp_collective_call *first = a, *second = b;

    if (first->kernel != second->kernel)
        return first->kernel < second->kernel ? -1 : 1;
    return LP_ORDER(first->start_ns, second->start_ns);
}

static int encode(const struct lp_collective_call *calls, size_t count, struct lp_text *text)
{
    uint64_t before_ns = 0;

    text->length = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[2 * LP_VARINT_BYTES], *end = bytes;

        end = lp_varint_put(end, calls[i].start_ns - before_ns);
        end = lp_varint_put(end, calls[i].length_ns);
        lp_text_add(text, (const char *)bytes, (size_t)(end - bytes));
        before_ns = calls[i].start_ns;
    }
    return text->failed ? lp_out_of_memory() : 0;
}

int lp_calls_next(const char *bytes, size_t size, struct lp_calls_position *position,
                  struct lp_compute_span *call_out)
{
    struct lp_varint_reader reader = { NULL, NULL, false };
    uint64_t length_ns;

    if (position->offset >= size)
        return 0;
    reader.at = (const uint8_t *)bytes + position->offset;
    reader.end = (const uint8_t *)bytes + size;
    position->start_ns += lp_varint_get(&reader);
    length_ns = lp_varint_get(&reader);
    if (reader.failed || length_ns > UINT32_MAX)
        return LLMPERF_EFORMAT;
    position->offset = size - (size_t)(reader.end - reader.at);
    *call_out = (struct lp_compute_span){ position->start_ns, position->start_ns + length_ns };
    return 1;
}

static int add_row(const struct lp_kernel_total *total, const llmperf_kernel_stats *kernel,
                   const struct lp_overlap *pending, uint32_t process_id,
                   const struct lp_text *calls, llmperf_profile *profile)
{
    struct lp_collective_row row = {
        .stats = { .name = kernel->name,
                   .region = kernel->region,
                   .captured_in = kernel->captured_in,
                   .process_id = process_id,
                   .device = kernel->device,
                   .calls = kernel->calls,
                   .total_ms = kernel->total_ms,
                   .min_ms = kernel->min_ms,
                   .compared_ms = lp_to_ms(total->overlap.compared_ns + pending->compared_ns),
                   .shared_ms = lp_to_ms(total->overlap.shared_ns + pending->shared_ns) },
        .calls = { NULL, calls->length },
    };

    if (calls->length > 0 &&
        !(row.calls.bytes = lp_strings_add_bytes(&profile->pool, calls->bytes, calls->length)))
        return lp_out_of_memory();
    return lp_vector_push(&profile->collectives, row);
}

/* The calls are sorted by kernel. */
static int add_rows(const struct lp_totals *totals, const struct lp_collective_call *calls,
                    size_t count, const struct lp_overlap *pending, uint32_t process_id,
                    llmperf_profile *profile)
{
    struct lp_text text = { NULL, 0, 0, false };
    size_t first = 0;
    int status = 0;

    for (size_t i = 0; i < totals->kernels.count && status == 0; i++) {
        size_t next = first;

        if (!is_collective(totals, &totals->kernels.items[i]))
            continue;
        while (next < count && calls[next].kernel == i)
            next++;
        if ((status = encode(calls + first, next - first, &text)) == 0)
            status = add_row(&totals->kernels.items[i], &profile->kernels.items[i].stats,
                             &pending[i], process_id, &text, profile);
        first = next;
    }
    lp_text_clear(&text);
    return status;
}

int lp_collectives_freeze(const struct lp_totals *totals, uint32_t process_id,
                          llmperf_profile *profile)
{
    const struct lp_collectives *collectives = &totals->collectives;
    size_t count = collectives->count < CALLS_KEPT ? (size_t)collectives->count : CALLS_KEPT;
    struct lp_collective_call *calls;
    struct lp_overlap *pending;
    int status;

    if (count == 0)
        return 0;
    calls = malloc(count * sizeof(*calls));
    pending = calloc(totals->kernels.count, sizeof(*pending));
    if (!calls || !pending) {
        status = lp_out_of_memory();
    } else {
        memcpy(calls, collectives->recent, count * sizeof(*calls));
        qsort(calls, count, sizeof(*calls), by_kernel);
        for (size_t i = 0; i < collectives->devices.count; i++) {
            struct lp_collective_device *device = &collectives->devices.items[i];

            join(device);
            for (size_t k = 0; k < device->calls.count; k++)
                compare(device, &device->calls.items[k], &pending[device->calls.items[k].kernel]);
        }
        status = add_rows(totals, calls, count, pending, process_id, profile);
    }
    free(calls);
    free(pending);
    return status;
}

void lp_collectives_clear(struct lp_collectives *collectives)
{
    for (size_t i = 0; i < collectives->devices.count; i++) {
        lp_vector_clear(&collectives->devices.items[i].compute);
        lp_vector_clear(&collectives->devices.items[i].calls);
    }
    lp_vector_clear(&collectives->devices);
    free(collectives->recent);
}
