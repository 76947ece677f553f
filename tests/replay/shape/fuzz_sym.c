/* Any text read into the engine and put through all that it does: no crash, bounded work, and the
 * same answers from a pool that has seen nothing else. */
#include "tests/fuzz/fuzz.h"

#include "replay/shape/expr/solve.h"
#include "replay/shape/range/range.h"

/* A failure is an answer too. */
static void put_outcome(struct sym_pool *pool, struct buf *out)
{
    struct err err = { .kind = ERR_NONE };
    if (!sym_ok(pool, &err)) {
        FUZZ_CHECK(err_is_set(&err));
        buf_puts(out, err.text);
    }
    buf_putc(out, '\n');
}

static void put_condition(void *user, sym_id condition, bool value)
{
    (void)condition;
    buf_putc(user, value ? 't' : 'f');
}

static void put_all(struct sym_pool *pool, sym_id e, struct buf *out)
{
    sym_print(pool, e, out);
    put_outcome(pool, out);
    sym_print_python(pool, e, NULL, NULL, out);
    put_outcome(pool, out);
    sym_print_cpp(pool, e, NULL, NULL, out);
    put_outcome(pool, out);
    sym_print_inductor(pool, e, out);
    put_outcome(pool, out);
    sym_print(pool, sym_expand(pool, e), out);
    put_outcome(pool, out);
    sym_print(pool, sym_canonical(pool, e), out);
    put_outcome(pool, out);
    sym_range_print(pool, sym_bound(pool, e, NULL, NULL), out);
    put_outcome(pool, out);
    sym_print(pool, sym_solve(pool, e, sym_by_name(NULL, pool, STR("s0")), true), out);
    put_outcome(pool, out);
    sym_implications(pool, e, put_condition, out);
    put_outcome(pool, out);
}

static struct buf outcome(struct str text, int times)
{
    struct buf out = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    struct sym_pool *pool = sym_pool_new(&err);
    for (int i = 0; pool && i < times; i++) {
        buf_clear(&out);
        sym_id e = sym_parse(pool, text, NULL, NULL);
        put_outcome(pool, &out);
        if (e != SYM_NONE)
            put_all(pool, e, &out);
    }
    sym_pool_free(pool);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct buf once = outcome(text, 1), twice = outcome(text, 2);
    FUZZ_CHECK(str_eq(buf_str(&once), buf_str(&twice)));
    buf_release(&once);
    buf_release(&twice);
    return 0;
}
