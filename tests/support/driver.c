/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const struct mock_cupti *cupti;
const struct mock_activity *driver;
void (*set_context)(void *context);
void (*set_cuda)(const struct mock_cuda *wanted);

const struct mock_call kernel = {
    .id = LAUNCH_KERNEL, .kind = LP_CUPTI_KIND_CONCURRENT_KERNEL, .records = 1, .name = "kernel"
};

static bool loaded;

/* Where the library looks for a GPU. */
int access(const char *path, int mode)
{
    return loaded && strcmp(path, "/dev/nvidiactl") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}

static void find(const char *file, const char *name, void *function)
{
    char path[1024];
    void *address, *library;

    snprintf(path, sizeof(path), "%s/%s", getenv("LLMPERF_MOCK"), file);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    address = library ? dlsym(library, name) : NULL;
    if (!address) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy(function, &address, sizeof(address));
}

void load_driver(void)
{
    mock_cupti_get *get;
    mock_activity_get *get_activity;

    setenv("LLMPERF_CUPTI_PATH", getenv("LLMPERF_MOCK"), 1);
    find("libcuda.so.1", "mock_context", &set_context);
    find("libcuda.so.1", "mock_cuda_set", &set_cuda);
    find("libcupti.so.13", "mock_cupti", &get);
    find("libcupti.so.13", "mock_activity", &get_activity);
    cupti = get();
    driver = get_activity();
    loaded = true;
}

int reset_driver(void **state)
{
    const struct mock_cuda plain = { .gpus = 1 };

    (void)state;
    cupti->reset();
    set_cuda(&plain);
    set_context(NULL);
    return 0;
}

llmperf_session_options deep_options(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.flags = LLMPERF_SESSION_RELEASE;
    return options;
}

llmperf_session *start_with(const llmperf_session_options *options)
{
    llmperf_session *session = NULL;

    if (llmperf_session_start(options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

llmperf_session *start_deep(void)
{
    const llmperf_session_options options = deep_options();

    return start_with(&options);
}

void launch(int count)
{
    for (int i = 0; i < count; i++)
        driver->call(&kernel);
}

void check_complete(llmperf_session *session, uint64_t kernels)
{
    llmperf_profile *profile = stop_session(session);

    assert_int_equal(ledger_of(profile).launches_expected, kernels);
    assert_int_equal(ledger_of(profile).kernels_seen, kernels);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

void refuse(int status, const char *part)
{
    const llmperf_session_options options = deep_options();
    llmperf_session *session = NULL;

    assert_int_equal(llmperf_session_start(&options, &session), status);
    check_error(part);
    assert_null(session);
}
