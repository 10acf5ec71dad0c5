/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/output/schema/json_schema.h"
#include "llmperf/output.h"
#include "llmperf/sys/check.h"
#include "llmperf/sys/config.h"

/* metrics.json with a hundred thousand kernels has about 80 MB. */
#define MOST_BYTES ((size_t)1 << 30)

/* By keys that only one kind of document has. Unreadable text is reported by the check. */
static const char *schema_of(const char *text, size_t size)
{
    static const char *const kinds[][2] = {
        { "scope", "schema/region_report.schema.json" },
        { "repeats", "schema/repeats.schema.json" },
        { "base", "schema/compare.schema.json" },
        { "folder", "schema/list.schema.json" },
        { "files", "schema/list.schema.json" },
        { "running", "schema/top.schema.json" },
        { "checks", "schema/doctor.schema.json" },
    };
    json_t *root = json_loadb(text, size, 0, NULL);
    const char *schema = "schema/metrics.schema.json";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (json_object_get(root, kinds[i][0]))
            schema = kinds[i][1];
    json_decref(root);
    return schema;
}

static int default_schema(const char *text, size_t size, char **path_out)
{
    const char *folder = llmperf_config_dir();

    if (!folder)
        return LLMPERF_ENOENT; /* it said why */
    *path_out = lp_path_join(folder, schema_of(text, size));
    return *path_out ? 0 : lp_out_of_memory();
}

int llmperf_validate(const char *path, const char *schema_path)
{
    char *found = NULL, *text = NULL, *schema = NULL;
    size_t size, schema_size;
    int status = 0;

    if (!path)
        return lp_error(LLMPERF_EINVAL, "path is required");
    if ((status = lp_file_read_most(path, MOST_BYTES, &text, &size)) == 0 && !schema_path &&
        (status = default_schema(text, size, &found)) == 0)
        schema_path = found;
    if (status == 0 &&
        (status = lp_file_read_most(schema_path, MOST_BYTES, &schema, &schema_size)) == 0)
        status = lp_json_check(path, text, size, schema_path, schema, schema_size);
    free(found);
    free(text);
    free(schema);
    return status;
}
