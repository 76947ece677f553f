/* How many questions a reduction asks, what it leaves, how long it takes.
 *
 *     bench_minify GRAPH.fx OPS...     oracle: which operators a graph holds (--check-ops)
 *     bench_minify --shape N...        oracle: the shape engine, on graphs of N calls made here
 *     bench_minify --sleep MS GRAPH.fx OPS...  the same, with questions of MS milliseconds, by jobs
 *     bench_minify --bisect N...       the first event that fails, in graphs of N calls made here
 *
 * A line of JSON a case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "minify/bisect/bisect.h"
#include "minify/bisect/bisect_events.h"
#include "minify/minify.h"
#include "minify/oracle/oracle_ops.h"
#include "minify/oracle/oracle_shape.h"
#include "trace/base/buf.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void complain(const struct err *err)
{
    fprintf(stderr, "bench_minify: %s\n", err->text);
    exit(1);
}

static void run(const char *graph, const char *what, const struct candidate *whole,
                struct oracle *oracle, double began)
{
    struct err err = { 0 };
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct minify_result result;
    options.oracle = oracle;
    if (!minify_run(whole, &options, &result, &err))
        complain(&err);
    printf(
        "{\"graph\": \"%s\", \"case\": \"%s\", \"end\": \"%s\", \"calls\": %llu, \"asked\": %llu, "
        "\"left\": %llu, \"symbols\": %llu, \"ms\": %.2f}\n",
        graph, what, minify_end_name(result.end),
        (unsigned long long)graph_counts(whole->graph).calls, (unsigned long long)result.calls,
        (unsigned long long)result.after.part[SIZE_CALLS],
        (unsigned long long)result.after.part[SIZE_SYMBOLS], now_ms() - began);
    fflush(stdout);
    oracle->free(oracle);
    minify_result_release(&result);
}

static struct candidate *read_graph(const char *path)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    FILE *f = fopen(path, "rb");
    size_t n = 1;
    while (f && n) {
        if (!buf_reserve(&text, 1 << 16))
            break;
        n = fread(text.p + text.n, 1, 1 << 16, f);
        text.n += n;
    }
    if (f)
        fclose(f);
    struct candidate *ret = candidate_read_fx(buf_str(&text), NULL, &err);
    buf_release(&text);
    if (!ret)
        complain(&err);
    return ret;
}

/* Residual blocks of three calls; at three quarters of the depth a relu, and a sum over sizes that
 * are equal by a guard only. */
static struct candidate *make_graph(unsigned n)
{
    struct err err = { 0 };
    struct buf t = BUF_INIT;
    char value[24] = "x";
    const char *meta = "f32[s0, s1, 8][8*s1, 8, 1]";
    buf_printf(&t,
               "# symbol s0 = 4 in [2, int_oo]\n# symbol s1 = 6 in [2, int_oo]\n# symbol s2 = 4 "
               "in [2, int_oo]\nclass f(torch.nn.Module):\n    def forward(self, x: \"%s\", y: "
               "\"f32[s2, s1, 8][8*s1, 8, 1]\"):\n",
               meta);
    for (unsigned i = 0; i < n / 3; i++) {
        if (i == n / 4) {
            buf_printf(&t, "        r: \"%s\" = torch.ops.aten.relu.default(%s)\n", meta, value);
            buf_printf(&t, "        g: \"%s\" = torch.ops.aten.mul.Tensor(r, y)\n", meta);
            snprintf(value, sizeof value, "g");
        }
        buf_printf(&t, "        e%u: \"%s\" = torch.ops.aten.exp.default(%s)\n", i, meta, value);
        buf_printf(&t, "        m%u: \"%s\" = torch.ops.aten.mul.Tensor(e%u, %s)\n", i, meta, i,
                   value);
        buf_printf(&t, "        a%u: \"%s\" = torch.ops.aten.add.Tensor(%s, m%u)\n", i, meta, value,
                   i);
        snprintf(value, sizeof value, "a%u", i);
    }
    buf_printf(&t, "        return (%s,)\n", value);
    struct candidate *ret = candidate_read_fx(buf_str(&t), NULL, &err);
    buf_release(&t);
    if (!ret)
        complain(&err);
    return ret;
}

static void run_shape(unsigned n)
{
    static const struct {
        const char *name;
        struct shape_options how;
    } cases[] = {
        { "a call is refused", { .question = SHAPE_EXPECT, .inject = { "aten.relu=refuse", 16 } } },
        { "a guard", { .question = SHAPE_GUARD, .what = { "Eq(s0, s2)", 10 } } },
        { "guards>=1, no location", { .question = SHAPE_COST, .what = { "guards>=1", 9 } } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = { 0 };
        char name[32];
        struct candidate *whole = make_graph(n);
        double began = now_ms();
        struct oracle *oracle = oracle_shape(&cases[i].how, whole, &err);
        if (!oracle)
            complain(&err);
        snprintf(name, sizeof name, "residual %u", n);
        run(name, cases[i].name, whole, oracle, began);
        candidate_free(whole);
    }
}

/* ---- G17 ---- */

struct in_engine {
    const struct candidate *candidate;
    struct bisect_question question;
    const struct bisect_events *events;
};

static enum bisect_answer probe(void *user, uint32_t state, bool fresh, struct err *err)
{
    struct in_engine *in = user;
    struct bisect_events again;
    if (!fresh)
        return bisect_events_hit(in->events, state) ? BISECT_BAD : BISECT_GOOD;
    bool ok = bisect_events_walk(in->candidate, &in->question, state, &again, err);
    bool bad = bisect_events_hit(&again, state);
    bisect_events_release(&again);
    return !ok ? BISECT_BROKEN : bad ? BISECT_BAD : BISECT_GOOD;
}

static void run_bisect(unsigned n, uint32_t jobs)
{
    struct err err = { 0 };
    struct candidate *whole = make_graph(n);
    struct bisect_events events;
    struct bisect_result result;
    struct in_engine in = { whole,
                            { .kind = BISECT_FAILURE, .inject = STR("aten.relu=refuse") },
                            &events };
    double began = now_ms();
    if (!bisect_events_walk(whole, &in.question, UINT32_MAX, &events, &err))
        complain(&err);
    const struct bisect_options how = {
        .n = (uint32_t)events.list.n, .jobs = jobs, .probe = probe, .user = &in
    };
    if (!bisect_run(&how, &result, &err))
        complain(&err);
    printf("{\"graph\": \"residual %u\", \"case\": \"bisect, %u at once\", \"events\": %zu, "
           "\"first_bad\": %u, \"probes\": %u, \"rounds\": %u, \"ms\": %.2f}\n",
           n, (unsigned)jobs, events.list.n, (unsigned)result.bad, (unsigned)result.probes,
           (unsigned)result.rounds, now_ms() - began);
    bisect_result_release(&result);
    bisect_events_release(&events);
    candidate_free(whole);
}

/* ---- G7 ---- */

/* An oracle whose questions take a while and no processor time. */
struct sleeping {
    struct oracle oracle; /* first */
    struct oracle *inner;
    unsigned ms;
};

static void ask_asleep(struct oracle *oracle, const struct candidate *candidate,
                       const struct oracle_question *asking, struct answer *answer)
{
    struct sleeping *sleeping = (struct sleeping *)oracle;
    double began = now_ms();
    while (now_ms() - began < sleeping->ms && !atomic_load(asking->cancel))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    sleeping->inner->ask(sleeping->inner, candidate, asking, answer);
    if (atomic_load(asking->cancel))
        answer->verdict = VERDICT_UNRESOLVED;
    answer->seconds = sleeping->ms * 1e-3;
}

static void run_asleep(unsigned ms, const char *graph, const char *ops)
{
    static const uint32_t jobs[] = { 1, 8 };
    struct err err = { 0 };
    struct candidate *whole = read_graph(graph);
    struct sleeping sleeping = { .inner = oracle_ops(str_of(ops), &err), .ms = ms };
    if (!sleeping.inner)
        complain(&err);
    sleeping.oracle = (struct oracle){ .ask = ask_asleep,
                                       .name = sleeping.inner->name,
                                       .id = sleeping.inner->id };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct minify_options options = MINIFY_OPTIONS_DEFAULT;
        struct minify_result result;
        double began = now_ms();
        options.oracle = &sleeping.oracle;
        options.jobs = jobs[i];
        if (!minify_run(whole, &options, &result, &err))
            complain(&err);
        struct cand_hash hash = candidate_hash(result.best);
        printf("{\"case\": \"%s\", \"jobs\": %u, \"end\": \"%s\", \"calls\": %llu, "
               "\"asked\": %llu, \"unneeded\": %llu, \"best\": \"%016llx\", \"ms\": %.1f}\n",
               ops, (unsigned)jobs[i], minify_end_name(result.end),
               (unsigned long long)graph_counts(whole->graph).calls,
               (unsigned long long)result.calls, (unsigned long long)result.unneeded,
               (unsigned long long)hash.low, now_ms() - began);
        fflush(stdout);
        minify_result_release(&result);
    }
    sleeping.inner->free(sleeping.inner);
    candidate_free(whole);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: bench_minify GRAPH.fx OPS... | bench_minify --shape|--bisect N... | "
              "bench_minify --sleep MS GRAPH.fx OPS...\n",
              stderr);
        return 2;
    }
    if (argc > 4 && strcmp(argv[1], "--sleep") == 0) {
        for (int i = 4; i < argc; i++)
            run_asleep((unsigned)strtoul(argv[2], NULL, 10), argv[3], argv[i]);
        return 0;
    }
    for (int i = 2; i < argc; i++) {
        struct err err = { 0 };
        if (strcmp(argv[1], "--shape") == 0) {
            run_shape((unsigned)strtoul(argv[i], NULL, 10));
            continue;
        }
        if (strcmp(argv[1], "--bisect") == 0) {
            run_bisect((unsigned)strtoul(argv[i], NULL, 10), 1);
            run_bisect((unsigned)strtoul(argv[i], NULL, 10), 8);
            continue;
        }
        struct candidate *whole = read_graph(argv[1]);
        double began = now_ms();
        struct oracle *oracle = oracle_ops(str_of(argv[i]), &err);
        if (!oracle)
            complain(&err);
        run(argv[1], argv[i], whole, oracle, began);
        candidate_free(whole);
    }
    return 0;
}
