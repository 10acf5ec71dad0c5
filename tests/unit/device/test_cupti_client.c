/* SPDX-License-Identifier: Apache-2.0 */
/* Both ways to get records of CUPTI, against a CUPTI of ours that lays slim records out as it
 * likes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/status.h"
#include "lib/sources/cupti/client.h"
#include "lib/sources/cupti/decode.h"
#include "lib/device/device.h"
#include "llmperf/profile.h"

enum { NOT_COMPATIBLE = 14, KINDS = 64, RECORD_BYTES = 128 };

/* The other side */

static struct {
    bool refuses_shared, refuses_slim, held, tells_nothing, narrow;
    bool shared; /* buffers are */
    int subscriptions, whole_enabled, slim_enabled, disabled;
    int clocks; /* that were registered since it came */
    struct lp_cupti_activity_config *selected[KINDS];
    lp_cupti_buffer_completed whole_completed;
    lp_cupti_buffer_completed_v2 slim_completed;
} cupti;

static char heard[256];

static void hear(void *user, int32_t level, const char *line)
{
    (void)user;
    (void)level;
    snprintf(heard, sizeof(heard), "%s", line);
}

static int get_text(int result, const char **text)
{
    (void)result;
    *text = "told by the test";
    return 0;
}

static int subscribe(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user,
                     struct lp_cupti_subscriber_parameters *parameters)
{
    bool shared = parameters->struct_size == LP_CUPTI_SHARED_PARAMETERS_BYTES;

    (void)callback, (void)user;
    assert_true(shared ? parameters->shared == 1
                       : parameters->struct_size == LP_CUPTI_PARAMETERS_BYTES);
    if (cupti.held || (shared && cupti.refuses_shared)) {
        strcpy(parameters->holder, "CUPTI for somebody");
        return LP_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
    }
    cupti.subscriptions++;
    *subscriber = (lp_cupti_subscriber)(void *)&cupti;
    return 0;
}

static int unsubscribe(lp_cupti_subscriber subscriber)
{
    assert_ptr_equal(subscriber, &cupti);
    cupti.subscriptions--;
    return 0;
}

/* Threads share buffers, and that is said before they are taken. */
static int set_attribute(uint32_t attribute, size_t *size, void *value)
{
    assert_int_equal(*size, 1);
    assert_int_equal(*(uint8_t *)value, attribute != LP_CUPTI_ATTR_PER_THREAD_ACTIVITY_BUFFER);
    cupti.shared = cupti.shared || attribute == LP_CUPTI_ATTR_PER_THREAD_ACTIVITY_BUFFER;
    return 0;
}

static int set_attribute_v2(lp_cupti_subscriber subscriber, uint32_t attribute, size_t *size,
                            void *value)
{
    assert_ptr_equal(subscriber, &cupti);
    set_attribute(attribute, size, value);
    return cupti.refuses_slim && attribute == LP_CUPTI_ATTR_USER_DEFINED_RECORDS ? NOT_COMPATIBLE
                                                                                 : 0;
}

static int set_clock(lp_cupti_timestamp function)
{
    cupti.clocks++;
    return function() == 0;
}

static int finalize(void)
{
    cupti.subscriptions = cupti.clocks = 0;
    return 0;
}

static int take_whole(lp_cupti_buffer_requested requested, lp_cupti_buffer_completed completed)
{
    (void)requested;
    assert_true(cupti.shared);
    cupti.whole_completed = completed;
    return 0;
}

static int take_slim(lp_cupti_subscriber subscriber, lp_cupti_buffer_requested_v2 requested,
                     lp_cupti_buffer_completed_v2 completed)
{
    (void)subscriber, (void)requested;
    assert_true(cupti.shared);
    cupti.slim_completed = completed;
    return 0;
}

static int enable(uint32_t kind)
{
    (void)kind;
    cupti.whole_enabled++;
    return 0;
}

static int disable(uint32_t kind)
{
    (void)kind;
    cupti.disabled++;
    return 0;
}

static int enable_v2(lp_cupti_subscriber subscriber, uint32_t kind,
                     struct lp_cupti_activity_config *config)
{
    (void)subscriber;
    assert_int_equal(config->fields.numbers[0], 0); /* the kind comes first */
    cupti.selected[kind] = config;
    cupti.slim_enabled++;
    return 0;
}

static int disable_v2(lp_cupti_subscriber subscriber, uint32_t kind,
                      struct lp_cupti_activity_config *config)
{
    (void)subscriber, (void)kind, (void)config;
    cupti.disabled++;
    return 0;
}

static int next_record(uint8_t *bytes, size_t valid, struct lp_cupti_record **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES * 2 : bytes;

    *record = (struct lp_cupti_record *)(void *)next;
    return next < bytes + valid ? LP_CUPTI_SUCCESS : LP_CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static int next_record_v2(lp_cupti_subscriber subscriber, uint8_t *bytes, size_t valid,
                          struct lp_cupti_record **record)
{
    assert_ptr_equal(subscriber, &cupti);
    return next_record(bytes, valid, record);
}

static int dropped(void *context, uint32_t stream, size_t *count)
{
    (void)context, (void)stream;
    *count = 3;
    return 0;
}

static int dropped_v2(lp_cupti_subscriber subscriber, void *context, uint32_t stream, size_t *count)
{
    (void)subscriber, (void)context, (void)stream;
    *count = 4;
    return 0;
}

static struct lp_cupti make_symbols(bool slim)
{
    struct lp_cupti symbols = { .path = "the test", .driver = LP_CUPTI_SLIM_DRIVER };

    symbols.GetResultString = get_text;
    symbols.Subscribe_v2 = subscribe;
    symbols.Unsubscribe = unsubscribe;
    symbols.Finalize = finalize;
    symbols.ActivitySetAttribute = set_attribute;
    symbols.ActivityRegisterTimestampCallback = set_clock;
    symbols.ActivityRegisterCallbacks = take_whole;
    symbols.ActivityEnable = enable;
    symbols.ActivityDisable = disable;
    symbols.ActivityGetNextRecord = next_record;
    symbols.ActivityGetNumDroppedRecords = dropped;
    if (!slim)
        return symbols;
    symbols.ActivitySetAttribute_v2 = set_attribute_v2;
    symbols.ActivityRegisterCallbacks_v2 = take_slim;
    symbols.ActivityEnable_v2 = enable_v2;
    symbols.ActivityDisable_v2 = disable_v2;
    symbols.ActivityGetNextRecord_v2 = next_record_v2;
    symbols.ActivityGetNumDroppedRecords_v2 = dropped_v2;
    return symbols;
}

static int begin(void **state)
{
    (void)state;
    memset(&cupti, 0, sizeof(cupti));
    unsetenv("LLMPERF_CUPTI_RECORDS");
    return 0;
}

/* Values of the fields of the record under test, in the order of enum lp_cupti_field. */
static const uint64_t values[LP_CUPTI_FIELDS] = {
    71,
    2,
    3,
    14,
    5,
    1000,
    2500,
    0x500000007,
    0,
    4096,
    1,
    LP_MEMORY_PINNED,
    LP_MEMORY_DEVICE,
    LP_CUPTI_FLAG_COPY_ASYNC,
    40,
    16,
    8,
    2,
    64,
    4,
    1,
    1024,
    2048,
};
static const char kernel_name[] = "gemm";

/* Our side */

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user, (void)domain, (void)id, (void)data;
}

static uint8_t *completed_bytes;

static void on_requested(uint8_t **bytes, size_t *size, size_t *max_records)
{
    (void)bytes, (void)size, (void)max_records;
}

static void on_completed(void *context, uint32_t stream, uint8_t *bytes, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid;
    completed_bytes = bytes;
}

struct taken {
    struct lp_activity activities[8];
    size_t count;
    struct lp_shape shape; /* of the first */
    uint64_t foreign;      /* records of kinds that nobody here asked for */
};

static void take_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct taken *taken = context;

    memcpy(taken->activities + taken->count, activities, count * sizeof(*activities));
    taken->count += count;
}

static struct lp_buffer *make_buffer(size_t records)
{
    struct lp_buffer *buffer = aligned_alloc(64, sizeof(*buffer) + 64 + records * RECORD_BYTES * 2 +
                                                     (64 - sizeof(*buffer) % 64) % 64);

    assert_non_null(buffer);
    memset(buffer->bytes, 0, records * RECORD_BYTES * 2);
    buffer->valid = records * RECORD_BYTES * 2;
    return buffer;
}

static uint64_t decode(const struct lp_cupti_client *client, struct lp_buffer *buffer,
                       struct taken *taken)
{
    struct lp_cupti_decoder *decoder = calloc(1, sizeof(*decoder));
    const struct lp_device_sink sink = { .context = taken, .activities = take_activities };
    struct lp_names names = { 0 };
    uint64_t incomplete;

    assert_non_null(decoder);
    decoder->names = &names;
    lp_cupti_decode(decoder, client, buffer, &sink);
    incomplete = decoder->incomplete;
    taken->foreign = decoder->foreign;
    if (taken->count > 0 && taken->activities[0].kind == LLMPERF_ACTIVITY_KERNEL)
        assert_string_equal(lp_names_text(&names, taken->activities[0].name), kernel_name);
    if (taken->count > 0 && lp_shapes_get(&names.shapes, taken->activities[0].shape))
        taken->shape = *lp_shapes_get(&names.shapes, taken->activities[0].shape);
    lp_names_clear(&names);
    free(decoder);
    return incomplete;
}

static size_t width_of(int field)
{
    return field < LP_CUPTI_FIELD_START        ? 4
           : field < LP_CUPTI_FIELD_COPY_KIND  ? 8
           : field < LP_CUPTI_FIELD_REGISTERS  ? 1
           : field == LP_CUPTI_FIELD_REGISTERS ? 2
                                               : 4;
}

/* A record as `layout` says, of the values above. */
static void write_record(uint8_t *record, uint32_t kind, const struct lp_cupti_layout *layout)
{
    const char *name = kernel_name;

    memcpy(record, &kind, sizeof(kind));
    for (int field = 0; field < LP_CUPTI_FIELDS; field++) {
        size_t width = width_of(field);

        if (layout->at[field] != 0 && field == LP_CUPTI_FIELD_NAME)
            memcpy(record + layout->at[field], &name, sizeof(name));
        else if (layout->at[field] != 0)
            memcpy(record + layout->at[field], &values[field], width);
    }
}

static void check_activity(const struct lp_activity *activity, uint64_t shift)
{
    assert_int_equal(activity->correlation, 71);
    assert_int_equal(activity->device, 2);
    assert_int_equal(activity->context, 3);
    assert_int_equal(activity->stream, 14);
    assert_int_equal(activity->graph, 5);
    assert_int_equal(activity->end_ns - activity->start_ns, 1500);
    /* Two looks at the clocks are not the same to the nanosecond, and one may have to wait. */
    assert_true(activity->start_ns - (1000 + shift) + 1000000000u < 2000000000u);
    assert_int_equal(activity->graph_node, 0x500000007);
}

static void check_kernel_shape(const struct lp_shape *shape)
{
    const struct lp_shape expected = { .grid = { 16, 8, 2 },
                                       .block = { 64, 4, 1 },
                                       .registers = 40,
                                       .static_shared = 1024,
                                       .dynamic_shared = 2048 };

    assert_memory_equal(shape, &expected, sizeof(expected));
}

/* They are of a graph, whose nodes no call waits for. */
static void check_copy_shape(const struct lp_shape *shape, bool set)
{
    assert_int_equal(shape->source, set ? LP_MEMORY_UNKNOWN : LP_MEMORY_PINNED);
    assert_int_equal(shape->destination, LP_MEMORY_DEVICE);
    assert_int_equal(shape->call, LP_COPY_CALL_UNKNOWN);
    assert_int_equal(shape->grid[0], 0);
}

/* Offsets that this CUPTI chooses for what was selected: 8 bytes each, last first. */
static void lay_out(uint32_t kind, struct lp_cupti_record_layout *told,
                    struct lp_cupti_field_layout *fields, struct lp_cupti_layout *layout)
{
#define NUMBER(kind, field, number, name) { LP_CUPTI_KIND_##kind, LP_CUPTI_FIELD_##field, number },
    static const struct {
        uint32_t kind, field;
        int number;
    } ours[] = { LP_CUPTI_SLIM_FIELDS(NUMBER) };
    const struct lp_cupti_field_selection *selected = &cupti.selected[kind]->fields;

    *layout = (struct lp_cupti_layout){ { 0 } };
    told->fields = fields;
    told->field_count = selected->count;
    for (size_t i = 0; i < selected->count; i++) {
        fields[i].number = selected->numbers[i];
        fields[i].offset = i == 0 ? 0 : 8 * (selected->count - i);
        fields[i].size = cupti.narrow ? 2 : i == 1 ? 8 : 4;
        for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
            if (ours[k].kind == kind && ours[k].number == fields[i].number) {
                layout->at[ours[k].field] = (uint16_t)fields[i].offset;
                if (!cupti.narrow && ours[k].field >= LP_CUPTI_FIELD_START)
                    fields[i].size = width_of((int)ours[k].field);
            }
    }
}

static uint64_t run_slim(uint32_t kind, struct taken *taken, uint64_t *shift)
{
    struct lp_cupti symbols = make_symbols(true);
    struct lp_cupti_client client = { 0 };
    struct lp_cupti_field_layout fields[LP_CUPTI_FIELDS + 1] = { { 0 } };
    struct lp_cupti_record_layout told = { 0 }, *all[KINDS] = { NULL };
    struct lp_cupti_completed_info info = { sizeof(info), 0, all, KINDS };
    struct lp_cupti_layout layout;
    struct lp_buffer *buffer = make_buffer(2);
    char holder[64];
    uint64_t incomplete;

    assert_int_equal(lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)),
                     0);
    assert_true(client.slim);
    assert_int_equal(lp_cupti_take_buffers(&client, on_requested, on_completed), 0);
    assert_int_equal(lp_cupti_enable(&client, kind), 0);
    lay_out(kind, &told, fields, &layout);
    write_record(buffer->bytes, kind, &layout);
    write_record(buffer->bytes + RECORD_BYTES * 2, kind, &layout);
    all[kind] = cupti.tells_nothing ? NULL : &told;
    cupti.slim_completed(buffer->bytes, 0, buffer->valid, &info);
    assert_ptr_equal(completed_bytes, buffer->bytes);
    *shift = lp_cupti_clock_shift(&client);
    incomplete = decode(&client, buffer, taken);
    assert_int_equal(lp_cupti_dropped(&client), 4);
    assert_int_equal(lp_cupti_disable(&client, kind), 0);
    lp_cupti_unsubscribe(&client);
    assert_int_equal(cupti.subscriptions, 0);
    assert_int_equal(cupti.slim_enabled, 1);
    assert_int_equal(cupti.whole_enabled, 0);
    assert_int_equal(cupti.disabled, 1);
    free(buffer);
    return incomplete;
}

/* The layouts that are learned stay: first what cannot be learned. */
static void slim_records_without_a_layout_are_counted(void **state)
{
    struct taken taken = { .count = 0 };
    uint64_t shift;

    (void)state;
    cupti.tells_nothing = true;
    assert_int_equal(run_slim(LP_CUPTI_KIND_MEMCPY2, &taken, &shift), 2);
    assert_int_equal(taken.count, 0);
    cupti.tells_nothing = false;
    cupti.narrow = true;
    cupti.slim_enabled = cupti.disabled = 0;
    assert_int_equal(run_slim(LP_CUPTI_KIND_MEMCPY2, &taken, &shift), 2);
    assert_int_equal(taken.count, 0);
}

static void slim_kernels_are_read_where_cupti_put_them(void **state)
{
    struct taken taken = { .count = 0 };
    uint64_t shift;

    (void)state;
    assert_int_equal(run_slim(LP_CUPTI_KIND_CONCURRENT_KERNEL, &taken, &shift), 0);
    assert_int_equal(taken.count, 2);
    check_activity(&taken.activities[1], shift);
    assert_int_equal(taken.activities[1].kind, LLMPERF_ACTIVITY_KERNEL);
    assert_int_equal(taken.activities[1].shape, taken.activities[0].shape);
    check_kernel_shape(&taken.shape);
}

static void slim_copies_and_sets_keep_their_bytes(void **state)
{
    static const uint32_t kinds[] = { LP_CUPTI_KIND_MEMCPY, LP_CUPTI_KIND_MEMCPY2,
                                      LP_CUPTI_KIND_MEMSET };
    uint64_t shift;

    for (size_t i = 0; i < 3; i++) {
        struct taken taken = { .count = 0 };

        begin(state);
        assert_int_equal(run_slim(kinds[i], &taken, &shift), 0);
        assert_int_equal(taken.count, 2);
        check_activity(&taken.activities[0], shift);
        assert_int_equal(taken.activities[0].bytes, 4096);
        check_copy_shape(&taken.shape, kinds[i] == LP_CUPTI_KIND_MEMSET);
        assert_int_equal(taken.activities[0].kind,
                         i == 2 ? LLMPERF_ACTIVITY_MEMSET : LLMPERF_ACTIVITY_MEMCPY);
    }
}

/* Where a whole record has its fields is held against CUPTI's headers at build time. */
static void whole_records_are_read_without_them(void **state)
{
    struct lp_cupti symbols = make_symbols(false);
    struct lp_cupti_client client = { 0 };
    struct lp_buffer *buffer = make_buffer(1);
    struct lp_cupti_kernel *kernel = (void *)buffer->bytes;
    struct taken taken = { .count = 0 };
    char holder[64];

    (void)state;
    assert_int_equal(lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)),
                     0);
    assert_false(client.slim);
    assert_int_equal(lp_cupti_take_buffers(&client, on_requested, on_completed), 0);
    assert_ptr_equal(cupti.whole_completed, on_completed);
    assert_int_equal(lp_cupti_enable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL), 0);
    write_record(buffer->bytes, LP_CUPTI_KIND_CONCURRENT_KERNEL,
                 lp_cupti_layout_of(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL));
    assert_int_equal(kernel->correlation_id, 71);
    assert_int_equal(kernel->end, 2500);
    assert_int_equal(decode(&client, buffer, &taken), 0);
    assert_int_equal(taken.count, 1);
    assert_int_equal(taken.activities[0].start_ns, 1000); /* our clock already */
    check_activity(&taken.activities[0], 0);
    assert_int_equal(lp_cupti_dropped(&client), 3);
    assert_int_equal(cupti.whole_enabled, 1);
    lp_cupti_unsubscribe(&client);
    free(buffer);
}

static void kinds_that_somebody_else_asked_for_are_counted_and_left_out(void **state)
{
    const uint32_t somebody_elses = LP_CUPTI_KIND_OVERHEAD + 1;
    struct lp_cupti symbols = make_symbols(false);
    struct lp_cupti_client client = { 0 };
    struct lp_buffer *buffer = make_buffer(1);
    struct taken taken = { .count = 0 };
    char holder[64];

    (void)state;
    assert_int_equal(lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)),
                     0);
    memcpy(buffer->bytes, &somebody_elses, sizeof(somebody_elses));
    assert_int_equal(decode(&client, buffer, &taken), 0);
    assert_int_equal(taken.foreign, 1);
    assert_int_equal(taken.count, 0);
    lp_cupti_unsubscribe(&client);
    free(buffer);
}

/* Registering it twice damages records, and one that came back does not know it. */
static void a_clock_is_registered_once_each_time_that_cupti_comes(void **state)
{
    struct lp_cupti symbols = make_symbols(false);
    struct lp_cupti_client client = { 0 };
    char holder[64];

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            lp_cupti_subscribe(&client, &symbols, true, callback, holder, sizeof(holder)), 0);
        assert_int_equal(lp_cupti_take_buffers(&client, on_requested, on_completed), 0);
        assert_int_equal(lp_cupti_take_buffers(&client, on_requested, on_completed), 0);
        assert_int_equal(cupti.clocks, i > 0);
        assert_int_equal(lp_cupti_finalize(&client), 0);
        assert_null(client.subscriber);
    }
}

static void an_unknown_time_stays_unknown(void **state)
{
    struct lp_cupti symbols = make_symbols(true);
    struct lp_cupti_client client = { &symbols, (lp_cupti_subscriber)(void *)&cupti, true };
    struct lp_buffer *buffer = make_buffer(1);
    struct taken taken = { .count = 0 };
    const struct lp_cupti_layout *layout =
        lp_cupti_layout_of(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL); /* learned above */

    (void)state;
    assert_non_null(layout);
    write_record(buffer->bytes, LP_CUPTI_KIND_CONCURRENT_KERNEL, layout);
    memset(buffer->bytes + layout->at[LP_CUPTI_FIELD_START], 0, 8);
    assert_int_equal(decode(&client, buffer, &taken), 0);
    assert_int_equal(taken.activities[0].start_ns, 0);
    free(buffer);
}

static void slim_is_left_where_it_cannot_be_had(void **state)
{
    struct lp_cupti symbols = make_symbols(true);
    struct lp_cupti_client client = { 0 };
    char holder[64];

    for (int way = 0; way < 5; way++) {
        begin(state);
        symbols.driver = LP_CUPTI_SLIM_DRIVER - (way == 4);
        cupti.refuses_shared = way == 0;
        cupti.refuses_slim = way == 1;
        if (way == 2)
            setenv("LLMPERF_CUPTI_RECORDS", "whole", 1);
        assert_int_equal(
            lp_cupti_subscribe(&client, &symbols, way == 3, callback, holder, sizeof(holder)), 0);
        assert_false(client.slim);
        assert_int_equal(cupti.subscriptions, 1);
        assert_string_equal(holder, "");
        lp_cupti_unsubscribe(&client);
    }
    begin(state);
    setenv("LLMPERF_CUPTI_RECORDS", "slim", 1); /* over any driver */
    assert_int_equal(lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)),
                     0);
    assert_true(client.slim);
    lp_cupti_unsubscribe(&client);
    /* Any other word is none: the driver decides, and the log says so. */
    for (uint32_t old = 0; old < 2; old++) {
        begin(state);
        symbols.driver = LP_CUPTI_SLIM_DRIVER - old;
        setenv("LLMPERF_CUPTI_RECORDS", "nonsense", 1);
        heard[0] = '\0';
        llmperf_log_set(hear, NULL, LLMPERF_LOG_WARN);
        assert_int_equal(
            lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)), 0);
        llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
        assert_int_equal(client.slim, !old);
        assert_non_null(
            strstr(heard, "LLMPERF_CUPTI_RECORDS=nonsense is unknown; use slim or whole"));
        lp_cupti_unsubscribe(&client);
    }
    begin(state);
    cupti.held = true;
    assert_int_equal(lp_cupti_subscribe(&client, &symbols, false, callback, holder, sizeof(holder)),
                     LLMPERF_EBUSY);
    assert_string_equal(holder, "CUPTI for somebody");
    assert_null(client.subscriber);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(slim_records_without_a_layout_are_counted, begin),
        cmocka_unit_test_setup(slim_kernels_are_read_where_cupti_put_them, begin),
        cmocka_unit_test_setup(slim_copies_and_sets_keep_their_bytes, begin),
        cmocka_unit_test_setup(whole_records_are_read_without_them, begin),
        cmocka_unit_test_setup(kinds_that_somebody_else_asked_for_are_counted_and_left_out, begin),
        cmocka_unit_test_setup(a_clock_is_registered_once_each_time_that_cupti_comes, begin),
        cmocka_unit_test_setup(an_unknown_time_stays_unknown, begin),
        cmocka_unit_test_setup(slim_is_left_where_it_cannot_be_had, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
