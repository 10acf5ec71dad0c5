/* SPDX-License-Identifier: Apache-2.0 */
/** What a listener to NVTX 3 needs of its binary interface. nvtx_check.c checks it against NVIDIA's
 * headers where the build finds them; the library is built without them. */
#ifndef LP_REGIONS_NVTX_ABI_H
#define LP_REGIONS_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LP_NVTX_TABLE_CALLBACKS 1u

enum { LP_NVTX_MODULE_CORE = 1, LP_NVTX_MODULE_CORE2 = 5 };

/** Places in the table of module CORE. */
enum {
    LP_NVTX_RANGE_START_EX = 4,
    LP_NVTX_RANGE_START_A = 5,
    LP_NVTX_RANGE_START_W = 6,
    LP_NVTX_RANGE_END = 7,
    LP_NVTX_RANGE_PUSH_EX = 8,
    LP_NVTX_RANGE_PUSH_A = 9,
    LP_NVTX_RANGE_PUSH_W = 10,
    LP_NVTX_RANGE_POP = 11
};

/** Places in the table of module CORE2. */
enum {
    LP_NVTX_DOMAIN_RANGE_START_EX = 2,
    LP_NVTX_DOMAIN_RANGE_END = 3,
    LP_NVTX_DOMAIN_RANGE_PUSH_EX = 4,
    LP_NVTX_DOMAIN_RANGE_POP = 5,
    LP_NVTX_DOMAIN_REGISTER_STRING_A = 10,
    LP_NVTX_DOMAIN_REGISTER_STRING_W = 11,
    LP_NVTX_DOMAIN_CREATE_A = 12,
    LP_NVTX_DOMAIN_CREATE_W = 13
};

enum { LP_NVTX_MESSAGE_ASCII = 1, LP_NVTX_MESSAGE_WIDE = 2, LP_NVTX_MESSAGE_REGISTERED = 3 };

enum {
    LP_NVTX_PAYLOAD_UINT64 = 1,
    LP_NVTX_PAYLOAD_INT64 = 2,
    LP_NVTX_PAYLOAD_UINT32 = 4,
    LP_NVTX_PAYLOAD_INT32 = 5
};

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
    /** 1 and a table of `*size_out` places, each the address of a function pointer to fill, or
     * NULL; 0: no such module. Places count from 1. */
    int (*module_table)(int module, lp_nvtx_function ***table_out, unsigned *size_out);
};

typedef const void *(*lp_nvtx_export_table)(uint32_t id);

/** The extension for payloads has functions of its own that open and close ranges. Places of its
 * only segment, from 0. */
#define LP_NVTX_EXTENSION_PAYLOAD 2

enum {
    LP_NVTX_RANGE_PUSH_PAYLOAD = 3,
    LP_NVTX_RANGE_POP_PAYLOAD = 4,
    LP_NVTX_RANGE_START_PAYLOAD = 5,
    LP_NVTX_RANGE_END_PAYLOAD = 6
};

struct lp_nvtx_segment {
    size_t id, slot_count;
    intptr_t *slots; /* addresses of functions; 0: not set yet */
};

struct lp_nvtx_extension {
    uint16_t nvtx_version, struct_size, module, compatibility;
    size_t segment_count;
    struct lp_nvtx_segment *segments;
    lp_nvtx_function export_function;
    const void *info;
};

#endif
