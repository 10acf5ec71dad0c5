/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "lib/record/host_calls.h"
#include "lib/sources/fake/script.h"

enum argument {
    ARGUMENT_NONE,
    ARGUMENT_NUMBER,
    ARGUMENT_NAME,
    ARGUMENT_NAMES,
    ARGUMENT_CHOICE,
    ARGUMENT_COUNT
};

#define KEY(name)   (UINT64_C(1) << LP_FAKE_##name)
#define AMOUNT_KEYS (KEY(TOKENS) | KEY(SEQUENCES) | KEY(CONTEXT) | KEY(FLOPS) | KEY(BYTES))
#define DEVICE_KEYS                                                                                \
    (KEY(STREAM) | KEY(DEVICE) | KEY(CONTEXT) | KEY(DURATION) | KEY(DELAY) | KEY(HOST))
#define NODE_KEYS (KEY(GRAPH_ID) | KEY(INDEX))
#define SHAPE_KEYS                                                                                 \
    (KEY(GRID) | KEY(BLOCK) | KEY(REGISTERS) | KEY(STATIC_SHARED) | KEY(DYNAMIC_SHARED))
#define NVML_KEYS (KEY(DEVICE) | ((UINT64_C(1) << LP_GPU_VALUES) - 1) << LP_FAKE_GPU_VALUE)
#define COPY_KEYS (NODE_KEYS | KEY(FROM) | KEY(SOURCE))
#define SHAPE_USAGE                                                                                \
    " [grid=XxYxZ] [block=XxYxZ] [registers=N] [static_shared=BYTES] [dynamic_shared=BYTES]"
#define MEMORY_USAGE "pageable|pinned|device|array|managed|device_static|managed_static"
#define DEVICE_USAGE " [stream=N] [device=N] [context=N] [duration=NS] [delay=NS] [host=NS]"

static const char *const quantities[] = { "",      "tokens", "sequences",     "context",
                                          "flops", "bytes",  "message_bytes", NULL };
static const char *const copies[] = { "htod", "dtoh", "dtod", "ptop", NULL };
static const char *const memories[] = { "",      "pageable", "pinned",        "device",
                                        "array", "managed",  "device_static", "managed_static",
                                        NULL };
static const char *const copy_calls[] = { "", "sync", "async", NULL };
static const char *const kinds[] = { "", "stage", "operator", NULL };
static const char *const faults[] = { "none",
                                      "drop",
                                      "duplicate",
                                      "zero_time",
                                      "no_end",
                                      "reversed_time",
                                      "far_future",
                                      "late",
                                      "late_launch",
                                      "unknown_correlation",
                                      "reorder",
                                      "no_correlation",
                                      "huge_duration",
                                      "clock_jump",
                                      "skew",
                                      "same_correlation",
                                      NULL };

/* By enum lp_served, ends by LLMPERF_FINISH_…. */
static const char *const served[] = { "",       "",     "",       "begin", "first", "tokens",
                                      "finish", "stop", "length", "abort", "fail",  NULL };

struct statement {
    const char *word;
    uint8_t verb, argument;
    const char *const *choices;
    uint64_t least, most; /* limits of the number */
    uint64_t keys;
    const char *usage;
};

static const struct statement statements[] = {
    { "thread", LP_FAKE_THREAD, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_THREADS - 1, 0, "thread N" },
    { "at", LP_FAKE_AT, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "at NS" },
    { "wait", LP_FAKE_WAIT, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "wait NS" },
    { "begin", LP_FAKE_BEGIN, ARGUMENT_NAME, NULL, 0, 0, AMOUNT_KEYS | KEY(KIND),
      "begin LABEL [tokens=N] [sequences=N] [context=N] [flops=N] [bytes=N] "
      "[kind=stage|operator]" },
    { "end", LP_FAKE_END, ARGUMENT_NONE, NULL, 0, 0, 0, "end" },
    { "count", LP_FAKE_COUNT, ARGUMENT_COUNT, quantities, 0, LP_FAKE_NUMBER, 0,
      "count tokens|sequences|context|flops|bytes|message_bytes N" },
    { "launch", LP_FAKE_LAUNCH, ARGUMENT_NAME, NULL, 0, 0, DEVICE_KEYS | SHAPE_KEYS,
      "launch NAME" SHAPE_USAGE DEVICE_USAGE },
    { "graph", LP_FAKE_GRAPH, ARGUMENT_NAMES, NULL, 0, 0,
      DEVICE_KEYS | SHAPE_KEYS | NODE_KEYS | KEY(BODY),
      "graph NAME,NAME,... [graph=N] [index=N] [body=N]" SHAPE_USAGE DEVICE_USAGE },
    { "copy", LP_FAKE_COPY, ARGUMENT_CHOICE, copies, 0, 0,
      DEVICE_KEYS | KEY(BYTES) | KEY(READS) | KEY(WRITES) | KEY(CALL),
      "copy htod|dtoh|dtod|ptop [bytes=N] [reads=" MEMORY_USAGE "] [writes=" MEMORY_USAGE
      "] [call=sync|async]" DEVICE_USAGE },
    { "set", LP_FAKE_SET, ARGUMENT_NONE, NULL, 0, 0,
      DEVICE_KEYS | KEY(BYTES) | KEY(WRITES) | KEY(CALL),
      "set [bytes=N] [writes=" MEMORY_USAGE "] [call=sync|async]" DEVICE_USAGE },
    { "launch_fail", LP_FAKE_LAUNCH_FAIL, ARGUMENT_NAME, NULL, 0, 0, 0, "launch_fail NAME" },
    { "capture", LP_FAKE_CAPTURE, ARGUMENT_NAME, NULL, 0, 0, 0, "capture NAME" },
    { "exit", LP_FAKE_EXIT, ARGUMENT_NONE, NULL, 0, 0, 0, "exit" },
    { "repeat", LP_FAKE_REPEAT, ARGUMENT_NUMBER, NULL, 1, LP_FAKE_REPEATS, 0, "repeat N" },
    { "done", LP_FAKE_DONE, ARGUMENT_NONE, NULL, 0, 0, 0, "done" },
    { "fault", LP_FAKE_FAULT, ARGUMENT_CHOICE, faults, 0, 0, KEY(EVERY),
      "fault "
      "none|drop|duplicate|zero_time|no_end|reversed_time|far_future|late|late_launch|unknown_"
      "correlation|reorder|no_correlation|huge_duration|clock_jump|skew|same_correlation "
      "[every=N]" },
    { "driver_drop", LP_FAKE_DRIVER_DROP, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0,
      "driver_drop N" },
    { "incomplete", LP_FAKE_INCOMPLETE, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0,
      "incomplete N" },
    { "overhead", LP_FAKE_OVERHEAD, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "overhead NS" },
    { "node", LP_FAKE_NODE, ARGUMENT_NONE, NULL, 0, 0, NODE_KEYS | KEY(NODES),
      "node graph=N index=N [nodes=N]" },
    { "node_clone", LP_FAKE_NODE_CLONE, ARGUMENT_NONE, NULL, 0, 0, COPY_KEYS | KEY(NODES),
      "node_clone graph=N index=N from=N source=N [nodes=N]" },
    { "node_remove", LP_FAKE_NODE_REMOVE, ARGUMENT_NONE, NULL, 0, 0, NODE_KEYS,
      "node_remove graph=N index=N" },
    { "node_update", LP_FAKE_NODE_UPDATE, ARGUMENT_NONE, NULL, 0, 0, COPY_KEYS,
      "node_update graph=N index=N from=N source=N" },
    { "graph_inline", LP_FAKE_GRAPH_INLINE, ARGUMENT_NONE, NULL, 0, 0, KEY(GRAPH_ID) | KEY(FROM),
      "graph_inline graph=N from=N" },
    { "instantiate", LP_FAKE_INSTANTIATE, ARGUMENT_NONE, NULL, 0, 0,
      KEY(GRAPH_ID) | KEY(FROM) | KEY(NODES) | KEY(LAUNCHABLE),
      "instantiate graph=N from=N [nodes=N] [launchable=1]" },
    { "graph_update", LP_FAKE_GRAPH_UPDATE, ARGUMENT_NONE, NULL, 0, 0, KEY(GRAPH_ID) | KEY(FROM),
      "graph_update graph=N from=N" },
    { "graph_destroy", LP_FAKE_GRAPH_DESTROY, ARGUMENT_NONE, NULL, 0, 0, KEY(GRAPH_ID),
      "graph_destroy graph=N" },
    { "graph_lost", LP_FAKE_GRAPH_LOST, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0,
      "graph_lost N" },
    { "lost", LP_FAKE_LOST, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "lost N" },
    { "foreign", LP_FAKE_FOREIGN, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "foreign N" },
    { "refused", LP_FAKE_REFUSED, ARGUMENT_NUMBER, NULL, 0, LP_FAKE_NUMBER, 0, "refused N" },
    { "gpu", LP_FAKE_GPU, ARGUMENT_NAME, NULL, 0, 0, 0, "gpu NAME" },
    { "on", LP_FAKE_ON, ARGUMENT_NAME, NULL, 0, 0, 0, "on PATTERN" },
    { "request", LP_FAKE_REQUEST, ARGUMENT_COUNT, served, 1, LP_FAKE_NUMBER,
      KEY(TOKENS) | KEY(ARRIVAL) | KEY(ID),
      "request begin|first|tokens|finish|stop|length|abort|fail N [tokens=N] [arrival=NS] [id=N]" },
    { "call", LP_FAKE_HOST_CALL, ARGUMENT_NAME, NULL, 0, 0,
      KEY(HOST) | KEY(ID) | KEY(BYTES) | KEY(DEVICE) | KEY(RESERVED),
      "call FUNCTION [host=NS] [id=N] [bytes=N] [device=N] [reserved=N]" },
    { "nvml", LP_FAKE_NVML, ARGUMENT_NONE, NULL, 0, 0, NVML_KEYS,
      "nvml [device=N] [energy=MJ] [power=MW] [power_limit=MW] [sm_clock=MHZ] [sm_clock_max=MHZ] "
      "[memory_clock=MHZ] [memory_clock_max=MHZ] [reasons=BITS] [temperature=C] [used=BYTES] "
      "[total=BYTES] [mig=1] [read=NS]" },
    { "device_lost", LP_FAKE_DEVICE_LOST, ARGUMENT_NONE, NULL, 0, 0, 0, "device_lost" },
};

/* By enum lp_fake_key. */
static const struct {
    const char *word;
    uint64_t least, most;
} keys[LP_FAKE_KEYS] = {
    { "", 0, 0 },
    { "tokens", 0, LP_FAKE_NUMBER },
    { "sequences", 0, LP_FAKE_NUMBER },
    { "context", 0, LP_FAKE_NUMBER },
    { "flops", 0, LP_FAKE_NUMBER },
    { "bytes", 0, LP_FAKE_NUMBER },
    { "kind", 0, 0 },
    { "stream", 0, UINT32_MAX },
    { "device", 0, UINT16_MAX },
    { "duration", 0, LP_FAKE_NUMBER },
    { "delay", 0, LP_FAKE_NUMBER },
    { "every", 1, LP_FAKE_NUMBER },
    { "graph", 1, UINT32_MAX },
    { "index", 0, UINT32_MAX },
    { "from", 1, UINT32_MAX },
    { "source", 0, UINT32_MAX },
    { "nodes", 1, 1000000 },
    { "body", 0, UINT32_MAX },
    { "launchable", 0, 1 },
    { "grid", 1, INT32_MAX },
    { "block", 1, 1024 },
    { "registers", 0, 255 },
    { "static_shared", 0, INT32_MAX },
    { "dynamic_shared", 0, INT32_MAX },
    { "reads", 0, 0 },
    { "writes", 0, 0 },
    { "call", 0, 0 },
    { "host", 1, LP_FAKE_NUMBER },
    { "arrival", 1, LP_FAKE_NUMBER },
    { "id", 1, LP_FAKE_NUMBER },
    { "reserved", 1, LP_FAKE_NUMBER },
    { "energy", 0, LP_FAKE_NUMBER },
    { "power", 0, LP_FAKE_NUMBER },
    { "power_limit", 0, LP_FAKE_NUMBER },
    { "sm_clock", 0, LP_FAKE_NUMBER },
    { "sm_clock_max", 0, LP_FAKE_NUMBER },
    { "memory_clock", 0, LP_FAKE_NUMBER },
    { "memory_clock_max", 0, LP_FAKE_NUMBER },
    { "reasons", 0, LP_FAKE_NUMBER },
    { "temperature", 0, LP_FAKE_NUMBER },
    { "used", 0, LP_FAKE_NUMBER },
    { "total", 0, LP_FAKE_NUMBER },
    { "mig", 0, 1 },
    { "read", 0, LP_FAKE_NUMBER },
};

/* Part of the script. */
struct word {
    const char *start;
    size_t length;
};

struct parser {
    struct lp_fake_script *script;
    const char *path;
    const char *at, *end; /* rest of the line */
    uint32_t line, graphs;
    uint32_t open[LP_FAKE_NESTING]; /* open repeats */
    uint32_t depth;
    uint64_t rounds; /* product of the rounds of open repeats */
};

/* The text may contain any bytes of the file. */
__attribute__((format(printf, 2, 3))) static int complain(const struct parser *parser,
                                                          const char *format, ...)
{
    char raw[640], clean[640];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    lp_text_sanitise(clean, sizeof(clean), raw);
    return lp_error(LLMPERF_EFORMAT, "%.300s:%u: %s", parser->path, parser->line, clean);
}

/* Length for "%.*s", limited because the file may have a very long word. */
static int shown(struct word word)
{
    return word.length > 60 ? 60 : (int)word.length;
}

static bool is_word(struct word word, const char *text)
{
    return word.length == strlen(text) && !memcmp(word.start, text, word.length);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Is there more on the line? */
static bool skip_blanks(struct parser *parser)
{
    while (parser->at < parser->end && is_blank(*parser->at))
        parser->at++;
    return parser->at < parser->end && *parser->at != '#';
}

static struct word read_word(struct parser *parser, char stop)
{
    struct word word = { parser->at, 0 };

    while (parser->at < parser->end && !is_blank(*parser->at) && *parser->at != stop)
        parser->at++;
    word.length = (size_t)(parser->at - word.start);
    return word;
}

static int read_quoted(struct parser *parser, struct word *word)
{
    const char *close;

    parser->at++;
    close = memchr(parser->at, '"', (size_t)(parser->end - parser->at));
    if (!close)
        return complain(parser, "a closing quote is missing; write \"NAME\" on one line");
    word->start = parser->at;
    word->length = (size_t)(close - parser->at);
    parser->at = close + 1;
    return 0;
}

/* A name ends at a blank, or at its closing quote; in a list also at a comma. */
static int read_name(struct parser *parser, const struct statement *statement,
                     struct lp_fake_op *op)
{
    bool list = statement->argument == ARGUMENT_NAMES;
    struct word word = { NULL, 0 };
    const char *copy;

    if (!skip_blanks(parser))
        return complain(parser, "%s needs a name; write: %s", statement->word, statement->usage);
    if (*parser->at == '"') {
        if (read_quoted(parser, &word) < 0)
            return LLMPERF_EFORMAT;
    } else {
        word = read_word(parser, list ? ',' : ' ');
    }
    if (parser->at < parser->end && !is_blank(*parser->at) && !(list && *parser->at == ','))
        return complain(parser, "unexpected characters after the closing quote; write: %s",
                        statement->usage);
    if (word.length == 0 && op->verb != LP_FAKE_BEGIN)
        return complain(parser, "the name is empty; write: %s", statement->usage);
    copy = lp_strings_add_bytes(&parser->script->pool, word.start, word.length);
    if (!copy)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    op->name_count++;
    return lp_vector_push(&parser->script->names, copy);
}

static int read_names(struct parser *parser, const struct statement *statement,
                      struct lp_fake_op *op)
{
    int status = read_name(parser, statement, op);

    while (status == 0 && parser->at < parser->end && *parser->at == ',') {
        parser->at++;
        status = read_name(parser, statement, op);
    }
    return status;
}

static int read_number(struct parser *parser, const struct statement *statement, struct word word,
                       uint64_t least, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < word.length; i++) {
        if (word.start[i] < '0' || word.start[i] > '9')
            return complain(parser, "\"%.*s\" is not a number; write digits only: %s", shown(word),
                            word.start, statement->usage);
        if (value <= LP_FAKE_NUMBER) /* stop before an overflow */
            value = value * 10 + (uint64_t)(word.start[i] - '0');
    }
    if (word.length == 0)
        return complain(parser, "%s needs a number; write: %s", statement->word, statement->usage);
    if (value < least || value > most)
        return complain(parser, "%.*s is out of range; write a number from %llu to %llu",
                        shown(word), word.start, (unsigned long long)least,
                        (unsigned long long)most);
    *number = value;
    return 0;
}

static int read_choice(struct parser *parser, const struct statement *statement, struct word word,
                       const char *const *choices, uint8_t *choice)
{
    for (uint8_t i = 0; word.length > 0 && choices[i]; i++)
        if (is_word(word, choices[i])) {
            *choice = i;
            return 0;
        }
    return complain(parser, "%s does not accept \"%.*s\"; write: %s", statement->word, shown(word),
                    word.start, statement->usage);
}

static int read_argument(struct parser *parser, const struct statement *statement,
                         struct lp_fake_op *op)
{
    int status = 0;

    if (statement->argument == ARGUMENT_NAME)
        return read_name(parser, statement, op);
    if (statement->argument == ARGUMENT_NAMES)
        return read_names(parser, statement, op);
    if (statement->argument != ARGUMENT_NONE && !skip_blanks(parser))
        return complain(parser, "%s needs an argument; write: %s", statement->word,
                        statement->usage);
    if (statement->choices)
        status =
            read_choice(parser, statement, read_word(parser, ' '), statement->choices, &op->choice);
    if (status == 0 && statement->argument == ARGUMENT_COUNT)
        skip_blanks(parser);
    if (status == 0 && statement->most > 0)
        status = read_number(parser, statement, read_word(parser, ' '), statement->least,
                             statement->most, &op->number);
    return status;
}

/* Index of the key in those of the statement; 0: none of them. */
static uint32_t find_key(const struct statement *statement, struct word word)
{
    for (uint32_t key = 1; key < LP_FAKE_KEYS; key++)
        if (statement->keys & (UINT64_C(1) << key) && is_word(word, keys[key].word))
            return key;
    return 0;
}

/* X, XxY or XxYxZ; the extents that are not given are 1. */
static int read_extents(struct parser *parser, const struct statement *statement, struct word word,
                        uint32_t key, uint64_t *value)
{
    uint64_t extents[3] = { 1, 1, 1 };
    int status = 0;

    for (size_t i = 0; i < 3 && status == 0; i++) {
        const char *stop = memchr(word.start, 'x', word.length);
        struct word part = { word.start, stop ? (size_t)(stop - word.start) : word.length };

        status = read_number(parser, statement, i < 2 ? part : word, 1,
                             i == 0 ? keys[key].most : UINT16_MAX, &extents[i]);
        if (!stop || i == 2)
            break;
        word = (struct word){ stop + 1, word.length - part.length - 1 };
    }
    *value = LP_FAKE_EXTENTS(extents[0], extents[1], extents[2]);
    return status;
}

/* The words of a key whose value is one of them; NULL: it is a number. */
static const char *const *choices_of(uint32_t key)
{
    return key == LP_FAKE_KIND                             ? kinds
           : key == LP_FAKE_READS || key == LP_FAKE_WRITES ? memories
           : key == LP_FAKE_CALL                           ? copy_calls
                                                           : NULL;
}

static int read_value(struct parser *parser, const struct statement *statement, uint32_t key,
                      struct lp_fake_op *op)
{
    struct word word = read_word(parser, ' ');
    bool device = (statement->keys & KEY(STREAM)) != 0;
    uint64_t most = device && key == LP_FAKE_CONTEXT ? UINT32_MAX : keys[key].most;
    uint8_t kind = 0;
    int status;

    if (op->keys_set & (UINT64_C(1) << key))
        return complain(parser, "%s= is given more than once", keys[key].word);
    op->keys_set |= UINT64_C(1) << key;
    if (key == LP_FAKE_GRID || key == LP_FAKE_BLOCK)
        return read_extents(parser, statement, word, key, &op->values[key]);
    if (!choices_of(key))
        return read_number(parser, statement, word, keys[key].least, most, &op->values[key]);
    status = read_choice(parser, statement, word, choices_of(key), &kind);
    op->values[key] = kind;
    return status;
}

static int read_options(struct parser *parser, const struct statement *statement,
                        struct lp_fake_op *op)
{
    int status = 0;

    while (status == 0 && skip_blanks(parser)) {
        struct word word = read_word(parser, '=');
        uint32_t key =
            parser->at < parser->end && *parser->at == '=' ? find_key(statement, word) : 0;

        if (key == 0)
            return complain(parser, "%s does not accept \"%.*s\"; write: %s", statement->word,
                            shown(word), word.start, statement->usage);
        parser->at++;
        status = read_value(parser, statement, key, op);
    }
    return status;
}

static int open_repeat(struct parser *parser, const struct lp_fake_op *op)
{
    if (parser->depth == LP_FAKE_NESTING)
        return complain(parser, "repeats are nested more than %u deep; write fewer",
                        LP_FAKE_NESTING);
    if (op->number > LP_FAKE_REPEATS / parser->rounds)
        return complain(parser,
                        "nested repeats have more than %llu rounds in total; write smaller numbers",
                        (unsigned long long)LP_FAKE_REPEATS);
    parser->rounds *= op->number;
    parser->open[parser->depth++] = (uint32_t)parser->script->ops.count;
    return 0;
}

static int close_repeat(struct parser *parser, struct lp_fake_op *op)
{
    if (parser->depth == 0)
        return complain(parser, "done without repeat or on; write repeat N before it or remove it");
    op->partner = parser->open[--parser->depth];
    parser->script->ops.items[op->partner].partner = (uint32_t)parser->script->ops.count;
    parser->rounds /= parser->script->ops.items[op->partner].number;
    return 0;
}

/* A script is either replayed, or a list of rules and nothing else. */
static int check_rule(struct parser *parser, const struct lp_fake_op *op)
{
    bool on = op->verb == LP_FAKE_ON;

    if (on && !parser->script->follows && parser->script->ops.count > 0)
        return complain(
            parser, "rules (on) cannot follow other statements; write them in a separate script");
    parser->script->follows |= on;
    if (!parser->script->follows)
        return 0;
    if (on && parser->depth > 0)
        return complain(parser, "on inside on; write done before it");
    if (!on && parser->depth == 0)
        return complain(parser, "only rules are allowed here; write on PATTERN before it");
    if (!on && op->verb != LP_FAKE_LAUNCH && op->verb != LP_FAKE_REPEAT && op->verb != LP_FAKE_DONE)
        return complain(parser, "a rule can contain launch, repeat and done only");
    if (op->keys_set & ~(KEY(STREAM) | KEY(DURATION)))
        return complain(parser, "launch in a rule accepts stream= and duration= only");
    return 0;
}

static int set_defaults(struct parser *parser, const struct statement *statement,
                        struct lp_fake_op *op)
{
    op->values[LP_FAKE_EVERY] = 1;
    if (statement->keys & KEY(STREAM)) {
        op->values[LP_FAKE_STREAM] = 7;
        op->values[LP_FAKE_CONTEXT] = 1;
        op->values[LP_FAKE_DURATION] = 1000;
        op->values[LP_FAKE_DELAY] = 2000;
    }
    if (op->verb == LP_FAKE_GRAPH) {
        op->values[LP_FAKE_GRAPH_ID] = ++parser->graphs;
        op->values[LP_FAKE_INDEX] = 1;
    }
    if (op->verb == LP_FAKE_NODE || op->verb == LP_FAKE_NODE_CLONE ||
        op->verb == LP_FAKE_INSTANTIATE)
        op->values[LP_FAKE_NODES] = 1;
    return parser->script->ops.count < UINT32_MAX
               ? 0
               : complain(parser, "too many statements; use repeat");
}

static const struct statement *find_statement(struct word word)
{
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        if (is_word(word, statements[i].word))
            return &statements[i];
    return NULL;
}

/* Statements about graphs need all their keys except amounts. */
static int check_given(struct parser *parser, const struct statement *statement,
                       const struct lp_fake_op *op)
{
    uint64_t needed = statement->keys & (COPY_KEYS);

    if (op->verb < LP_FAKE_NODE || (op->keys_set & needed) == needed)
        return 0;
    return complain(parser, "%s needs an id; write: %s", statement->word, statement->usage);
}

static int find_call(struct parser *parser, struct lp_fake_op *op)
{
    const char *function = parser->script->names.items[op->first_name];

    op->choice = lp_host_call_find(function);
    return op->choice > 0
               ? 0
               : complain(parser,
                          "\"%.60s\" is no call of the CUDA driver that blocks; write one "
                          "of docs/reference/metrics.md, such as cuMemAlloc or "
                          "cuStreamSynchronize",
                          function);
}

static int read_statement(struct parser *parser)
{
    struct word word = read_word(parser, ' ');
    const struct statement *statement = find_statement(word);
    struct lp_fake_op op = { 0 };
    int status;

    if (!statement)
        return complain(
            parser,
            "unknown statement \"%.*s\"; write one of thread, at, wait, begin, end, count, "
            "launch, "
            "graph, copy, set, "
            "launch_fail, capture, exit, repeat, done, fault, driver_drop, incomplete, overhead, "
            "node, node_clone, node_remove, node_update, graph_inline, instantiate, graph_update, "
            "graph_destroy, graph_lost, on, gpu, call, nvml",
            shown(word), word.start);
    op.verb = statement->verb;
    op.line = parser->line;
    op.first_name = (uint32_t)parser->script->names.count;
    if ((status = set_defaults(parser, statement, &op)) < 0 ||
        (status = read_argument(parser, statement, &op)) < 0 ||
        (status = read_options(parser, statement, &op)) < 0)
        return status;
    if (op.verb == LP_FAKE_GPU) {
        parser->script->gpu = parser->script->names.items[op.first_name];
        return 0;
    }
    if ((status = check_given(parser, statement, &op)) < 0 ||
        (status = check_rule(parser, &op)) < 0)
        return status;
    if (op.verb == LP_FAKE_HOST_CALL && (status = find_call(parser, &op)) < 0)
        return status;
    if (op.verb == LP_FAKE_ON)
        op.number = 1; /* rounds */
    if (op.verb == LP_FAKE_REPEAT || op.verb == LP_FAKE_ON)
        status = open_repeat(parser, &op);
    else if (op.verb == LP_FAKE_DONE)
        status = close_repeat(parser, &op);
    return status < 0 ? status : lp_vector_push(&parser->script->ops, op);
}

static int read_lines(struct parser *parser, const char *bytes, const char *end)
{
    int status = 0;

    for (const char *line = bytes; status == 0 && line < end; line = parser->end + 1) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));

        parser->at = line;
        parser->end = newline ? newline : end;
        parser->line++;
        if (memchr(line, '\0', (size_t)(parser->end - line)))
            return complain(parser, "the file contains a zero byte, so it is not a script");
        if (skip_blanks(parser))
            status = read_statement(parser);
    }
    return status;
}

int lp_fake_script_read(struct lp_fake_script *script, const char *path, const char *bytes,
                        size_t size)
{
    struct parser parser = { .script = script, .path = path, .rounds = 1 };
    int status = read_lines(&parser, bytes, bytes + size);

    if (status == 0 && parser.depth > 0) {
        parser.line = script->ops.items[parser.open[parser.depth - 1]].line;
        status = complain(
            &parser, "%s without done; write done after its last statement",
            script->ops.items[parser.open[parser.depth - 1]].verb == LP_FAKE_ON ? "on" : "repeat");
    }
    return status;
}

void lp_fake_script_clear(struct lp_fake_script *script)
{
    lp_vector_clear(&script->ops);
    lp_vector_clear(&script->names);
    lp_strings_clear(&script->pool);
}
