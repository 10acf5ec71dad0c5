/* SPDX-License-Identifier: Apache-2.0 */
/* How often the 95 % intervals of tier light contain the truth: the table of
 * docs/explanation/sampling.md.
 *
 * Usage: bench_sampling [runs [reasons]] */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/coverage.h"

/* "95.2 % of 954": covered, of those with an interval. */
static void print_part(const struct coverage_part *part)
{
    if (part->printed > 0)
        printf(" %.1f %% of %u |", 100.0 * part->covered / part->printed, part->printed);
    else
        printf(" – |");
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)atoi(argv[1]) : 500;

    printf("| program | stage | collected calls | bias | error | half width | with interval | "
           "covered | kernel 1 | kernel 2 | kernel 3 | region | MFU |\n"
           "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
           "---: |\n");
    for (size_t i = 0; i < coverage_programs(); i++) {
        struct coverage stages[COVERAGE_STAGES];
        size_t count = coverage_run(i, runs, stages);

        for (size_t k = 0; k < count; k++) {
            const struct coverage *row = &stages[k];

            printf("| %s | `%s` | %.0f | %+.2f %% | %.2f %% | ", row->program, row->stage,
                   row->collected, 100 * row->bias, 100 * row->error);
            if (row->printed > 0)
                printf("%.2f %% | %u of %u | %.1f %% |", 100 * row->half, row->printed, row->runs,
                       100.0 * row->covered / row->printed);
            else
                printf("– | 0 of %u | – |", row->runs);
            for (size_t p = 0; p < COVERAGE_PARTS; p++)
                print_part(&row->parts[p]);
            printf("\n");
            if (argc > 2 && row->reason)
                fprintf(stderr, "    %s\n", row->reason);
        }
        fflush(stdout);
    }
    return 0;
}
