/* The metadata reader: the parts of an envelope that is laid out as usual print as it was, with the
 * checksum at its mark too; read again, it has the same parts. */
#include "tests/fuzz/fuzz.h"

#include "trace/log/envelope.h"

static void check_print(const struct stack_table *stacks, const struct envelope *envelope,
                        struct str json)
{
    struct buf out = BUF_INIT, marked = BUF_INIT;
    envelope_mark_checksum(envelope, &marked);
    buf_puts(&out, "{\"");
    buf_put(&out, envelope->event);
    buf_puts(&out, "\": ");
    envelope_expand(stacks, envelope->meta, STR("?"), SIZE_MAX, &out);
    envelope_expand(stacks, buf_str(&marked), envelope->checksum, SIZE_MAX, &out);
    FUZZ_CHECK(envelope->odd || str_eq(buf_str(&out), json));
    buf_release(&marked);
    buf_release(&out);
}

static void check_parts(struct envelope_reader *reader, const struct envelope *envelope)
{
    struct err err = { .kind = ERR_NONE };
    FUZZ_CHECK(envelope->event.p && envelope->meta.p && envelope->context.n > 0);
    FUZZ_CHECK(json_parse(&reader->doc, envelope->meta, &err));
}

static bool read_once(struct envelope_reader *reader, struct stack_table *stacks, struct str json)
{
    struct err err = { .kind = ERR_NONE };
    struct envelope envelope;
    bool read = envelope_read(reader, stacks, json, &envelope, &err);
    FUZZ_CHECK(read != err_is_set(&err));
    if (read) {
        check_print(stacks, &envelope, json);
        check_parts(reader, &envelope);
    }
    return read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str json = { (const char *)data, n };
    struct envelope_reader reader = { 0 };
    struct intern strings = INTERN_INIT;
    struct stack_table stacks;
    FUZZ_CHECK(stacks_init(&stacks, &strings));
    bool first = read_once(&reader, &stacks, json);
    size_t nodes = stacks.nodes.n;
    FUZZ_CHECK(read_once(&reader, &stacks, json) == first);
    FUZZ_CHECK(stacks.nodes.n == nodes);
    stacks_release(&stacks);
    intern_release(&strings);
    envelope_release(&reader);
    return 0;
}
