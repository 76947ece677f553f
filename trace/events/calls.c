#include "trace/events/calls.h"

#include <stdlib.h>

#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/graph/traceback.h"
#include "trace/tables.h"

enum { MOST_CALLS = 1 << 20 };

/* The most MiB of rows that calls stand for: where all lines are kept, and where they are taken. */
enum { MOST_KEPT = 512, MOST_TAKEN = 16 << 10 };

#define NONE RECORDED_NONE

/* A row that tells a call in full. */
struct full_row {
    uint64_t number;
    struct str rest;       /* what follows "call", "backward_of" and "parent" */
    uint64_t first, n_new; /* objects that it was the first to have: first ... first + n_new */
};

/* A call: a full row with its own numbers. */
struct one_call {
    uint64_t number, row; /* the number of the full row */
    uint64_t backward_of; /* NONE */
    uint64_t parent;      /* NONE */
    uint64_t first;       /* of the objects that it was the first to have */
    double seconds;       /* -1: not noted */
};

struct call_rows {
    struct trace *trace;
    struct arena arena;
    struct json doc;
    vec_of(struct full_row)
    rows;
    vec_of(struct one_call)
    calls;
    uint64_t skipped;
};

/* ---- Rows ---- */

static uint64_t number_at(const struct json *doc, json_id id)
{
    uint64_t ret;
    return json_u64(doc, id, &ret) ? ret : NONE;
}

static uint64_t number_of(const struct json *doc, const char *key)
{
    return number_at(doc, json_get(doc, JSON_ROOT, str_of(key)));
}

/* Removes KEY and the number that follows it from the beginning of a row. */
static bool take_number(struct str *row, struct str key)
{
    if (!str_starts(*row, key))
        return false;
    size_t n = key.n;
    while (n < row->n && is_digit(row->p[n]))
        n++;
    *row = str_from(*row, n);
    return true;
}

static bool add_full_row(struct call_rows *in, struct str line, const struct full_row *row)
{
    struct full_row copy = *row;
    struct str rest = line;
    if (!take_number(&rest, STR("{\"call\": ")))
        return in->skipped++, true;
    take_number(&rest, STR(", \"backward_of\": "));
    take_number(&rest, STR(", \"parent\": "));
    copy.rest = arena_copy(&in->arena, rest);
    return copy.rest.p && vec_push(&in->rows, copy);
}

static bool add_calls(struct call_rows *in, struct one_call call, uint64_t repeat, uint64_t n_new)
{
    uint64_t i = 0;
    for (; i < repeat && in->calls.n < MOST_CALLS; i++) {
        if (!vec_push(&in->calls, call))
            return false;
        call.number++;
        call.first += n_new;
    }
    if (__builtin_add_overflow(in->skipped, repeat - i, &in->skipped))
        in->skipped = UINT64_MAX;
    return true;
}

static bool read_row(struct call_rows *in, struct str line)
{
    const struct json *doc = &in->doc;
    json_id new = json_get(doc, JSON_ROOT, STR("new"));
    uint64_t number = number_of(doc, "call"), before = number_of(doc, "as");
    uint64_t repeat = number_of(doc, "repeat");
    double seconds;
    struct full_row row = { .number = number, .first = NONE };
    if (json_kind_of(doc, new) == JSON_ARRAY && json_count(doc, new) == 2) {
        row.first = number_at(doc, json_first(doc, new));
        row.n_new = number_at(doc, json_next(doc, json_first(doc, new)));
    }
    if (number == NONE || number > INT64_MAX || row.n_new > UINT32_MAX)
        return in->skipped++, true;
    if (!json_double(doc, json_get(doc, JSON_ROOT, STR("seconds")), &seconds) || seconds < 0)
        seconds = -1;
    else if (repeat != NONE && repeat > 0)
        seconds /= (double)repeat;
    struct one_call call = { .number = number,
                             .row = before == NONE ? number : before,
                             .backward_of = number_of(doc, "backward_of"),
                             .parent = number_of(doc, "parent"),
                             .first = row.first,
                             .seconds = seconds };
    return (before != NONE || add_full_row(in, line, &row)) &&
           add_calls(in, call, repeat == NONE ? 1 : repeat, row.n_new);
}

static bool read_rows(struct call_rows *in, uint32_t record, struct err *err)
{
    struct str rows, line;
    if (in->trace->records[record].payload == TRACE_NONE)
        return true;
    if (!trace_payload(in->trace, record, &rows, err))
        return false;
    while (text_next_line(&rows, &line)) {
        struct err why = { 0 };
        if (json_parse(&in->doc, line, &why)) {
            if (!read_row(in, line))
                return err_nomem(err);
        } else if (why.kind == ERR_INPUT) {
            in->skipped++;
        } else {
            return *err = why, false;
        }
    }
    return true;
}

/* ---- Lines ---- */

static int by_row_number(const void *a, const void *b)
{
    const struct full_row *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_call_number(const void *a, const void *b)
{
    const struct one_call *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts rows, which mostly are in order. */
static void sort(void *rows, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < n; i++)
        if (compare((char *)rows + (i - 1) * size, (char *)rows + i * size) > 0) {
            qsort(rows, n, size, compare);
            return;
        }
}

/* Writes the rest of a row with the numbers that its objects have in the call. The quotation marks
 * of the key cannot stand in a string of JSON. */
static void put_renumbered(const struct recorded_call *call, struct buf *out)
{
    static const struct str KEY = { "\"obj\": ", 7 };
    struct str rest = call->rest;
    for (size_t at; (at = str_find(rest, KEY)) < rest.n;) {
        uint64_t number = 0;
        buf_put(out, str_first(rest, at + KEY.n));
        rest = str_from(rest, at + KEY.n);
        size_t n = 0;
        while (n < rest.n && is_digit(rest.p[n]))
            n++;
        if (str_to_u64(str_first(rest, n), &number))
            buf_u64(out, recorded_call_object(call, number));
        else
            buf_put(out, str_first(rest, n));
        rest = str_from(rest, n);
    }
    buf_put(out, rest);
}

static void put_number(const char *key, uint64_t number, struct buf *out)
{
    if (number != NONE) {
        buf_puts(out, key);
        buf_u64(out, number);
    }
}

void recorded_call_put(const struct recorded_call *call, struct buf *out)
{
    put_number("{\"call\": ", call->number, out);
    put_number(", \"backward_of\": ", call->backward_of, out);
    put_number(", \"parent\": ", call->parent, out);
    if (call->to == call->first)
        buf_put(out, call->rest);
    else
        put_renumbered(call, out);
    buf_putc(out, '\n');
}

static const struct full_row *row_of(const struct call_rows *in, const struct one_call *call)
{
    const struct full_row key = { .number = call->row };
    return in->rows.n ? bsearch(&key, in->rows.v, in->rows.n, sizeof key, by_row_number) : NULL;
}

/* A few bytes of a tape can stand for any number of lines. */
static bool check_size(const struct call_rows *in, const struct recorded_calls *ret,
                       struct err *err)
{
    unsigned most = ret->take ? MOST_TAKEN : MOST_KEPT;
    uint64_t bytes = 0;
    for (size_t i = 0; i < in->calls.n; i++) {
        const struct full_row *row = row_of(in, &in->calls.v[i]);
        bytes += row ? row->rest.n : 0;
        if (bytes >> 20 >= most)
            return err_set(err, ERR_INPUT,
                           "the calls on the tape stand for more than %u MiB of text", most);
    }
    return true;
}

static bool give_call(struct call_rows *in, const struct one_call *one, struct recorded_calls *ret,
                      struct err *err)
{
    const struct full_row *row = row_of(in, one);
    if (!row)
        return in->skipped++, true;
    struct recorded_call call = {
        .number = one->number,
        .backward_of = one->backward_of,
        .parent = one->parent,
        .row = (uint32_t)(row - in->rows.v),
        .rest = row->rest,
        .first = row->first,
        .n_new = row->n_new,
        .to = one->first == NONE ? row->first : one->first,
        .seconds = one->seconds,
    };
    ret->n++;
    if (ret->take)
        return ret->take(ret->data, &call, err);
    recorded_call_put(&call, &ret->lines);
    return !ret->lines.failed || err_nomem(err);
}

bool recorded_calls_read(struct trace *trace, uint32_t recording, struct recorded_calls *ret,
                         struct err *err)
{
    struct call_rows in = { .trace = trace };
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_records; i++)
        if (trace->records[i].event == EVENT_SYMTAPE_CALLS &&
            trace->records[i].recording == recording)
            ok = read_rows(&in, i, err);
    if (ok) {
        sort(in.rows.v, in.rows.n, sizeof *in.rows.v, by_row_number);
        sort(in.calls.v, in.calls.n, sizeof *in.calls.v, by_call_number);
    }
    ok = ok && check_size(&in, ret, err);
    for (size_t i = 0; ok && i < in.calls.n; i++)
        ok = give_call(&in, &in.calls.v[i], ret, err);
    ret->skipped = in.skipped;
    vec_release(&in.rows);
    vec_release(&in.calls);
    json_release(&in.doc);
    arena_release(&in.arena);
    return ok;
}

void recorded_calls_release(struct recorded_calls *calls)
{
    buf_release(&calls->lines);
}

/* ---- Totals ---- */

static bool add_not_recorded(struct json *doc, struct intern *told, struct call_totals *ret)
{
    json_id list = json_get(doc, JSON_ROOT, STR("not_recorded"));
    for (json_id item = json_first(doc, list); item != JSON_NONE; item = json_next(doc, item)) {
        struct buf text = BUF_INIT;
        json_decode(doc, json_get(doc, item, STR("what")), &text);
        buf_puts(&text, " (");
        json_decode(doc, json_get(doc, item, STR("why")), &text);
        buf_putc(&text, ')');
        size_t known = told->texts.n;
        uint32_t id = text.failed ? INTERN_NONE : intern(told, buf_str(&text));
        if (id == known) {
            buf_puts(&ret->not_recorded, ret->not_recorded.n ? ", " : "");
            buf_put(&ret->not_recorded, buf_str(&text));
        }
        buf_release(&text);
        if (id == INTERN_NONE)
            return false;
    }
    return true;
}

/* The numbers of a record are sums since the process began; the last of a recording counts. */
static void add_totals(const struct json *doc, const struct call_totals *before,
                       struct call_totals *ret)
{
    uint64_t calls = number_of(doc, "calls"), dropped = number_of(doc, "dropped");
    ret->records++;
    ret->calls = before->calls + (calls == NONE ? 0 : calls);
    ret->dropped = before->dropped + (dropped == NONE ? 0 : dropped);
    ret->full |= json_kind_of(doc, json_get(doc, JSON_ROOT, STR("full"))) == JSON_TRUE;
}

bool call_totals_read(struct trace *trace, struct call_totals *ret, struct err *err)
{
    struct json doc = { 0 };
    struct intern told = { 0 };
    struct call_totals before = { 0 };
    uint32_t recording = TRACE_NONE;
    bool ok = true;
    *ret = (struct call_totals){ 0 };
    for (uint32_t i = 0; ok && i < trace->n_records; i++) {
        bool readable;
        if (trace->records[i].event != EVENT_SYMTAPE_CALLS)
            continue;
        if (trace->records[i].recording != recording)
            before = *ret;
        recording = trace->records[i].recording;
        ok = record_try_json(trace, i, &doc, &readable, err);
        if (!ok || !readable)
            continue;
        add_totals(&doc, &before, ret);
        ok = add_not_recorded(&doc, &told, ret) || err_nomem(err);
    }
    json_release(&doc);
    intern_release(&told);
    return ok && (!ret->not_recorded.failed || err_nomem(err));
}

void call_totals_release(struct call_totals *totals)
{
    buf_release(&totals->not_recorded);
}
