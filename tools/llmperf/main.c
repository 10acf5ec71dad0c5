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
    "  --model MODEL  compute FLOPs, bytes, MFU, MBU and lower bounds of stages for this model: "  \
    "a\n"                                                                                          \
    "                 name (llmperf model --list), a config.json or its folder\n"                  \
    "  --dtype D      dtype that the program computes in; selects the peak: bf16, fp16, fp8, "     \
    "fp32,\n"                                                                                      \
    "                 tf32, ...\n"

static const struct command commands[] = {
    { "run", "profile a program that does not know the library",
      "usage: llmperf run [options] [KEY=VALUE...] -- PROGRAM ARG...\n"
      "\n"
      "Runs a program with CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH set to libllmperf, and\n"
      "prints its run directory last. No change of the program: its kernels, copies and NVTX "
      "ranges\n"
      "are profiled, and those of processes that it starts, each in a run of its own, and all\n"
      "together in RUN_DIR/merged. Processes that outlive the program are named; their runs go "
      "on.\n"
      "  --tier T       regions, light, deep or counters (default: $LLMPERF_TIER, run.mode, deep)\n"
      "  --counters C   hardware counters of regions: a preset (llmperf counters), then words such "
      "as\n"
      "                 \"light include=default@forward\"; without --tier: tier counters\n"
      "  --rule RULES   tier light: collect the next instances one and all where one holds, as in\n"
      "                 \"decode_step p99 above 30 ms for 2 s\" (default: $LLMPERF_RULES, "
      "session.rules)\n"
      "  --out DIR      folder of runs (default: $LLMPERF_OUT, artifacts.dir, runs)\n"
      "  --config NAME  configuration: a name, a YAML file or the config.yaml of a run; KEY=VALUE\n"
      "                 changes it (llmperf config)\n" MODEL_OPTIONS
      "  --no-merge     leave the runs of several processes apart\n"
      "  --trace        keep all events in the run, for llmperf export (artifacts.keep_trace)\n"
      "  --repeat N     run it N times, and say how far the runs are apart (llmperf repeats); "
      "tier\n"
      "                 counters: once for each pass of the counters, N times at most, as one "
      "run;\n"
      "                 auto: as often as they need\n"
      "Exit code: the program's; 128 + N if signal N ended it. 2 and 3 with a line of llmperf's "
      "own:\n"
      "it was not started, because of an option, the configuration, or what these name (a model, "
      "a\n"
      "manifest). A run that ends with another code than 0 is the last one.\n",
      cmd_run },
    { "report", "print the report of a run",
      "usage: llmperf report RUN [--format FORMAT] [--model MODEL] [--dtype D] [-o FILE]\n"
      "\n"
      "Prints the report of a run. RUN is a run directory or its run.llmperf.\n"
      "  --format FORMAT  md: Markdown for people (default); json: metrics.json; html: a page\n"
      "                   with charts; summary: plain words; assumptions, inputs, stages,\n"
      "                   operators, kernels\n"
      "  -o FILE          write to a file; - is standard output\n"
      "Options for a run that was collected without them; the run itself stays as it "
      "is:\n" MODEL_OPTIONS,
      cmd_report },
    { "top", "what a session does now, region by region",
      "usage: llmperf top [RUN|DIR] [--once]\n"
      "\n"
      "Shows what a running session has committed to its run, once a second, until it ends: rate,\n"
      "time and GPU busy of each region, tokens and kernels a second, and the ledger so far. RUN "
      "is\n"
      "a run or the folder of a job; of a folder of runs (default: $LLMPERF_OUT, else runs) it is "
      "the\n"
      "newest. Rates are since the commit before; BUSY 100 % is one GPU. In a pipe plain lines.\n"
      "  --once  print what there is, with rates since the beginning, and end\n",
      cmd_top },
    { "list", "runs under a folder, or the files of a run",
      "usage: llmperf list [DIR|RUN]\n"
      "\n"
      "Lists the runs under a folder (default: $LLMPERF_OUT, else runs) with their verdicts, "
      "those\n"
      "of processes and repeats of a job too; or the files of one run with their sizes.\n",
      cmd_list },
    { "import", "turn files of nsys and ncu, and recordings, into runs",
      "usage: llmperf import [options] [KEY=VALUE...] FILE...\n"
      "\n"
      "Reads exports of nsys (SQLite), tables of nsys stats (CSV), reports of ncu (.ncu-rep) and "
      "its\n"
      "tables (CSV) into one run with reports, and tells formats apart by content. Recordings\n"
      "(.llmrec) are played, each a run.\n"
      "Prints the run directory last.\n"
      "  -o RUN_DIR     run directory; default: a new one in $LLMPERF_OUT, artifacts.dir or runs\n"
      "  --config NAME  configuration, a name or a YAML file; KEY=VALUE changes it (llmperf "
      "config)\n" MODEL_OPTIONS
      "  --names exact  keep what PyTorch appends to names of ranges (\", op_id = 7\"); default: "
      "short\n",
      cmd_import },
    { "export", "a run in the format of another program",
      "usage: llmperf export RUN --format FORMAT [-o FILE]\n"
      "\n"
      "  --format FORMAT  prometheus: totals in its text format; csv: every number of every row, "
      "one a\n"
      "                   line; jsonl: every row, one object a line.\n"
      "                   Of a run with a trace (llmperf run --trace), or of a recording "
      "(.llmrec):\n"
      "                   perfetto: for ui.perfetto.dev; chrome: JSON as torch.profiler writes "
      "it;\n"
      "                   nsys-sqlite: the tables of nsys export\n"
      "  -o FILE          write to a file; - is standard output. Default: standard output; of a "
      "trace\n"
      "                   RUN/trace.pftrace, RUN/trace.json, RUN/trace.sqlite\n",
      cmd_export },
    { "compare", "what became slower or faster between two runs",
      "usage: llmperf compare BASE NEW [--threshold PCT] [--format md|json] [-o FILE]\n"
      "\n"
      "Compares times per instance of each region: wall, and device time by kernel class. Exit "
      "code 1:\n"
      "something became slower by more than the threshold and more than its noise, and by more "
      "than "
      "other\n"
      "work of an instance (tokens, context) can explain, which is told. Each of BASE and NEW is\n"
      "a run, or a folder of repeats (llmperf run --repeat): then noise is how far these are "
      "apart. A run of\n"
      "several processes or GPUs is one job; where both have the same ranks, each is compared "
      "with its own.\n"
      "Exit code 4: the runs have too little in common to be compared; the first line says why.\n"
      "  --threshold PCT  default 5\n"
      "  --format md|json Markdown for people (default), or JSON\n"
      "  -o FILE          write to a file; - is standard output\n",
      cmd_compare },
    { "repeats", "how far repeated runs of one program are apart",
      "usage: llmperf repeats RUN RUN... [--threshold PCT] [--format md|json] [-o FILE]\n"
      "\n"
      "Mean, standard deviation, least, most and spread of the numbers of runs, regions and "
      "iterations\n"
      "over two runs or more, which run is apart from the others, and what keeps them from being\n"
      "repeats of one thing. RUN may be a folder of runs, as llmperf run --repeat makes. Exit code "
      "1:\n"
      "times are further apart than the threshold, or the runs are no repeats.\n"
      "  --threshold PCT  default 10\n"
      "  --format md|json Markdown for people (default), or JSON\n"
      "  -o FILE          write to a file; - is standard output\n",
      cmd_repeats },
    { "merge", "runs of several processes or ranks as one",
      "usage: llmperf merge RUN RUN... -o RUN_DIR\n"
      "\n"
      "Puts runs of one job together and writes a run directory with all reports. Regions stay "
      "apart by\n"
      "process; kernels of one region and device are added up; the verdict is that of the worst "
      "run.\n"
      "A run that would count twice is refused: given twice, or beside a merged run that it is "
      "in.\n"
      "Traces stay in the folders of their runs; llmperf export RUN_DIR puts them into one file.\n"
      "Prints the run directory last.\n",
      cmd_merge },
    { "validate", "check JSON files of llmperf against their schemas",
      "usage: llmperf validate FILE|FOLDER [--schema FILE]\n"
      "\n"
      "Checks a JSON file against its JSON Schema (2020-12), or all that a run has: metrics.json,\n"
      "region reports and repeats.json, also those of its processes. A line for each file; exit "
      "code "
      "1\n"
      "where one fails, and its line names the place.\n"
      "  --schema FILE  default: that of metrics.json, region reports or repeats, by content\n",
      cmd_validate },
    { "hardware", "peaks of a GPU and where they come from",
      "usage: llmperf hardware [NAME] [--list] [--measure] [--format text|json] [--config FILE]\n"
      "\n"
      "Prints the limits that utilisation is held against: dense peaks, bandwidth, ridge points, "
      "each\n"
      "with its source. NAME is a GPU as the driver calls it; default: the GPUs of this machine.\n"
      "  --list         names of all GPUs that are known\n"
      "  --measure      measure bandwidth and matrix rates of the GPUs of this machine and keep "
      "them in\n"
      "                 $XDG_CACHE_HOME/llmperf (default ~/.cache/llmperf); nothing else should "
      "run\n"
      "  --seconds S    of each ceiling that is measured (default 0.5)\n"
      "  --config FILE  YAML with hardware.peak_tflops and hardware.bandwidth_gbs\n"
      "LLMPERF_PEAK_TFLOPS (one number, or bf16=989,fp8=1979) and LLMPERF_BANDWIDTH_GBS win.\n",
      cmd_hardware },
    { "counters", "hardware counters of a chip, presets and their passes",
      "usage: llmperf counters [--chip CHIP (--preset PRESET | --list PATTERN)] [options]\n"
      "\n"
      "What hardware counters a chip has and what a preset comes to on it; needs no GPU, only\n"
      "libcupti 12.6 or newer with libnvperf_host. Alone: names of presets and chips.\n"
      "  --chip CHIP        GH100 is the H100 and H200\n"
      "  --preset PRESET    a name, the path of a preset file, or metrics joined by ','\n"
      "  --list PATTERN     metrics by name: exact, with '*', or regex:EXPRESSION\n"
      "  --method range|pm  which metrics --list shows: counted (default) or sampled ones\n"
      "  --format text|json default: text\n",
      cmd_counters },
    { "nsys", "a run from NVIDIA Nsight Systems",
      "usage: llmperf nsys [--dry-run] [options] [key=value...] -- PROGRAM ARG...\n"
      "\n"
      "Runs nsys over a program, exports its result and makes a run of it.\n"
      "\n"
      "  --dry-run      print the commands as JSON, run nothing\n"
      "  --config NAME  a name in the data files, a YAML file or the config.yaml of a run "
      "(default:\n"
      "                 config)\n"
      "  --out DIR      folder of runs; default: $LLMPERF_OUT, else artifacts.dir\n" MODEL_OPTIONS
      "  key=value      run.stage=LLM@decode_all, profiling/ncu@pipeline.ncu=ncu.hopper, ...\n",
      cmd_vendor },
    { "ncu", "a run from NVIDIA Nsight Compute",
      "usage: llmperf ncu [MODE replay] [--dry-run] [options] [key=value...]\n"
      "                   -- PROGRAM ARG...\n"
      "\n"
      "Runs ncu over a program and makes a run of its result. MODE is kernel, application, range "
      "or\n"
      "app-range; those of ranges need run.stage or pipeline.ncu.ncu_cli.nvtx.include.\n"
      "\n"
      "  --dry-run      print the commands as JSON, run nothing\n"
      "  --config NAME  a name in the data files, a YAML file or the config.yaml of a run "
      "(default:\n"
      "                 config)\n"
      "  --out DIR      folder of runs; default: $LLMPERF_OUT, else artifacts.dir\n" MODEL_OPTIONS
      "  key=value      run.stage=LLM@decode_all, profiling/ncu@pipeline.ncu=ncu.hopper, ...\n",
      cmd_vendor },
    { "deep", "nsys, then ncu at the kernels that took longest",
      "usage: llmperf deep [--dry-run] [options] [key=value...] -- PROGRAM ARG...\n"
      "\n"
      "Runs nsys over a program, then ncu at the run.top_n_kernels kernels that took longest "
      "within\n"
      "run.stage, and makes one run of both. With one of the tools missing the other is used.\n"
      "\n"
      "  --dry-run      print the commands as JSON, run nothing\n"
      "  --config NAME  a name in the data files, a YAML file or the config.yaml of a run "
      "(default:\n"
      "                 config)\n"
      "  --out DIR      folder of runs; default: $LLMPERF_OUT, else artifacts.dir\n" MODEL_OPTIONS
      "  key=value      run.stage=LLM@decode_all, profiling/ncu@pipeline.ncu=ncu.hopper, ...\n",
      cmd_vendor },
    { "config", "print a configuration as it is composed",
      "usage: llmperf config [--config NAME] [--model MODEL] [--format yaml|json] [key=value...]\n"
      "\n"
      "Composes a configuration in Hydra's grammar and prints it.\n"
      "  --config NAME       a name in the data files, or a YAML file (default: config)\n"
      "  --model MODEL       sets the key model to the description of a model\n"
      "  --format yaml|json  default: yaml\n"
      "  key=value           a.b=c sets, +a.b=c adds, ~a.b removes, group=option chooses\n",
      cmd_config },
    { "doctor", "what works on this machine, and what to do about the rest",
      "usage: llmperf doctor [--format text|json]\n"
      "\n"
      "Looks at driver, GPUs, CUPTI, tools, permissions and variables. Exit code 0: kernels can "
      "be\n"
      "profiled here; 1: they cannot, and the lines say what to do.\n",
      cmd_doctor },
    { "model", "FLOPs and bytes of a model, without a run",
      "usage: llmperf model MODEL [options]\n"
      "\n"
      "Parameters, FLOPs and bytes of a prefill and of a decode step. MODEL is a config.json, a "
      "folder\n"
      "with one, a YAML file with the same keys, or a name of --list (llama_3_8b).\n"
      "  --list              names of the models in the data files\n"
      "  --prompt N          new tokens of each request (default 2048)\n"
      "  --prefix N          tokens cached before them (default 0)\n"
      "  --context N         positions a decode step attends (default: prefix + prompt)\n"
      "  --decode N          also the sum over N generated tokens behind the prompt\n"
      "  --batch N           requests (default 1)\n"
      "  --dtype T           format of weights and KV cache (default: the model's)\n"
      "  --weight-dtype T, --kv-dtype T   each apart\n"
      "  --activation-dtype T   what quantised layers compute in: fp8 for products in fp8\n"
      "                      (default: as quantization_config says, else the model's dtype)\n"
      "  --tp N --pp N --pp-rank N --ep N --dp N   share of one GPU\n"
      "  --draft N --acceptance P   speculation in the decode step\n"
      "  --image WxH --tiles CxR --tile-size N     what the encoder sees, in pixels\n"
      "  --gpu NAME          floors and bounds on this GPU; local: the first one of this machine\n"
      "  --format text|json  default: text\n"
      "Formats: fp32 bf16 fp16 fp8 fp8_block128 int8 int4_g128 nvfp4 mxfp4 nf4 q4_0 q4_k q6_k "
      "q8_0.\n"
      "Eight H100, all in fp8: llmperf model llama_3_70b --gpu \"H100 SXM5\" --tp 8 --batch 64 "
      "--dtype fp8\n"
      "                        --activation-dtype fp8\n",
      cmd_model },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    print("usage: llmperf COMMAND [options]\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        print("  %-10s %s\n", commands[i].name, commands[i].summary);
    print(
        "\nllmperf help COMMAND prints its options; llmperf --version prints the version.\n"
        "Exit codes: 0 ok, 1 a check failed, 2 wrong usage, 3 environment, 4 (compare) runs that\n"
        "have too little in common.\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    fprintf(stderr, "llmperf: there is no command %s; see llmperf --help\n", name);
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
        fprintf(stderr, "llmperf: which command? See llmperf --help\n");
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
