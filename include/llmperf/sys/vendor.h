/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Commands for NVIDIA Nsight Systems (nsys) and Nsight Compute (ncu), built from a configuration:
 * an array of arguments each, never a line for a shell. Options follow the version of the tool.
 *
 * Files of other tools as profiles: exports and tables of NVIDIA Nsight Systems (nsys), reports
 * and tables of NVIDIA Nsight Compute (ncu).
 *
 * The format of a file is recognised by its contents, not by its name. Files are never written to
 * and never trusted: a damaged one is an error that says what to do. Tables that hold
 * environments, command lines or output of programs are not read.
 *
 * @threads any thread, unless said otherwise */
#ifndef LLMPERF_SYS_VENDOR_H
#define LLMPERF_SYS_VENDOR_H

#include "llmperf/api.h"
#include "llmperf/profile.h"
#include "llmperf/sys/config.h"

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
 * of a composed configuration (docs/how-to/nsys-and-ncu.md). Values that these tools would misread
 * without a word are refused: patterns with '*' where they take exact names, metrics of nvprof,
 * capture ranges that do not exist.
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

/** What a file holds. */
enum {
    LLMPERF_FORMAT_UNKNOWN = 0,
    LLMPERF_FORMAT_RUN = 1, /**< a run of this library: llmperf_profile_open() */
    LLMPERF_FORMAT_RECORDING =
        2, /**< a recording of this library: a session of LLMPERF_SOURCE_REPLAY plays it */
    LLMPERF_FORMAT_NSYS_SQLITE = 3, /**< nsys export --type=sqlite */
    LLMPERF_FORMAT_NSYS_CSV = 4,    /**< nsys stats -f csv */
    LLMPERF_FORMAT_NCU_CSV = 5,     /**< ncu --csv, page raw or details, or its summary */
    LLMPERF_FORMAT_NSYS_REPORT =
        6, /**< .nsys-rep, .qdrep: not readable; nsys export makes SQLite of it */
    LLMPERF_FORMAT_NCU_REPORT =
        7 /**< .ncu-rep: version 7 is read; ncu --import makes CSV of others */
};

/** What a file holds. @param format_out  LLMPERF_FORMAT_…
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_format_detect(const char *path, uint32_t *format_out);

/** Flags of llmperf_import_options; others are refused with LLMPERF_EINVAL. */
enum {
    /** Keep names of ranges as they are. Without it what torch.autograd.profiler.emit_nvtx()
     * appends to the name of an operator
     * (", op_id = 7", ", seq = 12", sizes) is cut off: with it every call would be a region of its
     * own. */
    LLMPERF_IMPORT_EXACT_NAMES = 1
};

/** Zero = default. */
typedef struct llmperf_import_options {
    size_t struct_size;
    const char *run_id; /**< name of the run that the profile becomes; NULL: none */
    uint32_t flags;     /**< LLMPERF_IMPORT_… */
    uint32_t reserved;  /**< 0 */
    const char *config; /**< configuration as YAML (llmperf_config_document()), kept with the run as
                           config.yaml; NULL: none */
} llmperf_import_options;
#define LLMPERF_IMPORT_OPTIONS_INIT LLMPERF_INIT(llmperf_import_options)

/** Read files of nsys and ncu into one profile.
 *
 * Kernels, copies and ranges of nsys become regions, kernels and a ledger, as if this library had
 * watched; results of ncu become named metrics of the kernels and ranges that they are of, and
 * stand under the same regions. Without a file of nsys the kernels are those that ncu profiled,
 * with the times that it measured. A range "name" of domain D is region "D@name"; the domain
 * without a name is called "default", and "LLM@name" in it is a region of that label.
 *
 * @param paths    Borrowed, `count` of them.
 * @param options  Borrowed; NULL: defaults.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT (damaged, empty, or none of
 * these formats), LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_import(const char *const *paths, size_t count,
                               const llmperf_import_options *options,
                               llmperf_profile **profile_out);

#ifdef __cplusplus
}
#endif
#endif
