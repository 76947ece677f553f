/* The metadata reader: whatever it accepts can be walked, every string decodes, and what json_write
 * makes of the values is accepted again. */
#include "tests/fuzz/fuzz.h"

#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

static void use_value(const struct json *doc, json_id id)
{
    int64_t i;
    uint64_t u;
    uint32_t ref;
    double d;
    struct str text = json_text(doc, id);
    FUZZ_CHECK(text.p >= doc->text.p && text.p + text.n <= doc->text.p + doc->text.n);
    json_i64(doc, id, &i);
    json_u64(doc, id, &u);
    json_ref(doc, id, &ref);
    FUZZ_CHECK(json_double(doc, id, &d) == (json_kind_of(doc, id) == JSON_NUMBER));
}

static void use_string(const struct json *doc, json_id id)
{
    struct buf decoded = BUF_INIT, quoted = BUF_INIT;
    struct json again = { 0 };
    struct err err = { .kind = ERR_NONE };
    json_decode(doc, id, &decoded);
    json_quote(&quoted, buf_str(&decoded));
    FUZZ_CHECK(json_parse(&again, buf_str(&quoted), &err));
    FUZZ_CHECK(json_kind_of(&again, JSON_ROOT) == JSON_STRING);
    json_release(&again);
    buf_release(&quoted);
    buf_release(&decoded);
}

/* Siblings as json_next() gives them are json_count() many, and end where the container does. */
static void use_container(const struct json *doc, json_id id)
{
    size_t children = 0;
    for (json_id k = json_first(doc, id); k != JSON_NONE; k = json_next(doc, k)) {
        FUZZ_CHECK(k > id && k < doc->nodes.v[id].after);
        children++;
    }
    FUZZ_CHECK(children == json_count(doc, id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct json doc = { 0 };
    struct err err = { .kind = ERR_NONE };
    bool accepted = json_parse(&doc, (struct str){ (const char *)data, n }, &err);
    FUZZ_CHECK(accepted != err_is_set(&err));
    for (json_id id = 0; accepted && id < doc.nodes.n; id++) {
        use_value(&doc, id);
        if (json_kind_of(&doc, id) == JSON_STRING)
            use_string(&doc, id);
        if (json_kind_of(&doc, id) == JSON_ARRAY || json_kind_of(&doc, id) == JSON_OBJECT)
            use_container(&doc, id);
    }
    json_release(&doc);
    return 0;
}
