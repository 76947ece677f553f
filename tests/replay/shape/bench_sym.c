/* Nanoseconds of a repeated operation, and of one that makes a new expression. */
#include <stdio.h>
#include <time.h>

#include "replay/shape/range/range.h"

enum { SYMBOLS = 64, ROUNDS = 2000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void make_symbols(struct sym_pool *pool, sym_id *out)
{
    for (int i = 0; i < SYMBOLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        out[i] = sym_by_name(NULL, pool, str_of(name));
    }
}

/* Every pair once: with a kind, ns an operation. */
static double pairs(struct sym_pool *pool, const sym_id *s, enum sym_kind kind, int rounds)
{
    double start = now();
    sym_id sink = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < SYMBOLS; i++)
            for (int j = 0; j < SYMBOLS; j++)
                sink += sym_binary(pool, kind, s[i], s[j]);
    double ns = (now() - start) / ((double)rounds * SYMBOLS * SYMBOLS);
    return sink ? ns : 0;
}

static void measure(const char *name, enum sym_kind kind)
{
    struct err err = { .kind = ERR_NONE };
    struct sym_pool *pool = sym_pool_new(&err);
    sym_id s[SYMBOLS];
    if (!pool)
        return;
    make_symbols(pool, s);
    double cold = pairs(pool, s, kind, 1);
    double warm = pairs(pool, s, kind, ROUNDS);
    printf("%-10s new %7.1f ns, repeated %5.2f ns, %zu expressions, %.0f bytes each\n", name, cold,
           warm, sym_pool_count(pool), (double)sym_pool_bytes(pool) / (double)sym_pool_count(pool));
    sym_pool_free(pool);
}

int main(void)
{
    measure("add", SYM_ADD);
    measure("mul", SYM_MUL);
    measure("floordiv", SYM_FLOORDIV);
    measure("mod", SYM_MOD);
    measure("max", SYM_MAX);
    measure("eq", SYM_EQ);
    measure("lt", SYM_LT);
    return 0;
}
