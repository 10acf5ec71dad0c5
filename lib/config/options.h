/* SPDX-License-Identifier: Apache-2.0 */
/** Options: how each is given in a call, in the environment, in a configuration and on the command
 * line, what it may be, and its help. The table is lib/config/option_table.c. @threads any thread
 */
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
    LP_OPTION_NUMBER, /* a whole number from `least` to `most` */
    LP_OPTION_SWITCH, /* true or false; 1 or 0 in the environment */
    LP_OPTION_ANY     /* a text, a list or a map, which its user reads */
};

struct lp_option {
    enum lp_option_kind kind;
    const char *key, *other; /* of the configuration; `other` is read where `key` has no value */
    const char *variable;    /* of the environment */
    const char *field;       /* of llmperf_session_options, where and how large; or a flag */
    size_t offset, size;
    uint32_t flag;
    const char *word, *value, *commands; /* "--out", "DIR", the commands that take it */
    const char *words;                   /* "a|b|c"; the first has the number `least` in a call */
    int64_t least, most;
    const char *unit, *usual, *help; /* `usual`: the default */
};

extern const struct lp_option lp_options[];
extern const size_t lp_options_count;
#define LP_OPTIONS_MOST 128

/** Where the value of an option was given. */
enum lp_option_from {
    LP_FROM_NOWHERE,
    LP_FROM_CONFIG,
    LP_FROM_ENVIRONMENT,
    LP_FROM_OVERRIDE, /* of the configuration: part of the call */
    LP_FROM_CALL
};

/** The value of each option in a session. */
struct lp_resolved {
    llmperf_session_options values;   /* texts are those of the call, environment, configuration */
    int64_t numbers[LP_OPTIONS_MOST]; /* of options without a field; of a word its place, of a
                                         switch 1 or 0 */
    uint8_t from[LP_OPTIONS_MOST];    /* enum lp_option_from */
};

/** Take the value of each option from the first of call, environment, configuration and default
 * that gives it; overrides of the configuration are part of the call.
 * @param config  NULL: none.
 * @return 0; LLMPERF_EINVAL (a value of the call or environment), LLMPERF_EFORMAT (of the
 * configuration). */
int lp_options_resolve(const llmperf_session_options *call, const llmperf_config *config,
                       struct lp_resolved *resolved);

/** The same as lp_options_resolve() for one option of a session. */
int lp_option_resolve(const char *key, const llmperf_config *config,
                      llmperf_session_options *values);

/** The word of a number in a call, such as "deep", in `word`; "unknown". @return word */
#define LP_OPTION_WORD_BYTES 32
const char *lp_option_word(const char *key, int64_t number, char word[LP_OPTION_WORD_BYTES]);

/** Where the option of this key was given, and what it is called there: the field, the variable or
 * the key. */
enum lp_option_from lp_option_source(const struct lp_resolved *resolved, const char *key);
const char *lp_option_name(const struct lp_resolved *resolved, const char *key);

/** The number that a profile was given (llmperf_profile_set_option()), else that of the
 * configuration that it keeps; without one *number_out stays. 0; LLMPERF_EFORMAT,
 * LLMPERF_ENOMEM. */
int lp_option_of_profile(const llmperf_profile *profile, const char *key, int64_t *number_out);

/** The option of a key; NULL: the key takes anything. */
const struct lp_option *lp_option_find(const char *key);

int lp_options_check(const llmperf_config *config);

/** Refuse keys that look like one of the table written wrong; others may be the user's own.
 * @return 0; LLMPERF_EFORMAT with file, line and the key that was meant. */
int lp_options_check_keys(const llmperf_config *config);

/** The same for the keys of one map. */
int lp_options_check_map(const llmperf_config *config, const char *map);

#endif
