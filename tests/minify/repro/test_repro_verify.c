#include "minify/repro/repro_verify.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/harness.h"

/* A Python that has "PyTorch 9.9", and ends as the file that it is given says. */
static void make_python(const char *body)
{
    const char *path = temp_path("python");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#!/bin/sh\n%s\n", body);
    fclose(out);
    assert_int_equal(chmod(path, 0755), 0);
}

static struct repro_verified verify_with(const char *python, const char *exit_code)
{
    struct repro_verified ret;
    struct err err = ERR_INIT;
    struct torch_python chosen;
    const char *path = temp_path("repro.py");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s\n", exit_code);
    fclose(out);
    assert_true(torch_python_choose(str_of(python), STR(""), NULL, &chosen, &err));
    assert_true(repro_verify(path, &chosen, &(struct program_setup){ 0 }, 2, 20, NULL, &ret, &err));
    torch_python_release(&chosen);
    return ret;
}

static struct repro_verified verify(const char *exit_code)
{
    return verify_with(temp_path("python"), exit_code);
}

static void test_codes(void **state)
{
    (void)state;
    make_python(
        "[ $# -eq 2 ] && { echo 9.9; exit 0; }\necho said $(cat \"$3\")\nexit $(cat \"$3\")");
    struct repro_verified v = verify("1");
    assert_int_equal(v.seen, REPRO_SHOWN);
    assert_int_equal(v.asked, 2);
    assert_int_equal(v.shown, 2);
    assert_string_equal(v.version, "9.9");
    assert_string_equal(v.last, "said 1");
    v = verify("0");
    assert_int_equal(v.seen, REPRO_NOT_SHOWN);
    assert_int_equal(v.asked, 1);
    v = verify("125");
    assert_int_equal(v.seen, REPRO_CANNOT);
    struct buf text = BUF_INIT;
    repro_verified_print(&v, &text);
    assert_str_is(buf_str(&text), "cannot be run with PyTorch 9.9 on this machine (said 125)");
    buf_release(&text);
    assert_int_equal(verify("3").seen, REPRO_NOT_SHOWN);
}

static void test_no_torch(void **state)
{
    (void)state;
    make_python("exit 1");
    assert_int_equal(verify("1").seen, REPRO_NO_TORCH);
    assert_int_equal(verify_with("/no/such/python", "1").seen, REPRO_NO_TORCH);
}

static void test_interrupted(void **state)
{
    (void)state;
    make_python("sleep 30");
    atomic_bool cancel = true;
    struct repro_verified v;
    struct err err = ERR_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("python"));
    struct torch_python python = { .path = path, .version = "9.9" };
    assert_false(
        repro_verify("repro.py", &python, &(struct program_setup){ 0 }, 1, 20, &cancel, &v, &err));
    assert_int_equal(err.kind, ERR_INTERRUPTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_no_torch),
        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
