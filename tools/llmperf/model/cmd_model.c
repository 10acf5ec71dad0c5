/* SPDX-License-Identifier: Apache-2.0 */
/* `llmperf model`: parameters, FLOPs and bytes of a model, with no run and no GPU. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "model/gpu.h"
#include "model/memory.h"

#define GENERATED_MAX 1000000
#define BATCH_MAX     1000000

enum option {
    PROMPT,
    PREFIX,
    DECODE,
    CONTEXT,
    BATCH,
    DTYPE,
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
    FORMAT,
    GPU,
    OPTIONS
};

/* Per request of the batch; the steps borrow them. */
struct arrays {
    uint64_t *prompt, *prefix, *cached, *generated;
};

/* Takes a whole number within bounds; one that was not given leaves *value as it is. */
static bool take_number(const struct command *command, const struct option_text *option,
                        uint64_t least, uint64_t most, uint64_t *value)
{
    uint64_t number;

    if (!option->value)
        return true;
    if (to_number(option->value, &number) && number >= least && number <= most) {
        *value = number;
        return true;
    }
    fail_usage(command, "%s is %s; it must be an integer between %" PRIu64 " and %" PRIu64,
               option->name, option->value, least, most);
    return false;
}

static bool take_small(const struct command *command, const struct option_text *option,
                       uint64_t least, uint32_t *value)
{
    uint64_t number = *value;

    if (!take_number(command, option, least, 65536, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

/* "1024" or "1280x720": the first and the second number. */
static bool take_pair(const struct command *command, const struct option_text *option,
                      uint64_t *first, uint64_t *second)
{
    char *end = NULL;

    if (!option->value)
        return true;
    errno = 0;
    if (*option->value >= '0' && *option->value <= '9')
        *first = *second = strtoull(option->value, &end, 10);
    if (end && *end == 'x' && to_number(end + 1, second))
        end += strlen(end);
    if (end && *end == '\0' && errno == 0 && *first && *second)
        return true;
    fail_usage(command, "%s is %s; expected a size like 1024 or 3x2", option->name, option->value);
    return false;
}

static bool take_dtype(const struct command *command, const struct option_text *option,
                       uint32_t *dtype)
{
    if (!option->value || llmperf_dtype_find(option->value, dtype) == 0)
        return true;
    fail_usage(command, "%s: %s", option->name, llmperf_last_error());
    return false;
}

/* --dtype is of weights and cache, unless they are given apart; the cache takes none of the
 * formats that only weights have. */
static bool take_dtypes(const struct command *command, const struct option_text *options,
                        struct model_answer *answer)
{
    uint32_t both = 0, activation = 0;
    uint64_t bytes;

    if (!take_dtype(command, &options[DTYPE], &both))
        return false;
    answer->weight_dtype = both ? both : answer->info.weight_dtype;
    answer->kv_dtype = both && llmperf_model_kv_bytes(answer->model, both, &bytes) == 0
                           ? both
                           : answer->info.kv_dtype;
    if (!take_dtype(command, &options[WEIGHT_DTYPE], &answer->weight_dtype) ||
        !take_dtype(command, &options[KV_DTYPE], &answer->kv_dtype) ||
        !take_dtype(command, &options[ACTIVATION_DTYPE], &activation))
        return false;
    answer->prefill_step.activation_dtype = activation;
    return true;
}

static bool take_acceptance(const struct command *command, const struct option_text *option,
                            double *value)
{
    char *end;

    if (!option->value)
        return true;
    *value = strtod(option->value, &end);
    if (end != option->value && *end == '\0' && *value >= 0 && *value <= 1)
        return true;
    fail_usage(command, "%s is %s; it must be between 0 and 1", option->name, option->value);
    return false;
}

static bool take_sizes(const struct command *command, const struct option_text *options,
                       struct model_answer *answer)
{
    const uint64_t most = UINT64_C(1) << 36;

    answer->prompt = 2048;
    answer->batch = 1;
    if (!take_number(command, &options[PROMPT], 1, most, &answer->prompt) ||
        !take_number(command, &options[PREFIX], 0, most, &answer->prefix))
        return false;
    answer->context = answer->prefix + answer->prompt;
    return take_number(command, &options[CONTEXT], 1, most, &answer->context) &&
           take_number(command, &options[BATCH], 1, BATCH_MAX, &answer->batch) &&
           take_number(command, &options[DECODE], 1, GENERATED_MAX, &answer->generated) &&
           take_pair(command, &options[IMAGE], &answer->image_width, &answer->image_height) &&
           take_pair(command, &options[TILES], &answer->tile_columns, &answer->tile_rows) &&
           take_number(command, &options[TILE_SIZE], 1, 65536, &answer->tile_pixels);
}

static bool take_parallel(const struct command *command, const struct option_text *options,
                          llmperf_step *step)
{
    return take_small(command, &options[TP], 1, &step->tensor_parallel) &&
           take_small(command, &options[PP], 1, &step->pipeline_parallel) &&
           take_small(command, &options[PP_RANK], 0, &step->pipeline_rank) &&
           take_small(command, &options[EP], 1, &step->expert_parallel) &&
           take_small(command, &options[DP], 1, &step->data_parallel);
}

/* The steps without their arrays. */
static bool take_steps(const struct command *command, const struct option_text *options,
                       struct model_answer *answer)
{
    llmperf_step *step = &answer->prefill_step;

    if (!take_parallel(command, options, step))
        return false;
    step->weight_dtype = answer->weight_dtype;
    step->kv_dtype = answer->kv_dtype;
    step->phase = LLMPERF_PHASE_PREFILL;
    step->requests = answer->batch;
    answer->decode_step = *step;
    answer->decode_step.phase = LLMPERF_PHASE_DECODE;
    if (!take_small(command, &options[DRAFT], 0, &answer->decode_step.draft_tokens) ||
        !take_acceptance(command, &options[ACCEPTANCE], &answer->decode_step.acceptance))
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

static bool make_arrays(const struct model_answer *answer, struct arrays *arrays)
{
    size_t batch = (size_t)answer->batch;
    uint64_t *all = calloc(batch, 4 * sizeof(*all));

    if (!all)
        return false;
    *arrays = (struct arrays){ all, all + batch, all + 2 * batch, all + 3 * batch };
    for (size_t i = 0; i < batch; i++) {
        arrays->prompt[i] = answer->prompt;
        arrays->prefix[i] = answer->prefix;
        arrays->cached[i] = answer->context - 1;
        arrays->generated[i] = answer->generated;
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

/* FLOPs of all steps: those of a prefill of the generated tokens that asks for each one's logits.
 * Bytes: a step reads its weights again, and one more position of the cache. */
static int work_generation(struct model_answer *answer, const struct arrays *arrays)
{
    llmperf_step all = answer->prefill_step, one = answer->decode_step;
    uint64_t cached = answer->prefix + answer->prompt, sum = 0;
    llmperf_work work = LLMPERF_WORK_INIT;
    int status;

    all.new_tokens = arrays->generated;
    all.cached_tokens = &cached;
    all.logits = LLMPERF_LOGITS_ALL;
    all.requests = one.requests = 1;
    one.cached_tokens = &cached;
    if ((status = llmperf_model_work(answer->model, &all, &work)) < 0)
        return status;
    answer->generation_flops = times_or_unknown(work.model_flops, answer->batch);
    for (uint64_t i = 0; i < answer->generated; i++, cached++) {
        if ((status = llmperf_model_work(answer->model, &one, &work)) < 0)
            return status;
        sum = add_or_unknown(
            sum, times_or_unknown(work.kv_read_bytes + work.kv_write_bytes, answer->batch));
        sum = add_or_unknown(sum, answer->decode.weight_bytes);
    }
    answer->generation_bytes = sum;
    return 0;
}

static int work_decoder(struct model_answer *answer, const struct arrays *arrays)
{
    llmperf_step all;
    int status;

    answer->prefill_step.new_tokens = arrays->prompt;
    answer->prefill_step.cached_tokens = arrays->prefix;
    answer->decode_step.cached_tokens = arrays->cached;
    all = answer->prefill_step;
    all.logits = LLMPERF_LOGITS_ALL;
    if ((status = llmperf_model_work(answer->model, &answer->prefill_step, &answer->prefill)) < 0 ||
        (status = llmperf_model_work(answer->model, &all, &answer->prefill_all)) < 0 ||
        (status = llmperf_model_work(answer->model, &answer->decode_step, &answer->decode)) < 0)
        return status;
    return answer->generated ? work_generation(answer, arrays) : 0;
}

static int work_out(struct model_answer *answer, const struct arrays *arrays)
{
    int status =
        llmperf_model_weight_bytes(answer->model, answer->weight_dtype, &answer->weight_bytes);

    if (status == 0)
        status =
            llmperf_model_kv_bytes(answer->model, answer->kv_dtype, &answer->kv_bytes_per_token);
    if (status == 0 && answer->info.has_decoder)
        status = work_decoder(answer, arrays);
    if (status == 0 && answer->info.has_vision)
        status = llmperf_model_work(answer->model, &answer->vision_step, &answer->vision);
    if (status == 0)
        status = work_out_gpu(answer);
    work_out_memory(answer);
    return status;
}

static int answer_for(const struct command *command, struct option_text *options,
                      const llmperf_model *model)
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
    struct arrays arrays;
    int status, code;

    llmperf_model_info_get(model, &answer.info);
    if (!take_dtypes(command, options, &answer) || !take_sizes(command, options, &answer) ||
        !take_steps(command, options, &answer))
        return EXIT_USAGE;
    if ((answer.image_height || answer.tile_rows) && !answer.info.has_vision)
        return fail_usage(command, "%s has no vision encoder; omit --image and --tiles",
                          answer.info.name);
    if (answer.generated && answer.decode_step.draft_tokens)
        return fail_usage(command, "--decode and --draft cannot be combined; use --context");
    if (answer.tile_rows && !answer.tile_pixels)
        return fail_usage(command, "--tiles needs --tile-size");
    if ((code = take_gpu(command, options[GPU].value, &answer)) != EXIT_FINE)
        return code;
    if (!make_arrays(&answer, &arrays)) {
        free_gpu(&answer);
        return fail_usage(command, "out of memory for a batch of %" PRIu64, answer.batch);
    }
    status = work_out(&answer, &arrays);
    if (status == 0 && strcmp(options[FORMAT].value, "json") == 0)
        print_model_json(&answer);
    else if (status == 0)
        print_model_text(&answer);
    free(arrays.prompt);
    free_gpu(&answer);
    return status < 0 ? fail_status(status) : EXIT_FINE;
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

int cmd_model(const struct command *command, int argc, char **argv)
{
    struct option_text options[OPTIONS] = {
        [PROMPT] = { "--prompt", NULL, NULL },
        [PREFIX] = { "--prefix", NULL, NULL },
        [DECODE] = { "--decode", NULL, NULL },
        [CONTEXT] = { "--context", NULL, NULL },
        [BATCH] = { "--batch", NULL, NULL },
        [DTYPE] = { "--dtype", NULL, NULL },
        [WEIGHT_DTYPE] = { "--weight-dtype", NULL, NULL },
        [KV_DTYPE] = { "--kv-dtype", NULL, NULL },
        [ACTIVATION_DTYPE] = { "--activation-dtype", NULL, NULL },
        [TP] = { "--tp", NULL, NULL },
        [PP] = { "--pp", NULL, NULL },
        [PP_RANK] = { "--pp-rank", NULL, NULL },
        [EP] = { "--ep", NULL, NULL },
        [DP] = { "--dp", NULL, NULL },
        [DRAFT] = { "--draft", NULL, NULL },
        [ACCEPTANCE] = { "--acceptance", NULL, NULL },
        [IMAGE] = { "--image", NULL, NULL },
        [TILES] = { "--tiles", NULL, NULL },
        [TILE_SIZE] = { "--tile-size", NULL, NULL },
        [FORMAT] = { "--format", NULL, "text" },
        [GPU] = { "--gpu", NULL, NULL },
    };
    bool list = take_flag(&argc, argv, "--list");
    llmperf_model *model;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, OPTIONS, &count)) >= 0)
        return status;
    if (list)
        return count == 0 ? print_names() : fail_usage(command, "--list takes no model");
    if (count != 1)
        return fail_usage(command, "expected one model");
    if (strcmp(options[FORMAT].value, "text") != 0 && strcmp(options[FORMAT].value, "json") != 0)
        return fail_usage(command, "unknown format %s; use text or json", options[FORMAT].value);
    if ((status = llmperf_model_open(argv[1], &model)) < 0)
        return fail_status(status);
    status = answer_for(command, options, model);
    llmperf_model_free(model);
    return status;
}
