/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/base/vector.h"
#include "lib/regions/capture.h"
#include "lib/machine/environment.h"
#include "lib/machine/tool_version.h"
#include "llmperf/output.h"
#include "llmperf/sys/check.h"
#include "llmperf/sys/config.h"
#include "lib/sources/cupti/cupti.h"
#include "lib/device/driver.h"
#include "lib/output/format/json_writer.h"
#include "lib/base/text.h"

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_FAIL };

static const char *const level_names[] = { "ok", "warn", "fail" };

struct finding {
    const char *name;
    enum level level;
    char text[512];
    const char *advice; /* NULL: nothing to do */
};

struct doctor {
    LP_VECTOR(struct finding) findings;
    bool usable; /* kernels can be profiled */
    bool failed; /* out of memory */
};

static void add(struct doctor *doctor, const char *name, enum level level, const char *advice,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

static void add(struct doctor *doctor, const char *name, enum level level, const char *advice,
                const char *format, ...)
{
    struct finding finding = { name, level, "", advice };
    va_list args;

    va_start(args, format);
    vsnprintf(finding.text, sizeof(finding.text), format, args);
    va_end(args);
    if (lp_vector_push(&doctor->findings, finding) < 0)
        doctor->failed = true;
}

static void look_at_driver(struct doctor *doctor)
{
    int32_t version = lp_driver_version();
    char reason[256], module[64];
    bool has_module = lp_driver_module_version(module, sizeof(module));

    if (lp_driver_available(reason, sizeof(reason)))
        add(doctor, "driver", LEVEL_OK, NULL, "%s, supports CUDA %d.%d",
            has_module ? module : "version unknown", version / 1000, version % 1000 / 10);
    else
        add(doctor, "driver", LEVEL_FAIL,
            has_module ? "mount the driver's libraries into the container (docker run --gpus all, "
                         "nvidia-container-toolkit)"
                       : "install the NVIDIA driver, or use a machine with a GPU; regions, reports "
                         "and replays work without one",
            "%s", reason);
}

static bool look_at_gpus(struct doctor *doctor)
{
    char reason[256];
    int32_t count = 0;

    if (!lp_driver_available(reason, sizeof(reason)))
        return false;
    if (lp_driver_gpu_count(&count) < 0) {
        add(doctor, "gpu", LEVEL_FAIL,
            "check that nvidia-smi works; in a container pass the GPU devices in (--gpus all)",
            "%s", llmperf_last_error());
        return false;
    }
    if (count == 0)
        add(doctor, "gpu", LEVEL_FAIL, "check CUDA_VISIBLE_DEVICES",
            "no GPU is visible to this process");
    for (int32_t i = 0; i < count; i++) {
        struct lp_gpu gpu;

        if (lp_driver_gpu(i, &gpu) == 0)
            add(doctor, "gpu", LEVEL_OK, NULL,
                "%d: %s, compute capability %d.%d, %d SMs, %" PRIu64 " MiB", i, gpu.name,
                gpu.cc_major, gpu.cc_minor, gpu.sm_count, gpu.memory_bytes >> 20);
    }
    return count > 0;
}

/* CUPTI counts 18 for 11.8, 27 for 12.9, 130000 for 13.0. */
static void print_cupti_version(char *text, size_t size, uint32_t version)
{
    if (version >= 10000)
        snprintf(text, size, "%u.%u", version / 10000, version % 10000 / 100);
    else
        snprintf(text, size, "API %u", version);
}

static bool look_at_cupti(struct doctor *doctor)
{
    char path[1024] = "", holder[128] = "", version_text[32];
    uint32_t version = 0;

    switch (lp_cupti_probe(path, sizeof(path), &version, holder, sizeof(holder))) {
    case LLMPERF_OK:
        print_cupti_version(version_text, sizeof(version_text), version);
        add(doctor, "cupti", LEVEL_OK, NULL, "%s, %s; not in use by another profiler", version_text,
            path);
        return true;
    case LLMPERF_EBUSY:
        add(doctor, "cupti", LEVEL_FAIL, "stop the other profiler, or run without it",
            "%s is in use by %s", path[0] ? path : "CUPTI",
            holder[0] ? holder : "another profiler");
        return false;
    case LLMPERF_ENODEVICE:
        add(doctor, "cupti", LEVEL_WARN, "see the driver line above", "%s", llmperf_last_error());
        return false;
    default:
        add(doctor, "cupti", LEVEL_FAIL,
            "install the CUDA toolkit or the nvidia-cuda-cupti wheel, or set LLMPERF_CUPTI_PATH",
            "%s", llmperf_last_error());
        return false;
    }
}

/* A line "key: number" of a file of /proc, the number in `base`. */
static bool read_proc(const char *path, const char *key, int base, uint64_t *value_out)
{
    FILE *file = fopen(path, "re");
    size_t length = strlen(key);
    char line[256];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        found = strncmp(line, key, length) == 0 && line[length] == ':';
        if (found)
            *value_out = strtoull(line + length + 1, NULL, base);
    }
    if (file)
        fclose(file);
    return found;
}

static bool may_read_counters(void)
{
    /* Bits of linux/capability.h. */
    const uint64_t sys_admin = UINT64_C(1) << 21, perfmon = UINT64_C(1) << 38;
    uint64_t capabilities = 0;

    return read_proc("/proc/self/status", "CapEff", 16, &capabilities) &&
           (capabilities & (sys_admin | perfmon));
}

static void look_at_counters(struct doctor *doctor)
{
    uint64_t admin_only = 0;

    if (!read_proc("/proc/driver/nvidia/params", "RmProfilingAdminOnly", 10, &admin_only))
        add(doctor, "counters", LEVEL_WARN, NULL,
            "cannot tell who may use hardware counters: /proc/driver/nvidia/params is missing");
    else if (!admin_only)
        add(doctor, "counters", LEVEL_OK, NULL, "hardware counters are available to all users");
    else if (may_read_counters())
        add(doctor, "counters", LEVEL_OK, NULL,
            "hardware counters need administrator rights, which this process has");
    else
        add(doctor, "counters", LEVEL_WARN,
            "kernel times work without; for counters load the nvidia module with "
            "NVreg_RestrictProfilingToAdminUsers=0, or start the container with --cap-add "
            "SYS_ADMIN",
            "hardware counters need administrator rights (ERR_NVGPUCTRPERM)");
}

static void look_at_tool(struct doctor *doctor, const char *name, const char *advice)
{
    char path[1024], version[64];

    if (!lp_tool_find(name, path, sizeof(path)))
        add(doctor, name, LEVEL_WARN, advice, "not found on PATH");
    else if (!lp_tool_version(path, version, sizeof(version)))
        add(doctor, name, LEVEL_WARN, "run it with --version to see why", "%s reports no version",
            path);
    else
        add(doctor, name, LEVEL_OK, NULL, "%s, %s", version, path);
}

/* Variables that change what a profile shows. */
static const struct hint {
    const char *variable, *harmless, *meaning, *advice;
} hints[] = {
    { "CUDA_LAUNCH_BLOCKING", "0", "each launch waits until its kernel has finished",
      "unset it to profile" },
    { "CUDA_INJECTION64_PATH", NULL, "the driver loads this tool into every process",
      "unset it unless that tool is this library" },
    { "NVTX_INJECTION64_PATH", NULL, "NVTX ranges are sent to this tool",
      "unset it unless you want that tool" },
    { "NSYS_PROFILING_SESSION_ID", NULL,
      "this process runs under Nsight Systems, which occupies CUPTI",
      "run without nsys to profile kernels with llmperf" },
};

static void look_at_variables(struct doctor *doctor)
{
    bool quiet = true;

    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        const char *value = lp_variable(hints[i].variable);

        if (!value || !*value || (hints[i].harmless && strcmp(value, hints[i].harmless) == 0))
            continue;
        add(doctor, "variables", LEVEL_WARN, hints[i].advice, "%s=%s: %s", hints[i].variable, value,
            hints[i].meaning);
        quiet = false;
    }
    if (quiet)
        add(doctor, "variables", LEVEL_OK, NULL, "none that affects profiling");
}

static void look_at_nvtx(struct doctor *doctor)
{
    if (lp_nvtx_out_available())
        add(doctor, "nvtx", LEVEL_OK, NULL, "regions are also sent to nsys and ncu as NVTX ranges");
    else
        add(doctor, "nvtx", LEVEL_WARN, "build with the CUDA headers (-Dcuda-path=DIR)",
            "this build does not send regions to nsys and ncu as NVTX ranges");
}

static void look_at_data(struct doctor *doctor)
{
    const char *folder = llmperf_config_dir();

    if (folder)
        add(doctor, "data", LEVEL_OK, NULL, "%s", folder);
    else
        add(doctor, "data", LEVEL_WARN, "install the library, or set LLMPERF_CONFIG_DIR", "%s",
            llmperf_last_error());
}

static void examine(struct doctor *doctor)
{
    bool gpus;

    look_at_driver(doctor);
    gpus = look_at_gpus(doctor);
    doctor->usable = look_at_cupti(doctor) && gpus;
    look_at_counters(doctor);
    look_at_tool(doctor, "nsys", "install Nsight Systems to record its timelines");
    look_at_tool(doctor, "ncu", "install Nsight Compute to analyse single kernels");
    look_at_nvtx(doctor);
    look_at_variables(doctor);
    look_at_data(doctor);
}

static const char *conclusion(const struct doctor *doctor)
{
    return doctor->usable
               ? "Kernels can be profiled here."
               : "Kernels cannot be profiled here; host times, replays and reports work.";
}

static int write_text(const struct doctor *doctor, char **text_out)
{
    struct lp_text text = { NULL, 0, 0, false };

    for (size_t i = 0; i < doctor->findings.count; i++) {
        const struct finding *finding = &doctor->findings.items[i];

        lp_text_printf(&text, "%-5s %-10s %s", level_names[finding->level], finding->name,
                       finding->text);
        if (finding->advice)
            lp_text_printf(&text, " -> %s", finding->advice);
        lp_text_puts(&text, "\n");
    }
    lp_text_printf(&text, "%s\n", conclusion(doctor));
    return lp_text_take(&text, text_out);
}

static int write_json(const struct doctor *doctor, char **text_out)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };

    lp_json_open(&json, NULL, '{');
    lp_json_integer(&json, "schema_version", 1);
    lp_json_string(&json, "llmperf_version", llmperf_version());
    lp_json_bool(&json, "usable", doctor->usable);
    lp_json_string(&json, "conclusion", conclusion(doctor));
    lp_json_open(&json, "checks", '[');
    for (size_t i = 0; i < doctor->findings.count; i++) {
        const struct finding *finding = &doctor->findings.items[i];

        lp_json_open(&json, NULL, '{');
        lp_json_string(&json, "name", finding->name);
        lp_json_string(&json, "level", level_names[finding->level]);
        lp_json_string(&json, "text", finding->text);
        lp_json_string(&json, "advice", finding->advice);
        lp_json_close(&json, '}');
    }
    lp_json_close(&json, ']');
    lp_json_string(&json, "container", lp_environment_container());
    lp_environment_variables(&json);
    lp_json_close(&json, '}');
    return lp_text_take(&json.text, text_out);
}

int llmperf_machine_check(uint32_t format, char **text_out)
{
    struct doctor doctor = { .usable = false };
    bool usable;
    int status;

    if (!text_out || format > LLMPERF_TEXT_JSON)
        return lp_error(LLMPERF_EINVAL,
                        "text_out and a format (LLMPERF_TEXT_PLAIN or LLMPERF_TEXT_JSON) are "
                        "required");
    examine(&doctor);
    if (doctor.failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else
        status = format == LLMPERF_TEXT_JSON ? write_json(&doctor, text_out)
                                             : write_text(&doctor, text_out);
    usable = doctor.usable;
    lp_vector_clear(&doctor.findings);
    if (status < 0)
        return status;
    return usable ? LLMPERF_OK
                  : lp_error(LLMPERF_ENODEVICE,
                             "kernels cannot be profiled here; see the checks above");
}
