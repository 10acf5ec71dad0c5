/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of Python packages from mapped files and the folders beside them. This process has no
 * interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/base/file.h"
#include "lib/machine/software.h"

static char folder[] = "/tmp/llmperf-python-XXXXXX";

static void make_folder(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(lp_folder_make(path), 0);
}

/* A file in the folder, mapped as a loader does. */
static void *map_file(const char *name)
{
    char path[512];
    void *address;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(lp_file_write(path, "library", 7), 0);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    address = mmap(NULL, 7, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(address, MAP_FAILED);
    return address;
}

static json_t *software(void)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    json_t *root, *software;

    lp_json_open(&json, NULL, '{');
    lp_software_json(&json);
    lp_json_close(&json, '}');
    root = json_loads(json.text.bytes, 0, NULL);
    lp_text_clear(&json.text);
    assert_non_null(root);
    software = json_incref(json_object_get(root, "software"));
    json_decref(root);
    return software;
}

static const char *version(const json_t *software, const char *name)
{
    assert_non_null(json_object_get(software, name));
    return json_string_value(json_object_get(software, name));
}

static void a_process_without_python_has_no_versions(void **state)
{
    json_t *found = software(), *value;
    const char *name;

    (void)state;
    assert_int_equal(json_object_size(found), 8);
    json_object_foreach(found, name, value) assert_true(json_is_null(value));
    json_decref(found);
}

static void loaded_packages_have_the_version_of_their_folder(void **state)
{
    static const char *const names[] = {
        "lib/python3.11/site-packages/torch/lib",
        "lib/python3.11/site-packages/torch_geometric-9.dist-info", /* another project */
        "lib/python3.11/site-packages/torchvision-0.26.0.dist-info",
        "lib/python3.11/site-packages/torch-2.11.0+cu130.dist-info",
        "lib/python3.11/site-packages/Triton-3.6.0.dist-info", /* not loaded */
        "lib/python3.11/site-packages/transformers-5.17.0.dist-info",
        "lib/python3/dist-packages/flash_attn-2.8.3-py3.11.egg-info",
        "lib/python3/dist-packages/vllm",
        "lib/python3/dist-packages/vllm-0.1\"|<b>.dist-info", /* no version */
    };
    void *mapped[3];
    json_t *found;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        make_folder(names[i]);
    mapped[0] = map_file("lib/python3.11/site-packages/torch/lib/libtorch.so");
    mapped[1] = map_file("lib/python3/dist-packages/flash_attn_2_cuda.cpython-311.so");
    mapped[2] = map_file("lib/python3/dist-packages/vllm/_C.abi3.so");
    found = software();
    assert_string_equal(version(found, "torch"), "2.11.0+cu130");
    assert_string_equal(version(found, "flash-attn"), "2.8.3");
    assert_string_equal(version(found, "transformers_installed"), "5.17.0");
    assert_null(version(found, "triton"));
    assert_null(version(found, "vllm"));
    assert_null(version(found, "jax"));
    assert_null(version(found, "python"));
    json_decref(found);
    for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++)
        munmap(mapped[i], 7);
}

static void an_interpreter_is_known_by_the_name_of_its_library(void **state)
{
    void *mapped = map_file("lib/libpython3.10.so.1.0");
    json_t *found = software();

    (void)state;
    assert_string_equal(version(found, "python"), "3.10");
    assert_null(version(found, "torch"));
    json_decref(found);
    munmap(mapped, 7);
}

static int make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_without_python_has_no_versions),
        cmocka_unit_test(loaded_packages_have_the_version_of_their_folder),
        cmocka_unit_test(an_interpreter_is_known_by_the_name_of_its_library),
    };

    return cmocka_run_group_tests(tests, make, clean);
}
