#include "trace/kernels/kernels.h"

#include "cmd/show/show.h"
#include "profile/model/format.h"

/* Three views over one list: the kernels, the slowest first; the programs that hold them; and the
 * fusions that Inductor did not do. */

static void release_kernels(void *items)
{
    kernels_free(items);
}

static struct kernel_list *load_list(struct show *show, void **ret, struct err *err)
{
    struct kernel_list *list = kernels_read(show->trace, NULL, err);
    *ret = list;
    return list;
}

static const struct kernel_list *list_of(const void *context)
{
    return ((const struct show_row *)context)->items;
}

static const struct kernel_graph *program_of(const void *context, const struct kernel *kernel)
{
    return &list_of(context)->graphs[kernel->graph];
}

/* Kernels */

static bool load_kernels(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct kernel_list *list = load_list(show, ret, err);
    *ret_n = list ? list->n : 0;
    return list;
}

/* Returns the file of a kernel's line that --file asks for, or of its main line. */
static struct str kernel_file(const struct show *show, const struct kernel_list *list,
                              const struct kernel *kernel)
{
    for (uint32_t i = 0; show->args->file && i < kernel->n_uses; i++)
        if (str_contains(list->lines[kernel->uses[i].line].file, str_of(show->args->file)))
            return list->lines[kernel->uses[i].line].file;
    const struct kernel_line *line = kernel_main_line(list, kernel);
    return line ? line->file : STR("");
}

static struct show_place place_kernel(const struct show *show, const void *items, uint32_t i)
{
    const struct kernel_list *list = items;
    const struct kernel *kernel = &list->kernels[list->by_time[i]];
    return (struct show_place){ .record = list->graphs[kernel->graph].record,
                                .attempt = list->graphs[kernel->graph].attempt,
                                .file = kernel_file(show, list, kernel) };
}

static const void *kernel_item(struct show *show, void *items, uint32_t i)
{
    const struct kernel_list *list = items;
    (void)show;
    return &list->kernels[list->by_time[i]];
}

static struct datum place_of_line(const struct kernel_line *line)
{
    return line ? datum_place(line->file, line->line, line->code) : datum_null();
}

GETTER_IN(get_program, struct show_row, struct kernel, datum_string(program_of(in, row)->id))
GETTER_IN(get_backward, struct show_row, struct kernel, datum_bool(program_of(in, row)->backward))
GETTER(get_kind, enum kernel_kind, datum_name(kernel_kind_name(*row)))
GETTER(get_origin, enum kernel_origin, datum_name(kernel_origin_name(*row)))
GETTER_IN(get_position, struct show_row, struct kernel,
          datum_count((uint64_t)(row - list_of(in)->kernels) - program_of(in, row)->first))
GETTER_IN(get_main_line, struct show_row, struct kernel,
          place_of_line(kernel_main_line(list_of(in), row)))

static struct datum get_main_code(const void *context, const void *at)
{
    const struct kernel_line *line = kernel_main_line(list_of(context), at);
    return line ? datum_string(line->code) : datum_null();
}

/* Returns how many nodes text prints: those of the post-grad graph, or of Dynamo's graph when only
 * those are known. */
static uint32_t printed_nodes(const struct kernel *kernel)
{
    return kernel->n_post_grad ? kernel->n_post_grad : kernel->n_nodes;
}

GETTER(get_n_nodes, struct kernel, datum_count(printed_nodes(row)))

static void cell_nodes(const void *context, const void *at, struct buf *out)
{
    const struct kernel *kernel = at;
    for (uint32_t i = 0; i < printed_nodes(kernel); i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, list_of(context)->nodes[kernel->nodes[i]].name, 0);
    }
}

/* Prints the lines behind the first one. */
static void cell_other_lines(const void *context, const void *at, struct buf *out)
{
    const struct kernel *kernel = at;
    for (uint32_t i = 1; i < kernel->n_uses; i++) {
        const struct kernel_line *line = &list_of(context)->lines[kernel->uses[i].line];
        buf_puts(out, i > 1 ? ", " : "");
        format_place(out, line->file, line->line);
    }
}

static void put_line(struct json_writer *w, const char *key, const struct kernel_line *line,
                     const uint32_t *n_nodes)
{
    json_open_object(w, key);
    json_put_str(w, "file", line->file);
    json_put_u64(w, "line", line->line);
    json_put_str(w, "function", line->function);
    json_put_str(w, "code", line->code);
    if (n_nodes)
        json_put_u64(w, "nodes", *n_nodes);
    json_close(w);
}

static void json_nodes(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct kernel *kernel = at;
    json_open_array(w, key);
    for (uint32_t i = 0; i < kernel->n_nodes; i++) {
        const struct kernel_node *node = &list_of(context)->nodes[kernel->nodes[i]];
        json_open_object(w, NULL);
        json_put_str(w, "name", node->name);
        json_put_str(w, "op", node->op);
        json_put_cstr(w, "graph", node->in_dynamo_graph ? "dynamo" : "post_grad");
        if (node->line == TRACE_NONE)
            json_put_null(w, "line");
        else
            put_line(w, "line", &list_of(context)->lines[node->line], NULL);
        json_close(w);
    }
    json_close(w);
}

static void json_lines(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct kernel *kernel = at;
    json_open_array(w, key);
    for (uint32_t i = 0; i < kernel->n_uses; i++)
        put_line(w, NULL, &list_of(context)->lines[kernel->uses[i].line], &kernel->uses[i].n_nodes);
    json_close(w);
}

static const struct field KERNEL[] = {
    SHOW_COMPILE(1),
    { "program", .get = get_program, TEXT(2, "program", WORD, 5) },
    { "backward", .get = get_backward },
    { "position", .get = get_position },
    { "kernel", MEMBER(struct kernel, name), TEXT(3, "kernel", PATH, 0) },
    { "function", MEMBER(struct kernel, function) },
    { "kind", GET(get_kind, struct kernel, kind), TEXT(4, "kind", WORD, 3) },
    { "backend", MEMBER(struct kernel, backend) },
    { "calls", MEMBER(struct kernel, n_calls), TEXT(5, "calls", COUNT, 6) },
    { "compile_ns", GET(get_known_i64, struct kernel, compile_ns), TEXT(6, "compiled", NS, 0) },
    { "autotune_ns", GET(get_known_i64, struct kernel, autotune_ns), TEXT(7, "tuned", NS, 1) },
    { "configs", MEMBER(struct kernel, n_configs), TEXT(8, "configs", COUNT, 7) },
    { "tuning", MEMBER(struct kernel, tuning) },
    { "ops", MEMBER(struct kernel, ops), TEXT(14, "operators", TEXT, 9) },
    { "nodes_from", GET(get_origin, struct kernel, origin), TEXT(10, "nodes from", WORD, 8) },
    { NULL, .get = get_n_nodes, TEXT(9, "nodes", COUNT, 4) },
    { NULL, .get = get_main_line, TEXT(11, "user line", PATH, 0) },
    { NULL, .get = get_main_code, TEXT(12, "code", TEXT, 2) },
    { NULL, .cell = cell_other_lines, TEXT(13, "other lines", LIST, 10) },
    { "nodes", .json = json_nodes },
    { NULL, .cell = cell_nodes, TEXT(15, "names of nodes", LIST, 11) },
    { "lines", .json = json_lines },
};
static const struct fields KERNEL_FIELDS = FIELDS_OF(KERNEL);

const struct show_view show_kernels = {
    .key = "kernels",
    .none = "no kernels: the tape has no program of Inductor (inductor_output_code)",
    .fields = &KERNEL_FIELDS,
    .load = load_kernels,
    .release = release_kernels,
    .place = place_kernel,
    .item = kernel_item,
};

/* Programs */

static bool load_programs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct kernel_list *list = load_list(show, ret, err);
    *ret_n = list ? list->n_graphs : 0;
    return list;
}

static struct show_place place_program(const struct show *show, const void *items, uint32_t i)
{
    const struct kernel_graph *graph = &((const struct kernel_list *)items)->graphs[i];
    (void)show;
    return (struct show_place){ .record = graph->record, .attempt = graph->attempt };
}

static const void *program_item(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct kernel_list *)items)->graphs[i];
}

static const struct field PROGRAM[] = {
    SHOW_COMPILE(1),
    { "program", MEMBER(struct kernel_graph, id), TEXT(2, "program", WORD, 0) },
    { "backward", MEMBER(struct kernel_graph, backward) },
    { "kernels", MEMBER(struct kernel_graph, n), TEXT(3, "kernels", NUMBER, 0) },
    { "codegen_ns", GET(get_known_i64, struct kernel_graph, codegen_ns),
      TEXT(4, "code generation", NS, 0) },
    { "load_ns", GET(get_known_i64, struct kernel_graph, load_ns),
      TEXT(5, "loading and compiling", NS, 0) },
    { "choices_ns", GET(get_known_i64, struct kernel_graph, choices_ns),
      TEXT(6, "max-autotune", NS, 1) },
};
static const struct fields PROGRAM_FIELDS = FIELDS_OF(PROGRAM);

const struct show_view show_programs = {
    .key = "programs",
    .none = "no programs",
    .fields = &PROGRAM_FIELDS,
    .load = load_programs,
    .release = release_kernels,
    .place = place_program,
    .item = program_item,
};

/* Fusions */

static bool load_fusions(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct kernel_list *list = load_list(show, ret, err);
    *ret_n = list ? list->n_failures : 0;
    return list;
}

static struct show_place place_fusion(const struct show *show, const void *items, uint32_t i)
{
    const struct fusion_failure *failure = &((const struct kernel_list *)items)->failures[i];
    return (struct show_place){ .record = failure->record,
                                .attempt = show->trace->records[failure->record].attempt };
}

static const void *fusion_item(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct kernel_list *)items)->failures[i];
}

static const struct field FUSION[] = {
    { "first", MEMBER(struct fusion_failure, first), TEXT(1, "not fused", TEXT, 0) },
    { "second", MEMBER(struct fusion_failure, second), TEXT(2, "with", TEXT, 0) },
    { "reason", MEMBER(struct fusion_failure, reason), TEXT(3, "reason", TEXT, 0) },
};
static const struct fields FUSION_FIELDS = FIELDS_OF(FUSION);

const struct show_view show_fusions = {
    .key = "failed_fusions",
    .none = "none on this tape; PyTorch prints them with TORCH_LOGS=fusion",
    .fields = &FUSION_FIELDS,
    .load = load_fusions,
    .release = release_kernels,
    .place = place_fusion,
    .item = fusion_item,
};
