/* SPDX-License-Identifier: Apache-2.0 */
/** Commands under construction, and functions that the builders of nsys and ncu share. For
 * lib/vendor only. A failed allocation sets `failed`; later calls do nothing. */
#ifndef LP_VENDOR_COMMANDS_H
#define LP_VENDOR_COMMANDS_H

#include <stdbool.h>

#include "lib/base/strings.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "llmperf/sys/vendor.h"

struct lp_command {
    const char *step, *output;
    LP_VECTOR(const char *) argv;
};

struct llmperf_commands {
    uint32_t tool;
    const char *version; /* NULL: not known */
    unsigned release;    /* year * 100 + number: 202503; the newest if not known */
    struct lp_strings texts;
    LP_VECTOR(struct lp_command) list;
    LP_VECTOR(const char *) notes;
    bool failed;
};

/** Begin a command; arguments are added to the last one. */
void lp_commands_begin(llmperf_commands *commands, const char *step, const char *tool,
                       const char *output);
void lp_commands_add(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_commands_note(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A text that lives as long as the commands; "": out of memory. */
const char *lp_commands_text(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Add the program to profile, with its arguments. */
void lp_commands_add_program(llmperf_commands *commands, const llmperf_tool_request *request);

/** Add "args" of the configuration unchanged. 0 or LLMPERF_EFORMAT. */
int lp_commands_add_extra(llmperf_commands *commands, const llmperf_config *config,
                          const char *key);

/** A list joined by ',', or a text; "": none. 0 or LLMPERF_EFORMAT. */
int lp_commands_join(llmperf_commands *commands, const llmperf_config *config, const char *key,
                     const char **joined_out);

/** File name with '%' escaped, which tools would expand. */
const char *lp_commands_file(llmperf_commands *commands, const char *folder, const char *name);

/** nsys's capture range of a label: "prefill@LLM" for LLM@prefill. NULL: not a label (a path, an
 * expression). */
const char *lp_nsys_range(llmperf_commands *commands, const char *label);

/** ncu's filter for a label ("LLM@prefill/" for LLM@prefill) or for a path in one domain
 * ("LLM@prefill/mlp"); expressions in ncu's syntax are unchanged. NULL: neither, see
 * *problem_out. */
const char *lp_ncu_range(llmperf_commands *commands, const char *text, const char **problem_out);

/** Kernel name as in ncu's base "function": without return type, namespaces, template arguments and
 * parameters. */
const char *lp_kernel_function(llmperf_commands *commands, const char *name);

/** Pattern of ncu (base "function") for the longest kernels of a profile in run.stage. 0;
 * LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_top_kernels(llmperf_commands *commands, const llmperf_config *config,
                   const llmperf_profile *profile, const char **pattern_out, size_t *count_out);

/** Pattern of ncu for the kernel name `name` (NULL: all) without those that kernel_exclude names;
 * the name itself if it names none. 0; LLMPERF_EFORMAT, LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_excluding(llmperf_commands *commands, const llmperf_config *config, const char *name,
                 const char **pattern_out);

/** Add the commands of a tool. 0; LLMPERF_EFORMAT, LLMPERF_ENOENT, LLMPERF_ENOMEM. */
int lp_nsys_commands(llmperf_commands *commands, const llmperf_config *config,
                     const llmperf_tool_request *request);
int lp_ncu_commands(llmperf_commands *commands, const llmperf_config *config,
                    const llmperf_tool_request *request, const llmperf_profile *profile);

#endif
