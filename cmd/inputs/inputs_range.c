/* The names of --cover and --assume in one compile. */
#include "cmd/inputs/inputs.h"
#include "profile/why/why_name.h"
#include "trace/events/symbols.h"

static bool is_taken(const struct inputs_names *names, sym_id symbol)
{
    for (size_t i = 0; i < names->n_symbols; i++)
        if (names->symbols[i].symbol == symbol)
            return true;
    return false;
}

/* Returns whether a size is that which its symbol was made for. */
static bool is_own(const struct conditions *c, struct inputs_meaning meaning)
{
    return meaning.size == UINT32_MAX ||
           str_eq(c->symbols.v[meaning.symbol].source, c->sizes.v[meaning.size].source);
}

/* Finds the source that a symbol of this name has in another compile of the function. */
static bool find_source(struct trace *trace, const struct conditions *c, struct str name,
                        struct str *ret, struct err *err)
{
    const struct symbol_table *table = trace_symbols(trace, err);
    *ret = (struct str){ 0 };
    for (uint32_t i = 0; table && i < table->n_symbols && c->attempt != TRACE_NONE && !ret->n;
         i++) {
        const struct symbol *s = &table->symbols[i];
        if (s->attempt != TRACE_NONE && s->recording == c->recording && str_eq(s->name, name) &&
            compile_same_function(trace->attempts[s->attempt].compile,
                                  trace->attempts[c->attempt].compile))
            *ret = s->source;
    }
    return table != NULL;
}

/* Finds what a name of --cover is: a symbol that the compile lacks is the size that it is in other
 * compiles of the function. */
static bool find_range(struct inputs_names *names, struct trace *trace, struct str name,
                       struct inputs_meaning *ret, struct err *err)
{
    struct str source;
    if (!inputs_find(&names->scope, name, ret, err))
        return false;
    if (ret->symbol != UINT32_MAX || ret->size != UINT32_MAX || !why_is_symbol_name(name))
        return true;
    return find_source(trace, names->scope.conditions, name, &source, err) &&
           (!source.n || inputs_find(&names->scope, source, ret, err));
}

static bool add_name(struct inputs_names *names, struct trace *trace, struct inputs_range *range,
                     struct err *err)
{
    struct conditions *c = names->scope.conditions;
    struct inputs_meaning meaning;
    if (!find_range(names, trace, range->name, &meaning, err))
        return false;
    uint32_t at = meaning.symbol;
    bool is_symbol = at != UINT32_MAX && c->symbols.v[at].has_hint;
    if (!is_symbol && (at != UINT32_MAX || meaning.size == UINT32_MAX)) {
        names->missing[names->n_missing++] = range->name;
        return true;
    }
    if ((!is_symbol || (is_taken(names, c->symbols.v[at].symbol) && !is_own(c, meaning))) &&
        !conditions_name_size(c, meaning.size, &at, err))
        return false;
    const struct condition_symbol *s = &c->symbols.v[at];
    range->found = true;
    if (is_taken(names, s->symbol)) {
        struct str name = s->made ? s->source : s->name;
        return err_set(err, ERR_USAGE, "--cover: %.*s and another name are both the %s %.*s",
                       STR_ARG(range->name), s->made ? "size" : "symbol", STR_ARG(name));
    }
    names->symbols[names->n_symbols++] =
        (struct cover_symbol){ s->symbol, range->pieces, range->n_pieces };
    return true;
}

bool inputs_names_make(struct inputs_names *ret, struct trace *trace, struct conditions *conditions,
                       struct inputs_ranges *ranges, const char *assume, struct str title,
                       struct err *err)
{
    struct str missing = { 0 };
    *ret = (struct inputs_names){ .scope.conditions = conditions, .assume = SYM_ID_TRUE };
    for (size_t i = 0; i < ranges->n; i++)
        if (!add_name(ret, trace, &ranges->list[i], err))
            return false;
    if (!assume || !ret->n_symbols)
        return true;
    if (!inputs_parse(&ret->scope, str_of(assume), &ret->assume, &missing, err))
        return err_at(err, "--assume");
    if (missing.n)
        return err_set(err, ERR_USAGE, "--assume: %.*s is no symbol and no source of one in %.*s",
                       STR_ARG(missing), STR_ARG(title));
    return true;
}

void inputs_names_release(struct inputs_names *names)
{
    inputs_scope_release(&names->scope);
}
