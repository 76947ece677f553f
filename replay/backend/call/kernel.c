#include "replay/backend/call/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"

/* ---- Rows ---- */

static size_t row_slot(struct str base)
{
    return hash_str(base) % KERNEL_SLOTS;
}

void kernel_table_make(struct kernel_table *table, const struct kernel_row *rows, size_t n)
{
    memset(table, 0, sizeof *table);
    table->rows = rows;
    for (size_t i = 0; i < n && i < KERNEL_MOST_ROWS; i++) {
        size_t at = row_slot(str_of(rows[i].base));
        while (table->slots[at])
            at = (at + 1) % KERNEL_SLOTS;
        table->slots[at] = (uint16_t)(i + 1);
    }
}

static const struct kernel_row *row_named(const struct kernel_table *table, struct str base)
{
    for (size_t at = row_slot(base); table->slots[at]; at = (at + 1) % KERNEL_SLOTS) {
        const struct kernel_row *row = &table->rows[table->slots[at] - 1];
        if (str_is(base, row->base))
            return row;
    }
    return NULL;
}

const struct kernel_row *kernel_row_find(const struct kernel_table *table, struct str base)
{
    if (str_starts(base, STR("_foreach_")))
        base = str_from(base, 9);
    const struct kernel_row *row = row_named(table, base);
    if (!row && base.n > 1 && base.p[base.n - 1] == '_')
        row = row_named(table, str_first(base, base.n - 1));
    return row;
}

void kernel_fail(struct kernel *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!k->failed)
        err_setv(k->err, ERR_USAGE, format, args);
    va_end(args);
    k->failed = true;
}

/* ---- Arguments ---- */

static struct kernel_value foreach_item(const struct kernel *k, struct kernel_value v)
{
    bool list = v.kind == KERNEL_LIST || v.kind == KERNEL_TUPLE;
    return k->foreach && list && k->item < v.n ? v.u.items[k->item] : v;
}

static bool find_arg(const struct kernel *k, const char *name, struct kernel_value *ret)
{
    const struct backend_op *s = k->call->op;
    struct str wanted = str_of(name);
    for (uint32_t i = 0; i < s->n_args; i++)
        if (str_eq(s->args[i].name, wanted)) {
            *ret = foreach_item(k, k->call->args[i]);
            return true;
        }
    return false;
}

/* The names that schemas of _foreach_ operators have for their numbers. */
static const char *const foreach_names[] = { "scalar", "scalars", "weights", "exponent", "other" };

struct kernel_value value_arg(const struct kernel *k, const char *name)
{
    struct kernel_value ret = value_of_none();
    bool found = find_arg(k, name, &ret);
    bool number = k->foreach && !found && strcmp(name, "self") && strcmp(name, "alpha");
    for (size_t i = 0; number && !found && i < 5; i++)
        found = find_arg(k, foreach_names[i], &ret);
    return ret;
}

bool has_arg(const struct kernel *k, const char *name)
{
    return value_arg(k, name).kind != KERNEL_NONE;
}

struct kernel_tensor tensor_arg(struct kernel *k, const char *name)
{
    struct kernel_value v = value_arg(k, name);
    if (v.kind == KERNEL_TENSOR)
        return v.u.tensor;
    if (v.kind != KERNEL_NONE)
        kernel_fail(k, "%s is not a tensor", name);
    return (struct kernel_tensor){ 0 };
}

int64_t number_as_int(struct kernel_value v, int64_t otherwise)
{
    if (v.kind == KERNEL_FLOAT)
        return saturated_int(v.u.number.real);
    bool whole = v.kind == KERNEL_BOOL || (v.kind == KERNEL_INT && v.u.number.fits);
    return whole ? v.u.number.integer : otherwise;
}

double number_as_real(struct kernel_value v, double otherwise)
{
    if (v.kind == KERNEL_COMPLEX)
        return v.u.complex.re;
    return value_has_number(v) ? v.u.number.real : otherwise;
}

int64_t int_arg(const struct kernel *k, const char *name, int64_t otherwise)
{
    return number_as_int(value_arg(k, name), otherwise);
}

double real_arg(const struct kernel *k, const char *name, double otherwise)
{
    return number_as_real(value_arg(k, name), otherwise);
}

cdouble complex_arg(const struct kernel *k, const char *name, cdouble otherwise)
{
    struct kernel_value v = value_arg(k, name);
    if (v.kind == KERNEL_COMPLEX)
        return complex_of(v.u.complex.re, v.u.complex.im);
    return value_has_number(v) ? number_as_real(v, 0) : otherwise;
}

bool bool_arg(const struct kernel *k, const char *name, bool otherwise)
{
    return number_as_int(value_arg(k, name), otherwise) != 0;
}

struct str text_arg(const struct kernel *k, const char *name)
{
    struct kernel_value v = value_arg(k, name);
    return v.kind == KERNEL_STRING ? v.u.text : (struct str){ 0 };
}

uint32_t list_arg(const struct kernel *k, const char *name, const struct kernel_value **items)
{
    struct kernel_value v = value_arg(k, name);
    bool list = v.kind == KERNEL_LIST || v.kind == KERNEL_TUPLE;
    *items = list ? v.u.items : NULL;
    return list ? v.n : 0;
}

uint32_t ints_arg(const struct kernel *k, const char *name, int64_t *ret, uint32_t max)
{
    const struct kernel_value *items;
    struct kernel_value v = value_arg(k, name);
    uint32_t n = list_arg(k, name, &items);
    if (value_has_number(v) && max)
        return ret[0] = number_as_int(v, 0), 1;
    for (uint32_t i = 0; i < n && i < max; i++)
        ret[i] = number_as_int(items[i], 0);
    return n < max ? n : max;
}

void ints_per_dim(const struct kernel *k, const char *name, uint32_t dims, int64_t *ret,
                  int64_t otherwise)
{
    int64_t given[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, name, given, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < dims; i++)
        ret[i] = n == 0 ? otherwise : given[i < n ? i : n - 1];
}

uint32_t reals_arg(const struct kernel *k, const char *name, double *ret, uint32_t max)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, name, &items);
    for (uint32_t i = 0; i < n && i < max; i++)
        ret[i] = number_as_real(items[i], 0);
    return n < max ? n : max;
}

uint32_t wrapped_dim(int64_t dim, uint32_t ndim)
{
    int64_t n = ndim ? ndim : 1;
    dim += dim < 0 ? n : 0;
    return dim < 0 || dim >= n ? 0 : (uint32_t)dim;
}

void dims_arg(const struct kernel *k, const char *name, uint32_t ndim, bool *reduced)
{
    int64_t dims[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, name, dims, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < ndim; i++)
        reduced[i] = n == 0;
    for (uint32_t i = 0; i < n && ndim; i++)
        reduced[wrapped_dim(dims[i], ndim)] = true;
}

/* ---- Results ---- */

uint32_t n_results(const struct kernel *k)
{
    struct kernel_value v = k->call->result;
    return v.kind == KERNEL_LIST || v.kind == KERNEL_TUPLE ? v.n : v.kind == KERNEL_TENSOR;
}

struct kernel_tensor result(const struct kernel *k, uint32_t i)
{
    struct kernel_value v = k->call->result;
    if (k->foreach) /* an in-place call has no result */
        v = foreach_item(k, v.kind == KERNEL_NONE ? k->call->args[0] : v);
    else if ((v.kind == KERNEL_LIST || v.kind == KERNEL_TUPLE) && i < v.n)
        v = v.u.items[i];
    return v.kind == KERNEL_TENSOR ? v.u.tensor : (struct kernel_tensor){ 0 };
}

uint32_t tensor_sizes(struct kernel_tensor x, int64_t *size)
{
    uint32_t ndim = x.meta ? x.meta->ndim : 0;
    for (uint32_t i = 0; i < ndim; i++)
        size[i] = x.meta->size[i];
    return ndim;
}

static bool holds_storage(const struct kernel_value *v, uint32_t storage, unsigned depth)
{
    if (v->kind == KERNEL_TENSOR)
        return v->u.tensor.storage == storage;
    if ((v->kind == KERNEL_LIST || v->kind == KERNEL_TUPLE) && depth < 4)
        for (uint32_t i = 0; i < v->n; i++)
            if (holds_storage(&v->u.items[i], storage, depth + 1))
                return true;
    return false;
}

bool is_view(const struct kernel *k, struct kernel_tensor x)
{
    const struct backend_op *s = k->call->op;
    bool found = false;
    for (uint32_t i = 0; i < s->n_args; i++) {
        bool here = holds_storage(&k->call->args[i], x.storage, 0);
        if (here && s->args[i].written)
            return false;
        found |= here;
    }
    return found;
}

bool kernel_computes(const struct kernel *k)
{
    bool written = false;
    if (!k->call->op->returns_tensors)
        return false;
    for (uint32_t i = 0; i < k->call->op->n_args; i++)
        written |= k->call->op->args[i].written;
    for (uint32_t i = 0; i < n_results(k); i++) {
        struct kernel_tensor x = result(k, i);
        if (x.meta && !is_view(k, x))
            return true;
    }
    return written && n_results(k) == 0;
}

void *workspace(struct kernel *k, int64_t n, size_t size)
{
    void *p = n < 0 || (uint64_t)n > SIZE_MAX / 64
                  ? NULL
                  : arena_alloc_array(&k->arena, (size_t)n + 1, size, alignof(max_align_t));
    if (!p && !k->failed)
        err_nomem(k->err);
    k->failed |= !p;
    return k->failed ? NULL : p;
}

uint32_t foreach_items(const struct backend_call *call)
{
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->args[i].kind == KERNEL_LIST || call->args[i].kind == KERNEL_TUPLE)
            return call->args[i].n;
    return 0;
}

void run_foreach(struct kernel *k)
{
    uint32_t n = foreach_items(k->call);
    k->foreach = true;
    for (k->item = 0; k->item < n && !k->failed; k->item++)
        k->row->run(k);
    k->foreach = false;
}

/* ---- Other operators ---- */

struct kernel_value run_op(struct kernel *k, const char *name, const struct kernel_value *args,
                           uint32_t n)
{
    struct caller *caller = k->call->caller;
    struct kernel_value ret = value_of_none();
    if (k->failed || caller->kind->call(caller, name, args, n, &ret, k->err))
        return ret;
    k->failed = true;
    return value_of_none();
}

struct kernel_tensor run_tensor(struct kernel *k, const char *name, const struct kernel_value *args,
                                uint32_t n)
{
    struct kernel_value ret = run_op(k, name, args, n);
    if (ret.kind != KERNEL_TENSOR && !k->failed)
        kernel_fail(k, "%s did not return a tensor", name);
    return ret.kind == KERNEL_TENSOR ? ret.u.tensor : (struct kernel_tensor){ 0 };
}

struct kernel_value run_same_args(struct kernel *k, const char *name, uint32_t skip)
{
    const struct backend_op *s = k->call->op;
    uint32_t n = s->n_positional > skip ? s->n_positional - skip : 0;
    return run_op(k, name, k->call->args + skip, n);
}

void run_into(struct kernel *k, const char *name, const struct kernel_value *args, uint32_t n,
              struct kernel_value to)
{
    struct caller *caller = k->call->caller;
    if (!k->failed && !caller->kind->call_into(caller, name, args, n, to, k->err))
        k->failed = true;
}
