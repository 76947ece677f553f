#include "minify/process/torch_python.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

/* Makes FOLDER/python3 with a program of the shell. */
static void make_python(const char *folder, const char *body)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path(folder));
    (void)mkdir(path, 0755);
    strncat(path, "/python3", sizeof path - strlen(path) - 1);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#!/bin/sh\n%s\n", body);
    fclose(out);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Sets $PATH to these folders and what the shell needs. */
static void set_path(const char *first, const char *second)
{
    char path[9000], a[4096];
    snprintf(a, sizeof a, "%s", temp_path(first));
    snprintf(path, sizeof path, "relative::%s:%s:/bin", a, temp_path(second));
    assert_int_equal(setenv("PATH", path, 1), 0);
}

static struct torch_python choose(const char *named, const char *program)
{
    struct torch_python ret;
    struct err err = ERR_INIT;
    assert_true(torch_python_choose(str_of(named), str_of(program), NULL, &ret, &err));
    return ret;
}

static void assert_chosen(struct torch_python python, const char *folder, const char *version,
                          const char *from)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path(folder));
    assert_non_null(strstr(python.path, path));
    assert_string_equal(python.version, version);
    assert_string_equal(python.from, from);
    torch_python_release(&python);
}

static void test_the_first_of_path_that_has_torch(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("SYMTAPE_PYTHON"), 0);
    make_python("without", "echo nothing >&2; exit 1");
    make_python("with", "echo 9.9+cpu");
    set_path("without", "with");
    assert_chosen(choose("", ""), "with", "9.9+cpu", "first on $PATH with PyTorch");
    set_path("without", "absent");
    struct torch_python none = choose("", "");
    assert_non_null(strstr(none.path, "/without/python3"));
    assert_string_equal(none.version, "");
    assert_string_equal(none.lacks, "no PyTorch");
    torch_python_release(&none);
}

/* Neither a python3 of a relative folder nor one of the current folder is run. */
static void test_the_current_folder_is_not_searched(void **state)
{
    (void)state;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(unsetenv("SYMTAPE_PYTHON"), 0);
    make_python("current", "touch ran; echo 6.6");
    make_python("current/relative", "touch ran; echo 7.7");
    make_python("with", "echo 9.9");
    assert_int_equal(chdir(temp_path("current")), 0);
    set_path("absent", "with");
    assert_chosen(choose("", ""), "with", "9.9", "first on $PATH with PyTorch");
    assert_int_equal(setenv("PATH", "relative:.:", 1), 0);
    struct torch_python none = choose("", "");
    assert_string_equal(none.path, "/usr/bin/python3");
    torch_python_release(&none);
    assert_int_not_equal(access("ran", F_OK), 0);
    assert_int_equal(chdir(here), 0);
}

static void test_what_is_named_comes_first(void **state)
{
    (void)state;
    char named[4096], program[4096], variable[4096];
    make_python("named", "echo 1.1");
    make_python("program", "echo 2.2");
    make_python("variable", "echo 3.3");
    snprintf(named, sizeof named, "%s/python3", temp_path("named"));
    snprintf(program, sizeof program, "%s/python3", temp_path("program"));
    snprintf(variable, sizeof variable, "%s/python3", temp_path("variable"));
    assert_int_equal(unsetenv("SYMTAPE_PYTHON"), 0);
    assert_chosen(choose("", program), "program", "2.2", "the program's");
    assert_int_equal(setenv("SYMTAPE_PYTHON", variable, 1), 0);
    assert_chosen(choose("", program), "variable", "3.3", "$SYMTAPE_PYTHON");
    assert_chosen(choose(named, program), "named", "1.1", "--python");
    struct torch_python none = choose("/no/such/python3", program);
    assert_string_equal(none.path, "/no/such/python3");
    assert_string_equal(none.lacks, "cannot be started");
    assert_string_equal(none.version, "");
    torch_python_release(&none);
}

static void test_cancelled(void **state)
{
    (void)state;
    struct torch_python python;
    struct err err = ERR_INIT;
    atomic_bool cancel = true;
    make_python("slow", "sleep 30");
    char slow[4096];
    snprintf(slow, sizeof slow, "%s/python3", temp_path("slow"));
    assert_false(torch_python_choose(str_of(slow), STR(""), &cancel, &python, &err));
    assert_int_equal(err.kind, ERR_INTERRUPTED);
    torch_python_release(&python);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_of_path_that_has_torch),
        cmocka_unit_test(test_the_current_folder_is_not_searched),
        cmocka_unit_test(test_what_is_named_comes_first),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
