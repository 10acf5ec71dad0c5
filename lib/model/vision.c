/* SPDX-License-Identifier: Apache-2.0 */
/* Reads encoders and image classifiers into struct lp_vision, and computes their weights. */
#include <string.h>

#include "lib/model/fields.h"
#include "lib/base/status.h"

#define FRAMEWORK_DEFAULT "default of the Hugging Face configuration class"
#define CODE_CONSTANT     "constant of the model's own code"

static const char *const families[] = { "vit",    "clip_vision_model", "clip",          "sam",
                                        "resnet", "sam_vision_model",  "shallow_resnet" };

const char *lp_vision_family(const char *type)
{
    for (size_t i = 0; type && i < LP_LENGTH(families); i++)
        if (strcmp(families[i], type) == 0)
            return families[i];
    return NULL;
}

lp_u128 lp_vit_input_parameters(const struct lp_vit *vit)
{
    lp_u128 c = vit->width, patch = c * vit->patch * vit->patch * vit->channels;
    lp_u128 rows = (lp_u128)vit->grid * vit->grid + 2 * vit->class_tokens;

    return (vit->embeds ? patch + (vit->patch_bias ? c : 0) : 0) + rows * c;
}

lp_u128 lp_vit_table_parameters(const struct lp_vit *vit, bool window)
{
    lp_u128 side = window ? vit->window : vit->grid;

    return 4 * (lp_u128)vit->width +
           (vit->relative_positions ? 2 * (2 * side - 1) * (vit->width / vit->heads) : 0);
}

static lp_u128 vit_parameters(const struct lp_vit *vit)
{
    lp_u128 c = vit->width, m = vit->mlp;
    lp_u128 windowed = vit->window ? vit->layers - vit->global_layers : 0;
    lp_u128 linear = 4 * c * c + 4 * c + 2 * c * m + m + c;
    lp_u128 unused = vit->embeds ? 0 : c * vit->patch * vit->patch * vit->channels;

    return lp_vit_input_parameters(vit) + unused + vit->layers * linear +
           windowed * lp_vit_table_parameters(vit, true) +
           (vit->layers - windowed) * lp_vit_table_parameters(vit, false) +
           2 * c * ((vit->pre_norm ? 1U : 0U) + (vit->post_norm ? 1U : 0U));
}

lp_u128 lp_conv_parameters(const struct lp_conv *conv)
{
    if (conv->role == LP_CONV_POOL)
        return 0;
    return (lp_u128)conv->in * conv->out * conv->kernel * conv->kernel +
           (lp_u128)conv->out * ((conv->bias ? 1U : 0U) + (conv->norm ? 2U : 0U));
}

lp_u128 lp_vision_parameters(const struct lp_vision *vision)
{
    lp_u128 sum = vision->special + (lp_u128)vision->linear_in * vision->linear_out +
                  (vision->linear_bias ? vision->linear_out : 0);

    for (size_t i = 0; i < vision->convs.count; i++)
        sum += lp_conv_parameters(&vision->convs.items[i]);
    if (vision->vit.layers)
        sum += vit_parameters(&vision->vit);
    if (vision->clip.layers)
        sum += vit_parameters(&vision->clip);
    return sum;
}

static void add_conv(struct lp_reader *reader, struct lp_conv conv)
{
    if (reader->status == 0 && lp_vector_push(&reader->model->vision.convs, conv) < 0)
        lp_reader_memory(reader);
}

/* A convolution with padding that keeps the size, stride 1, followed by a norm. */
static struct lp_conv same_conv(const char *part, uint64_t in, uint64_t out, uint64_t kernel,
                                uint64_t stride)
{
    return (struct lp_conv){ .part = part,
                             .in = in,
                             .out = out,
                             .kernel = kernel,
                             .stride = stride,
                             .padding = kernel / 2,
                             .norm = true };
}

/* Keys of all plain encoders. */
static void read_vit(const struct lp_fields *fields, struct lp_vit *vit, uint64_t *side_out)
{
    struct lp_reader *reader = fields->reader;
    uint64_t side;

    vit->width = lp_field_need(fields, "hidden_size", LP_LIMIT_SIZE);
    vit->layers = lp_field_need(fields, "num_hidden_layers", LP_LIMIT_LAYERS);
    vit->heads = lp_field_need(fields, "num_attention_heads", LP_LIMIT_HEADS);
    vit->patch = lp_field_need(fields, "patch_size", LP_LIMIT_PIXELS);
    vit->channels = lp_field_or(fields, "num_channels", 3, 65536, NULL);
    side = lp_field_need(fields, "image_size", LP_LIMIT_PIXELS);
    vit->embeds = true;
    if (reader->status < 0)
        return;
    vit->grid = side / vit->patch;
    *side_out = side;
    if (vit->width % vit->heads || vit->grid == 0)
        lp_field_fail(fields, "hidden_size must be a multiple of num_attention_heads and "
                              "image_size at least patch_size");
}

/* Number of labels of a classifier, from id2label or num_labels. */
static uint64_t read_labels(const struct lp_fields *fields)
{
    struct lp_fields labels;

    lp_field_skip(fields, "label2id");
    if (lp_field_is_set(fields, "id2label") && lp_field_map(fields, "id2label", &labels))
        return labels.map->count;
    return lp_field_or(fields, "num_labels", 0, LP_LIMIT_SIZE, "no classifier");
}

static void read_image_classifier(const struct lp_fields *fields, struct lp_vision *vision)
{
    struct lp_vit *vit = &vision->vit;

    vision->kind = LP_VISION_VIT;
    vit->name = "vit";
    read_vit(fields, vit, &vision->height);
    vit->mlp = lp_field_need(fields, "intermediate_size", LP_LIMIT_SIZE);
    vit->class_tokens = 1;
    vit->patch_bias = vit->post_norm = true;
    if (!lp_field_flag(fields, "qkv_bias", true, NULL))
        lp_reader_warn(fields->reader, "qkv_bias: false is not modelled; biases are counted");
    vision->linear_out = read_labels(fields);
    vision->linear_in = vision->linear_out ? vit->width : 0;
    vision->linear_bias = vision->linear_out > 0;
}

static void read_clip(const struct lp_fields *root, struct lp_vision *vision)
{
    struct lp_fields fields = *root;
    bool nested = lp_field_map(root, "vision_config", &fields);
    struct lp_vit *vit = &vision->vit;

    vision->kind = LP_VISION_VIT;
    vit->name = "clip";
    read_vit(&fields, vit, &vision->height);
    vit->mlp = lp_field_need(&fields, "intermediate_size", LP_LIMIT_SIZE);
    vit->class_tokens = 1;
    vit->pre_norm = vit->post_norm = true;
    lp_field_skip(&fields, "model_type");
    if (nested && root->reader->status == 0)
        lp_fields_report_unknown(&fields);
    if (lp_field_is_set(root, "text_config") || lp_field_is_set(root, "text_config_dict"))
        lp_reader_warn(root->reader, "%s: text_config: the text tower is not counted",
                       root->reader->file);
    lp_field_skip(root, "vision_config_dict");
}

/* After SAM's layers: a 1x1 and a 3x3 convolution to `channels`. */
static void add_neck(struct lp_reader *reader, uint64_t width, uint64_t channels)
{
    add_conv(reader, same_conv("neck", width, channels, 1, 1));
    add_conv(reader, same_conv("neck", channels, channels, 3, 1));
}

static uint64_t count_global(const struct lp_fields *fields, const struct lp_vit *vit)
{
    uint64_t count = lp_field_length(fields, "global_attn_indexes");

    for (size_t i = 0; i < count; i++)
        (void)lp_field_element(fields, "global_attn_indexes", i, vit->layers - 1);
    if (count > vit->layers)
        lp_field_fail(fields, "global_attn_indexes lists more layers than the model has");
    return count;
}

static void read_sam(const struct lp_fields *root, struct lp_vision *vision)
{
    struct lp_fields fields = *root;
    bool nested = lp_field_map(root, "vision_config", &fields);
    struct lp_vit *vit = &vision->vit;

    vision->kind = LP_VISION_VIT;
    vit->name = "sam";
    read_vit(&fields, vit, &vision->height);
    vit->mlp = lp_field_or(&fields, "mlp_dim", 4 * vit->width, LP_LIMIT_SIZE, "4 hidden_size");
    lp_field_skip(&fields, "mlp_ratio");
    lp_field_skip(&fields, "model_type");
    lp_field_skip(&fields, "num_pos_feats");
    vit->patch_bias = true;
    vit->window = lp_field_or(&fields, "window_size", 14, LP_LIMIT_PIXELS, FRAMEWORK_DEFAULT);
    vit->relative_positions = lp_field_flag(&fields, "use_rel_pos", true, NULL);
    if (!lp_field_flag(&fields, "use_abs_pos", true, NULL) ||
        !lp_field_flag(&fields, "qkv_bias", true, NULL))
        lp_reader_warn(root->reader,
                       "use_abs_pos or qkv_bias: false is not modelled; they are counted");
    if (root->reader->status == 0)
        vit->global_layers = count_global(&fields, vit);
    add_neck(root->reader, vit->width,
             lp_field_or(&fields, "output_channels", 256, LP_LIMIT_SIZE, FRAMEWORK_DEFAULT));
    if (nested && root->reader->status == 0)
        lp_fields_report_unknown(&fields);
    if (lp_field_is_set(root, "mask_decoder_config"))
        lp_reader_warn(root->reader, "%s: prompt encoder and mask decoder are not counted",
                       root->reader->file);
    lp_field_skip(root, "prompt_encoder_config");
}

struct resnet_stage {
    const char *part;
    uint64_t in, out, stride;
    bool bottleneck, first_convolves; /* the first (1x1) convolution has the stride */
};

/* A residual block; an identity shortcut adds no operator. */
static void add_block(struct lp_reader *reader, const struct resnet_stage *stage, uint64_t in,
                      uint64_t stride)
{
    uint64_t out = stage->out, inner = stage->bottleneck ? out / 4 : out;
    struct lp_conv conv = { .part = stage->part, .norm = true, .block_start = true };

    conv.in = in;
    conv.out = inner;
    conv.kernel = stage->bottleneck ? 1 : 3;
    conv.padding = conv.kernel / 2;
    conv.stride = stage->bottleneck && !stage->first_convolves ? 1 : stride;
    add_conv(reader, conv);
    conv.block_start = false;
    conv.stride = stage->bottleneck && !stage->first_convolves ? stride : 1;
    conv.in = conv.out = inner;
    conv.kernel = 3;
    conv.padding = 1;
    add_conv(reader, conv);
    conv.stride = 1;
    if (stage->bottleneck) {
        conv.out = out;
        conv.kernel = 1;
        conv.padding = 0;
        add_conv(reader, conv);
    }
    if (in == out && stride == 1)
        return;
    conv = same_conv(stage->part, in, out, 1, stride);
    conv.role = LP_CONV_SHORTCUT;
    add_conv(reader, conv);
}

static void add_stages(const struct lp_fields *fields, uint64_t in, bool bottleneck)
{
    static const char *const parts[] = { "stage1", "stage2", "stage3", "stage4",
                                         "stage5", "stage6", "stage7", "stage8" };
    struct lp_reader *reader = fields->reader;
    size_t stages = lp_field_length(fields, "depths");
    bool first_shrinks = lp_field_flag(fields, "downsample_in_first_stage", false, NULL);
    bool early = lp_field_flag(fields, "downsample_in_bottleneck", false, NULL);

    if (stages == 0 || stages > 8 || lp_field_length(fields, "hidden_sizes") != stages) {
        lp_field_fail(fields, "depths and hidden_sizes must be lists of the same length, 1 to 8");
        return;
    }
    for (size_t i = 0; i < stages && reader->status == 0; i++) {
        struct resnet_stage stage = { parts[i],
                                      in,
                                      lp_field_element(fields, "hidden_sizes", i, LP_LIMIT_SIZE),
                                      i > 0 || first_shrinks ? 2 : 1,
                                      bottleneck,
                                      early };
        uint64_t depth = lp_field_element(fields, "depths", i, LP_LIMIT_LAYERS);

        for (uint64_t layer = 0; layer < depth && reader->status == 0; layer++)
            add_block(reader, &stage, layer ? stage.out : in, layer ? 1 : stage.stride);
        in = stage.out;
    }
    reader->model->vision.linear_in = in;
}

static void read_resnet(const struct lp_fields *fields, struct lp_vision *vision)
{
    struct lp_reader *reader = fields->reader;
    uint64_t width = lp_field_need(fields, "embedding_size", LP_LIMIT_SIZE);
    const char *type = lp_field_word(fields, "layer_type");
    struct lp_conv pool;

    vision->kind = LP_VISION_CONV;
    vision->channels = lp_field_or(fields, "num_channels", 3, 65536, FRAMEWORK_DEFAULT);
    vision->height = lp_field_or(fields, "image_size", 224, LP_LIMIT_PIXELS, "pixels per side");
    if (!type)
        lp_reader_assume(reader, "layer_type is absent: bottleneck (%s)", FRAMEWORK_DEFAULT);
    if (type && strcmp(type, "bottleneck") != 0 && strcmp(type, "basic") != 0)
        lp_reader_fail(reader, LLMPERF_EFORMAT,
                       "%s: layer_type is \"%.40s\"; it must be bottleneck or basic", reader->file,
                       type);
    add_conv(reader, same_conv("stem", vision->channels, width, 7, 2));
    pool = same_conv("stem", width, width, 3, 2);
    pool.role = LP_CONV_POOL;
    add_conv(reader, pool);
    add_stages(fields, width, !type || strcmp(type, "bottleneck") == 0);
    vision->linear_out = read_labels(fields);
    if (vision->linear_out == 0)
        vision->linear_in = 0;
    vision->linear_bias = true;
}

static void read_shallow_resnet(const struct lp_fields *fields, struct lp_vision *vision)
{
    struct lp_reader *reader = fields->reader;
    uint64_t width = lp_field_need(fields, "channels", LP_LIMIT_SIZE);
    uint64_t blocks = lp_field_need(fields, "blocks", LP_LIMIT_LAYERS);
    struct lp_fields input = *fields;

    if (!lp_field_map(fields, "input", &input)) {
        lp_field_need(fields, "input", 1);
        return;
    }
    vision->kind = LP_VISION_CONV;
    vision->channels = lp_field_need(&input, "channels", 65536);
    vision->height = lp_field_need(&input, "height", LP_LIMIT_PIXELS);
    vision->width = lp_field_need(&input, "width", LP_LIMIT_PIXELS);
    lp_field_skip(fields, "batch_norm_epsilon");
    add_conv(reader, same_conv("stem", vision->channels, width, 3, 1));
    for (uint64_t i = 0; i < 2 * blocks; i++)
        add_conv(reader, same_conv("residual", width, width, 3, 1));
    vision->linear_in = width;
    vision->linear_out = lp_field_need(fields, "classes", LP_LIMIT_SIZE);
    vision->linear_bias = true;
    if (reader->status == 0)
        lp_fields_report_unknown(&input);
}

int lp_read_vision(const struct lp_fields *fields, const char *family)
{
    struct lp_vision *vision = &fields->reader->model->vision;

    if (strcmp(family, "vit") == 0)
        read_image_classifier(fields, vision);
    else if (strncmp(family, "clip", 4) == 0)
        read_clip(fields, vision);
    else if (strncmp(family, "sam", 3) == 0)
        read_sam(fields, vision);
    else if (strcmp(family, "resnet") == 0)
        read_resnet(fields, vision);
    else
        read_shallow_resnet(fields, vision);
    if (vision->width == 0)
        vision->width = vision->height;
    return fields->reader->status;
}

/* An encoder in DeepSeek-OCR's vision_config.width; further numbers are from the model's code. */
static void read_named_vit(const struct lp_fields *fields, struct lp_vit *vit)
{
    struct lp_reader *reader = fields->reader;

    vit->width = lp_field_need(fields, "width", LP_LIMIT_SIZE);
    vit->layers = lp_field_need(fields, "layers", LP_LIMIT_LAYERS);
    vit->heads = lp_field_need(fields, "heads", LP_LIMIT_HEADS);
    vit->mlp = 4 * vit->width;
    vit->channels = 3;
    if (reader->status == 0 && vit->width % vit->heads)
        lp_field_fail(fields, "width is not a multiple of heads");
}

static void read_ocr_sam(const struct lp_fields *fields, struct lp_vision *vision)
{
    struct lp_reader *reader = fields->reader;
    struct lp_vit *vit = &vision->vit;
    struct lp_conv conv;
    uint64_t in = 256;

    vit->name = "sam";
    read_named_vit(fields, vit);
    vit->patch = lp_field_or(fields, "patch_size", 16, LP_LIMIT_PIXELS, CODE_CONSTANT);
    vit->window = lp_field_or(fields, "window_size", 14, LP_LIMIT_PIXELS, CODE_CONSTANT);
    vit->embeds = vit->patch_bias = vit->relative_positions = true;
    if (reader->status < 0)
        return;
    if (vit->patch == 0 || vision->height / vit->patch == 0) {
        lp_field_fail(fields, "patch_size does not divide the image size");
        return;
    }
    vit->grid = vision->height / vit->patch;
    vit->global_layers = count_global(fields, vit);
    add_neck(reader, vit->width, in);
    for (size_t i = 0; i < lp_field_length(fields, "downsample_channels"); i++) {
        uint64_t out = lp_field_element(fields, "downsample_channels", i, LP_LIMIT_SIZE);

        conv = same_conv("compressor", in, out, 3, 2);
        conv.norm = false;
        add_conv(reader, conv);
        in = out;
    }
}

static void read_ocr_clip(const struct lp_fields *fields, struct lp_vision *vision)
{
    struct lp_vit *vit = &vision->clip;
    uint64_t side;

    vit->name = "clip";
    read_named_vit(fields, vit);
    vit->patch = lp_field_need(fields, "patch_size", LP_LIMIT_PIXELS);
    side = lp_field_need(fields, "image_size", LP_LIMIT_PIXELS);
    vit->class_tokens = 1;
    vit->pre_norm = true;
    if (fields->reader->status == 0)
        vit->grid = side / vit->patch;
}

static void read_ocr(const struct lp_fields *root, const struct lp_fields *config,
                     const struct lp_fields *width)
{
    struct lp_vision *vision = &root->reader->model->vision;
    struct lp_fields sam = *width, clip = *width, projector = *root;

    vision->kind = LP_VISION_SAM_CLIP;
    vision->height = vision->width = lp_field_need(config, "image_size", LP_LIMIT_PIXELS);
    /* Both encoders have ratio 4; the file's mlp_ratio is of neither. */
    lp_field_skip(config, "mlp_ratio");
    if (!lp_field_map(width, "sam_vit_b", &sam) || !lp_field_map(width, "clip-l-14-224", &clip) ||
        !lp_field_map(root, "projector_config", &projector)) {
        lp_reader_fail(root->reader, LLMPERF_EFORMAT,
                       "%s:%u: sam_vit_b, clip-l-14-224 and projector_config are required",
                       root->reader->file, width->line);
        return;
    }
    lp_reader_assume(root->reader, "SAM and CLIP are taken to have MLPs of 4 x width (%s)",
                     CODE_CONSTANT);
    read_ocr_sam(&sam, vision);
    read_ocr_clip(&clip, vision);
    vision->linear_in = lp_field_need(&projector, "input_dim", LP_LIMIT_SIZE);
    vision->linear_out = lp_field_need(&projector, "n_embed", LP_LIMIT_SIZE);
    vision->linear_bias = vision->linear_per_token = true;
    vision->special = 2 * vision->linear_out; /* end of row, end of view */
    lp_field_skip(&projector, "model_type");
    lp_field_skip(&projector, "projector_type");
    if (root->reader->status < 0)
        return;
    lp_fields_report_unknown(width);
    lp_fields_report_unknown(&sam);
    lp_fields_report_unknown(&clip);
    lp_fields_report_unknown(&projector);
}

/* SigLIP in Gemma 3: average pooling of tokens, norm, one matrix. */
static void read_siglip(const struct lp_fields *root, const struct lp_fields *config)
{
    struct llmperf_model *model = root->reader->model;
    struct lp_vision *vision = &model->vision;

    vision->kind = LP_VISION_VIT;
    vision->vit.name = "siglip";
    read_vit(config, &vision->vit, &vision->height);
    vision->width = vision->height;
    vision->vit.mlp = lp_field_need(config, "intermediate_size", LP_LIMIT_SIZE);
    vision->vit.patch_bias = vision->vit.post_norm = true;
    lp_field_skip(config, "vision_use_head");
    vision->pooled_tokens =
        lp_field_or(root, "mm_tokens_per_image", 256, LP_LIMIT_SIZE, FRAMEWORK_DEFAULT);
    vision->linear_in = vision->vit.width;
    vision->linear_out = model->decoder.hidden;
    vision->linear_per_token = true;
    vision->special = vision->vit.width; /* the norm's */
}

int lp_read_encoder(const struct lp_fields *root)
{
    struct lp_reader *reader = root->reader;
    struct lp_fields config = *root, width = *root;
    const char *type;

    if (!lp_field_map(root, "vision_config", &config))
        return reader->status;
    type = lp_field_word(&config, "model_type");
    if (!lp_field_is_absent(&config, "width") && lp_field_is_set(root, "projector_config")) {
        if (lp_field_map(&config, "width", &width))
            read_ocr(root, &config, &width);
    } else if (type && strcmp(type, "siglip_vision_model") == 0) {
        read_siglip(root, &config);
    } else {
        lp_reader_warn(reader, "%s:%u: unknown kind of vision_config; images are not counted",
                       reader->file, config.line);
        return reader->status;
    }
    if (reader->status == 0)
        lp_fields_report_unknown(&config);
    return reader->status;
}
