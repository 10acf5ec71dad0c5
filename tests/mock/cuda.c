/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver with a context a thread, as the test says. */
#include <stddef.h>

int cuDriverGetVersion(int *version);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
void mock_context(void *context);

static __thread void *current;

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = current;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return current ? 0 : 201;
}

void mock_context(void *context)
{
    current = context;
}
