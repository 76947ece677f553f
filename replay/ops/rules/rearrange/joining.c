/* cat, stack and the operators that are built on them. */
#include "replay/ops/rules/factory/factories.h"
#include "replay/ops/rules/pointwise/pointwise.h"

static bool one_dim_empty(struct call *c, struct tensor x)
{
    return x.meta->ndim == 1 && guard_or_false(c, py_eq(c, x.meta->size[0], SYM_ID_ZERO));
}

static enum memory_format common_format(struct call *c, const struct tensor *x, uint32_t n)
{
    enum memory_format format = FORMAT_CONTIGUOUS;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        enum memory_format f = !eager(c) ? suggest_format(c, x[i]) : suggest_format_c10(c, x[i]);
        if (f == FORMAT_CONTIGUOUS || (i && f != format))
            return FORMAT_CONTIGUOUS;
        format = f;
    }
    return format;
}

static enum dtype common_dtype(struct call *c, const struct tensor *x, uint32_t n)
{
    enum dtype dtype = x[0].meta->dtype;
    bool same = true;
    for (uint32_t i = 1; i < n; i++)
        same = same && x[i].meta->dtype == dtype;
    if (same)
        return dtype;
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = value_tensor(x[i]);
    if (items)
        elementwise_dtypes(c, items, n, PROMOTE_NONE, NULL, &dtype);
    return dtype;
}

/* --- cat --- */

/* Writes the tensors that are not 1-dim and empty, which cat ignores, to ret. Returns their
 * number. */
static uint32_t without_empty(struct call *c, const struct tensor *x, uint32_t n,
                              struct tensor *ret)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n && !c->failed; i++)
        if (!one_dim_empty(c, x[i]))
            ret[kept++] = x[i];
    return kept;
}

/* cat of torch/_refs: the first tensor that is not 1-dim has the expected rank. */
static bool check_ranks(struct call *c, const struct tensor *x, uint32_t n)
{
    const struct tensor_meta *example = NULL;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ndim = x[i].meta->ndim;
        if (ndim == 1)
            continue;
        if (!example)
            example = x[i].meta;
        REQUIRE(c, ndim == example->ndim, "RuntimeError",
                "Number of dimensions of tensors must match.  Expected %u-D tensors, but got %u-D "
                "for tensor number %u in the list",
                example->ndim, ndim, i);
    }
    for (uint32_t i = 0; example && i < n && !c->failed; i++)
        if (x[i].meta->ndim == 1 && !one_dim_empty(c, x[i]))
            return refuse(c, "RuntimeError",
                          "Number of dimensions of tensors must match.  Expected %u-D tensors, but "
                          "got 1-D for tensor number %u in the list",
                          example->ndim, i);
    return !c->failed;
}

static bool check_ranks_plain(struct call *c, const struct tensor *x, uint32_t n)
{
    const struct tensor_meta *first = NULL;
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(c, x[i].meta->ndim > 0, "RuntimeError",
                "zero-dimensional tensor (at position %u) cannot be concatenated", i);
    for (uint32_t i = 0; i < n; i++) {
        if (one_dim_empty(c, x[i]))
            continue;
        first = first ? first : x[i].meta;
        REQUIRE(c, x[i].meta->ndim == first->ndim, "RuntimeError",
                "Tensors must have same number of dimensions: got %u and %u", first->ndim,
                x[i].meta->ndim);
    }
    return true;
}

/* Returns the index of t in the whole list, for an error message. */
static uint32_t number_of(const struct tensor *x, uint32_t n, struct tensor t)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].meta == t.meta && x[i].storage == t.storage)
            return i;
    return 0;
}

static bool check_others(struct call *c, const struct tensor *x, uint32_t n,
                         const struct tensor_meta *first, struct tensor other, uint32_t dim)
{
    const struct tensor_meta *m = other.meta;
    for (uint32_t d = 0; d < m->ndim && !c->failed; d++) {
        if (d == dim)
            continue;
        if (!eager(c))
            CHECK(c, py_eq(c, m->size[d], first->size[d]), "RuntimeError",
                  "Sizes of tensors must match except in dimension %u. Expected %s in dimension %u "
                  "but got %s for tensor number %u in the list",
                  dim, sym_text(c, first->size[d]), d, sym_text(c, m->size[d]),
                  number_of(x, n, other));
        else
            CHECK(c, eq(c, m->size[d], first->size[d]), "RuntimeError",
                  "Sizes of tensors must match except in dimension %u. Expected size %s but got "
                  "size %s for tensor number %u in the list.",
                  dim, sym_text(c, first->size[d]), sym_text(c, m->size[d]),
                  number_of(x, n, other));
    }
    return !c->failed;
}

/* torch.sym_sum, which makes one sum of all items. */
static sym_id sum_symbolic(struct call *c, const sym_id *items, uint32_t n)
{
    sym_id sum = SYM_ID_ZERO;
    sym_id *terms = syms(c, n);
    bool plain = true;
    for (uint32_t i = 0; terms && i < n; i++) {
        terms[i] = env_replace(c->env, items[i]);
        plain = plain && sym_is_number(c->pool, terms[i]);
    }
    if (terms && !plain && n < SYM_MAX_TERMS)
        return sym_make(c->pool, SYM_ADD, terms, n);
    for (uint32_t i = 0; i < n; i++)
        sum = add(c, sum, items[i]);
    return sum;
}

static bool same_devices(struct call *c, const struct tensor *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (!device_equal(x[i].meta->device, x[0].meta->device)) {
            common_device(c, x, n);
            return !c->failed;
        }
    return true;
}

/* elementwise_type_promotion_wrapper: converts all tensors to the common dtype. */
static const struct tensor *promote_all(struct call *c, const struct tensor *x, uint32_t n)
{
    enum dtype dtype = common_dtype(c, x, n);
    struct tensor *ret = scratch(c, n * sizeof(*ret));
    for (uint32_t i = 0; ret && i < n; i++)
        ret[i] = maybe_convert(c, value_tensor(x[i]), dtype).u.tensor;
    return c->failed ? NULL : ret;
}

/* Returns prims.cat(...).clone(memory_format=...) (torch/_refs, cat). */
static struct tensor clone_of_prim(struct call *c, struct tensor_kind kind,
                                   const struct geometry *g, enum memory_format format)
{
    const struct tensor none = { .meta = NULL };
    sym_id strides[TENSOR_MAX_DIM];
    if (c->failed)
        return none;
    contiguous_strides(c, g->size, g->n, strides);
    struct tensor made = new_tensor_strided(c, kind.dtype, kind.device, g->size, strides, g->n);
    if (!c->symbolic)
        return c->failed ? none
                         : new_tensor_format(c, kind.dtype, kind.device, g->size, g->n, format);
    count_dispatches(c, 1); /* prims.cat */
    struct value x = value_tensor(count_made(c, "aten.empty_strided", made));
    struct keyword keyword = { STR("memory_format"),
                               { .kind = VALUE_MEMORY_FORMAT, .u.memory_format = format } };
    struct value ret = call_op_keywords(c, "aten.clone.default", &x, 1, &keyword, 1);
    return c->failed ? none : ret.u.tensor;
}

static struct tensor cat(struct call *c, const struct tensor *x, uint32_t n, int64_t dim)
{
    const struct tensor none = { .meta = NULL };
    for (uint32_t i = 0; i < n; i++)
        if (!x[i].meta)
            return none;
    if (n == 0) {
        refuse(c, "ValueError",
               !eager(c) ? "cat expects at least one tensor, but received zero!"
                         : "torch.cat(): expected a non-empty list of Tensors");
        return none;
    }
    struct tensor *kept = scratch(c, n * sizeof(*kept));
    if (!kept || !same_devices(c, x, n))
        return none;
    if (!eager(c))
        x = promote_all(c, x, n);
    if (!x || !(!eager(c) ? check_ranks(c, x, n) : check_ranks_plain(c, x, n)))
        return none;
    uint32_t n_kept = without_empty(c, x, n, kept);
    enum memory_format format = common_format(c, x, n);
    enum dtype dtype = common_dtype(c, x, n);
    struct tensor_kind kind = { dtype, x[0].meta->device };
    if (n_kept == 0) {
        const sym_id zero[] = { SYM_ID_ZERO };
        return c->failed ? none : empty(c, kind, zero, 1);
    }
    struct geometry g = geometry_of(kept[0]);
    uint32_t at = wrap_dim(c, dim, g.n);
    sym_id *lengths = syms(c, n_kept);
    if (c->failed || !lengths || g.n == 0)
        return none;
    for (uint32_t i = 0; i < n_kept && !c->failed; i++) {
        lengths[i] = kept[i].meta->size[at];
        if (i)
            check_others(c, x, n, kept[0].meta, kept[i], at);
    }
    g.size[at] = sum_symbolic(c, lengths, n_kept);
    if (!eager(c))
        return clone_of_prim(c, kind, &g, format);
    return c->failed ? none : new_tensor_format(c, kind.dtype, kind.device, g.size, g.n, format);
}

bool rule_cat(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    struct tensor result = cat(c, x, n, arg_int(c, 1));
    if (eager(c) && !c->failed && result.meta && c->n_args > 2 &&
        !check_out_overlap(c, 2, 1, result))
        return false;
    return ret_tensor(c, result);
}

/* --- stack --- */

static bool check_entries(struct call *c, const struct tensor *x, uint32_t n)
{
    for (uint32_t i = 1; i < n && !c->failed; i++) {
        const struct tensor_meta *a = x[0].meta, *b = x[i].meta;
        sym_id same = sym_boolean(a->ndim == b->ndim);
        for (uint32_t d = 0; d < a->ndim && same != SYM_ID_FALSE; d++)
            same = sym_and(c->pool, same, py_eq(c, b->size[d], a->size[d]));
        if (eager(c))
            CHECK(c, same, "RuntimeError",
                  "stack expects each tensor to be equal size, but got %s at entry 0 and %s at "
                  "entry %u",
                  sizes_text(c, a->size, a->ndim), sizes_text(c, b->size, b->ndim), i);
        else
            CHECK(c, same, "RuntimeError",
                  "stack expects each tensor to be equal size, but got %s at entry 0 ",
                  py_size_text(c, a->size, a->ndim));
    }
    return !c->failed;
}

bool rule_stack(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    REQUIRE(c, n > 0, eager(c) ? "RuntimeError" : "AssertionError",
            "stack expects a non-empty TensorList");
    for (uint32_t i = 0; i < n; i++)
        if (!x[i].meta)
            return unsupported(c, "a list with None");
    struct geometry g = geometry_of(x[0]);
    uint32_t at = wrap_dim(c, arg_int(c, 1), g.n + 1);
    if (c->failed)
        return false;
    if (at < g.n) {
        if (!check_entries(c, x, n) || !geometry_insert(c, &g, at, num(c, n), SYM_ID_ZERO))
            return false;
        struct geometry first = geometry_of(x[0]); /* The guards of cat may change the geometry. */
        sym_id shape[TENSOR_MAX_DIM];
        for (uint32_t i = 0, k = 0; i < g.n; i++)
            shape[i] = i == at ? num(c, n) : first.size[k++];
        return ret_tensor(c, call_view(c, call_cat(c, x, n, at), shape, g.n));
    }
    struct tensor *wider = scratch(c, n * sizeof(*wider));
    if (eager(c) && !check_entries(c, x, n))
        return false;
    for (uint32_t i = 0; wider && i < n; i++)
        wider[i] = call_unsqueeze(c, x[i], at);
    return wider && ret_tensor(c, call_cat(c, wider, n, at));
}

/* hstack, vstack, dstack: param is the minimum number of dimensions. It is 4 for column_stack. */
bool rule_hstack(struct call *c)
{
    static const char *const names[] = { "", "hstack", "vstack", "dstack", "column_stack" };
    static const char *const least[] = { "", "aten.atleast_1d.default", "aten.atleast_2d.default",
                                         "aten.atleast_3d.default", "" };
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    REQUIRE(c, n > 0, "RuntimeError", "%s expects a non-empty TensorList", names[c->param]);
    struct tensor *wider = scratch(c, n * sizeof(*wider));
    for (uint32_t i = 0; wider && i < n && !c->failed; i++) {
        struct value args[] = { value_tensor(x[i]) };
        wider[i] = x[i];
        if (c->param < 4) {
            wider[i] = call_tensor(c, least[c->param], args, 1);
        } else if (x[i].meta && x[i].meta->ndim <= 1) {
            const sym_id column[] = { numel(c, x[i]), SYM_ID_ONE };
            wider[i] = call_reshape(c, x[i], column, 2);
        }
    }
    if (!wider || c->failed)
        return false;
    int64_t dim = c->param == 1   ? (wider[0].meta->ndim == 1 ? 0 : 1)
                  : c->param == 2 ? 0
                  : c->param == 3 ? 2
                                  : 1;
    return ret_tensor(c, call_cat(c, wider, n, dim));
}

/* --- block_diag --- */

static struct tensor zeros(struct call *c, sym_id rows, sym_id columns, struct tensor like)
{
    const sym_id size[] = { rows, columns };
    struct value args[] = { sizes_value(c, size, 2) };
    struct keyword keywords[] = { { STR("dtype"), dtype_value(like.meta->dtype) },
                                  { STR("device"), device_value(like.meta->device) } };
    struct value ret = call_op_keywords(c, "aten.zeros.default", args, 1, keywords, 2);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ .meta = NULL };
}

/* For the formula of its gradient, VariableType::block_diag keeps the sizes as numbers
 * (to_args_sizes of torch/csrc/autograd/VariableTypeManual.cpp). */
static void keep_numbers(struct call *c, const struct tensor *x, uint32_t n)
{
    bool keeps = false;
    for (uint32_t i = 0; i < n && !keeps; i++)
        keeps = ops_records_gradient(c->ops, x[i]);
    for (uint32_t i = 0; i < n && keeps; i++)
        for (uint32_t d = 0; x[i].meta && d < x[i].meta->ndim && !c->failed; d++)
            guard_int(c, x[i].meta->size[d]);
}

bool rule_block_diag(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    struct tensor *blocks = scratch(c, (n + 1) * sizeof(*blocks));
    sym_id columns = SYM_ID_ZERO, before = SYM_ID_ZERO;
    const sym_id row[] = { SYM_ID_ONE, SYM_ID_MINUS_ONE };
    if (!eager(c))
        keep_numbers(c, x, n);
    for (uint32_t i = 0; blocks && i < n && !c->failed; i++) {
        if (!x[i].meta)
            return unsupported(c, "a list with None");
        REQUIRE(c, x[i].meta->ndim <= 2, "RuntimeError",
                "%sInput tensors must have 2 or fewer dimensions. Input %u has %u dimensions",
                !eager(c) ? "" : "torch.block_diag: ", i, x[i].meta->ndim);
        blocks[i] = x[i].meta->ndim < 2 ? call_view(c, x[i], row, 2) : x[i];
        if (blocks[i].meta)
            columns = add(c, columns, blocks[i].meta->size[1]);
    }
    if (n == 0) {
        const sym_id none[] = { SYM_ID_ONE, SYM_ID_ZERO };
        return ret_tensor(c, new_tensor(c, DTYPE_F32, (struct device){ DEVICE_CPU, -1 }, none, 2));
    }
    for (uint32_t i = 0; blocks && i < n && !c->failed; i++) {
        const struct tensor_meta *m = blocks[i].meta;
        sym_id after = sub(c, sub(c, columns, before), m->size[1]);
        struct tensor line[] = { zeros(c, m->size[0], before, blocks[i]), blocks[i],
                                 zeros(c, m->size[0], after, blocks[i]) };
        before = add(c, before, m->size[1]);
        blocks[i] = call_cat(c, line, 3, 1);
    }
    return blocks && !c->failed && ret_tensor(c, call_cat(c, blocks, n, 0));
}

/* --- _chunk_cat --- */

static bool check_chunks(struct call *c, const struct tensor *x, uint32_t n, int64_t *dim,
                         int64_t chunks)
{
    bool same_rank = true;
    REQUIRE(c, chunks >= 1, "RuntimeError", "_chunk_cat expects positive num_chunks");
    REQUIRE(c, n > 0, "RuntimeError", "_chunk_cat expects a non-empty input tensor list");
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        CHECK(c, py_gt(c, numel(c, x[i]), SYM_ID_ZERO), "RuntimeError",
              "_chunk_cat expects non-empty tensor");
        REQUIRE(c, x[i].meta->dtype == x[0].meta->dtype, "RuntimeError",
                "_chunk_cat expects all input tensors with the same dtype");
        REQUIRE(c, device_equal(x[i].meta->device, x[0].meta->device), "RuntimeError",
                "_chunk_cat expects all inputs tensors on the same device");
        same_rank = same_rank && x[i].meta->ndim == x[0].meta->ndim;
    }
    if (same_rank) {
        *dim = wrap_dim(c, *dim, x[0].meta->ndim);
        return !c->failed;
    }
    REQUIRE(c, *dim >= 0, "RuntimeError",
            "_chunk_cat expects non-negative dim when input tensors have different ndims");
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(c, *dim < x[i].meta->ndim, "RuntimeError",
                "_chunk_cat expects dim < ndim for all input tensors");
    return !c->failed;
}

static bool check_leading(struct call *c, const struct tensor *x, uint32_t n, uint32_t dim)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0; d < dim && !c->failed; d++)
            if (guard_bool(c, py_ne(c, x[i].meta->size[d], x[0].meta->size[d])))
                return refuse(c, "RuntimeError",
                              "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all "
                              "tensors");
    return !c->failed;
}

static struct tensor padded_chunks(struct call *c, struct tensor x, uint32_t dim, sym_id chunks)
{
    sym_id size[TENSOR_MAX_DIM + 2];
    const struct tensor_meta *m = x.meta;
    for (uint32_t d = 0; d < dim; d++)
        size[d] = m->size[d];
    size[dim] = chunks;
    size[dim + 1] = SYM_ID_MINUS_ONE;
    sym_id length = m->size[dim];
    sym_id whole = mul(c, floordiv(c, sub(c, add(c, length, chunks), SYM_ID_ONE), chunks), chunks);
    if (guard_bool(c, py_ne(c, whole, length))) {
        sym_id pad[2 * TENSOR_MAX_DIM];
        uint32_t n = 2 * (m->ndim - dim - 1);
        for (uint32_t i = 0; i <= n; i++)
            pad[i] = SYM_ID_ZERO;
        pad[n + 1] = sub(c, whole, length);
        struct value args[] = { value_tensor(x), sizes_value(c, pad, n + 2),
                                value_int(SYM_ID_ZERO) };
        x = call_tensor(c, "aten.constant_pad_nd.default", args, 3);
    }
    return call_reshape(c, x, size, dim + 2);
}

bool rule_chunk_cat(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    int64_t dim = arg_int(c, 1), chunks = arg_int(c, 2);
    for (uint32_t i = 0; i < n; i++)
        if (!x[i].meta)
            return unsupported(c, "a list with None");
    if (!check_chunks(c, x, n, &dim, chunks) || !check_leading(c, x, n, (uint32_t)dim))
        return false;
    struct tensor *padded = scratch(c, n * sizeof(*padded));
    for (uint32_t i = 0; padded && i < n && !c->failed; i++)
        padded[i] = padded_chunks(c, x[i], (uint32_t)dim, num(c, chunks));
    return padded && !c->failed && ret_tensor(c, call_cat(c, padded, n, dim + 1));
}

/* --- meshgrid --- */

bool rule_meshgrid(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    struct str indexing = c->param ? arg_string(c, 1) : STR("ij");
    bool swap = str_eq(indexing, STR("xy")) && n >= 2;
    REQUIRE(c, n > 0, "RuntimeError", "meshgrid expects a non-empty TensorList");
    REQUIRE(c, swap || str_eq(indexing, STR("ij")) || str_eq(indexing, STR("xy")), "RuntimeError",
            "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %.*s",
            STR_ARG(indexing));
    if (!check_ndim(c, n))
        return false;
    sym_id shape[TENSOR_MAX_DIM], own[TENSOR_MAX_DIM];
    struct tensor grids[TENSOR_MAX_DIM], source[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < n; i++) {
        source[i] = x[swap && i < 2 ? 1 - i : i];
        if (!source[i].meta)
            return unsupported(c, "a list with None");
        REQUIRE(c, source[i].meta->ndim <= 1, "RuntimeError",
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor of "
                "%u dimensions",
                source[i].meta->ndim);
        shape[i] = source[i].meta->ndim ? source[i].meta->size[0] : SYM_ID_ONE;
    }
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        for (uint32_t k = 0; k < n; k++)
            own[k] = k == i ? SYM_ID_MINUS_ONE : SYM_ID_ONE;
        grids[i] = call_expand(c, call_view(c, source[i], own, n), shape, n);
    }
    if (swap) {
        struct tensor first = grids[0];
        grids[0] = grids[1];
        grids[1] = first;
    }
    return !c->failed && ret_list(c, grids, n);
}
