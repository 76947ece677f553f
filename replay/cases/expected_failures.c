#include "replay/cases/expected_failures.h"

#include <stdlib.h>

#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

static int compare_keys(struct str op, struct str check, const struct expected_failure *row)
{
    int order = str_cmp(op, row->op);
    return order ? order : str_cmp(check, row->check);
}

/* The place of a row, or where it belongs. */
static size_t place_of(const struct expected_failures *list, struct str op, struct str check)
{
    size_t low = 0, high = list->list.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(op, check, &list->list.v[middle]) <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_at(const struct expected_failures *list, size_t i, struct str op, struct str check)
{
    return i < list->list.n && compare_keys(op, check, &list->list.v[i]) == 0;
}

const struct expected_failure *expected_failures_find(const struct expected_failures *list,
                                                      struct str op, struct str check)
{
    size_t i = place_of(list, op, check);
    return is_at(list, i, op, check) ? &list->list.v[i] : NULL;
}

bool expected_failures_add(struct expected_failures *list, struct str op, struct str check)
{
    size_t i = place_of(list, op, check);
    struct expected_failure row = { arena_copy(&list->arena, op), arena_copy(&list->arena, check),
                                    STR("") };
    if (is_at(list, i, op, check))
        return true;
    if (!row.op.p || !row.check.p || !vec_push(&list->list, row))
        return false;
    memmove(&list->list.v[i + 1], &list->list.v[i], (list->list.n - 1 - i) * sizeof row);
    list->list.v[i] = row;
    return true;
}

void expected_failures_remove(struct expected_failures *list, struct str op, struct str check)
{
    size_t i = place_of(list, op, check);
    if (!is_at(list, i, op, check))
        return;
    list->list.n--;
    memmove(&list->list.v[i], &list->list.v[i + 1], (list->list.n - i) * sizeof *list->list.v);
}

void expected_failures_release(struct expected_failures *list)
{
    vec_release(&list->list);
    arena_release(&list->arena);
}

/* ---- The file ---- */

static bool read_member(const struct json *doc, json_id row, const char *name, struct arena *arena,
                        struct str *ret)
{
    json_id at = json_get(doc, row, str_of(name));
    if (at == JSON_NONE || json_kind_of(doc, at) != JSON_STRING)
        return false;
    struct str text = json_decoded(doc, at, arena);
    *ret = text.p ? arena_copy(arena, text) : text;
    return ret->p != NULL;
}

static bool read_row(struct expected_failures *list, const struct json *doc, json_id at, size_t n,
                     struct err *err)
{
    struct expected_failure row = { .reason = STR("") };
    if (!read_member(doc, at, "op", &list->arena, &row.op) ||
        !read_member(doc, at, "check", &list->arena, &row.check) || !row.op.n || !row.check.n)
        return err_set(err, ERR_INPUT, "item %zu of \"expected\" names no \"op\" or \"check\"", n);
    read_member(doc, at, "reason", &list->arena, &row.reason);
    return vec_push(&list->list, row) || err_nomem(err);
}

static int compare_rows(const void *a, const void *b)
{
    const struct expected_failure *x = a;
    return compare_keys(x->op, x->check, b);
}

/* Sorts and removes what is there twice. */
static void order_rows(struct expected_failures *list)
{
    size_t n = 0;
    if (list->list.n)
        qsort(list->list.v, list->list.n, sizeof *list->list.v, compare_rows);
    for (size_t i = 0; i < list->list.n; i++)
        if (n == 0 || compare_rows(&list->list.v[n - 1], &list->list.v[i]) != 0)
            list->list.v[n++] = list->list.v[i];
    list->list.n = n;
}

bool expected_failures_read(struct expected_failures *list, struct str text, struct err *err)
{
    struct json doc = { 0 };
    bool ok = json_parse(&doc, text, err);
    json_id rows = JSON_NONE;
    size_t n = 0;
    if (ok && !json_is(&doc, json_get(&doc, JSON_ROOT, STR("schema")), EXPECTED_FAILURES_SCHEMA))
        ok = err_set(err, ERR_INPUT, "no \"schema\": \"" EXPECTED_FAILURES_SCHEMA "\"");
    if (ok)
        rows = json_get(&doc, JSON_ROOT, STR("expected"));
    if (ok && (rows == JSON_NONE || json_kind_of(&doc, rows) != JSON_ARRAY))
        ok = err_set(err, ERR_INPUT, "no list \"expected\"");
    for (json_id at = json_first(&doc, rows); ok && at != JSON_NONE; at = json_next(&doc, at))
        ok = read_row(list, &doc, at, ++n, err);
    json_release(&doc);
    if (ok)
        order_rows(list);
    return ok;
}

static void write_row(const struct expected_failure *row, struct buf *out)
{
    buf_puts(out, "  {\"op\": ");
    json_quote(out, row->op);
    buf_puts(out, ", \"check\": ");
    json_quote(out, row->check);
    buf_puts(out, ", \"reason\": ");
    json_quote(out, row->reason);
    buf_putc(out, '}');
}

void expected_failures_write(const struct expected_failures *list, struct buf *out)
{
    buf_puts(out, "{\n \"schema\": \"" EXPECTED_FAILURES_SCHEMA "\",\n \"expected\": [");
    for (size_t i = 0; i < list->list.n; i++) {
        buf_puts(out, i ? ",\n" : "\n");
        write_row(&list->list.v[i], out);
    }
    buf_puts(out, list->list.n ? "\n ]\n}\n" : "]\n}\n");
}
