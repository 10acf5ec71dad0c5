/* SPDX-License-Identifier: Apache-2.0 */
/* A cell is a thread (or range) id, then quoted items, outermost first:
 *   916  "LLM:prefill:none:none:none:none:ASCII:prefill"  "LLM:mlp:none:none:none:none:ASCII:mlp"
 * An item is Domain:Name:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg. Domain, name and message may
 * hold colons and quotes themselves; name and message are the same text, which tells where they
 * are. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/vendor/ncu_nvtx.h"
#include "lib/vendor/vendor.h"

#define FIXED_FIELDS 4 /* PL_Type, PL_Value, CLR_Type, Color */

/* A piece of a cell. */
struct slice {
    const char *text;
    size_t length;
};

static const struct slice nothing = { NULL, 0 };

static bool equals(struct slice a, struct slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Without its last `fields` fields and the colons before them. */
static struct slice cut_fields(struct slice from, int fields)
{
    while (from.length > 0)
        if (from.text[--from.length] == ':' && --fields == 0)
            return from;
    return nothing;
}

/* Domain and name with the message at `message`: "D:N:a:b:c:d" stands in front of the type. */
static bool split_with_message(struct slice front, struct slice message, struct slice *domain,
                               struct slice *name)
{
    struct slice head = cut_fields(front, FIXED_FIELDS);

    if (!head.text || head.length < message.length + 1)
        return false;
    *name = (struct slice){ head.text + head.length - message.length, message.length };
    *domain = (struct slice){ head.text, head.length - message.length - 1 };
    return head.text[domain->length] == ':' && equals(*name, message);
}

/* Try each place where a type of message may stand. */
static bool split_by_type(struct slice item, struct slice *domain, struct slice *name)
{
    static const char *const types[] = { ":ASCII:", ":REGISTERED:", ":UNICODE:" };

    for (size_t at = 0; at < item.length; at++)
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            size_t length = strlen(types[i]);
            struct slice front = { item.text, at };
            struct slice message = { item.text + at + length, item.length - at - length };

            if (item.length - at >= length && memcmp(item.text + at, types[i], length) == 0 &&
                split_with_message(front, message, domain, name))
                return true;
        }
    return false;
}

/* No message: the last six fields go, and the first colon ends the domain. */
static bool split_plainly(struct slice item, struct slice *domain, struct slice *name)
{
    struct slice head = cut_fields(item, FIXED_FIELDS + 2);
    const char *colon = head.length ? memchr(head.text, ':', head.length) : NULL;

    if (!colon)
        return false;
    *domain = (struct slice){ head.text, (size_t)(colon - head.text) };
    *name = (struct slice){ colon + 1, head.length - domain->length - 1 };
    return true;
}

static int open_range(struct slice item, uint32_t flags, uint32_t *node)
{
    static const struct slice unnamed = { "<default domain>", 16 };
    struct lp_text domain = { NULL, 0, 0, false }, name = domain, label = domain;
    struct slice domain_slice = { "", 0 }, name_slice = item;
    int status = 0;

    if (!split_by_type(item, &domain_slice, &name_slice) &&
        !split_plainly(item, &domain_slice, &name_slice)) {
        domain_slice = unnamed;
        name_slice = item;
    }
    lp_text_add(&domain, domain_slice.text, domain_slice.length);
    lp_text_add(&name, name_slice.text, name_slice.length);
    lp_text_puts(&name, "");
    lp_text_puts(&domain, "");
    if (!domain.failed && !name.failed)
        lp_range_label(
            &label, domain_slice.length == 0 || equals(domain_slice, unnamed) ? NULL : domain.bytes,
            name.bytes, flags);
    if (domain.failed || name.failed || label.failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else
        *node = lp_path_intern(*node, label.bytes);
    lp_text_clear(&domain);
    lp_text_clear(&name);
    lp_text_clear(&label);
    return status;
}

/* The item behind the quote at `at`: up to a quote with two blanks and a quote, or the end, behind
 * it. *end_out: where the next one may begin. */
static struct slice take_item(const char *at, const char **end_out)
{
    const char *quote = at;

    while ((quote = strchr(quote, '"'))) {
        const char *behind = quote + 1 + strspn(quote + 1, " ");

        if (!*behind || (*behind == '"' && behind == quote + 3)) {
            *end_out = behind;
            return (struct slice){ at, (size_t)(quote - at) };
        }
        quote++;
    }
    *end_out = at + strlen(at);
    return (struct slice){ at, (size_t)(*end_out - at) };
}

int lp_ncu_path(const char *cell, size_t most, uint32_t flags, uint32_t *node_out)
{
    const char *at = strchr(cell, '"');
    int status = 0;

    *node_out = LP_PATH_ROOT;
    for (size_t depth = 0; at && *at == '"' && depth < most && status == 0; depth++) {
        struct slice item = take_item(at + 1, &at);

        status = open_range(item, flags, node_out);
    }
    return status;
}
