/* What a program states to have the marks that symtape proposes. Sources are text of a file: they
 * become Python through put_variable(), argument_name() and json_quote() only, as
 * tests/program_text.sh checks. */
#include "profile/calls/dynamic/dynamic_report.h"
#include "trace/base/text/json_write.h"
#include "trace/graph/python_name.h"

struct paster {
    const struct dynamic_run *run;
    struct arena *arena;
    paste_lines *lines;
    struct buf text;
};

static struct str source_of(const struct paster *p, const struct input_row *row)
{
    const struct code_calls *code = &p->run->table.codes.v[row->code];
    return intern_text(&p->run->table.log->sources, code->inputs.v[row->input].source);
}

static uint32_t slot_of(const struct paster *p, const struct input_row *row)
{
    return p->run->table.codes.v[row->code].inputs.v[row->input].first_slot + row->dim;
}

static bool end_line(struct paster *p, enum paste_kind kind, uint32_t code)
{
    struct str copy = arena_copy(p->arena, buf_str(&p->text));
    bool ok =
        !p->text.failed && copy.p && vec_push(p->lines, (struct paste_line){ kind, code, copy });
    buf_clear(&p->text);
    return ok;
}

/* Returns the length of the first part of ".scale[0]['k']": an attribute, an index or a key in
 * plain ASCII; 0 if it is none of them. */
static size_t path_part(struct str path)
{
    size_t n = 1;
    if (str_starts(path, STR("."))) {
        while (n < path.n && is_word_char(path.p[n]))
            n++;
        struct str name = str_from(str_first(path, n), 1);
        return python_is_word(name) && !python_is_keyword(name) ? n : 0;
    }
    if (str_starts(path, STR("['"))) {
        for (n = 2; n < path.n && path.p[n] != '\''; n++)
            if (path.p[n] < ' ' || path.p[n] > '~' || path.p[n] == '\\')
                return 0;
        return str_starts(str_from(path, n), STR("']")) ? n + 2 : 0;
    }
    if (!str_starts(path, STR("[")))
        return 0;
    size_t digits = str_digits(str_from(path, 1));
    bool number = digits == 1 || (digits > 1 && path.p[1] != '0');
    return number && str_starts(str_from(path, 1 + digits), STR("]")) ? digits + 2 : 0;
}

/* "L['m'].scale[0]['k']": m.scale[0]['k']. Returns false and appends nothing for a source that is
 * no such part of an argument: a program may not be able to name it. */
static bool put_variable(struct str source, struct buf *out)
{
    static const struct str LOCAL = { "L['", 3 };
    struct str rest = str_from(source, LOCAL.n);
    struct str name = str_first(rest, str_find_char(rest, '\''));
    struct str path = str_from(rest, name.n + 2), left = path;
    if (!str_starts(source, LOCAL) || !python_is_name(name) ||
        !str_starts(str_from(rest, name.n), STR("']")))
        return false;
    while (left.n) {
        size_t n = path_part(left);
        if (!n)
            return false;
        left = str_from(left, n);
    }
    buf_put(out, name);
    buf_put(out, path);
    return true;
}

/* "L['x']": x, "" if the source is no argument itself. */
static struct str argument_name(struct str source)
{
    if (!str_starts(source, STR("L['")) || !str_ends(source, STR("']")) || source.n < 5)
        return STR("");
    struct str name = str_from(str_first(source, source.n - 2), 3);
    return python_is_name(name) ? name : STR("");
}

/* Returns whether a program can reach the inputs of a code object: it is no frame inside a call. */
static bool is_called(const struct dynamic_run *run, uint32_t code)
{
    const struct code_calls *calls = &run->table.codes.v[code];
    for (size_t i = 0; i < calls->calls.n && i < 1; i++)
        return !run->table.log->calls.v[run->cache.lookups.v[calls->calls.v[i].lookup].call].inside;
    return false;
}

/* torch._dynamo.mark_dynamic(x, 0); maybe_mark_dynamic() does not raise where the code compares the
 * size with a constant. */
static bool put_marks(struct paster *p)
{
    for (size_t i = 0; i < p->run->rows.n; i++) {
        const struct input_row *row = &p->run->rows.v[i];
        if (!row->proposed || row->number || !is_called(p->run, row->code))
            continue;
        bool pinned = p->run->table.codes.v[row->code].pinned[slot_of(p, row)];
        buf_printf(&p->text, "torch._dynamo.%s(", pinned ? "maybe_mark_dynamic" : "mark_dynamic");
        if (!put_variable(source_of(p, row), &p->text)) {
            buf_clear(&p->text);
            continue;
        }
        buf_printf(&p->text, ", %u)", row->dim);
        if (!end_line(p, PASTE_MARK, row->code))
            return false;
    }
    return true;
}

/* Appends an item of dynamic_sources to `list` unless it is there; another function may have it,
 * too. get_dynamic_sources() in torch/_dynamo/variables/builder.py takes blanks away and ends an
 * item at a comma, so a source with one cannot be stated. */
static bool add_source(struct intern *listed, struct str item, struct buf *list)
{
    size_t n = listed->texts.n;
    if (str_find_char(item, ' ') < item.n || str_find_char(item, ',') < item.n)
        return true;
    if (intern(listed, item) == INTERN_NONE)
        return false;
    if (listed->texts.n > n) {
        buf_puts(list, n ? "," : "");
        buf_put(list, item);
    }
    return true;
}

/* torch.compiler.config.dynamic_sources; from 2.13 on ":N" names a dimension
 * (_parse_source_entry() in torch/_dynamo/variables/builder.py). */
static bool put_sources(struct paster *p)
{
    bool dims = release_is(p->run->release, 2, 13), ok = true;
    struct intern listed = INTERN_INIT;
    struct buf item = BUF_INIT, list = BUF_INIT;
    if (!release_is(p->run->release, 2, 8))
        return true;
    for (size_t i = 0; ok && i < p->run->rows.n; i++) {
        const struct input_row *row = &p->run->rows.v[i];
        if (!row->proposed)
            continue;
        buf_clear(&item);
        buf_put(&item, source_of(p, row));
        if (dims && !row->number)
            buf_printf(&item, ":%u", row->dim);
        ok = !item.failed && add_source(&listed, buf_str(&item), &list);
    }
    ok = ok && !list.failed;
    if (ok && listed.texts.n) {
        buf_puts(&p->text, "torch.compiler.config.dynamic_sources = ");
        json_quote(&p->text, buf_str(&list));
        ok = end_line(p, PASTE_SOURCES, NO_ENTRY);
    }
    buf_release(&item);
    buf_release(&list);
    intern_release(&listed);
    return ok;
}

static void put_spec_input(struct paster *p, const struct input_row *rows, uint32_t n, bool first)
{
    struct str name = argument_name(source_of(p, rows));
    buf_printf(&p->text, "%s\"%.*s\": ", first ? "" : ", ", STR_ARG(name));
    if (rows->number) {
        buf_printf(&p->text, "ShapeVar(\"%.*s\")", STR_ARG(name));
        return;
    }
    buf_puts(&p->text, "TensorSpec([");
    for (uint32_t d = 0; d < n; d++) {
        buf_puts(&p->text, d ? ", " : "");
        if (rows[d].n_values > 1)
            buf_printf(&p->text, "ShapeVar(\"%.*s%u\")", STR_ARG(name), d);
        else
            buf_puts(&p->text, "None");
    }
    buf_puts(&p->text, "])");
}

/* Returns whether shapes_spec can state the sizes of a code object. Its sizes are unbacked
 * (_symbolic_context_from_shapes_spec()), so Python must not read them, and what it does not name
 * is static. Sizes 0 and 1 are no exception. */
static bool fits_spec(const struct paster *p, uint32_t code, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct input_row *row = &p->run->rows.v[i];
        if (row->n_values < 2)
            continue;
        if (row->is_float || row->constant || !argument_name(source_of(p, row)).n ||
            p->run->table.codes.v[code].read[slot_of(p, row)])
            return false;
    }
    return true;
}

/* torch.compile(shapes_spec=) (torch/fx/experimental/dynamic_spec.py, 2.13). */
static bool put_spec(struct paster *p, uint32_t code, size_t from, size_t to)
{
    bool first = true;
    buf_puts(&p->text, "shapes_spec=ShapesSpec({");
    for (size_t i = from; i < to;) {
        const struct input_row *row = &p->run->rows.v[i];
        uint32_t rank = p->run->table.codes.v[code].inputs.v[row->input].rank, varies = 0;
        for (uint32_t d = 0; d < rank; d++)
            varies += p->run->rows.v[i + d].n_values > 1;
        if (varies) {
            put_spec_input(p, row, rank, first);
            first = false;
        }
        i += rank;
    }
    buf_puts(&p->text, "})");
    return end_line(p, PASTE_SPEC, code);
}

static bool put_specs(struct paster *p)
{
    if (!release_is(p->run->release, 2, 13))
        return true;
    for (size_t from = 0, to; from < p->run->rows.n; from = to) {
        uint32_t code = p->run->rows.v[from].code;
        bool proposed = false;
        for (to = from; to < p->run->rows.n && p->run->rows.v[to].code == code; to++)
            proposed |= p->run->rows.v[to].proposed;
        if (proposed && is_called(p->run, code) && fits_spec(p, code, from, to) &&
            !put_spec(p, code, from, to))
            return false;
    }
    return true;
}

bool paste_make(const struct dynamic_run *run, struct arena *arena, paste_lines *lines)
{
    struct paster p = { .run = run, .arena = arena, .lines = lines };
    bool ok = !run->n_marks || (put_marks(&p) && put_sources(&p) && put_specs(&p));
    buf_release(&p.text);
    return ok;
}
