/* usage: bench_graph LOG...
 *
 * Every readable graph of the recordings, parsed again and again: MB/s of text, median of nine
 * rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/base/vec.h"
#include "trace/graphs.h"

enum { ROUNDS = 9 };

struct texts {
    struct arena arena;
    vec_of(struct str)
    texts;
    size_t bytes;
};

static bool gather(const char *path, struct texts *ret, struct err *err)
{
    struct trace *trace = trace_open(path, NULL, err);
    const struct graph_list *list = trace ? trace_graphs(trace, err) : NULL;
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct str text;
        if (!trace_payload_copy(trace, list->refs[i].record, &ret->arena, &text, err) ||
            !graph_looks_like(text))
            continue;
        ret->bytes += text.n;
        if (!vec_push(&ret->texts, text))
            err_nomem(err);
    }
    trace_close(trace);
    return !err_is_set(err);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double parse_all(const struct texts *texts, size_t *calls)
{
    double start = now();
    *calls = 0;
    for (size_t i = 0; i < texts->texts.n; i++) {
        struct err err = { .kind = ERR_NONE };
        struct graph *graph = graph_parse(texts->texts.v[i], &err);
        *calls += graph ? graph_counts(graph).calls : 0;
        graph_free(graph);
    }
    return now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct texts texts = { 0 };
    struct err err = { .kind = ERR_NONE };
    double seconds[ROUNDS];
    size_t calls;
    for (int i = 1; i < argc; i++)
        if (!gather(argv[i], &texts, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    for (int round = 0; round < ROUNDS; round++)
        seconds[round] = parse_all(&texts, &calls);
    qsort(seconds, ROUNDS, sizeof *seconds, by_value);
    double median = seconds[ROUNDS / 2];
    printf("%zu graphs, %.1f MB, %zu calls: %.0f MB/s, %.0f ns a call\n", texts.texts.n,
           (double)texts.bytes / 1e6, calls, (double)texts.bytes / 1e6 / median,
           median * 1e9 / (double)(calls ? calls : 1));
    vec_release(&texts.texts);
    arena_release(&texts.arena);
    return 0;
}
