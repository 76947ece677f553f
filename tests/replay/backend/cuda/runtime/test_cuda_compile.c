/* With the NVRTC of this machine, where there is one; no device is needed. */
#include "replay/backend/cuda/runtime/compile.h"

#include <stdlib.h>

#include "tests/harness.h"

static const char copy_defines[] = "#define FROM f32\n#define TO f32\n#define INDEX i32\n"
                                   "#define SAME 1\n";
static const struct program_text copy = { .file = "copy.cu",
                                          .name = "copy_dense",
                                          .defines = copy_defines };

static void need_nvrtc(struct compiler *compiler)
{
    struct err err = ERR_INIT;
    if (compiler_open(compiler, 0, &err))
        return;
    if (is_needed("nvrtc"))
        fail_msg("%s", err.text);
    print_message("skipped: %s\n", err.text);
    skip();
}

static void test_source(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf source = BUF_INIT, other = BUF_INIT, live = BUF_INIT;
    const struct program_text limited = { .file = "copy.cu",
                                          .name = "copy_strided",
                                          .defines = "#define LIVE_FIELD n\n" };
    assert_true(program_source(&copy, &source, &err));
    assert_true(str_starts(buf_str(&source), STR("#include ")));
    assert_true(str_find(buf_str(&source), STR("\n#pragma nv_hdrstop\n#define FROM f32\n")) <
                source.n);
    assert_true(program_source(&limited, &live, &err)); /* the prologue reads it */
    assert_true(str_starts(buf_str(&live), STR("#define LIVE_FIELD n\n#include ")));
    assert_true(str_find(buf_str(&source), STR("\n#line 1 \"copy.cu\"\n")) < source.n);
    struct cubin_key a = program_key(buf_str(&source), 90);
    struct cubin_key again = program_key(buf_str(&source), 90);
    struct cubin_key device = program_key(buf_str(&source), 100);
    assert_true(a.high == again.high && a.low == again.low);
    assert_true(a.high != device.high && a.low != device.low);
    struct program_text generated = { .name = "k", .text = STR("KERNEL(k, struct x) {}\n") };
    assert_true(program_source(&generated, &other, &err));
    struct cubin_key b = program_key(buf_str(&other), 90);
    assert_true(a.high != b.high && a.low != b.low);
    struct program_text none = { .file = "nowhere.cu", .name = "k" };
    assert_false(program_source(&none, &other, &err));
    assert_err(&err, ERR_ENV, "kernel k: there is no source text nowhere.cu");
    buf_release(&source);
    buf_release(&other);
    buf_release(&live);
}

static bool compile(const struct compiler *compiler, const struct program_text *program,
                    int architecture, struct buf *ret, struct err *err)
{
    struct buf source = BUF_INIT;
    bool ok = program_source(program, &source, err);
    buf_putc(&source, '\0');
    struct str text = { source.p, source.n - 1 };
    ok = ok && compiler_run(compiler, program, text, architecture, ret, err);
    buf_release(&source);
    return ok;
}

static void test_compiles(void **state)
{
    (void)state;
    struct compiler compiler;
    struct err err = ERR_INIT;
    struct buf code = BUF_INIT;
    need_nvrtc(&compiler);
    assert_true(compiler.major >= 12);
    assert_true(compile(&compiler, &copy, 90, &code, &err));
    assert_true(str_starts(buf_str(&code), STR("\177ELF")));
    buf_clear(&code);
    /* A device that this compiler does not know: PTX, for the driver to compile. */
    assert_true(compile(&compiler, &copy, 999, &code, &err));
    assert_true(str_find(buf_str(&code), STR(".version")) < code.n);
    assert_true(str_find(buf_str(&code), STR("copy_strided")) < code.n);
    buf_release(&code);
}

static void test_fails(void **state)
{
    (void)state;
    struct compiler compiler;
    struct err err = ERR_INIT;
    struct buf code = BUF_INIT;
    struct program_text bad = { .name = "bad",
                                .text =
                                    STR("struct bad_args { u64 to; };\n"
                                        "KERNEL(bad, struct bad_args)\n{\n    nonsense;\n}\n") };
    need_nvrtc(&compiler);
    assert_false(compile(&compiler, &bad, 90, &code, &err));
    const char *path = strstr(err.text, "its source is ");
    assert_non_null(path);
    struct buf kept = read_file(path + strlen("its source is "));
    assert_true(str_find(buf_str(&kept), STR("    nonsense;\n")) < kept.n);
    assert_err(&err, ERR_ENV, "kernel bad does not compile (NVRTC ");
    assert_false(compile(&compiler, &bad, 90, &code, &err));
    assert_err(&err, ERR_ENV, "bad(4): error: identifier \"nonsense\" is undefined");
    buf_release(&kept);
    buf_release(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_compiles),
        cmocka_unit_test(test_fails),
    };
    setenv("XDG_CACHE_HOME", temp_path("cache"), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
