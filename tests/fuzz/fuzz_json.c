/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON validator: any bytes as a document, with a schema behind a NUL or with that of
 * metrics.json: it fits, or one line says where it does not. */
#include <string.h>

#include "lib/base/file.h"
#include "lib/output/schema/json_schema.h"
#include "tests/fuzz/fuzz.h"

static char *metrics_schema;
static size_t metrics_schema_size;

static void read_schema(void)
{
    const char *folder = llmperf_config_dir();
    char *path = folder ? lp_path_join(folder, "schema/metrics.schema.json") : NULL;

    if (!path || lp_file_read(path, &metrics_schema, &metrics_schema_size) < 0)
        abort();
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = memchr(bytes, 0, size);
    size_t document = end ? (size_t)(end - bytes) : size;
    int status;

    if (!metrics_schema)
        read_schema();
    status = end ? lp_json_check("document", (const char *)bytes, document, "schema",
                                 (const char *)end + 1, size - document - 1)
                 : lp_json_check("document", (const char *)bytes, size, "metrics", metrics_schema,
                                 metrics_schema_size);
    if (status < 0 && (strlen(llmperf_last_error()) < 10 || strchr(llmperf_last_error(), '\n')))
        abort();
    return 0;
}
