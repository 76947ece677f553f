#include "minify/program/program_setup.h"
#include "tests/harness.h"

static void assert_wrong(struct program_setup setup, const char *part)
{
    struct err err = ERR_INIT;
    assert_false(program_setup_check(&setup, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    if (!strstr(err.text, part))
        fail_msg("no \"%s\" in: %s", part, err.text);
}

static void test_wrong(void **state)
{
    (void)state;
    assert_wrong((struct program_setup){ .allow = STR("a b") }, "--allow: \"a b\"");
    assert_wrong((struct program_setup){ .imports = STR("mylib,tools/no-name.py") },
                 "--import: \"tools/no-name.py\" is neither");
    assert_wrong((struct program_setup){ .imports = STR("a;b") }, "--import: \"a;b\"");
    assert_wrong((struct program_setup){ .env = STR("A") }, "--env: \"A\" is not NAME=VALUE");
    assert_wrong((struct program_setup){ .env = STR("a.b=1") }, "--env: \"a.b=1\"");
    assert_wrong((struct program_setup){ .config = STR("inductor=1") }, "--config: \"inductor=1\"");
    assert_wrong((struct program_setup){ .config = STR("os.environ=1") }, "does not set an option");
    assert_wrong((struct program_setup){ .config = STR("inductor..x=1") }, "--config: ");
    assert_wrong((struct program_setup){ .backend = STR("a:") }, "--torch-backend: \"a:\"");
    assert_wrong((struct program_setup){ .backend = STR("a b:c") }, "is not MODULE:NAME");
}

static struct program_setup whole_setup(void)
{
    return (struct program_setup){
        .imports = STR("mylib.ops, tools/patch.py"),
        .env = STR("TORCH_LOGS=+dynamo,inductor,X=\"\\"),
        .config = STR("inductor.triton.cudagraphs=True,dynamo.cache_size_limit=8,inductor.x=a,b"),
        .backend = STR("patch:make.fast"),
    };
}

static void test_statements(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    const struct program_setup whole = whole_setup();
    assert_true(program_setup_check(&whole, &err));
    program_put_env(&whole, &out);
    program_put_setup_imports(&whole, 4, &out);
    program_put_config(&whole, &out);
    program_put_backend(whole.backend, &out);
    program_put_backend(STR("inductor"), &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, "import os\n"
                               "os.environ[\"TORCH_LOGS\"] = \"+dynamo,inductor\"\n"
                               "os.environ[\"X\"] = \"\\\"\\\\\"\n"
                               "    import torch._inductor.config\n"
                               "    import torch._dynamo.config\n"
                               "    import mylib.ops\n"
                               "    import patch\n"
                               "torch._inductor.config.triton.cudagraphs = True\n"
                               "torch._dynamo.config.cache_size_limit = 8\n"
                               "torch._inductor.config.x = \"a,b\"\n"
                               "patch.make.fast\"inductor\"");
    buf_release(&out);
}

static bool write_once(void *arg)
{
    struct buf out = BUF_INIT;
    program_setup_json(arg, &out);
    bool ok = !out.failed;
    buf_release(&out);
    return ok;
}

static void test_json(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct program_setup whole = whole_setup();
    const struct program_setup other = { .backend = STR("mylib:fast") },
                               named = { .backend = STR("inductor") }, none = { .allow = STR("") };
    program_setup_json(&other, &out);
    program_setup_json(&named, &out);
    program_setup_json(&none, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p,
                        "{\"env\":[],\"imports\":[\"import mylib\"],\"config\":[],\"folders\":[],"
                        "\"module\":\"mylib\",\"backend\":\"mylib.fast\",\"backend_name\":\"\"}"
                        "{\"env\":[],\"imports\":[],\"config\":[],\"folders\":[],\"module\":\"\","
                        "\"backend\":\"\",\"backend_name\":\"inductor\"}"
                        "{\"env\":[],\"imports\":[],\"config\":[],\"folders\":[],\"module\":\"\","
                        "\"backend\":\"\",\"backend_name\":\"\"}");
    buf_release(&out);
    check_alloc_failures(write_once, &whole);
}

static void test_files(void **state)
{
    (void)state;
    struct str rest = whole_setup().imports;
    assert_str_is(program_next_import_file(&rest), "tools/patch.py");
    assert_str_is(program_next_import_file(&rest), "");
}

static void test_reserve(void **state)
{
    (void)state;
    struct intern taken = { 0 };
    const struct program_setup whole = whole_setup();
    assert_true(program_setup_reserve(&whole, &taken));
    assert_int_not_equal(intern_find(&taken, STR("mylib")), INTERN_NONE);
    assert_int_not_equal(intern_find(&taken, STR("patch")), INTERN_NONE);
    intern_release(&taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_statements),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
