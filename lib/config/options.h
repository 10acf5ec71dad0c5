/* SPDX-License-Identifier: Apache-2.0 */
/** Options: how each is set in a call, in the environment, in a configuration and on the command
 * line, its valid values and its help. lib/config/option_table.c has the table. @threads any
 * thread */
#ifndef LP_CONFIG_OPTIONS_H
#define LP_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/sys/config.h"
#include "llmperf/profile.h"
#include "llmperf/session.h"

enum lp_option_kind {
    LP_OPTION_TEXT,
    LP_OPTION_WORD,   /* one of `words` */
    LP_OPTION_NUMBER, /* an integer from `least` to `most` */
    LP_OPTION_SWITCH, /* true or false; 1 or 0 in the environment */
    LP_OPTION_ANY     /* text, list or map, checked by its user */
};

struct lp_option {
    enum lp_option_kind kind;
    const char *key, *other; /* in the configuration; `other` is used if `key` has no value */
    const char *variable;    /* in the environment */
    const char *field;       /* member of llmperf_session_options with offset and size, or a flag */
    size_t offset, size;
    uint32_t flag;
    const char *word, *value, *commands; /* "--out", "DIR", commands that have it */
    const char *words;                   /* "a b c"; in a call the first has the number `least` */
    int64_t least, most;
    const char *unit, *usual, *help; /* `usual`: the default */
};

extern const struct lp_option lp_options[];
extern const size_t lp_options_count;
#define LP_OPTIONS_MOST 128

/** Source of an option's value. */
enum lp_option_from {
    LP_FROM_NOWHERE,
    LP_FROM_CONFIG,
    LP_FROM_ENVIRONMENT,
    LP_FROM_OVERRIDE, /* override of the configuration: part of the call */
    LP_FROM_CALL
};

/** Values of all options in a session. */
struct lp_resolved {
    llmperf_session_options
        values; /* texts are borrowed from call, environment and configuration */
    int64_t numbers[LP_OPTIONS_MOST]; /* of options without a field; for words the index, for
                                         switches 1 or 0 */
    uint8_t from[LP_OPTIONS_MOST];    /* enum lp_option_from */
};

/** Resolve each option: the first of call, environment, configuration and default that sets it.
 * Overrides of the configuration are part of the call.
 * @param config  NULL: none.
 * @return 0; LLMPERF_EINVAL (a value of call or environment), LLMPERF_EFORMAT (of the
 * configuration). */
int lp_options_resolve(const llmperf_session_options *call, const llmperf_config *config,
                       struct lp_resolved *resolved);

/** As lp_options_resolve(), for one option. */
int lp_option_resolve(const char *key, const llmperf_config *config,
                      llmperf_session_options *values);

/** Word for a number in a call, such as "deep"; "unknown".
 * @return word */
#define LP_OPTION_WORD_BYTES 32
const char *lp_option_word(const char *key, int64_t number, char word[LP_OPTION_WORD_BYTES]);

/** Where the option with this key was set, and its name there: field, variable or key. */
enum lp_option_from lp_option_source(const struct lp_resolved *resolved, const char *key);
const char *lp_option_name(const struct lp_resolved *resolved, const char *key);

/** Number set for a profile (llmperf_profile_set_option()), else in its configuration; *number_out
 * is unchanged if there is none. 0; LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_option_of_profile(const llmperf_profile *profile, const char *key, int64_t *number_out);

/** Option of a key; NULL: any value is valid. */
const struct lp_option *lp_option_find(const char *key);

int lp_options_check(const llmperf_config *config);

/** Refuse keys that look like a misspelt option; other keys may be the user's.
 * @return 0; LLMPERF_EFORMAT with file, line and the likely key. */
int lp_options_check_keys(const llmperf_config *config);

/** The same for the keys of a map. */
int lp_options_check_map(const llmperf_config *config, const char *map);

#endif
