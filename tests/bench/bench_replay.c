/* Nanoseconds a call, of aten graphs and of Dynamo's: graphs walked the first time (cold: rules,
 * comparison and guards) and again (warm), and the allocations of the last warm walk. Then the most
 * memory that a replay without warm walks holds at once, beyond the trace and its graphs, in bytes
 * for each node of all graphs, and how much of that is the environment and its expressions.
 *
 * usage: bench_replay [--json] TAPE... */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/replay.h"

enum { WARM = 20 };

static bool counting;
static uint64_t allocations, last;
static int64_t held, most;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static void *hold(void *p)
{
    held += (int64_t)malloc_usable_size(p);
    most = held > most ? held : most;
    return p;
}

void *__wrap_malloc(size_t n)
{
    allocations += counting;
    return hold(__real_malloc(n));
}
void *__wrap_calloc(size_t n, size_t size)
{
    allocations += counting;
    return hold(__real_calloc(n, size));
}
void *__wrap_realloc(void *p, size_t n)
{
    allocations += counting;
    size_t before = malloc_usable_size(p);
    void *ret = __real_realloc(p, n);
    if (ret)
        held -= (int64_t)before;
    return hold(ret);
}
void __wrap_free(void *p)
{
    held -= (int64_t)malloc_usable_size(p);
    __real_free(p);
}

struct times {
    uint64_t calls, cold, warm;
};

struct sums {
    uint64_t calls, cold, warm, allocations, n;
    struct times dynamo;
    uint64_t nodes, bytes, expressions;
    double log_sum; /* of warm ns a call, by graph */
    uint32_t round;
};

static void watch(void *user, bool begin)
{
    struct sums *sums = user;
    if (begin) {
        last = allocations;
        counting = true;
        return;
    }
    counting = false;
    if (++sums->round % WARM == 0)
        sums->allocations += allocations - last;
}

static bool is_aten(const struct graph_ref *ref)
{
    return ref->kind == GRAPH_JOINT || ref->kind == GRAPH_FORWARD || ref->kind == GRAPH_BACKWARD ||
           ref->kind == GRAPH_INFERENCE || ref->kind == GRAPH_EXPORTED;
}

static void add_times(struct times *times, uint64_t calls, uint64_t cold, uint64_t warm)
{
    times->calls += calls;
    times->cold += cold;
    times->warm += warm;
}

static void add(struct sums *sums, const struct replay *replay, const struct graph_list *list)
{
    for (size_t i = 0; i < replay->n_graphs; i++) {
        const struct replay_graph *g = &replay->graphs[i];
        if (list->refs[g->ref].kind == GRAPH_DYNAMO)
            add_times(&sums->dynamo, g->counts.calls, g->counts.ns, g->warm_ns);
        if (!is_aten(&list->refs[g->ref]) || g->counts.calls == 0)
            continue;
        sums->n++;
        sums->calls += g->counts.calls;
        sums->cold += g->counts.ns;
        sums->warm += g->warm_ns;
        sums->log_sum += log((double)g->warm_ns / (double)g->counts.calls);
    }
}

static uint64_t count_nodes(const struct graph *graph)
{
    uint64_t n = graph->n_nodes;
    for (uint32_t i = 0; i < graph->n_children; i++)
        n += count_nodes(graph->children[i]);
    return n;
}

/* After the first replay the trace's own tables are there. */
static bool weigh(struct trace *trace, struct sums *sums, struct err *err)
{
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    const struct graph_list *list = trace_graphs(trace, err);
    int64_t before = most = held;
    struct replay *replay = list ? replay_trace(trace, &how, err) : NULL;
    for (size_t i = 0; replay && i < replay->n_graphs; i++) {
        const struct graph *graph = trace_graph(trace, replay->graphs[i].ref, err);
        sums->nodes += graph ? count_nodes(graph) : 0;
    }
    sums->bytes = (uint64_t)(most - before);
    sums->expressions = replay ? replay->expression_bytes : 0;
    replay_free(replay);
    return replay != NULL;
}

static void print_dynamo(const struct times *dynamo)
{
    double calls = dynamo->calls ? (double)dynamo->calls : 1;
    if (dynamo->calls)
        printf("%8llu calls  cold %7.0f ns a call  warm %6.0f ns a call  in Dynamo's graphs\n",
               (unsigned long long)dynamo->calls, (double)dynamo->cold / calls,
               (double)dynamo->warm / calls);
}

static int bench(const char *path, bool json, struct sums *all)
{
    struct err err = { .kind = ERR_NONE };
    struct sums sums = { 0 };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.warm = WARM;
    how.on_warm = watch;
    how.on_warm_user = &sums;
    struct trace *trace = trace_open(path, NULL, &err);
    struct replay *replay = trace ? replay_trace(trace, &how, &err) : NULL;
    const struct graph_list *list = replay ? trace_graphs(trace, &err) : NULL;
    if (list && weigh(trace, &sums, &err))
        add(&sums, replay, list);
    else
        fprintf(stderr, "%s: %s\n", path, err.text);
    double calls = sums.calls ? (double)sums.calls : 1;
    if (list && json)
        printf("{\"tape\": \"%s\", \"calls\": %llu, \"cold_ns\": %llu, \"warm_ns\": %llu, "
               "\"dynamo_calls\": %llu, \"dynamo_cold_ns\": %llu, \"dynamo_warm_ns\": %llu}\n",
               path, (unsigned long long)sums.calls, (unsigned long long)sums.cold,
               (unsigned long long)sums.warm, (unsigned long long)sums.dynamo.calls,
               (unsigned long long)sums.dynamo.cold, (unsigned long long)sums.dynamo.warm);
    else if (list)
        printf("%8llu calls  cold %7.0f ns a call  warm %6.0f ns a call  %4llu allocations  "
               "%5.0f bytes a node, %5.0f of them expressions  %.*s\n",
               (unsigned long long)sums.calls, (double)sums.cold / calls, (double)sums.warm / calls,
               (unsigned long long)sums.allocations,
               (double)sums.bytes / (double)(sums.nodes + !sums.nodes),
               (double)sums.expressions / (double)(sums.nodes + !sums.nodes),
               STR_ARG(str_basename(str_of(path))));
    if (list && !json)
        print_dynamo(&sums.dynamo);
    add_times(&all->dynamo, sums.dynamo.calls, sums.dynamo.cold, sums.dynamo.warm);
    all->calls += sums.calls;
    all->cold += sums.cold;
    all->warm += sums.warm;
    all->allocations += sums.allocations;
    all->nodes += sums.nodes;
    all->bytes += sums.bytes;
    all->expressions += sums.expressions;
    all->log_sum += sums.log_sum;
    all->n += sums.n;
    replay_free(replay);
    trace_close(trace);
    return list ? 0 : 3;
}

int main(int argc, char **argv)
{
    struct sums all = { 0 };
    bool json = argc > 1 && str_is(str_of(argv[1]), "--json");
    int code = 0;
    for (int i = 1 + json; i < argc; i++) {
        int one = bench(argv[i], json, &all);
        code = one ? one : code;
    }
    if (!json && all.n)
        printf(
            "%8llu calls  cold %7.0f ns a call  warm %6.0f ns a call  %4llu allocations  "
            "%5.0f bytes a node, %5.0f of them expressions  geometric mean over %llu graphs, warm: %.0f ns\n",
            (unsigned long long)all.calls, (double)all.cold / (double)all.calls,
            (double)all.warm / (double)all.calls, (unsigned long long)all.allocations,
            (double)all.bytes / (double)all.nodes, (double)all.expressions / (double)all.nodes,
            (unsigned long long)all.n, exp(all.log_sum / (double)all.n));
    if (!json)
        print_dynamo(&all.dynamo);
    return code;
}
