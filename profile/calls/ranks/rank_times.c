#include "profile/calls/ranks/rank_times.h"

/* A compiler collective of one process. */
struct rank_collective {
    uint32_t compile, group; /* the compile in rank_times.compiles; the n-th of all of that id */
    int64_t begin_ns, end_ns;
};

/* Compiles, or collectives, of all processes that belong together. */
struct rank_group {
    uint32_t n;                 /* processes */
    uint32_t last;              /* process that ended, or came, last */
    int64_t last_ns, before_ns; /* when, and the one before it; RANK_TIME_NONE */
    bool unfinished;            /* some did not end */
    uint32_t n_open, open;      /* those of them that do not wait for others; the last of these */
};

struct rank_reader {
    struct rank_times *ret;
    uint32_t trace_number, first_process;
    struct trace *trace;
    uint32_t *compile_of; /* by attempt of the trace: its compile's number there */
    uint32_t n_compiles;
    uint32_t *rows;          /* by number, forward and backward: in ret->compiles; RANK_NONE */
    uint32_t *n_collectives; /* by number */
    struct intern groups, collective_groups;
    vec_of(struct rank_collective)
    collectives;
    vec_of(uint32_t)
    row_of_graph; /* of all starts, one after another; RANK_NONE */
    struct buf text;
    struct err *err;
};

/* ---- Compiles ---- */

static void number_compiles(struct rank_reader *in)
{
    for (uint32_t i = 0; i < in->trace->n_attempts; i++) {
        uint32_t previous = in->trace->attempts[i].previous;
        bool first = previous == TRACE_NONE || previous >= i;
        in->compile_of[i] = first ? in->n_compiles++ : in->compile_of[previous];
    }
}

/* Returns the row of a compile, which is added if it is new; RANK_NONE when memory ran out. */
static uint32_t row_of(struct rank_reader *in, uint32_t attempt, bool backward)
{
    uint32_t *row = &in->rows[2 * (size_t)in->compile_of[attempt] + backward];
    const struct attempt *a = &in->trace->attempts[attempt];
    if (*row != RANK_NONE)
        return *row;
    buf_clear(&in->text);
    buf_putc(&in->text, backward ? 'b' : 'f');
    buf_put(&in->text, a->compile);
    struct rank_compile fresh = {
        .process = in->first_process + a->recording,
        .group = in->text.failed ? INTERN_NONE : intern(&in->groups, buf_str(&in->text)),
        .compile = a->compile,
        .backward = backward,
        .begin_ns = RANK_TIME_NONE,
        .end_ns = RANK_TIME_NONE,
        .function = STR(""),
        .file = STR(""),
        .from = RANK_NONE,
        .had = RANK_NONE,
        .last = RANK_NONE,
        .ahead_ns = -1,
        .waited_for = RANK_NONE,
    };
    if (fresh.group == INTERN_NONE || in->ret->compiles.n >= RANK_NONE ||
        !vec_push(&in->ret->compiles, fresh))
        return RANK_NONE;
    return *row = (uint32_t)in->ret->compiles.n - 1;
}

static bool take_phase(struct rank_reader *in, const struct chromium_event *event)
{
    bool frame = str_is(event->name, "entire_frame_compile");
    if ((!frame && !str_is(event->name, "entire_backward_compile")) || !event->timed)
        return true;
    if (event->phase != 'B' && event->phase != 'E')
        return true;
    uint32_t row = row_of(in, event->attempt, !frame);
    if (row == RANK_NONE)
        return false;
    struct rank_compile *c = &in->ret->compiles.v[row];
    if (event->phase == 'B' && c->begin_ns == RANK_TIME_NONE)
        c->begin_ns = event->time_ns;
    if (event->phase == 'E')
        c->end_ns = event->time_ns;
    return true;
}

static bool begin_collective(struct rank_reader *in, const struct chromium_event *event)
{
    uint32_t row = row_of(in, event->attempt, false);
    buf_clear(&in->text);
    buf_varint(&in->text, in->n_collectives[in->compile_of[event->attempt]]++);
    buf_put(&in->text, in->trace->attempts[event->attempt].compile);
    uint32_t group =
        in->text.failed ? INTERN_NONE : intern(&in->collective_groups, buf_str(&in->text));
    struct rank_collective fresh = { row, group, event->time_ns, RANK_TIME_NONE };
    if (row == RANK_NONE || group == INTERN_NONE || !vec_push(&in->collectives, fresh))
        return false;
    in->ret->compiles.v[row].waiting = true;
    return true;
}

/* The events of a process are in the order of its log, and its collectives do not nest. */
static bool take_collective(struct rank_reader *in, const struct chromium_event *event)
{
    if (!str_is(event->name, "compiler_collective") || !event->timed)
        return true;
    if (event->phase == 'B')
        return begin_collective(in, event);
    struct rank_collective *last =
        in->collectives.n ? &in->collectives.v[in->collectives.n - 1] : NULL;
    uint32_t row = in->rows[2 * (size_t)in->compile_of[event->attempt]];
    if (event->phase == 'E' && last && last->compile == row && last->end_ns == RANK_TIME_NONE) {
        last->end_ns = event->time_ns;
        in->ret->compiles.v[row].waiting = false;
    }
    return true;
}

static bool read_phases(struct rank_reader *in)
{
    struct chromium_list *events = chromium_read(in->trace, in->err);
    bool ok = events != NULL;
    for (uint32_t i = 0; ok && i < events->n; i++) {
        const struct chromium_event *event = &events->events[i];
        if (event->attempt != TRACE_NONE)
            ok = (take_phase(in, event) && take_collective(in, event)) || err_nomem(in->err);
    }
    chromium_free(events);
    return ok;
}

/* ---- Functions ---- */

static struct str keep(struct rank_reader *in, struct str text)
{
    uint32_t id = intern(&in->ret->texts.all, text);
    return id == INTERN_NONE ? (struct str){ 0 } : intern_text(&in->ret->texts.all, id);
}

static bool read_functions(struct rank_reader *in)
{
    struct metrics_list *metrics = metrics_read(in->trace, in->err);
    bool ok = metrics != NULL;
    for (uint32_t i = 0; ok && i < metrics->n; i++) {
        const struct metrics *m = &metrics->metrics[i];
        if (m->attempt == TRACE_NONE || m->runtime || !m->function.n)
            continue;
        for (int backward = 0; ok && backward < 2; backward++) {
            uint32_t row = in->rows[2 * (size_t)in->compile_of[m->attempt] + (size_t)backward];
            if (row == RANK_NONE)
                continue;
            struct rank_compile *c = &in->ret->compiles.v[row];
            c->function = keep(in, m->function);
            c->file = keep(in, m->file);
            c->line = m->line;
            ok = (c->function.p && c->file.p) || err_nomem(in->err);
        }
    }
    metrics_free(metrics);
    return ok;
}

/* ---- Graphs ---- */

/* A backward belongs to the compile of its own, or to that of its forward. */
static bool place_graphs(struct rank_reader *in, const struct start *start)
{
    for (size_t i = 0; i < start->graphs.n; i++) {
        const struct start_graph *graph = &start->graphs.v[i];
        const uint32_t *rows = &in->rows[2 * (size_t)in->compile_of[graph->attempt]];
        uint32_t row = graph->backward && rows[1] != RANK_NONE ? rows[1] : rows[0];
        if (!vec_push(&in->row_of_graph, row))
            return err_nomem(in->err);
        if (row == RANK_NONE)
            continue;
        bool taken = graph->state == CACHE_HIT;
        in->ret->compiles.v[row].n_taken += taken;
        in->ret->compiles.v[row].n_compiled += !taken;
    }
    return true;
}

static bool read_trace(struct rank_reader *in, struct start *start)
{
    size_t n = (size_t)in->trace->n_attempts + 1;
    in->n_compiles = 0;
    in->compile_of = calloc(n, sizeof *in->compile_of);
    in->rows = malloc(2 * n * sizeof *in->rows);
    in->n_collectives = calloc(n, sizeof *in->n_collectives);
    bool ok = (in->compile_of && in->rows && in->n_collectives) || err_nomem(in->err);
    if (ok) {
        memset(in->rows, 0xff, 2 * n * sizeof *in->rows); /* RANK_NONE */
        number_compiles(in);
    }
    ok = ok && read_phases(in) && read_functions(in) &&
         start_read(start, &in->ret->texts, in->trace, TRACE_NONE, in->err) &&
         place_graphs(in, start);
    free(in->compile_of);
    free(in->rows);
    free(in->n_collectives);
    return ok;
}

/* ---- Who compiled what others took ---- */

static void add_ns(int64_t *sum, int64_t from, int64_t to)
{
    int64_t ns;
    if (!__builtin_sub_overflow(to, from, &ns) && ns > 0 && ns <= INT64_MAX - *sum)
        *sum += ns;
}

static bool ends_before(const struct rank_compile *a, const struct rank_compile *b)
{
    return a->end_ns != RANK_TIME_NONE && (b->end_ns == RANK_TIME_NONE || a->end_ns < b->end_ns);
}

/* The compiles that first ended with a key: those that compiled it (the key of one that did not end
 * may be in no cache), and those that took it from a cache. */
struct rank_keys {
    uint32_t *compiled, *taken; /* by text: a row, or RANK_NONE */
};

static void find_first(struct rank_reader *in, const struct rank_keys *keys)
{
    struct rank_times *ret = in->ret;
    size_t at = 0;
    for (uint32_t s = 0; s < ret->n_starts; s++) {
        for (size_t i = 0; i < ret->starts[s].graphs.n; i++, at++) {
            const struct start_graph *graph = &ret->starts[s].graphs.v[i];
            uint32_t row = in->row_of_graph.v[at];
            uint32_t *first =
                &(graph->state == CACHE_HIT ? keys->taken : keys->compiled)[graph->key];
            bool known = row != RANK_NONE && intern_text(&ret->texts.all, graph->key).n;
            if (known && (*first == RANK_NONE ||
                          ends_before(&ret->compiles.v[row], &ret->compiles.v[*first])))
                *first = row;
        }
    }
}

static void count_taken(struct rank_times *ret, struct rank_compile *c,
                        const struct rank_compile *origin)
{
    if (origin->process == c->process || !ends_before(origin, c))
        return;
    ret->n_taken_from++;
    if (c->from == RANK_NONE)
        c->from = origin->process;
}

static void count_compiled(struct rank_times *ret, struct rank_compile *c, int64_t ns,
                           const struct rank_compile *origin, const struct rank_compile *taker)
{
    if (taker && taker->process != c->process && ends_before(taker, c)) {
        ret->n_apart++;
        add_ns(&ret->apart_ns, 0, ns);
        if (c->had == RANK_NONE)
            c->had = taker->process;
    } else if (origin->process != c->process) {
        ret->n_repeated++;
        add_ns(&ret->repeated_ns, 0, ns);
    }
}

static void count_graph(struct rank_reader *in, const struct rank_keys *keys,
                        const struct start_graph *graph, uint32_t row)
{
    struct rank_times *ret = in->ret;
    uint32_t compiled = keys->compiled[graph->key], taken = keys->taken[graph->key];
    if (row == RANK_NONE || compiled == RANK_NONE)
        return;
    struct rank_compile *c = &ret->compiles.v[row];
    if (graph->state == CACHE_HIT)
        count_taken(ret, c, &ret->compiles.v[compiled]);
    else
        count_compiled(ret, c, graph->ns, &ret->compiles.v[compiled],
                       taken == RANK_NONE ? NULL : &ret->compiles.v[taken]);
}

static bool count_graphs(struct rank_reader *in)
{
    struct rank_times *ret = in->ret;
    size_t n = ret->texts.all.texts.n + 1, at = 0;
    uint32_t *rows = malloc(2 * n * sizeof *rows);
    if (!rows)
        return err_nomem(in->err);
    memset(rows, 0xff, 2 * n * sizeof *rows); /* RANK_NONE */
    const struct rank_keys keys = { rows, rows + n };
    find_first(in, &keys);
    for (uint32_t s = 0; s < ret->n_starts; s++) {
        for (size_t i = 0; i < ret->starts[s].graphs.n; i++, at++) {
            const struct start_graph *graph = &ret->starts[s].graphs.v[i];
            ret->n_taken += graph->state == CACHE_HIT;
            ret->n_compiled += graph->state != CACHE_HIT;
            count_graph(in, &keys, graph, in->row_of_graph.v[at]);
        }
    }
    free(rows);
    return true;
}

/* ---- Who was last ---- */

static void take_end(struct rank_group *group, uint32_t process, int64_t ns)
{
    group->n++;
    if (ns == RANK_TIME_NONE) {
        group->unfinished = true;
        group->n_open++;
        group->open = process;
    } else if (group->last_ns == RANK_TIME_NONE || ns > group->last_ns) {
        group->before_ns = group->last_ns;
        group->last_ns = ns;
        group->last = process;
    } else if (group->before_ns == RANK_TIME_NONE || ns > group->before_ns) {
        group->before_ns = ns;
    }
}

static struct rank_group *make_groups(size_t n)
{
    struct rank_group *groups = calloc(n + 1, sizeof *groups);
    for (size_t i = 0; groups && i < n; i++)
        groups[i] = (struct rank_group){ .last_ns = RANK_TIME_NONE, .before_ns = RANK_TIME_NONE };
    return groups;
}

/* Sets *job to whether the processes are the ranks of one job: each has a rank of its own. */
static bool are_ranks(struct rank_reader *in, struct trace *const *traces, bool *job)
{
    struct intern ranks = INTERN_INIT;
    bool ok = true;
    *job = true;
    for (size_t i = 0; ok && i < in->ret->processes.n; i++) {
        const struct rank_process *p = &in->ret->processes.v[i];
        int64_t rank = traces[p->trace]->recordings[p->recording].rank;
        *job &= rank >= 0;
        buf_clear(&in->text);
        buf_i64(&in->text, rank);
        ok = !in->text.failed && intern(&ranks, buf_str(&in->text)) != INTERN_NONE;
    }
    *job &= ranks.texts.n == in->ret->processes.n;
    intern_release(&ranks);
    return ok || err_nomem(in->err);
}

/* Returns whether one process began when another one had ended. */
static bool ran_in_turn(const struct rank_times *times, int64_t *begins, int64_t *ends)
{
    int64_t last_begin = INT64_MIN, first_end = INT64_MAX;
    for (size_t i = 0; i < times->processes.n; i++) {
        begins[i] = INT64_MAX;
        ends[i] = INT64_MIN;
    }
    for (size_t i = 0; i < times->compiles.n; i++) {
        const struct rank_compile *c = &times->compiles.v[i];
        int64_t end = c->end_ns == RANK_TIME_NONE ? INT64_MAX : c->end_ns;
        if (c->begin_ns == RANK_TIME_NONE)
            continue;
        begins[c->process] = c->begin_ns < begins[c->process] ? c->begin_ns : begins[c->process];
        ends[c->process] = end > ends[c->process] ? end : ends[c->process];
    }
    for (size_t i = 0; i < times->processes.n; i++) {
        if (begins[i] == INT64_MAX)
            continue;
        last_begin = begins[i] > last_begin ? begins[i] : last_begin;
        first_end = ends[i] < first_end ? ends[i] : first_end;
    }
    return last_begin > first_end;
}

static bool find_turns(struct rank_reader *in, struct trace *const *traces)
{
    size_t n = in->ret->processes.n + 1;
    int64_t *times = calloc(2 * n, sizeof *times);
    bool job = false, ok = times ? are_ranks(in, traces, &job) : err_nomem(in->err);
    if (ok)
        in->ret->in_turn = !job && ran_in_turn(in->ret, times, times + n);
    free(times);
    return ok;
}

/* A process that waits in a collective has done its part. */
static void take_compile(struct rank_group *group, const struct rank_compile *c)
{
    if (!c->waiting || c->end_ns != RANK_TIME_NONE) {
        take_end(group, c->process, c->end_ns);
        return;
    }
    group->n++;
    group->unfinished = true;
}

/* Returns the process that the others wait for, or waited for; RANK_NONE if it is not known. */
static uint32_t last_of(const struct rank_group *group)
{
    if (!group->unfinished)
        return group->last;
    return group->n_open == 1 ? group->open : RANK_NONE;
}

static void count_last(struct rank_times *ret, const struct rank_group *group)
{
    uint32_t last = last_of(group);
    ret->n_shared++;
    if (last == RANK_NONE)
        return;
    struct rank_process *p = &ret->processes.v[last];
    p->n_last++;
    p->n_held += group->unfinished;
    if (!group->unfinished)
        add_ns(&p->late_ns, group->before_ns, group->last_ns);
}

static void place_in_group(struct rank_times *ret, struct rank_compile *c,
                           const struct rank_group *group)
{
    c->shared = true;
    c->last = last_of(group);
    ret->processes.v[c->process].n_open += c->end_ns == RANK_TIME_NONE;
    if (group->unfinished)
        return;
    c->ahead_ns = 0;
    add_ns(&c->ahead_ns, c->end_ns, group->last_ns);
}

static bool find_last(struct rank_reader *in)
{
    struct rank_times *ret = in->ret;
    size_t n = in->groups.texts.n;
    struct rank_group *groups = make_groups(n);
    if (!groups)
        return err_nomem(in->err);
    for (size_t i = 0; i < ret->compiles.n; i++)
        take_compile(&groups[ret->compiles.v[i].group], &ret->compiles.v[i]);
    for (size_t i = 0; i < n; i++)
        if (groups[i].n >= 2)
            count_last(ret, &groups[i]);
    for (size_t i = 0; i < ret->compiles.n; i++) {
        struct rank_compile *c = &ret->compiles.v[i];
        if (groups[c->group].n >= 2)
            place_in_group(ret, c, &groups[c->group]);
    }
    free(groups);
    return true;
}

/* A process waits in a collective until the last one comes. */
static bool find_waits(struct rank_reader *in)
{
    struct rank_times *ret = in->ret;
    struct rank_group *groups = make_groups(in->collective_groups.texts.n);
    if (!groups)
        return err_nomem(in->err);
    for (size_t i = 0; i < in->collectives.n; i++) {
        const struct rank_collective *one = &in->collectives.v[i];
        take_end(&groups[one->group], ret->compiles.v[one->compile].process, one->begin_ns);
    }
    for (size_t i = 0; i < in->collectives.n; i++) {
        const struct rank_collective *one = &in->collectives.v[i];
        const struct rank_group *group = &groups[one->group];
        struct rank_compile *c = &ret->compiles.v[one->compile];
        if (group->n < 2 || one->end_ns == RANK_TIME_NONE || group->last == c->process)
            continue;
        c->waited_for = group->last;
        add_ns(&c->waited_ns, one->begin_ns, group->last_ns);
        add_ns(&ret->processes.v[c->process].collective_ns, one->begin_ns, group->last_ns);
    }
    free(groups);
    return true;
}

/* ---- The whole ---- */

/* Returns the name of a recording. One that is alone on a tape and no rank has that of the file:
 * "cold" of cold.tape; its own would be that of the folder where PyTorch put its logs. */
static struct str recording_name(const struct trace *trace, uint32_t recording)
{
    const struct recording *one = &trace->recordings[recording];
    struct str file = str_basename(trace->path);
    static const struct str TAPE = { ".tape", 5 };
    if (trace->n_recordings > 1 || one->rank >= 0 || !str_ends(file, TAPE) || file.n == TAPE.n)
        return one->name;
    return str_first(file, file.n - TAPE.n);
}

/* Names processes by their recordings, and if several have one name, by their files, too. */
static bool name_processes(struct rank_reader *in, struct trace *const *traces)
{
    struct rank_times *ret = in->ret;
    struct intern names = INTERN_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < ret->processes.n; i++) {
        const struct rank_process *p = &ret->processes.v[i];
        ok = intern(&names, recording_name(traces[p->trace], p->recording)) != INTERN_NONE;
    }
    bool unique = names.texts.n == ret->processes.n;
    intern_release(&names);
    for (size_t i = 0; ok && i < ret->processes.n; i++) {
        struct rank_process *p = &ret->processes.v[i];
        const struct trace *trace = traces[p->trace];
        buf_clear(&in->text);
        buf_put(&in->text, unique ? STR("") : str_basename(trace->path));
        buf_puts(&in->text, unique ? "" : "@");
        buf_put(&in->text, recording_name(trace, p->recording));
        p->name = arena_copy(&ret->arena, buf_str(&in->text));
        ok = !in->text.failed && p->name.p;
    }
    return ok || err_nomem(in->err);
}

static bool add_processes(struct rank_reader *in)
{
    in->first_process = (uint32_t)in->ret->processes.n;
    for (uint32_t i = 0; i < in->trace->n_recordings; i++)
        if (!vec_push(&in->ret->processes,
                      (struct rank_process){ .trace = in->trace_number, .recording = i }))
            return err_nomem(in->err);
    return true;
}

/* One whose beginning is not recorded comes first. */
static int by_begin(const void *a, const void *b)
{
    const struct rank_compile *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->backward != y->backward ? x->backward - y->backward : str_cmp(x->compile, y->compile);
}

bool rank_times_make(struct rank_times *ret, struct trace *const *traces, uint32_t n_traces,
                     struct err *err)
{
    struct rank_reader in = { .ret = ret, .err = err };
    ret->starts = calloc((size_t)n_traces + 1, sizeof *ret->starts);
    ret->n_starts = ret->starts ? n_traces : 0;
    bool ok = ret->starts || err_nomem(err);
    for (uint32_t i = 0; ok && i < n_traces; i++) {
        in.trace = traces[i];
        in.trace_number = i;
        ok = add_processes(&in) && read_trace(&in, &ret->starts[i]);
    }
    ok = ok && name_processes(&in, traces) && count_graphs(&in) && find_turns(&in, traces) &&
         (ret->in_turn || (find_last(&in) && find_waits(&in)));
    if (ok && ret->compiles.n)
        qsort(ret->compiles.v, ret->compiles.n, sizeof *ret->compiles.v, by_begin);
    intern_release(&in.groups);
    intern_release(&in.collective_groups);
    vec_release(&in.collectives);
    vec_release(&in.row_of_graph);
    buf_release(&in.text);
    return ok;
}

void rank_times_release(struct rank_times *times)
{
    for (uint32_t i = 0; i < times->n_starts; i++)
        start_release(&times->starts[i]);
    free(times->starts);
    start_texts_release(&times->texts);
    vec_release(&times->processes);
    vec_release(&times->compiles);
    arena_release(&times->arena);
}
