/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/pattern.h"
#include "lib/base/status.h"
#include "lib/base/text.h"

struct pattern {
    char *text;
    bool is_regex;
    regex_t regex;
};

struct lp_patterns {
    size_t count;
    struct pattern items[];
};

static int open_regex(struct pattern *pattern)
{
    const char *expression = pattern->text + strlen("regex:");
    char reason[128];
    int code = regcomp(&pattern->regex, expression, REG_EXTENDED | REG_NOSUB);

    if (code == 0) {
        pattern->is_regex = true;
        return 0;
    }
    regerror(code, &pattern->regex, reason, sizeof(reason));
    return lp_error(LLMPERF_EINVAL, "pattern \"%s\": %s", pattern->text, reason);
}

static int open_pattern(struct pattern *pattern, const char *text)
{
    pattern->text = lp_text_copy(text);
    if (!pattern->text)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return strncmp(text, "regex:", 6) == 0 ? open_regex(pattern) : 0;
}

int lp_patterns_open(const char *const *texts, size_t count, struct lp_patterns **patterns_out)
{
    struct lp_patterns *patterns =
        calloc(1, sizeof(*patterns) + count * sizeof(patterns->items[0]));
    int status = patterns ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");

    for (size_t i = 0; status == 0 && i < count; i++) {
        patterns->count++;
        status = open_pattern(&patterns->items[i], texts[i]);
    }
    if (status < 0)
        lp_patterns_free(patterns);
    else
        *patterns_out = patterns;
    return status;
}

/* `*` matches any text. After a mismatch only the last `*` has to be extended. */
static bool match_stars(const char *pattern, const char *name)
{
    const char *star = NULL, *mark = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            mark = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++mark;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool lp_patterns_match(const struct lp_patterns *patterns, const char *name)
{
    for (size_t i = 0; patterns && i < patterns->count; i++) {
        const struct pattern *pattern = &patterns->items[i];

        if (pattern->is_regex ? regexec(&pattern->regex, name, 0, NULL, 0) == 0
                              : match_stars(pattern->text, name))
            return true;
    }
    return false;
}

size_t lp_patterns_count(const struct lp_patterns *patterns)
{
    return patterns ? patterns->count : 0;
}

const char *lp_patterns_text(const struct lp_patterns *patterns, size_t index)
{
    return patterns && index < patterns->count ? patterns->items[index].text : NULL;
}

void lp_patterns_free(struct lp_patterns *patterns)
{
    if (!patterns)
        return;
    for (size_t i = 0; i < patterns->count; i++) {
        if (patterns->items[i].is_regex)
            regfree(&patterns->items[i].regex);
        free(patterns->items[i].text);
    }
    free(patterns);
}
