/* Uses everything that an open trace offers, as a program does that believes what it reads; what
 * must hold of every trace, damaged or not, is checked on the way. A hostile tape can say very much
 * in a few bytes, so a walk has a budget. */
#ifndef SYMTAPE_TESTS_FUZZ_SHARED_WALK_H
#define SYMTAPE_TESTS_FUZZ_SHARED_WALK_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"
#include "trace/kernels/kernels.h"
#include "trace/log/export.h"
#include "trace/open.h"

enum { WALK_BUDGET = 32 << 20 };

struct walk {
    struct trace *trace;
    size_t budget;
    struct json doc;
};

/* A file in memory; *path is its name. The caller closes. */
static inline int walk_file(struct str bytes, char path[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    for (size_t at = 0; at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);
        FUZZ_CHECK(n > 0);
        at += (size_t)n;
    }
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

static inline bool walk_spend(struct walk *w, uint64_t cost)
{
    w->budget -= cost < w->budget ? (size_t)cost : w->budget;
    return w->budget > 0;
}

static inline void walk_stack(struct walk *w, uint32_t recording, stack_id stack)
{
    while (stack && walk_spend(w, 100)) {
        struct frame frame = stack_frame(w->trace, recording, stack);
        stack_id parent = stack_parent(w->trace, stack);
        FUZZ_CHECK(frame.file.p && frame.function.p && frame.code.p);
        FUZZ_CHECK(stack_frame_id(w->trace, stack) <= trace_n_frames(w->trace));
        FUZZ_CHECK(parent < stack && stack_depth(w->trace, parent) <= stack_depth(w->trace, stack));
        stack = parent;
    }
}

static inline void walk_record(struct walk *w, uint32_t i)
{
    const struct trace *trace = w->trace;
    const struct record *r = &trace->records[i];
    struct err err = { .kind = ERR_NONE };
    struct str text;
    char id[80];
    FUZZ_CHECK(r->recording < trace->n_recordings && r->context < trace->n_contexts);
    FUZZ_CHECK(i - trace->recordings[r->recording].first_record <
               trace->recordings[r->recording].n_records);
    FUZZ_CHECK(r->attempt == TRACE_NONE || r->attempt < trace->n_attempts);
    FUZZ_CHECK(r->event != EVENT_RAW || r->name == TRACE_NONE);
    FUZZ_CHECK(trace_string(trace, r->name).p && trace_string(trace, r->path).p);
    FUZZ_CHECK(context_compile_id(&trace->contexts[r->context], id).n < sizeof id);
    bool read = trace_payload_size(trace, i) < w->budget && trace_payload(w->trace, i, &text, &err);
    FUZZ_CHECK(!read || text.p);
    walk_spend(w, r->meta.n + (read ? text.n : 0));
    err = (struct err){ .kind = ERR_NONE };
    if (!record_json(trace, i, &w->doc, &err))
        return;
    walk_stack(w, r->recording, record_stack(w->trace, &w->doc, STR("stack")));
    walk_stack(w, r->recording, record_stack(w->trace, &w->doc, STR("user_stack")));
}

static inline void walk_attempts(struct walk *w)
{
    for (uint32_t i = 0; i < w->trace->n_attempts; i++) {
        const struct attempt *a = &w->trace->attempts[i];
        FUZZ_CHECK(a->n_records > 0 && a->compile.p && a->recording < w->trace->n_recordings);
        for (uint32_t k = 0; k < a->n_records; k++) {
            FUZZ_CHECK(w->trace->records[a->records[k]].attempt == i);
            FUZZ_CHECK(k == 0 || a->records[k] > a->records[k - 1]);
        }
        FUZZ_CHECK(a->next == TRACE_NONE || w->trace->attempts[a->next].previous == i);
        FUZZ_CHECK((a->next != TRACE_NONE) == (a->status == ATTEMPT_RESTARTED));
    }
}

static inline void walk_symbols(struct walk *w)
{
    struct err err = { .kind = ERR_NONE };
    const struct symbol_table *table = trace_symbols(w->trace, &err);
    FUZZ_CHECK(table && !err_is_set(&err));
    for (uint32_t i = 0; i < table->n_symbols; i++) {
        const struct symbol *s = &table->symbols[i];
        FUZZ_CHECK(s->name.p && s->value.p && s->range.p && s->source.p);
        FUZZ_CHECK(s->specialization == TRACE_NONE ||
                   str_eq(table->specializations[s->specialization].symbol, s->name));
    }
}

static inline void walk_symbol(void *user, struct str symbol)
{
    *(size_t *)user += symbol.n;
}

static inline void walk_guards(struct walk *w)
{
    struct err err = { .kind = ERR_NONE };
    const struct guard_list *list = trace_guards(w->trace, &err);
    FUZZ_CHECK(list && !err_is_set(&err));
    FUZZ_CHECK(list->by_kind[0] + list->by_kind[1] + list->by_kind[2] == list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct guard *g = &list->guards[i];
        size_t letters = 0;
        guard_symbols(g->expr, walk_symbol, &letters);
        FUZZ_CHECK(letters <= g->expr.n && g->kind < GUARD_KINDS && g->asked_by < GUARD_CLASSES);
        walk_stack(w, w->trace->records[g->record].recording, g->asker);
    }
}

static inline void walk_graphs(struct walk *w)
{
    struct err err = { .kind = ERR_NONE };
    const struct graph_list *list = trace_graphs(w->trace, &err);
    FUZZ_CHECK(list && !err_is_set(&err));
    for (uint32_t i = 0; i < list->n; i++) {
        struct err damage = { .kind = ERR_NONE };
        uint64_t size = trace_payload_size(w->trace, list->refs[i].record);
        if (!walk_spend(w, size * 20))
            break;
        const struct graph *graph = trace_graph(w->trace, i, &damage);
        FUZZ_CHECK((graph != NULL) != err_is_set(&damage));
        FUZZ_CHECK(!graph || graph == trace_graph(w->trace, i, &damage));
    }
}

static inline void walk_kernels(struct walk *w)
{
    struct err err = { .kind = ERR_NONE };
    if (w->budget == 0)
        return;
    struct kernel_list *list = kernels_read(w->trace, NULL, &err);
    FUZZ_CHECK(list && !err_is_set(&err));
    for (uint32_t i = 0; i < list->n && walk_spend(w, 100); i++) {
        const struct kernel *k = &list->kernels[list->by_time[i]];
        const struct kernel_graph *graph = &list->graphs[k->graph];
        FUZZ_CHECK(k - list->kernels >= graph->first &&
                   k - list->kernels < graph->first + graph->n);
        FUZZ_CHECK(k->name.p && k->function.p && k->ops.p && k->n_post_grad <= k->n_nodes);
        FUZZ_CHECK(k->origin <= KERNEL_ORIGIN_NONE && kernel_ns(k) >= 0);
        for (uint32_t n = 0; n < k->n_nodes; n++)
            FUZZ_CHECK(list->nodes[k->nodes[n]].in_dynamo_graph == (n >= k->n_post_grad));
        for (uint32_t u = 0; u < k->n_uses; u++)
            FUZZ_CHECK(k->uses[u].line < list->n_lines);
    }
    kernels_free(list);
}

static inline void walk_trace(struct trace *trace)
{
    struct walk w = { .trace = trace, .budget = WALK_BUDGET };
    struct damage places[4];
    uint64_t damaged = trace_damage(trace, places, 4);
    for (uint64_t i = 0; i < damaged && i < 4; i++)
        FUZZ_CHECK(places[i].what.n > 0);
    for (uint32_t i = 0; i < trace->n_records; i++)
        walk_record(&w, i);
    walk_attempts(&w);
    walk_symbols(&w);
    walk_guards(&w);
    walk_graphs(&w);
    walk_kernels(&w);
    json_release(&w.doc);
}

/* Takes what is exported, up to the budget. */
static inline bool walk_keep(void *user, struct str bytes, struct err *err)
{
    struct buf *out = user;
    if (out->n + bytes.n > WALK_BUDGET)
        return err_set(err, ERR_ENV, "more than enough");
    buf_put(out, bytes);
    return true;
}

#endif
