/* SPDX-License-Identifier: Apache-2.0 */
/* All options, one entry each; lib/config/options.h explains the members. An entry begins with
 * configuration key, environment variable, call field and command line option, and ends with
 * default and help. A key comes before those that use it as their default. */
#include "lib/config/options.h"

#include "llmperf/session.h"

#define TIERS    "regions|light|deep|counters"
#define SOURCES  "auto|cupti|replay|fake|none"
#define SAMPLING "none|process-tree|system-wide"

#define KEYS(key, instead) (key), .other = (instead)
#define FIELD(name)                                                                                \
    .field = #name, .offset = offsetof(llmperf_session_options, name),                             \
    .size = sizeof(((llmperf_session_options *)0)->name)
#define FLAG(bit)                .offset = offsetof(llmperf_session_options, flags), .flag = (bit), .field = #bit
#define NO_FIELD                 .field = NULL
#define CLI(name, stands, where) .word = (name), .value = (stands), .commands = (where)
#define NO_CLI                   .word = NULL

#define TEXT(key_, env, in_call, cli, default_, text)                                              \
    {                                                                                              \
        .kind = LP_OPTION_TEXT, .key = key_, .variable = (env), in_call, cli, .usual = (default_), \
        .help = (text)                                                                             \
    }
#define SWITCH(key_, env, in_call, cli, default_, text)                                            \
    {                                                                                              \
        .kind = LP_OPTION_SWITCH, .key = key_, .variable = (env), in_call, cli,                    \
        .usual = (default_), .help = (text)                                                        \
    }
#define WORD(key_, env, in_call, cli, first, choices, default_, text)                              \
    {                                                                                              \
        .kind = LP_OPTION_WORD, .key = key_, .variable = (env), in_call, cli, .least = (first),    \
        .words = (choices), .usual = (default_), .help = (text)                                    \
    }
#define NUMBER(key_, env, in_call, cli, from, to, unit_, default_, text)                           \
    {                                                                                              \
        .kind = LP_OPTION_NUMBER, .key = key_, .variable = (env), in_call, cli, .least = (from),   \
        .most = (to), .unit = (unit_), .usual = (default_), .help = (text)                         \
    }
#define ANY(key_, env, in_call, cli, unit_, text)                                                  \
    {                                                                                              \
        .kind = LP_OPTION_ANY, .key = key_, .variable = (env), in_call, cli, .unit = (unit_),      \
        .help = (text)                                                                             \
    }

#define NSYS "pipeline.nsys.nsys_cli."
#define NCU  "pipeline.ncu.ncu_cli."

const struct lp_option lp_options[] = {
    /* How a run is collected */
    WORD("session.tier", NULL, NO_FIELD, NO_CLI, 1, TIERS, "deep",
         "The tier of the chosen profiling/session; run.mode follows it."),
    WORD(KEYS("run.mode", "session.tier"), "LLMPERF_TIER", FIELD(tier),
         CLI("--tier", "TIER", "run attach"), 1, TIERS, "deep",
         "What is collected: regions (host times), light (kernels of a random sample of steps), "
         "deep "
         "(all kernels) or counters (as deep, with hardware counters)."),
    NUMBER("session.overhead_budget_permille", NULL, FIELD(overhead_budget_permille), NO_CLI, 1,
           1000, "permille", "10",
           "Tier light: limit of the overhead of collecting, in 1/1000 of the run time. 1000: "
           "collect everything."),
    TEXT(
        "session.sample_regions", "LLMPERF_SAMPLE_REGIONS", FIELD(sample_regions), NO_CLI,
        "LLM@prefill,LLM@decode_step,LLM@mixed_step",
        "Tier light: labels whose calls are sampled, separated by commas, at most 8. LLM@NAME also "
        "stands for stages NAME of other domains."),
    TEXT("session.rules", "LLMPERF_RULES", FIELD(rules), CLI("--rule", "RULES", "run"), NULL,
         "Tier light: rules, separated by semicolons, such as \"decode_step p99 above 30 ms for 2 "
         "s\". When one triggers, the next calls are all collected."),
    NUMBER("session.slo_ttft_ms", NULL, NO_FIELD, NO_CLI, 1, 86400000, "ms", NULL,
           "Requests: longest TTFT that meets the SLO, for goodput."),
    NUMBER("session.slo_tpot_ms", NULL, NO_FIELD, NO_CLI, 1, 86400000, "ms", NULL,
           "Requests: longest TPOT that meets the SLO, for goodput."),
    NUMBER("session.gpu_hour_cents", NULL, NO_FIELD, CLI("--gpu-hour-cents", "N", "run report"), 1,
           100000000, "cents", NULL,
           "Price of a GPU hour in hundredths, for the cost per million tokens."),
    SWITCH("session.energy", "LLMPERF_ENERGY", NO_FIELD, NO_CLI, "1",
           "Read energy, clocks and memory of the GPUs from NVML, ten times a second."),
    TEXT("session.counters", "LLMPERF_COUNTERS", FIELD(counters),
         CLI("--counters", "WORDS", "run attach"), NULL,
         "Hardware counters of regions: a preset (llmperf counters), then words such as "
         "include=default@forward. Tier deep becomes tier counters."),
    SWITCH("session.detach", "LLMPERF_DETACH", FLAG(LLMPERF_SESSION_DETACH), NO_CLI, "0",
           "Tier light: detach CUPTI from the process between samples."),
    SWITCH("session.no_nvtx", "LLMPERF_NO_NVTX", NO_FIELD, CLI("--no-nvtx", NULL, "run"), "0",
           "Do not listen to the program's NVTX ranges. JAX emits hundreds in a step, only if a "
           "tool listens."),
    NUMBER("session.path_limit", NULL, FIELD(path_limit), NO_CLI, 16, 1048576, "paths", "65536",
           "Limit of region paths. Regions above it are counted together as LLM@(too many paths)."),
    NUMBER(NULL, NULL, FIELD(ring_bytes), NO_CLI, 1, 1 << 30, "bytes", "4194304",
           "Buffer for host records of each thread."),
    NUMBER(NULL, NULL, FIELD(pool_bytes), NO_CLI, 1, INT64_MAX, "bytes", "268435456",
           "Maximum memory for device records that are not processed yet."),
    WORD(NULL, NULL, FIELD(device_source), NO_CLI, 0, SOURCES, "auto",
         "Where device records come from."),
    TEXT(NULL, NULL, FIELD(device_path), NO_CLI, NULL,
         "Recording (replay) or script (fake) of the device source."),
    TEXT(NULL, NULL, FIELD(record_path), NO_CLI, NULL,
         "File for a recording of the session; none by default."),
    /* Output */
    TEXT("run.id", NULL, FIELD(run_id), NO_CLI, NULL,
         "Name of the run; default: UTC time and process id."),
    TEXT("artifacts.dir", "LLMPERF_OUT", FIELD(out_dir),
         CLI("--out", "DIR", "run attach nsys ncu deep"), NULL,
         "Folder for runs; each run is written to DIR/ID. Without it the command line uses folder "
         "runs, and a session in a program writes nothing."),
    TEXT(NULL, NULL, FIELD(run_dir), NO_CLI, NULL,
         "Folder of this run, instead of artifacts.dir/run.id."),
    SWITCH("artifacts.keep_trace", "LLMPERF_TRACE", FIELD(keep_trace),
           CLI("--trace", NULL, "run attach"), "0",
           "Store all events in the run folder, for llmperf export."),
    NUMBER("artifacts.trace_bytes", NULL, FIELD(trace_bytes), NO_CLI, 1, INT64_MAX, "bytes",
           "1073741824",
           "Maximum size of the trace; the run reports the time from which events are missing."),
    NUMBER(
        "report.top", NULL, NO_FIELD, CLI("--top", "N", "run report"), 1, 100000, "rows", NULL,
        "Rows in the tables of longest regions, operators and kernels. Without it, report.md has "
        "10 to 20 rows, and report.html shows 15 before a click."),
    NUMBER("artifacts.keep_runs", NULL, NO_FIELD, NO_CLI, 0, 1000000, "runs", "0",
           "Runs kept in the folder of runs; the oldest are removed, except runs that a program "
           "has open or wrote to in the last minute. 0: keep all."),
    NUMBER("artifacts.warn_bytes", NULL, NO_FIELD, NO_CLI, 0, INT64_MAX, "bytes", "0",
           "Size of a run folder above which the run has a note. 0: no limit."),
    TEXT(NULL, "LLMPERF_RUN_CONFIG", FIELD(config_path),
         CLI("--config", "NAME", "run attach nsys ncu deep import config top list"), NULL,
         "Configuration: a name in the data files, a YAML file or the config.yaml of a run. "
         "KEY=VALUE changes it."),
    /* Analysis */
    ANY("model", NULL, FIELD(model_path),
        CLI("--model", "MODEL", "run attach nsys ncu deep import report config"), NULL,
        "Model from which FLOPs, bytes and roofline bounds of the stages are computed: a name "
        "(llmperf model --list), a config.json or its folder."),
    TEXT(KEYS("run.dtype", "infer.dtype"), "LLMPERF_DTYPE", NO_FIELD,
         CLI("--dtype", "DTYPE", "run attach nsys ncu deep import report"), NULL,
         "Dtype in which the program computes; it selects the peak for MFU: bf16, fp16, fp8, "
         "fp32, tf32 ... Default: the dtype of the model."),
    NUMBER("session.tensor_parallel", "LLMPERF_TENSOR_PARALLEL", FIELD(tensor_parallel), NO_CLI, 1,
           65536, "GPUs", NULL, "With a model: number of GPUs that share each layer. Default: 1."),
    NUMBER("session.expert_parallel", "LLMPERF_EXPERT_PARALLEL", FIELD(expert_parallel), NO_CLI, 1,
           65536, "GPUs", NULL,
           "With a model: number of GPUs over which whole experts are spread. Default: 1."),
    ANY("hardware.peak_tflops", "LLMPERF_PEAK_TFLOPS", NO_FIELD, NO_CLI, "TFLOP/s",
        "Peak of the GPU instead of the built-in table: one number, or one for each dtype "
        "(variable: bf16=989,fp8=1979)."),
    ANY("hardware.bandwidth_gbs", "LLMPERF_BANDWIDTH_GBS", NO_FIELD, NO_CLI, "GB/s",
        "Memory bandwidth of the GPU instead of the built-in table."),
    TEXT(
        "inputs.manifest", NULL, NO_FIELD, NO_CLI, NULL,
        "YAML list of the inputs of the program: paths, or maps with a path and other keys. Stored "
        "with the run as inputs.yaml."),
    ANY("infer", NULL, NO_FIELD, NO_CLI, NULL,
        "Inference parameters of the program; infer.dtype is used if run.dtype is not given."),
    ANY("dataset", NULL, NO_FIELD, NO_CLI, NULL, "Data set of the program; stored with the run."),
    /* nsys and ncu */
    TEXT("run.stage", NULL, NO_FIELD, NO_CLI, NULL,
         "Region that nsys and ncu profile, such as LLM@decode_all; default: the whole program."),
    NUMBER(
        "run.top_n_kernels", NULL, NO_FIELD, NO_CLI, 1, 1000, "kernels", "10",
        "llmperf deep: number of kernels, the longest in the result of nsys, that ncu profiles."),
    ANY("pipeline.counters", "LLMPERF_COUNTERS", NO_FIELD, NO_CLI, NULL,
        "Preset of hardware counters, chosen by profiling/counters@pipeline.counters=PRESET."),
    ANY("pipeline.nsys", NULL, NO_FIELD, NO_CLI, NULL,
        "Options of nsys, chosen by profiling/nsys@pipeline.nsys=PRESET."),
    ANY("pipeline.ncu", NULL, NO_FIELD, NO_CLI, NULL,
        "Options of ncu, chosen by profiling/ncu@pipeline.ncu=PRESET."),
    ANY(NSYS "trace", NULL, NO_FIELD, NO_CLI, "list", NULL),
    WORD(NSYS "sample", NULL, NO_FIELD, NO_CLI, 0, SAMPLING, NULL, NULL),
    WORD(NSYS "cpuctxsw", NULL, NO_FIELD, NO_CLI, 0, SAMPLING, NULL, NULL),
    WORD(NSYS "cuda_graph_trace", NULL, NO_FIELD, NO_CLI, 0,
         "graph|node|graph:host-only|graph:host-and-device|node:host-only|node:host-and-device",
         NULL, NULL),
    SWITCH(NSYS "cuda_memory_usage", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    ANY(NSYS "gpu_metrics_devices", NULL, NO_FIELD, NO_CLI, "text", NULL),
    WORD(NSYS "capture_range", NULL, NO_FIELD, NO_CLI, 0, "none|nvtx|cudaProfilerApi|hotkey", NULL,
         NULL),
    ANY(NSYS "capture_range_end", NULL, NO_FIELD, NO_CLI, "text", NULL),
    ANY(NSYS "nvtx_capture", NULL, NO_FIELD, NO_CLI, "region", NULL),
    SWITCH(NSYS "discard_environment", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    ANY(NSYS "export", NULL, NO_FIELD, NO_CLI, "map", NULL),
    SWITCH(NSYS "export.sqlite", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    SWITCH(NSYS "force_overwrite", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    ANY(NSYS "export.stats", NULL, NO_FIELD, NO_CLI, "list", NULL),
    ANY(NSYS "args", NULL, NO_FIELD, NO_CLI, "list", NULL),
    WORD(NCU "target_processes", NULL, NO_FIELD, NO_CLI, 0, "all|application-only", NULL, NULL),
    WORD(NCU "replay_mode", NULL, NO_FIELD, NO_CLI, 0, "kernel|application|range|app-range", NULL,
         NULL),
    WORD(NCU "graph_profiling", NULL, NO_FIELD, NO_CLI, 0, "node|graph", NULL, NULL),
    ANY(NCU "nvtx", NULL, NO_FIELD, NO_CLI, "map", NULL),
    ANY(NCU "nvtx.include", NULL, NO_FIELD, NO_CLI, "region or list", NULL),
    ANY(NCU "nvtx.exclude", NULL, NO_FIELD, NO_CLI, "region or list", NULL),
    ANY(NCU "set", NULL, NO_FIELD, NO_CLI, "text", NULL),
    ANY(NCU "sections", NULL, NO_FIELD, NO_CLI, "list", NULL),
    ANY(NCU "metrics", NULL, NO_FIELD, NO_CLI, "list", NULL),
    ANY(NCU "kernel_name", NULL, NO_FIELD, NO_CLI, "text", NULL),
    WORD(NCU "kernel_name_base", NULL, NO_FIELD, NO_CLI, 0, "function|demangled|mangled", NULL,
         NULL),
    ANY(NCU "kernel_exclude", NULL, NO_FIELD, NO_CLI, "list", NULL),
    NUMBER(NCU "launch_skip", NULL, NO_FIELD, NO_CLI, 0, INT32_MAX, NULL, NULL, NULL),
    NUMBER(NCU "launch_count", NULL, NO_FIELD, NO_CLI, 0, INT32_MAX, NULL, NULL, NULL),
    WORD(NCU "clock_control", NULL, NO_FIELD, NO_CLI, 0, "base|boost|none|force-boost|force-base",
         NULL, NULL),
    WORD(NCU "cache_control", NULL, NO_FIELD, NO_CLI, 0, "all|none", NULL, NULL),
    SWITCH(NCU "profile_from_start", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    ANY(NCU "export", NULL, NO_FIELD, NO_CLI, "map", NULL),
    SWITCH(NCU "export.csv", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    SWITCH(NCU "export.sections", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    SWITCH(NCU "force_overwrite", NULL, NO_FIELD, NO_CLI, NULL, NULL),
    ANY(NCU "args", NULL, NO_FIELD, NO_CLI, "list", NULL),
    /* Environment only */
    TEXT(NULL, "LLMPERF_CONFIG_DIR", NO_FIELD, NO_CLI, NULL,
         "Folder of the data files instead of the installed one."),
    TEXT(NULL, "LLMPERF_CUPTI_PATH", NO_FIELD, NO_CLI, NULL,
         "libcupti.so to load instead of the one that is found."),
    TEXT(NULL, "LLMPERF_CUBLASLT_PATH", NO_FIELD, NO_CLI, NULL,
         "libcublasLt.so to load for llmperf hardware --measure."),
    TEXT(NULL, "LLMPERF_CUPTI_RECORDS", NO_FIELD, NO_CLI, NULL,
         "slim or whole: the kind of kernel records that CUPTI writes in tier deep."),
    TEXT(NULL, "LLMPERF_LOG", NO_FIELD, NO_CLI, NULL,
         "error, warn, info or debug: write a log to standard error."),
    TEXT(NULL, "LLMPERF_OPEN_CHANGED", NO_FIELD, NO_CLI, NULL,
         "1: open a run file whose checksums do not match; its problems name the tables."),
};
const size_t lp_options_count = sizeof(lp_options) / sizeof(lp_options[0]);
