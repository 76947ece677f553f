/* Writes dispatches, costs, uses and phases of a side file as rows: equal events are merged, and
 * there is one record for each context. */
#include <stdlib.h>

#include "trace/log/deep/deep_packing.h"

struct deep_row {
    uint32_t context;
    uint64_t order; /* of the first event in this row */
    uint64_t count, ns, own_ns;
    struct deep_event event;
};

struct deep_row_table {
    struct intern keys; /* the context and the fields in which a row's events are equal */
    vec_of(struct deep_row)
    rows;
};

static int by_context_and_order(const void *a, const void *b)
{
    const struct deep_row *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds an event to the row of its key, which is numbers[first .. first + n). */
static struct deep_row *add_to_row(struct deep_packer *pack, struct deep_row_table *rows,
                                   const struct deep_event *event, const uint64_t *key, size_t n,
                                   uint64_t order)
{
    uint32_t id = intern(&rows->keys, (struct str){ (const char *)key, n * sizeof *key });
    struct deep_row row = { .context = (uint32_t)key[0], .order = order, .event = *event };
    if (id == INTERN_NONE || (id == rows->rows.n && !vec_push(&rows->rows, row))) {
        pack->failed = true;
        return NULL;
    }
    struct deep_row *ret = &rows->rows.v[id];
    if (order < ret->order)
        ret->order = order;
    return ret;
}

static void release_rows(struct deep_row_table *rows)
{
    intern_release(&rows->keys);
    vec_release(&rows->rows);
}

/* Writes a record for each context. */
static void write_records(struct deep_packer *pack, struct deep_row_table *rows, const char *name,
                          void (*write)(struct deep_packer *, const struct deep_row *),
                          void (*sum_up)(struct deep_packer *, const struct deep_row *, size_t))
{
    struct deep_row *v = rows->rows.v;
    size_t n = rows->rows.n;
    if (n)
        qsort(v, n, sizeof *v, by_context_and_order);
    for (size_t i = 0, end; i < n && !pack->failed; i = end) {
        packing_begin(pack);
        for (end = i; end < n && v[end].context == v[i].context; end++)
            write(pack, &v[end]);
        sum_up(pack, &v[i], end - i);
        packing_end(pack, name, v[i].context, deep_context(pack->file, v[i].context)->ns);
    }
}

static void write_counted_rows(struct deep_packer *pack, const struct deep_row *rows, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += rows[i].count;
    struct json_writer w = json_writer_of(&pack->meta);
    json_open_object(&w, NULL);
    json_put_u64(&w, "count", count);
    json_put_u64(&w, "rows", n);
    json_close(&w);
}

/* ------------------------------------------------------------------------------------------------
 * Dispatches. Fields: order, context, stack, operator, mode, depth, fast, slow, cache, bypass,
 * raised, then times. */

static void write_dispatch_row(struct deep_packer *pack, const struct deep_row *r)
{
    static const char *const modes[] = { "FakeTensorMode", "FakeTensor", "ProxyTorchDispatchMode" };
    static const char *const caches[] = { "", "hit", "miss", "bypass" };
    const struct deep_file *file = pack->file;
    const uint64_t *f = r->event.numbers;
    int64_t stack = packing_stack(pack, f[2]);
    struct json_writer row = packing_row(pack);
    json_put_cstr(&row, "mode", modes[f[4] < 3 ? f[4] : 0]);
    json_put_str(&row, "op", deep_string(file, f[3]));
    json_put_u64(&row, "depth", f[5]);
    json_put_i64(&row, "stack", stack);
    packing_text(&row, "fast", deep_string(file, f[6]));
    packing_text(&row, "slow", deep_string(file, f[7]));
    packing_text(&row, "cache", str_of(caches[f[8] < 4 ? f[8] : 0]));
    packing_text(&row, "bypass", deep_string(file, f[9]));
    packing_text(&row, "raised", deep_string(file, f[10]));
    json_put_u64(&row, "count", r->count);
    json_put_u64(&row, "ns", r->ns);
    json_put_u64(&row, "self_ns", r->own_ns);
    packing_row_end(pack, &row);
}

static void sum_dispatches(struct deep_packer *pack, const struct deep_row *rows, size_t n)
{
    uint64_t dispatches = 0, ns = 0;
    for (size_t i = 0; i < n; i++) {
        dispatches += rows[i].count;
        ns += rows[i].own_ns;
    }
    struct json_writer w = json_writer_of(&pack->meta);
    json_open_object(&w, NULL);
    json_put_u64(&w, "dispatches", dispatches);
    json_put_u64(&w, "rows", n);
    json_put_u64(&w, "stacks", pack->shown.n);
    json_put_u64(&w, "ns", ns);
    json_close(&w);
}

void pack_dispatches(struct deep_packer *pack)
{
    struct deep_row_table rows = { 0 };
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        if (e.type != DEEP_DISPATCH)
            continue;
        const uint64_t *f = e.numbers;
        const uint64_t key[] = {
            f[1], deep_stack_number(pack->file, f[2]), f[3], f[4], f[5], f[6], f[7], f[8], f[9],
            f[10]
        };
        struct deep_row *row = add_to_row(pack, &rows, &e, key, sizeof key / sizeof *key, f[0]);
        if (row) {
            row->count++;
            row->ns += f[11];
            row->own_ns += f[12];
        }
    }
    write_records(pack, &rows, "symtape_dispatches", write_dispatch_row, sum_dispatches);
    release_rows(&rows);
}

/* ------------------------------------------------------------------------------------------------
 * Costs. Fields: context, cost, caller, operator, count, ns, own ns. */

static void write_cost(struct deep_packer *pack, const struct deep_row *r)
{
    const uint64_t *f = r->event.numbers;
    struct json_writer row = packing_row(pack);
    json_put_str(&row, "cost", deep_string(pack->file, f[1]));
    json_put_str(&row, "caller", deep_string(pack->file, f[2]));
    packing_text(&row, "op", deep_string(pack->file, f[3]));
    json_put_u64(&row, "count", r->count);
    json_put_u64(&row, "ns", r->ns);
    json_put_u64(&row, "self_ns", r->own_ns);
    packing_row_end(pack, &row);
}

void pack_costs(struct deep_packer *pack)
{
    struct deep_row_table rows = { 0 };
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        if (e.type != DEEP_COST)
            continue;
        const uint64_t *f = e.numbers;
        struct deep_row *row = add_to_row(pack, &rows, &e, f, 4, e.at);
        if (row) {
            row->count += f[4];
            row->ns += f[5];
            row->own_ns += f[6];
        }
    }
    write_records(pack, &rows, "symtape_costs", write_cost, write_counted_rows);
    release_rows(&rows);
}

/* ------------------------------------------------------------------------------------------------
 * Uses of sizes. Fields: context, method, expression, source, asker, stack. */

static void write_use_row(struct deep_packer *pack, const struct deep_row *r)
{
    const uint64_t *f = r->event.numbers;
    const struct deep_value *expr = deep_value(pack->file, f[2]);
    int64_t stack = packing_stack(pack, f[5]);
    struct json_writer row = packing_row(pack);
    json_put_str(&row, "use", deep_string(pack->file, f[1]));
    if (expr->json.n && expr->json.p[0] == '"')
        json_put_raw(&row, "expr", expr->json);
    else
        json_put_str(&row, "expr", expr->json); /* a number or true becomes a text */
    packing_text(&row, "source", deep_string(pack->file, f[3]));
    packing_frame(&row, "asker", deep_frame(pack->file, f[4]));
    json_put_i64(&row, "stack", stack);
    json_put_u64(&row, "count", r->count);
    packing_row_end(pack, &row);
}

void pack_uses(struct deep_packer *pack)
{
    struct deep_row_table rows = { 0 };
    struct intern texts = {
        0
    }; /* each object is a new expression: equal ones have the same text */
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        if (e.type != DEEP_USE)
            continue;
        const uint64_t *f = e.numbers;
        const uint64_t key[] = { f[0], f[1], intern(&texts, deep_value(pack->file, f[2])->json),
                                 f[3], f[4], deep_stack_number(pack->file, f[5]) };
        struct deep_row *row = add_to_row(pack, &rows, &e, key, sizeof key / sizeof *key, e.at);
        if (row)
            row->count++;
    }
    write_records(pack, &rows, "symtape_size_uses", write_use_row, write_counted_rows);
    intern_release(&texts);
    release_rows(&rows);
}

/* ------------------------------------------------------------------------------------------------
 * Phases. Fields: context, begins, name, 0, ns, host, host peak, device, device peak. A phase ends
 * with the last one of its name that began in its thread's context. */

static void put_byte_count(struct json_writer *row, const char *key, uint64_t bytes)
{
    if (bytes == UINT64_MAX)
        json_put_null(row, key);
    else
        json_put_u64(row, key, bytes);
}

/* The beginning is stored in the row's unused fields: ns, host, device. */
enum { BEGAN_NS = 9, BEGAN_HOST, BEGAN_DEVICE };

static void write_phase(struct deep_packer *pack, const struct deep_row *r)
{
    const uint64_t *f = r->event.numbers;
    struct json_writer row = packing_row(pack);
    json_put_str(&row, "phase", deep_string(pack->file, f[2]));
    json_put_u64(&row, "start_ns", f[BEGAN_NS]);
    json_put_u64(&row, "end_ns", f[4]);
    json_put_u64(&row, "host_start", f[BEGAN_HOST]);
    json_put_u64(&row, "host_end", f[5]);
    json_put_u64(&row, "host_peak", f[6]);
    put_byte_count(&row, "device_start", f[BEGAN_DEVICE]);
    put_byte_count(&row, "device_end", f[7]);
    put_byte_count(&row, "device_peak", f[8]);
    packing_row_end(pack, &row);
}

typedef vec_of(struct deep_event)
open_phases;

/* Returns the index of the innermost open phase of this name, or open->n. */
static size_t find_open(const open_phases *open, uint64_t name)
{
    for (size_t i = open->n; i-- > 0;)
        if (open->v[i].numbers[2] == name)
            return i;
    return open->n;
}

void pack_memory(struct deep_packer *pack)
{
    struct deep_row_table rows = { 0 };
    open_phases open = { 0 };
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        if (e.type != DEEP_PHASE)
            continue;
        size_t i = e.numbers[1] ? open.n : find_open(&open, e.numbers[2]);
        if (e.numbers[1]) {
            pack->failed |= !vec_push(&open, e);
        } else if (i < open.n) {
            e.numbers[BEGAN_NS] = open.v[i].numbers[4];
            e.numbers[BEGAN_HOST] = open.v[i].numbers[5];
            e.numbers[BEGAN_DEVICE] = open.v[i].numbers[7];
            struct deep_row row = {
                .context = (uint32_t)open.v[i].numbers[0], .order = e.at, .count = 1, .event = e
            };
            pack->failed |= !vec_push(&rows.rows, row);
            open.n = i; /* phases inside it that have no end of their own */
        }
    }
    write_records(pack, &rows, "symtape_memory", write_phase, write_counted_rows);
    vec_release(&open);
    release_rows(&rows);
}
