#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/record/deep_install.h"

static struct scratch made_folder(void)
{
    struct err err = ERR_INIT;
    struct scratch folder;
    assert_true(scratch_make(&folder, SCRATCH_LOGS, &err));
    return folder;
}

static void test_levels(void **state)
{
    (void)state;
    assert_true(deep_level_is("counts"));
    assert_true(deep_level_is("all"));
    assert_false(deep_level_is("some"));
    assert_false(deep_level_is(""));
}

/* What is embedded is what the files hold. */
static void test_install(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct scratch folder = made_folder();
    assert_true(deep_install(&folder, &err));
    const char *root = getenv("SYMTAPE_ROOT");
    size_t n = 0;
    for (const struct deep_python_file *file = deep_python_files; file->name; file++, n++) {
        char path[4096], source[4096];
        struct stat info;
        snprintf(path, sizeof path, "%s/python/%s", folder.path, file->name);
        snprintf(source, sizeof source, "%s/trace/record/deep/python/%s", root ? root : ".",
                 file->name);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        if (access(source, R_OK) == 0) {
            struct buf written = read_file(path), expected = read_file(source);
            assert_true(str_eq(buf_str(&written), buf_str(&expected)));
            buf_release(&written);
            buf_release(&expected);
        }
    }
    assert_true(n >= 6);
    assert_true(scratch_remove(&folder));
}

static void test_install_fails(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct scratch folder = made_folder();
    assert_true(deep_install(&folder, &err));
    assert_false(deep_install(&folder, &err)); /* what is there is not written over */
    assert_err(&err, ERR_ENV, ": cannot write the deep recorder (TMPDIR): File exists");
    assert_true(scratch_remove(&folder));
}

/* The test is in another folder than the program: only an installation could have it. */
static void test_library(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char *path = deep_library(&err);
    if (path)
        assert_int_equal(access(path, R_OK), 0);
    else
        assert_non_null(strstr(err.text, "symtape_deep.so"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_install),
        cmocka_unit_test(test_install_fails),
        cmocka_unit_test(test_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
