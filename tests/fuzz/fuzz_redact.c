/* Redaction: JSON in, JSON of the same shape out; the same text twice says the same; no text makes
 * it fail. */
#include "tests/fuzz/fuzz.h"

#include "trace/base/text/json.h"
#include "trace/log/redact/redact.h"

/* The same kinds in the same order; everything but strings is the same text. */
static void check_same_shape(struct str in, struct str out)
{
    struct json before = { 0 }, after = { 0 };
    struct err err = { .kind = ERR_NONE };
    if (json_parse(&before, in, &err)) {
        FUZZ_CHECK(json_parse(&after, out, &err));
        FUZZ_CHECK(before.nodes.n == after.nodes.n);
        for (json_id id = 0; id < before.nodes.n; id++) {
            enum json_kind kind = json_kind_of(&before, id);
            FUZZ_CHECK(kind == json_kind_of(&after, id));
            FUZZ_CHECK(before.nodes.v[id].after == after.nodes.v[id].after);
            if (kind == JSON_NUMBER || kind == JSON_REF)
                FUZZ_CHECK(str_eq(json_text(&before, id), json_text(&after, id)));
        }
    }
    json_release(&before);
    json_release(&after);
}

/* With everything learnt, a second pass over the same text says the same as the first one did. */
static void check_repeatable(struct redact *redact, struct str in)
{
    struct buf one = BUF_INIT, two = BUF_INIT;
    redact_text(redact, in, &one);
    redact_text(redact, in, &two);
    FUZZ_CHECK(str_eq(buf_str(&one), buf_str(&two)));
    buf_release(&one);
    buf_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str in = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    struct redact redact;
    struct buf out = BUF_INIT;
    FUZZ_CHECK(redact_init(&redact, &err));
    FUZZ_CHECK(redact_add_variable(&redact, STR("PLAN"), STR("s3cret-plan\n\"x\""), &err));
    FUZZ_CHECK(redact_add_variable(&redact, STR("NAMES"), STR("wolframite"), &err));
    FUZZ_CHECK(redact_add_user(&redact, STR("alice"), &err));
    redact_text(&redact, in, &out);
    FUZZ_CHECK(!out.failed);
    check_same_shape(in, buf_str(&out));
    check_repeatable(&redact, in);
    buf_release(&out);
    redact_release(&redact);
    return 0;
}
