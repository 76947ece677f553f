#include "replay/backend/measure/ceilings.h"

#include <string.h>

#include "replay/backend/run/exec.h"
#include "replay/ops/layers.h"
#include "replay/shape/env/env.h"
#include "trace/base/clock.h"

/* sizes are doubled until a call takes this long */
#define LONG_US 4000.0
enum { REPEATS = 3 };

struct bench {
    struct shape_env *env;
    struct ops *ops;
    struct exec exec;
};

/* Also gives the memory back to the device, which is more than most graphs need. */
static void bench_release(struct bench *b)
{
    struct backend *backend = b->exec.caller.backend;
    exec_release(&b->exec);
    ops_free(b->ops);
    shape_env_free(b->env);
    if (backend->kind->trim) {
        const uint64_t budget = backend->pool.budget;
        backend->pool.budget = 1;
        backend->kind->trim(backend);
        backend->pool.budget = budget;
    }
}

static bool bench_init(struct bench *b, struct backend *backend, struct err *err)
{
    *b = (struct bench){ .env = shape_env_new(NULL, err) };
    b->ops = b->env ? ops_new(b->env, err) : NULL;
    if (!b->ops) {
        shape_env_free(b->env);
        return false;
    }
    exec_init(&b->exec, b->ops, backend, 0);
    return true;
}

static bool bench_tensor(struct bench *b, enum dtype dtype, const int64_t *size, uint32_t ndim,
                         struct value *ret, struct err *err)
{
    struct sym_pool *pool = ops_pool(b->ops);
    sym_id sizes[2], strides[2];
    int64_t stride = 1;
    for (uint32_t i = ndim; i-- > 0; stride *= size[i]) {
        sizes[i] = sym_integer(pool, size[i]);
        strides[i] = sym_integer(pool, stride);
    }
    const struct tensor_meta meta = { .dtype = dtype,
                                      .ndim = ndim,
                                      .size = sizes,
                                      .stride = strides,
                                      .offset = SYM_ID_ZERO,
                                      .device = { DEVICE_CPU, -1 } };
    const struct tensor_meta *kept = ops_intern(b->ops, &meta);
    if (!kept)
        return err_nomem(err);
    *ret = value_tensor(ops_new_tensor(b->ops, kept));
    return storage_need(&b->exec.storages, ret->u.tensor.storage,
                        (size_t)stride * dtype_size(dtype), err);
}

/* Returns the shortest time of several calls from the backend's log, and frees their results. What
 * the first call puts off is done before the second one. */
static bool time_call(struct bench *b, const char *name, const struct value *args, uint32_t n,
                      double *best, struct err *err)
{
    struct backend *backend = b->exec.caller.backend;
    const struct op *op = ops_find(b->ops, str_of(name));
    bool was_on = backend->log.on, ok = op != NULL;
    *best = 0;
    backend->log.on = true;
    for (int i = 0; ok && i < REPEATS; i++) {
        uint32_t first = ops_next_storage(b->ops);
        size_t launch = backend->log.launches.n;
        double start = clock_us(), us = 0;
        struct value ret;
        ok = exec_call(&b->exec, op, args, n, NULL, 0, &ret, err) == EXEC_DONE &&
             backend->kind->wait(backend, err);
        double wall = clock_us() - start;
        if (i == 0 && ok && backend->kind->refine)
            backend->kind->refine(backend);
        for (; ok && launch < backend->log.launches.n; launch++)
            us += backend->log.launches.v[launch].us;
        us = us > 0 ? us : wall;
        *best = *best == 0 || us < *best ? us : *best;
        for (uint32_t k = first; k < ops_next_storage(b->ops); k++)
            storage_free(&b->exec.storages, k);
    }
    backend->log.on = was_on;
    return ok || err_set(err, ERR_ENV, "%s cannot be measured", name);
}

bool ceilings_of_copy(struct backend *backend, struct ceilings *ret, struct err *err)
{
    struct bench b;
    double us = 0;
    bool ok = bench_init(&b, backend, err);
    if (!ok)
        return false;
    for (int64_t n = 1 << 18; ok && us < LONG_US && n <= 1 << 28; n *= 2) {
        struct value x[2];
        double sum;
        ok = bench_tensor(&b, DTYPE_F32, &n, 1, &x[0], err) &&
             bench_tensor(&b, DTYPE_F32, &n, 1, &x[1], err) &&
             time_call(&b, "aten.clone.default", x, 1, &us, err) &&
             time_call(&b, "aten.add.Tensor", x, 2, &sum, err);
        if (!ok)
            break;
        ret->copied = (uint64_t)n * 4;
        bool sums = sum > 0 && 3 / sum > 2 / us;
        ret->by = sums ? "aten.add" : "aten.clone";
        ret->bytes_per_us = us > 0 ? (double)ret->copied * (sums ? 3 / sum : 2 / us) : 0;
        us = sums ? sum : us;
        storage_free(&b.exec.storages, x[0].u.tensor.storage);
        storage_free(&b.exec.storages, x[1].u.tensor.storage);
    }
    bench_release(&b);
    return ok;
}

bool ceilings_of_product(struct backend *backend, enum dtype dtype, struct ceilings *ret,
                         struct err *err)
{
    struct bench b;
    double us = 0;
    struct product_ceiling best = { .dtype = dtype };
    if (product_ceiling(ret, dtype) > 0 || ret->n_products == 3)
        return true;
    bool ok = bench_init(&b, backend, err);
    if (!ok)
        return false;
    for (int64_t n = 64; ok && us < LONG_US && n <= 8192; n *= 2) {
        int64_t size[] = { n, n };
        struct value args[2];
        ok = bench_tensor(&b, dtype, size, 2, &args[0], err) &&
             bench_tensor(&b, dtype, size, 2, &args[1], err) &&
             time_call(&b, "aten.mm.default", args, 2, &us, err);
        if (!ok)
            break;
        best.flops_per_us = us > 0 ? 2 * (double)n * (double)n * (double)n / us : 0;
        best.n = (uint32_t)n;
        storage_free(&b.exec.storages, args[0].u.tensor.storage);
        storage_free(&b.exec.storages, args[1].u.tensor.storage);
    }
    bench_release(&b);
    if (ok)
        ret->products[ret->n_products++] = best;
    return ok;
}

double product_ceiling(const struct ceilings *c, enum dtype dtype)
{
    for (uint32_t i = 0; i < c->n_products; i++)
        if (c->products[i].dtype == dtype)
            return c->products[i].flops_per_us;
    return 0;
}
