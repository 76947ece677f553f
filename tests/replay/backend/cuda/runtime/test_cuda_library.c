#include "replay/backend/cuda/runtime/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tests/harness.h"

/* A library that is surely there, to stand for others: the one that has zlibVersion(). */
static struct buf any_library(void)
{
    Dl_info info;
    void *self = dlopen("libz.so.1", RTLD_NOW);
    void *p = self ? dlsym(self, "zlibVersion") : NULL;
    assert_non_null(p);
    assert_true(dladdr(p, &info));
    return read_file(info.dli_fname);
}

static void write_bytes(const char *path, struct str bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    assert_int_equal(fclose(f), 0);
}

/* temp/A/B/C ... with that file in it. */
static void put_file(const char *path, struct str bytes)
{
    char part[1024];
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            mkdir(part, 0777);
            *p = '/';
        }
    write_bytes(path, bytes);
}

/* Nothing but what a test sets. */
static int clean(void **state)
{
    static const char *const variables[] = {
        "SYMTAPE_CUDA_LIB", "CUDA_HOME",    "CUDA_PATH",
        "VIRTUAL_ENV",      "CONDA_PREFIX", "LD_LIBRARY_PATH"
    };
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    setenv("HOME", "/nonexistent", 1);
    return 0;
}

static void test_order(void **state)
{
    (void)state;
    struct buf bytes = any_library();
    struct cuda_library library;
    struct err err = ERR_INIT;
    char venv[600], named[600], wheel[700];
    snprintf(venv, sizeof venv, "%s", temp_path("venv"));
    snprintf(named, sizeof named, "%s", temp_path("named"));
    snprintf(wheel, sizeof wheel, "%s/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
             venv);
    put_file(wheel, buf_str(&bytes));
    setenv("VIRTUAL_ENV", venv, 1);
    assert_true(library_open(LIBRARY_CUDNN, 0, &library, &err));
    assert_string_equal(library.path, wheel);
    assert_non_null(library.handle);

    /* A folder that the user names comes first, whatever else is there. */
    char path[700], list[1300];
    snprintf(path, sizeof path, "%s/libcudnn.so.9", named);
    put_file(path, buf_str(&bytes));
    snprintf(list, sizeof list, "/nonexistent:%s", named);
    setenv("SYMTAPE_CUDA_LIB", list, 1);
    assert_true(library_open(LIBRARY_CUDNN, 0, &library, &err));
    assert_string_equal(library.path, path);

    struct buf folders = BUF_INIT;
    library_folders(&folders);
    assert_true(str_starts(buf_str(&folders), str_of(named)));
    buf_release(&folders);
    buf_release(&bytes);
}

static void test_versions(void **state)
{
    (void)state;
    struct buf bytes = any_library();
    struct cuda_library library;
    struct err err = ERR_INIT;
    char old[700], new[700];
    snprintf(old, sizeof old, "%s/libnvrtc.so.12", temp_path("both"));
    snprintf(new, sizeof new, "%s/libnvrtc.so.13", temp_path("both"));
    put_file(old, buf_str(&bytes));
    put_file(new, buf_str(&bytes));
    setenv("SYMTAPE_CUDA_LIB", temp_path("both"), 1);
    assert_true(library_open(LIBRARY_NVRTC, 0, &library, &err));
    assert_string_equal(library.path, new);
    assert_true(library_open(LIBRARY_NVRTC, 12, &library, &err));
    assert_string_equal(library.path, old);
    /* Of a version that nobody knows: the newest. */
    assert_true(library_open(LIBRARY_NVRTC, 77, &library, &err));
    assert_string_equal(library.path, new);
    buf_release(&bytes);
}

/* A file that is none is told with its reason; a good one elsewhere is still found. */
static void test_damaged(void **state)
{
    (void)state;
    struct buf bytes = any_library();
    struct cuda_library library;
    struct err err = ERR_INIT;
    char bad[700], good[700], both[1500];
    snprintf(bad, sizeof bad, "%s/libcublasLt.so.13", temp_path("bad"));
    snprintf(good, sizeof good, "%s/libcublasLt.so.12", temp_path("good"));
    put_file(bad, STR("no library at all"));
    setenv("SYMTAPE_CUDA_LIB", temp_path("bad"), 1);
    if (library_open(LIBRARY_CUBLASLT, 0, &library, &err))
        print_message("this machine has a cuBLASLt: %s\n", library.path);
    else
        assert_err(&err, ERR_ENV, "libcublasLt.so.13: ");
    put_file(good, buf_str(&bytes));
    snprintf(both, sizeof both, "%s:%s", temp_path("bad"), temp_path("good"));
    setenv("SYMTAPE_CUDA_LIB", both, 1);
    assert_true(library_open(LIBRARY_CUBLASLT, 0, &library, &err));
    assert_string_equal(library.path, good);
    buf_release(&bytes);
}

static void nothing(void)
{
}

static void test_symbols(void **state)
{
    (void)state;
    struct buf bytes = any_library();
    struct cuda_library library;
    struct err err = ERR_INIT;
    struct {
        const char *(*version)(void);
        void (*none)(void);
    } table = { NULL, nothing };
    struct library_symbol symbols[] = { { "zlibVersion", 0, true },
                                        { "no_such_symbol", sizeof(void *), false } };
    char path[700];
    snprintf(path, sizeof path, "%s/libcudnn.so.9", temp_path("symbols"));
    put_file(path, buf_str(&bytes));
    setenv("SYMTAPE_CUDA_LIB", temp_path("symbols"), 1);
    assert_true(library_open(LIBRARY_CUDNN, 0, &library, &err));
    assert_true(library_load(&library, symbols, 2, &table, &err));
    assert_string_equal(table.version(), zlibVersion());
    assert_true(table.none == NULL);
    symbols[1].needed = true;
    assert_false(library_load(&library, symbols, 2, &table, &err));
    assert_err(&err, ERR_ENV, "has no no_such_symbol: it is too old");
    buf_release(&bytes);
}

static bool look(void *arg)
{
    struct cuda_library library;
    struct err err = ERR_INIT;
    (void)arg;
    bool ok = library_open(LIBRARY_CUDNN, 0, &library, &err);
    return ok || err.kind != ERR_NONE;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(look, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order, clean),   cmocka_unit_test_setup(test_versions, clean),
        cmocka_unit_test_setup(test_damaged, clean), cmocka_unit_test_setup(test_symbols, clean),
        cmocka_unit_test_setup(test_memory, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
