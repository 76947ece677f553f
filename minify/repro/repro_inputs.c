/* Prints the inputs of f: how each is made, and which dimensions are marked as dynamic. */
#include <math.h>
#include <stdlib.h>

#include "minify/candidate/sizes.h"
#include "minify/repro/repro_inside.h"
#include "replay/ops/layout/layout.h"

enum { MAX_DIMS = 64 };

static bool is_tensor_input(const struct graph *graph, const struct node *node)
{
    const struct meta *meta = repro_meta(graph, node->meta);
    bool attribute = node->op == NODE_GET_ATTR && !graph_child(graph, node->target);
    return (node->op == NODE_PLACEHOLDER || attribute) && meta && meta->kind == META_TENSOR;
}

static bool binds_needed(const struct repro *r, const struct graph *graph, const struct meta *meta,
                         const bool *bound)
{
    uint32_t symbol;
    for (uint32_t d = 0; d < meta->n_sizes; d++)
        if (repro_bare_symbol(r, &graph->pool->exprs, meta->sizes[d], &symbol) &&
            r->needed[symbol] && !bound[symbol])
            return true;
    return false;
}

static void bind_all(const struct repro *r, const struct graph *graph, const struct meta *meta,
                     bool *bound)
{
    uint32_t symbol;
    for (uint32_t d = 0; d < meta->n_sizes; d++)
        if (repro_bare_symbol(r, &graph->pool->exprs, meta->sizes[d], &symbol))
            bound[symbol] = true;
}

static bool add_repro_input(struct repro *r, const struct repro_graph *g, uint32_t i, bool *bound)
{
    const struct node *node = &g->graph->nodes[i];
    const struct meta *meta = repro_meta(g->graph, node->meta);
    if (node->op == NODE_PLACEHOLDER)
        bind_all(r, g->graph, meta, bound);
    return vec_push(&r->inputs, (struct repro_input){ .graph = g->graph,
                                                      .node = i,
                                                      .name = g->names[i],
                                                      .meta = node->meta,
                                                      .constant = node->op == NODE_GET_ATTR });
}

static void check_input_node(struct repro *r, const struct graph *graph, const struct node *node)
{
    const struct meta *meta = repro_meta(graph, node->meta);
    bool known = meta && (meta->kind == META_TENSOR || meta->kind == META_SYM);
    if (node->op == NODE_PLACEHOLDER && !known)
        repro_cannot(r, "the input %.*s is neither a tensor nor a number", STR_ARG(node->name));
    if (node->op == NODE_GET_ATTR && !graph_child(graph, node->target) && !known)
        repro_cannot(r, "nothing is recorded about the attribute %.*s", STR_ARG(node->target));
    if (meta && meta->placement.n)
        repro_cannot(r, "the input %.*s is a %.*s", STR_ARG(node->name), STR_ARG(meta->wrapper));
}

/* Marks the symbols of compound sizes and numbers as needed: f contains them. */
static void need_symbols_of(struct repro *r, const struct expr_pool *pool, expr_id expr)
{
    const struct expr *e = expr_at(pool, expr);
    uint32_t symbol;
    if (repro_bare_symbol(r, pool, expr, &symbol))
        r->needed[symbol] = true;
    for (uint32_t i = 0; i < e->n_children; i++)
        need_symbols_of(r, pool, expr_child(pool, expr, i));
}

static void need_of_number(struct repro *r, const struct graph *graph, const struct node *node)
{
    const struct meta *meta = repro_meta(graph, node->meta);
    if (node->op == NODE_PLACEHOLDER && meta && meta->kind == META_SYM)
        need_symbols_of(r, &graph->pool->exprs, meta->sizes[0]);
}

static bool add_tensors(struct repro *r, bool *bound)
{
    const struct repro_graph *g = &r->graphs.v[r->graphs.n - 1];
    for (uint32_t i = 0; i < g->graph->n_nodes; i++) {
        if (!g->used[i])
            continue;
        check_input_node(r, g->graph, &g->graph->nodes[i]);
        need_of_number(r, g->graph, &g->graph->nodes[i]);
        if (is_tensor_input(g->graph, &g->graph->nodes[i]) && !add_repro_input(r, g, i, bound))
            return false;
    }
    for (uint32_t i = 0; i < g->graph->n_nodes; i++) {
        const struct node *node = &g->graph->nodes[i];
        if (!g->used[i] && node->op == NODE_PLACEHOLDER && is_tensor_input(g->graph, node) &&
            binds_needed(r, g->graph, repro_meta(g->graph, node->meta), bound) &&
            !add_repro_input(r, g, i, bound))
            return false;
    }
    return true;
}

static void need_of_sizes(struct repro *r)
{
    uint32_t symbol;
    bool *seen = arena_array(&r->arena, bool, r->candidate->n_symbols + 1);
    r->failed = r->failed || !seen;
    for (size_t i = 0; i < r->inputs.n && seen; i++) {
        const struct repro_input *input = &r->inputs.v[i];
        const struct meta *meta = repro_meta(input->graph, input->meta);
        for (uint32_t d = 0; meta && !input->constant && d < meta->n_sizes; d++) {
            if (!repro_bare_symbol(r, &input->graph->pool->exprs, meta->sizes[d], &symbol))
                need_symbols_of(r, &input->graph->pool->exprs, meta->sizes[d]);
            else if (seen[symbol])
                r->needed[symbol] = true; /* bound twice */
            else
                seen[symbol] = true;
        }
    }
}

/* Adds a tensor for each symbol that is no tensor's size. An unbacked one that may be negative is
 * no size, about which PyTorch knows more, but the item of a tensor. Dynamo backs items of inputs
 * (TensorVariable.method_item), so that it is the item of a copy. */
static bool add_stand_ins(struct repro *r, const bool *bound)
{
    for (uint32_t i = 0; i < r->candidate->n_symbols; i++) {
        const struct cand_symbol *s = &r->candidate->symbols[i];
        struct buf wish = BUF_INIT;
        bool item = !s->backed && !s->is_float && s->min < 0;
        if (!r->needed[i] || bound[i] || s->is_float || (r->values[i] < 0 && !item))
            continue;
        buf_puts(&wish, "of_");
        buf_put(&wish, s->name);
        struct repro_input input = { .node = NODE_NONE,
                                     .name = repro_name(r, buf_str(&wish), false),
                                     .meta = META_NONE,
                                     .symbol = i,
                                     .constant = item,
                                     .item = item };
        buf_release(&wish);
        if (!input.name.p || !vec_push(&r->inputs, input))
            return false;
    }
    return true;
}

bool repro_collect_inputs(struct repro *r)
{
    bool *bound = calloc(r->candidate->n_symbols + 1, sizeof *bound);
    bool ok = bound && (!r->graphs.n || add_tensors(r, bound));
    need_of_sizes(r);
    ok = ok && add_stand_ins(r, bound);
    free(bound);
    return ok;
}

/* ---- One tensor ---- */

struct input_shape {
    uint32_t n;
    int64_t size[MAX_DIMS], stride[MAX_DIMS];
    enum dtype dtype;
    struct str device;
};

static bool read_repro_shape(struct repro *r, const struct repro_input *input,
                             struct input_shape *s)
{
    const struct meta *meta = repro_meta(input->graph, input->meta);
    if (!meta) {
        *s = (struct input_shape){ .n = 1, .size = { r->values[input->symbol] }, .stride = { 1 } };
        s->dtype = DTYPE_F32;
        return true;
    }
    *s = (struct input_shape){ .n = meta->n_sizes, .dtype = meta->dtype, .device = meta->device };
    int64_t dense = 1;
    if (s->n > MAX_DIMS)
        return false;
    for (uint32_t d = s->n; d-- > 0;) {
        const struct expr_pool *pool = &input->graph->pool->exprs;
        if (!cand_eval(r->candidate, pool, meta->sizes[d], r->values, &s->size[d]) ||
            s->size[d] < 0)
            return false;
        s->stride[d] = dense;
        if (meta->has_strides && meta->strides &&
            (!cand_eval(r->candidate, pool, meta->strides[d], r->values, &s->stride[d]) ||
             s->stride[d] < 0))
            return false;
        if (__builtin_mul_overflow(dense, s->size[d] > 1 ? s->size[d] : 1, &dense))
            return false;
    }
    return true;
}

static bool strides_in_order(const struct input_shape *s, const unsigned *order)
{
    int64_t dense = 1;
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t d = order ? order[k] : s->n - 1 - k;
        if (s->stride[d] != dense)
            return false;
        dense *= s->size[d] > 1 ? s->size[d] : 1;
    }
    return true;
}

/* Returns whether two elements of a tensor share their memory. */
static bool input_overlaps(const struct input_shape *s)
{
    for (uint32_t a = 0; a < s->n; a++) {
        int64_t below = 0;
        for (uint32_t b = 0; b < s->n; b++)
            if (b != a && s->size[b] > 1 &&
                (s->stride[b] < s->stride[a] || (s->stride[b] == s->stride[a] && b > a)))
                below += (s->size[b] - 1) * s->stride[b];
        if (s->size[a] > 1 && s->stride[a] <= below)
            return true;
    }
    return false;
}

static void put_numbers(struct buf *out, const int64_t *numbers, uint32_t n)
{
    buf_putc(out, '(');
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)numbers[i]);
    buf_puts(out, n == 1 ? ",)" : ")");
}

enum family { FAMILY_FLOAT, FAMILY_INTEGER, FAMILY_OTHER };

static enum family family_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F16:
    case DTYPE_F32:
    case DTYPE_F64:
    case DTYPE_BF16:
    case DTYPE_C64:
    case DTYPE_C128: return FAMILY_FLOAT;
    case DTYPE_B8:
    case DTYPE_U8:
    case DTYPE_I8:
    case DTYPE_I16:
    case DTYPE_I32:
    case DTYPE_I64: return FAMILY_INTEGER;
    default: return FAMILY_OTHER;
    }
}

static void put_options(struct repro *r, const struct input_shape *s, bool dtype, struct buf *out)
{
    struct str device = repro_device(r, s->device);
    if (dtype)
        buf_printf(out, ", dtype=%s", dtype_python_name(s->dtype));
    if (device.n && !str_is(device, "cpu")) {
        buf_puts(out, ", device=");
        python_put_string(out, device);
    }
}

/* Prints a dense tensor. Integers are 0 and 1, which are valid indices of any dimension of two
 * elements. */
static void put_dense(struct repro *r, const struct input_shape *s, struct buf *out)
{
    enum family family = family_of(s->dtype);
    if (family == FAMILY_INTEGER) {
        buf_puts(out, "torch.randint(2, ");
        put_numbers(out, s->size, s->n);
    } else {
        buf_puts(out, "torch.randn(");
        for (uint32_t d = 0; d < s->n; d++)
            buf_printf(out, "%s%lld", d ? ", " : "", (long long)s->size[d]);
        if (s->n == 0)
            buf_puts(out, "()");
    }
    put_options(r, s,
                family == FAMILY_OTHER
                    ? false
                    : s->dtype != (family == FAMILY_INTEGER ? DTYPE_I64 : DTYPE_F32),
                out);
    buf_putc(out, ')');
    if (family == FAMILY_OTHER)
        buf_printf(out, ".to(%s)", dtype_python_name(s->dtype));
}

/* Appends what makes the values those of --values. abs() of complex numbers is real, and their
 * square roots are numbers. */
static void put_values(const struct repro *r, const struct input_shape *s, struct buf *line)
{
    static const char *const suffixes[] = {
#define VALUES(id, name, suffix, words) suffix,
        REPRO_VALUES(VALUES)
#undef VALUES
    };
    enum repro_values values = r->what->values;
    bool reals = values == REPRO_VALUES_NEGATIVE || values == REPRO_VALUES_NAN;
    if (family_of(s->dtype) == FAMILY_FLOAT && !(reals && dtype_is_complex(s->dtype)))
        buf_puts(line, suffixes[values]);
}

static void put_strided(struct repro *r, const struct input_shape *s, struct buf *out)
{
    int64_t extent = 1;
    struct input_shape flat = { .n = 1, .dtype = s->dtype, .device = s->device };
    for (uint32_t d = 0; d < s->n; d++)
        extent += s->size[d] > 1 ? (s->size[d] - 1) * s->stride[d] : 0;
    if (input_overlaps(s) || family_of(s->dtype) == FAMILY_OTHER) {
        flat.size[0] = extent;
        put_dense(r, &flat, out);
        put_values(r, &flat, out); /* elements that share memory cannot be written to */
        buf_puts(out, ".as_strided(");
        put_numbers(out, s->size, s->n);
        buf_puts(out, ", ");
        put_numbers(out, s->stride, s->n);
        buf_putc(out, ')');
        return;
    }
    buf_puts(out, "torch.empty_strided(");
    put_numbers(out, s->size, s->n);
    buf_puts(out, ", ");
    put_numbers(out, s->stride, s->n);
    put_options(r, s, s->dtype != DTYPE_F32, out);
    buf_puts(out, family_of(s->dtype) == FAMILY_FLOAT ? ").normal_()" : ").random_(2)");
    put_values(r, s, out);
}

static void put_input_tensor(struct repro *r, const struct input_shape *s, struct buf *out)
{
    static const unsigned last[] = { 1, 3, 2, 0 };
    if (strides_in_order(s, NULL)) {
        put_dense(r, s, out);
        put_values(r, s, out);
    } else if (s->n == 4 && strides_in_order(s, last)) {
        put_dense(r, s, out);
        buf_puts(out, ".to(memory_format=torch.channels_last)");
        put_values(r, s, out);
    } else {
        put_strided(r, s, out);
    }
}

/* Returns whether an operator needs a tensor of integers that begins with 0 and never decreases. */
static bool wants_zeros(const struct repro_input *input)
{
    static const struct {
        const char *target;
        uint32_t arg;
    } wants[] = {
        { "torch.ops.aten._embedding_bag.default", 2 },
        { "torch.ops.aten._embedding_bag_forward_only.default", 2 },
        { "torch.ops.aten.embedding_bag.default", 2 },
        { "torch.ops.aten.embedding_bag.padding_idx", 2 },
        { "torch.embedding_bag", 2 },
        { "torch.nn.functional.embedding_bag", 2 },
    };
    const struct graph *graph = input->graph;
    for (uint32_t i = 0; graph && i < graph->n_nodes; i++)
        for (size_t k = 0; k < sizeof wants / sizeof *wants; k++) {
            const struct node *node = &graph->nodes[i];
            const struct arg *arg = &graph->args[node->first_arg + wants[k].arg];
            if (str_is(node->target, wants[k].target) && wants[k].arg < node->n_args &&
                arg->kind == ARG_NODE && arg->u.node == input->node)
                return true;
        }
    return false;
}

enum { ELEMENTS_MAX = 64 };

/* Prints a tensor whose data f reads: "torch.tensor([3, 9])", "torch.full((2,), 3)". Returns false
 * if f does not read its values. */
static bool put_read_out(struct repro *r, const struct repro_input *input,
                         const struct input_shape *s, struct buf *line)
{
    int64_t values[ELEMENTS_MAX];
    uint32_t n = s->n == 1 && s->size[0] <= ELEMENTS_MAX ? (uint32_t)s->size[0] : 1;
    bool same = true;
    if (!repro_read_out(r, input, n, values))
        return false;
    for (uint32_t i = 1; i < n; i++)
        same = same && values[i] == values[0];
    if (same) {
        buf_puts(line, "torch.full(");
        put_numbers(line, s->size, s->n);
        buf_printf(line, ", %lld", (long long)(n ? values[0] : 0));
    } else {
        buf_puts(line, "torch.tensor([");
        for (uint32_t i = 0; i < n; i++)
            buf_printf(line, "%s%lld", i ? ", " : "", (long long)values[i]);
        buf_putc(line, ']');
    }
    put_options(r, s, s->dtype != DTYPE_I64, line);
    buf_putc(line, ')');
    return true;
}

static void put_input_value(struct repro *r, const struct repro_input *input, struct buf *line)
{
    struct input_shape s;
    repro_put_name(r, line, input->name);
    buf_puts(line, " = ");
    if (input->item) {
        buf_printf(line, "torch.tensor(%lld)", (long long)r->values[input->symbol]);
    } else if (!read_repro_shape(r, input, &s)) {
        repro_cannot(r, "the sizes of the input %.*s have no hint", STR_ARG(input->name));
        buf_puts(line, "None");
    } else if (family_of(s.dtype) == FAMILY_INTEGER && s.dtype != DTYPE_B8 &&
               put_read_out(r, input, &s, line)) {
        return;
    } else if (family_of(s.dtype) == FAMILY_INTEGER && wants_zeros(input)) {
        buf_puts(line, "torch.zeros(");
        put_numbers(line, s.size, s.n);
        put_options(r, &s, true, line);
        buf_putc(line, ')');
    } else {
        put_input_tensor(r, &s, line);
    }
    if (input->node != NODE_NONE && candidate_requires_grad(r->candidate, input->node))
        buf_puts(line, ".requires_grad_()");
}

/* ---- Marks ---- */

static bool is_symbolic_size(const struct repro *r, const struct expr_pool *pool, expr_id expr)
{
    const struct expr *e = expr_at(pool, expr);
    uint32_t symbol;
    bool ret = repro_bare_symbol(r, pool, expr, &symbol);
    for (uint32_t i = 0; i < e->n_children; i++)
        ret = ret || is_symbolic_size(r, pool, expr_child(pool, expr, i));
    return ret;
}

bool repro_has_range(const struct cand_symbol *s)
{
    return s->min > 2 || (s->max < INT32_MAX && s->max > 2);
}

enum mark { MARK_NONE, MARK_MAYBE, MARK_DYNAMIC, MARK_RANGE, MARK_UNBACKED };

/* Returns the mark of a symbol: maybe_mark_dynamic unless the user marked it, so that it may become
 * a number without an error. */
static enum mark mark_of(const struct repro *r, const struct cand_symbol *s)
{
    const struct repro_what *what = r->what;
    if (!s->backed)
        return MARK_UNBACKED;
    if (repro_has_range(s))
        return MARK_RANGE;
    if (s->marked || (what->check == REPRO_SPECIALIZES && str_eq(what->expr, s->name)))
        return MARK_DYNAMIC;
    return MARK_MAYBE;
}

const struct cand_symbol *repro_symbol_of_dim(const struct repro *r,
                                              const struct repro_input *input, uint32_t dim)
{
    const struct meta *meta = repro_meta(input->graph, input->meta);
    uint32_t number = input->symbol;
    if (input->constant ||
        (meta && !repro_bare_symbol(r, &input->graph->pool->exprs, meta->sizes[dim], &number)))
        return NULL;
    return &r->candidate->symbols[number];
}

static enum mark mark_of_dim(const struct repro *r, const struct repro_input *input, uint32_t dim,
                             const struct cand_symbol **symbol)
{
    const struct meta *meta = repro_meta(input->graph, input->meta);
    *symbol = repro_symbol_of_dim(r, input, dim);
    if (*symbol)
        return mark_of(r, *symbol);
    bool symbolic = !input->constant && meta &&
                    is_symbolic_size(r, &input->graph->pool->exprs, meta->sizes[dim]);
    return symbolic ? MARK_MAYBE : MARK_NONE;
}

static void put_mark(struct repro *r, struct str name, enum mark mark, const char *dims,
                     const struct cand_symbol *s)
{
    static const char *const calls[] = { [MARK_MAYBE] = "maybe_mark_dynamic",
                                         [MARK_DYNAMIC] = "mark_dynamic",
                                         [MARK_RANGE] = "mark_dynamic",
                                         [MARK_UNBACKED] = "decorators.mark_unbacked" };
    buf_printf(r->out, "torch._dynamo.%s(", calls[mark]);
    repro_put_name(r, r->out, name);
    buf_printf(r->out, ", %s", dims);
    /* torch needs both bounds for a range (builder.py, dim_range). */
    if (mark == MARK_RANGE)
        buf_printf(r->out, ", min=%lld", (long long)s->min);
    if (mark == MARK_RANGE && s->max < INT32_MAX)
        buf_printf(r->out, ", max=%lld", (long long)s->max);
    else if (mark == MARK_RANGE)
        buf_puts(r->out, ", max=torch.utils._sympy.numbers.int_oo");
    buf_puts(r->out, ")\n");
}

static void put_marks(struct repro *r, const struct repro_input *input)
{
    const struct meta *meta = repro_meta(input->graph, input->meta);
    uint32_t n = meta ? meta->n_sizes : 1;
    const struct cand_symbol *s;
    for (enum mark mark = MARK_MAYBE; mark <= MARK_UNBACKED; mark++) {
        struct buf dims = BUF_INIT;
        uint32_t count = 0;
        for (uint32_t d = 0; d < n; d++) {
            if (mark_of_dim(r, input, d, &s) != mark)
                continue;
            if (mark == MARK_RANGE) {
                char dim[16];
                snprintf(dim, sizeof dim, "%u", (unsigned)d);
                put_mark(r, input->name, mark, dim, s);
                continue;
            }
            buf_printf(&dims, "%s%u", count++ ? ", " : "", (unsigned)d);
        }
        if (count > 1) {
            buf_putc(&dims, ']');
            buf_putc(&dims, '\0');
            struct buf list = BUF_INIT;
            buf_printf(&list, "[%s", dims.failed ? "" : dims.p);
            buf_putc(&list, '\0');
            put_mark(r, input->name, mark, list.failed ? "" : list.p, NULL);
            buf_release(&list);
        } else if (count) {
            buf_putc(&dims, '\0');
            put_mark(r, input->name, mark, dims.failed ? "" : dims.p, NULL);
        }
        r->failed = r->failed || dims.failed;
        buf_release(&dims);
    }
}

static void put_list(struct repro *r, const char *before, const char *after)
{
    struct buf line = BUF_INIT;
    buf_puts(&line, before);
    for (size_t i = 0; i < r->inputs.n; i++) {
        buf_puts(&line, i ? ", " : "");
        repro_put_name(r, &line, r->inputs.v[i].name);
    }
    buf_puts(&line, after);
    r->failed = r->failed || line.failed;
    repro_put_line(r, buf_str(&line), 0);
    buf_release(&line);
}

void repro_put_inputs(struct repro *r)
{
    bool marks =
        r->what->route == REPRO_COMPILE || (r->what->check == REPRO_NOTHING && !repro_exports(r));
    buf_printf(r->out, "torch.manual_seed(%llu)\n", (unsigned long long)r->candidate->seed);
    for (size_t i = 0; i < r->inputs.n; i++) {
        struct buf line = BUF_INIT;
        put_input_value(r, &r->inputs.v[i], &line);
        buf_putc(&line, '\n');
        buf_put(r->out, buf_str(&line));
        r->failed = r->failed || line.failed;
        buf_release(&line);
    }
    for (size_t i = 0; i < r->inputs.n && marks; i++)
        put_marks(r, &r->inputs.v[i]);
    put_list(r, "inputs = (", r->inputs.n == 1 ? ",)" : ")");
}

/* ---- Sizes in f ---- */

static void put_definition(struct repro *r, struct buf *names, struct buf *values, uint32_t symbol,
                           const struct repro_input *input, uint32_t dim)
{
    const char *comma = names->n ? ", " : "";
    r->spelled[symbol] = r->symbol_names[symbol];
    buf_puts(names, comma);
    repro_put_name(r, names, r->spelled[symbol]);
    buf_puts(values, comma);
    repro_put_name(r, values, input->name);
    if (input->item)
        buf_puts(values, ".clone().item()");
    else
        buf_printf(values, ".shape[%u]", (unsigned)dim);
}

static void put_equal(struct repro *r, const struct repro_input *input, uint32_t d)
{
    const struct meta *meta = repro_meta(input->graph, input->meta);
    struct buf text = BUF_INIT;
    if (repro_put_expr(r, &input->graph->pool->exprs, meta->sizes[d], &text)) {
        buf_puts(r->out, "    torch._check(");
        repro_put_name(r, r->out, input->name);
        buf_printf(r->out, ".shape[%u] == ", (unsigned)d);
        buf_put(r->out, buf_str(&text));
        buf_puts(r->out, ")\n");
    }
    buf_release(&text);
}

static void put_float_inputs(struct repro *r)
{
    for (uint32_t i = 0; i < r->candidate->n_symbols; i++) {
        const struct cand_symbol *s = &r->candidate->symbols[i];
        if (!r->needed[i] || r->spelled[i].n || !s->has_hint)
            continue;
        r->spelled[i] = r->symbol_names[i];
        buf_puts(r->out, "    ");
        repro_put_name(r, r->out, r->spelled[i]);
        buf_puts(r->out, " = ");
        if (s->is_float && isfinite(s->float_hint))
            buf_printf(r->out, "%.17g\n", s->float_hint);
        else if (s->is_float)
            buf_printf(r->out, "float(\"%g\")\n", s->float_hint);
        else
            buf_printf(r->out, "%lld\n", (long long)s->hint);
    }
}

void repro_put_sizes(struct repro *r)
{
    struct buf names = BUF_INIT, values = BUF_INIT;
    vec_of(struct {
        const struct repro_input *input;
        uint32_t dim;
    })
    equal = { 0 };
    for (size_t i = 0; i < r->inputs.n; i++) {
        const struct repro_input *input = &r->inputs.v[i];
        const struct meta *meta = repro_meta(input->graph, input->meta);
        uint32_t symbol = input->symbol;
        if (!meta)
            put_definition(r, &names, &values, symbol, input, 0);
        for (uint32_t d = 0; meta && !input->constant && d < meta->n_sizes; d++) {
            bool bare = repro_bare_symbol(r, &input->graph->pool->exprs, meta->sizes[d], &symbol);
            if (bare && r->needed[symbol] && !r->spelled[symbol].n)
                put_definition(r, &names, &values, symbol, input, d);
            else if (bare ? r->needed[symbol]
                          : is_symbolic_size(r, &input->graph->pool->exprs, meta->sizes[d])) {
                r->failed |= !vec_reserve(&equal, 1);
                if (r->failed)
                    break;
                equal.v[equal.n].input = input;
                equal.v[equal.n++].dim = d;
            }
        }
    }
    if (names.n) {
        struct buf line = BUF_INIT;
        buf_put(&line, buf_str(&names));
        buf_puts(&line, " = ");
        buf_put(&line, buf_str(&values));
        buf_puts(r->out, "    ");
        buf_put(r->out, buf_str(&line));
        buf_putc(r->out, '\n');
        r->failed |= line.failed;
        buf_release(&line);
    }
    put_float_inputs(r);
    for (size_t i = 0; i < equal.n; i++)
        put_equal(r, equal.v[i].input, equal.v[i].dim);
    vec_release(&equal);
    r->failed |= names.failed || values.failed;
    buf_release(&names);
    buf_release(&values);
}
