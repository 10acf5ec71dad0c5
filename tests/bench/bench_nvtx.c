/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of an NVTX range of code that does not know the library, injected as `llmperf run` does it:
 * push and pop, CPU time of the marking thread. Between bursts the collector has time to empty the
 * ring. */
#include <dlfcn.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#ifdef BENCH_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

#define ROUNDS 15
#define PAIRS  10000u

enum shape { PLAIN, REGISTERED, PYTORCH, SHAPES };

static const char *const names[] = { "a name", "registered, own domain", "PyTorch's emit_nvtx()" };

static void mark_plain(void)
{
    for (uint32_t i = 0; i < PAIRS; i++) {
        nvtxRangePushA("attention");
        nvtxRangePop();
    }
}

static void mark_registered(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
    nvtxEventAttributes_t attributes = { 0 };

    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "attention");
    for (uint32_t i = 0; i < PAIRS; i++) {
        nvtxDomainRangePushEx(domain, &attributes);
        nvtxDomainRangePop(domain);
    }
}

/* Names as PyTorch makes them: another number each time. */
static void mark_pytorch(void)
{
    static char texts[PAIRS][48];

    if (!texts[0][0])
        for (uint32_t i = 0; i < PAIRS; i++)
            snprintf(texts[i], sizeof(texts[i]), "aten::linear, seq = %u, op_id = %u", i, 3 * i);
    for (uint32_t i = 0; i < PAIRS; i++) {
        nvtxRangePushA(texts[i]);
        nvtxRangePop();
    }
}

static double time_burst(enum shape shape)
{
    static void (*const marks[])(void) = { mark_plain, mark_registered, mark_pytorch };
    uint64_t start = bench_time_ns(CLOCK_THREAD_CPUTIME_ID);

    marks[shape]();
    return (double)(bench_time_ns(CLOCK_THREAD_CPUTIME_ID) - start) / PAIRS;
}

static char folder[] = "/tmp/llmperf-bench-XXXXXX"; /* of the injected run */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void inject(void)
{
    const char *(*function)(void) = llmperf_version;
    void *address;
    Dl_info info;

    memcpy(&address, &function, sizeof(address));
    bench_need(dladdr(address, &info) ? 0 : -1, "the library's path");
    setenv("NVTX_INJECTION64_PATH", info.dli_fname, 1);
    setenv("LLMPERF_TIER", "regions", 1);
    bench_need(mkdtemp(folder) ? 0 : -1, folder);
    atexit(remove_folder); /* Before the library's handler is registered, so it runs after it. */
    setenv("LLMPERF_OUT", folder, 1);
}

static void print_row(const char *name, double ns)
{
    char what[80], measured[32];

    snprintf(what, sizeof(what), "NVTX range of foreign code, %s", name);
    snprintf(measured, sizeof(measured), "%.1f ns", ns);
    bench_row(what, measured, "see region", "-", true);
}

int main(void)
{
    inject();
    for (int shape = 0; shape < SHAPES; shape++) {
        struct bench_samples samples = { 0 };

        for (int i = 0; i <= ROUNDS; i++) {
            double ns = time_burst((enum shape)shape);

            if (i > 0) /* The first one fills the caches. */
                bench_add(&samples, ns);
            usleep(60000);
        }
        print_row(names[shape], bench_median(&samples));
    }
    return 0;
}
#else
int main(void)
{
    printf("built without NVTX\n");
    return 77;
}
#endif
