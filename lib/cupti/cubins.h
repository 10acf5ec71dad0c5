/* SPDX-License-Identifier: Apache-2.0 */
/** Code that the program has loaded, as far as it has line information (nvcc -lineinfo): CUPTI
 * finds the source line of an instruction in it. */
#ifndef LP_CUPTI_CUBINS_H
#define LP_CUPTI_CUBINS_H

#include "lib/cupti/symbols.h"

#define LP_CUBINS_BYTES (UINT64_C(64) << 20) /* code that does not fit any more is not kept */

struct lp_cubin {
    char *bytes;
    size_t size;
    uint64_t crc; /* for the reader; 0: not computed yet */
};

/** Keep what is loaded from now on. */
void lp_cubins_watch(const struct lp_cupti *cupti, lp_cupti_subscriber subscriber);

/** Called at the load of a module. @threads any thread */
void lp_cubins_loaded(const struct lp_cupti_resource_data *data);

/** One that is kept; NULL: there are not so many. It stays until lp_cubins_forget(). @threads one
 * at a time, the same as lp_cubins_forget() */
struct lp_cubin *lp_cubins_at(size_t index);

/** Free all of them and keep no more. */
void lp_cubins_forget(void);

#endif
