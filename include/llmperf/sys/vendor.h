/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * NVIDIA Nsight Systems (nsys) and Nsight Compute (ncu): build the commands that start them, and
 * import their files.
 *
 * Commands are arrays of arguments, never lines for a shell, and follow the version of the tool.
 * The format of a file is recognised by its content. Files are only read. Tables with environments,
 * command lines or output of programs are not read. */
#ifndef LLMPERF_SYS_VENDOR_H
#define LLMPERF_SYS_VENDOR_H

#include "llmperf/api.h"
#include "llmperf/profile.h"
#include "llmperf/sys/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tools. */
enum {
    LLMPERF_TOOL_NSYS = 1, /**< Nsight Systems */
    LLMPERF_TOOL_NCU = 2   /**< Nsight Compute */
};

/** Find a tool in PATH and get its version.
 *
 * @param tool         LLMPERF_TOOL_…
 * @param path_out     Yours: llmperf_text_free().
 * @param version_out  "2025.3.2.474"; NULL if the tool does not say. Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT (the error says where to get it), LLMPERF_EINVAL,
 * LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_tool_find(uint32_t tool, char **path_out, char **version_out);

/** A request for commands. Zero means default; strings are Borrowed for the call. */
typedef struct llmperf_tool_request {
    size_t struct_size;
    uint32_t tool;          /**< LLMPERF_TOOL_… */
    uint32_t reserved;      /**< 0 */
    const char *path;       /**< path of the tool; NULL: "nsys" or "ncu" */
    const char *version;    /**< as from llmperf_tool_find(); NULL: the newest known version */
    const char *folder;     /**< folder of the results: run.nsys-rep, run.sqlite, run_*.csv;
                               run.ncu-rep, raw.csv */
    const char *program;    /**< program to start */
    const char **arguments; /**< arguments of the program, without its name; NULL: none */
    size_t argument_count;  /**< number of arguments */
} llmperf_tool_request;
#define LLMPERF_TOOL_REQUEST_INIT LLMPERF_INIT(llmperf_tool_request)

/** Commands to execute one after another. */
typedef struct llmperf_commands llmperf_commands;

/** Build the commands of a tool from pipeline.nsys or pipeline.ncu, run.stage and run.top_n_kernels
 * of a configuration (docs/how-to/nsys-and-ncu.md). Values that the tool would silently misread are
 * refused: patterns with '*' where it takes exact names, metrics of nvprof, capture ranges that do
 * not exist.
 *
 * @param config        Borrowed for the call.
 * @param request       struct_size, tool, folder and program are required.
 * @param profile       Borrowed: ncu profiles only the kernels with the longest total time in it,
 * within run.stage. NULL: the kernels that the configuration names.
 * @param commands_out  Yours: llmperf_commands_free().
 * @return LLMPERF_OK; LLMPERF_EFORMAT (a value of the configuration; the error names file, line and
 * key), LLMPERF_EINVAL, LLMPERF_ENOENT (run.stage has no kernel in the profile), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_commands_build(const llmperf_config *config,
                                       const llmperf_tool_request *request,
                                       const llmperf_profile *profile,
                                       llmperf_commands **commands_out);

/** Number of commands.
 *
 * @threads any thread */
LLMPERF_API size_t llmperf_commands_count(const llmperf_commands *commands);

/** An argument of a command.
 *
 * @param index     Command, from 0.
 * @param argument  Argument; 0 is the tool.
 * @return Belongs to the commands; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_commands_argument(const llmperf_commands *commands, size_t index,
                                                  size_t argument);

/** A command on one line, quoted for a shell, to be stored or shown. Values of options, variables
 * and headers that look secret, credentials in URLs and well-known kinds of tokens are replaced by
 * "***".
 *
 * @param index     Command, from 0.
 * @param line_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL (past the last), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_commands_line(const llmperf_commands *commands, size_t index,
                                      char **line_out);

/** Purpose of a command.
 *
 * @param index  Command, from 0.
 * @return "profile" (starts the program), "export" or "stats"; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_commands_step(const llmperf_commands *commands, size_t index);

/** File that a command writes and llmperf_import() reads; for "profile" of nsys, its report.
 *
 * @param index  Command, from 0.
 * @return Belongs to the commands; NULL: none, or past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_commands_output(const llmperf_commands *commands, size_t index);

/** Notes: options that this version of the tool lacks, and the kernels that were chosen.
 *
 * @param index  From 0.
 * @return Belongs to the commands; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_commands_note(const llmperf_commands *commands, size_t index);

/** All commands as JSON: {tool, version, commands[{step, argv[], output}], notes[]}.
 *
 * @param text_out  Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_commands_json(const llmperf_commands *commands, char **text_out);

/** Free commands.
 *
 * @param commands  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_commands_free(llmperf_commands *commands);

/** Formats of files. llmperf_name() with LLMPERF_NAME_FORMAT names them. */
enum {
    LLMPERF_FORMAT_UNKNOWN = 0,
    LLMPERF_FORMAT_RUN = 1,         /**< a run of this library: llmperf_profile_open() */
    LLMPERF_FORMAT_RECORDING = 2,   /**< a recording of this library: LLMPERF_SOURCE_REPLAY */
    LLMPERF_FORMAT_NSYS_SQLITE = 3, /**< nsys export --type=sqlite */
    LLMPERF_FORMAT_NSYS_CSV = 4,    /**< nsys stats -f csv */
    LLMPERF_FORMAT_NCU_CSV = 5,     /**< ncu --csv, page raw or details, or its summary */
    LLMPERF_FORMAT_NSYS_REPORT =
        6,                         /**< .nsys-rep, .qdrep: not readable; convert with nsys export */
    LLMPERF_FORMAT_NCU_REPORT = 7, /**< .ncu-rep: version 7; convert others with ncu --import */
    LLMPERF_FORMAT_TRACE = 8       /**< JSON trace of torch.profiler: LLMPERF_SOURCE_REPLAY */
};

/** Detect the format of a file by its content.
 *
 * @param path        The file.
 * @param format_out  LLMPERF_FORMAT_…
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_format_detect(const char *path, uint32_t *format_out);

/** Flags of llmperf_import_options. Other bits are refused with LLMPERF_EINVAL. */
enum {
    /** Keep names of ranges unchanged. Without this flag, the rules for engines (conf/engines) are
     * applied to them: numbers that differ with each call are removed, because they would make each
     * call a region of its own, and steps become stages with their tokens. */
    LLMPERF_IMPORT_EXACT_NAMES = 1,
    /** The tools ran on this machine just now: env.json describes it. */
    LLMPERF_IMPORT_THIS_MACHINE = 2
};

/** Options of an import. Zero means default. */
typedef struct llmperf_import_options {
    size_t struct_size;
    const char *run_id; /**< name of the run; NULL: none */
    uint32_t flags;     /**< LLMPERF_IMPORT_… */
    uint32_t reserved;  /**< 0 */
    const char *config; /**< configuration as YAML, kept with the run as config.yaml; NULL: none */
    const char *created_at;     /**< UTC, ISO 8601, if the files do not say when; NULL: not known */
    const char *nsys_version;   /**< version of nsys, if the files do not say it; NULL: not known */
    const char *ncu_version;    /**< the same of ncu */
    const char *const *program; /**< argv of the program, ended by NULL, for
                                   LLMPERF_IMPORT_THIS_MACHINE; NULL: not known */
} llmperf_import_options;
#define LLMPERF_IMPORT_OPTIONS_INIT LLMPERF_INIT(llmperf_import_options)

/** Import files of nsys and ncu as one profile.
 *
 * Kernels, memcpys and ranges of nsys become regions, kernels and a ledger. Results of ncu become
 * metrics of the kernels and ranges that they belong to. Without a file of nsys, the kernels are
 * those that ncu profiled, with the times that it measured. A range "name" of NVTX domain D becomes
 * region "D@name"; the unnamed domain is called "default", and "LLM@name" in it is a region of that
 * label.
 *
 * @param paths        Borrowed: `count` paths.
 * @param count        Number of files.
 * @param options      Borrowed; NULL: defaults.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT (damaged, empty, or of
 * another format), LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_import(const char *const *paths, size_t count,
                               const llmperf_import_options *options,
                               llmperf_profile **profile_out);

#ifdef __cplusplus
}
#endif
#endif
