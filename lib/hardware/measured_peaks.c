/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/hardware/measured_peaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/base/variable.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/hardware.h"

/* Far above any GPU: a larger number cannot be a measurement. */
#define MOST 1e9

const char *llmperf_measured_peak_name(size_t index)
{
    switch (index) {
    case LP_PEAK_COPY:
        return "copy";
    case LP_PEAK_READ:
        return "read";
    case LP_COST_LAUNCH:
        return "profiler_launch_us";
    case LP_COST_NODE:
        return "profiler_node_us";
    default:
        return llmperf_hardware_dtype(index - LP_PEAK_DTYPE);
    }
}

int lp_measured_peak_index(const char *what)
{
    static const int others[] = { LP_PEAK_COPY, LP_PEAK_READ, LP_COST_LAUNCH, LP_COST_NODE };
    int dtype;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(what, llmperf_measured_peak_name((size_t)others[i])) == 0)
            return others[i];
    dtype = lp_peak_find(what);
    return dtype < 0 ? -1 : LP_PEAK_DTYPE + dtype;
}

void lp_measured_peaks_init(struct lp_measured_peaks *measured_peaks, const char *reason)
{
    memset(measured_peaks, 0, sizeof(*measured_peaks));
    for (size_t i = 0; i < LP_MEASURED_PEAKS; i++) {
        struct lp_measured_peak *item = &measured_peaks->items[i];

        item->best = item->median = item->clock_mhz = NAN;
        snprintf(item->reason, sizeof(item->reason), "%s", reason);
    }
}

/* Used as part of a file name. */
static bool is_plain_word(const char *text)
{
    size_t length = text ? strlen(text) : 0;

    return length > 0 && length < 64 && text[0] != '.' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
               length;
}

int lp_measured_peaks_path(const char *uuid, const char *driver, char **path_out)
{
    const char *cache = lp_variable("XDG_CACHE_HOME"), *home = lp_variable("HOME");
    struct lp_text path = { NULL, 0, 0, false };

    if (!is_plain_word(uuid) || !is_plain_word(driver))
        return lp_error(LLMPERF_EINVAL, "the GPU's UUID or its driver version is unknown");
    /* The XDG specification requires relative paths to be ignored. */
    if (cache && cache[0] == '/')
        lp_text_printf(&path, "%s", cache);
    else if (home && home[0] == '/')
        lp_text_printf(&path, "%s/.cache", home);
    else
        return lp_error(
            LLMPERF_ENOENT,
            "no folder for measured peaks; set XDG_CACHE_HOME or HOME to an absolute path");
    lp_text_printf(&path, "/llmperf/%s-%s.yaml", uuid, driver);
    return lp_text_take(&path, path_out);
}

static void read_text(const llmperf_config *config, const char *key, char *out, size_t size)
{
    const char *text;

    if (llmperf_config_text(config, key, &text) == 0)
        lp_text_sanitise(out, size, text);
}

static double read_number(const llmperf_config *config, const char *name, const char *part)
{
    char key[64];
    double value;

    snprintf(key, sizeof(key), "peaks.%s.%s", name, part);
    return llmperf_config_number(config, key, &value) == 0 && value > 0 && value <= MOST ? value
                                                                                         : NAN;
}

static void read_item(const llmperf_config *config, const char *name, struct lp_measured_peak *item)
{
    double repeats = read_number(config, name, "repeats");
    char key[64];

    item->best = read_number(config, name, "best");
    snprintf(key, sizeof(key), "peaks.%s.reason", name);
    read_text(config, key, item->reason, sizeof(item->reason));
    if (isnan(item->best))
        return;
    item->reason[0] = '\0';
    item->median = read_number(config, name, "median");
    item->clock_mhz = read_number(config, name, "clock_mhz");
    item->repeats = repeats > 0 ? (uint64_t)repeats : 0;
    snprintf(key, sizeof(key), "peaks.%s.how", name);
    snprintf(item->how, sizeof(item->how), "not given");
    read_text(config, key, item->how, sizeof(item->how));
}

int lp_measured_peaks_read(const char *path, struct lp_measured_peaks *peaks_out)
{
    llmperf_config *config;
    const char *name;
    int status;

    lp_measured_peaks_init(peaks_out, "was not measured");
    /* A relative path would also be searched for in the data files. */
    if (!lp_path_exists(path))
        return lp_error(LLMPERF_ENOENT, "%s: file not found", path);
    if ((status = llmperf_config_open(path, &config)) < 0)
        return status;
    read_text(config, "gpu", peaks_out->gpu, sizeof(peaks_out->gpu));
    read_text(config, "uuid", peaks_out->uuid, sizeof(peaks_out->uuid));
    read_text(config, "driver", peaks_out->driver, sizeof(peaks_out->driver));
    read_text(config, "measured_at", peaks_out->measured_at, sizeof(peaks_out->measured_at));
    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++)
        read_item(config, name, &peaks_out->items[i]);
    if (llmperf_config_text(config, "sweep", &name) == 0)
        lp_sweep_read(&peaks_out->sweep, name);
    llmperf_config_free(config);
    return peaks_out->measured_at[0]
               ? 0
               : lp_error(LLMPERF_EFORMAT,
                          "%s has no measured_at; measure again: llmperf hardware --measure", path);
}

/* In YAML's single quotes only the quote itself needs escaping. */
static void put_text(struct lp_text *out, const char *text)
{
    lp_text_puts(out, "'");
    for (; *text; text++)
        lp_text_add(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    lp_text_puts(out, "'");
}

static void put_line(struct lp_text *out, const char *key, const char *text)
{
    lp_text_printf(out, "%s: ", key);
    put_text(out, text);
    lp_text_puts(out, "\n");
}

/* Written as integer thousandths, which do not depend on the locale's decimal point. */
static void put_number(struct lp_text *out, const char *key, double value)
{
    unsigned long long thousandths =
        isfinite(value) ? (unsigned long long)llround(value * 1000) : 0;

    if (isfinite(value))
        lp_text_printf(out, "%s: %llu.%03llu, ", key, thousandths / 1000, thousandths % 1000);
}

static void put_item(struct lp_text *out, const char *name, const struct lp_measured_peak *item)
{
    lp_text_printf(out, "  %s: {", name);
    if (isnan(item->best)) {
        lp_text_puts(out, "reason: ");
        put_text(out, item->reason);
    } else {
        put_number(out, "best", item->best);
        put_number(out, "median", item->median);
        put_number(out, "clock_mhz", item->clock_mhz);
        lp_text_printf(out, "repeats: %llu, how: ", (unsigned long long)item->repeats);
        put_text(out, item->how);
    }
    lp_text_puts(out, "}\n");
}

static int make_folder_of(const char *path)
{
    char *folder = lp_text_copy(path), *slash = folder ? strrchr(folder, '/') : NULL;
    int status = 0;

    if (!folder)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (slash && slash > folder) {
        *slash = '\0';
        status = lp_folder_make(folder);
    }
    free(folder);
    return status;
}

int lp_measured_peaks_write(const char *path, const struct lp_measured_peaks *measured_peaks)
{
    struct lp_text out = { NULL, 0, 0, false };
    const char *name;
    int status;

    lp_text_puts(
        &out,
        "# Measured on one GPU by llmperf hardware --measure: GB/s for copy and read, TFLOP/s "
        "for dtypes,\n# us that a session of tier deep adds (profiler_*).\n# Delete the file to "
        "forget them.\nschema_version: 1\n");
    put_line(&out, "gpu", measured_peaks->gpu);
    put_line(&out, "uuid", measured_peaks->uuid);
    put_line(&out, "driver", measured_peaks->driver);
    put_line(&out, "measured_at", measured_peaks->measured_at);
    lp_text_puts(&out, "peaks:\n");
    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++)
        put_item(&out, name, &measured_peaks->items[i]);
    lp_text_puts(&out, "# Matrix products m x n x k by dtype, memcpys by bytes: ns.\nsweep: '");
    lp_sweep_write(&measured_peaks->sweep, &out);
    lp_text_puts(&out, "'\n");
    if (out.failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else if ((status = make_folder_of(path)) == 0)
        status = lp_file_write(path, out.bytes, out.length);
    lp_text_clear(&out);
    return status;
}
