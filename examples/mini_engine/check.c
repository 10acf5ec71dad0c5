/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static struct ops *open_cpu(size_t device)
{
    (void)device;
    return ops_cpu_open();
}

struct ops *(*ops_open)(size_t device) = open_cpu;
int on_gpu;
static int failed, passed;

void claim(int holds, const char *name, const char *format, ...)
{
    va_list arguments;

    printf("%s %s: ", holds ? "ok    " : "FAILED", name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    failed += !holds;
    passed += holds;
}

double distance(const float *a, const double *b, size_t count)
{
    double difference = 0, size = 0;

    for (size_t i = 0; i < count; i++) {
        difference += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        size += b[i] * b[i];
    }
    return isnan(difference) ? INFINITY : sqrt(difference / (size > 0 ? size : 1));
}

static struct ops *open_gpu(size_t device)
{
    char reason[512];
    struct ops *ops = ops_cuda_open(device, reason, sizeof(reason));

    if (!ops)
        printf("%s\n", reason);
    return ops;
}

int main(int count, char **arguments)
{
    on_gpu =
        count == 3 && strcmp(arguments[1], "--device") == 0 && strcmp(arguments[2], "cuda") == 0;
    if (count == 2 &&
        strcmp(arguments[1], "--self") == 0) { /* the harness itself, both sides CPU */
        check_ops();
        printf("%d passed, %d failed\n", passed, failed);
        return failed > 0;
    }
    if (on_gpu) {
        struct ops *ops = open_gpu(0);

        if (!ops)
            return 77;
        printf("device: %s\n", ops->name);
        ops->destroy(ops);
        ops_open = open_gpu;
        check_ops();
    }
    check_engine();
    check_ranks();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
