/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "llmperf/sys/hardware.h"
#include "lib/base/file.h"
#include "lib/base/variable.h"
#include "lib/config/options.h"
#include "lib/machine/environment.h"
#include "lib/machine/software.h"
#include "lib/machine/program.h"
#include "lib/device/driver.h"
#include "lib/hardware/measured_peaks.h"
#include "lib/output/format/json_writer.h"
#include "lib/base/text.h"

extern char **environ;

/* Variables whose values are shown. They hold only paths, numbers and keywords. */
static const char *const shown_variables[] = {
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_INJECTION64_PATH",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_CACHE_DISABLE",
    "CUDA_HOME",
    "NVTX_INJECTION64_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
    "NSYS_PROFILING_SESSION_ID",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_CUDA_ARCH_LIST",
    "OMP_NUM_THREADS",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
};

/* For these, and for variables of ours that are not options, only "(set)" is shown. */
static const char *const hidden_variables[] = { "LD_PRELOAD", "LD_LIBRARY_PATH" };

#define OUR_PREFIX "LLMPERF_"

static bool is_option(const char *name)
{
    for (size_t i = 0; i < lp_options_count; i++)
        if (lp_options[i].variable && strcmp(lp_options[i].variable, name) == 0)
            return true;
    return false;
}

static void add_our_variables(struct lp_json *json)
{
    char name[128];

    for (char **at = lp_variables_are_ignored() ? NULL : environ; at && *at; at++) {
        size_t length = strcspn(*at, "=");

        if (strncmp(*at, OUR_PREFIX, strlen(OUR_PREFIX)) != 0 || length >= sizeof(name))
            continue;
        memcpy(name, *at, length);
        name[length] = '\0';
        lp_json_string(json, name, is_option(name) ? *at + length + 1 : "(set)");
    }
}

void lp_environment_variables(struct lp_json *json)
{
    lp_json_open(json, "variables", '{');
    for (size_t i = 0; i < sizeof(shown_variables) / sizeof(shown_variables[0]); i++) {
        const char *value = lp_variable(shown_variables[i]);

        if (value)
            lp_json_string(json, shown_variables[i], value);
    }
    for (size_t i = 0; i < sizeof(hidden_variables) / sizeof(hidden_variables[0]); i++)
        if (lp_variable(hidden_variables[i]))
            lp_json_string(json, hidden_variables[i], "(set)");
    add_our_variables(json);
    lp_json_close(json, '}');
}

const char *lp_environment_container(void)
{
    if (lp_variable("KUBERNETES_SERVICE_HOST"))
        return "kubernetes";
    if (lp_path_exists("/run/.containerenv"))
        return "podman";
    if (lp_path_exists("/.dockerenv"))
        return "docker";
    /* systemd-nspawn, lxc and others set it for their first process; we see it only if
     * inherited. */
    return lp_variable("container") ? "other" : NULL;
}

/* 0: not reported by the driver; 0 is not a valid value of any of these. */
static void add_positive(struct lp_json *json, const char *key, uint64_t value)
{
    if (value > 0)
        lp_json_count(json, key, value);
    else
        lp_json_null(json, key);
}

static void add_sweep(struct lp_json *json, const struct lp_sweep *sweep)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_sweep_write(sweep, &text);
    if (text.bytes && !text.failed)
        lp_json_string(json, "sweep", text.bytes);
    lp_text_clear(&text);
}

/* Peaks measured on this GPU with this driver: a report of this run, made on any machine, compares
 * the run with them. */
static void add_peaks(struct lp_json *json, const struct lp_gpu *gpu)
{
    struct lp_measured_peaks measured_peaks;
    char driver[64], *path = NULL;
    const char *name;

    if (!lp_driver_module_version(driver, sizeof(driver)) ||
        lp_measured_peaks_path(gpu->uuid, driver, &path) < 0 ||
        lp_measured_peaks_read(path, &measured_peaks) < 0) {
        lp_json_null(json, "measured");
        free(path);
        return;
    }
    free(path);
    lp_json_open(json, "measured", '{');
    lp_json_string(json, "measured_at", measured_peaks.measured_at);
    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++)
        if (!isnan(measured_peaks.items[i].best))
            lp_json_number(json, name, measured_peaks.items[i].best);
    add_sweep(json, &measured_peaks.sweep);
    lp_json_close(json, '}');
}

static void add_gpu(struct lp_json *json, const struct lp_gpu *gpu)
{
    char capability[32];

    snprintf(capability, sizeof(capability), "%d.%d", gpu->cc_major, gpu->cc_minor);
    lp_json_open(json, NULL, '{');
    lp_json_integer(json, "device", gpu->device);
    lp_json_string(json, "name", gpu->name[0] ? gpu->name : NULL);
    lp_json_string(json, "uuid", gpu->uuid[0] ? gpu->uuid : NULL);
    lp_json_string(json, "compute_capability", gpu->cc_major > 0 ? capability : NULL);
    add_positive(json, "sm_count", (uint64_t)gpu->sm_count);
    add_positive(json, "clock_khz", (uint64_t)gpu->clock_khz);
    add_positive(json, "memory_clock_khz", (uint64_t)gpu->memory_clock_khz);
    add_positive(json, "bus_width_bits", (uint64_t)gpu->bus_width_bits);
    add_positive(json, "l2_bytes", (uint64_t)gpu->l2_bytes);
    add_positive(json, "memory_bytes", gpu->memory_bytes);
    add_peaks(json, gpu);
    lp_json_close(json, '}');
}

static void add_named_gpu(struct lp_json *json, const char *name)
{
    lp_json_open(json, "gpus", '[');
    lp_json_open(json, NULL, '{');
    lp_json_integer(json, "device", 0);
    lp_json_string(json, "name", name);
    lp_json_close(json, '}');
    lp_json_close(json, ']');
    lp_json_null(json, "gpus_reason");
}

static void add_gpus(struct lp_json *json, bool with_driver)
{
    const char *reason =
        with_driver ? NULL : "the program did not use a GPU, so the driver was not queried";
    int32_t count = 0;

    if (with_driver && lp_driver_gpu_count(&count) < 0)
        reason = llmperf_last_error();
    else if (with_driver && count == 0)
        reason = "no GPU is visible to this process";
    lp_json_open(json, "gpus", '[');
    for (int32_t i = 0; i < count; i++) {
        struct lp_gpu gpu;

        if (lp_driver_gpu(i, &gpu) == 0)
            add_gpu(json, &gpu);
        else
            reason = llmperf_last_error();
    }
    lp_json_close(json, ']');
    lp_json_string(json, "gpus_reason", reason);
}

static void add_driver(struct lp_json *json)
{
    int32_t version = lp_driver_version();
    char module[64], cuda[32];

    snprintf(cuda, sizeof(cuda), "%d.%d", version / 1000, version % 1000 / 10);
    lp_json_open(json, "driver", '{');
    lp_json_string(json, "kernel_version",
                   lp_driver_module_version(module, sizeof(module)) ? module : NULL);
    lp_json_string(json, "cuda_version", version > 0 ? cuda : NULL);
    lp_json_close(json, '}');
}

static void add_cupti(struct lp_json *json, uint32_t version, const char *path)
{
    lp_json_open(json, "cupti", '{');
    add_positive(json, "version", version);
    lp_json_string(json, "path", path);
    lp_json_close(json, '}');
}

/* Value of the first line "key : value" of a file of /proc. */
static bool find_line(const char *path, const char *key, char *value, size_t size)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        found = snprintf(value, size, "%s", colon) > 0;
    }
    if (file)
        fclose(file);
    return found;
}

/* CPUs that this process may run on; in a container fewer than the machine has. */
static uint64_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 0;
}

/* Processes of one boot of a machine have one CLOCK_MONOTONIC, in containers too. */
static void add_boot(struct lp_json *json)
{
    char *text = NULL;
    size_t size;

    if (lp_file_read("/proc/sys/kernel/random/boot_id", &text, &size) < 0)
        text = NULL;
    if (text)
        text[strcspn(text, "\n")] = '\0';
    lp_json_string(json, "boot_id", text);
    free(text);
}

static void add_host(struct lp_json *json)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    struct utsname system = { .sysname = "" };
    char model[256];

    uname(&system);
    lp_json_open(json, "host", '{');
    lp_json_string(json, "hostname", system.nodename);
    lp_json_string(json, "system", system.sysname);
    lp_json_string(json, "kernel", system.release);
    lp_json_string(json, "machine", system.machine);
    lp_json_string(json, "cpu_model",
                   find_line("/proc/cpuinfo", "model name", model, sizeof(model)) ? model : NULL);
    add_positive(json, "cpu_count", cpus > 0 ? (uint64_t)cpus : 0);
    add_positive(json, "cpus_allowed", count_cpus());
    add_positive(json, "memory_bytes",
                 pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0);
    lp_json_string(json, "container", lp_environment_container());
    add_boot(json);
    lp_json_close(json, '}');
}

static void add_program(struct lp_json *json)
{
    char *line = NULL;
    size_t size;

    if (lp_file_read("/proc/self/cmdline", &line, &size) < 0)
        line = NULL;
    lp_json_string(json, "program", line ? lp_program_of(line, size) : NULL);
    free(line);
}

int lp_environment_json(bool with_driver, const char *gpu, uint32_t cupti_version,
                        const char *cupti_path, char **text_out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 1);
    lp_json_string(&json, "llmperf_version", llmperf_version());
    if (gpu)
        add_named_gpu(&json, gpu);
    else
        add_gpus(&json, with_driver);
    add_driver(&json);
    add_cupti(&json, cupti_version, cupti_path);
    add_host(&json);
    lp_environment_variables(&json);
    add_program(&json);
    lp_software_json(&json);
    lp_json_close(&json, '}');
    return lp_text_take(&json.text, text_out);
}
