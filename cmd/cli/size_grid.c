#include "cmd/cli/size_grid.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/text_file.h"
#include "trace/base/vec.h"

struct values {
    vec_of(int64_t)
    list;
};

/* ---- One item: a number or a range ---- */

static bool add_value(struct values *to, int64_t value, struct err *err)
{
    if (to->list.n >= GRID_POINTS)
        return err_set(err, ERR_USAGE,
                       "more than %d sizes; a step makes them fewer, as in "
                       "1..100000:64 or 1..100000:x2",
                       GRID_POINTS);
    return vec_push(&to->list, value) || err_nomem(err);
}

static bool unreadable(struct str item, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "\"%.*s\" is no size: a whole number, MIN..MAX, MIN..MAX:STEP or "
                   "MIN..MAX:xFACTOR",
                   STR_ARG(item));
}

bool size_item_read(struct str text, struct size_item *ret, struct err *err)
{
    size_t dots = str_find(text, STR(".."));
    struct str min_text = str_trim(str_first(text, dots)), rest = str_from(text, dots + 2);
    size_t colon = str_find_char(rest, ':');
    struct str max_text = str_trim(str_first(rest, colon));
    struct str step_text = str_trim(str_from(rest, colon + 1));
    bool range = dots < text.n;
    *ret = (struct size_item){ .step = 1, .factor = step_text.n && step_text.p[0] == 'x' };
    if (ret->factor)
        step_text = str_from(step_text, 1);
    if (!str_to_i64(min_text, &ret->min) || (range && !str_to_i64(max_text, &ret->max)) ||
        ret->min < 0 || (colon < rest.n && !str_to_i64(step_text, &ret->step)) || ret->step < 1 ||
        (ret->factor && ret->step < 2))
        return unreadable(text, err);
    if (!range)
        ret->max = ret->min;
    if (ret->max < ret->min)
        return err_set(err, ERR_USAGE, "%.*s is an empty range", STR_ARG(text));
    return true;
}

bool size_item_next(const struct size_item *item, int64_t x, int64_t *ret)
{
    bool over = item->factor ? __builtin_mul_overflow(x, item->step, ret)
                             : __builtin_add_overflow(x, item->step, ret);
    if (item->factor && x == 0) /* 0, 1, 2, 4 ... */
        *ret = 1;
    return !over && *ret <= item->max;
}

static bool add_item(struct values *to, struct str text, struct err *err)
{
    struct size_item item;
    if (!size_item_read(text, &item, err))
        return false;
    int64_t x = item.min;
    do {
        if (!add_value(to, x, err))
            return false;
    } while (size_item_next(&item, x, &x));
    return true;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_values(struct values *v)
{
    size_t n = 0;
    if (v->list.n)
        qsort(v->list.v, v->list.n, sizeof *v->list.v, by_value);
    for (size_t i = 0; i < v->list.n; i++)
        if (n == 0 || v->list.v[n - 1] != v->list.v[i])
            v->list.v[n++] = v->list.v[i];
    v->list.n = n;
}

/* ---- The whole ---- */

static bool symbol_number(struct size_grid *grid, struct str name, size_t *ret, struct err *err)
{
    for (*ret = 0; *ret < grid->n_symbols; ++*ret)
        if (str_eq(grid->symbols[*ret], name))
            return true;
    if (grid->n_symbols == GRID_SYMBOLS)
        return err_set(err, ERR_USAGE, "more than %d symbols", GRID_SYMBOLS);
    struct str kept = arena_copy(&grid->arena, name);
    grid->symbols[grid->n_symbols++] = kept;
    return kept.p || err_nomem(err);
}

struct grid_reader {
    struct size_grid *grid;
    struct values of_set[GRID_SYMBOLS];
    bool in_set[GRID_SYMBOLS];
    struct values rows; /* of the file: GRID_SYMBOLS values each */
    size_t n_rows;
};

static bool read_set(struct grid_reader *r, struct str set, struct err *err)
{
    size_t symbol = GRID_SYMBOLS;
    while (set.n) {
        size_t comma = str_find_char(set, ',');
        struct str item = str_trim(str_first(set, comma));
        size_t equals = str_find_char(item, '=');
        set = str_from(set, comma + 1);
        if (equals < item.n) {
            struct str name = str_trim(str_first(item, equals));
            item = str_trim(str_from(item, equals + 1));
            if (!name.n)
                return unreadable(item, err);
            if (!symbol_number(r->grid, name, &symbol, err))
                return false;
            if (r->in_set[symbol])
                return err_set(err, ERR_USAGE, "%.*s is given twice", STR_ARG(name));
            r->in_set[symbol] = true;
        } else if (symbol == GRID_SYMBOLS) {
            return err_set(err, ERR_USAGE, "%.*s: a size is SYMBOL=NUMBER", STR_ARG(item));
        }
        if (!add_item(&r->of_set[symbol], item, err))
            return false;
    }
    return true;
}

static bool line_error(size_t line, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, "line %zu: %s", line, why);
}

static bool read_line(struct grid_reader *r, struct str line, size_t number, struct err *err)
{
    int64_t row[GRID_SYMBOLS];
    bool any = false;
    for (size_t i = 0; i < GRID_SYMBOLS; i++)
        row[i] = GRID_ANY;
    line = str_trim(str_first(line, str_find_char(line, '#')));
    while (line.n) {
        size_t n = 0, symbol;
        while (n < line.n && !strchr(" \t,\r", line.p[n]))
            n++;
        struct str item = str_first(line, n);
        line = str_trim(str_from(line, n + 1));
        if (!item.n)
            continue;
        size_t equals = str_find_char(item, '=');
        int64_t value;
        if (equals == 0 || equals == item.n || !str_to_i64(str_from(item, equals + 1), &value) ||
            value < 0)
            return line_error(number, "a size is SYMBOL=NUMBER", err);
        if (!symbol_number(r->grid, str_first(item, equals), &symbol, err))
            return false;
        if (r->in_set[symbol] || row[symbol] != GRID_ANY)
            return line_error(number, "a symbol is given twice", err);
        row[symbol] = value;
        any = true;
    }
    for (size_t i = 0; any && i < GRID_SYMBOLS; i++)
        if (!vec_push(&r->rows.list, row[i]))
            return err_nomem(err);
    r->n_rows += any;
    return r->n_rows <= GRID_POINTS / 8 || line_error(number, "too many sizes", err);
}

static bool read_file(struct grid_reader *r, struct str text, struct err *err)
{
    for (size_t number = 1; text.n; number++) {
        size_t end = str_find_char(text, '\n');
        if (!read_line(r, str_first(text, end), number, err))
            return false;
        text = str_from(text, end + 1);
    }
    return r->n_rows || err_set(err, ERR_INPUT, "no sizes in it");
}

static bool make_product(struct grid_reader *r, struct err *err)
{
    struct size_grid *g = r->grid;
    size_t rows = r->n_rows ? r->n_rows : 1, of_set = 1;
    for (size_t i = 0; i < g->n_symbols; i++) {
        sort_values(&r->of_set[i]);
        size_t n = r->in_set[i] ? r->of_set[i].list.n : 1;
        if (of_set * n * rows > GRID_POINTS)
            return err_set(err, ERR_USAGE, "more than %d sizes in all", GRID_POINTS);
        of_set *= n;
    }
    g->n = rows * of_set;
    g->values = arena_array(&g->arena, int64_t, g->n * g->n_symbols + 1);
    if (!g->values)
        return err_nomem(err);
    for (size_t p = 0; p < g->n; p++) {
        size_t at = p % of_set, row = p / of_set;
        for (size_t i = g->n_symbols; i-- > 0;) {
            int64_t *to = &g->values[p * g->n_symbols + i];
            if (!r->in_set[i]) {
                *to = r->rows.list.v[row * GRID_SYMBOLS + i];
                continue;
            }
            *to = r->of_set[i].list.v[at % r->of_set[i].list.n];
            at /= r->of_set[i].list.n;
        }
    }
    return true;
}

bool size_grid_read(struct size_grid *grid, struct str set, struct str file, struct err *err)
{
    struct grid_reader r = { .grid = grid };
    *grid = (struct size_grid){ 0 };
    bool ok =
        read_set(&r, set, err) && (!file.n || read_file(&r, file, err)) && make_product(&r, err);
    for (size_t i = 0; i < GRID_SYMBOLS; i++)
        vec_release(&r.of_set[i].list);
    vec_release(&r.rows.list);
    return ok;
}

bool size_grid_read_option(struct size_grid *grid, const char *option,
                           const struct opt_sizes *sizes, struct source_meter *meter,
                           struct err *err)
{
    if (sizes->file && strcmp(sizes->file, "-") != 0 && access(sizes->file, F_OK) != 0)
        return err_set(err, ERR_USAGE,
                       "%s: \"%s\" is neither SYMBOL=NUMBER, as in s77=31, nor a file", option,
                       sizes->file);
    struct buf text = BUF_INIT;
    if (sizes->file && !text_file_read(sizes->file, meter, &text, err)) {
        buf_release(&text);
        return false;
    }
    bool ok = !sizes->file || text.n || err_set(err, ERR_INPUT, "no sizes in it");
    ok = ok && size_grid_read(grid, str_of(sizes->text ? sizes->text : ""), buf_str(&text), err);
    if (!ok && err->kind == ERR_USAGE)
        err_at(err, "%s", option);
    else if (!ok && err->kind == ERR_INPUT && sizes->file)
        err_at(err, "%s", sizes->file);
    buf_release(&text);
    return ok;
}

void size_grid_release(struct size_grid *grid)
{
    arena_release(&grid->arena);
}
