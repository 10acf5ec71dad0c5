/* SPDX-License-Identifier: Apache-2.0 */
/** Files of other tools as profiles: exports and tables of NVIDIA Nsight Systems (nsys), reports
 * and tables of NVIDIA Nsight Compute (ncu).
 *
 * The format of a file is recognised by its contents, not by its name. Files are never written to
 * and never trusted: a damaged one is an error that says what to do. Tables that hold
 * environments, command lines or output of programs are not read.
 *
 * @threads any thread; each call on its own */
#ifndef LLMPERF_IMPORT_H
#define LLMPERF_IMPORT_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/** Word for a format: "run", "recording", "nsys sqlite", "nsys csv", "ncu csv", "nsys report", "ncu
 * report", "unknown". Static text. */
LLMPERF_API const char *llmperf_format_name(uint32_t format);

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
