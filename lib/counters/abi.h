/* SPDX-License-Identifier: Apache-2.0 */
/** Our own declarations of the part of CUPTI's profiling interfaces that we use: host (metrics of a
 * chip), range profiler, PM sampling. Every call takes one struct that begins with its size (up to
 * the last field, without trailing padding) and a NULL; counters_check.c compares each offset and
 * number with the toolkit's headers where the build finds them. Facts: CUPTI 13.0; the calls exist
 * from CUPTI 12.6 on. */
#ifndef LP_COUNTERS_ABI_H
#define LP_COUNTERS_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What goes into struct_size: CUPTI checks it, and it is not sizeof. */
#define LP_CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum {
    LP_CUPTI_ERROR_INVALID_PARAMETER = 1,
    LP_CUPTI_ERROR_INVALID_OPERATION = 7,
    LP_CUPTI_ERROR_OUT_OF_MEMORY = 8,
    LP_CUPTI_ERROR_HARDWARE_BUSY = 26,
    LP_CUPTI_ERROR_NOT_SUPPORTED = 27,
    LP_CUPTI_ERROR_VIRTUALIZED_DEVICE = 33,
    LP_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
    LP_CUPTI_ERROR_VIRTUALIZED_PRIVILEGES = 40,
    LP_CUPTI_ERROR_CONFIDENTIAL_COMPUTING = 41,
    LP_CUPTI_ERROR_MIG_DEVICE = 43,
    LP_CUPTI_ERROR_INVALID_CHIP_NAME = 46,
};

enum { LP_CUPTI_PROFILER_RANGE = 0, LP_CUPTI_PROFILER_PM = 1 }; /* for the host */
enum { LP_CUPTI_SUPPORT_RANGE = 0, LP_CUPTI_SUPPORT_PM = 3 };   /* for the device */
enum { LP_CUPTI_LEVEL_UNSUPPORTED = 1, LP_CUPTI_LEVEL_DISABLED = 2, LP_CUPTI_LEVEL_SUPPORTED = 3 };
enum { LP_CUPTI_METRIC_COUNTER = 0, LP_CUPTI_METRIC_RATIO = 1, LP_CUPTI_METRIC_THROUGHPUT = 2 };
enum { LP_CUPTI_RANGE_AUTO = 1, LP_CUPTI_RANGE_USER = 2 };
enum { LP_CUPTI_REPLAY_KERNEL = 2, LP_CUPTI_REPLAY_USER = 3 };
enum { LP_CUPTI_PM_SYSCLK = 0, LP_CUPTI_PM_TIME = 1 };
enum { LP_CUPTI_PM_KEEP_OLDEST = 0 };
enum { LP_CUPTI_PM_STOP_FULL = 1 };

typedef void *lp_cupti_object; /* CUPTI's own, opaque */

struct lp_cupti_profiler { /* initialise, deinitialise */
    size_t struct_size;
    void *priv;
};

struct lp_cupti_device_supported {
    size_t struct_size;
    void *priv;
    int device;
    uint32_t supported, architecture, sli, vgpu, confidential, cmp, wsl;
    uint32_t api;
};

struct lp_cupti_chip_name {
    size_t struct_size;
    void *priv;
    size_t device;
    const char *name;
};

struct lp_cupti_availability {
    size_t struct_size;
    void *priv;
    void *context;
    size_t size;
    uint8_t *image;
};

struct lp_cupti_pm_availability {
    size_t struct_size;
    void *priv;
    size_t device;
    size_t size;
    uint8_t *image;
};

struct lp_cupti_host_chips {
    size_t struct_size;
    void *priv;
    size_t count;
    const char *const *names;
};

struct lp_cupti_host_open {
    size_t struct_size;
    void *priv;
    uint32_t type;
    const char *chip;
    const uint8_t *availability;
    lp_cupti_object host;
};

struct lp_cupti_host_close {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
};

struct lp_cupti_host_metrics {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    uint32_t kind;
    const char **names;
    size_t count;
};

struct lp_cupti_host_properties {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    const char *metric;
    const char *description, *hardware_unit, *unit;
    uint32_t kind;
};

struct lp_cupti_host_add {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    const char **metrics;
    size_t count;
};

struct lp_cupti_host_config_size {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    size_t size;
};

struct lp_cupti_host_config {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    size_t size;
    uint8_t *image;
};

struct lp_cupti_host_passes {
    size_t struct_size;
    void *priv;
    size_t size;
    uint8_t *image;
    size_t passes;
};

struct lp_cupti_host_evaluate {
    size_t struct_size;
    void *priv;
    lp_cupti_object host;
    const uint8_t *data;
    size_t data_size, range;
    const char **metrics;
    size_t count;
    double *values;
};

struct lp_cupti_range_enable {
    size_t struct_size;
    void *priv;
    void *context;
    lp_cupti_object object;
};

struct lp_cupti_range { /* disable, start, pop */
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
};

struct lp_cupti_range_config {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    uint32_t range, replay;
    size_t ranges_per_pass;
    uint16_t levels, first_level;
    size_t pass;
    uint16_t level;
};

struct lp_cupti_range_stop {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    size_t pass, level;
    uint8_t all_passes;
};

struct lp_cupti_range_push {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    const char *name;
};

struct lp_cupti_range_decode {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    size_t dropped;
};

struct lp_cupti_range_data_size {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    const char **metrics;
    size_t count, ranges;
    uint32_t nodes;
    size_t size;
};

struct lp_cupti_data_init { /* of both profilers */
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    size_t size;
    uint8_t *data;
};

struct lp_cupti_range_count {
    size_t struct_size;
    void *priv;
    const uint8_t *data;
    size_t size, ranges;
};

struct lp_cupti_range_info {
    size_t struct_size;
    void *priv;
    const uint8_t *data;
    size_t size, range;
    const char *delimiter, *name;
};

struct lp_cupti_pm_enable {
    size_t struct_size;
    void *priv;
    size_t device;
    lp_cupti_object object;
};

struct lp_cupti_pm { /* disable, start, stop */
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
};

struct lp_cupti_pm_config {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    size_t config_size;
    const uint8_t *config;
    size_t buffer_size;
    uint64_t interval;
    uint32_t trigger, append;
};

struct lp_cupti_pm_data_size {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    const char **metrics;
    size_t count;
    uint32_t samples;
    size_t size;
};

struct lp_cupti_pm_decode {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    uint8_t *data;
    size_t size;
    uint32_t reason;
    uint8_t overflow;
};

struct lp_cupti_pm_count {
    size_t struct_size;
    void *priv;
    const uint8_t *data;
    size_t size, total, populated, completed;
};

struct lp_cupti_pm_info {
    size_t struct_size;
    void *priv;
    lp_cupti_object object;
    const uint8_t *data;
    size_t size, sample;
    uint64_t start, end;
};

#endif
