/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions that read the findings. */
#include <inttypes.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "llmperf/findings.h"

static const struct lp_findings *findings_of(const llmperf_profile *profile)
{
    const struct lp_findings *findings = NULL;

    return profile && lp_findings_of(profile, &findings) == 0 ? findings : NULL;
}

size_t llmperf_profile_count(const llmperf_profile *profile, uint32_t rows)
{
    const struct lp_findings *findings;

    if (!profile || rows == 0 || rows > LLMPERF_ROWS_MEMORY)
        return 0;
    if (rows < LLMPERF_ROWS_STAGES || rows > LLMPERF_ROWS_GPUS)
        return lp_row_count(profile, rows);
    if (!(findings = findings_of(profile)))
        return 0;
    return rows == LLMPERF_ROWS_STAGES          ? findings->stage_rows.rows.count
           : rows == LLMPERF_ROWS_ADVICE        ? findings->advice.rows.count
           : rows == LLMPERF_ROWS_KERNEL_SHAPES ? findings->kernel_shapes.rows.count
                                                : lp_machine_gpu_count(findings->machine);
}

/* Findings for a function with an out-parameter. */
static int find(const llmperf_profile *profile, const void *out,
                const struct lp_findings **findings_out)
{
    return profile && out ? lp_findings_of(profile, findings_out)
                          : lp_error(LLMPERF_EINVAL, "profile and out-parameter are required");
}

/* Findings of a row, if it exists. */
static int find_row(const llmperf_profile *profile, uint32_t rows, size_t index, const void *out,
                    const struct lp_findings **findings_out)
{
    int status = find(profile, out, findings_out);

    if (status < 0)
        return status;
    return index < llmperf_profile_count(profile, rows)
               ? 0
               : lp_error(LLMPERF_EINVAL, "row %zu of %zu does not exist", index,
                          llmperf_profile_count(profile, rows));
}

/* The public functions that read a row. */
#define READ(name, row, rows, member)                                                              \
    int llmperf_profile_##name(const llmperf_profile *profile, size_t index, row *out)             \
    {                                                                                              \
        const struct lp_findings *findings;                                                        \
        int status = find_row(profile, rows, index, out, &findings);                               \
                                                                                                   \
        return status < 0 ? status : lp_sized_out(out, &findings->member, sizeof(*out));           \
    }
/* clang-format off */
READ(stage, llmperf_stage, LLMPERF_ROWS_STAGES, stage_rows.rows.items[index].stage)
READ(kernel_shape, llmperf_kernel_shape, LLMPERF_ROWS_KERNEL_SHAPES, kernel_shapes.rows.items[index])
READ(memory, llmperf_memory, LLMPERF_ROWS_MEMORY, memory.rows.items[index])
READ(advice, llmperf_advice, LLMPERF_ROWS_ADVICE, advice.rows.items[index].advice)
/* clang-format on */
#undef READ

int llmperf_profile_about(const llmperf_profile *profile, llmperf_about *about_out)
{
    const struct lp_findings *findings;
    int status = find(profile, about_out, &findings);

    return status < 0 ? status
                      : lp_sized_out(about_out, &findings->about.values, sizeof(*about_out));
}

int llmperf_profile_overall(const llmperf_profile *profile, llmperf_overall *overall_out)
{
    const struct lp_findings *findings;
    int status = find(profile, overall_out, &findings);

    return status < 0 ? status
                      : lp_sized_out(overall_out, &findings->overall.values, sizeof(*overall_out));
}

const char *llmperf_profile_stage_reason(const llmperf_profile *profile, size_t index,
                                         const char *field)
{
    const struct lp_findings *findings = findings_of(profile);

    return field && findings && index < findings->stage_rows.rows.count
               ? lp_stage_reason(&findings->stage_rows.rows.items[index], field)
               : NULL;
}

int llmperf_profile_evidence(const llmperf_profile *profile, size_t advice, size_t index,
                             llmperf_evidence *evidence_out)
{
    const struct lp_findings *findings;
    int status = find_row(profile, LLMPERF_ROWS_ADVICE, advice, evidence_out, &findings);
    const struct lp_recommendation *row;

    if (status < 0)
        return status;
    row = &findings->advice.rows.items[advice];
    if (index >= row->advice.evidence)
        return lp_error(LLMPERF_EINVAL, "evidence %zu of %" PRIu64 " does not exist", index,
                        row->advice.evidence);
    return lp_sized_out(evidence_out, &row->evidence[index], sizeof(*evidence_out));
}

/* 0: none or several. */
static uint32_t process_on(const struct lp_findings *findings, int32_t device)
{
    uint32_t found = 0;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->device != device || device < 0)
            continue;
        if (found > 0 && stats->process_id != found)
            return 0;
        found = stats->process_id;
    }
    return found;
}

int llmperf_profile_gpu(const llmperf_profile *profile, size_t index, llmperf_gpu *gpu_out)
{
    const struct lp_findings *findings;
    int status = find_row(profile, LLMPERF_ROWS_GPUS, index, gpu_out, &findings);
    llmperf_gpu gpu = LLMPERF_GPU_INIT;
    double device, memory;

    if (status < 0)
        return status;
    device = lp_machine_gpu_number(findings->machine, index, "device");
    memory = lp_machine_gpu_number(findings->machine, index, "memory_bytes");
    gpu.name = lp_machine_gpu_text(findings->machine, index, "name");
    gpu.uuid = lp_machine_gpu_text(findings->machine, index, "uuid");
    gpu.device = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    gpu.process_id = process_on(findings, gpu.device);
    gpu.memory_bytes = memory > 0 && memory < 1e18 ? (uint64_t)memory : LLMPERF_UNKNOWN;
    return lp_sized_out(gpu_out, &gpu, sizeof(gpu));
}
