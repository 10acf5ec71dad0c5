/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/strings.h"
#include "lib/profile/profile.h"

static char *(*demangle)(const char *name, char *buffer, size_t *length, int *status);

/* The C++ runtime's demangler is opened at run time, so the library does not link to C++. */
static void find_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    void *address = library ? dlsym(library, "__cxa_demangle") : NULL;

    memcpy(&demangle, &address, sizeof(demangle));
}

void lp_kernel_demangle(struct lp_text *text, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = -1;
    char *plain = NULL;

    if (!strncmp(name, "_Z", 2)) {
        pthread_once(&once, find_demangler);
        plain = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    }
    lp_text_puts(text, plain && status == 0 ? plain : name);
    free(plain);
}

/* Length of `operator<<` and the like at `s`: its angle brackets are not template arguments. */
static size_t operator_length(const char *s, char before)
{
    static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                           "<=",  ">=",  "->",  "()",  "<",  ">" };

    if (strncmp(s, "operator", 8) || isalnum((unsigned char)before) || before == '_')
        return 0;
    for (size_t i = 0; i < LP_LENGTH(symbols); i++)
        if (!strncmp(s + 8, symbols[i], strlen(symbols[i])))
            return 8 + strlen(symbols[i]);
    return 0;
}

/* Length of a text in parentheses that belongs to the name and is kept, not the parameters. */
static size_t fixed_length(const char *s, char before)
{
    static const char *const fixed[] = { "(anonymous namespace)", "{lambda(" };

    for (size_t i = 0; i < LP_LENGTH(fixed); i++)
        if (!strncmp(s, fixed[i], strlen(fixed[i])))
            return i == 0 ? strlen(fixed[i]) : strcspn(s, "}") + (strchr(s, '}') != NULL);
    return operator_length(s, before);
}

/* Names that other tools cut short have unbalanced brackets; the rest is dropped. */
void lp_kernel_shorten(struct lp_text *text, const char *demangled)
{
    size_t begin = text->length;
    int depth = 0;

    if (demangled[0] == '[') { /* our own name: "[memcpy HtoD]" */
        lp_text_puts(text, demangled);
        return;
    }
    for (const char *s = demangled; *s;) {
        size_t fixed = fixed_length(s, s > demangled ? s[-1] : ' ');

        if (fixed > 0 && depth == 0)
            lp_text_add(text, s, fixed);
        else if (*s == '<')
            depth++;
        else if (*s == '>' && depth > 0)
            depth--;
        else if (*s == '(' && depth == 0)
            break;
        else if (*s == ' ' && depth == 0 && s[1] == '<') /* as in "operator<< <int>" */
            ;
        else if (*s == ' ' && depth == 0 && !text->failed) /* the text so far was the return type */
            text->length = begin;
        else if (depth == 0)
            lp_text_add(text, s, 1);
        s += fixed ? fixed : 1;
    }
    if (text->length == begin)
        lp_text_puts(text, demangled);
    else if (!text->failed)
        text->bytes[text->length] = '\0';
}

void lp_kernel_short_name(struct lp_text *text, const char *name)
{
    struct lp_text full = { NULL, 0, 0, false };

    lp_kernel_demangle(&full, name);
    text->failed |= full.failed;
    if (!full.failed)
        lp_kernel_shorten(text, full.bytes);
    lp_text_clear(&full);
}

int lp_kernel_names(struct lp_strings *pool, const char *name, const char **demangled_out,
                    const char **short_out)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_kernel_demangle(&text, name);
    *demangled_out = text.failed ? NULL : lp_strings_add(pool, text.bytes);
    text.length = 0;
    lp_kernel_short_name(&text, name);
    *short_out = text.failed ? NULL : lp_strings_add(pool, text.bytes);
    lp_text_clear(&text);
    return *demangled_out && *short_out ? 0 : lp_out_of_memory();
}
