/* SPDX-License-Identifier: Apache-2.0 */
/** The state of a GPU at one moment, as NVML reports it. */
#ifndef LP_RECORD_GPU_SAMPLE_H
#define LP_RECORD_GPU_SAMPLE_H

#include <stdint.h>

/** Values of a sample. The numbers are stored in recordings: append only. */
enum lp_gpu_value {
    LP_GPU_ENERGY_MJ,    /* energy counter, since the driver was loaded */
    LP_GPU_POWER_MW,     /* power draw */
    LP_GPU_POWER_LIMIT,  /* enforced limit, mW */
    LP_GPU_SM_MHZ,       /* SM clock */
    LP_GPU_SM_MOST_MHZ,  /* the highest that this GPU has */
    LP_GPU_MEMORY_MHZ,   /* memory clock */
    LP_GPU_MEMORY_MOST,  /* the highest that this GPU has, MHz */
    LP_GPU_REASONS,      /* set of LP_GPU_REASON_…: why the clocks are not higher */
    LP_GPU_CELSIUS,      /* temperature of the GPU */
    LP_GPU_USED_BYTES,   /* device memory in use, by all processes */
    LP_GPU_MEMORY_BYTES, /* all device memory */
    LP_GPU_MIG,          /* 1: a MIG instance, or a GPU that is divided into such */
    LP_GPU_READ_NS,      /* how long reading these values took */
    LP_GPU_VALUES
};

/** Bits of LP_GPU_REASONS, as in NVML's nvmlClocksEventReasons. */
enum lp_gpu_reason {
    LP_GPU_REASON_IDLE = 0x1,        /* nothing runs on the GPU */
    LP_GPU_REASON_POWER_CAP = 0x4,   /* the software power cap */
    LP_GPU_REASON_SLOWDOWN = 0x8,    /* hardware slowdown: heat, power brake or a fast power rise */
    LP_GPU_REASON_THERMAL = 0x20,    /* software thermal slowdown */
    LP_GPU_REASON_HW_THERMAL = 0x40, /* hardware thermal slowdown */
    LP_GPU_REASON_BRAKE = 0x80       /* power brake, asserted from outside of the GPU */
};

struct lp_gpu_sample {
    uint64_t time_ns;               /* CLOCK_MONOTONIC, when the energy counter was read */
    uint64_t values[LP_GPU_VALUES]; /* LLMPERF_UNKNOWN: this GPU or driver does not report it */
    uint16_t device;                /* CUDA device ordinal */
};

#endif
