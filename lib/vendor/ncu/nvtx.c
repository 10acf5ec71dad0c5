/* SPDX-License-Identifier: Apache-2.0 */
/* A cell is a thread (or range) id, then quoted items, outermost first:
 *   916  "LLM:prefill:none:none:none:none:ASCII:prefill"  "LLM:mlp:none:none:none:none:ASCII:mlp"
 * An item is Domain:Name:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg. Domain, name and message may
 * hold colons and quotes themselves; name and message are the same text, which shows where they
 * are. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/vendor/ncu/nvtx.h"
#include "lib/vendor/vendor.h"

#define FIXED_FIELDS 4 /* PL_Type, PL_Value, CLR_Type, Color */

static const struct lp_ncu_slice nothing = { NULL, 0 };
static const struct lp_ncu_slice unnamed_domain = { "<default domain>", 16 };

static bool equals(struct lp_ncu_slice a, struct lp_ncu_slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* The text without its last `fields` fields and their colons. */
static struct lp_ncu_slice cut_fields(struct lp_ncu_slice from, int fields)
{
    while (from.length > 0)
        if (from.text[--from.length] == ':' && --fields == 0)
            return from;
    return nothing;
}

/* Domain and name with the message at `message`: "D:N:a:b:c:d" precedes the type. */
static bool split_with_message(struct lp_ncu_slice front, struct lp_ncu_slice message,
                               struct lp_ncu_slice *domain, struct lp_ncu_slice *name)
{
    struct lp_ncu_slice head = cut_fields(front, FIXED_FIELDS);

    if (!head.text || head.length < message.length + 1)
        return false;
    *name = (struct lp_ncu_slice){ head.text + head.length - message.length, message.length };
    *domain = (struct lp_ncu_slice){ head.text, head.length - message.length - 1 };
    return head.text[domain->length] == ':' && equals(*name, message);
}

/* Try each position where the message type may start. */
static bool split_by_type(struct lp_ncu_slice item, struct lp_ncu_slice *domain,
                          struct lp_ncu_slice *name)
{
    static const char *const types[] = { ":ASCII:", ":REGISTERED:", ":UNICODE:" };

    for (size_t at = 0; at < item.length; at++)
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            size_t length = strlen(types[i]);
            struct lp_ncu_slice front = { item.text, at };
            struct lp_ncu_slice message = { item.text + at + length, item.length - at - length };

            if (item.length - at >= length && memcmp(item.text + at, types[i], length) == 0 &&
                split_with_message(front, message, domain, name))
                return true;
        }
    return false;
}

/* Without a message: the last six fields are removed, and the first colon ends the domain. */
static bool split_plainly(struct lp_ncu_slice item, struct lp_ncu_slice *domain,
                          struct lp_ncu_slice *name)
{
    struct lp_ncu_slice head = cut_fields(item, FIXED_FIELDS + 2);
    const char *colon = head.length ? memchr(head.text, ':', head.length) : NULL;

    if (!colon)
        return false;
    *domain = (struct lp_ncu_slice){ head.text, (size_t)(colon - head.text) };
    *name = (struct lp_ncu_slice){ colon + 1, head.length - domain->length - 1 };
    return true;
}

int lp_ncu_open_range(struct lp_ncu_slice domain, struct lp_ncu_slice name, uint32_t flags,
                      uint32_t *node)
{
    bool unnamed = domain.length == 0 || equals(domain, unnamed_domain);
    char *domain_text = strndup(domain.text, domain.length);
    char *name_text = strndup(name.text, name.length);
    struct lp_text label = { .failed = !domain_text || !name_text };
    int status = 0;

    if (!label.failed)
        lp_range_label(&label, unnamed ? NULL : domain_text, name_text, flags);
    if (label.failed)
        status = lp_out_of_memory();
    else
        *node = lp_range_node(*node, label.bytes, flags);
    lp_text_clear(&label);
    free(domain_text);
    free(name_text);
    return status;
}

static int open_item(struct lp_ncu_slice item, uint32_t flags, uint32_t *node)
{
    struct lp_ncu_slice domain = { "", 0 }, name = item;

    if (!split_by_type(item, &domain, &name) && !split_plainly(item, &domain, &name)) {
        domain = unnamed_domain;
        name = item;
    }
    return lp_ncu_open_range(domain, name, flags, node);
}

/* A start/end range is preceded by its number. */
static struct lp_ncu_slice without_number(struct lp_ncu_slice item)
{
    size_t digits = 0;

    while (digits < item.length && isdigit((unsigned char)item.text[digits]))
        digits++;
    if (digits > 0 && digits < item.length && item.text[digits] == ':')
        return (struct lp_ncu_slice){ item.text + digits + 1, item.length - digits - 1 };
    return item;
}

/* The item after the quote at `at`: it ends at a quote followed by two blanks and a quote, or at
 * the last quote. *end_out: where the next item may start. */
static struct lp_ncu_slice take_item(const char *at, const char **end_out)
{
    const char *quote = at;

    while ((quote = strchr(quote, '"'))) {
        const char *behind = quote + 1 + strspn(quote + 1, " ");

        if (!*behind || (*behind == '"' && behind == quote + 3)) {
            *end_out = behind;
            return (struct lp_ncu_slice){ at, (size_t)(quote - at) };
        }
        quote++;
    }
    *end_out = at + strlen(at);
    return (struct lp_ncu_slice){ at, (size_t)(*end_out - at) };
}

int lp_ncu_path(const char *cell, bool started, size_t most, uint32_t flags, uint32_t *node_out)
{
    const char *at = strchr(cell, '"');
    int status = 0;

    *node_out = LP_PATH_ROOT;
    for (size_t depth = 0; at && *at == '"' && depth < most && status == 0; depth++) {
        struct lp_ncu_slice item = take_item(at + 1, &at);

        status = open_item(started ? without_number(item) : item, flags, node_out);
    }
    return status;
}
