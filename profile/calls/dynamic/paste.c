/* Sources are text of a file: they become Python through put_variable(), argument_name() and the
 * quoted items of STATEMENT_STRING only, as tests/program_text.sh checks. */
#include "profile/calls/dynamic/paste.h"

#include <string.h>

#include "profile/calls/dynamic/dynamic_run.h"
#include "trace/graph/python_name.h"

struct paster {
    struct dynamic_run *run;
    struct paste *paste;
    struct buf text;
    uint64_t *dims; /* of PASTE_SOURCES, by source: its dimensions */
    uint8_t *marks; /* by slot of the code object whose calls are run */
    size_t from;    /* the rows of that code object, in run->rows */
    size_t to;
};

const char *paste_kind_name(enum paste_kind kind)
{
    static const char *const names[] = { "mark_dynamic", "dynamic_sources", "shapes_spec",
                                         "dynamic" };
    return names[kind];
}

/* ---- Statements ---- */

/* Ends the text that was written to p->text. */
static bool take_text(struct paster *p, struct str *ret)
{
    *ret = arena_copy(&p->paste->arena, buf_str(&p->text));
    bool ok = !p->text.failed && ret->p;
    buf_clear(&p->text);
    return ok;
}

/* Begins a statement; its head and tail are constants. */
static bool begin_line(struct paster *p, uint32_t code, enum statement_form form, struct str head,
                       struct str tail)
{
    const struct paste_line line = { code, form, head, tail, (uint32_t)p->paste->items.n, 0 };
    return vec_push(&p->paste->lines, line);
}

/* Adds p->text as an item of the statement. */
static bool end_item(struct paster *p)
{
    struct str item;
    p->paste->lines.v[p->paste->lines.n - 1].n_items++;
    return take_text(p, &item) && vec_push(&p->paste->items, item);
}

static bool put_item(struct paster *p, const char *text)
{
    buf_puts(&p->text, text);
    return end_item(p);
}

/* ---- Ways ---- */

static struct code_calls *code_of(const struct paster *p, uint32_t code)
{
    return &p->run->table.codes.v[code];
}

static uint32_t source_of(const struct paster *p, const struct input_row *row)
{
    return code_of(p, row->code)->inputs.v[row->input].source;
}

static struct str source_text(const struct paster *p, const struct input_row *row)
{
    return intern_text(&p->run->table.log->sources, source_of(p, row));
}

static uint32_t slot_of(const struct paster *p, const struct input_row *row)
{
    return code_of(p, row->code)->inputs.v[row->input].first_slot + row->dim;
}

/* Makes the rows of a code object, and no marks, the present ones. Codes come in order. */
static void enter_code(struct paster *p, uint32_t code)
{
    p->from = code ? p->to : 0;
    p->to = p->from;
    while (p->to < p->run->rows.n && p->run->rows.v[p->to].code == code)
        p->to++;
    memset(p->marks, 0, code_of(p, code)->n_slots);
}

static void begin_way(struct paster *p, struct paste_way *way, enum paste_kind kind, uint32_t code)
{
    *way =
        (struct paste_way){ .kind = kind, .code = code, .first_line = (uint32_t)p->paste->lines.n };
}

static bool run_code(struct paster *p, struct paste_way *way, uint32_t code)
{
    const struct policy_options how = { .policy = CALLS_MARKED,
                                        .marks = p->marks,
                                        .unbacked = way->kind == PASTE_SPEC };
    struct policy_counts counts;
    if (!policy_run(&p->run->table, code_of(p, code), &how, &counts, NULL))
        return false;
    policy_counts_add(&way->counts, &counts);
    return true;
}

/* Keeps a way that states anything, and that spares anything. */
static bool end_way(struct paster *p, struct paste_way *way, const struct policy_counts *least)
{
    way->n_lines = (uint32_t)p->paste->lines.n - way->first_line;
    if (way->n_lines && (p->run->given || policy_counts_fewer(&way->counts, least)))
        return vec_push(&p->paste->ways, *way);
    p->paste->lines.n = way->first_line;
    return true;
}

/* Returns whether a program can reach the inputs of a code object: it is no frame inside a call. */
static bool is_called(const struct paster *p, uint32_t code)
{
    const struct code_calls *calls = code_of(p, code);
    for (size_t i = 0; i < calls->calls.n && i < 1; i++)
        return !p->run->table.log->calls.v[p->run->cache.lookups.v[calls->calls.v[i].lookup].call]
                    .inside;
    return false;
}

/* Returns whether frames of a code object go on in other frames after a graph break. */
static bool continues(const struct paster *p, uint32_t code)
{
    const struct code_calls *calls = code_of(p, code);
    for (size_t i = 0; i < calls->calls.n; i++) {
        size_t next = (size_t)calls->calls.v[i].lookup + 1;
        if (next < p->run->cache.lookups.n &&
            p->run->table.log->calls.v[p->run->cache.lookups.v[next].call].inside)
            return true;
    }
    return false;
}

/* ---- mark_dynamic() ---- */

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

/* torch._dynamo.mark_dynamic(x, 0); maybe_mark_dynamic() does not raise where the code compares the
 * size with a constant. */
static bool put_mark(struct paster *p, const struct input_row *row)
{
    bool pinned = code_of(p, row->code)->pinned[slot_of(p, row)];
    buf_clear(&p->text);
    if (!put_variable(source_text(p, row), &p->text))
        return true;
    p->marks[slot_of(p, row)] = 1;
    if (!begin_line(p, row->code, STATEMENT_CALL,
                    pinned ? STR("torch._dynamo.maybe_mark_dynamic(")
                           : STR("torch._dynamo.mark_dynamic("),
                    STR(")")) ||
        !end_item(p))
        return false;
    buf_printf(&p->text, "%u", row->dim);
    return end_item(p);
}

static bool put_marks(struct paster *p, const struct policy_counts *least)
{
    struct paste_way way;
    begin_way(p, &way, PASTE_MARK, NO_ENTRY);
    for (uint32_t i = 0; i < p->run->table.codes.n; i++) {
        enter_code(p, i);
        for (size_t k = p->from; k < p->to && is_called(p, i); k++)
            if (p->run->rows.v[k].proposed && !p->run->rows.v[k].number &&
                !put_mark(p, &p->run->rows.v[k]))
                return false;
        if (!run_code(p, &way, i))
            return false;
    }
    buf_clear(&p->text);
    return end_way(p, &way, least);
}

/* ---- dynamic_sources ---- */

/* Commas end an item, spaces are taken away, and what is left is a pattern
 * (get_dynamic_sources() in torch/_dynamo/variables/builder.py). A float has no such mark. */
static bool is_listable(const struct paster *p, const struct input_row *row)
{
    struct str source = source_text(p, row);
    for (size_t i = 0; i < source.n; i++)
        if (source.p[i] == ',' || source.p[i] == ' ')
            return false;
    return row->proposed && !row->is_float;
}

/* From 2.13 on ":N" names a dimension (_parse_source_entry()). */
static bool list_sources(struct paster *p, struct paste_way *way)
{
    bool dims = release_is(p->run->release, 2, 13);
    for (size_t i = 0; i < p->run->rows.n; i++) {
        const struct input_row *row = &p->run->rows.v[i];
        if (!is_listable(p, row))
            continue;
        uint64_t *known = &p->dims[source_of(p, row)], before = *known;
        *known |=
            dims && !row->number && row->dim < MOST_RANK ? (uint64_t)1 << row->dim : UINT64_MAX;
        way->has_numbers |= row->number;
        if (*known == before) /* another function has it, too */
            continue;
        if (p->paste->lines.n == way->first_line &&
            !begin_line(p, NO_ENTRY, STATEMENT_STRING,
                        STR("torch.compiler.config.dynamic_sources = "), STR("")))
            return false;
        buf_put(&p->text, source_text(p, row));
        if (dims && !row->number)
            buf_printf(&p->text, ":%u", row->dim);
        if (!end_item(p))
            return false;
    }
    return true;
}

/* The setting reaches each function that has such an input. */
static bool put_sources(struct paster *p, const struct policy_counts *least)
{
    struct paste_way way;
    if (!release_is(p->run->release, 2, 8))
        return true;
    begin_way(p, &way, PASTE_SOURCES, NO_ENTRY);
    if (!list_sources(p, &way))
        return false;
    for (uint32_t i = 0; i < p->run->table.codes.n; i++) {
        enter_code(p, i);
        for (size_t k = p->from; k < p->to; k++) {
            struct input_row *row = &p->run->rows.v[k];
            bool fixed = code_of(p, i)->inputs.v[row->input].fixed || row->is_float;
            row->reached =
                !fixed && row->dim < MOST_RANK && (p->dims[source_of(p, row)] >> row->dim & 1);
            p->marks[slot_of(p, row)] = row->reached;
        }
        if (!run_code(p, &way, i))
            return false;
    }
    return end_way(p, &way, least);
}

/* ---- shapes_spec ---- */

static bool put_tensor(struct paster *p, const struct input_row *rows, uint32_t n)
{
    struct str name = argument_name(source_text(p, rows));
    buf_printf(&p->text, "\"%.*s\": TensorSpec([", STR_ARG(name));
    for (uint32_t d = 0; d < n; d++) {
        if (rows[d].n_values > 1)
            buf_printf(&p->text, "ShapeVar(\"%.*s%u\")", STR_ARG(name), d);
        else
            buf_puts(&p->text, "None");
        buf_puts(&p->text, d + 1 < n ? "" : "])");
        p->marks[slot_of(p, &rows[d])] = rows[d].n_values > 1;
        if (!end_item(p))
            return false;
    }
    return true;
}

static bool put_number(struct paster *p, const struct input_row *row)
{
    struct str name = argument_name(source_text(p, row));
    buf_printf(&p->text, "\"%.*s\": ShapeVar(\"%.*s\")", STR_ARG(name), STR_ARG(name));
    p->marks[slot_of(p, row)] = 1;
    return end_item(p);
}

/* torch.compile(shapes_spec=) (torch/fx/experimental/dynamic_spec.py, 2.13). */
static bool put_spec(struct paster *p, uint32_t code)
{
    if (!begin_line(p, code, STATEMENT_NAMES,
                    STR("from torch.fx.experimental.dynamic_spec import "), STR("")) ||
        !put_item(p, "ShapesSpec") || !put_item(p, "ShapeVar") || !put_item(p, "TensorSpec") ||
        !begin_line(p, code, STATEMENT_CALL, STR("shapes_spec = ShapesSpec({"), STR("})")))
        return false;
    for (size_t i = p->from; i < p->to;) {
        const struct input_row *rows = &p->run->rows.v[i];
        uint32_t rank = code_of(p, code)->inputs.v[rows->input].rank, varies = 0;
        for (uint32_t d = 0; d < rank; d++)
            varies += rows[d].n_values > 1;
        if (varies && !(rows->number ? put_number(p, rows) : put_tensor(p, rows, rank)))
            return false;
        i += rank;
    }
    return true;
}

/* "2 <= L['x'].size()[0]", which an unbacked size meets without a guard. */
static bool is_bound(const struct condition *nodes, condition_id id)
{
    const struct condition *node = &nodes[id];
    if (node->op < COND_LESS || node->op > COND_GREATER_EQUAL)
        return false;
    enum condition_op left = nodes[node->first].op, right = nodes[node->second].op;
    return (left == COND_CONSTANT && right == COND_SIZE) ||
           (left == COND_SIZE && right == COND_CONSTANT);
}

/* Returns whether compiles compared sizes with each other or with numbers: an unbacked size cannot
 * be compared. */
static bool has_guards(const struct code_calls *code)
{
    for (size_t i = 0; i < code->entries.n; i++) {
        const struct known_entry *entry = &code->entries.v[i];
        for (size_t k = 0; k < entry->conditions.n; k++)
            if (!is_bound(entry->guards.conditions.nodes.v, entry->conditions.v[k].id))
                return true;
    }
    return false;
}

static const struct tensor_value *tensor_of(struct paster *p, const struct input_row *row)
{
    const struct py_value *value =
        input_value(&p->run->table, &code_of(p, row->code)->inputs.v[row->input]);
    return value && value->kind == PY_TENSOR && row->dim < value->tensor->n_dims ? value->tensor
                                                                                 : NULL;
}

/* Sets *ret to whether the same of the sizes that vary are equal in all calls: sizes that are equal
 * in some only were broadcast in the others, or meet by chance. */
static bool have_equal_sizes(struct paster *p, uint32_t code, bool *ret)
{
    struct code_calls *calls = code_of(p, code);
    vec_of(uint32_t)
    like = { 0 }; /* by row, in the first call: the first row with an equal size */
    struct hash_index sizes = { 0 };
    bool ok = true;
    *ret = true;
    for (size_t c = 0; ok && *ret && c < calls->classes.n; c++) {
        hash_index_clear(&sizes);
        ok = calls_enter(&p->run->table, calls->classes.v[c].call);
        for (size_t i = p->from; ok && *ret && i < p->to; i++) {
            const struct input_row *row = &p->run->rows.v[i];
            const struct tensor_value *tensor = row->n_values > 1 ? tensor_of(p, row) : NULL;
            uint32_t same = NO_ENTRY, other;
            if (tensor) {
                int64_t size = tensor->sizes[row->dim];
                uint32_t hash = (uint32_t)((uint64_t)size * 0x9e3779b97f4a7c15u >> 32);
                for (size_t at = hash_index_start(&sizes, hash);
                     same == NO_ENTRY && hash_index_next(&sizes, hash, &at, &other);) {
                    const struct input_row *known = &p->run->rows.v[other];
                    if (tensor_of(p, known)->sizes[known->dim] == size)
                        same = other;
                }
                if (same == NO_ENTRY) {
                    same = (uint32_t)i;
                    ok = hash_index_reserve(&sizes, 1);
                    if (ok)
                        hash_index_add(&sizes, hash, same);
                }
            }
            if (c == 0)
                ok = ok && vec_push(&like, same);
            else
                *ret = like.v[i - p->from] == same;
        }
    }
    vec_release(&like);
    hash_index_release(&sizes);
    return ok;
}

/* Returns whether shapes_spec can state the sizes of a code object. They are unbacked
 * (_symbolic_context_from_shapes_spec()), so nothing may read or compare them, and what it does not
 * name is static, in the frames after a graph break, too, whose inputs it cannot name. */
static bool fits_spec(const struct paster *p, uint32_t code)
{
    bool proposed = false;
    for (size_t i = p->from; i < p->to; i++) {
        const struct input_row *row = &p->run->rows.v[i];
        proposed |= row->proposed;
        if (row->n_values > 1 &&
            (row->is_float || row->constant || row->zero_one ||
             !argument_name(source_text(p, row)).n || code_of(p, code)->read[slot_of(p, row)]))
            return false;
    }
    return proposed && is_called(p, code) && !continues(p, code) && !has_guards(code_of(p, code));
}

/* Runs the calls of one code object; those of all others are compiled as torch.compile() does. */
static bool run_alone(struct paster *p, struct paste_way *way, uint32_t code)
{
    way->counts = p->run->policies[CALLS_AUTOMATIC];
    policy_counts_subtract(&way->counts, &p->run->proposals[code].automatic);
    return run_code(p, way, code);
}

static bool put_specs(struct paster *p, const struct policy_counts *least)
{
    if (!release_is(p->run->release, 2, 13))
        return true;
    for (uint32_t i = 0; i < p->run->table.codes.n; i++) {
        struct paste_way way;
        bool equal;
        enter_code(p, i);
        if (!fits_spec(p, i))
            continue;
        if (!have_equal_sizes(p, i, &equal))
            return false;
        if (!equal)
            continue;
        begin_way(p, &way, PASTE_SPEC, i);
        if (!put_spec(p, i) || !run_alone(p, &way, i) || !end_way(p, &way, least))
            return false;
    }
    return true;
}

/* ---- dynamic=True ---- */

static bool put_dynamic(struct paster *p, const struct policy_counts *least)
{
    const struct paste_way *best = paste_best(p->paste);
    struct paste_way way;
    if (p->run->given)
        return true;
    begin_way(p, &way, PASTE_DYNAMIC, NO_ENTRY);
    way.counts = p->run->policies[CALLS_DYNAMIC];
    return begin_line(p, NO_ENTRY, STATEMENT_CALL, STR("torch.compile("), STR(")")) &&
           put_item(p, "model") && put_item(p, "dynamic=True") &&
           end_way(p, &way, best ? &best->counts : least);
}

/* ---- The whole ---- */

static bool put_ways_of_marks(struct paster *p, const struct policy_counts *least)
{
    return put_marks(p, least) && put_sources(p, least) && put_specs(p, least);
}

bool paste_make(struct dynamic_run *run, struct paste *ret)
{
    struct paster p = { .run = run, .paste = ret };
    const struct policy_counts *automatic = &run->policies[CALLS_AUTOMATIC];
    const struct policy_counts *least =
        policy_counts_fewer(automatic, &run->recorded) ? automatic : &run->recorded;
    uint32_t n_slots = 0;
    *ret = (struct paste){ 0 };
    for (size_t i = 0; i < run->table.codes.n; i++)
        if (run->table.codes.v[i].n_slots > n_slots)
            n_slots = run->table.codes.v[i].n_slots;
    p.dims = calloc(run->table.log->sources.texts.n + 1, sizeof *p.dims);
    p.marks = calloc((size_t)n_slots + 1, 1);
    bool ok = p.dims && p.marks && (!run->n_marks || put_ways_of_marks(&p, least)) &&
              put_dynamic(&p, least);
    free(p.dims);
    free(p.marks);
    buf_release(&p.text);
    return ok;
}

void paste_release(struct paste *paste)
{
    vec_release(&paste->ways);
    vec_release(&paste->lines);
    vec_release(&paste->items);
    arena_release(&paste->arena);
}

const struct paste_way *paste_best(const struct paste *paste)
{
    const struct paste_way *ret = NULL;
    for (size_t i = 0; i < paste->ways.n; i++) {
        const struct paste_way *way = &paste->ways.v[i];
        if (way->kind != PASTE_SPEC && (!ret || policy_counts_fewer(&way->counts, &ret->counts)))
            ret = way;
    }
    return ret;
}
