#include "trace/events/symbols_exported.h"

#include <inttypes.h>

#include "trace/base/buf.h"
#include "trace/base/intern.h"
#include "trace/pt2/signature.h"

struct symbol_collector {
    const struct graph *program;
    struct arena *arena;
    struct symbol *symbols;
    struct intern names; /* the ids are indices into symbols */
    uint32_t record;
    struct buf text;
};

/* Returns whether a symbol is unbacked: u0, zuf0 have the prefixes of SymT.UNBACKED_INT and
 * UNBACKED_FLOAT (torch/utils/_sympy/symbol.py). */
static bool is_unbacked_prefix(struct str name)
{
    size_t prefix = str_starts(name, STR("zuf")) ? 3 : str_starts(name, STR("u")) ? 1 : name.n;
    return prefix < name.n && is_digit(name.p[prefix]);
}

/* Returns the index of a symbol, which is added if it is new; INTERN_NONE when memory ran out. */
static uint32_t add_program_symbol(struct symbol_collector *g, struct str name, struct str hint)
{
    size_t n = g->names.texts.n;
    uint32_t id = intern(&g->names, name);
    if (id == n)
        g->symbols[id] = (struct symbol){ .record = g->record,
                                          .attempt = TRACE_NONE,
                                          .name = name,
                                          .value = hint,
                                          .range = STR(""),
                                          .source = STR(""),
                                          .unbacked = is_unbacked_prefix(name),
                                          .specialization = TRACE_NONE };
    return id;
}

/* Keeps the text that was printed into g->text. */
static bool keep_printed(struct symbol_collector *g, struct str *ret)
{
    *ret = g->text.failed ? (struct str){ 0 } : arena_copy(g->arena, buf_str(&g->text));
    return ret->p != NULL;
}

/* Prints the range as ValueRanges does: integers are unbounded with int_oo. */
static bool set_range(struct symbol_collector *g, const struct range_constraint *range)
{
    uint32_t id = add_program_symbol(g, range->symbol, STR(""));
    buf_clear(&g->text);
    if (range->has_min)
        buf_printf(&g->text, "[%" PRId64, range->min);
    else
        buf_puts(&g->text, "[-int_oo");
    if (range->has_max)
        buf_printf(&g->text, ", %" PRId64 "]", range->max);
    else
        buf_puts(&g->text, ", int_oo]");
    return id != INTERN_NONE && keep_printed(g, &g->symbols[id].range);
}

/* Returns the symbol that is the whole expression, if it has no source yet; otherwise NULL. */
static struct symbol *unplaced_symbol(struct symbol_collector *g, expr_id id)
{
    const struct expr *expr = expr_at(&g->program->pool->exprs, id);
    uint32_t symbol = expr->kind == EXPR_SYMBOL ? intern_find(&g->names, expr->text) : INTERN_NONE;
    return symbol == INTERN_NONE || g->symbols[symbol].source.n ? NULL : &g->symbols[symbol];
}

static bool set_sources(struct symbol_collector *g, const struct meta *meta, struct str source)
{
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        struct symbol *symbol = unplaced_symbol(g, meta->sizes[i]);
        if (!symbol)
            continue;
        buf_clear(&g->text);
        buf_put(&g->text, source);
        if (meta->kind == META_TENSOR)
            buf_printf(&g->text, ".size()[%" PRIu32 "]", i);
        if (!keep_printed(g, &symbol->source))
            return false;
    }
    return true;
}

static bool collect_expr_symbols(struct symbol_collector *g)
{
    const struct graph *program = g->program;
    const struct graph_signature *s = program->signature;
    for (uint32_t i = 0; i < s->n_symbols; i++)
        if (add_program_symbol(g, s->symbols[i].name, s->symbols[i].hint) == INTERN_NONE)
            return false;
    for (uint32_t i = 0; i < s->n_ranges; i++)
        if (!set_range(g, &s->ranges[i]))
            return false;
    for (uint32_t i = 0; i < s->n_inputs && i < program->n_nodes; i++) {
        uint32_t meta = program->nodes[i].meta;
        if (s->inputs[i].kind == INPUT_USER && meta != META_NONE &&
            !set_sources(g, &program->pool->metas[meta], s->inputs[i].source))
            return false;
    }
    return true;
}

size_t exported_symbols_bound(const struct graph *program)
{
    const struct graph_signature *s = program->signature;
    return s ? (size_t)s->n_symbols + s->n_ranges : 0;
}

bool exported_symbols(const struct graph *program, uint32_t record, struct arena *arena,
                      struct symbol *ret, uint32_t *n, struct err *err)
{
    struct symbol_collector g = {
        .program = program, .arena = arena, .symbols = ret, .record = record
    };
    bool ok = !program->signature || collect_expr_symbols(&g);
    *n = (uint32_t)g.names.texts.n;
    intern_release(&g.names);
    buf_release(&g.text);
    return ok || err_nomem(err);
}
