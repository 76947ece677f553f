#include "minify/repro/repro_inside.h"

#include <stdio.h>

#include "minify/candidate/sizes.h"

void repro_cannot(struct repro *r, const char *fmt, ...)
{
    va_list args;
    if (r->notes->cannot[0])
        return;
    va_start(args, fmt);
    vsnprintf(r->notes->cannot, sizeof r->notes->cannot, fmt, args);
    va_end(args);
}

void repro_refuse(struct repro *r, const char *fmt, ...)
{
    va_list args;
    if (r->notes->refused)
        return;
    r->notes->refused = true;
    va_start(args, fmt);
    vsnprintf(r->notes->cannot, sizeof r->notes->cannot, fmt, args);
    va_end(args);
}

void repro_put_name(struct repro *r, struct buf *out, struct str name)
{
    if (!python_put_name(out, name))
        repro_refuse(r, "has no name for a value: %.*s", STR_ARG(str_first(name, 60)));
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

/* Returns the length of the line before the next place where it may be broken: after ", " in
 * brackets and outside of strings. *depth is the number of open brackets. */
static size_t unbroken(struct str line, int *depth)
{
    bool string = false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (string) {
            i += c == '\\';
            string = c != '"';
            continue;
        }
        switch (c) {
        case '"': string = true; break;
        case '(':
        case '[':
        case '{': (*depth)++; break;
        case ')':
        case ']':
        case '}': (*depth)--; break;
        case ',':
            if (*depth > 0 && i + 1 < line.n && line.p[i + 1] == ' ')
                return i + 2;
            break;
        default: break;
        }
    }
    return line.n;
}

void repro_put_line(struct repro *r, struct str line, unsigned indent)
{
    size_t column = 0, more = 0;
    int depth = 0;
    while (line.n) {
        size_t n = unbroken(line, &depth);
        if (column == 0) {
            for (size_t i = 0; i < indent + more; i++)
                buf_putc(r->out, ' ');
            column = indent + more;
        }
        buf_put(r->out, str_first(line, n));
        column += n;
        line = str_from(line, n);
        int ahead = depth;
        n = unbroken(line, &ahead);
        if (line.n && column + (n < line.n ? n - 1 : n) > REPRO_COLUMNS) {
            r->out->n -= r->out->n > 0; /* the blank after the comma */
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
    r->symbol_names = arena_array(&r->arena, struct str, n);
    return r->needed && r->spelled && r->symbol_names && repro_choose_values(r);
}

static void put_head(struct repro *r, struct str body)
{
    const struct repro_what *what = r->what;
    struct str title = what->title.n ? what->title : what->message.n ? what->message : what->expr;
    title = str_first(title, str_find_char(title, '\n'));
    if (title.n)
        python_put_comment(r->out, title);
    repro_put_imports(r, body);
}

static void put_program_body(struct repro *r)
{
    repro_put_inputs(r);
    for (size_t i = 0; i < r->graphs.n; i++) {
        buf_puts(r->out, "\n\n");
        repro_put_function(r, &r->graphs.v[i], i + 1 == r->graphs.n);
    }
    buf_puts(r->out, r->what->check == REPRO_NOTHING ? "" : "\n\n");
    repro_put_check(r);
}

/* Writes the program for a candidate that was refused. */
static void put_refusal(struct repro *r)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "cannot run: %s", r->notes->cannot);
    python_put_comment(r->out, buf_str(&text));
    buf_puts(r->out, "import sys\n\nsys.exit(125)\n");
    r->failed |= text.failed;
    buf_release(&text);
}

/* Writes the program. The body is printed first, since it determines the imports. */
static void put_program(struct repro *r)
{
    struct buf body = BUF_INIT, *out = r->out;
    repro_check_targets(r);
    r->out = &body;
    put_program_body(r);
    r->out = out;
    if (r->notes->refused) {
        put_refusal(r);
    } else {
        put_head(r, buf_str(&body));
        buf_put(out, buf_str(&body));
    }
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
