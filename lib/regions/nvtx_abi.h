/* SPDX-License-Identifier: Apache-2.0 */
/** The part of NVTX 3's binary interface that a tool needs. The library is built without NVIDIA's
 * headers; nvtx_check.c compares with them if the build finds them. */
#ifndef LP_REGIONS_NVTX_ABI_H
#define LP_REGIONS_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LP_NVTX_TABLE_CALLBACKS 1u

/* Our name, the number, NVTX's name. */
#define LP_NVTX_NUMBERS(NUMBER)                                                                    \
    NUMBER(LP_NVTX_MODULE_CORE, 1, NVTX_CB_MODULE_CORE)                                            \
    NUMBER(LP_NVTX_MODULE_CORE2, 5, NVTX_CB_MODULE_CORE2)                                          \
    /* Indices in the table of module CORE. */                                                     \
    NUMBER(LP_NVTX_RANGE_START_EX, 4, NVTX_CBID_CORE_RangeStartEx)                                 \
    NUMBER(LP_NVTX_RANGE_START_A, 5, NVTX_CBID_CORE_RangeStartA)                                   \
    NUMBER(LP_NVTX_RANGE_START_W, 6, NVTX_CBID_CORE_RangeStartW)                                   \
    NUMBER(LP_NVTX_RANGE_END, 7, NVTX_CBID_CORE_RangeEnd)                                          \
    NUMBER(LP_NVTX_RANGE_PUSH_EX, 8, NVTX_CBID_CORE_RangePushEx)                                   \
    NUMBER(LP_NVTX_RANGE_PUSH_A, 9, NVTX_CBID_CORE_RangePushA)                                     \
    NUMBER(LP_NVTX_RANGE_PUSH_W, 10, NVTX_CBID_CORE_RangePushW)                                    \
    NUMBER(LP_NVTX_RANGE_POP, 11, NVTX_CBID_CORE_RangePop)                                         \
    /* Indices in the table of module CORE2. */                                                    \
    NUMBER(LP_NVTX_DOMAIN_RANGE_START_EX, 2, NVTX_CBID_CORE2_DomainRangeStartEx)                   \
    NUMBER(LP_NVTX_DOMAIN_RANGE_END, 3, NVTX_CBID_CORE2_DomainRangeEnd)                            \
    NUMBER(LP_NVTX_DOMAIN_RANGE_PUSH_EX, 4, NVTX_CBID_CORE2_DomainRangePushEx)                     \
    NUMBER(LP_NVTX_DOMAIN_RANGE_POP, 5, NVTX_CBID_CORE2_DomainRangePop)                            \
    NUMBER(LP_NVTX_DOMAIN_REGISTER_STRING_A, 10, NVTX_CBID_CORE2_DomainRegisterStringA)            \
    NUMBER(LP_NVTX_DOMAIN_REGISTER_STRING_W, 11, NVTX_CBID_CORE2_DomainRegisterStringW)            \
    NUMBER(LP_NVTX_DOMAIN_CREATE_A, 12, NVTX_CBID_CORE2_DomainCreateA)                             \
    NUMBER(LP_NVTX_DOMAIN_CREATE_W, 13, NVTX_CBID_CORE2_DomainCreateW)                             \
    /* Kinds of messages and payloads. */                                                          \
    NUMBER(LP_NVTX_MESSAGE_ASCII, 1, NVTX_MESSAGE_TYPE_ASCII)                                      \
    NUMBER(LP_NVTX_MESSAGE_WIDE, 2, NVTX_MESSAGE_TYPE_UNICODE)                                     \
    NUMBER(LP_NVTX_MESSAGE_REGISTERED, 3, NVTX_MESSAGE_TYPE_REGISTERED)                            \
    NUMBER(LP_NVTX_PAYLOAD_UINT64, 1, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)                            \
    NUMBER(LP_NVTX_PAYLOAD_INT64, 2, NVTX_PAYLOAD_TYPE_INT64)                                      \
    NUMBER(LP_NVTX_PAYLOAD_UINT32, 4, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32)                            \
    NUMBER(LP_NVTX_PAYLOAD_INT32, 5, NVTX_PAYLOAD_TYPE_INT32)

#define LP_NVTX_ENUMERATOR(name, number, theirs) name = number,
enum { LP_NVTX_NUMBERS(LP_NVTX_ENUMERATOR) };
#undef LP_NVTX_ENUMERATOR

struct lp_nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        uint32_t u32;
        int32_t i32;
        const void *pointer; /* to the first of `reserved` struct lp_nvtx_payload */
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const void *registered;
    } message;
};

typedef void (*lp_nvtx_function)(void);

struct lp_nvtx_callbacks {
    size_t struct_size;
    /** 1 and a table of `*size_out` entries, each the address of a function pointer to set, or
     * NULL; 0: no such module. Indices start at 1. */
    int (*module_table)(int module, lp_nvtx_function ***table_out, unsigned *size_out);
};

typedef const void *(*lp_nvtx_export_table)(uint32_t id);

/** The payload extension has its own functions to open and close ranges. Indices in its only
 * segment start at 0. */
#define LP_NVTX_EXTENSION_PAYLOAD 2

enum {
    LP_NVTX_SCHEMA_REGISTER = 0,
    LP_NVTX_RANGE_PUSH_PAYLOAD = 3,
    LP_NVTX_RANGE_POP_PAYLOAD = 4,
    LP_NVTX_RANGE_START_PAYLOAD = 5,
    LP_NVTX_RANGE_END_PAYLOAD = 6
};

/** Type of a payload that is a list of struct lp_nvtx_payload. */
#define LP_NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009)

#define LP_NVTX_SCHEMA_HAS_ID  (UINT64_C(1) << 8)  /* in `fields` */
#define LP_NVTX_SCHEMA_DYNAMIC (UINT64_C(1) << 32) /* first id that the tool gives */

struct lp_nvtx_payload {
    uint64_t schema;
    size_t size;
    const void *bytes;
};

struct lp_nvtx_schema_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset;
    const void *semantics, *reserved;
};

struct lp_nvtx_schema {
    uint64_t fields;
    const char *name;
    uint64_t type, flags;
    const struct lp_nvtx_schema_entry *entries;
    size_t entry_count, static_size, pack_align;
    uint64_t id;
    void *extension;
};

struct lp_nvtx_segment {
    size_t id, slot_count;
    intptr_t *slots; /* addresses of functions; 0: not set */
};

struct lp_nvtx_extension {
    uint16_t nvtx_version, struct_size, module, compatibility;
    size_t segment_count;
    struct lp_nvtx_segment *segments;
    lp_nvtx_function export_function;
    const void *info;
};

#endif
