/* SPDX-License-Identifier: Apache-2.0 */
/** A report of ncu while it is read. Field numbers are from the .proto files that come with ncu
 * (extras/FileFormat), version 7 of the format.
 * @threads one at a time per object */
#ifndef LP_VENDOR_NCU_REPORT_H
#define LP_VENDOR_NCU_REPORT_H

#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/ncu/nvtx.h"
#include "lib/vendor/wire.h"

/** Kinds of results, in their order in a block. */
enum lp_ncu_kind { LP_NCU_KERNEL, LP_NCU_RANGE, LP_NCU_COMMANDS, LP_NCU_GRAPH, LP_NCU_KINDS };

struct lp_ncu_report {
    struct lp_ncu *ncu;
    uint32_t process_id;         /* of the current block; 0: not known */
    bool app_range;              /* ranges were measured with application replay */
    uint64_t results;            /* so far */
    LP_VECTOR(char) text;        /* names of metrics, each NUL-terminated */
    LP_VECTOR(size_t) names;     /* offsets in `text` */
    LP_VECTOR(uint32_t) metrics; /* rows by name; LP_HASHMAP_NONE: not looked up yet */
    LP_VECTOR(uint64_t) seen;    /* by row of metrics: number of the last result with it */
    LP_VECTOR(char) word;        /* a text value */
    uint64_t units_missing;      /* names without a known unit */
};

/** Add a result. 0; LLMPERF_EFORMAT without an error text: damaged; LLMPERF_ENOMEM. */
int lp_ncu_report_result(struct lp_ncu_report *report, enum lp_ncu_kind kind,
                         struct lp_wire result);

/** Unit of a metric as ncu prints it, from the metric's name: reports contain no units. NULL: not
 * known. */
const char *lp_ncu_unit(const char *name);

/** Region of the ranges that were open on a thread.
 * @param most  As in lp_ncu_path().
 * @return 0; LLMPERF_EFORMAT (without an error text); LLMPERF_ENOMEM. */
int lp_ncu_state_path(struct lp_wire state, uint64_t thread, size_t most, uint32_t flags,
                      uint32_t *node_out);

#endif
