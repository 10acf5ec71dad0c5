/* SPDX-License-Identifier: Apache-2.0 */
/* Our labels in the syntax of nsys and ncu. */
#include <stdlib.h>
#include <string.h>

#include "lib/vendor/commands.h"

#define DOMAIN_OF_LLM "LLM"

/* Domain and name of a label. Without a domain it is LLM; "default" is the unnamed domain. */
struct label {
    const char *domain, *name;
};

static struct label split(llmperf_commands *commands, const char *text)
{
    const char *at = strchr(text, '@');

    if (!at)
        return (struct label){ DOMAIN_OF_LLM, text };
    return (struct label){ lp_commands_text(commands, "%.*s", (int)(at - text), text), at + 1 };
}

static const char *escape(llmperf_commands *commands, const char *text, const char *special)
{
    struct lp_text out = { 0 };
    const char *kept;

    lp_text_puts(&out, "");
    for (; *text; text++) {
        if (strchr(special, *text))
            lp_text_puts(&out, "\\");
        lp_text_add(&out, text, 1);
    }
    kept = lp_commands_text(commands, "%s", out.failed ? "" : out.bytes);
    lp_text_clear(&out);
    return kept;
}

/* In nsys the last unescaped '@' separates message and domain. */
const char *lp_nsys_range(llmperf_commands *commands, const char *label)
{
    struct label range = split(commands, label);

    if (!*range.name || strchr(label, '/') || strncmp(label, "regex:", 6) == 0)
        return NULL;
    if (strcmp(range.domain, "default") == 0)
        return escape(commands, range.name, "@\\");
    return lp_commands_text(commands, "%s@%s", escape(commands, range.name, "@\\"), range.domain);
}

/* ncu writes the domain once, before the names from outer to inner range. */
static const char *path_range(llmperf_commands *commands, const char *path,
                              const char **problem_out)
{
    const char *domain = NULL, *names = "";
    char *copy = strdup(path), *rest = copy, *part;
    size_t count = 0;

    while (copy && (part = strsep(&rest, "/"))) {
        struct label range = split(commands, part);

        if (!*range.name || (domain && strcmp(domain, range.domain) != 0)) {
            *problem_out = "names ranges in several NVTX domains, which ncu does not support; "
                           "choose one range";
            free(copy);
            return NULL;
        }
        domain = range.domain;
        names = lp_commands_text(commands, "%s%s%s", names, count++ ? "/" : "",
                                 escape(commands, range.name, "@,[]/*+\\"));
    }
    free(copy);
    if (!domain)
        return lp_commands_text(commands, "%s", "");
    if (strcmp(domain, "default") == 0)
        domain = NULL;
    return lp_commands_text(commands, "%s%s%s%s", domain ? domain : "", domain ? "@" : "", names,
                            count > 1 ? "" : "/");
}

/* '*' and '+' match whole ranges between slashes; inside a name they match nothing. */
static bool has_glob(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "*+\\")); at++) {
        if (*at == '\\') {
            at += at[1] != '\0';
            continue;
        }
        if (at == text || at[-1] != '/' || at[1] != '/')
            return true;
    }
    return false;
}

const char *lp_ncu_range(llmperf_commands *commands, const char *text, const char **problem_out)
{
    size_t length = strlen(text);

    if (strncmp(text, "regex:", 6) == 0)
        return text;
    if (strchr(text, ';')) {
        *problem_out = "contains ';', which ncu takes literally; write a list";
        return NULL;
    }
    if (length == 0 || has_glob(text)) {
        *problem_out = "is a pattern with '*', which ncu does not support for ranges; write a "
                       "region (LLM@prefill) or regex:LLM@dec.*/";
        return NULL;
    }
    if (text[length - 1] == '/' || strpbrk(text, "[]\\,") || strstr(text, "/*/") ||
        strstr(text, "/+/"))
        return text;
    return path_range(commands, text, problem_out);
}

/* Closing bracket for the one at `text`; NULL: none, since names cut by a tool are unbalanced. */
static const char *closing(const char *text, char open, char close)
{
    int depth = 0;

    for (; *text; text++) {
        depth += *text == open;
        depth -= *text == close;
        if (depth == 0)
            return text;
    }
    return NULL;
}

/* Brackets that belong to the name: "(anonymous namespace)", "<unnamed>", "(lambda(int)#1)". */
static const char *skip_unnamed(const char *at)
{
    static const char *const names[] = { "(anonymous namespace)", "<unnamed>" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(at, names[i], strlen(names[i])) == 0)
            return at + strlen(names[i]);
    return NULL;
}

/* The last name before the parameters, without template arguments. */
const char *lp_kernel_function(llmperf_commands *commands, const char *name)
{
    const char *start = name, *end = NULL;

    for (const char *at = name; *at;) {
        const char *next = skip_unnamed(at);

        if (next) {
            at = next;
        } else if (*at == '(') {
            break;
        } else if (*at == '<') {
            end = at;
            at = closing(at, '<', '>');
            if (!at)
                break;
            at++;
        } else if (strncmp(at, "::", 2) == 0 || *at == ' ') {
            at += *at == ' ' ? 1 : 2;
            start = at;
            end = NULL;
        } else {
            at++;
        }
    }
    if (!end)
        end = start + strcspn(start, "(<");
    return lp_commands_text(commands, "%.*s", (int)(end > start ? end - start : 0), start);
}
