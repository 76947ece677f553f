#include "profile/page/page_parts.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/events/user_line.h"

uint32_t *page_compiles_of(const struct profile *profile, uint32_t input)
{
    const struct trace *trace = profile->traces[input];
    uint32_t *ret = malloc(((size_t)trace->n_attempts + 1) * sizeof *ret);
    for (uint32_t i = 0; ret && i < trace->n_attempts; i++)
        ret[i] = PROFILE_NONE;
    for (uint32_t i = 0; ret && i < profile->n_compiles; i++) {
        const struct profile_compile *c = &profile->compiles[i];
        if (profile->recordings[c->recording].input != input)
            continue;
        uint32_t at = c->first_attempt;
        for (uint32_t k = 0; k < c->n_attempts && at != TRACE_NONE; k++) {
            ret[at] = i;
            at = trace->attempts[at].next;
        }
    }
    return ret;
}

static void place_json(const struct trace *trace, uint32_t recording, stack_id stack,
                       struct json_writer *w)
{
    struct frame frame = stack_frame(trace, recording, user_line(trace, recording, stack));
    if (frame.file.n == 0) {
        json_put_null(w, "line");
        return;
    }
    json_open_object(w, "line");
    json_put_str(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str(w, "code", frame.code);
    json_close(w);
}

struct guard_counter {
    const struct symbol_table *table;
    const struct guard *guard;
    uint32_t recording; /* of the guard */
    uint64_t *counts;   /* by symbol */
};

static void count_symbol(void *user, struct str name)
{
    const struct guard_counter *c = user;
    const struct symbol *symbol =
        symbol_table_find(c->table, c->recording, c->guard->attempt, name, c->guard->record);
    if (symbol)
        c->counts[symbol - c->table->symbols]++;
}

/* Returns by symbol the number of guards that name it in its own attempt: attempts use the same
 * names for symbols of their own. NULL with err set when memory ran out; the caller frees it. */
static uint64_t *count_guards(struct trace *trace, const struct symbol_table *table,
                              struct err *err)
{
    const struct guard_list *list = trace_guards(trace, err);
    uint64_t *counts = list ? calloc((size_t)table->n_symbols + 1, sizeof *counts) : NULL;
    if (!counts) {
        if (list)
            err_nomem(err);
        return NULL;
    }
    for (uint32_t i = 0; i < list->n; i++) {
        const struct guard *guard = &list->guards[i];
        struct guard_counter c = { table, guard, trace->records[guard->record].recording, counts };
        if (guard->kind == GUARD_EVAL)
            guard_symbols(guard->expr, count_symbol, &c);
    }
    return counts;
}

static void symbol_json(const struct profile *profile, const struct trace *trace,
                        const struct symbol_table *table, const struct symbol *symbol,
                        const struct profile_compile *compile, uint64_t guards,
                        struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "recording", profile->recordings[compile->recording].name);
    json_put_str(w, "compile", compile->id);
    json_put_u64(w, "attempt", trace->attempts[symbol->attempt].number);
    json_put_str(w, "symbol", symbol->name);
    json_put_str(w, "value", symbol->value);
    json_put_str(w, "range", symbol->range);
    json_put_str(w, "source", symbol->source);
    json_put_u64(w, "guards", guards);
    if (symbol->specialization == TRACE_NONE) {
        json_put_null(w, "specialized");
    } else {
        const struct specialization *made = &table->specializations[symbol->specialization];
        json_open_object(w, "specialized");
        json_put_str(w, "value", made->value);
        json_put_str(w, "reason", made->reason);
        json_close(w);
    }
    place_json(trace, symbol->recording, symbol->user_stack, w);
    json_close(w);
}

static bool trace_symbols_json(const struct profile *profile, uint32_t input, struct json_writer *w,
                               struct err *err)
{
    struct trace *trace = profile->traces[input];
    const struct symbol_table *table = trace_symbols(trace, err);
    uint64_t *guards = table ? count_guards(trace, table, err) : NULL;
    uint32_t *compiles = guards ? page_compiles_of(profile, input) : NULL;
    for (uint32_t i = 0; compiles && i < table->n_symbols; i++) {
        const struct symbol *symbol = &table->symbols[i];
        uint32_t compile = symbol->attempt == TRACE_NONE ? PROFILE_NONE : compiles[symbol->attempt];
        if (compile != PROFILE_NONE)
            symbol_json(profile, trace, table, symbol, &profile->compiles[compile], guards[i], w);
    }
    bool ok = compiles || (guards && err_nomem(err));
    free(guards);
    free(compiles);
    return ok;
}

bool page_symbols_json(const struct profile *profile, struct json_writer *w, struct err *err)
{
    bool ok = true;
    json_open_array(w, "symbols");
    for (uint32_t i = 0; ok && i < profile->n_traces; i++)
        ok = trace_symbols_json(profile, i, w, err);
    json_close(w);
    return ok;
}
