/* SPDX-License-Identifier: Apache-2.0 */
/** Functions of CUPTI, loaded at run time. They are looked up by name, never inferred from a
 * version. */
#ifndef LP_CUPTI_SYMBOLS_H
#define LP_CUPTI_SYMBOLS_H

#include "lib/cupti/abi.h"

struct lp_cupti {
    char path[512];
    uint32_t version; /* cuptiGetVersion(): 18 is 11.8, 27 is 12.9, 130000 is 13.0 */
    uint32_t driver;  /* cuDriverGetVersion(): 13000 serves CUDA 13.0 */

    int (*GetVersion)(uint32_t *version);
    int (*GetResultString)(int result, const char **text);
    int (*GetTimestamp)(uint64_t *timestamp);
    int (*Subscribe)(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user);
    int (*Subscribe_v2)(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user,
                        struct lp_cupti_subscriber_parameters *parameters); /* NULL before 13.0 */
    int (*Unsubscribe)(lp_cupti_subscriber subscriber);
    int (*Finalize)(void); /* any other call attaches CUPTI again */
    int (*EnableCallback)(uint32_t enable, lp_cupti_subscriber subscriber, uint32_t domain,
                          uint32_t id);
    int (*ActivitySetAttribute)(uint32_t attribute, size_t *size, void *value);
    int (*ActivityRegisterCallbacks)(lp_cupti_buffer_requested requested,
                                     lp_cupti_buffer_completed completed);
    int (*ActivityRegisterTimestampCallback)(lp_cupti_timestamp function); /* NULL before 11.6 */
    int (*ActivityEnable)(uint32_t kind);
    int (*ActivityDisable)(uint32_t kind);
    int (*ActivityFlushAll)(uint32_t flag);
    int (*ActivityGetNextRecord)(uint8_t *buffer, size_t valid, struct lp_cupti_record **record);
    int (*ActivityGetNumDroppedRecords)(void *context, uint32_t stream, size_t *dropped);
    /* With a subscriber; NULL before 13.3. */
    int (*ActivitySetAttribute_v2)(lp_cupti_subscriber subscriber, uint32_t attribute, size_t *size,
                                   void *value);
    int (*ActivityRegisterCallbacks_v2)(lp_cupti_subscriber subscriber,
                                        lp_cupti_buffer_requested_v2 requested,
                                        lp_cupti_buffer_completed_v2 completed);
    int (*ActivityEnable_v2)(lp_cupti_subscriber subscriber, uint32_t kind,
                             struct lp_cupti_activity_config *config);
    int (*ActivityDisable_v2)(lp_cupti_subscriber subscriber, uint32_t kind,
                              struct lp_cupti_activity_config *config);
    int (*ActivityGetNextRecord_v2)(lp_cupti_subscriber subscriber, uint8_t *buffer, size_t valid,
                                    struct lp_cupti_record **record);
    int (*ActivityGetNumDroppedRecords_v2)(lp_cupti_subscriber subscriber, void *context,
                                           uint32_t stream, size_t *dropped);
    int (*GetDeviceId)(void *context, uint32_t *device);
    int (*GetGraphId)(void *graph, uint32_t *id);    /* NULL before 11.1 */
    int (*GetGraphExecId)(void *exec, uint32_t *id); /* NULL before 12.3 */
    int (*GetGraphNodeId)(void *node, uint64_t *id); /* NULL before 11.1 */
};

/** The one CUPTI of this process, loaded at the first call; a copy in the process is shared. 0 and
 * *cupti_out (never freed); LLMPERF_ENODEVICE (no driver), LLMPERF_ENOENT (no CUPTI for this
 * driver).
 * @threads one at a time */
int lp_cupti_load(const struct lp_cupti **cupti_out);

/** The libcupti that lp_cupti_load() uses, or would use without a check for devices; NULL: none.
 * @threads one at a time */
void *lp_cupti_library(void);

/** Text of a CUPTI result, for messages. */
const char *lp_cupti_text(const struct lp_cupti *cupti, int result);

#endif
