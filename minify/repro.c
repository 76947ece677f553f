#include "minify/repro_inside.h"

#include <stdio.h>

#include "minify/sizes.h"

void repro_cannot(struct repro *r, const char *fmt, ...)
{
    va_list args;
    if (r->notes->cannot[0])
        return;
    va_start(args, fmt);
    vsnprintf(r->notes->cannot, sizeof r->notes->cannot, fmt, args);
    va_end(args);
}

bool repro_bare_symbol(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                       uint32_t *symbol)
{
    const struct expr *e = expr_at(pool, expr);
    const struct cand_symbol *found =
        e->kind == EXPR_SYMBOL ? cand_symbol_named(r->candidate, e->text) : NULL;
    if (found)
        *symbol = (uint32_t)(found - r->candidate->symbols);
    return found != NULL;
}

void repro_put_line(struct repro *r, struct str line, unsigned indent)
{
    size_t column = 0, more = 0;
    while (line.n) {
        size_t comma = str_find(line, STR(", "));
        size_t n = comma < line.n ? comma + 2 : line.n;
        if (column == 0) {
            for (size_t i = 0; i < indent + more; i++)
                buf_putc(r->out, ' ');
            column = indent + more;
        }
        buf_put(r->out, str_first(line, n));
        column += n;
        line = str_from(line, n);
        comma = str_find(line, STR(", "));
        if (line.n && column + (comma < line.n ? comma + 1 : line.n) > REPRO_COLUMNS) {
            r->out->n -= r->out->n > 0; /* the blank behind the comma */
            buf_putc(r->out, '\n');
            more = 4;
            column = 0;
        }
    }
    buf_putc(r->out, '\n');
}

static bool make_tables(struct repro *r)
{
    size_t n = (size_t)r->candidate->n_symbols + 1;
    r->needed = arena_array(&r->arena, bool, n);
    r->spelled = arena_array(&r->arena, struct str, n);
    return r->needed && r->spelled && repro_choose_values(r);
}

static void put_head(struct repro *r, struct str body)
{
    const struct repro_what *what = r->what;
    struct str title = what->title.n ? what->title : what->message.n ? what->message : what->expr;
    title = str_first(title, str_find_char(title, '\n'));
    if (title.n) {
        buf_puts(r->out, "# ");
        buf_put(r->out, title);
        buf_putc(r->out, '\n');
    }
    repro_put_imports(r, body);
}

static void put_body(struct repro *r)
{
    repro_put_inputs(r);
    for (size_t i = 0; i < r->graphs.n; i++) {
        buf_puts(r->out, "\n\n");
        repro_put_function(r, &r->graphs.v[i], i + 1 == r->graphs.n);
    }
    buf_puts(r->out, r->what->check == REPRO_NOTHING ? "" : "\n\n");
    repro_put_check(r);
}

/* The body first: it tells what is to be imported. */
static void put_program(struct repro *r)
{
    struct buf body = BUF_INIT, *out = r->out;
    repro_check_targets(r);
    r->out = &body;
    put_body(r);
    r->out = out;
    put_head(r, buf_str(&body));
    buf_put(out, buf_str(&body));
    r->failed |= body.failed;
    buf_release(&body);
}

static uint32_t count_lines(struct str text)
{
    uint32_t ret = 0;
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_trim(str_first(text, end));
        ret += line.n && line.p[0] != '#';
        text = str_from(text, end + 1);
    }
    return ret;
}

bool repro_print(const struct candidate *candidate, const struct repro_what *what,
                 struct repro_notes *notes, struct buf *out)
{
    struct repro r = { .candidate = candidate, .what = what, .notes = notes, .out = out };
    size_t start = out->n;
    *notes = (struct repro_notes){ 0 };
    bool ok = make_tables(&r) && repro_prepare(&r) && repro_collect_inputs(&r);
    if (ok)
        put_program(&r);
    ok = ok && !r.failed && !out->failed;
    if (ok)
        notes->lines = count_lines(str_from(buf_str(out), start));
    vec_release(&r.graphs);
    vec_release(&r.inputs);
    intern_release(&r.taken);
    intern_release(&r.local);
    arena_release(&r.arena);
    return ok;
}
