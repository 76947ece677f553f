#include "profile/model/lines/line_table.h"

#include "trace/events/user_line.h"

/* Sets a text unless it is set: a log may contain a line's code in one place and not in another. */
static void fill_in(struct line_table *table, struct str *field, struct str text, bool *ok)
{
    if (field->n > 0 || text.n == 0)
        return;
    *field = arena_copy(&table->b->arena, text);
    *ok = *ok && field->p;
}

/* Returns the row of a line, or LINE_NOBODY when memory ran out. */
static uint32_t line_row(struct line_table *table, bool library, struct str file, uint32_t line)
{
    struct profile_build *b = table->b;
    struct intern *keys = library ? &table->library_keys : &table->keys;
    uint32_t name = build_name(b, file);
    uint32_t row = name == INTERN_NONE ? name : intern(keys, BUILD_KEY(name, line));
    if (row == INTERN_NONE)
        return LINE_NOBODY;
    struct profile_line fresh = {
        .file = name,
        .line = line,
        .function = STR(""),
        .code = STR(""),
    };
    if (row == (library ? b->library_lines.n : b->lines.n) &&
        !(library ? vec_push(&b->library_lines, fresh) : vec_push(&b->lines, fresh)))
        return LINE_NOBODY;
    return row;
}

static bool find_line_row(struct line_table *table, bool library, struct str file, uint32_t line,
                          struct str function, struct str code, uint32_t *ret)
{
    uint32_t row = line_row(table, library, file, line);
    if (row == LINE_NOBODY)
        return false;
    struct profile_line *l = library ? &table->b->library_lines.v[row] : &table->b->lines.v[row];
    bool ok = true;
    fill_in(table, &l->function, function, &ok);
    fill_in(table, &l->code, code, &ok);
    *ret = row;
    return ok;
}

bool line_table_place(struct line_table *table, struct str file, uint32_t line, struct str function,
                      struct str code, uint32_t *ret)
{
    *ret = LINE_NOBODY;
    return !build_takes_file(table->b, file) ||
           find_line_row(table, false, file, line, function, code, ret);
}

const struct location *line_table_location(const struct graph *graph, uint32_t location)
{
    const struct location *inner = &graph->locations[location], *at = inner;
    for (uint32_t left = graph->n_locations; torch_is_own_file(at->file); left--) {
        if (at->caller >= graph->n_locations ||
            left == 0) /* a valid file has no cycle here, but a hostile one may */
            return inner;
        at = &graph->locations[at->caller];
    }
    return at;
}

bool line_table_node(struct line_table *table, const struct graph *graph, uint32_t location,
                     enum graph_kind level, bool kept, uint32_t *ret)
{
    const struct location *at = line_table_location(graph, location);
    *ret = LINE_NOBODY;
    if (at->file.n == 0 || !build_takes_file(table->b, at->file))
        return true;
    if (!find_line_row(table, false, at->file, at->line, at->function, at->code, ret))
        return false;
    table->b->lines.v[*ret].nodes[level]++;
    table->b->lines.v[*ret].kept_nodes[level] += kept;
    return true;
}

static bool look_up_stack(struct line_table *table, const struct build_input *input,
                          uint32_t recording, stack_id stack, uint32_t *line,
                          uint32_t *library_line)
{
    struct frame inner = stack_frame(input->trace, recording, stack);
    struct frame user =
        stack_frame(input->trace, recording, user_line(input->trace, recording, stack));
    *line = *library_line = LINE_NOBODY;
    if (!build_takes_file(table->b, user.file))
        return true;
    if (!find_line_row(table, false, user.file, user.line, user.function, user.code, line))
        return false;
    return !torch_is_own_file(inner.file) ||
           find_line_row(table, true, inner.file, inner.line, inner.function, inner.code,
                         library_line);
}

static void forget_stacks(struct line_table *table)
{
    for (size_t i = 0; i < table->looked_up.n; i++)
        table->of_stack[table->looked_up.v[i]] = 0;
    table->looked_up.n = 0;
}

bool line_table_stack(struct line_table *table, const struct build_input *input, uint32_t recording,
                      stack_id stack, uint32_t *line, uint32_t *library_line)
{
    *line = *library_line = LINE_NOBODY;
    if (stack == 0 || stack >= trace_n_stacks(input->trace))
        return true;
    if (recording != table->recording)
        forget_stacks(table);
    table->recording = recording;
    uint32_t *known = &table->of_stack[stack], *library_known = &table->library_of_stack[stack];
    if (*known == 0) {
        if (!look_up_stack(table, input, recording, stack, line, library_line) ||
            !vec_push(&table->looked_up, stack))
            return false;
        *known = *line == LINE_NOBODY ? LINE_NOBODY : *line + 1;
        *library_known = *library_line == LINE_NOBODY ? LINE_NOBODY : *library_line + 1;
    }
    *line = *known == LINE_NOBODY ? LINE_NOBODY : *known - 1;
    *library_line = *library_known == LINE_NOBODY ? LINE_NOBODY : *library_known - 1;
    return true;
}

bool line_table_start(struct line_table *table, const struct build_input *input)
{
    size_t n = (size_t)trace_n_stacks(input->trace) + 1;
    table->looked_up.n = 0;
    free(table->of_stack);
    free(table->library_of_stack);
    table->of_stack = calloc(n, sizeof *table->of_stack);
    table->library_of_stack = calloc(n, sizeof *table->library_of_stack);
    return table->of_stack && table->library_of_stack;
}

void line_table_release(struct line_table *table)
{
    intern_release(&table->keys);
    intern_release(&table->library_keys);
    free(table->of_stack);
    free(table->library_of_stack);
    vec_release(&table->looked_up);
}
