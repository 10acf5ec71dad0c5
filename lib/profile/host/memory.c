/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/host/memory.h"

#include <stdlib.h>

#define STAGE_BEGIN 8 /* after the steps of enum lp_memory_step */
#define STAGE_END   9

#define NO_DEVICE LP_MEMORY_DEVICES

/* Above it the older half is worked off, although earlier ones may still come. */
#define EVENTS_MOST 65536u

static void add_event(struct lp_memory *memory, const struct lp_memory_event *event)
{
    struct lp_memory_event copy = *event;
    size_t count;

    if (memory->events.count >= EVENTS_MOST)
        lp_memory_settle(memory, 0);
    count = memory->events.count;
    copy.order = (uint32_t)count;
    memory->unsorted |= count > 0 && memory->events.items[count - 1].time_ns > event->time_ns;
    if (lp_vector_push(&memory->events, copy) < 0)
        memory->failed = true;
}

/* NULL without memory. */
static struct lp_memory_pending *pending_of(struct lp_memory *memory, uint32_t thread)
{
    struct lp_memory_pending *pending = lp_vector_at(&memory->pending, thread);

    memory->failed |= !pending;
    return pending;
}

void lp_memory_record(struct lp_memory *memory, uint32_t thread, const struct lp_record *record)
{
    struct lp_memory_event event = { .time_ns = record->time_ns,
                                     .address = record->value,
                                     .node = record->node,
                                     .detail = record->detail,
                                     .kind = LP_MEMORY_STEP(record->detail) };
    struct lp_memory_pending *pending = pending_of(memory, thread);

    if (!pending)
        return;
    if (event.kind == LP_MEMORY_BYTES || event.kind == LP_MEMORY_POOL ||
        event.kind == LP_MEMORY_POOL_RESERVED) {
        pending->values[event.kind] = record->value;
        return;
    }
    event.bytes = pending->values[LP_MEMORY_BYTES];
    if (event.kind == LP_MEMORY_POOL_USED) {
        event.address = pending->values[LP_MEMORY_POOL];
        event.bytes = pending->values[LP_MEMORY_POOL_RESERVED];
        event.used = record->value;
    }
    *pending = (struct lp_memory_pending){ { 0 } };
    /* Without its size: the record before was lost. */
    if (event.bytes > 0 || event.kind == LP_MEMORY_FREED || event.kind == LP_MEMORY_RETAINED)
        add_event(memory, &event);
}

void lp_memory_begin(struct lp_memory *memory, uint32_t unit, uint32_t node, uint64_t time_ns)
{
    add_event(memory, &(struct lp_memory_event){
                          .time_ns = time_ns, .node = node, .unit = unit, .kind = STAGE_BEGIN });
}

void lp_memory_end(struct lp_memory *memory, uint32_t unit, uint32_t node, uint64_t time_ns,
                   uint64_t context_tokens)
{
    add_event(memory, &(struct lp_memory_event){ .time_ns = time_ns,
                                                 .bytes = context_tokens,
                                                 .node = node,
                                                 .unit = unit,
                                                 .kind = STAGE_END });
}

static size_t find_device(struct lp_memory *memory, uint16_t device)
{
    size_t i = 0;

    while (i < memory->device_count && memory->devices[i].device != device)
        i++;
    if (i == memory->device_count && i < LP_MEMORY_DEVICES)
        memory->devices[memory->device_count++] = (struct lp_memory_device){ .device = device };
    return i;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint32_t find_row(struct lp_memory *memory, uint32_t node, size_t device)
{
    uint32_t row = lp_hashmap_get(&memory->row_index, node, device);
    struct lp_memory_total fresh = { .node = node, .device = (uint8_t)device };

    if (row != LP_HASHMAP_NONE)
        return row;
    row = (uint32_t)memory->rows.count;
    if (lp_vector_push(&memory->rows, fresh) == 0 &&
        lp_hashmap_put(&memory->row_index, node, device, row) == 0)
        return row;
    memory->failed = true;
    return LP_HASHMAP_NONE;
}

/* Points in one interval become one. */
static void halve_levels(struct lp_memory_device *device)
{
    struct lp_memory_level *items = device->levels.items;
    size_t kept = 0;

    device->interval_ns = device->interval_ns ? device->interval_ns * 2 : 1000;
    for (size_t i = 1; i < device->levels.count; i++)
        if (items[i].time_ns - items[kept].time_ns >= device->interval_ns)
            items[++kept] = items[i];
        else
            items[kept].bytes = larger(items[kept].bytes, items[i].bytes);
    device->levels.count = kept + 1;
}

static void note_level(struct lp_memory *memory, struct lp_memory_device *device, uint64_t time_ns)
{
    struct lp_memory_level *last =
        device->levels.count ? &device->levels.items[device->levels.count - 1] : NULL;
    struct lp_memory_level level = { last && last->time_ns > time_ns ? last->time_ns : time_ns,
                                     device->live_bytes };

    if (device->live_bytes > device->peak_bytes) {
        device->peak_bytes = device->live_bytes;
        device->peak_ns = time_ns;
    }
    if (last && level.time_ns - last->time_ns < device->interval_ns) {
        last->bytes = larger(last->bytes, level.bytes);
        return;
    }
    if (lp_vector_push(&device->levels, level) < 0)
        memory->failed = true;
    while (device->levels.count >= LP_MEMORY_LEVELS)
        halve_levels(device);
}

/* All allocations that are live, so that keys of freed ones do not pile up. */
static void renew_index(struct lp_memory *memory)
{
    size_t live = memory->allocations.count - memory->vacant.count;

    if (memory->index.count < 2 * live + 1024)
        return;
    lp_hashmap_reset(&memory->index);
    for (size_t i = 0; i < memory->allocations.count; i++) {
        const struct lp_allocation *allocation = &memory->allocations.items[i];

        if (allocation->live &&
            lp_hashmap_put(&memory->index, allocation->address, allocation->space, (uint32_t)i) < 0)
            memory->failed = true;
    }
}

/* NULL: none is live there. */
static struct lp_allocation *find_live(const struct lp_memory *memory, uint64_t address,
                                       uint8_t space)
{
    uint32_t at = lp_hashmap_get(&memory->index, address, space);
    struct lp_allocation *found = at == LP_HASHMAP_NONE ? NULL : &memory->allocations.items[at];

    return found && found->live && found->address == address && found->space == space ? found
                                                                                      : NULL;
}

static void forget(struct lp_memory *memory, struct lp_allocation *allocation)
{
    struct lp_memory_total *row = &memory->rows.items[allocation->row];

    allocation->live = false;
    row->live_bytes -= allocation->bytes;
    memory->devices[row->device].live_bytes -= allocation->bytes;
    if (lp_vector_push(&memory->vacant, (uint32_t)(allocation - memory->allocations.items)) < 0)
        memory->failed = true;
}

static bool follow(struct lp_memory *memory, const struct lp_allocation *allocation)
{
    size_t at = memory->allocations.count;

    if (memory->vacant.count > 0) {
        at = memory->vacant.items[--memory->vacant.count];
        memory->allocations.items[at] = *allocation;
    } else if (at >= LP_MEMORY_LIVE) {
        memory->over_limit++;
        return false;
    } else if (lp_vector_push(&memory->allocations, *allocation) < 0) {
        memory->failed = true;
        return false;
    }
    renew_index(memory);
    if (lp_hashmap_put(&memory->index, allocation->address, allocation->space, (uint32_t)at) < 0)
        memory->failed = true;
    return true;
}

static void raise_stages(struct lp_memory *memory, size_t device)
{
    for (size_t i = 0; i < memory->open.count; i++)
        memory->open.items[i].peak_bytes[device] =
            larger(memory->open.items[i].peak_bytes[device], memory->devices[device].live_bytes);
}

static void allocate(struct lp_memory *memory, const struct lp_memory_event *event)
{
    size_t device = find_device(memory, LP_MEMORY_DEVICE(event->detail));
    struct lp_allocation fresh = { .address = event->address,
                                   .bytes = event->bytes,
                                   .time_ns = event->time_ns,
                                   .space = LP_MEMORY_SPACE(event->detail),
                                   .live = true };
    struct lp_allocation *before = find_live(memory, fresh.address, fresh.space);
    struct lp_memory_total *row;

    if (device == NO_DEVICE) {
        memory->over_limit++;
        return;
    }
    if ((fresh.row = find_row(memory, event->node, device)) == LP_HASHMAP_NONE)
        return;
    row = &memory->rows.items[fresh.row];
    row->allocations++;
    row->allocated_bytes += event->bytes;
    row->largest_bytes = larger(row->largest_bytes, event->bytes);
    if (before) { /* its end was not seen */
        row->unmatched++;
        forget(memory, before);
    }
    if (!follow(memory, &fresh))
        return;
    row->live_bytes += event->bytes;
    row->held_bytes = larger(row->held_bytes, row->live_bytes);
    memory->devices[device].live_bytes += event->bytes;
    note_level(memory, &memory->devices[device], event->time_ns);
    raise_stages(memory, device);
}

static void retain(const struct lp_memory *memory, const struct lp_memory_event *event)
{
    struct lp_allocation *allocation =
        find_live(memory, event->address, LP_MEMORY_SPACE(event->detail));

    if (allocation)
        allocation->more++;
}

/* Of memory from before the session or of another process, or freed already: nothing is
 * subtracted. */
static void release(struct lp_memory *memory, const struct lp_memory_event *event)
{
    struct lp_allocation *allocation =
        find_live(memory, event->address, LP_MEMORY_SPACE(event->detail));
    size_t device = allocation ? memory->rows.items[allocation->row].device
                               : find_device(memory, LP_MEMORY_DEVICE(event->detail));
    uint32_t at = device == NO_DEVICE ? LP_HASHMAP_NONE : find_row(memory, event->node, device);

    if (at == LP_HASHMAP_NONE)
        return;
    if (allocation && allocation->more > 0) {
        allocation->more--;
        return;
    }
    memory->rows.items[at].frees++;
    if (!allocation) {
        memory->rows.items[at].unmatched++;
        return;
    }
    memory->rows.items[at].freed_bytes += allocation->bytes;
    forget(memory, allocation);
    note_level(memory, &memory->devices[device], event->time_ns);
}

static void note_pool(struct lp_memory *memory, const struct lp_memory_event *event)
{
    struct lp_memory_pool pool = { event->address, event->bytes, event->used,
                                   find_device(memory, LP_MEMORY_DEVICE(event->detail)) };
    uint64_t reserved = 0, used = 0;
    size_t at = 0;

    while (at < memory->pools.count && memory->pools.items[at].handle != pool.handle)
        at++;
    if (at < memory->pools.count)
        memory->pools.items[at] = pool;
    else if (lp_vector_push(&memory->pools, pool) < 0)
        memory->failed = true;
    for (size_t i = 0; i < memory->pools.count; i++)
        if (memory->pools.items[i].device == pool.device) {
            reserved += memory->pools.items[i].reserved_bytes;
            used += memory->pools.items[i].used_bytes;
        }
    if (pool.device == NO_DEVICE)
        return;
    memory->devices[pool.device].reserved_bytes =
        larger(memory->devices[pool.device].reserved_bytes, reserved);
    memory->devices[pool.device].used_bytes = larger(memory->devices[pool.device].used_bytes, used);
}

static void begin_stage(struct lp_memory *memory, const struct lp_memory_event *event)
{
    struct lp_memory_stage stage = { .unit = event->unit, .node = event->node };

    if (memory->first_stage_ns == 0)
        memory->first_stage_ns = event->time_ns;
    for (size_t i = 0; i < memory->device_count; i++)
        stage.peak_bytes[i] = memory->devices[i].live_bytes;
    if (lp_vector_push(&memory->open, stage) < 0)
        memory->failed = true;
}

static void end_stage(struct lp_memory *memory, const struct lp_memory_event *event)
{
    size_t at = memory->open.count;

    while (at > 0 && memory->open.items[at - 1].unit != event->unit)
        at--;
    if (at == 0)
        return;
    for (size_t i = 0; i < memory->device_count; i++) {
        const struct lp_memory_stage *stage = &memory->open.items[at - 1];
        uint32_t row = find_row(memory, stage->node, i);
        struct lp_memory_total *total = row == LP_HASHMAP_NONE ? NULL : &memory->rows.items[row];

        if (!total)
            continue;
        total->peak_bytes = larger(total->peak_bytes, stage->peak_bytes[i]);
        total->context_tokens = larger(total->context_tokens, event->bytes);
        total->has_peak = true;
    }
    memory->open.items[at - 1] = memory->open.items[--memory->open.count];
}

static int compare_events(const void *left, const void *right)
{
    const struct lp_memory_event *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return LP_ORDER(a->order, b->order);
}

void lp_memory_settle(struct lp_memory *memory, uint64_t until_ns)
{
    struct lp_memory_event *events = memory->events.items;
    size_t done = 0, left = memory->events.count;

    if (memory->unsorted)
        qsort(events, left, sizeof(*events), compare_events);
    memory->unsorted = false;
    if (left >= EVENTS_MOST && until_ns < events[left / 2].time_ns)
        until_ns = events[left / 2].time_ns;
    for (; done < left && events[done].time_ns <= until_ns; done++)
        switch (events[done].kind) {
        case LP_MEMORY_ALLOCATED:
            allocate(memory, &events[done]);
            break;
        case LP_MEMORY_FREED:
            release(memory, &events[done]);
            break;
        case LP_MEMORY_RETAINED:
            retain(memory, &events[done]);
            break;
        case LP_MEMORY_POOL_USED:
            note_pool(memory, &events[done]);
            break;
        case STAGE_BEGIN:
            begin_stage(memory, &events[done]);
            break;
        default:
            end_stage(memory, &events[done]);
        }
    memory->events.count = left - done;
    for (size_t i = 0; i < memory->events.count; i++) {
        events[i] = events[done + i];
        events[i].order = (uint32_t)i;
    }
}

uint64_t lp_memory_kept(const struct lp_memory *memory, size_t device)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < memory->allocations.count; i++) {
        const struct lp_allocation *allocation = &memory->allocations.items[i];

        if (allocation->live && memory->rows.items[allocation->row].device == device &&
            allocation->time_ns < memory->first_stage_ns)
            sum += allocation->bytes;
    }
    return sum;
}

void lp_memory_clear(struct lp_memory *memory)
{
    for (size_t i = 0; i < memory->device_count; i++)
        lp_vector_clear(&memory->devices[i].levels);
    lp_vector_clear(&memory->events);
    lp_vector_clear(&memory->pending);
    lp_vector_clear(&memory->pools);
    lp_vector_clear(&memory->allocations);
    lp_vector_clear(&memory->vacant);
    lp_hashmap_clear(&memory->index);
    lp_vector_clear(&memory->rows);
    lp_hashmap_clear(&memory->row_index);
    lp_vector_clear(&memory->open);
}
