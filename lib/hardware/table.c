/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/table.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "llmperf/sys/hardware.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/config.h"

#define FOLDER     "hardware"
#define RATES_NAME "rates.yaml"
#define KEY_BYTES  96

/* "gpus.3.peak_tflops.bf16" */
static const char *key_of(char key[KEY_BYTES], const struct lp_gpu_row *row, const char *part)
{
    snprintf(key, KEY_BYTES, "gpus.%zu.%s", row->index, part);
    return key;
}

const char *lp_gpu_row_text(const struct lp_gpu_row *row, const char *part)
{
    char key[KEY_BYTES];
    const char *text = NULL;

    return llmperf_config_text(row->config, key_of(key, row, part), &text) == 0 ? text : NULL;
}

static int number_at(const struct lp_gpu_row *row, const char *part, double *value_out)
{
    char key[KEY_BYTES];

    return llmperf_config_number(row->config, key_of(key, row, part), value_out);
}

/* "9.0" is 90; 0: not a compute capability. */
static int32_t capability_of(const char *text)
{
    int major = 0, minor = 0;

    return sscanf(text, "%2d.%1d", &major, &minor) == 2 ? 10 * major + minor : 0;
}

static int read_capability(struct lp_gpu_row *row)
{
    const char *text = lp_gpu_row_text(row, "compute_capability");

    if (text && (row->capability = capability_of(text)) > 0)
        return 0;
    return lp_error(LLMPERF_EFORMAT, "conf/hardware: %s needs a compute_capability such as \"9.0\"",
                    row->name);
}

static int read_memory(struct lp_gpu_row *row)
{
    char part[32];

    for (row->memory_count = 0; row->memory_count < LP_GPU_MEMORIES; row->memory_count++) {
        snprintf(part, sizeof(part), "memory_gb.values.%zu", row->memory_count);
        if (number_at(row, part, &row->memory_gb[row->memory_count]) < 0)
            break;
    }
    return row->memory_count > 0
               ? 0
               : lp_error(LLMPERF_EFORMAT, "conf/hardware: %s needs memory_gb.values", row->name);
}

static int add_row(struct lp_gpu_table *table, const llmperf_config *config, size_t index)
{
    struct lp_gpu_row row = { .config = config, .index = index, .formula_holds = true };
    double sm_count;
    int status;

    if (!(row.name = lp_gpu_row_text(&row, "name")))
        return LLMPERF_EFORMAT; /* the configuration reader set the message */
    if ((status = read_capability(&row)) < 0 || (status = read_memory(&row)) < 0)
        return status;
    if (number_at(&row, "sm_count", &sm_count) < 0 || sm_count < 1 || sm_count > 1e6)
        return lp_error(LLMPERF_EFORMAT, "conf/hardware: %s needs sm_count", row.name);
    row.sm_count = (int32_t)sm_count;
    if (lp_gpu_row_text(&row, "formula_holds"))
        row.formula_holds = strcmp(lp_gpu_row_text(&row, "formula_holds"), "true") == 0;
    return lp_vector_push(&table->rows, row) < 0 ? lp_error(LLMPERF_ENOMEM, "out of memory") : 0;
}

static int add_file(void *context, const char *path)
{
    struct lp_gpu_table *table = context;
    const char *name = strrchr(path, '/');
    llmperf_config *config;
    size_t count;
    int status;

    if (name && strcmp(name + 1, RATES_NAME) == 0) /* no GPUs: read on its own */
        return 0;
    if ((status = llmperf_config_open(path, &config)) < 0)
        return status;
    if (lp_vector_push(&table->files, config) < 0) {
        llmperf_config_free(config);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    count = llmperf_config_length(config, "gpus");
    for (size_t i = 0; status == 0 && i < count; i++)
        status = add_row(table, config, i);
    return status;
}

int lp_gpu_table_open(struct lp_gpu_table **table_out)
{
    const char *data = llmperf_config_dir();
    char *folder = data ? lp_path_join(data, FOLDER) : NULL;
    struct lp_gpu_table *table = calloc(1, sizeof(*table));
    int status = LLMPERF_ENOENT; /* llmperf_config_dir() set the message */

    if (!table || (data && !folder))
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else if (folder)
        status = lp_folder_visit_yaml(folder, add_file, table);
    free(folder);
    if (status < 0)
        lp_gpu_table_free(table);
    else
        *table_out = table;
    return status;
}

void lp_gpu_table_free(struct lp_gpu_table *table)
{
    for (size_t i = 0; table && i < table->files.count; i++)
        llmperf_config_free(table->files.items[i]);
    if (table) {
        lp_vector_clear(&table->files);
        lp_vector_clear(&table->rows);
    }
    free(table);
}

/* A number, or a map whose value, source and confidence override those of its group. */
static int read_value(const struct lp_gpu_row *row, const char *part, const char *source,
                      const char *confidence, llmperf_hardware_value *value_out)
{
    static const char *const levels[] = { "none", "low", "medium", "high" };
    char nested[64];
    double number;
    int status = number_at(row, part, &number);
    uint32_t level = 1;

    if (status == LLMPERF_EFORMAT) {
        snprintf(nested, sizeof(nested), "%s.value", part);
        if ((status = number_at(row, nested, &number)) < 0)
            return LLMPERF_EFORMAT;
        snprintf(nested, sizeof(nested), "%s.source", part);
        source = lp_gpu_row_text(row, nested) ? lp_gpu_row_text(row, nested) : source;
        snprintf(nested, sizeof(nested), "%s.confidence", part);
        confidence = lp_gpu_row_text(row, nested) ? lp_gpu_row_text(row, nested) : confidence;
    }
    if (status < 0)
        return status;
    while (level < 4 && confidence && strcmp(levels[level], confidence) != 0)
        level++;
    if (!(number > 0) || !source || !confidence || level == 4)
        return lp_error(LLMPERF_EFORMAT,
                        "conf/hardware: %s of %s needs a positive value, a source and a confidence "
                        "of high, medium or low",
                        part, row->name);
    lp_hardware_set(value_out, number, LLMPERF_ORIGIN_TABLE, level, source);
    return 0;
}

static int read_peaks(const struct lp_gpu_row *row, llmperf_hardware *hardware)
{
    const char *source = lp_gpu_row_text(row, "peak_tflops.source");
    const char *confidence = lp_gpu_row_text(row, "peak_tflops.confidence");

    for (size_t i = 0; i < LP_PEAKS; i++) {
        char part[64];

        snprintf(part, sizeof(part), "peak_tflops.%s", llmperf_hardware_dtype(i));
        if (read_value(row, part, source, confidence, &hardware->peaks[i]) == LLMPERF_EFORMAT)
            return LLMPERF_EFORMAT;
    }
    return 0;
}

static int read_quantities(const struct lp_gpu_row *row, llmperf_hardware *hardware)
{
    static const struct {
        uint32_t quantity;
        const char *part, *group;
    } parts[] = {
        { LLMPERF_HARDWARE_BANDWIDTH_GBS, "bandwidth_gbs", "bandwidth_gbs" },
        { LLMPERF_HARDWARE_L2_MB, "l2_mb", "l2_mb" },
        { LLMPERF_HARDWARE_LINK_GBS, "link_gbs", "link_gbs" },
        { LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ, "clock_mhz.tensor", "clock_mhz" },
        { LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ, "clock_mhz.vector", "clock_mhz" },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char source[64], confidence[64];

        snprintf(source, sizeof(source), "%s.source", parts[i].group);
        snprintf(confidence, sizeof(confidence), "%s.confidence", parts[i].group);
        if (read_value(row, parts[i].part, lp_gpu_row_text(row, source),
                       lp_gpu_row_text(row, confidence),
                       &hardware->quantities[parts[i].quantity - 1]) == LLMPERF_EFORMAT)
            return LLMPERF_EFORMAT;
    }
    lp_hardware_set(&hardware->quantities[LLMPERF_HARDWARE_SMS - 1], row->sm_count,
                    LLMPERF_ORIGIN_TABLE, LLMPERF_CONFIDENCE_HIGH, "conf/hardware");
    return 0;
}

/* Texts of the file must outlive it. */
static void keep_texts(llmperf_hardware *hardware)
{
    for (size_t i = 0; i < LP_PEAKS; i++)
        if (hardware->peaks[i].source)
            hardware->peaks[i].source = lp_hardware_text(hardware, "%s", hardware->peaks[i].source);
    for (size_t i = 0; i < LP_QUANTITIES; i++)
        if (hardware->quantities[i].source)
            hardware->quantities[i].source =
                lp_hardware_text(hardware, "%s", hardware->quantities[i].source);
}

static int read_measured(const struct lp_gpu_row *row, llmperf_hardware *hardware)
{
    const char *sweep = lp_gpu_row_text(row, "measured.sweep");
    const char *source = lp_gpu_row_text(row, "measured.source");

    if (!sweep)
        return 0;
    lp_sweep_read(&hardware->sweep, sweep);
    if (hardware->sweep.count == 0 || !source ||
        number_at(row, "measured.read", &hardware->read_gbs) < 0)
        return lp_error(LLMPERF_EFORMAT,
                        "conf/hardware: measured of %s needs read, sweep and source", row->name);
    hardware->sweep_source = hardware->read_source =
        lp_hardware_text(hardware, "measured on another %s, %s", row->name, source);
    return 0;
}

int lp_gpu_row_fill(const struct lp_gpu_row *row, llmperf_hardware *hardware)
{
    int status;

    hardware->name = lp_hardware_text(hardware, "%s", row->name);
    hardware->capability = row->capability;
    if ((status = read_peaks(row, hardware)) < 0 || (status = read_quantities(row, hardware)) < 0 ||
        (status = read_measured(row, hardware)) < 0)
        return status;
    keep_texts(hardware);
    if (lp_gpu_row_text(row, "note"))
        lp_hardware_warn(hardware, "%s", lp_gpu_row_text(row, "note"));
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct lp_gpu_row *left = a, *right = b;

    return strcmp(left->name, right->name);
}

int llmperf_hardware_names(char **names_out)
{
    struct lp_gpu_table *table;
    struct lp_text text = { 0 };
    int status;

    if (!names_out)
        return lp_error(LLMPERF_EINVAL, "names_out is required");
    if ((status = lp_gpu_table_open(&table)) < 0)
        return status;
    lp_vector_sort(&table->rows, compare_names);
    lp_text_puts(&text, "");
    for (size_t i = 0; i < table->rows.count; i++)
        lp_text_printf(&text, "%s\n", table->rows.items[i].name);
    lp_gpu_table_free(table);
    status = lp_text_take(&text, names_out);
    return status < 0 ? lp_error(status, "out of memory") : 0;
}

/* Rates */

static int read_limit(const llmperf_config *config, size_t entry, const char *name, double *limit)
{
    char key[64];

    snprintf(key, sizeof(key), "rates.%zu.sm.%s", entry, name);
    *limit = 0;
    return llmperf_config_number(config, key, limit) == LLMPERF_EFORMAT || *limit < 0 ||
                   *limit > 65536
               ? LLMPERF_EFORMAT
               : 0;
}

static int read_sm(const llmperf_config *config, size_t entry, int32_t capability,
                   struct lp_sm_limits *sm)
{
    double warps, blocks, shared_kb;

    if (read_limit(config, entry, "warps", &warps) < 0 ||
        read_limit(config, entry, "blocks", &blocks) < 0 ||
        read_limit(config, entry, "shared_kb", &shared_kb) < 0)
        return lp_error(LLMPERF_EFORMAT, "%s is damaged", FOLDER "/" RATES_NAME);
    *sm = (struct lp_sm_limits){ capability, (uint32_t)warps, (uint32_t)blocks,
                                 (uint64_t)(shared_kb * 1024) };
    return 0;
}

static int read_entry(const llmperf_config *config, size_t entry, struct lp_gpu_rates *rates)
{
    char key[64];
    const char *text;

    for (size_t i = 0; i < LP_PEAKS; i++) {
        snprintf(key, sizeof(key), "rates.%zu.per_clock.%s", entry, llmperf_hardware_dtype(i));
        rates->rate[i] = 0;
        if (llmperf_config_number(config, key, &rates->rate[i]) == LLMPERF_EFORMAT)
            return LLMPERF_EFORMAT;
    }
    snprintf(key, sizeof(key), "rates.%zu.tensor_clock", entry);
    rates->tensor_clock = 1;
    if (llmperf_config_number(config, key, &rates->tensor_clock) == LLMPERF_EFORMAT)
        return LLMPERF_EFORMAT;
    for (size_t i = 0; i < LP_PEAKS; i++) {
        snprintf(key, sizeof(key), "rates.%zu.geforce_half.%zu", entry, i);
        if (llmperf_config_text(config, key, &text) == 0 && lp_peak_find(text) >= 0)
            rates->geforce_half[lp_peak_find(text)] = true;
    }
    rates->known = true;
    return 0;
}

int lp_gpu_rates_read(int32_t capability, struct lp_gpu_rates *rates_out)
{
    struct lp_gpu_rates rates = { .tensor_clock = 1 };
    llmperf_config *config;
    const char *text;
    char key[64];
    int status;

    if ((status = llmperf_config_open(FOLDER "/" RATES_NAME, &config)) < 0)
        return status;
    if ((status = llmperf_config_text(config, "geforce_word", &text)) == 0)
        snprintf(rates.geforce_word, sizeof(rates.geforce_word), " %s ", text);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "rates"); i++) {
        snprintf(key, sizeof(key), "rates.%zu.compute_capability", i);
        if ((status = llmperf_config_text(config, key, &text)) == 0 &&
            capability_of(text) == capability && (status = read_entry(config, i, &rates)) == 0)
            status = read_sm(config, i, capability, &rates.sm);
    }
    llmperf_config_free(config);
    if (status == 0)
        *rates_out = rates;
    return status == LLMPERF_ENOENT
               ? lp_error(LLMPERF_EFORMAT, "%s is damaged", FOLDER "/" RATES_NAME)
               : status;
}
