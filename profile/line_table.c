#include "profile/line_table.h"

/* What follows torch/ in the path of one of PyTorch's own files: its packages and modules that call
 * or are called while a model runs. */
static const char *const TORCH_PARTS[] = {
    "nn/", "_dynamo/", "_inductor/", "_functorch/", "_higher_order_ops/", "fx/", "optim/", "utils/",
    "autograd/", "distributed/", "functional.py", "_tensor.py", "overrides.py", "_refs/", "_prims/",
    "_prims_common/", "_decomp/", "_meta_registrations.py", "_subclasses/", "__init__.py", "func/",
    "sparse/", "nested/", "distributions/", "ao/", "amp/", "cuda/", "library.py", "_library/",
    "_ops.py", "_compile.py", "compiler/", "export/", "_export/", "_utils.py", "random.py",
    "_jit_internal.py", "jit/", "special/", "linalg/", "fft/", "_lowrank.py", "_linalg_utils.py",
    "masked/", "testing/", "_logging/", "_tensor_str.py", "serialization.py", "storage.py",
};

bool line_is_library(struct str file)
{
    static const struct str TORCH = { "/torch/", 7 };
    for (size_t at = str_find(file, TORCH); at < file.n; at = str_find(file, TORCH)) {
        file = str_from(file, at + TORCH.n);
        for (size_t i = 0; i < sizeof TORCH_PARTS / sizeof *TORCH_PARTS; i++)
            if (str_starts(file, str_of(TORCH_PARTS[i])))
                return true;
    }
    return false;
}

static bool file_asked(const struct line_table *table, struct str file)
{
    struct str asked = table->b->profile.options.file;
    return asked.n == 0 || str_find(file, asked) < file.n;
}

/* The first text stays: the log may know a line's code in one place and not in another. */
static void fill_in(struct line_table *table, struct str *field, struct str text, bool *ok)
{
    if (field->n > 0 || text.n == 0)
        return;
    *field = arena_copy(&table->b->arena, text);
    *ok = *ok && field->p;
}

/* Row of a line, LINE_NOBODY when memory ran out. */
static uint32_t row_of(struct line_table *table, bool library, struct str file, uint32_t line)
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

static bool find_row(struct line_table *table, bool library, struct str file, uint32_t line,
                     struct str function, struct str code, uint32_t *ret)
{
    uint32_t row = row_of(table, library, file, line);
    if (row == LINE_NOBODY)
        return false;
    struct profile_line *l =
        library ? &table->b->library_lines.v[row] : &table->b->lines.v[row];
    bool ok = true;
    fill_in(table, &l->function, function, &ok);
    fill_in(table, &l->code, code, &ok);
    *ret = row;
    return ok;
}

static const struct location *user_location(const struct graph *graph, uint32_t location)
{
    const struct location *inner = &graph->locations[location], *at = inner;
    for (uint32_t left = graph->n_locations; line_is_library(at->file); left--) {
        if (at->caller >= graph->n_locations || left == 0) /* a loop cannot be, but files lie */
            return inner;
        at = &graph->locations[at->caller];
    }
    return at;
}

bool line_table_node(struct line_table *table, const struct graph *graph, uint32_t location,
                     enum graph_kind level, bool kept)
{
    const struct location *at = user_location(graph, location);
    if (at->file.n == 0 || !file_asked(table, at->file))
        return true;
    uint32_t row;
    if (!find_row(table, false, at->file, at->line, at->function, at->code, &row))
        return false;
    table->b->lines.v[row].nodes[level]++;
    table->b->lines.v[row].kept_nodes[level] += kept;
    return true;
}

stack_id line_user_frame(const struct trace *trace, uint32_t recording, stack_id stack)
{
    for (stack_id s = stack; s != 0; s = stack_parent(trace, s))
        if (!line_is_library(stack_frame(trace, recording, s).file))
            return s;
    return stack;
}

static bool look_up(struct line_table *table, const struct build_input *input, uint32_t recording,
                    stack_id stack, uint32_t *line, uint32_t *library_line)
{
    struct frame inner = stack_frame(input->trace, recording, stack);
    struct frame user =
        stack_frame(input->trace, recording, line_user_frame(input->trace, recording, stack));
    *line = *library_line = LINE_NOBODY;
    if (!file_asked(table, user.file))
        return true;
    if (!find_row(table, false, user.file, user.line, user.function, user.code, line))
        return false;
    return !line_is_library(inner.file) ||
           find_row(table, true, inner.file, inner.line, inner.function, inner.code, library_line);
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
        if (!look_up(table, input, recording, stack, line, library_line) ||
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
