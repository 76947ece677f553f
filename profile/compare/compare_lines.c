/* Counts the differences of each user line. */
#include <stdlib.h>

#include "profile/compare/compare_build.h"

bool compare_files(struct compare_build *b)
{
    uint32_t *line_of = calloc((size_t)b->align->n_lines + 1,
                               sizeof *line_of); /* by line of the first side: row + 1 */
    bool ok = line_of;
    for (uint32_t i = 0; ok && i < b->a->lines.n; i++)
        line_of[b->align->line_a[i]] = i + 1;
    for (uint32_t i = 0; ok && i < b->b->lines.n; i++) {
        uint32_t line = line_of[b->align->line_b[i]];
        if (line == 0)
            continue;
        struct str was = outline_text(b->a, b->a->lines.v[line - 1].file);
        struct str now = outline_text(b->b, b->b->lines.v[i].file);
        was = str_basename(was);
        now = str_basename(now);
        if (str_eq(was, now))
            continue;
        uint32_t id = intern(&b->renamed, now);
        ok = id != INTERN_NONE && (id < b->renamed_before.n || vec_push(&b->renamed_before, was));
    }
    free(line_of);
    return ok;
}

struct str compare_file(const struct compare_build *b, struct str file)
{
    struct str name = str_basename(file);
    uint32_t id = intern_find(&b->renamed, name);
    return id == INTERN_NONE ? name : b->renamed_before.v[id];
}

static struct compare_line_count *line_count_of(struct compare_line *line, enum change_kind kind)
{
    switch (kind) {
    case CHANGE_GUARDS:
    case CHANGE_ASSERTS: return &line->guards;
    case CHANGE_NODES: return &line->nodes;
    case CHANGE_RESTARTS:
    case CHANGE_RECOMPILES:
    case CHANGE_BREAKS:
    case CHANGE_FAILURES: return &line->incidents;
    case CHANGE_SPECIALIZATIONS:
    case CHANGE_SYMBOLS: return &line->symbols;
    default: return NULL;
    }
}

/* Finds the row of a line by its file and code if the code is known, since line numbers move. */
static uint32_t find_compare_line(struct compare_build *b, struct intern *keys,
                                  const struct change_place *place)
{
    buf_clear(&b->key);
    buf_put(&b->key, compare_file(b, place->file));
    buf_putc(&b->key, '\0');
    buf_put(&b->key, place->code);
    if (place->code.n == 0)
        buf_le32(&b->key, place->line);
    return b->key.failed ? INTERN_NONE : intern(keys, buf_str(&b->key));
}

static bool add_line_change(struct compare_build *b, struct intern *keys,
                            const struct change_row *row)
{
    struct compare_line probe = { .place = row->place };
    if (!line_count_of(&probe, row->kind) || (row->place.file.n == 0 && row->place.code.n == 0))
        return true;
    uint32_t id = find_compare_line(b, keys, &row->place);
    if (id == INTERN_NONE || (id == b->user_lines.n && !vec_push(&b->user_lines, probe)))
        return false;
    struct compare_line *line = &b->user_lines.v[id];
    struct compare_line_count *count = line_count_of(line, row->kind);
    if (row->change != CHANGE_GONE)
        line->place = row->place;
    if (row->change == CHANGE_NEW)
        count->fresh += row->after;
    else if (row->change == CHANGE_GONE)
        count->gone += row->before;
    else
        count->changed += row->after;
    return true;
}

static uint64_t total_of(const struct compare_line_count *c)
{
    return c->fresh + c->gone + c->changed;
}

static int most_first(const void *a, const void *b)
{
    const struct compare_line *x = a, *y = b;
    uint64_t p = total_of(&x->incidents), q = total_of(&y->incidents);
    if (p == q) {
        p = total_of(&x->guards) + total_of(&x->nodes) + total_of(&x->symbols);
        q = total_of(&y->guards) + total_of(&y->nodes) + total_of(&y->symbols);
    }
    if (p != q)
        return p > q ? -1 : 1;
    int order = str_cmp(x->place.file, y->place.file);
    return order ? order : (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

bool compare_user_lines(struct compare_build *b)
{
    struct intern keys = INTERN_INIT;
    bool ok = true;
    for (size_t i = 0; i < b->rows.n && ok; i++)
        ok = add_line_change(b, &keys, &b->rows.v[i]);
    if (ok && b->user_lines.n > 0)
        qsort(b->user_lines.v, b->user_lines.n, sizeof *b->user_lines.v, most_first);
    intern_release(&keys);
    return ok;
}
