/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/status.h"
#include "lib/sources/fake/device.h"
#include "llmperf/profile.h"

#define FAR_FUTURE_NS UINT64_C(315360000000000000) /* ten years */
#define HUGE_NS       UINT64_C(172800000000000)    /* two days */
#define JUMP_NS       UINT64_C(7200000000000)      /* two hours */
#define SKEW_NS       UINT64_C(1000000000)
#define CLOCK_LIMIT   (UINT64_C(1) << 62)

uint64_t lp_fake_add_time(uint64_t time_ns, uint64_t more_ns)
{
    return more_ns > CLOCK_LIMIT - time_ns ? CLOCK_LIMIT : time_ns + more_ns;
}

void lp_fake_device_init(struct lp_fake_device *device, struct lp_names *names)
{
    *device = (struct lp_fake_device){ .names = names,
                                       .fault_every = 1,
                                       .random = UINT64_C(0x9e3779b97f4a7c15) };
}

void lp_fake_device_clear(struct lp_fake_device *device)
{
    lp_hashmap_clear(&device->streams);
    lp_vector_clear(&device->free_ns);
    lp_vector_clear(&device->activities);
    lp_vector_clear(&device->late);
}

void lp_fake_device_set_fault(struct lp_fake_device *device, const struct lp_fake_op *op)
{
    device->fault = op->choice;
    device->fault_every = op->values[LP_FAKE_EVERY];
    device->fault_seen = 0;
}

bool lp_fake_device_strikes(struct lp_fake_device *device, enum lp_fake_fault fault)
{
    return device->fault == fault && ++device->fault_seen % device->fault_every == 0;
}

/* xorshift64: the same sequence in each run. */
static size_t pick(struct lp_fake_device *device, size_t below)
{
    device->random ^= device->random << 13;
    device->random ^= device->random >> 7;
    device->random ^= device->random << 17;
    return (size_t)(device->random % below);
}

/* End of the stream's last operation; NULL: out of memory. Valid until the next call. */
static uint64_t *find_stream(struct lp_fake_device *device, const struct lp_fake_op *op)
{
    uint64_t key = op->values[LP_FAKE_DEVICE] << 32 | op->values[LP_FAKE_STREAM];
    uint32_t index = lp_hashmap_get(&device->streams, key, op->values[LP_FAKE_CONTEXT]);

    if (index == LP_HASHMAP_NONE) {
        index = (uint32_t)device->free_ns.count;
        if (lp_vector_push(&device->free_ns, 0) < 0 ||
            lp_hashmap_put(&device->streams, key, op->values[LP_FAKE_CONTEXT], index) < 0)
            return NULL;
    }
    return &device->free_ns.items[index];
}

static int add_activity(struct lp_fake_device *device, const struct lp_activity *activity,
                        bool shuffle)
{
    struct lp_activity *items;
    size_t last = device->activities.count, other;

    if (lp_vector_push(&device->activities, *activity) < 0)
        return LLMPERF_ENOMEM;
    items = device->activities.items;
    if (shuffle) {
        other = pick(device, last + 1);
        items[last] = items[other];
        items[other] = *activity;
    }
    return 0;
}

static void reverse_time(struct lp_activity *activity)
{
    uint64_t start_ns = activity->start_ns;

    activity->start_ns = activity->end_ns > start_ns ? activity->end_ns : start_ns + 1;
    activity->end_ns = start_ns;
}

/* Add a device record, with the injected fault if any. */
static int report(struct lp_fake_device *device, struct lp_activity *activity)
{
    bool of_launch =
        device->fault == LP_FAKE_LATE_LAUNCH || device->fault == LP_FAKE_SAME_CORRELATION;
    uint8_t fault =
        !of_launch && lp_fake_device_strikes(device, device->fault) ? device->fault : LP_FAKE_NONE;
    int status = 0;

    switch (fault) {
    case LP_FAKE_DROP:
        return 0;
    case LP_FAKE_LATE:
        return lp_vector_push(&device->late, *activity);
    case LP_FAKE_DUPLICATE:
        status = add_activity(device, activity, false);
        break;
    case LP_FAKE_ZERO_TIME:
        activity->start_ns = activity->end_ns = 0;
        break;
    case LP_FAKE_NO_END:
        activity->end_ns = 0;
        break;
    case LP_FAKE_REVERSED_TIME:
        reverse_time(activity);
        break;
    case LP_FAKE_FAR_FUTURE:
        activity->start_ns += FAR_FUTURE_NS;
        activity->end_ns += FAR_FUTURE_NS;
        break;
    case LP_FAKE_HUGE_DURATION:
        activity->end_ns += HUGE_NS;
        break;
    case LP_FAKE_CLOCK_JUMP:
        activity->start_ns += JUMP_NS;
        activity->end_ns += JUMP_NS;
        break;
    case LP_FAKE_SKEW:
        activity->start_ns -= activity->start_ns > SKEW_NS ? SKEW_NS : 0;
        activity->end_ns -= activity->end_ns > SKEW_NS ? SKEW_NS : 0;
        break;
    case LP_FAKE_NO_CORRELATION:
        activity->correlation = LP_CORRELATION_NONE;
        break;
    case LP_FAKE_UNKNOWN_CORRELATION:
        activity->correlation |= LP_FAKE_NEVER_LAUNCHED;
        break;
    default:
        break;
    }
    return status < 0 ? status : add_activity(device, activity, fault == LP_FAKE_REORDER);
}

int lp_fake_device_run(struct lp_fake_device *device, uint64_t now_ns, const struct lp_fake_op *op,
                       struct lp_activity activity, const char *name)
{
    uint64_t *free_ns = find_stream(device, op);
    uint64_t ready_ns = lp_fake_add_time(now_ns, op->values[LP_FAKE_DELAY]);

    activity.name = lp_names_intern(device->names, name);
    if (!free_ns || activity.name == LP_HASHMAP_NONE)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    activity.start_ns = *free_ns > ready_ns ? *free_ns : ready_ns;
    activity.end_ns = *free_ns = lp_fake_add_time(activity.start_ns, op->values[LP_FAKE_DURATION]);
    activity.stream = (uint32_t)op->values[LP_FAKE_STREAM];
    activity.context = (uint32_t)op->values[LP_FAKE_CONTEXT];
    activity.device = (uint16_t)op->values[LP_FAKE_DEVICE];
    return report(device, &activity);
}

/* In batches of the same size as other sources. */
static void send_activities(struct lp_activity *items, size_t count_all,
                            const struct lp_device_sink *sink)
{
    const size_t most =
        sizeof(((struct lp_activity_batch *)NULL)->items) / sizeof(struct lp_activity);

    for (size_t at = 0; at < count_all; at += most)
        sink->activities(sink->context, items + at, count_all - at < most ? count_all - at : most);
}

void lp_fake_device_send(struct lp_fake_device *device, bool all, const struct lp_device_sink *sink)
{
    send_activities(device->activities.items, device->activities.count, sink);
    device->activities.count = 0;
    if (!all)
        return;
    send_activities(device->late.items, device->late.count, sink);
    device->late.count = 0;
}
