/* SPDX-License-Identifier: Apache-2.0 */
/** Memory of this process, for C and CUDA benchmarks. */
#ifndef LP_TESTS_BENCH_MEMORY_H
#define LP_TESTS_BENCH_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline double bench_resident_mib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

#endif
