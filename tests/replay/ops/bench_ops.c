/* What a call costs that the operators' cache answers, and one that it does not. */
#include <stdio.h>
#include <time.h>

#include "replay/ops/dispatch/ablations.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "replay/ops/model/stats.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void run(struct ops *ops, const char *name, const struct value *args, uint32_t n, bool cache)
{
    enum { CALLS = 200000, ROUND = 1000 };
    const struct op *op = ops_find(ops, str_of(name));
    struct value ret;
    if (!op)
        return;
    ops_ablate(ops, ABLATION_CACHE, NULL, !cache);
    double begin = now();
    for (int i = 0; i < CALLS; i++)
        if (ops_call_op(ops, op, &(struct arguments){ args, n, NULL, 0 }, &ret) != OP_DONE)
            printf("%s: %.*s\n", name, STR_ARG(ops_error(ops)->text)), i = CALLS;
    printf("%-32s %s %7.0f ns\n", name, cache ? "seen before" : "computed   ",
           (now() - begin) / CALLS);
}

int main(void)
{
    struct err err = { .kind = ERR_NONE };
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = env ? ops_new(env, &err) : NULL;
    if (!ops)
        return fprintf(stderr, "%s\n", err.text), 4;
    struct sym_pool *pool = env_pool(env);
    sym_id s = env_create_symbol(env, &(struct symbol_request){ .value = sym_integer(pool, 8),
                                                                .source = STR("L['x'].size()[0]"),
                                                                .dynamic = DIM_DUCK,
                                                                .positive = true });
    sym_id n = sym_integer(pool, 64), size[] = { s, n, n }, stride[3];
    stride[2] = SYM_ID_ONE, stride[1] = n, stride[0] = sym_integer(pool, 4096);
    struct tensor_meta meta = { .dtype = DTYPE_F32,
                                .device = { DEVICE_CPU, -1 },
                                .ndim = 3,
                                .size = size,
                                .stride = stride,
                                .offset = SYM_ID_ZERO };
    struct tensor x = ops_new_tensor(ops, &meta), y = ops_new_tensor(ops, &meta);
    struct value ints[2] = { value_int(s), value_int(sym_integer(pool, 4096)) };
    struct value two[] = { value_tensor(x), value_tensor(y), value_int(SYM_ID_TWO) };
    struct value view[] = { value_tensor(x), value_items(VALUE_LIST, ints, 2) };
    for (int cache = 1; cache >= 0; cache--) {
        run(ops, "aten.add.Tensor", two, 2, cache);
        run(ops, "aten.relu.default", two, 1, cache);
        run(ops, "aten.view.default", view, 2, cache);
    }
    ops_free(ops);
    shape_env_free(env);
    return 0;
}
