/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * The table of options: what each is called in a call, in the environment, in a configuration and
 * on the command line, what it may be, and its help. */
#ifndef LLMPERF_SYS_OPTION_H
#define LLMPERF_SYS_OPTION_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a value is. */
enum {
    LLMPERF_OPTION_TEXT = 0,
    LLMPERF_OPTION_WORD = 1,   /**< one of `choices` */
    LLMPERF_OPTION_NUMBER = 2, /**< a whole number from `least` to `most` */
    LLMPERF_OPTION_SWITCH = 3, /**< true or false; 1 or 0 in the environment */
    LLMPERF_OPTION_ANY = 4     /**< a text, a list or a map */
};

/** One option. Texts are static; NULL: there is none. */
typedef struct llmperf_option_info {
    size_t struct_size;
    const char *key;       /**< of the configuration */
    const char *other_key; /**< read where `key` has no value */
    const char *variable;  /**< of the environment */
    const char *field;     /**< of llmperf_session_options */
    const char *word;      /**< of the command line, such as "--out" */
    const char *value;     /**< what stands for its value in the help; NULL: it has none */
    const char *commands;  /**< that take `word`, with blanks between them */
    const char *choices;   /**< "a|b|c" */
    int64_t least;
    int64_t most;
    const char *unit;
    const char *usual; /**< the default */
    const char *help;
    uint32_t kind; /**< LLMPERF_OPTION_… */
    uint32_t reserved;
} llmperf_option_info;
#define LLMPERF_OPTION_INFO_INIT LLMPERF_INIT(llmperf_option_info)

/** Option number `index` of the table.
 * @param info_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_ENOENT after the last, LLMPERF_EINVAL. @threads any thread */
LLMPERF_API int llmperf_option_info_get(size_t index, llmperf_option_info *info_out);

/** Give a profile another value for an option of reports (`commands` names report), such as
 * "report.top", "50"; it comes before the configuration that the profile keeps.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM. @threads one at a time per object */
LLMPERF_API int llmperf_profile_set_option(llmperf_profile *profile, const char *key,
                                           const char *value);

#ifdef __cplusplus
}
#endif
#endif
