/* SPDX-License-Identifier: Apache-2.0 */
/* How often the 95 % intervals of tier light contain the truth: the table of
 * docs/explanation/sampling.md.
 *
 * Usage: bench_sampling [runs [reasons]] */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/coverage.h"

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)atoi(argv[1]) : 500;

    printf("| program | stage | collected calls | bias | error | half width | with interval | "
           "covered |\n"
           "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < coverage_programs(); i++) {
        struct coverage stages[COVERAGE_STAGES];
        size_t count = coverage_run(i, runs, stages);

        for (size_t k = 0; k < count; k++) {
            const struct coverage *row = &stages[k];

            printf("| %s | `%s` | %.0f | %+.2f %% | %.2f %% | ", row->program, row->stage,
                   row->collected, 100 * row->bias, 100 * row->error);
            if (row->printed > 0)
                printf("%.2f %% | %u of %u | %.1f %% |\n", 100 * row->half, row->printed, row->runs,
                       100.0 * row->covered / row->printed);
            else
                printf("– | 0 of %u | – |\n", row->runs);
            for (size_t p = 0; p < COVERAGE_PARTS; p++)
                fprintf(stderr, "    %s: %u of %u printed, %.1f %% covered\n", row->parts[p].what,
                        row->parts[p].printed, row->parts[p].runs,
                        100.0 * row->parts[p].covered / row->parts[p].printed);
            if (argc > 2 && row->reason)
                fprintf(stderr, "    %s\n", row->reason);
        }
        fflush(stdout);
    }
    return 0;
}
