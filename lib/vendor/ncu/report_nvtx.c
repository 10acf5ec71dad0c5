/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX state that a report stores with each result: domain names, push/pop ranges of threads, and
 * start/end ranges. Like ncu's tables it has ranges by domain: how ranges of different domains nest
 * is lost. */
#include "lib/record/paths.h"
#include "lib/vendor/ncu/report.h"

enum { STATE_DOMAINS = 1, STATE_THREADS = 2, STATE_STARTED = 3 };
enum { DOMAIN_ID = 1, DOMAIN_NAME = 2 };
enum { THREAD_ID = 1, THREAD_DOMAINS = 2 };
enum { STACK_DOMAIN = 1, STACK_RANGES = 3 };
enum { PUSHED_NAME = 1, STARTED_NAME = 2 };

struct walk {
    struct lp_wire state;
    size_t left; /* ranges that may still be added */
    uint32_t flags, node;
};

static struct lp_ncu_slice slice_of(struct lp_wire bytes)
{
    return (struct lp_ncu_slice){ bytes.size ? (const char *)bytes.at : "", bytes.size };
}

/* The first number or bytes with that field number; unchanged if missing. */
static int number_in(struct lp_wire message, uint32_t number, uint64_t *value_out)
{
    struct lp_wire_field field;
    int status = lp_wire_find(message, number, LP_WIRE_VARINT, &field);

    *value_out = status > 0 ? field.value : UINT64_MAX;
    return status < 0 ? status : 0;
}

static int bytes_in(struct lp_wire message, uint32_t number, struct lp_wire *bytes_out)
{
    struct lp_wire_field field;
    int status = lp_wire_find(message, number, LP_WIRE_BYTES, &field);

    *bytes_out = status > 0 ? field.bytes : (struct lp_wire){ NULL, 0 };
    return status < 0 ? status : 0;
}

/* Name of a domain; empty: it has none, or the report lacks it. */
static int find_domain(struct lp_wire state, uint64_t id, struct lp_wire *name_out)
{
    struct lp_wire_field field;
    uint64_t candidate;
    int status;

    *name_out = (struct lp_wire){ NULL, 0 };
    while ((status = lp_wire_next(&state, &field)) > 0) {
        if (field.number != STATE_DOMAINS || field.type != LP_WIRE_BYTES)
            continue;
        if ((status = number_in(field.bytes, DOMAIN_ID, &candidate)) < 0)
            break;
        if (candidate == id)
            return bytes_in(field.bytes, DOMAIN_NAME, name_out);
    }
    return status;
}

/* Ranges of a domain, outermost first. */
static int open_stack(struct walk *walk, struct lp_wire stack, uint32_t name_field)
{
    struct lp_wire domain, name;
    struct lp_wire_field field;
    uint64_t id;
    int status;

    if ((status = number_in(stack, STACK_DOMAIN, &id)) < 0 ||
        (status = find_domain(walk->state, id, &domain)) < 0)
        return status;
    while (walk->left > 0 && (status = lp_wire_next(&stack, &field)) > 0) {
        if (field.number != STACK_RANGES || field.type != LP_WIRE_BYTES)
            continue;
        if ((status = bytes_in(field.bytes, name_field, &name)) < 0 ||
            (status =
                 lp_ncu_open_range(slice_of(domain), slice_of(name), walk->flags, &walk->node)) < 0)
            break;
        walk->left--;
    }
    return status < 0 ? status : 0;
}

static int open_stacks(struct walk *walk, struct lp_wire message, uint32_t stack_field,
                       uint32_t name_field)
{
    struct lp_wire_field field;
    int status;

    while ((status = lp_wire_next(&message, &field)) > 0)
        if (field.number == stack_field && field.type == LP_WIRE_BYTES &&
            (status = open_stack(walk, field.bytes, name_field)) < 0)
            break;
    return status;
}

static int open_pushed(struct walk *walk, uint64_t thread)
{
    struct lp_wire state = walk->state;
    struct lp_wire_field field;
    uint64_t id;
    int status;

    while ((status = lp_wire_next(&state, &field)) > 0) {
        if (field.number != STATE_THREADS || field.type != LP_WIRE_BYTES)
            continue;
        if ((status = number_in(field.bytes, THREAD_ID, &id)) < 0)
            break;
        if (id == thread)
            return open_stacks(walk, field.bytes, THREAD_DOMAINS, PUSHED_NAME);
    }
    return status;
}

int lp_ncu_state_path(struct lp_wire state, uint64_t thread, size_t most, uint32_t flags,
                      uint32_t *node_out)
{
    struct walk walk = { state, most, flags, LP_PATH_ROOT };
    int status = open_pushed(&walk, thread);

    if (status == 0 && walk.node == LP_PATH_ROOT)
        status = open_stacks(&walk, state, STATE_STARTED, STARTED_NAME);
    *node_out = walk.node;
    return status;
}
