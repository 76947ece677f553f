#include "cmd/symbols/source_symbol.h"

#include "profile/why/why_name.h"
#include "trace/events/symbols.h"

static bool is_selected(const struct trace *trace, const struct selector *selector,
                        const struct symbol *symbol)
{
    return symbol->attempt == TRACE_NONE
               ? !selector->compile.n && selector_has_recording(trace, selector, symbol->recording)
               : selector_has_attempt(trace, selector, symbol->attempt);
}

static bool is_symbol(const struct symbol_table *table, struct str name)
{
    bool ret = false;
    for (uint32_t i = 0; i < table->n_symbols && !ret; i++)
        ret = str_eq(table->symbols[i].name, name);
    return ret;
}

/* Finds the symbol of a source; *ret stays empty if there is none. */
static bool find_symbol(const struct trace *trace, const struct selector *selector,
                        const struct symbol_table *table, struct str source, struct str *ret,
                        struct arena *arena, struct err *err)
{
    struct str plain = why_name_plain(source, arena);
    bool ok = plain.p || err_nomem(err);
    for (uint32_t i = 0; ok && i < table->n_symbols; i++) {
        const struct symbol *s = &table->symbols[i];
        if (!s->source.n || str_eq(s->name, *ret) || !is_selected(trace, selector, s))
            continue;
        struct str other = why_name_plain(s->source, arena);
        if (!other.p)
            return err_nomem(err);
        if (!str_eq(other, plain))
            continue;
        if (ret->n)
            return err_set(err, ERR_USAGE,
                           "%.*s is %.*s in one compile and %.*s in another: name a compile",
                           STR_ARG(source), STR_ARG(*ret), STR_ARG(s->name));
        *ret = s->name;
    }
    return ok;
}

bool source_symbol_find(struct trace *trace, const struct selector *selector, struct str *name,
                        struct err *err)
{
    const struct symbol_table *table = trace_symbols(trace, err);
    struct arena arena = ARENA_INIT;
    struct str found = { 0 };
    if (!table || is_symbol(table, *name))
        return table != NULL;
    bool ok = find_symbol(trace, selector, table, *name, &found, &arena, err);
    if (ok && found.n)
        *name = found;
    arena_release(&arena);
    return ok;
}
