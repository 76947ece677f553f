#include "replay/backend/cpu/pointwise.h"
#include "replay/backend/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kernel_row rows[] = {
#define KERNEL(base, run, param) { base, kernel_##run, param },
#include "replay/backend/cpu/kernels.def"
#undef KERNEL
#define POINT(base, ...) { #base, kernel_point, POINT_##base },
#include "replay/backend/cpu/pointwise.def"
#undef POINT
};

static const struct kernel_row *row_named(struct str base)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return &rows[i];
    return NULL;
}

/* add_ goes by add unless it has a row of its own, _foreach_add by add. */
const struct kernel_row *kernel_find(const struct schema *schema)
{
    struct str base = schema->base;
    if (str_starts(base, STR("_foreach_")))
        base = str_from(base, 9);
    const struct kernel_row *row = row_named(base);
    if (!row && base.n > 1 && base.p[base.n - 1] == '_')
        row = row_named(str_first(base, base.n - 1));
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

static struct value item_of(const struct kernel *k, struct value v)
{
    bool list = v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
    return k->foreach && list && k->item < v.n ? v.u.items[k->item] : v;
}

static bool find_arg(const struct kernel *k, const char *name, struct value *ret)
{
    const struct schema *s = k->call->schema;
    for (uint32_t i = 0; i < s->n_args; i++)
        if (str_is(s->args[i].name, name)) {
            *ret = item_of(k, k->call->args[i]);
            return true;
        }
    return false;
}

/* What schemas of _foreach_ operators call their numbers. */
static const char *const foreach_names[] = { "scalar", "scalars", "weights", "exponent", "other" };

struct value value_arg(const struct kernel *k, const char *name)
{
    struct value ret = value_none();
    bool found = find_arg(k, name, &ret);
    bool number = strcmp(name, "self") && strcmp(name, "alpha");
    for (size_t i = 0; k->foreach && number && !found && i < 5; i++)
        found = find_arg(k, foreach_names[i], &ret);
    return ret;
}

bool has_arg(const struct kernel *k, const char *name)
{
    return value_arg(k, name).kind != VALUE_NONE;
}

struct tensor tensor_arg(struct kernel *k, const char *name)
{
    struct value v = value_arg(k, name);
    if (v.kind == VALUE_TENSOR)
        return v.u.tensor;
    if (v.kind != VALUE_NONE)
        kernel_fail(k, "%s is no tensor", name);
    return (struct tensor){ 0 };
}

static int64_t int_of(const struct kernel *k, struct value v, int64_t otherwise)
{
    int64_t x;
    if (v.kind == VALUE_BOOL)
        return v.u.sym == SYM_ID_TRUE;
    if (v.kind == VALUE_FLOAT)
        return (int64_t)sym_to_double(k->call->pool, v.u.sym);
    return v.kind == VALUE_INT && sym_to_i64(k->call->pool, v.u.sym, &x) ? x : otherwise;
}

static double real_of(const struct kernel *k, struct value v, double otherwise)
{
    if (v.kind == VALUE_COMPLEX)
        return v.u.complex.re;
    if (v.kind == VALUE_BOOL)
        return v.u.sym == SYM_ID_TRUE;
    return value_is_number(v) ? sym_to_double(k->call->pool, v.u.sym) : otherwise;
}

int64_t int_arg(const struct kernel *k, const char *name, int64_t otherwise)
{
    return int_of(k, value_arg(k, name), otherwise);
}

double real_arg(const struct kernel *k, const char *name, double otherwise)
{
    return real_of(k, value_arg(k, name), otherwise);
}

cdouble complex_arg(const struct kernel *k, const char *name, cdouble otherwise)
{
    struct value v = value_arg(k, name);
    if (v.kind == VALUE_COMPLEX)
        return complex_of(v.u.complex.re, v.u.complex.im);
    return value_is_number(v) ? real_of(k, v, 0) : otherwise;
}

bool bool_arg(const struct kernel *k, const char *name, bool otherwise)
{
    return int_of(k, value_arg(k, name), otherwise) != 0;
}

struct str text_arg(const struct kernel *k, const char *name)
{
    struct value v = value_arg(k, name);
    return v.kind == VALUE_STRING ? v.u.text : (struct str){ 0 };
}

uint32_t list_arg(const struct kernel *k, const char *name, const struct value **items)
{
    struct value v = value_arg(k, name);
    bool list = v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
    *items = list ? v.u.items : NULL;
    return list ? v.n : 0;
}

uint32_t ints_arg(const struct kernel *k, const char *name, int64_t *ret, uint32_t max)
{
    const struct value *items;
    struct value v = value_arg(k, name);
    uint32_t n = list_arg(k, name, &items);
    if (value_is_number(v) && max)
        return ret[0] = int_of(k, v, 0), 1;
    for (uint32_t i = 0; i < n && i < max; i++)
        ret[i] = int_of(k, items[i], 0);
    return n < max ? n : max;
}

uint32_t reals_arg(const struct kernel *k, const char *name, double *ret, uint32_t max)
{
    const struct value *items;
    uint32_t n = list_arg(k, name, &items);
    for (uint32_t i = 0; i < n && i < max; i++)
        ret[i] = real_of(k, items[i], 0);
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
    struct value v = k->call->result;
    return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE ? v.n : v.kind == VALUE_TENSOR;
}

struct tensor result(const struct kernel *k, uint32_t i)
{
    struct value v = k->call->result;
    if (k->foreach) /* in place there is no result */
        v = item_of(k, v.kind == VALUE_NONE ? k->call->args[0] : v);
    else if ((v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && i < v.n)
        v = v.u.items[i];
    return v.kind == VALUE_TENSOR ? v.u.tensor : (struct tensor){ 0 };
}

uint32_t tensor_sizes(const struct kernel *k, struct tensor x, int64_t *size)
{
    uint32_t ndim = x.meta ? x.meta->ndim : 0;
    for (uint32_t i = 0; i < ndim; i++)
        if (!sym_to_i64(k->call->pool, x.meta->size[i], &size[i]))
            size[i] = 0;
    return ndim;
}

static bool holds_storage(const struct value *v, uint32_t storage, unsigned depth)
{
    if (v->kind == VALUE_TENSOR)
        return v->u.tensor.storage == storage;
    if ((v->kind == VALUE_LIST || v->kind == VALUE_TUPLE) && depth < 4)
        for (uint32_t i = 0; i < v->n; i++)
            if (holds_storage(&v->u.items[i], storage, depth + 1))
                return true;
    return false;
}

bool is_view(const struct kernel *k, struct tensor x)
{
    const struct schema *s = k->call->schema;
    bool found = false;
    for (uint32_t i = 0; i < s->n_args; i++) {
        bool here = holds_storage(&k->call->args[i], x.storage, 0);
        if (here && s->args[i].written)
            return false;
        found |= here;
    }
    return found;
}

/* ---- Arrays ---- */

void *room(struct kernel *k, int64_t n, size_t size)
{
    void *p = n < 0 || (uint64_t)n > SIZE_MAX / 64
                  ? NULL
                  : arena_alloc_array(&k->arena, (size_t)n + 1, size, alignof(max_align_t));
    if (!p && !k->failed)
        err_nomem(k->err);
    k->failed |= !p;
    return k->failed ? NULL : p;
}

struct dense dense_new(struct kernel *k, enum dense_kind kind, const int64_t *size, uint32_t ndim)
{
    struct dense ret = { .kind = kind, .ndim = ndim, .n = 1 };
    for (uint32_t i = 0; i < ndim; i++) {
        ret.size[i] = size[i];
        if (__builtin_mul_overflow(ret.n, size[i], &ret.n))
            ret.n = size[i] == 0 ? 0 : INT64_MAX;
    }
    ret.u.p = room(k, ret.n, dense_size(kind));
    ret.n = ret.u.p ? ret.n : 0;
    return ret;
}

/* A tensor's elements in order, their places in its memory. */
struct cursor {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], at[TENSOR_MAX_DIM], place, n;
};

static bool cursor_of(struct kernel *k, struct tensor x, struct cursor *c)
{
    const struct sym_pool *pool = k->call->pool;
    size_t reach;
    struct memory *m = storage_at(k->call->storages, x.storage);
    if (!x.meta || !tensor_reach(pool, x.meta, &reach) || (reach && (!m || m->bytes < reach)))
        return kernel_fail(k, "a tensor without plain strides, or without memory"), false;
    *c = (struct cursor){ .ndim = x.meta->ndim, .n = 1 };
    tensor_sizes(k, x, c->size);
    sym_to_i64(pool, x.meta->offset, &c->place);
    for (uint32_t i = 0; i < c->ndim; i++) {
        sym_to_i64(pool, x.meta->stride[i], &c->stride[i]);
        if (__builtin_mul_overflow(c->n, c->size[i], &c->n))
            return kernel_fail(k, "a tensor of more than 2^63 elements"), false;
    }
    return true;
}

static void cursor_next(struct cursor *c)
{
    for (uint32_t i = c->ndim; i-- > 0;) {
        c->place += c->stride[i];
        if (++c->at[i] < c->size[i])
            return;
        c->place -= c->stride[i] * c->size[i];
        c->at[i] = 0;
    }
}

/* Most of what comes: elements one after the other, of the commonest dtypes. */
static bool dense_in_memory(const struct cursor *c)
{
    int64_t step = 1;
    for (uint32_t i = c->ndim; i-- > 0; step *= c->size[i])
        if (c->size[i] != 1 && c->stride[i] != step)
            return false;
    return true;
}

static bool load_run(struct dense *to, enum dtype dtype, const void *p, int64_t place)
{
    if (to->kind == DENSE_REAL && dtype == DTYPE_F32)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = (double)((const float *)p)[place + i];
    else if ((to->kind == DENSE_REAL && dtype == DTYPE_F64) ||
             (to->kind == DENSE_INT && dtype == DTYPE_I64))
        memcpy(to->u.p, (const double *)p + place, (size_t)to->n * sizeof(double));
    else if (to->kind == DENSE_INT && dtype == DTYPE_B8)
        for (int64_t i = 0; i < to->n; i++)
            to->u.i[i] = ((const uint8_t *)p)[place + i] != 0;
    else if (to->kind == DENSE_REAL && dtype == DTYPE_BF16)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = load_real(DTYPE_BF16, p, place + i);
    else if (to->kind == DENSE_REAL && dtype == DTYPE_F16)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = load_real(DTYPE_F16, p, place + i);
    else
        return false;
    return true;
}

static bool store_run(const struct dense *x, enum dtype dtype, void *p, int64_t place)
{
    if (x->kind == DENSE_REAL && dtype == DTYPE_F32)
        for (int64_t i = 0; i < x->n; i++)
            ((float *)p)[place + i] = (float)x->u.r[i];
    else if ((x->kind == DENSE_REAL && dtype == DTYPE_F64) ||
             (x->kind == DENSE_INT && dtype == DTYPE_I64))
        memcpy((double *)p + place, x->u.p, (size_t)x->n * sizeof(double));
    else
        return false;
    return true;
}

struct dense load_as(struct kernel *k, struct tensor x, enum dense_kind kind)
{
    struct cursor c;
    if (k->failed || !cursor_of(k, x, &c))
        return (struct dense){ .kind = kind };
    struct dense ret = dense_new(k, kind, c.size, c.ndim);
    enum dtype dtype = x.meta->dtype;
    const void *p = ret.n ? storage_at(k->call->storages, x.storage)->p : NULL;
    bool run = ret.n && dense_in_memory(&c) && load_run(&ret, dtype, p, c.place);
    for (int64_t i = 0; i < ret.n && !run; i++, cursor_next(&c)) {
        switch (kind) {
        case DENSE_INT: ret.u.i[i] = load_int(dtype, p, c.place); break;
        case DENSE_REAL: ret.u.r[i] = load_real(dtype, p, c.place); break;
        case DENSE_COMPLEX: ret.u.c[i] = load_complex(dtype, p, c.place); break;
        }
    }
    for (int64_t i = 0; x.meta->conj && kind == DENSE_COMPLEX && i < ret.n; i++)
        ret.u.c[i] = conj(ret.u.c[i]);
    for (int64_t i = 0; x.meta->neg && kind == DENSE_REAL && i < ret.n; i++)
        ret.u.r[i] = -ret.u.r[i];
    return ret;
}

struct dense load(struct kernel *k, struct tensor x)
{
    return load_as(k, x, x.meta ? dense_kind_of(x.meta->dtype) : DENSE_REAL);
}

struct dense load_value(struct kernel *k, struct value value, enum dense_kind kind)
{
    if (value.kind == VALUE_TENSOR)
        return load_as(k, value.u.tensor, kind);
    struct dense ret = dense_new(k, kind, NULL, 0);
    if (!ret.u.p)
        return ret;
    if (kind == DENSE_INT)
        ret.u.i[0] = int_of(k, value, 0);
    else if (kind == DENSE_REAL)
        ret.u.r[0] = real_of(k, value, 0);
    else
        ret.u.c[0] = value.kind == VALUE_COMPLEX ? complex_of(value.u.complex.re, value.u.complex.im)
                                                 : real_of(k, value, 0);
    return ret;
}

/* Elements of x at the places that strides name. */
static struct dense gather_strided(struct kernel *k, struct dense x, const int64_t *size,
                                   const int64_t *stride, uint32_t ndim)
{
    struct dense ret = dense_new(k, x.kind, size, ndim);
    struct cursor c = { .ndim = ndim };
    memcpy(c.size, size, ndim * sizeof *size);
    memcpy(c.stride, stride, ndim * sizeof *stride);
    for (int64_t i = 0; i < ret.n; i++, cursor_next(&c)) {
        if (x.kind == DENSE_COMPLEX)
            ret.u.c[i] = x.u.c[c.place];
        else
            ret.u.i[i] = x.u.i[c.place];
    }
    return ret;
}

struct dense dense_broadcast(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim)
{
    int64_t stride[TENSOR_MAX_DIM], step = 1;
    bool same = x.ndim == ndim;
    for (uint32_t i = 0; i < ndim && same; i++)
        same = x.size[i] == size[i];
    if (same || k->failed)
        return x;
    if (x.ndim > ndim)
        return kernel_fail(k, "a tensor of %u dimensions does not broadcast to %u", x.ndim, ndim), x;
    for (uint32_t i = ndim; i-- > 0;) {
        uint32_t from = i + x.ndim - ndim;
        bool there = i + x.ndim >= ndim;
        stride[i] = !there || x.size[from] == 1 ? 0 : step;
        if (there && x.size[from] != 1 && x.size[from] != size[i])
            return kernel_fail(k, "sizes %lld and %lld do not broadcast", (long long)x.size[from],
                               (long long)size[i]), x;
        step *= there ? x.size[from] : 1;
    }
    return gather_strided(k, x, size, stride, ndim);
}

struct dense dense_permute(struct kernel *k, struct dense x, const uint32_t *order)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], from[TENSOR_MAX_DIM], step = 1;
    for (uint32_t i = x.ndim; i-- > 0; step *= x.size[i])
        from[i] = step;
    for (uint32_t i = 0; i < x.ndim; i++) {
        size[i] = x.size[order[i]];
        stride[i] = from[order[i]];
    }
    return k->failed ? x : gather_strided(k, x, size, stride, x.ndim);
}

struct dense dense_reshape(struct dense x, const int64_t *size, uint32_t ndim)
{
    x.ndim = ndim;
    memcpy(x.size, size, ndim * sizeof *size);
    return x;
}

static int64_t truncated(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

struct dense dense_convert(struct kernel *k, struct dense x, enum dense_kind kind)
{
    if (x.kind == kind || k->failed)
        return x;
    struct dense ret = dense_new(k, kind, x.size, x.ndim);
    for (int64_t i = 0; i < ret.n; i++) {
        double re = x.kind == DENSE_INT    ? (double)x.u.i[i]
                    : x.kind == DENSE_REAL ? x.u.r[i]
                                           : creal(x.u.c[i]);
        if (kind == DENSE_INT)
            ret.u.i[i] = truncated(re);
        else if (kind == DENSE_REAL)
            ret.u.r[i] = re;
        else
            ret.u.c[i] = re;
    }
    return ret;
}

void store(struct kernel *k, struct tensor to, struct dense x)
{
    struct cursor c;
    if (k->failed || !to.meta || !cursor_of(k, to, &c))
        return;
    if (c.n != x.n) {
        kernel_fail(k, "%lld values for %lld elements", (long long)x.n, (long long)c.n);
        return;
    }
    if (c.n == 0)
        return;
    struct memory *m = storage_at(k->call->storages, to.storage);
    if (m->borrowed) {
        kernel_fail(k, "a weight of the archive would be written in place");
        return;
    }
    enum dtype dtype = to.meta->dtype;
    if (!to.meta->neg && dense_in_memory(&c) && store_run(&x, dtype, m->p, c.place))
        return;
    for (int64_t i = 0; i < c.n; i++, cursor_next(&c)) {
        if (x.kind == DENSE_INT)
            store_int(dtype, m->p, c.place, x.u.i[i]);
        else if (x.kind == DENSE_REAL)
            store_real(dtype, m->p, c.place, to.meta->neg ? -x.u.r[i] : x.u.r[i]);
        else
            store_complex(dtype, m->p, c.place, to.meta->conj ? conj(x.u.c[i]) : x.u.c[i]);
    }
}

enum dense_kind kind_of_value(const struct kernel *k, struct value value)
{
    (void)k;
    if (value.kind == VALUE_TENSOR)
        return dense_kind_of(value.u.tensor.meta->dtype);
    return value.kind == VALUE_COMPLEX ? DENSE_COMPLEX
           : value.kind == VALUE_FLOAT ? DENSE_REAL
                                       : DENSE_INT;
}

struct around around_dim(const struct dense *x, uint32_t dim)
{
    struct around ret = { 1, 1, 1 };
    for (uint32_t i = 0; i < x->ndim; i++) {
        if (i < dim)
            ret.outer *= x->size[i];
        else if (i == dim)
            ret.n = x->size[i];
        else
            ret.inner *= x->size[i];
    }
    return ret;
}

/* ---- Other operators ---- */

struct value run_op(struct kernel *k, const char *name, const struct value *args, uint32_t n)
{
    struct exec *exec = k->call->exec;
    const struct op *op = ops_find(exec->ops, str_of(name));
    struct value ret = value_none();
    if (k->failed)
        return ret;
    if (!op) {
        kernel_fail(k, "it is made of %s, which has no rule", name);
        return ret;
    }
    enum exec_outcome outcome = exec_call(exec, op, args, n, NULL, 0, &ret, k->err);
    if (outcome == EXEC_DONE)
        return ret;
    if (!k->err->kind)
        kernel_fail(k, "%s: %.*s", name, STR_ARG(ops_error(exec->ops)->text));
    k->failed = true;
    return value_none();
}

struct tensor run_tensor(struct kernel *k, const char *name, const struct value *args, uint32_t n)
{
    struct value ret = run_op(k, name, args, n);
    if (ret.kind != VALUE_TENSOR && !k->failed)
        kernel_fail(k, "%s gave no tensor", name);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ 0 };
}

struct value run_same_args(struct kernel *k, const char *name, uint32_t skip)
{
    const struct schema *s = k->call->schema;
    uint32_t n = s->n_positional > skip ? s->n_positional - skip : 0;
    return run_op(k, name, k->call->args + skip, n);
}

void copy_elements(struct kernel *k, struct tensor from, struct tensor to)
{
    if (!k->failed && from.meta && to.meta)
        store(k, to, load(k, from));
}

void copy_results(struct kernel *k, struct value from)
{
    if (from.kind == VALUE_TENSOR)
        copy_elements(k, from.u.tensor, result(k, 0));
    for (uint32_t i = 0; (from.kind == VALUE_LIST || from.kind == VALUE_TUPLE) && i < from.n; i++)
        if (from.u.items[i].kind == VALUE_TENSOR)
            copy_elements(k, from.u.items[i].u.tensor, result(k, i));
}

/* ---- Random numbers: splitmix64 ---- */

struct random random_of(const struct kernel *k)
{
    return (struct random){ k->call->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du };
}

uint64_t random_bits(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_uniform(struct random *r)
{
    return (double)(random_bits(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
    double radius = sqrt(-2 * log1p(-random_uniform(r)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(r));
}
