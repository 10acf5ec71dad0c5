/* SPDX-License-Identifier: Apache-2.0 */
/** Commands under construction, and what the builders of nsys and ncu share. For lib/vendor only.
 * Functions that add remember a failed allocation in `failed`; later calls do nothing. */
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
    unsigned release;    /* year * 100 + number: 202503; the newest if the version is not known */
    struct lp_strings texts;
    LP_VECTOR(struct lp_command) list;
    LP_VECTOR(const char *) notes;
    bool failed;
};

/** Begin a command; arguments go to the last one. */
void lp_commands_begin(llmperf_commands *commands, const char *step, const char *tool,
                       const char *output);
void lp_commands_add(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_commands_note(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Text that lives as long as the commands; "" without memory. */
const char *lp_commands_text(llmperf_commands *commands, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The program that the tool starts, with its arguments. */
void lp_commands_add_program(llmperf_commands *commands, const llmperf_tool_request *request);

/** "args" of the configuration: further options, passed through unchanged. 0 or LLMPERF_EFORMAT. */
int lp_commands_add_extra(llmperf_commands *commands, const llmperf_config *config,
                          const char *key);

/** Elements of a list, or one text, joined by ','; "" if there is none. 0 or LLMPERF_EFORMAT. */
int lp_commands_join(llmperf_commands *commands, const llmperf_config *config, const char *key,
                     const char **joined_out);

/** A file name for tools that give '%' a meaning. */
const char *lp_commands_file(llmperf_commands *commands, const char *folder, const char *name);

/** "prefill@LLM" for the label LLM@prefill: what nsys captures. NULL: no label (a path, an
 * expression). */
const char *lp_nsys_range(llmperf_commands *commands, const char *label);

/** "LLM@prefill/" for the label LLM@prefill, "LLM@prefill/mlp" for a path within one domain; an
 * expression in ncu's syntax is kept. NULL: neither; *problem_out is the reason. */
const char *lp_ncu_range(llmperf_commands *commands, const char *text, const char **problem_out);

/** Name of a kernel without return type, namespaces, template arguments and parameters, as ncu's
 * base "function" has it. */
const char *lp_kernel_function(llmperf_commands *commands, const char *name);

/** The kernels of a profile that took longest within run.stage, as a pattern of ncu for the
 * base "function". 0; LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_top_kernels(llmperf_commands *commands, const llmperf_config *config,
                   const llmperf_profile *profile, const char **pattern_out, size_t *count_out);

/** Add the commands of a tool. 0; LLMPERF_EFORMAT, LLMPERF_ENOENT, LLMPERF_ENOMEM. */
int lp_nsys_commands(llmperf_commands *commands, const llmperf_config *config,
                     const llmperf_tool_request *request);
int lp_ncu_commands(llmperf_commands *commands, const llmperf_config *config,
                    const llmperf_tool_request *request, const llmperf_profile *profile);

#endif
