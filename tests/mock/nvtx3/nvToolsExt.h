/* SPDX-License-Identifier: Apache-2.0 */
/** Stands in for NVTX where a build finds no CUDA headers: as much of it as tests/programs call. It
 * loads the library that NVTX_INJECTION64_PATH names and calls what that puts into its tables, as
 * NVTX does; without one its functions do nothing. */
#ifndef MOCK_NVTX3_NVTOOLSEXT_H
#define MOCK_NVTX3_NVTOOLSEXT_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/regions/nvtx_abi.h"

#define NVTX_VERSION                     3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE    ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_PAYLOAD_UNKNOWN             0
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 LP_NVTX_PAYLOAD_UINT64
#define NVTX_MESSAGE_TYPE_REGISTERED     LP_NVTX_MESSAGE_REGISTERED

typedef const void *nvtxDomainHandle_t, *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;

/* Of the layout of struct lp_nvtx_attributes. */
typedef struct nvtxEventAttributes_t {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
        nvtxStringHandle_t registered;
    } message;
} nvtxEventAttributes_t;
_Static_assert(sizeof(nvtxEventAttributes_t) == sizeof(struct lp_nvtx_attributes),
               "the tool reads it as struct lp_nvtx_attributes");

/* What the tool fills in. */
static struct {
    int (*push_a)(const char *);
    int (*push_w)(const wchar_t *);
    int (*pop)(void);
    nvtxRangeId_t (*start_a)(const char *);
    void (*end)(nvtxRangeId_t);
    nvtxDomainHandle_t (*create_a)(const char *);
    nvtxStringHandle_t (*register_a)(nvtxDomainHandle_t, const char *);
    int (*domain_push)(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
    int (*domain_pop)(nvtxDomainHandle_t);
} mock_nvtx;

static int mock_nvtx_module(int module, lp_nvtx_function ***table_out, unsigned *size_out)
{
    static lp_nvtx_function *core[16], *core2[16];

    core[LP_NVTX_RANGE_PUSH_A] = (lp_nvtx_function *)(void *)&mock_nvtx.push_a;
    core[LP_NVTX_RANGE_PUSH_W] = (lp_nvtx_function *)(void *)&mock_nvtx.push_w;
    core[LP_NVTX_RANGE_POP] = (lp_nvtx_function *)(void *)&mock_nvtx.pop;
    core[LP_NVTX_RANGE_START_A] = (lp_nvtx_function *)(void *)&mock_nvtx.start_a;
    core[LP_NVTX_RANGE_END] = (lp_nvtx_function *)(void *)&mock_nvtx.end;
    core2[LP_NVTX_DOMAIN_CREATE_A] = (lp_nvtx_function *)(void *)&mock_nvtx.create_a;
    core2[LP_NVTX_DOMAIN_REGISTER_STRING_A] = (lp_nvtx_function *)(void *)&mock_nvtx.register_a;
    core2[LP_NVTX_DOMAIN_RANGE_PUSH_EX] = (lp_nvtx_function *)(void *)&mock_nvtx.domain_push;
    core2[LP_NVTX_DOMAIN_RANGE_POP] = (lp_nvtx_function *)(void *)&mock_nvtx.domain_pop;
    *table_out = module == LP_NVTX_MODULE_CORE2 ? core2 : core;
    *size_out = 16;
    return module == LP_NVTX_MODULE_CORE || module == LP_NVTX_MODULE_CORE2;
}

static const void *mock_nvtx_export_table(uint32_t id)
{
    static const struct lp_nvtx_callbacks callbacks = { sizeof(callbacks), mock_nvtx_module };

    return id == LP_NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void mock_nvtx_load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    int (*initialize)(lp_nvtx_export_table);

    if (!symbol)
        return;
    memcpy(&initialize, &symbol, sizeof(initialize));
    if (!initialize(mock_nvtx_export_table)) /* The tool refuses: nobody is called. */
        memset(&mock_nvtx, 0, sizeof(mock_nvtx));
}

static inline void mock_nvtx_first(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, mock_nvtx_load);
}

static inline int nvtxRangePushA(const char *text)
{
    mock_nvtx_first();
    return mock_nvtx.push_a ? mock_nvtx.push_a(text) : -1;
}

static inline int nvtxRangePushW(const wchar_t *text)
{
    mock_nvtx_first();
    return mock_nvtx.push_w ? mock_nvtx.push_w(text) : -1;
}

static inline int nvtxRangePop(void)
{
    mock_nvtx_first();
    return mock_nvtx.pop ? mock_nvtx.pop() : -1;
}

static inline nvtxRangeId_t nvtxRangeStartA(const char *text)
{
    mock_nvtx_first();
    return mock_nvtx.start_a ? mock_nvtx.start_a(text) : 0;
}

static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
    mock_nvtx_first();
    if (mock_nvtx.end)
        mock_nvtx.end(id);
}

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    mock_nvtx_first();
    return mock_nvtx.create_a ? mock_nvtx.create_a(name) : NULL;
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain,
                                                           const char *text)
{
    mock_nvtx_first();
    return mock_nvtx.register_a ? mock_nvtx.register_a(domain, text) : NULL;
}

static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *attributes)
{
    mock_nvtx_first();
    return mock_nvtx.domain_push ? mock_nvtx.domain_push(domain, attributes) : -1;
}

static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    mock_nvtx_first();
    return mock_nvtx.domain_pop ? mock_nvtx.domain_pop(domain) : -1;
}

#endif
