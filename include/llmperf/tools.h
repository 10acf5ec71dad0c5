/* SPDX-License-Identifier: Apache-2.0 */
/** Commands for NVIDIA Nsight Systems (nsys) and Nsight Compute (ncu), built from a configuration:
 * an array of arguments each, never a line for a shell. Options follow the version of the tool. */
#ifndef LLMPERF_TOOLS_H
#define LLMPERF_TOOLS_H

#include "llmperf/api.h"
#include "llmperf/config.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tools. */
enum { LLMPERF_TOOL_NSYS = 1, LLMPERF_TOOL_NCU = 2 };

/** Find a tool in PATH and ask its version.
 *
 * @param path_out     Yours: llmperf_text_free().
 * @param version_out  Yours: llmperf_text_free(); "2025.3.2.474", or NULL if it does not say.
 * @return LLMPERF_OK, LLMPERF_ENOENT (the error says where to get it), LLMPERF_EINVAL,
 * LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_tool_find(uint32_t tool, char **path_out, char **version_out);

/** What is to be done. Zero = default; strings are Borrowed for the call. */
typedef struct llmperf_tool_request {
    size_t struct_size;
    uint32_t tool; /**< LLMPERF_TOOL_… */
    uint32_t reserved;
    const char *path;    /**< first argument; NULL: "nsys" or "ncu" */
    const char *version; /**< as of llmperf_tool_find(); NULL: the newest that is known */
    const char
        *folder; /**< results go here: run.nsys-rep, run.sqlite, run_*.csv; run.ncu-rep, raw.csv */
    const char *program;    /**< program to start */
    const char **arguments; /**< of the program, without its name; NULL: none */
    size_t argument_count;
} llmperf_tool_request;
#define LLMPERF_TOOL_REQUEST_INIT LLMPERF_INIT(llmperf_tool_request)

/** Commands to run one after another. @threads one at a time per object */
typedef struct llmperf_commands llmperf_commands;

/** Build the commands of a tool from pipeline.nsys or pipeline.ncu, run.stage and run.top_n_kernels
 * of a composed configuration (docs/vendor-tools.md). Values that these tools would misread without
 * a word are refused: patterns with '*' where they take exact names, metrics of nvprof, capture
 * ranges that do not exist.
 *
 * @param config        Borrowed for the call.
 * @param request       struct_size, tool, folder and program are required.
 * @param profile       Borrowed: ncu looks only at the kernels that took longest in it, within
 * run.stage; NULL: at those that the configuration names.
 * @param commands_out  Yours: llmperf_commands_free().
 * @return LLMPERF_OK; LLMPERF_EFORMAT (a value of the configuration; the error names file, line and
 * key), LLMPERF_EINVAL, LLMPERF_ENOENT (no kernel of the profile lies in run.stage),
 * LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_commands_build(const llmperf_config *config,
                                       const llmperf_tool_request *request,
                                       const llmperf_profile *profile,
                                       llmperf_commands **commands_out);

/** Number of commands. */
LLMPERF_API size_t llmperf_commands_count(const llmperf_commands *commands);

/** Argument of a command, the tool is number 0; NULL behind the last, or beyond the end. As long as
 * the commands live. */
LLMPERF_API const char *llmperf_commands_argument(const llmperf_commands *commands, size_t index,
                                                  size_t argument);

/** A command on one line, quoted for a shell, to be stored or shown. "***" replaces the values of
 * options, variables and headers that look secret, credentials in URLs and well-known kinds of
 * tokens.
 *
 * @param line_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (beyond the end), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_commands_line(const llmperf_commands *commands, size_t index,
                                      char **line_out);

/** What a command is for: "profile" (this one starts the program), "export", "stats". NULL beyond
 * the end. */
LLMPERF_API const char *llmperf_commands_step(const llmperf_commands *commands, size_t index);

/** File that a command makes and llmperf_import() reads, the report for "profile" of nsys; NULL:
 * none, or beyond the end. */
LLMPERF_API const char *llmperf_commands_output(const llmperf_commands *commands, size_t index);

/** Remarks: options that this version does not have, and what kernels were chosen. NULL beyond the
 * last. */
LLMPERF_API const char *llmperf_commands_note(const llmperf_commands *commands, size_t index);

/** All of it as JSON: {tool, version, commands[{step, argv[], output}], notes[]}.
 * @param text_out  Yours: llmperf_text_free(). @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOMEM.
 */
LLMPERF_API int llmperf_commands_json(const llmperf_commands *commands, char **text_out);

/** NULL is fine. */
LLMPERF_API void llmperf_commands_free(llmperf_commands *commands);

#ifdef __cplusplus
}
#endif
#endif
