/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * The table of options: the names of each in a call, in the environment, in a configuration and on
 * the command line, its values, and its help. */
#ifndef LLMPERF_SYS_OPTION_H
#define LLMPERF_SYS_OPTION_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of values. */
enum {
    LLMPERF_OPTION_TEXT = 0,   /**< any text */
    LLMPERF_OPTION_WORD = 1,   /**< one of `choices` */
    LLMPERF_OPTION_NUMBER = 2, /**< an integer from `least` to `most` */
    LLMPERF_OPTION_SWITCH = 3, /**< true or false; 1 or 0 in the environment */
    LLMPERF_OPTION_ANY = 4     /**< a text, a list or a map */
};

/** One option. Texts are static; NULL: it has none. */
typedef struct llmperf_option_info {
    size_t struct_size;
    const char *key;       /**< key of the configuration */
    const char *other_key; /**< key that is read if `key` has no value */
    const char *variable;  /**< environment variable */
    const char *field;     /**< member of llmperf_session_options */
    const char *word;      /**< option of the command line: "--out" */
    const char *value;     /**< its value in the help text: "DIR"; NULL: it takes none */
    const char *commands;  /**< commands that take `word`, separated by blanks */
    const char *choices;   /**< "a|b|c" */
    int64_t least;         /**< smallest number */
    int64_t most;          /**< largest number */
    const char *unit;      /**< unit of the number */
    const char *usual;     /**< default */
    const char *help;      /**< what it does */
    uint32_t kind;         /**< LLMPERF_OPTION_… */
    uint32_t reserved;     /**< 0 */
} llmperf_option_info;
#define LLMPERF_OPTION_INFO_INIT LLMPERF_INIT(llmperf_option_info)

/** An option of the table.
 *
 * @param index     From 0.
 * @param info_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_ENOENT (past the last), LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_option_info_get(size_t index, llmperf_option_info *info_out);

/** Find what a misspelt word probably means.
 *
 * @param words  Borrowed: words to choose from, NULL after the last.
 * @return One of `words`; NULL: none is similar.
 * @threads any thread */
LLMPERF_API const char *llmperf_nearest_word(const char *word, const char *const *words);

/** Set an option of reports for one profile, such as "report.top" to "50". It takes precedence over
 * the configuration in the profile.
 *
 * @param key    Key of an option that command report takes.
 * @param value  As in a configuration.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads one at a time per object */
LLMPERF_API int llmperf_profile_set_option(llmperf_profile *profile, const char *key,
                                           const char *value);

#ifdef __cplusplus
}
#endif
#endif
