/* What a run costs the host: the graphs that AOTAutograd made, run on a backend, first and again,
 * and at sizes that it has not seen. With a device that idles (SYMTAPE_FAKE_IDLE=1 and
 * SYMTAPE_CUDA_LIB=build/tests/cuda) what is left is the host's own time.
 *
 * usage: bench_host [--backend NAME] [--runs N] TAPE... */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/run/run_recorded.h"
#include "replay/backend/run/run.h"
#include "trace/graphs.h"

enum { MOST_RUNS = 1000, MOST_SIZES = 64 };

static bool counting;
static uint64_t allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    allocations += counting;
    return __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    allocations += counting;
    return __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    allocations += counting;
    return __real_realloc(p, n);
}

struct bench {
    struct backend *backend;
    uint32_t runs;
    uint64_t graphs;
    double log_sum; /* of ns a launch, warm */
};

/* Of one graph at one set of sizes. */
struct figures {
    uint32_t calls, launches;
    double first, again; /* us; again: the median */
    uint64_t allocations;
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool run_once(struct run *run, double *us, struct err *err)
{
    bool ok = run_execute(run, err);
    *us = (double)run->calls_ns / 1e3;
    return ok;
}

static bool measure(struct bench *b, const struct graph *graph, const struct run_options *options,
                    struct figures *ret, struct err *err)
{
    double us[MOST_RUNS];
    struct backend_log *log = &b->backend->log;
    struct run *run = run_new(graph, options, err);
    bool ok = run && run_once(run, &ret->first, err);
    for (uint32_t i = 0; i < b->runs && ok; i++) {
        uint64_t before = allocations;
        counting = true;
        ok = run_once(run, &us[i], err);
        counting = false;
        ret->allocations = allocations - before;
    }
    if (ok) {
        qsort(us, b->runs, sizeof *us, compare_doubles);
        ret->again = us[b->runs / 2];
        ret->calls = run->calls;
        log->on = true;
        log->launches.n = log->nodes.n = 0;
        ok = run_execute(run, err);
        log->on = false;
        ret->launches = (uint32_t)log->launches.n;
    }
    run_free(run);
    return ok;
}

/* The first run of sizes that this process has not seen: every symbol by 8 more, then each alone,
 * until one can be run. 0: none can. */
static double other_size(struct bench *b, const struct graph *graph, struct run_options options)
{
    struct run_size sizes[MOST_SIZES];
    struct figures f;
    options.guards = NULL;
    options.n_guards = 0;
    options.sizes = sizes;
    for (size_t one = 0; one <= options.n_symbols; one++) {
        struct err ignored = { .kind = ERR_NONE };
        struct bench quiet = { .backend = b->backend, .runs = 1 };
        options.n_sizes = 0;
        for (size_t i = 0; i < options.n_symbols && options.n_sizes < MOST_SIZES; i++)
            if (options.symbols[i].has_hint && (one == 0 || one == i + 1))
                sizes[options.n_sizes++] =
                    (struct run_size){ options.symbols[i].name, options.symbols[i].hint + 8 };
        if (options.n_sizes && measure(&quiet, graph, &options, &f, &ignored))
            return f.first;
    }
    return 0;
}

static bool is_aten(const struct graph_ref *ref)
{
    return ref->kind == GRAPH_FORWARD || ref->kind == GRAPH_BACKWARD ||
           ref->kind == GRAPH_INFERENCE || ref->kind == GRAPH_EXPORTED;
}

static void bench_graph(struct bench *b, struct trace *trace, const struct graph_list *list,
                        uint32_t i, const char *path)
{
    const struct graph_ref *ref = &list->refs[i];
    struct arena arena = ARENA_INIT;
    struct err err = { .kind = ERR_NONE };
    struct run_options options = { .backend = b->backend };
    struct figures f = { 0 };
    const struct graph *graph = trace_graph(trace, i, &err);
    struct str name = str_basename(str_of(path));
    if (graph && run_recorded(trace, ref->record, ref->attempt, &arena, &options, &err) &&
        measure(b, graph, &options, &f, &err) && f.calls) {
        double other = other_size(b, graph, options);
        double launches = f.launches ? f.launches : 1;
        b->graphs++;
        b->log_sum += log(f.again * 1e3 / launches);
        printf(
            "%6u calls %6u launches  again %8.1f us: %6.0f ns a launch %6.0f a call, %4llu "
            "allocations  first %8.1f us, of another size %8.1f us, %4.1f times  %.*s graph %u\n",
            f.calls, f.launches, f.again, f.again * 1e3 / launches, f.again * 1e3 / f.calls,
            (unsigned long long)f.allocations, f.first, other, other / f.again, STR_ARG(name), i);
    } else if (err_is_set(&err)) {
        printf("%.*s graph %u: %s\n", STR_ARG(name), i, err.text);
    }
    arena_release(&arena);
}

static int bench_tape(struct bench *b, const char *path)
{
    struct err err = { .kind = ERR_NONE };
    struct trace *trace = trace_open(path, NULL, &err);
    const struct graph_list *list = trace ? trace_graphs(trace, &err) : NULL;
    if (!list)
        fprintf(stderr, "%s: %s\n", path, err.text);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (is_aten(&list->refs[i]))
            bench_graph(b, trace, list, i, path);
    trace_close(trace);
    return list ? 0 : 3;
}

int main(int argc, char **argv)
{
    struct bench b = { .runs = 30 };
    const char *backend = "cuda";
    struct err err = { .kind = ERR_NONE };
    int at = 1, code = 0;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--backend") == 0)
            backend = argv[at + 1];
        else if (strcmp(argv[at], "--runs") == 0)
            b.runs = (uint32_t)strtoul(argv[at + 1], NULL, 10);
    }
    b.runs = b.runs < 1 ? 1 : b.runs > MOST_RUNS ? MOST_RUNS : b.runs;
    const struct backend_kind *kind = backend_find(str_of(backend));
    b.backend = kind ? kind->open(&err) : NULL;
    if (!b.backend) {
        fprintf(stderr, "%s: %s\n", backend, kind ? err.text : "no such backend");
        return 4;
    }
    for (; at < argc; at++) {
        int one = bench_tape(&b, argv[at]);
        code = one ? one : code;
    }
    if (b.graphs)
        printf("geometric mean over %llu graphs: %.0f ns a launch\n", (unsigned long long)b.graphs,
               exp(b.log_sum / (double)b.graphs));
    b.backend->kind->close(b.backend);
    return code;
}
