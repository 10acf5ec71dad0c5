/* SPDX-License-Identifier: Apache-2.0 */
/** The command line: `llmperf COMMAND [options]`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "llmperf/llmperf.h"

/* The same for every command that has them. */
#define MODEL_OPTIONS                                                                              \
    "  --model MODEL  model for FLOPs, bytes, MFU, MBU and lower bounds on stage times: a\n"       \
    "                 name (llmperf model --list), a config.json or its folder\n"                  \
    "  --dtype D      dtype that the program computes in; selects the peak: bf16, fp16, fp8,\n"    \
    "                 fp32, tf32, ...\n"
#define VENDOR_OPTIONS                                                                             \
    "  --config NAME  configuration: a name from the data files, a YAML file or a run's\n"         \
    "                 config.yaml (default: config)\n"                                             \
    "  --out DIR      folder for runs (default: $LLMPERF_OUT, else artifacts.dir)\n" MODEL_OPTIONS \
    "  KEY=VALUE      changes the configuration: run.stage=LLM@decode_all,\n"                      \
    "                 profiling/ncu@pipeline.ncu=ncu.hopper, ...\n"

static const struct command commands[] = {
    { "run", "profile a program without changing it",
      "usage: llmperf run [options] [KEY=VALUE...] -- PROGRAM ARG...\n"
      "\n"
      "Runs a program with libllmperf injected (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH)\n"
      "and profiles its kernels, memory copies and NVTX ranges. Each process that the program\n"
      "starts gets a run of its own; RUN_DIR/merged combines them. Processes that are still\n"
      "running at the end are named; their runs continue. The last line of output is the run\n"
      "directory.\n"
      "  --tier T       regions, light, deep or counters (default: $LLMPERF_TIER, run.mode,\n"
      "                 deep)\n"
      "  --counters C   hardware counters of regions: a preset (llmperf counters) and options,\n"
      "                 as in \"light include=default@forward\"; without --tier, selects tier\n"
      "                 counters\n"
      "  --rule RULES   tier light: when a rule fires, collect all of the next calls, not only\n"
      "                 samples, as in \"decode_step p99 above 30 ms for 2 s\" (default:\n"
      "                 $LLMPERF_RULES, session.rules)\n"
      "  --out DIR      folder for runs (default: $LLMPERF_OUT, artifacts.dir, runs)\n"
      "  --config NAME  configuration: a name, a YAML file or a run's config.yaml; KEY=VALUE\n"
      "                 changes it (llmperf config)\n" MODEL_OPTIONS
      "  --no-merge     do not merge the runs of several processes\n"
      "  --trace        keep every event for llmperf export (artifacts.keep_trace)\n"
      "  --repeat N     run the program N times and report the spread (llmperf repeats). With\n"
      "                 tier counters: one run per counter pass, at most N, merged into one\n"
      "                 run; auto: as many runs as the counters need\n"
      "Exit code: that of the program, or 128 + N if signal N ended it. 2 or 3 with a message\n"
      "of llmperf: the program was not started because of an option, the configuration or a\n"
      "file that they name. --repeat stops after the first run with an exit code other than 0.\n",
      cmd_run },
    { "report", "print the report of a run",
      "usage: llmperf report RUN [--format FORMAT] [--model MODEL] [--dtype D] [-o FILE]\n"
      "\n"
      "Prints the report of a run. RUN is a run directory or its run.llmperf.\n"
      "  --format FORMAT  md: Markdown (default); json: metrics.json; html: a page with charts;\n"
      "                   summary: a few sentences; assumptions, inputs, stages, operators,\n"
      "                   kernels\n"
      "  -o FILE          write to a file; - is standard output\n"
      "Options for a run that was profiled without them; the run itself is not "
      "changed:\n" MODEL_OPTIONS,
      cmd_report },
    { "top", "live view of a running session",
      "usage: llmperf top [RUN|DIR] [--once]\n"
      "\n"
      "Shows the latest numbers of a running session once a second until it ends: rate, time\n"
      "and GPU busy time of each region, tokens and kernels per second, and the record counts\n"
      "so far. RUN is a run or the folder of a job; of a folder of runs (default: $LLMPERF_OUT,\n"
      "else runs) the newest is shown. Rates cover the time since the previous update; BUSY\n"
      "100 % is one busy GPU. If standard output is not a terminal, updates are printed one\n"
      "after another.\n"
      "  --once  print the current numbers, averaged since the start, and exit\n",
      cmd_top },
    { "list", "list the runs in a folder, or the files of a run",
      "usage: llmperf list [DIR|RUN]\n"
      "\n"
      "Lists the runs in a folder (default: $LLMPERF_OUT, else runs) with their verdicts,\n"
      "including those of processes and repeats of a job; or the files of one run with their\n"
      "sizes.\n",
      cmd_list },
    { "import", "convert nsys and ncu files, or recordings, into runs",
      "usage: llmperf import [options] [KEY=VALUE...] FILE...\n"
      "\n"
      "Combines nsys SQLite exports, nsys stats tables (CSV), ncu reports (.ncu-rep) and ncu\n"
      "CSV output into one run with reports; formats are detected by content. Each recording\n"
      "(.llmrec) is replayed into a run of its own. The last line of output is the run\n"
      "directory.\n"
      "  -o RUN_DIR     run directory; default: a new one in $LLMPERF_OUT, artifacts.dir or\n"
      "                 runs\n"
      "  --config NAME  configuration: a name or a YAML file; KEY=VALUE changes it (llmperf\n"
      "                 config)\n" MODEL_OPTIONS
      "  --names exact  keep the suffixes that PyTorch adds to range names (\", op_id = 7\");\n"
      "                 default: short\n",
      cmd_import },
    { "export", "convert a run into another format",
      "usage: llmperf export RUN --format FORMAT [-o FILE]\n"
      "\n"
      "  --format FORMAT  prometheus: totals in Prometheus text format; csv: one line per\n"
      "                   number; jsonl: one JSON object per row.\n"
      "                   For a run with a trace (llmperf run --trace) or a recording\n"
      "                   (.llmrec): perfetto: for ui.perfetto.dev; chrome: JSON like\n"
      "                   torch.profiler's; nsys-sqlite: the tables of nsys export\n"
      "  -o FILE          write to a file; - is standard output. Default: standard output; for\n"
      "                   traces RUN/trace.pftrace, RUN/trace.json, RUN/trace.sqlite\n",
      cmd_export },
    { "compare", "show what became slower or faster between two runs",
      "usage: llmperf compare BASE NEW [--threshold PCT] [--format md|json] [-o FILE]\n"
      "\n"
      "Compares the time per call of each region: wall time, and GPU time by kernel class. A\n"
      "difference counts if it exceeds the threshold, the noise, and what a change in work per\n"
      "call (tokens, context length) explains. BASE and NEW are runs or folders of repeats\n"
      "(llmperf run --repeat), whose spread is then the noise. A run with several processes or\n"
      "GPUs is one job; if both jobs have the same ranks, each rank is compared with its\n"
      "counterpart.\n"
      "  --threshold PCT  default 5\n"
      "  --format md|json Markdown (default) or JSON\n"
      "  -o FILE          write to a file; - is standard output\n"
      "Exit code 1: something became slower. 4: the runs have too little in common to be\n"
      "compared; the first line says why.\n",
      cmd_compare },
    { "repeats", "show the spread between repeated runs",
      "usage: llmperf repeats RUN RUN... [--threshold PCT] [--format md|json] [-o FILE]\n"
      "\n"
      "Mean, standard deviation, minimum, maximum and spread of the numbers of runs, regions\n"
      "and iterations over two or more runs; which run is an outlier; and which differences\n"
      "make the runs no repeats of each other. RUN may be a folder of runs from llmperf run\n"
      "--repeat.\n"
      "  --threshold PCT  default 10\n"
      "  --format md|json Markdown (default) or JSON\n"
      "  -o FILE          write to a file; - is standard output\n"
      "Exit code 1: times differ by more than the threshold, or the runs are not repeats.\n",
      cmd_repeats },
    { "merge", "combine the runs of several processes or ranks",
      "usage: llmperf merge RUN RUN... -o RUN_DIR\n"
      "\n"
      "Combines the runs of one job and writes a run directory with all reports. Regions are\n"
      "kept by process; kernels of the same region and device are added up; the verdict is the\n"
      "worst of all runs. A run that would be counted twice is refused: one that is given\n"
      "twice, or that a given merged run already contains. Traces stay in their runs; llmperf\n"
      "export RUN_DIR combines them into one file. The last line of output is the run\n"
      "directory.\n",
      cmd_merge },
    { "validate", "check JSON files against their schemas",
      "usage: llmperf validate FILE|FOLDER [--schema FILE]\n"
      "\n"
      "Checks a JSON file against its JSON Schema (2020-12), or every JSON file of a run:\n"
      "metrics.json, region reports and repeats.json, including those of its processes. Prints\n"
      "one line per file. Exit code 1: a file is invalid; its line says where.\n"
      "  --schema FILE  default: the schema of metrics.json, region reports or repeats, chosen\n"
      "                 by content\n",
      cmd_validate },
    { "hardware", "show the peaks of a GPU and their sources",
      "usage: llmperf hardware [NAME] [--list] [--measure] [--format text|json] [--config FILE]\n"
      "\n"
      "Prints the limits that utilisation is computed from: dense peaks, bandwidth and ridge\n"
      "points, each with its source. NAME is a GPU as the driver names it; default: the GPUs of\n"
      "this machine.\n"
      "  --list         names of all known GPUs\n"
      "  --measure      measure bandwidth and matrix throughput of this machine's GPUs and\n"
      "                 keep the results in $XDG_CACHE_HOME/llmperf (default\n"
      "                 ~/.cache/llmperf); the GPUs must be otherwise idle\n"
      "  --seconds S    time for each measured peak (default 0.5)\n"
      "  --config FILE  YAML with hardware.peak_tflops and hardware.bandwidth_gbs\n"
      "LLMPERF_PEAK_TFLOPS (one number, or bf16=989,fp8=1979) and LLMPERF_BANDWIDTH_GBS\n"
      "override all other sources.\n",
      cmd_hardware },
    { "counters", "list hardware counters, presets and their passes",
      "usage: llmperf counters [--chip CHIP (--preset PRESET | --list PATTERN)] [options]\n"
      "\n"
      "Lists the hardware counters of a chip, or resolves a preset for it. Needs no GPU, only\n"
      "libcupti 12.6 or newer with libnvperf_host. Without options: names of presets and chips.\n"
      "  --chip CHIP        GPU die; GH100 is the H100 and H200\n"
      "  --preset PRESET    a name, the path of a preset file, or metrics joined by ','\n"
      "  --list PATTERN     metrics by name: exact, with '*', or regex:EXPRESSION\n"
      "  --method range|pm  which metrics --list shows: those of range profiling (default) or\n"
      "                     of PM sampling\n"
      "  --format text|json default: text\n",
      cmd_counters },
    { "nsys", "profile with NVIDIA Nsight Systems",
      "usage: llmperf nsys [--dry-run] [options] [KEY=VALUE...] -- PROGRAM ARG...\n"
      "\n"
      "Profiles a program with nsys, exports the result and imports it as a run.\n"
      "\n"
      "  --dry-run      print the commands as JSON without running them\n" VENDOR_OPTIONS,
      cmd_vendor },
    { "ncu", "profile with NVIDIA Nsight Compute",
      "usage: llmperf ncu [MODE replay] [--dry-run] [options] [KEY=VALUE...]\n"
      "                   -- PROGRAM ARG...\n"
      "\n"
      "Profiles a program with ncu and imports the result as a run. MODE is kernel,\n"
      "application, range or app-range; the range modes need run.stage or\n"
      "pipeline.ncu.ncu_cli.nvtx.include.\n"
      "\n"
      "  --dry-run      print the commands as JSON without running them\n" VENDOR_OPTIONS,
      cmd_vendor },
    { "deep", "profile with nsys, then ncu for the longest kernels",
      "usage: llmperf deep [--dry-run] [options] [KEY=VALUE...] -- PROGRAM ARG...\n"
      "\n"
      "Profiles a program with nsys, then the run.top_n_kernels kernels with the largest total\n"
      "time in run.stage with ncu, and imports both as one run. If one of the tools is missing,\n"
      "the other is used alone.\n"
      "\n"
      "  --dry-run      print the commands as JSON without running them\n" VENDOR_OPTIONS,
      cmd_vendor },
    { "config", "print the composed configuration",
      "usage: llmperf config [--config NAME] [--model MODEL] [--format yaml|json]\n"
      "                      [KEY=VALUE...]\n"
      "\n"
      "Composes a configuration (Hydra syntax) and prints it.\n"
      "  --config NAME       a name from the data files, or a YAML file (default: config)\n"
      "  --model MODEL       sets the key model to the description of a model\n"
      "  --format yaml|json  default: yaml\n"
      "  KEY=VALUE           a.b=c sets, +a.b=c adds, ~a.b removes, group=option chooses\n",
      cmd_config },
    { "doctor", "check whether this machine can profile GPU kernels",
      "usage: llmperf doctor [--format text|json]\n"
      "\n"
      "Checks driver, GPUs, CUPTI, tools, permissions and environment variables, and says how\n"
      "to fix what does not work. Exit code 0: kernels can be profiled here; 1: they cannot.\n",
      cmd_doctor },
    { "model", "compute FLOPs and bytes of a model without running it",
      "usage: llmperf model MODEL [options]\n"
      "\n"
      "Parameters, FLOPs and bytes of a prefill and a decode step. MODEL is a config.json, its\n"
      "folder, a YAML file with the same keys, or a name from --list (llama_3_8b).\n"
      "  --list              names of the models in the data files\n"
      "  --prompt N          new tokens of each request (default 2048)\n"
      "  --prefix N          cached tokens before them (default 0)\n"
      "  --context N         context length of the decode step (default: prefix + prompt)\n"
      "  --decode N          also print the totals for N output tokens after the prompt\n"
      "  --batch N           requests (default 1)\n"
      "  --dtype T           dtype of weights and KV cache (default: the model's)\n"
      "  --weight-dtype T, --kv-dtype T   the same, set separately\n"
      "  --activation-dtype T   dtype that quantised layers compute in; fp8 for FP8 matrix\n"
      "                      products (default: from quantization_config, else the model's\n"
      "                      dtype)\n"
      "  --tp N --pp N --pp-rank N --ep N --dp N   parallel layout; results are for one GPU\n"
      "  --draft N --acceptance P   speculative decoding: draft tokens and their acceptance\n"
      "                             rate\n"
      "  --image WxH --tiles CxR --tile-size N     input of the vision encoder, in pixels\n"
      "  --gpu NAME          lower bounds on step times on this GPU; local: the first GPU here\n"
      "  --format text|json  default: text\n"
      "Dtypes: fp32 bf16 fp16 fp8 fp8_block128 int8 int4_g128 nvfp4 mxfp4 nf4 q4_0 q4_k q6_k\n"
      "q8_0.\n"
      "Example, eight H100 with FP8:\n"
      "  llmperf model llama_3_70b --gpu \"H100 SXM5\" --tp 8 --batch 64 --dtype fp8\n"
      "      --activation-dtype fp8\n",
      cmd_model },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    print("usage: llmperf COMMAND [options]\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        print("  %-10s %s\n", commands[i].name, commands[i].summary);
    print("\nllmperf help COMMAND prints its options; llmperf --version prints the version.\n"
          "Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 the environment prevents it,\n"
          "4 (compare) the runs have too little in common.\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    fprintf(stderr, "llmperf: unknown command %s; see llmperf --help\n", name);
    return NULL;
}

static int help(const char *name)
{
    const struct command *command = name ? find_command(name) : NULL;

    if (command)
        print("%s", command->usage);
    else if (!name)
        print_help();
    return command || !name ? EXIT_FINE : EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct command *command;

    if (!name) {
        fprintf(stderr, "llmperf: no command given; see llmperf --help\n");
        return EXIT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0) {
        print("llmperf %s\n", llmperf_version());
        return EXIT_FINE;
    }
    command = find_command(name);
    return command ? command->run(command, argc - 1, argv + 1) : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    /* A reader that closes the pipe must not kill us in the middle of writing a run. */
    signal(SIGPIPE, SIG_IGN);
    unsetenv("LLMPERF_RUN_CONFIG"); /* Of a run that started us: our sessions are our own. */
    return finish_output(run_command(argc, argv));
}
