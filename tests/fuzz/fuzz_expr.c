/* The readers of expressions: what they accept is a tree whose children come first and which is not
 * too deep; str()'s spelling prints to a text that is the same tree again. */
#include "tests/fuzz/fuzz.h"

#include "trace/base/buf.h"
#include "trace/graph/expr.h"

static void check_tree(const struct expr_pool *pool, expr_id id, unsigned depth)
{
    FUZZ_CHECK(id < pool->exprs.n && depth <= EXPR_MAX_DEPTH);
    for (uint32_t i = 0; i < expr_at(pool, id)->n_children; i++) {
        FUZZ_CHECK(expr_child(pool, id, i) < id);
        check_tree(pool, expr_child(pool, id, i), depth + 1);
    }
}

static void check_again(struct expr_pool *pool, expr_id id)
{
    struct buf text = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    expr_print(pool, id, &text);
    expr_id again = expr_parse(pool, buf_str(&text), &err);
    FUZZ_CHECK(again != EXPR_NONE && expr_equal(pool, id, pool, again));
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct expr_pool pool = { 0 };
    struct err err = { .kind = ERR_NONE };
    expr_id id = expr_parse(&pool, text, &err);
    FUZZ_CHECK((id == EXPR_NONE) == err_is_set(&err));
    if (id != EXPR_NONE) {
        check_tree(&pool, id, 1);
        check_again(&pool, id);
    }
    err.kind = ERR_NONE;
    id = expr_parse_srepr(&pool, text, &err);
    FUZZ_CHECK((id == EXPR_NONE) == err_is_set(&err));
    if (id != EXPR_NONE) {
        struct buf printed = BUF_INIT;
        check_tree(&pool, id, 1);
        expr_print(&pool, id, &printed);
        FUZZ_CHECK(!printed.failed);
        buf_release(&printed);
    }
    expr_pool_release(&pool);
    return 0;
}
