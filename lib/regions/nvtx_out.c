/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/variable.h"
#include "lib/regions/capture.h"
#include "lib/regions/nvtx_out.h"
#include "lib/record/paths.h"

#ifdef LP_HAVE_NVTX

#include <nvtx3/nvToolsExt.h>

enum { UNTRIED = 0, ABSENT = 1, PRESENT = 2 };

static _Atomic uint32_t tool; /* is a tool attached? NVTX decides this once, at its first call */

static __thread bool starting;

bool lp_nvtx_out_available(void)
{
    return true;
}

bool lp_nvtx_out_starting(void)
{
    return starting;
}

/* Without a tool NVTX returns a NULL domain. Two threads may create the same domain: tools merge
 * domains by name. */
static nvtxDomainHandle_t find_domain(struct lp_path *path)
{
    nvtxDomainHandle_t domain = atomic_load_explicit(&path->nvtx_domain, memory_order_acquire);
    size_t length = (size_t)(path->name - path->label) - 1;
    char name[256];

    if (domain)
        return domain;
    if (length >= sizeof(name))
        length = sizeof(name) - 1;
    memcpy(name, path->label, length);
    name[length] = '\0';
    domain = nvtxDomainCreateA(name);
    atomic_store_explicit(&path->nvtx_name,
                          domain ? nvtxDomainRegisterStringA(domain, path->name) : NULL,
                          memory_order_release);
    atomic_store_explicit(&path->nvtx_domain, domain, memory_order_release);
    return domain;
}

/* NVTX's lazy initialisation has a data race, so one thread makes the first call. */
static void start_nvtx(void)
{
    starting = true;
    nvtxInitialize(NULL);
    starting = false;
}

static void push_range(uint32_t node)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct lp_path *path = lp_path_get(node);
    nvtxEventAttributes_t attributes = { 0 };
    nvtxDomainHandle_t domain = NULL;

    /* NVTX itself would load the tool from the environment. */
    if (!lp_variables_are_ignored()) {
        pthread_once(&once, start_nvtx);
        domain = find_domain(path);
    }
    atomic_store_explicit(&tool, domain ? PRESENT : ABSENT,
                          memory_order_relaxed); /* each thread finds the same value */
    if (!domain)
        return;
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = atomic_load_explicit(&path->nvtx_name, memory_order_acquire);
    nvtxDomainRangePushEx(domain, &attributes);
}

void lp_nvtx_push(uint32_t node)
{
    if (__builtin_expect(atomic_load_explicit(&tool, memory_order_relaxed) != ABSENT, 0))
        push_range(node);
}

void lp_nvtx_pop(uint32_t node)
{
    nvtxDomainHandle_t domain;

    if (__builtin_expect(atomic_load_explicit(&tool, memory_order_relaxed) != PRESENT, 1))
        return;
    domain = atomic_load_explicit(&lp_path_get(node)->nvtx_domain, memory_order_acquire);
    if (domain)
        nvtxDomainRangePop(domain);
}

#else

bool lp_nvtx_out_available(void)
{
    return false;
}

bool lp_nvtx_out_starting(void)
{
    return false;
}

void lp_nvtx_push(uint32_t node)
{
    (void)node;
}

void lp_nvtx_pop(uint32_t node)
{
    (void)node;
}

#endif
