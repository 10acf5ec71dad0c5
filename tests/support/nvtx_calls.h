/* SPDX-License-Identifier: Apache-2.0 */
/** A program that uses NVTX, through a table like the one that NVTX shows. */
#ifndef TESTS_SUPPORT_NVTX_CALLS_H
#define TESTS_SUPPORT_NVTX_CALLS_H

#include <stdint.h>
#include <wchar.h>

#include "lib/regions/nvtx_abi.h"
#include "llmperf/llmperf.h"

/* What a program that uses NVTX calls. */
struct nvtx_calls {
    uint64_t (*range_start_ex)(const struct lp_nvtx_attributes *attributes);
    uint64_t (*range_start_a)(const char *text);
    uint64_t (*range_start_w)(const wchar_t *text);
    void (*range_end)(uint64_t id);
    int (*range_push_ex)(const struct lp_nvtx_attributes *attributes);
    int (*range_push_a)(const char *text);
    int (*range_push_w)(const wchar_t *text);
    int (*range_pop)(void);
    uint64_t (*domain_range_start)(const void *domain, const struct lp_nvtx_attributes *attributes);
    void (*domain_range_end)(const void *domain, uint64_t id);
    int (*domain_range_push)(const void *domain, const struct lp_nvtx_attributes *attributes);
    int (*domain_range_pop)(const void *domain);
    const void *(*register_string_a)(const void *domain, const char *text);
    const void *(*register_string_w)(const void *domain, const wchar_t *text);
    const void *(*domain_create_a)(const char *name);
    const void *(*domain_create_w)(const wchar_t *name);
};

extern struct nvtx_calls nvtx;
extern unsigned nvtx_core_size, nvtx_core2_size; /* places of the two tables */

/** As NVTX hands it to a tool. */
const void *nvtx_export_table(uint32_t id);

/** cmocka fixture: the library listens to these tables. */
int listen_to_nvtx(void **state);

/** A session without a device. */
llmperf_session *start_without_device(void);

struct lp_nvtx_attributes nvtx_named(const char *text);

void expect_instances(const llmperf_profile *profile, const char *path, uint64_t count);

#endif
