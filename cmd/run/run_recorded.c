#include "cmd/run/run_recorded.h"
#include "profile/model/format.h"
#include "replay/attempt/inputs.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/events/user_line.h"

/* Returns the user line of a stack: "demo/encoder.py:46 `x = x + self.attention(x)`". */
static struct str place_text(struct trace *trace, uint32_t recording, stack_id stack,
                             struct arena *arena)
{
    struct buf text = BUF_INIT;
    struct str ret = { 0 };
    stack_id line = user_line(trace, recording, stack);
    if (line) {
        struct frame frame = stack_frame(trace, recording, line);
        format_place(&text, frame.file, frame.line);
        if (frame.code.n) {
            buf_puts(&text, " `");
            format_text(&text, frame.code, 120);
            buf_putc(&text, '`');
        }
        ret = arena_copy(arena, buf_str(&text));
    }
    buf_release(&text);
    return ret;
}

struct recorded_guards {
    struct trace *trace;
    struct arena *arena;
    uint32_t record, attempt, recording;
    struct run_guard *list;
    size_t n;
};

static void add_recorded_guards(struct recorded_guards *to, const struct guard_list *guards)
{
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *g = &guards->guards[i];
        if (g->attempt != to->attempt || to->attempt == TRACE_NONE || g->kind == GUARD_SUPPRESSED)
            continue;
        to->list[to->n++] = (struct run_guard){
            .kind = g->kind == GUARD_EVAL ? RUN_GUARD_GUARD : RUN_GUARD_ASSERT,
            .expr = g->expr,
            .place = place_text(to->trace, to->recording, g->user_stack, to->arena),
        };
    }
}

static void add_symbol_conditions(struct recorded_guards *to, const struct symbol_table *table,
                                  const struct symbol *symbol)
{
    struct str place = place_text(to->trace, to->recording, symbol->user_stack, to->arena);
    if (symbol->range.n && !symbol->unbacked)
        to->list[to->n++] = (struct run_guard){ .kind = RUN_GUARD_RANGE,
                                                .expr = symbol->range,
                                                .symbol = symbol->name,
                                                .place = place,
                                                .zero_one = symbol->attempt == TRACE_NONE };
    if (symbol->specialization == TRACE_NONE)
        return;
    const struct specialization *s = &table->specializations[symbol->specialization];
    struct buf expr = BUF_INIT;
    buf_printf(&expr, "Eq(%.*s, %.*s)", STR_ARG(symbol->name), STR_ARG(s->value));
    to->list[to->n++] = (struct run_guard){
        .kind = RUN_GUARD_SPECIALIZED,
        .expr = arena_copy(to->arena, buf_str(&expr)),
        .symbol = symbol->name,
        .place = place_text(to->trace, to->recording, s->user_stack, to->arena),
    };
    buf_release(&expr);
}

bool run_recorded(struct trace *trace, uint32_t record, uint32_t attempt, struct arena *arena,
                  struct run_options *options, struct err *err)
{
    const struct symbol_table *table = trace_symbols(trace, err);
    const struct guard_list *guards = table ? trace_guards(trace, err) : NULL;
    if (!guards)
        return false;
    struct recorded_guards recorded = { .trace = trace,
                                        .arena = arena,
                                        .record = record,
                                        .attempt = attempt,
                                        .recording = trace->records[record].recording };
    struct run_symbol *symbols = arena_array(arena, struct run_symbol, table->n_symbols + 1u);
    recorded.list =
        arena_array(arena, struct run_guard, guards->n + 2 * (size_t)table->n_symbols + 1);
    if (!symbols || !recorded.list)
        return err_nomem(err);
    for (uint32_t i = 0; i < table->n_symbols; i++) {
        const struct symbol *symbol = &table->symbols[i];
        bool own = attempt == TRACE_NONE ? symbol->record == record : symbol->attempt == attempt;
        if (!own)
            continue;
        add_symbol_conditions(&recorded, table, symbol);
        if (!symbol->value.n)
            continue;
        struct run_symbol *ret = &symbols[options->n_symbols++];
        *ret = (struct run_symbol){ .name = symbol->name, .text = symbol->value };
        ret->has_hint = str_to_i64(symbol->value, &ret->hint);
    }
    add_recorded_guards(&recorded, guards);
    options->torch = recorded_torch(trace, recorded.recording);
    options->symbols = symbols;
    options->guards = recorded.list;
    options->n_guards = recorded.n;
    return true;
}
