/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf model`: parameters, FLOPs and bytes of a model. Needs no run and no GPU. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "model/gpu.h"
#include "model/memory.h"
#include "model/sweep.h"

#define TOKENS_MOST (UINT64_C(1) << 36)

enum {
    LIST,
    PROMPT,
    PREFIX,
    CONTEXT,
    DECODE,
    BATCH,
    STORAGE_DTYPE,
    WEIGHT_DTYPE,
    KV_DTYPE,
    ACTIVATION_DTYPE,
    TP,
    PP,
    PP_RANK,
    EP,
    DP,
    DRAFT,
    ACCEPTANCE,
    IMAGE,
    TILES,
    TILE_SIZE,
    GPU,
    SWEEP,
    PRICE,
    EFFICIENCY,
    RUN,
    SLO,
    FORMAT
};

static const struct option options[] = {
    [LIST] = OPTION("--list", NULL, NULL, NULL, "names of the models in the data files"),
    [PROMPT] = { "--prompt", NULL, "N", "2048", "new tokens of each request", 1, TOKENS_MOST },
    [PREFIX] = { "--prefix", NULL, "N", "0", "cached tokens before them", 0, TOKENS_MOST },
    [CONTEXT] = { "--context", NULL, "N", NULL,
                  "context length of the decode step (default: prefix + prompt)", 1, TOKENS_MOST },
    [DECODE] = { "--decode", NULL, "N", NULL,
                 "also print the totals for N output tokens after the prompt", 1, 1000000 },
    [BATCH] = { "--batch", NULL, "N", "1", "requests", 1, 1000000 },
    [STORAGE_DTYPE] =
        OPTION("--storage-dtype", NULL, "T", NULL,
               "dtype that weights and KV cache are stored in (default: the model's)"),
    [WEIGHT_DTYPE] =
        OPTION("--weight-dtype", NULL, "T", NULL, "dtype of the weights, if it differs"),
    [KV_DTYPE] = OPTION("--kv-dtype", NULL, "T", NULL, "dtype of the KV cache, if it differs"),
    [ACTIVATION_DTYPE] =
        OPTION("--activation-dtype", NULL, "T", NULL,
               "dtype that quantised layers compute in; fp8 for FP8 matrix products "
               "(default: from quantization_config, else the model's dtype)"),
    [TP] = { "--tp", NULL, "N", NULL, "tensor parallel GPUs; results are for one GPU", 1, 65536 },
    [PP] = { "--pp", NULL, "N", NULL, "pipeline stages", 1, 65536 },
    [PP_RANK] = { "--pp-rank", NULL, "N", NULL, "the stage of this GPU, from 0", 0, 65536 },
    [EP] = { "--ep", NULL, "N", NULL, "GPUs that whole experts are spread over", 1, 65536 },
    [DP] = { "--dp", NULL, "N", NULL, "replicas", 1, 65536 },
    [DRAFT] = { "--draft", NULL, "N", NULL, "speculative decoding: draft tokens", 0, 65536 },
    [ACCEPTANCE] = OPTION("--acceptance", NULL, "P", NULL, "their acceptance rate, from 0 to 1"),
    [IMAGE] = OPTION("--image", NULL, "WxH", NULL, "input of the vision encoder, in pixels"),
    [TILES] = OPTION("--tiles", NULL, "CxR", NULL, "tiles of the image: columns and rows"),
    [TILE_SIZE] = { "--tile-size", NULL, "N", NULL, "pixels of a tile's side", 1, 65536 },
    [GPU] =
        OPTION("--gpu", NULL, "NAME", NULL,
               "lower bounds on step times on this GPU; local: the first GPU here. With --sweep "
               "it may be repeated"),
    [SWEEP] = OPTION("--sweep", NULL, "TERMS", NULL,
                     "bounds of TTFT, TPOT, tokens/s and memory for each batch=, context= and tp=; "
                     "1..256 doubles, 4k is 4096"),
    [PRICE] = OPTION("--price", NULL, "P", NULL,
                     "with --sweep: price of an hour of the --gpu before it, for tokens per price"),
    [EFFICIENCY] = OPTION("--efficiency", NULL, "E", NULL,
                          "with --sweep: share of the bound that is reached, up to 1"),
    [RUN] = OPTION("--run", NULL, "RUN", NULL,
                   "with --sweep: take this share from the stages of a run, and mark the run"),
    [SLO] = OPTION("--slo", NULL, "LIMITS", NULL,
                   "with --sweep: the largest batch for limits such as tpot=50ms,ttft=500ms"),
    [FORMAT] = OPTION("--format", NULL, "text|json|csv|md|svg", "text",
                      "text or JSON; csv, md and svg with --sweep"),
    OPTIONS_END
};

/* "1024" or "1280x720": the first and the second number. */
static bool take_pair(const struct command *command, const struct words *words, int option,
                      uint64_t *first, uint64_t *second)
{
    const char *value = words->values[option];
    char *end = NULL;

    if (!value)
        return true;
    errno = 0;
    if (*value >= '0' && *value <= '9')
        *first = *second = strtoull(value, &end, 10);
    if (end && *end == 'x' && to_number(end + 1, second))
        end += strlen(end);
    if (end && *end == '\0' && errno == 0 && *first && *second)
        return true;
    fail_usage(command, "%s is %s; expected a size like 1024 or 3x2", options[option].name, value);
    return false;
}

static bool take_dtype(const struct command *command, const struct words *words, int option,
                       uint32_t *dtype)
{
    const char *value = words->values[option];
    if (!value || llmperf_dtype_find(value, dtype) == 0)
        return true;
    fail_usage(command, "%s: %s", options[option].name, llmperf_last_error());
    return false;
}

/* --storage-dtype applies to weights and KV cache, unless they have options of their own. Formats
 * for weights only do not apply to the KV cache. */
static bool take_dtypes(const struct command *command, const struct words *words,
                        struct model_answer *answer)
{
    uint32_t both = 0, activation = 0;
    uint64_t bytes;

    if (!take_dtype(command, words, STORAGE_DTYPE, &both))
        return false;
    answer->weight_dtype = both ? both : answer->info.weight_dtype;
    answer->kv_dtype = both && llmperf_model_kv_bytes(answer->model, both, &bytes) == 0
                           ? both
                           : answer->info.kv_dtype;
    if (!take_dtype(command, words, WEIGHT_DTYPE, &answer->weight_dtype) ||
        !take_dtype(command, words, KV_DTYPE, &answer->kv_dtype) ||
        !take_dtype(command, words, ACTIVATION_DTYPE, &activation))
        return false;
    answer->prefill_step.activation_dtype = activation;
    return true;
}

static bool take_acceptance(const struct command *command, const struct words *words, int option,
                            double *rate)
{
    const char *value = words->values[option];
    char *end;

    if (!value)
        return true;
    *rate = strtod(value, &end);
    if (end != value && *end == '\0' && *rate >= 0 && *rate <= 1)
        return true;
    fail_usage(command, "%s is %s; it must be between 0 and 1", options[option].name, value);
    return false;
}

static bool take_sizes(const struct command *command, const struct words *words,
                       struct model_answer *answer)
{
    answer->prompt = number_value(words, PROMPT, 0);
    answer->prefix = number_value(words, PREFIX, 0);
    answer->context = number_value(words, CONTEXT, answer->prefix + answer->prompt);
    answer->batch = number_value(words, BATCH, 1);
    answer->generated = number_value(words, DECODE, 0);
    answer->tile_pixels = number_value(words, TILE_SIZE, 0);
    return take_pair(command, words, IMAGE, &answer->image_width, &answer->image_height) &&
           take_pair(command, words, TILES, &answer->tile_columns, &answer->tile_rows);
}

static void take_parallel(const struct words *words, llmperf_step *step)
{
    step->tensor_parallel = (uint32_t)number_value(words, TP, 0);
    step->pipeline_parallel = (uint32_t)number_value(words, PP, 0);
    step->pipeline_rank = (uint32_t)number_value(words, PP_RANK, 0);
    step->expert_parallel = (uint32_t)number_value(words, EP, 0);
    step->data_parallel = (uint32_t)number_value(words, DP, 0);
}

static bool take_steps(const struct command *command, const struct words *words,
                       struct model_answer *answer)
{
    llmperf_step *step = &answer->prefill_step;

    take_parallel(words, step);
    step->weight_dtype = answer->weight_dtype;
    step->kv_dtype = answer->kv_dtype;
    step->phase = LLMPERF_PHASE_PREFILL;
    step->requests = answer->batch;
    answer->decode_step = *step;
    answer->decode_step.phase = LLMPERF_PHASE_DECODE;
    answer->decode_step.cached_each = answer->context - 1;
    step->new_each = answer->prompt;
    step->cached_each = answer->prefix;
    answer->decode_step.draft_tokens = (uint32_t)number_value(words, DRAFT, 0);
    if (!take_acceptance(command, words, ACCEPTANCE, &answer->decode_step.acceptance))
        return false;
    step = &answer->vision_step;
    step->phase = LLMPERF_PHASE_VISION;
    step->weight_dtype = answer->weight_dtype;
    step->images = 1;
    step->image_heights = answer->image_height ? &answer->image_height : NULL;
    step->image_widths = answer->image_width ? &answer->image_width : NULL;
    if (answer->tile_rows) {
        step->tile_rows = &answer->tile_rows;
        step->tile_columns = &answer->tile_columns;
        step->tile_pixels = answer->tile_pixels;
    }
    return true;
}

static uint64_t add_or_unknown(uint64_t sum, uint64_t value)
{
    return __builtin_add_overflow(sum, value, &sum) ? LLMPERF_UNKNOWN : sum;
}

static uint64_t times_or_unknown(uint64_t value, uint64_t factor)
{
    return __builtin_mul_overflow(value, factor, &value) ? LLMPERF_UNKNOWN : value;
}

/* FLOPs of all steps equal those of a prefill of the generated tokens with logits for each. Bytes:
 * each step reads the weights again, and one more position of the KV cache. */
static int work_generation(struct model_answer *answer)
{
    llmperf_step all = answer->prefill_step, one = answer->decode_step;
    uint64_t sum = 0;
    llmperf_work work = LLMPERF_WORK_INIT;
    int status;

    all.new_each = answer->generated;
    all.cached_each = one.cached_each = answer->prefix + answer->prompt;
    all.logits = LLMPERF_LOGITS_ALL;
    all.requests = one.requests = 1;
    if ((status = llmperf_model_work(answer->model, &all, &work)) < 0)
        return status;
    answer->generation_flops = times_or_unknown(work.model_flops, answer->batch);
    for (uint64_t i = 0; i < answer->generated; i++, one.cached_each++) {
        if ((status = llmperf_model_work(answer->model, &one, &work)) < 0)
            return status;
        sum = add_or_unknown(
            sum, times_or_unknown(work.kv_read_bytes + work.kv_write_bytes, answer->batch));
        sum = add_or_unknown(sum, answer->decode.weight_bytes);
    }
    answer->generation_bytes = sum;
    return 0;
}

static int work_decoder(struct model_answer *answer)
{
    llmperf_step all = answer->prefill_step;
    int status;

    all.logits = LLMPERF_LOGITS_ALL;
    if ((status = llmperf_model_work(answer->model, &answer->prefill_step, &answer->prefill)) < 0 ||
        (status = llmperf_model_work(answer->model, &all, &answer->prefill_all)) < 0 ||
        (status = llmperf_model_work(answer->model, &answer->decode_step, &answer->decode)) < 0)
        return status;
    return answer->generated ? work_generation(answer) : 0;
}

static int work_out(struct model_answer *answer)
{
    int status =
        llmperf_model_weight_bytes(answer->model, answer->weight_dtype, &answer->weight_bytes);

    if (status == 0)
        status =
            llmperf_model_kv_bytes(answer->model, answer->kv_dtype, &answer->kv_bytes_per_token);
    if (status == 0 && answer->info.has_decoder)
        status = work_decoder(answer);
    if (status == 0 && answer->info.has_vision)
        status = llmperf_model_work(answer->model, &answer->vision_step, &answer->vision);
    if (status == 0)
        status = work_out_gpu(answer);
    work_out_memory(answer);
    return status;
}

/* The values of an option that may be repeated. */
static size_t gather(int argc, char **argv, const char *name, const char **values)
{
    size_t length = strlen(name), count = 0;

    for (int i = 1; i < argc && count < SWEEP_GPUS_MOST; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            values[count++] = argv[i] + length + 1;
        else if (strcmp(argv[i], name) == 0 && i + 1 < argc)
            values[count++] = argv[++i];
    return count;
}

/* Terms of the sweep are words of their own, too: --sweep batch=1..8 context=1k. They are moved
 * from the operands to the text. */
static bool take_terms(struct words *words, char **argv, char *text, size_t size)
{
    int kept = 0;

    snprintf(text, size, "%s", words->values[SWEEP]);
    for (int i = 1; i <= words->count; i++) {
        size_t used = strlen(text);

        if (strncmp(argv[i], "batch=", 6) != 0 && strncmp(argv[i], "context=", 8) != 0 &&
            strncmp(argv[i], "tp=", 3) != 0)
            argv[++kept] = argv[i];
        else if (snprintf(text + used, size - used, " %s", argv[i]) >= (int)(size - used))
            return false;
    }
    words->count = kept;
    return true;
}

static int sweep_for(const struct command *command, const struct words *words,
                     struct sweep_words *sweep, struct model_answer *answer)
{
    if (!answer->info.has_decoder)
        return fail_usage(command, "%s has no decoder; --sweep needs one", answer->info.name);
    if (answer->info.has_vision) {
        int status = llmperf_model_work(answer->model, &answer->vision_step, &answer->vision);

        if (status < 0)
            return fail_status(status);
    }
    sweep->efficiency = words->values[EFFICIENCY];
    sweep->run = words->values[RUN];
    sweep->slo = words->values[SLO];
    sweep->format = (enum sweep_format)choice_of(command, words, FORMAT);
    return run_sweep(command, sweep, answer);
}

static int answer_for(const struct command *command, const struct words *words,
                      struct sweep_words *sweep, const llmperf_model *model)
{
    struct model_answer answer = {
        .model = model,
        .info = LLMPERF_MODEL_INFO_INIT,
        .prefill_step = LLMPERF_STEP_INIT,
        .vision_step = LLMPERF_STEP_INIT,
        .prefill = LLMPERF_WORK_INIT,
        .prefill_all = LLMPERF_WORK_INIT,
        .decode = LLMPERF_WORK_INIT,
        .vision = LLMPERF_WORK_INIT,
    };
    int status, code = EXIT_FINE;

    llmperf_model_info_get(model, &answer.info);
    if (!take_dtypes(command, words, &answer) || !take_sizes(command, words, &answer) ||
        !take_steps(command, words, &answer))
        return EXIT_USAGE;
    if ((answer.image_height || answer.tile_rows) && !answer.info.has_vision)
        return fail_usage(command, "%s has no vision encoder; omit --image and --tiles",
                          answer.info.name);
    if (answer.generated && answer.decode_step.draft_tokens)
        return fail_usage(command, "--decode and --draft cannot be combined; use --context");
    if (answer.tile_rows && !answer.tile_pixels)
        return fail_usage(command, "--tiles needs --tile-size");
    if (words->values[SWEEP])
        return sweep_for(command, words, sweep, &answer);
    if ((code = take_gpu(command, words->values[GPU], &answer)) != EXIT_FINE)
        return code;
    status = work_out(&answer);
    if (status == 0 && choice_of(command, words, FORMAT))
        code = print_model_json(&answer);
    else if (status == 0)
        print_model_text(&answer);
    free_gpu(&answer);
    return status < 0 ? fail_status(status) : code;
}

static void print_name(const char *path, const char *name, void *user)
{
    char arch[FOLDER_PATH_BYTES];

    (void)user;
    if (folder_join(arch, path, "arch") && folder_is_kind(arch, S_IFDIR))
        print("%s\n", name);
}

static int print_names(void)
{
    const char *data = llmperf_config_dir();
    char folder[FOLDER_PATH_BYTES];

    if (!data)
        return fail_status(LLMPERF_ENOENT);
    if (folder_join(folder, data, "model"))
        folder_each(folder, print_name, NULL);
    return EXIT_FINE;
}

/* Elsewhere --dtype is what a program computes in. */
static bool has_dtype(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--dtype") == 0 || strncmp(argv[i], "--dtype=", 8) == 0)
            return true;
    return false;
}

/* Options and formats that need --sweep. */
static int check_sweep(const struct command *command, const struct words *words)
{
    for (int i = PRICE; i <= SLO && !words->values[SWEEP]; i++)
        if (words->values[i])
            return fail_usage(command, "%s needs --sweep", options[i].name);
    if (!words->values[SWEEP] && choice_of(command, words, FORMAT) > SWEEP_JSON)
        return fail_usage(command, "--format %s needs --sweep", words->values[FORMAT]);
    return EXIT_FINE;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct sweep_words sweep = { .terms = NULL };
    char terms[2048];
    llmperf_model *model;
    struct words words;
    int status;

    if (has_dtype(argc, argv))
        return fail_usage(command, "--dtype is what a program computes in (llmperf run, report); "
                                   "give --storage-dtype for weights and KV cache, or "
                                   "--activation-dtype for matrix products");
    sweep.gpu_count = gather(argc, argv, "--gpu", sweep.gpus);
    sweep.price_count = gather(argc, argv, "--price", sweep.prices);
    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if ((status = check_sweep(command, &words)) != EXIT_FINE)
        return status;
    if (words.values[SWEEP] && !take_terms(&words, argv, terms, sizeof(terms)))
        return fail_usage(command, "--sweep has more than %zu characters", sizeof(terms) - 1);
    sweep.terms = terms;
    if (words.values[LIST])
        return words.count == 0 ? print_names() : fail_usage(command, "--list takes no model");
    if (words.count != 1)
        return fail_usage(command, "expected one model");
    if ((status = llmperf_model_open(argv[1], &model)) < 0)
        return fail_status(status);
    status = answer_for(command, &words, &sweep, model);
    llmperf_model_free(model);
    return status;
}

static void print_dtypes(void)
{
    char text[512] = "Dtypes:";
    size_t used = strlen(text);
    const char *name;

    for (uint32_t i = LLMPERF_DTYPE_FP32; used < sizeof(text); i++) {
        if (strcmp(name = llmperf_name(LLMPERF_NAME_DTYPE, i), "unknown") == 0)
            break;
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %s", name);
    }
    print_wrapped(0, 0, text);
}

const struct command command_model = {
    .name = "model",
    .summary = "compute FLOPs and bytes of a model without running it",
    .operands = "MODEL [options]",
    .about = "Parameters, FLOPs and bytes of a prefill and a decode step. MODEL is a config.json, "
             "its folder, a YAML file with the same keys, or a name from --list (llama_3_8b).\n"
             "With --sweep: roofline bounds of TTFT, TPOT and tokens/s per GPU, and the memory "
             "needed, over batch size, context length, GPUs and tensor parallelism.",
    .options = options,
    .more_help = print_dtypes,
    .after = "Example, eight H100 with FP8: llmperf model llama_3_70b --gpu \"H100 "
             "SXM5\" --tp 8 --batch 64 --storage-dtype fp8 --activation-dtype fp8\n"
             "Example, what batch meets an SLO: llmperf model llama_3_8b --sweep batch=1..256 "
             "context=1k,4k,16k --gpu \"H100 SXM5\" --gpu H200 --slo tpot=20ms",
    .run = run,
};
