/* Operators that PyTorch itself implements with others (CompositeImplicitAutograd), which graphs
 * contain before their decomposition, and operators that are a view and a copy. The operators that
 * they call run on the same backend. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/call/kernel.h"

static struct kernel_value same_arg(const struct kernel *k, const char *name)
{
    return value_arg(k, name);
}

/* Runs the operator and writes into the call's own result. */
static void run_for_result(struct kernel *k, const char *name, const struct kernel_value *args,
                           uint32_t n)
{
    run_into(k, name, args, n, value_of_tensor(result(k, 0)));
}

/* ---- Products ---- */

/* Runs a matmul that writes into the memory of the result, viewed under other sizes. */
static void product_into(struct kernel *k, const char *name, const struct kernel_value *args,
                         uint32_t n, const int64_t *size, uint32_t ndim)
{
    struct kernel_tensor to = result(k, 0), seen = reshaped_view(k, to, size, ndim);
    if (k->failed || !to.meta)
        return;
    if (seen.meta)
        run_into(k, name, args, n, value_of_tensor(seen));
    else
        copy_elements(k, run_tensor(k, name, args, n), to);
}

/* Computes input @ weight.T + bias; the dimensions before the last one are folded into one. */
void composite_linear(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input"), w = tensor_arg(k, "weight");
    int64_t size[TENSOR_MAX_DIM], of_w[TENSOR_MAX_DIM], rows = 1;
    uint32_t ndim = tensor_sizes(x, size), w_ndim = tensor_sizes(w, of_w);
    if (!x.meta || !w.meta || ndim == 0 || w_ndim == 0)
        return;
    int64_t inner = size[ndim - 1], n = w_ndim > 1 ? of_w[0] : 1;
    for (uint32_t i = 0; i + 1 < ndim; i++)
        rows *= size[i];
    if (w_ndim == 1)
        w = reshaped(k, w, (int64_t[]){ 1, inner }, 2);
    struct kernel_value args[] = {
        same_arg(k, "bias"), value_of_tensor(reshaped(k, x, (int64_t[]){ rows, inner }, 2)),
        run_op(k, "aten.t.default", (struct kernel_value[]){ value_of_tensor(w) }, 1)
    };
    bool bias = args[0].kind == KERNEL_TENSOR;
    product_into(k, bias ? "aten.addmm.default" : "aten.mm.default", bias ? args : args + 1,
                 bias ? 3 : 2, (int64_t[]){ rows, n }, 2);
}

/* ---- Dropout, padding ---- */

/* dropout is the identity in evaluation. PARAM: whole channels are dropped by a mask of the first
 * two dimensions. */
void composite_dropout(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    if (!bool_arg(k, "train", false)) {
        copy_elements(k, x, result(k, 0));
        return;
    }
    if (!k->row->param) {
        struct kernel_value args[] = { same_arg(k, "input"), same_arg(k, "p"),
                                       same_arg(k, "train") };
        struct kernel_value all = run_op(k, "aten.native_dropout.default", args, 3);
        if (value_has_items(all) && all.n)
            copy_results(k, all.u.items[0]);
        return;
    }
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t i = 2; i < ndim; i++)
        size[i] = 1;
    struct kernel_value shape[] = { value_of_tensor(x), value_of_ints(k, size, ndim) };
    struct kernel_value ones = run_op(k, "aten.new_ones.default", shape, 2);
    struct kernel_value drop[] = { ones, same_arg(k, "p"), same_arg(k, "train") };
    struct kernel_value kept = run_op(k, "aten.native_dropout.default", drop, 3);
    struct kernel_value args[] = { value_of_tensor(x), value_of_none() };
    if (kept.kind == KERNEL_TUPLE && kept.n) {
        args[1] = kept.u.items[0];
        run_for_result(k, "aten.mul.Tensor", args, 2);
    }
}

/* Pads with values from the opposite end (_pad_circular in PadNd.cpp). */
static void run_pad_circular(struct kernel *k, const int64_t *pad, uint32_t n)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t i = 0; i < n && i < ndim && !k->failed; i++) {
        uint32_t d = ndim - 1 - i;
        int64_t before = pad[2 * i], behind = pad[2 * i + 1];
        int64_t first = before < 0 ? -before : 0,
                kept = size[d] - first - (behind < 0 ? -behind : 0);
        struct kernel_value items[3], args[2];
        uint32_t parts = 0;
        int64_t nested_calls_of[3][2] = { { size[d] - before, before },
                                          { first, kept },
                                          { 0, behind } };
        for (uint32_t j = 0; j < 3; j++) {
            struct kernel_value slice[] = {
                value_of_tensor(x), value_of_int(d), value_of_int(nested_calls_of[j][0]),
                value_of_int(nested_calls_of[j][0] + nested_calls_of[j][1])
            };
            if (nested_calls_of[j][1] > 0)
                items[parts++] = run_op(k, "aten.slice.Tensor", slice, 4);
        }
        args[0] = value_of_items(KERNEL_LIST, items, parts);
        args[1] = value_of_int(d);
        x = run_tensor(k, "aten.cat.default", args, 2);
    }
    copy_elements(k, x, result(k, 0));
}

/* _trilinear: sums a product of three tensors, each with added dimensions, over some dimensions. */
void composite_trilinear(struct kernel *k)
{
    static const char *const names[][2] = { { "i1", "expand1" },
                                            { "i2", "expand2" },
                                            { "i3", "expand3" } };
    struct kernel_tensor product = { 0 };
    for (uint32_t i = 0; i < 3 && !k->failed; i++) {
        int64_t added[TENSOR_MAX_DIM];
        uint32_t n = ints_arg(k, names[i][1], added, TENSOR_MAX_DIM);
        struct kernel_tensor x = tensor_arg(k, names[i][0]);
        for (uint32_t j = 0; j < n && !k->failed; j++) {
            struct kernel_value args[] = { value_of_tensor(x), value_of_int(added[j]) };
            x = run_tensor(k, "aten.unsqueeze.default", args, 2);
        }
        struct kernel_value args[] = { value_of_tensor(product), value_of_tensor(x) };
        product = i ? run_tensor(k, "aten.mul.Tensor", args, 2) : x;
    }
    struct kernel_value args[] = { value_of_tensor(product), same_arg(k, "sumdim") };
    copy_elements(k, run_tensor(k, "aten.sum.dim_IntList", args, 2), result(k, 0));
}

/* pad: calls the operator of the mode. */
void composite_pad(struct kernel *k)
{
    struct str mode = text_arg(k, "mode");
    int64_t pad[2 * TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "pad", pad, 2 * TENSOR_MAX_DIM) / 2;
    struct kernel_value args[] = { same_arg(k, "self"), same_arg(k, "pad"), same_arg(k, "value") };
    bool constant = mode.n == 0 || str_is(mode, "constant"), reflect = str_is(mode, "reflect");
    char name[64] = "aten.constant_pad_nd.default";
    if (str_is(mode, "circular")) {
        run_pad_circular(k, pad, n);
        return;
    }
    if (!constant && !reflect && !str_is(mode, "replicate")) {
        kernel_fail(k, "padding mode %.*s", STR_ARG(mode));
        return;
    }
    if (!constant)
        snprintf(name, sizeof name, "aten.%s_pad%ud.default",
                 reflect ? "reflection" : "replication", n);
    if (args[2].kind == KERNEL_NONE)
        args[2] = value_of_int(0);
    run_for_result(k, name, args, constant ? 3 : 2);
}

/* ---- Copies of views ---- */

/* Copies the view: aten.permute_copy.out is aten.permute and a copy; narrow_copy is like it. */
void composite_view_copy(struct kernel *k)
{
    struct str base = k->call->op->base, overload = k->call->op->overload;
    char name[128];
    if (str_ends(overload, STR("_out")))
        overload = str_first(overload, overload.n - 4);
    if (overload.n == 0 || str_is(overload, "out"))
        overload = STR("default");
    snprintf(name, sizeof name, "aten.%.*s.%.*s", (int)str_find(base, STR("_copy")), base.p,
             STR_ARG(overload));
    copy_results(k, run_same_args(k, name, 0));
}

/* Copies the elements in order under other sizes. */
void composite_copy_in_order(struct kernel *k)
{
    copy_elements(k, tensor_arg(k, "self"), result(k, 0));
}

/* ---- Views of copies ---- */

/* Returns the view of x that the operator with the same base name gives; its arguments are those of
 * the call behind the first two. */
static struct kernel_tensor view_of_result(struct kernel *k, struct kernel_tensor x,
                                           size_t name_length)
{
    const struct backend_op *s = k->call->op;
    struct kernel_value args[BACKEND_MAX_ARGS];
    char name[128];
    uint32_t n = 0;
    snprintf(name, sizeof name, "aten.%.*s.%s", (int)name_length, s->base.p,
             str_starts(s->base, STR("slice"))    ? "Tensor"
             : str_starts(s->base, STR("select")) ? "int"
                                                  : "default");
    args[n++] = value_of_tensor(x);
    for (uint32_t i = 2; i < s->n_positional; i++)
        args[n++] = k->call->args[i];
    return run_tensor(k, name, args, n);
}

/* slice_scatter and similar operators: a copy of self, into whose view src is copied. */
void composite_view_scatter(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    copy_elements(k, tensor_arg(k, "self"), to);
    copy_elements(k, tensor_arg(k, "src"),
                  view_of_result(k, to, str_find(k->call->op->base, STR("_scatter"))));
}

/* slice_backward and select_backward: zeros, into whose view the gradient is copied. */
void composite_view_backward(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    zero_elements(k, to);
    copy_elements(k, tensor_arg(k, "grad_output"),
                  view_of_result(k, to, k->call->op->base.n - strlen("_backward")));
}

/* diag_embed: zeros, and x on one of their diagonals. */
void composite_diag_embed(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    struct kernel_value args[] = { value_of_tensor(to), same_arg(k, "offset"), same_arg(k, "dim1"),
                                   same_arg(k, "dim2") };
    zero_elements(k, to);
    copy_elements(k, tensor_arg(k, "self"), run_tensor(k, "aten.diagonal.default", args, 4));
}
