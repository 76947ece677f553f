/* Tables: guards, symbols, stacks, lines. */
#include "profile/tables/rows.h"

static bool takes(const struct rows *rows, uint32_t record)
{
    return build_takes((const struct profile_build *)rows->profile, rows->in, record);
}

/* ---- Guards and symbols ---- */

static bool put_guard(struct rows *rows, uint32_t i)
{
    const struct guard *guard = &rows->in->guards->guards[i];
    row_id(rows, COLUMN_guards_id, i);
    row_where(rows, COLUMN_guards_recording_id, guard->record, guard->attempt);
    row_bool(rows, COLUMN_guards_kept, build_kept(rows->in, guard->attempt));
    row_text(rows, COLUMN_guards_kind, str_of(guard_kind_name(guard->kind)));
    row_text(rows, COLUMN_guards_asked_by, str_of(guard_class_name(guard->asked_by)));
    row_text(rows, COLUMN_guards_expression, guard->expr);
    row_place(rows, COLUMN_guards_line_id, COLUMN_guards_stack_id, guard->record,
              guard->user_stack);
    row_count(rows, COLUMN_guards_log_line, rows->trace->records[guard->record].line);
    return row_put(rows);
}

bool rows_of_guards(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->in->guards->n; i++)
        if (takes(rows, rows->in->guards->guards[i].record))
            ok = put_guard(rows, i);
    return ok;
}

static bool put_symbol(struct rows *rows, uint32_t i)
{
    const struct symbol *symbol = &rows->in->symbols->symbols[i];
    row_id(rows, COLUMN_symbols_id, i);
    row_where(rows, COLUMN_symbols_recording_id, symbol->record, symbol->attempt);
    row_bool(rows, COLUMN_symbols_kept, build_kept(rows->in, symbol->attempt));
    row_text(rows, COLUMN_symbols_name, symbol->name);
    row_text(rows, COLUMN_symbols_hint, symbol->value);
    row_text(rows, COLUMN_symbols_range, symbol->range);
    row_text(rows, COLUMN_symbols_source, symbol->source);
    row_bool(rows, COLUMN_symbols_unbacked, symbol->unbacked);
    if (symbol->specialization != TRACE_NONE) {
        const struct specialization *made =
            &rows->in->symbols->specializations[symbol->specialization];
        row_text(rows, COLUMN_symbols_specialized_to, made->value);
        row_text(rows, COLUMN_symbols_specialized_by, made->reason);
    }
    row_place(rows, COLUMN_symbols_line_id, COLUMN_symbols_stack_id, symbol->record,
              symbol->user_stack);
    row_count(rows, COLUMN_symbols_log_line, rows->trace->records[symbol->record].line);
    return row_put(rows);
}

bool rows_of_symbols(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->in->symbols->n_symbols; i++)
        if (takes(rows, rows->in->symbols->symbols[i].record))
            ok = put_symbol(rows, i);
    return ok;
}

/* ---- Stacks ---- */

/* The stacks that guards and symbols of one recording name, and all their callers. */
struct used_stacks {
    bool *used; /* by stack */
    vec_of(stack_id)
    list;
};

static bool use_stack(struct rows *rows, struct used_stacks *stacks, stack_id stack)
{
    for (; stack != 0 && !stacks->used[stack]; stack = stack_parent(rows->trace, stack)) {
        stacks->used[stack] = true;
        if (!vec_push(&stacks->list, stack))
            return err_nomem(rows->err);
    }
    return true;
}

static int compare_stacks(const void *a, const void *b)
{
    stack_id x = *(const stack_id *)a, y = *(const stack_id *)b;
    return (x > y) - (x < y);
}

static bool put_stack(struct rows *rows, uint32_t recording, stack_id stack)
{
    struct frame frame = stack_frame(rows->trace, recording, stack);
    stack_id parent = stack_parent(rows->trace, stack);
    row_integer(rows, COLUMN_stacks_id, rows_stack(rows, recording, stack));
    if (parent != 0)
        row_integer(rows, COLUMN_stacks_parent_id, rows_stack(rows, recording, parent));
    row_id(rows, COLUMN_stacks_recording_id, rows->in->recording_of[recording]);
    row_count(rows, COLUMN_stacks_depth, stack_depth(rows->trace, stack));
    row_text(rows, COLUMN_stacks_file, frame.file);
    row_count(rows, COLUMN_stacks_line, frame.line);
    row_text(rows, COLUMN_stacks_function, frame.function);
    row_text(rows, COLUMN_stacks_code, frame.code);
    return row_put(rows);
}

/* Writes the stacks of a recording, and forgets them. */
static bool put_stacks(struct rows *rows, uint32_t recording, struct used_stacks *stacks)
{
    bool ok = true;
    if (stacks->list.n > 0)
        qsort(stacks->list.v, stacks->list.n, sizeof *stacks->list.v, compare_stacks);
    for (size_t i = 0; i < stacks->list.n; i++) {
        stacks->used[stacks->list.v[i]] = false;
        ok = ok && put_stack(rows, recording, stacks->list.v[i]);
    }
    stacks->list.n = 0;
    return ok;
}

/* Guards and symbols are in the order of their records, and the records of a recording are next to
 * each other. */
static bool each_recording(struct rows *rows, struct used_stacks *stacks)
{
    const struct guard_list *guards = rows->in->guards;
    const struct symbol_table *symbols = rows->in->symbols;
    const struct record *records = rows->trace->records;
    uint32_t guard = 0, symbol = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->trace->n_recordings; i++) {
        for (; ok && guard < guards->n; guard++) {
            const struct guard *g = &guards->guards[guard];
            if (records[g->record].recording != i)
                break;
            ok = !takes(rows, g->record) || use_stack(rows, stacks, g->user_stack);
        }
        for (; ok && symbol < symbols->n_symbols; symbol++) {
            const struct symbol *s = &symbols->symbols[symbol];
            if (records[s->record].recording != i)
                break;
            ok = !takes(rows, s->record) || use_stack(rows, stacks, s->user_stack);
        }
        ok = ok && put_stacks(rows, i, stacks);
    }
    return ok;
}

bool rows_of_stacks(struct rows *rows)
{
    struct used_stacks stacks = {
        .used = calloc((size_t)trace_n_stacks(rows->trace) + 1, sizeof *stacks.used),
    };
    bool ok = stacks.used ? each_recording(rows, &stacks) : err_nomem(rows->err);
    vec_release(&stacks.list);
    free(stacks.used);
    return ok;
}

/* ---- Lines ---- */

static bool put_line(struct rows *rows, uint32_t id, const struct profile_line *line, bool torch)
{
    row_id(rows, COLUMN_lines_id, id);
    row_text(rows, COLUMN_lines_file, profile_name(rows->profile, line->file));
    row_count(rows, COLUMN_lines_line, line->line);
    row_text(rows, COLUMN_lines_function, line->function);
    row_text(rows, COLUMN_lines_code, line->code);
    row_bool(rows, COLUMN_lines_torch, torch);
    row_count(rows, COLUMN_lines_nodes, profile_line_nodes(line));
    row_count(rows, COLUMN_lines_guards, line->guards);
    row_count(rows, COLUMN_lines_kept_guards, line->kept_guards);
    row_count(rows, COLUMN_lines_symbols, line->symbols);
    row_count(rows, COLUMN_lines_specializations, line->specializations);
    if (!torch) {
        bool measured = rows->profile->lines.basis == LINES_MEASURED;
        row_text(rows, COLUMN_lines_basis, measured ? STR("measured") : STR("estimated"));
        row_integer(rows, COLUMN_lines_ns, line->ns);
        row_integer(rows, COLUMN_lines_low_ns, line->low_ns);
        row_integer(rows, COLUMN_lines_high_ns, line->high_ns);
    }
    return row_put(rows);
}

bool rows_of_lines(struct rows *rows)
{
    const struct profile_lines *lines = &rows->profile->lines;
    bool ok = true;
    for (uint32_t i = 0; ok && i < lines->n_lines; i++)
        ok = put_line(rows, i, &lines->lines[i], false);
    for (uint32_t i = 0; ok && i < lines->n_library_lines; i++)
        ok = put_line(rows, lines->n_lines + i, &lines->library_lines[i], true);
    return ok;
}
