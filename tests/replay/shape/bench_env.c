/* Nanoseconds of what a warm replay does all the time, and of capturing a native stack. */
#include <stdio.h>
#include <time.h>

#include "replay/shape/env/backtrace.h"
#include "replay/shape/env/node.h"

enum { SYMBOLS = 16, ROUNDS = 200000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void report(const char *what, double start, double n)
{
    printf("%-34s %6.1f ns\n", what, (now() - start) / n);
}

/* ROUNDS captures below that many calls. */
__attribute__((noinline)) static uint32_t capture(struct backtraces *table, int depth, int rounds)
{
    uint32_t sink = 0;
    if (depth)
        sink = capture(table, depth - 1, rounds);
    else
        for (int i = 0; i < rounds; i++)
            sink += backtrace_capture(table);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return sink;
}

static void bench_capture(void)
{
    struct backtraces table = { 0 };
    uint32_t sink = 0;
    for (int depth = 5; depth <= 45; depth += 20) {
        char what[64];
        double start = now();
        sink += capture(&table, depth, ROUNDS);
        snprintf(what, sizeof what, "stack of %u frames",
                 backtrace_depth(&table, capture(&table, depth, 1)));
        report(what, start, ROUNDS);
    }
    if (sink == 1)
        puts("");
    backtraces_release(&table);
}

static void bench_env(void)
{
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(NULL, &err);
    sym_id s[SYMBOLS];
    if (!env)
        return;
    struct sym_pool *pool = env_pool(env);
    for (int i = 0; i < SYMBOLS; i++) {
        char source[32];
        int n = snprintf(source, sizeof source, "L['x'].size()[%d]", i);
        s[i] = env_create_symbol(env, &(struct symbol_request){ .value = sym_integer(pool, 8 + i),
                                                                .source = { source, (size_t)n },
                                                                .positive = true });
    }
    uint64_t sink = 0;
    double start = now();
    for (int i = 0; i < ROUNDS; i++)
        sink += node_int(env, NODE_METHOD_MUL, s[i % SYMBOLS], s[(i / 16) % SYMBOLS]);
    report("s0 * s1", start, ROUNDS);
    sym_id three = sym_integer(pool, 3), four = sym_integer(pool, 4);
    start = now();
    for (int i = 0; i < ROUNDS; i++)
        sink += node_int(env, i & 1 ? NODE_METHOD_MUL : NODE_METHOD_ADD, three, four);
    report("3 * 4", start, ROUNDS);
    start = now();
    for (int i = 0; i < ROUNDS; i++)
        sink += node_int(env, NODE_METHOD_EQ, s[i % SYMBOLS], SYM_ID_ONE);
    report("s0 == 1", start, ROUNDS);
    bool yes = false;
    start = now();
    for (int i = 0; i < ROUNDS; i++)
        sink += env_guard_bool(env, sym_gt(pool, s[i % SYMBOLS], three), &yes) + yes;
    report("bool(s0 > 3)", start, ROUNDS);
    start = now();
    for (int i = 0; i < ROUNDS; i++)
        sink += env_statically_known(env, sym_ge(pool, s[i % SYMBOLS], SYM_ID_ZERO));
    report("statically_known_true(s0 >= 0)", start, ROUNDS);
    if (sink == 1)
        puts("");
    shape_env_free(env);
}

int main(void)
{
    bench_capture();
    bench_env();
    return 0;
}
