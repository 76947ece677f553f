/* einsum and the products of three tensors (aten/src/ATen/native/Linear.cpp). */
#include "replay/ops/rules/linalg/sumproduct.h"

enum { LABELS = 52, ELLIPSIS = LABELS, MAX_OPERANDS = 64 };

struct operand {
    struct tensor x;
    uint8_t label[TENSOR_MAX_DIM];
    uint32_t n;
};

struct einsum {
    struct operand *operand;
    uint32_t n;
    int64_t count[LABELS], place[LABELS];
    int64_t n_places, n_out, ellipsis_dims, ellipsis_at;
    bool ellipsis_out;
    sym_id label_size[LABELS], ellipsis_size[TENSOR_MAX_DIM];
    uint32_t present[TENSOR_MAX_DIM]; /* how many operands have a size other than 1 there */
};

static uint8_t label_of_letter(char ch)
{
    return (uint8_t)(ch <= 'Z' ? ch - 'A' : ch - 'a' + 26);
}

static bool read_inputs(struct call *c, struct einsum *e, struct str lhs)
{
    uint32_t at = 0;
    bool ellipsis = false;
    for (size_t i = 0; i < lhs.n; i++) {
        char ch = lhs.p[i];
        struct operand *o = &e->operand[at];
        if (ch == ' ')
            continue;
        if (ch == ',') {
            ellipsis = false;
            if (!require(c, ++at < e->n, "RuntimeError",
                         "einsum(): fewer operands were provided than specified in the equation"))
                return false;
            continue;
        }
        if (o->n == TENSOR_MAX_DIM)
            return unsupported(c, "einsum of more than %d dimensions", TENSOR_MAX_DIM);
        if (ch == '.') {
            if (!require(c, !ellipsis, "RuntimeError",
                         "einsum(): found '.' for operand %u for which an ellipsis was already "
                         "found",
                         at) ||
                !require(c, i + 2 < lhs.n && lhs.p[i + 1] == '.' && lhs.p[i + 2] == '.',
                         "RuntimeError",
                         "einsum(): found '.' for operand %u that is not part of any ellipsis", at))
                return false;
            i += 2;
            ellipsis = true;
            o->label[o->n++] = ELLIPSIS;
            continue;
        }
        if (!require(c, is_letter(ch), "RuntimeError",
                     "einsum(): invalid subscript given at index %zu in the equation string, "
                     "subscripts must be in [a-zA-Z]",
                     i))
            return false;
        o->label[o->n++] = label_of_letter(ch);
    }
    return require(c, at == e->n - 1, "RuntimeError",
                   "einsum(): more operands were provided than specified in the equation");
}

static bool count_labels(struct call *c, struct einsum *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const struct operand *o = &e->operand[i];
        int64_t ndim = ndim_of(o->x), n = o->n;
        bool ellipsis = false;
        for (uint32_t k = 0; k < o->n; k++) {
            if (o->label[k] == ELLIPSIS) {
                ellipsis = true;
                n--;
                if (ndim - n > e->ellipsis_dims)
                    e->ellipsis_dims = ndim - n;
            } else {
                e->count[o->label[k]]++;
            }
        }
        if (!require(c, ellipsis ? n <= ndim : n == ndim, "RuntimeError",
                     "einsum(): the number of subscripts in the equation (%d%s%d) for operand "
                     "%u%s",
                     (int)n,
                     ellipsis ? ") is more than the number of dimensions ("
                              : ") does not match the number of dimensions (",
                     (int)ndim, i, ellipsis ? "" : " and no ellipsis was given"))
            return false;
    }
    return true;
}

static bool read_output(struct call *c, struct einsum *e, struct str rhs)
{
    for (size_t i = 0; i < rhs.n; i++) {
        char ch = rhs.p[i];
        if (ch == ' ')
            continue;
        if (ch == '.') {
            if (!require(c, !e->ellipsis_out && i + 2 < rhs.n, "RuntimeError",
                         "einsum(): found '.' for output but an ellipsis (...) was already found"))
                return false;
            i += 2;
            e->ellipsis_at = e->n_places;
            e->n_places += e->ellipsis_dims;
            e->ellipsis_out = true;
            continue;
        }
        if (!require(c, is_letter(ch), "RuntimeError",
                     "einsum(): invalid subscript given in the output"))
            return false;
        uint8_t s = label_of_letter(ch);
        if (!require(c, e->count[s] > 0 && e->place[s] < 0, "RuntimeError",
                     "einsum(): output subscript %c%s", ch,
                     e->place[s] >= 0 ? " appears more than once in the output"
                                      : " does not appear in the equation for any input operand"))
            return false;
        e->place[s] = e->n_places++;
    }
    return true;
}

static bool place_labels(struct call *c, struct einsum *e, struct str equation, size_t arrow)
{
    for (uint32_t s = 0; s < LABELS; s++)
        e->place[s] = -1;
    if (arrow == equation.n) {
        e->n_places = e->ellipsis_dims;
        e->ellipsis_out = true;
        for (uint32_t s = 0; s < LABELS; s++)
            if (e->count[s] == 1)
                e->place[s] = e->n_places++;
    } else {
        struct str rhs = { equation.p + arrow + 2, equation.n - arrow - 2 };
        if (!read_output(c, e, rhs))
            return false;
    }
    e->n_out = e->n_places;
    if (!e->ellipsis_out) {
        e->ellipsis_at = e->n_places;
        e->n_places += e->ellipsis_dims;
    }
    for (uint32_t s = 0; s < LABELS; s++)
        if (e->count[s] > 0 && e->place[s] < 0)
            e->place[s] = e->n_places++;
    if (e->n_places > TENSOR_MAX_DIM)
        return unsupported(c, "einsum of more than %d dimensions", TENSOR_MAX_DIM);
    return true;
}

static void broadcast_label(struct call *c, struct einsum *e, sym_id *known, sym_id size,
                            int64_t place)
{
    if (!guard_bool(c, ne(c, size, SYM_ID_ONE)))
        return;
    bool fits = guard_bool(c, eq_int(c, *known, 1)) || guard_bool(c, eq(c, *known, size));
    require(c, fits, "RuntimeError",
            "einsum(): operands do not broadcast with remapped shapes: size %s and %s",
            sym_text(c, size), sym_text(c, *known));
    *known = size;
    e->present[place]++;
}

/* Permutes one operand so that every dimension is in its position. Those that it lacks have size
 * 1. */
static struct tensor align_operand(struct call *c, struct einsum *e, struct operand *o)
{
    int64_t order[TENSOR_MAX_DIM], dim = 0;
    for (int64_t i = 0; i < e->n_places; i++)
        order[i] = -1;
    struct tensor x = o->x;
    int64_t covered = (int64_t)ndim_of(x) - ((int64_t)o->n - 1);
    for (uint32_t k = 0; k < o->n && !c->failed; k++) {
        uint8_t s = o->label[k];
        if (s == ELLIPSIS) {
            for (int64_t j = e->ellipsis_dims - covered; j < e->ellipsis_dims; j++) {
                int64_t place = e->ellipsis_at + j;
                broadcast_label(c, e, &e->ellipsis_size[j], size_of(c, x, dim), place);
                order[place] = dim++;
            }
        } else if (order[e->place[s]] < 0) {
            broadcast_label(c, e, &e->label_size[s], size_of(c, x, dim), e->place[s]);
            order[e->place[s]] = dim++;
        } else { /* a repeated label selects the diagonal */
            int64_t before = order[e->place[s]];
            sym_id a = size_of(c, x, dim), b = size_of(c, x, before);
            require(c, guard_bool(c, eq(c, a, b)), "RuntimeError",
                    "einsum(): subscript is repeated but the sizes don't match, %s != %s",
                    sym_text(c, a), sym_text(c, b));
            x = CALL(c, "aten.diagonal.default", T(x), I(c, 0), I(c, before), I(c, dim));
            x = CALL(c, "aten.movedim.int", T(x), I(c, -1), I(c, before));
        }
    }
    for (int64_t i = 0; i < e->n_places && !c->failed; i++) {
        if (order[i] >= 0)
            continue;
        x = unsqueeze(c, x, dim);
        order[i] = dim++;
    }
    return permute(c, x, order, (uint32_t)e->n_places);
}

static struct tensor contract_operands(struct call *c, struct einsum *e, struct tensor a,
                                       struct tensor b)
{
    bool sum[TENSOR_MAX_DIM] = { false };
    int64_t alone_a[TENSOR_MAX_DIM], alone_b[TENSOR_MAX_DIM];
    uint32_t n_a = 0, n_b = 0;
    for (int64_t i = e->n_out; i < e->n_places && !c->failed; i++) {
        sym_id x = size_of(c, a, i), y = size_of(c, b, i);
        if (guard_bool(c, ne(c, x, SYM_ID_ONE)) && guard_bool(c, ne(c, y, SYM_ID_ONE))) {
            if (--e->present[i] == 1) {
                sum[i] = true;
                e->present[i] = 0;
            }
        } else if (e->present[i] == 1) {
            e->present[i] = 0;
            if (guard_bool(c, ne(c, x, SYM_ID_ONE)))
                alone_a[n_a++] = i;
            else
                alone_b[n_b++] = i;
        }
    }
    if (n_a)
        a = sum_dims(c, a, alone_a, n_a, true);
    if (n_b)
        b = sum_dims(c, b, alone_b, n_b, true);
    return sumproduct_pair(c, a, b, sum);
}

static struct tensor sum_rest(struct call *c, const struct einsum *e, struct tensor out)
{
    uint32_t n = (uint32_t)(e->n_places - e->n_out);
    if (n == 0)
        return out;
    if (e->n > 1)
        return view(c, out, sizes_of(out), (uint32_t)e->n_out);
    int64_t list[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < n; i++)
        list[i] = e->n_out + i;
    return sum_dims(c, out, list, n, false);
}

bool rule_einsum(struct call *c)
{
    struct str equation = arg_string(c, 0);
    const struct tensor *x;
    struct einsum *e = scratch(c, sizeof *e);
    uint32_t n = arg_tensors(c, 1, &x);
    struct operand *operands = scratch(c, (n ? n : 1) * sizeof *operands);
    if (!e || !operands)
        return false;
    if (!require(c, n > 0, "RuntimeError", "einsum(): must provide at least one operand"))
        return false;
    *e = (struct einsum){ .operand = operands, .n = n };
    for (uint32_t i = 0; i < n; i++)
        operands[i] = (struct operand){ .x = x[i] };
    for (uint32_t i = 0; i < LABELS; i++)
        e->label_size[i] = SYM_ID_ONE;
    for (uint32_t i = 0; i < TENSOR_MAX_DIM; i++)
        e->ellipsis_size[i] = SYM_ID_ONE;
    size_t arrow = 0;
    while (arrow < equation.n &&
           !(equation.p[arrow] == '-' && arrow + 1 < equation.n && equation.p[arrow + 1] == '>'))
        arrow++;
    if (!read_inputs(c, e, (struct str){ equation.p, arrow }) || !count_labels(c, e) ||
        !place_labels(c, e, equation, arrow))
        return false;
    for (uint32_t i = 0; i < n && !c->failed; i++)
        operands[i].x = align_operand(c, e, &operands[i]);
    if (c->failed)
        return false;
    struct tensor out = operands[0].x;
    for (uint32_t i = 1; i < n && !c->failed; i++)
        out = contract_operands(c, e, out, operands[i].x);
    return c->failed ? false : ret_tensor(c, sum_rest(c, e, out));
}

/* --- _trilinear --- */

static void read_dims(struct call *c, uint32_t i, uint32_t total, bool *ret)
{
    const int64_t *list;
    uint32_t n = arg_ints(c, i, &list);
    for (uint32_t k = 0; k < n && !c->failed; k++)
        ret[wrap_dim(c, list[k], total)] = true;
}

/* Evaluates the guards of the products that the kernel sums. All add the same guards, so one is
 * enough. */
static void guard_products(struct call *c, struct tensor *x, bool missing[3][TENSOR_MAX_DIM],
                           const bool *summed, uint32_t total, uint32_t unroll)
{
    bool first[TENSOR_MAX_DIM] = { false }, second[TENSOR_MAX_DIM] = { false };
    c->in_kernel = true;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < total; i++)
            if (missing[k][i])
                x[k] = unsqueeze(c, x[k], i);
        if (!missing[k][unroll])
            x[k] = CALL(c, "aten.narrow.default", T(x[k]), I(c, unroll), I(c, 0), I(c, 1));
    }
    for (uint32_t i = 0; i < total; i++) {
        bool gone = summed[i] && i != unroll;
        first[i] = gone && missing[2][i];
        second[i] = gone && !missing[2][i];
    }
    struct tensor buffer = sumproduct_pair(c, x[0], x[1], first);
    if (!c->failed)
        sumproduct_pair(c, buffer, x[2], second);
}

/* The kernel unrolls one dimension, whose size is therefore specialized. */
bool rule_trilinear(struct call *c)
{
    struct tensor x[3] = { arg_tensor(c, 0), arg_tensor(c, 1), arg_tensor(c, 2) };
    bool missing[3][TENSOR_MAX_DIM] = { { false } }, summed[TENSOR_MAX_DIM] = { false };
    int64_t unroll = arg_int(c, 7);
    uint32_t total = ndim_of(x[0]) + arg(c, 3).n;
    if (c->failed || total > TENSOR_MAX_DIM)
        return unsupported(c, "_trilinear of %u dimensions", total);
    require(c, unroll >= 0 && unroll < total, "RuntimeError", "unroll_dim must be in [0,%d]",
            (int)total - 1);
    for (uint32_t k = 0; k < 3; k++)
        read_dims(c, 3 + k, total, missing[k]);
    read_dims(c, 6, total, summed);
    sym_id out[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM];
    uint32_t n = 0, at[3] = { 0, 0, 0 };
    for (uint32_t i = 0; i < total && !c->failed; i++) {
        size[i] = SYM_ID_ONE;
        bool found = false; /* if sizes are equal, the first operand gives the size */
        for (uint32_t k = 0; k < 3; k++) {
            if (missing[k][i])
                continue;
            sym_id have = size_of(c, x[k], at[k]++);
            size[i] = found ? size[i] : have;
            found = true;
        }
        if (i == unroll)
            size[i] = num(c, guard_int(c, size[i]));
        if (!summed[i])
            out[n++] = size[i];
    }
    bool empty = is_int(c, size[unroll], 0);
    for (uint32_t k = 0; k < 3 && !c->failed && !empty; k++)
        empty = guard_bool(c, eq_int(c, numel(c, x[k]), 0));
    enum dtype dtype = dtype_of(x[0]);
    struct device device = device_of(x[0]);
    if (!c->failed && !empty)
        guard_products(c, x, missing, summed, total, (uint32_t)unroll);
    if (c->failed)
        return false;
    for (uint32_t i = 0, k = 0; i < total; i++) /* the order that the guards left */
        if (!summed[i])
            out[k++] = env_replace(c->env, size[i]);
    return ret_tensor(c, new_tensor(c, dtype, device, out, n));
}

bool rule_bilinear(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1), w = arg_tensor(c, 2);
    struct tensor bias = arg_tensor(c, 3);
    uint32_t n = ndim_of(a);
    require(c, n == ndim_of(b), "RuntimeError",
            "bilinear(): input dimensions do not match: got %u and %u", n, ndim_of(b));
    for (uint32_t i = 0; i + 1 < n && !c->failed; i++)
        require(c, guard_bool(c, eq(c, size_of(c, a, i), size_of(c, b, i))), "RuntimeError",
                "bilinear(): input batch dimensions do not match at dim %u: got %s and %s", i,
                sym_text(c, size_of(c, a, i)), sym_text(c, size_of(c, b, i)));
    const struct tensor side[] = { a, b };
    for (uint32_t k = 0; k < 2 && !c->failed; k++)
        require(c, guard_bool(c, eq(c, size_of(c, side[k], -1), size_of(c, w, 1 + (int64_t)k))),
                "RuntimeError",
                "bilinear(): input%u size does not match weight size: got %s but expected %s",
                k + 1, sym_text(c, size_of(c, side[k], -1)),
                sym_text(c, size_of(c, w, 1 + (int64_t)k)));
    sym_id *shape = syms(c, n);
    if (!shape || c->failed)
        return false;
    for (uint32_t i = 0; i + 1 < n; i++)
        shape[i] = size_of(c, a, i);
    shape[n - 1] = size_of(c, w, 0);
    sym_id flat_a[] = { SYM_ID_MINUS_ONE, size_of(c, a, -1) };
    sym_id flat_b[] = { SYM_ID_MINUS_ONE, size_of(c, b, -1) };
    struct tensor x = reshape(c, a, flat_a, 2), y = reshape(c, b, flat_b, 2);
    struct value e1 = dims(c, (int64_t[]){ 1, 3 }, 2), e2 = dims(c, (int64_t[]){ 0 }, 1);
    struct value e3 = dims(c, (int64_t[]){ 1, 2 }, 2), gone = dims(c, (int64_t[]){ 2, 3 }, 2);
    struct tensor out = CALL(c, "aten._trilinear.default", T(x), T(w), T(y), e1, e2, e3, gone);
    out = reshape(c, out, shape, n);
    return ret_tensor(c, some(bias) ? plus(c, T(out), T(bias)) : out);
}
