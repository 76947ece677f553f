#include "trace/log/envelope.h"

/* The keys that stand beside the event's key; trace_structured() reserves them. */
static const char *const context_keys[] = {
    "rank",  "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt",
    "stack", "has_payload",
};

void envelope_release(struct envelope_reader *reader)
{
    buf_release(&reader->text);
    buf_release(&reader->context);
    json_release(&reader->doc);
}

static bool no_marks(struct str text, struct err *err)
{
    if (text.n && memchr(text.p, JSON_REF_MARK, text.n))
        return err_set(err, ERR_INPUT, "control character outside a string");
    return true;
}

/* Returns false when a digit follows a stack, since it would become a part of the reference's
 * number. */
static bool no_digit(struct str rest, struct err *err)
{
    if (rest.n && is_digit(rest.p[0]))
        return err_set(err, ERR_INPUT, "a digit after a stack");
    return true;
}

/* Copies `json` with each stack replaced by a reference. Inside a JSON string every quote
 * follows a backslash, so the text that is searched for cannot be part of a string. */
static bool cut_stacks(struct envelope_reader *reader, struct stack_table *stacks, struct str json,
                       struct err *err)
{
    static const char start[] = "[{\"line\": ";
    struct buf *out = &reader->text;
    size_t copied = 0, from = 0;
    buf_clear(out);
    for (;;) {
        const char *hit = memmem(json.p + from, json.n - from, start, sizeof start - 1);
        size_t at = hit ? (size_t)(hit - json.p) : json.n, used = 0;
        uint32_t node = 0;
        if (hit && !stacks_read(stacks, reader->root, str_from(json, at), &node, &used, err)) {
            if (err_is_set(err))
                return false;
            from = at + 1;
            continue;
        }
        struct str plain = { json.p + copied, at - copied };
        if (!no_marks(plain, err))
            return false;
        buf_put(out, plain);
        if (!hit)
            break;
        buf_putc(out, JSON_REF_MARK);
        buf_u64(out, node);
        copied = from = at + used;
        if (!no_digit(str_from(json, from), err))
            return false;
    }
    return !out->failed || err_nomem(err);
}

static bool is_context_key(struct str key)
{
    return STR_IS_ANY(key, context_keys);
}

/* Returns the value of the event's key, which is the first that is not a context key. */
static json_id event_key(const struct json *doc)
{
    for (json_id k = json_first(doc, JSON_ROOT); k != JSON_NONE; k = json_next(doc, k + 1))
        if (!is_context_key(json_text(doc, k)))
            return k;
    return JSON_NONE;
}

/* Returns the text ', "key": value' for every member but the event, followed by '}'. */
static struct str collect_context(struct envelope_reader *reader, json_id event)
{
    const struct json *doc = &reader->doc;
    struct buf *out = &reader->context;
    buf_clear(out);
    for (json_id k = json_first(doc, JSON_ROOT); k != JSON_NONE; k = json_next(doc, k + 1)) {
        if (k == event)
            continue;
        bool quoted = json_kind_of(doc, k + 1) == JSON_STRING;
        bool ref = json_kind_of(doc, k + 1) == JSON_REF;
        buf_puts(out, ", \"");
        buf_put(out, json_text(doc, k));
        buf_puts(out, quoted ? "\": \"" : ref ? "\": \x01" : "\": ");
        buf_put(out, json_text(doc, k + 1));
        buf_puts(out, quoted ? "\"" : "");
    }
    buf_putc(out, '}');
    return buf_str(out);
}

/* Returns the value's text with its quotes and reference marks, which node text excludes. */
static struct str whole_text(const struct json *doc, json_id id)
{
    struct str text = json_text(doc, id);
    enum json_kind kind = json_kind_of(doc, id);
    if (kind == JSON_STRING)
        return (struct str){ text.p - 1, text.n + 2 };
    return kind == JSON_REF ? (struct str){ text.p - 1, text.n + 1 } : text;
}

static bool laid_out_as_usual(struct str text, struct str event, struct str meta)
{
    struct str rest = str_from(text, 2);
    return str_starts(text, STR("{\"")) && str_starts(rest, event) &&
           str_starts(str_from(rest, event.n), STR("\": ")) && meta.p == text.p + event.n + 5;
}

bool envelope_read(struct envelope_reader *reader, struct stack_table *stacks, struct str json,
                   struct envelope *ret, struct err *err)
{
    struct json *doc = &reader->doc;
    if (!cut_stacks(reader, stacks, json, err))
        return false;
    struct str text = buf_str(&reader->text);
    if (!json_parse(doc, text, err))
        return false;
    if (json_kind_of(doc, JSON_ROOT) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "offset 0: not an object");
    json_id key = event_key(doc);
    if (key == JSON_NONE)
        return err_set(err, ERR_INPUT, "the record has no event");
    ret->event = json_text(doc, key);
    ret->meta = whole_text(doc, key + 1);
    json_id checksum = json_get(doc, JSON_ROOT, STR("has_payload"));
    ret->checksum = json_kind_of(doc, checksum) == JSON_STRING ? json_text(doc, checksum) : STR("");
    ret->odd = !laid_out_as_usual(text, ret->event, ret->meta);
    ret->context = ret->odd ? collect_context(reader, key)
                            : str_from(text, (size_t)(ret->meta.p + ret->meta.n - text.p));
    return !reader->context.failed || err_nomem(err);
}

/* Replaces the first occurrence of the checksum in the context: printing puts the same text back
 * there. */
void envelope_mark_checksum(const struct envelope *envelope, struct buf *out)
{
    size_t at = str_find(envelope->context, envelope->checksum);
    buf_put(out, str_first(envelope->context, at));
    if (at < envelope->context.n) {
        buf_putc(out, ENVELOPE_MD5_MARK);
        buf_put(out, str_from(envelope->context, at + envelope->checksum.n));
    }
}

static uint32_t take_stack_reference(struct str *text)
{
    uint64_t node = 0;
    size_t n = 0;
    for (; n < text->n && is_digit(text->p[n]); n++)
        node = node > UINT32_MAX ? node : node * 10 + (uint64_t)(text->p[n] - '0');
    *text = str_from(*text, n);
    return node > UINT32_MAX ? UINT32_MAX : (uint32_t)node;
}

bool envelope_expand(const struct stack_table *stacks, struct str text, struct str md5_hex,
                     size_t most, struct buf *out)
{
    while (text.n) {
        size_t plain = 0;
        while (plain < text.n && text.p[plain] != JSON_REF_MARK &&
               text.p[plain] != ENVELOPE_MD5_MARK)
            plain++;
        buf_put(out, str_first(text, plain));
        if (plain == text.n)
            break;
        char mark = text.p[plain];
        text = str_from(text, plain + 1);
        if (mark == JSON_REF_MARK && !stacks_print(stacks, take_stack_reference(&text), most, out))
            return false;
        if (mark != JSON_REF_MARK)
            buf_put(out, md5_hex);
    }
    return out->n <= most;
}
