/* Any text read as rules of custom operators, and those that read called: no crash, bounded work.
 */
#include "tests/fuzz/fuzz.h"

#include "replay/ops/decomp/custom.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"

/* A tensor [s0, 4], a number and a list for what a schema may want. */
static void call_all(struct ops *ops, const struct custom_rules *rules)
{
    struct sym_pool *pool = ops_pool(ops);
    sym_id size[] = { sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE),
                      sym_integer(pool, 4) };
    sym_id stride[] = { size[1], SYM_ID_ONE };
    struct tensor_meta meta = { .dtype = DTYPE_F32,
                                .device = { DEVICE_CPU, -1 },
                                .ndim = 2,
                                .size = size,
                                .stride = stride,
                                .offset = SYM_ID_ZERO };
    const struct tensor_meta *interned = ops_intern(ops, &meta);
    FUZZ_CHECK(interned);
    struct value args[] = { value_tensor(ops_new_tensor(ops, interned)), value_int(size[1]),
                            value_int(size[0]) };
    for (size_t i = 0; i < custom_rules_count(rules) && i < 16; i++) {
        struct str schema = str_of(custom_rules_schema(rules, i)), name = schema;
        name.n = str_find_char(schema, '(');
        for (uint32_t n = 0; n <= 3 && name.n <= schema.n; n++) {
            struct err err = { .kind = ERR_NONE };
            struct value ret;
            if (ops_call(ops, name, &(struct arguments){ args, n, NULL, 0 }, &ret) == OP_FAILED)
                FUZZ_CHECK(ops_failed(ops, &err));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct custom_rules *rules = custom_rules_new(&err);
    FUZZ_CHECK(rules);
    if (custom_rules_add(rules, (struct str){ (const char *)data, n }, STR("rules"), &err)) {
        struct shape_env *env = shape_env_new(NULL, &err);
        struct ops *ops = env ? ops_new_with_rules(env, rules, &err) : NULL;
        FUZZ_CHECK(ops);
        call_all(ops, rules);
        ops_free(ops);
        shape_env_free(env);
    } else {
        FUZZ_CHECK(err_is_set(&err));
    }
    custom_rules_free(rules);
    return 0;
}
