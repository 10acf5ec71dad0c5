/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/nvtx_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/regions/capture.h"
#include "tests/support/play.h"

struct nvtx_calls nvtx;
unsigned nvtx_core_size, nvtx_core2_size;

static int show_module(int module, lp_nvtx_function ***table_out, unsigned *size_out)
{
    static lp_nvtx_function *core[16], *core2[16];

    core[LP_NVTX_RANGE_START_EX] = (lp_nvtx_function *)(void *)&nvtx.range_start_ex;
    core[LP_NVTX_RANGE_START_A] = (lp_nvtx_function *)(void *)&nvtx.range_start_a;
    core[LP_NVTX_RANGE_START_W] = (lp_nvtx_function *)(void *)&nvtx.range_start_w;
    core[LP_NVTX_RANGE_END] = (lp_nvtx_function *)(void *)&nvtx.range_end;
    core[LP_NVTX_RANGE_PUSH_EX] = (lp_nvtx_function *)(void *)&nvtx.range_push_ex;
    core[LP_NVTX_RANGE_PUSH_A] = (lp_nvtx_function *)(void *)&nvtx.range_push_a;
    core[LP_NVTX_RANGE_PUSH_W] = (lp_nvtx_function *)(void *)&nvtx.range_push_w;
    core[LP_NVTX_RANGE_POP] = (lp_nvtx_function *)(void *)&nvtx.range_pop;
    core2[LP_NVTX_DOMAIN_RANGE_START_EX] = (lp_nvtx_function *)(void *)&nvtx.domain_range_start;
    core2[LP_NVTX_DOMAIN_RANGE_END] = (lp_nvtx_function *)(void *)&nvtx.domain_range_end;
    core2[LP_NVTX_DOMAIN_RANGE_PUSH_EX] = (lp_nvtx_function *)(void *)&nvtx.domain_range_push;
    core2[LP_NVTX_DOMAIN_RANGE_POP] = (lp_nvtx_function *)(void *)&nvtx.domain_range_pop;
    core2[LP_NVTX_DOMAIN_REGISTER_STRING_A] = (lp_nvtx_function *)(void *)&nvtx.register_string_a;
    core2[LP_NVTX_DOMAIN_REGISTER_STRING_W] = (lp_nvtx_function *)(void *)&nvtx.register_string_w;
    core2[LP_NVTX_DOMAIN_CREATE_A] = (lp_nvtx_function *)(void *)&nvtx.domain_create_a;
    core2[LP_NVTX_DOMAIN_CREATE_W] = (lp_nvtx_function *)(void *)&nvtx.domain_create_w;
    if (module != LP_NVTX_MODULE_CORE && module != LP_NVTX_MODULE_CORE2)
        return 0;
    *table_out = module == LP_NVTX_MODULE_CORE ? core : core2;
    *size_out = module == LP_NVTX_MODULE_CORE ? nvtx_core_size : nvtx_core2_size;
    return 1;
}

const void *nvtx_export_table(uint32_t id)
{
    static const struct lp_nvtx_callbacks callbacks = { sizeof(callbacks), show_module };

    return id == LP_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

int listen_to_nvtx(void **state)
{
    (void)state;
    nvtx_core_size = nvtx_core2_size = 16;
    return lp_nvtx_listen(nvtx_export_table);
}

llmperf_session *start_without_device(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_NONE;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

struct lp_nvtx_attributes nvtx_named(const char *text)
{
    struct lp_nvtx_attributes attributes = { .version = 3, .size = sizeof(attributes) };

    attributes.message_type = LP_NVTX_MESSAGE_ASCII;
    attributes.message.ascii = text;
    return attributes;
}

void expect_instances(const llmperf_profile *profile, const char *path, uint64_t count)
{
    if (find_region(profile, path, -1).instances != count)
        fail_msg("%s: %lu instances, not %lu", path,
                 (unsigned long)find_region(profile, path, -1).instances, (unsigned long)count);
}
