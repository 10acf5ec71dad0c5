/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an nsys export sequentially. Tables with environments, command lines and program output are
 * never read. */
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/vendor/nsys/sqlite.h"

static void clear(struct lp_nsys *nsys)
{
    lp_timeline_clear(&nsys->timeline);
    lp_strings_clear(&nsys->pool);
    lp_vector_clear(&nsys->strings);
    lp_hashmap_clear(&nsys->string_rows);
    lp_names_clear(&nsys->inline_texts);
    lp_vector_clear(&nsys->labels);
    lp_hashmap_clear(&nsys->label_rows);
    lp_hashmap_clear(&nsys->domains);
    lp_vector_clear(&nsys->domain_names);
    lp_hashmap_clear(&nsys->contexts);
    lp_database_close(nsys->database);
}

static bool is_export(struct lp_database *database)
{
    return lp_database_has(database, "StringIds") &&
           (lp_database_has(database, "META_DATA_EXPORT") ||
            lp_database_has(database, "EXPORT_META_DATA") ||
            lp_database_has(database, "CUPTI_ACTIVITY_KIND_KERNEL") ||
            lp_database_has(database, "NVTX_EVENTS"));
}

static int read_tables(struct lp_nsys *nsys)
{
    int status;

    if ((status = lp_database_open(nsys->path, &nsys->database)) < 0)
        return status;
    if (!is_export(nsys->database))
        return lp_error(LLMPERF_EFORMAT,
                        "%s is an SQLite file but not an nsys export; create one with nsys export "
                        "--type=sqlite",
                        nsys->path);
    if ((status = lp_nsys_read_strings(nsys)) < 0 || (status = lp_nsys_read_ops(nsys)) < 0 ||
        (status = lp_nsys_read_calls(nsys)) < 0)
        return status;
    return lp_nsys_read_ranges(nsys);
}

static void free_profiles(llmperf_profile **profiles, size_t count)
{
    for (size_t i = 0; profiles && i < count; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
}

/* Merge the profiles of all processes. */
static int make_profile(struct lp_nsys *nsys, llmperf_profile **profile_out)
{
    llmperf_profile **profiles = NULL;
    size_t count = 0;
    int status = lp_timeline_profiles(&nsys->timeline, &profiles, &count);

    if (status == 0 && count == 0)
        status = lp_error(LLMPERF_EFORMAT,
                          "%s holds no kernels, memory copies or NVTX ranges; profile with nsys "
                          "profile --trace=cuda,nvtx",
                          nsys->path);
    if (status == 0)
        status = lp_profile_join((const llmperf_profile *const *)profiles, count, profile_out);
    free_profiles(profiles, count);
    return status;
}

static int read_file(struct lp_nsys *nsys, llmperf_profile **profile_out)
{
    llmperf_profile *profile = NULL;
    int status;

    if ((status = read_tables(nsys)) < 0 || (status = make_profile(nsys, &profile)) < 0)
        return status;
    if ((status = lp_nsys_describe(nsys, profile)) < 0) {
        llmperf_profile_free(profile);
        return status;
    }
    *profile_out = profile;
    return 0;
}

int lp_nsys_sqlite_read(const char *path, uint32_t flags, llmperf_profile **profile_out)
{
    struct lp_nsys *nsys = calloc(1, sizeof(*nsys));
    int status;

    if (!nsys)
        return lp_out_of_memory();
    nsys->path = path;
    nsys->flags = nsys->timeline.flags = flags;
    status = read_file(nsys, profile_out);
    clear(nsys);
    free(nsys);
    return status;
}
