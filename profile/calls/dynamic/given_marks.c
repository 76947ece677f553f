#include "profile/calls/dynamic/given_marks.h"

#include "profile/calls/values/python_scan.h"

/* Reads "L['x']:0", "x:0" or "L['n']". */
static bool read_mark(struct given_marks *given, struct str item, const struct intern *sources,
                      struct err *err)
{
    struct given_mark mark = { .text = item, .all = true };
    struct str source = item;
    struct buf spelled = BUF_INIT;
    size_t colon = item.n;
    while (colon && is_digit(item.p[colon - 1]))
        colon--;
    if (colon > 0 && colon < item.n && item.p[colon - 1] == ':') {
        mark.all = false;
        source = str_first(item, colon - 1);
        if (!str_to_u64(str_from(item, colon), &mark.dim))
            mark.dim = UINT64_MAX; /* no tensor has it */
    }
    put_named_source(str_trim(source), &spelled);
    mark.source = spelled.failed ? INTERN_NONE : intern_find(sources, buf_str(&spelled));
    bool ok = !spelled.failed && vec_push(&given->marks, mark);
    buf_release(&spelled);
    return ok || err_nomem(err);
}

bool given_marks_read(struct given_marks *given, const char *list, const struct intern *sources,
                      struct err *err)
{
    struct python_scan scan = { str_of(list) };
    size_t from = 0;
    bool ok = true;
    for (bool more = true; ok && more;) {
        more = python_scan_next(&scan);
        if (more && (scan.depth || scan.c != ','))
            continue;
        struct str item =
            str_trim(str_from(str_first(scan.text, more ? scan.at : scan.text.n), from));
        ok = !item.n || read_mark(given, item, sources, err);
        from = scan.at + 1;
    }
    return ok;
}

uint32_t given_marks_take(struct given_marks *given, const struct code_calls *code, uint8_t *marks)
{
    uint32_t n = 0;
    for (size_t i = 0; i < given->marks.n; i++) {
        struct given_mark *mark = &given->marks.v[i];
        uint32_t id = mark->source == INTERN_NONE ? NO_ENTRY : code_input_of(code, mark->source);
        const struct code_input *input = id == NO_ENTRY ? NULL : &code->inputs.v[id];
        for (uint32_t d = 0; input && d < input->rank; d++) {
            if (!mark->all && mark->dim != d)
                continue;
            mark->fixed |= input->fixed;
            mark->found |= !input->fixed;
            n += !input->fixed && !marks[input->first_slot + d];
            marks[input->first_slot + d] |= !input->fixed;
        }
    }
    return n;
}

/* Returns whether a code object before this one has an input of the same source. */
static bool is_listed(const struct calls_table *table, size_t code, uint32_t source)
{
    for (size_t i = 0; i < code; i++)
        if (code_input_of(&table->codes.v[i], source) != NO_ENTRY)
            return true;
    return false;
}

/* Lists the inputs that can be marked: "L['x']:0, L['x']:1, L['n']". */
static void put_inputs(const struct calls_table *table, struct buf *out)
{
    enum { MOST_LISTED = 8 };
    uint32_t n = 0;
    for (size_t c = 0; c < table->codes.n; c++)
        for (size_t i = 0; i < table->codes.v[c].inputs.n; i++) {
            const struct code_input *input = &table->codes.v[c].inputs.v[i];
            if (input->fixed || is_listed(table, c, input->source))
                continue;
            for (uint32_t d = 0; d < input->rank; d++) {
                if (n++ == MOST_LISTED) {
                    buf_puts(out, " and others");
                    return;
                }
                buf_puts(out, n == 1 ? "; there are " : ", ");
                buf_put(out, intern_text(&table->log->sources, input->source));
                if (input->is_tensor)
                    buf_printf(out, ":%u", d);
            }
        }
}

bool given_marks_check(const struct given_marks *given, const struct calls_table *table,
                       struct err *err)
{
    for (size_t i = 0; i < given->marks.n; i++) {
        const struct given_mark *mark = &given->marks.v[i];
        if (mark->found)
            continue;
        if (mark->fixed)
            return err_set(err, ERR_USAGE, "%.*s cannot be marked: PyTorch makes a constant of it",
                           STR_ARG(mark->text));
        struct buf inputs = BUF_INIT;
        put_inputs(table, &inputs);
        if (inputs.failed)
            err_nomem(err);
        else
            err_set(err, ERR_USAGE,
                    "%.*s cannot be marked: no compiled function has such an input%.*s",
                    STR_ARG(mark->text), STR_ARG(buf_str(&inputs)));
        buf_release(&inputs);
        return false;
    }
    return true;
}

void given_marks_release(struct given_marks *given)
{
    vec_release(&given->marks);
}
