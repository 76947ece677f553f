/* Any text read as a snapshot: what is accepted is consistent, is written as what is accepted
 * again, and compares with itself as the same. (Bytes that are not UTF-8 change when they are
 * written, so what was read is not held to what is read again.) */
#include "tests/fuzz/fuzz.h"

#include "profile/compare/compare.h"
#include "profile/compare/diff.h"

static void compare_with(struct snapshot *a, struct snapshot *b, bool same)
{
    struct err err = { .kind = ERR_NONE };
    struct buf text = BUF_INIT;
    struct compare_side before = { STR("a"), &a, 1 }, after = { STR("b"), &b, 1 };
    struct compare *c = compare_build(&before, &after, NULL, &err);
    FUZZ_CHECK(c);
    FUZZ_CHECK(!same || c->n_rows == 0);
    diff_text(c, &(struct report_options){ .limit = 10 }, &text);
    diff_markdown(c, &(struct report_options){ .limit = 10 }, &text);
    diff_json(c, &(struct report_options){ .limit = 10 }, &text);
    FUZZ_CHECK(!text.failed);
    buf_release(&text);
    compare_free(c);
}

static struct snapshot *empty(void)
{
    static const char TEXT[] =
        "{\"schema\":\"symtape.snapshot/1\",\"name\":\"x\",\"damaged\":0,\"truncated\":0,"
        "\"measures\":{},\"outline\":{\"texts\":[\"\"],\"lines\":[],\"recordings\":[],"
        "\"compiles\":[],\"attempts\":[],\"events\":[],\"graphs\":[],\"forms\":[],\"nodes\":[]}}";
    struct err err = { .kind = ERR_NONE };
    struct snapshot *s = snapshot_read(str_of(TEXT), &err);
    FUZZ_CHECK(s);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct buf text = BUF_INIT;
    struct snapshot *s = snapshot_read((struct str){ (const char *)data, n }, &err);
    FUZZ_CHECK(!s == err_is_set(&err));
    if (!s)
        return 0;
    snapshot_write(s, &text);
    FUZZ_CHECK(!text.failed);
    struct snapshot *again = snapshot_read(buf_str(&text), &err), *nothing = empty();
    FUZZ_CHECK(again);
    compare_with(s, s, true);
    compare_with(again, again, true);
    compare_with(s, again, false);
    compare_with(s, nothing, false);
    compare_with(nothing, s, false);
    buf_release(&text);
    snapshot_free(nothing);
    snapshot_free(again);
    snapshot_free(s);
    return 0;
}
