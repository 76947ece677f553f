/* Guards, symbols and specializations of user lines, and the estimate of their time. profile.h
 * explains the accuracy of the estimate. */
#include "profile/model/line_table.h"

#define DAY_US INT64_C(86400000000)

struct time_estimate {
    struct profile_build *b;
    struct line_table *lines;
    const struct build_input *in;
    stack_id *user_stacks;  /* by record: the stacks of guards, symbols and specializations; 0 */
    unsigned char *backend; /* by record: 'B' or 'E' of a phase without user lines; 0 */
};

/* The rows of the user's line and of PyTorch's, or NULL. Valid until the next one is found. */
struct line_pair {
    struct profile_line *user, *library;
};

static bool find_rows(struct time_estimate *e, uint32_t record, stack_id stack,
                      struct line_pair *ret)
{
    uint32_t line, library_line;
    *ret = (struct line_pair){ NULL, NULL };
    if (!build_takes(e->b, e->in, record))
        return true;
    if (!line_table_stack(e->lines, e->in, e->in->trace->records[record].recording, stack, &line,
                          &library_line))
        return false;
    if (line != LINE_NOBODY)
        ret->user = &e->b->lines.v[line];
    if (library_line != LINE_NOBODY)
        ret->library = &e->b->library_lines.v[library_line];
    return true;
}

static bool count_line_guards(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->guards->n; i++) {
        const struct guard *guard = &e->in->guards->guards[i];
        struct line_pair rows;
        e->user_stacks[guard->record] = guard->user_stack;
        if (!find_rows(e, guard->record, guard->user_stack, &rows))
            return false;
        if (guard->kind != GUARD_EVAL)
            continue;
        bool kept = build_kept(e->in, guard->attempt);
        if (rows.user) {
            rows.user->guards++;
            rows.user->kept_guards += kept;
        }
        if (rows.library) {
            rows.library->guards++;
            rows.library->kept_guards += kept;
        }
    }
    return true;
}

static bool count_symbols(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->symbols->n_symbols; i++) {
        const struct symbol *symbol = &e->in->symbols->symbols[i];
        struct line_pair rows;
        e->user_stacks[symbol->record] = symbol->user_stack;
        if (!find_rows(e, symbol->record, symbol->user_stack, &rows))
            return false;
        if (rows.user)
            rows.user->symbols++;
        if (rows.library)
            rows.library->symbols++;
    }
    for (uint32_t i = 0; i < e->in->symbols->n_specializations; i++) {
        const struct specialization *s = &e->in->symbols->specializations[i];
        struct line_pair rows;
        e->user_stacks[s->record] = s->user_stack;
        if (!find_rows(e, s->record, s->user_stack, &rows))
            return false;
        if (rows.user)
            rows.user->specializations++;
        if (rows.library)
            rows.library->specializations++;
    }
    return true;
}

static void mark_backend(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->events->n; i++) {
        const struct chromium_event *event = &e->in->events->events[i];
        if ((event->phase == 'B' || event->phase == 'E') && phase_is_backend(event->name))
            e->backend[event->record] = (unsigned char)event->phase;
    }
}

static void give_time(struct profile_line *line, int64_t ns, bool kept)
{
    if (!line)
        return;
    build_add_ns(&line->estimated_ns, ns);
    build_add_ns(&line->high_ns, ns); /* all of a gap may belong to another line */
    if (kept)
        build_add_ns(&line->kept_estimated_ns, ns);
}

static int64_t gap_ns(const struct trace *trace, uint32_t from, uint32_t to)
{
    int64_t us = (int64_t)trace->records[to].time_us - (int64_t)trace->records[from].time_us;
    if (us < -DAY_US / 2)
        us += DAY_US;
    return us > 0 ? us * 1000 : 0;
}

/* Returns whether a record is part of the work that the next record with a user line completes:
 * Dynamo describes a tensor before it makes symbols of its sizes. */
static bool leads_up(enum event event)
{
    return event == EVENT_DESCRIBE_STORAGE || event == EVENT_DESCRIBE_TENSOR ||
           event == EVENT_DESCRIBE_SOURCE || event == EVENT_STR;
}

static void attribute_time(struct time_estimate *e, const struct line_pair *rows, int64_t ns,
                           uint32_t record)
{
    struct profile_lines *all = &e->b->profile.lines;
    bool kept = build_kept(e->in, e->in->trace->records[record].attempt);
    give_time(rows->user, ns, kept);
    give_time(rows->library, ns, kept);
    e->in->estimated_ns[record] = rows->user ? ns : 0;
    build_add_ns(rows->user ? &all->estimated_ns : &all->unattributed_ns, ns);
    if (rows->user && ns > all->longest_ns) {
        all->longest_ns = ns;
        all->longest_line = (uint32_t)(rows->user - e->b->lines.v);
        all->longest_trace = (uint32_t)(e->in - e->b->inputs);
        all->longest_record = record;
    }
}

static bool estimate_attempt(struct time_estimate *e, uint32_t index)
{
    const struct trace *trace = e->in->trace;
    const struct attempt *attempt = &trace->attempts[index];
    uint32_t backend = 0; /* open phases without user lines */
    int64_t ns = 0;
    for (uint32_t i = 0; i < attempt->n_records; i++) {
        uint32_t record = attempt->records[i];
        struct line_pair rows = { NULL, NULL };
        build_add_ns(&ns, i > 0 ? gap_ns(trace, attempt->records[i - 1], record) : 0);
        if (backend == 0 && leads_up(trace->records[record].event))
            continue;
        if (ns > 0 && backend == 0 && !find_rows(e, record, e->user_stacks[record], &rows))
            return false;
        attribute_time(e, &rows, ns, record);
        ns = 0;
        if (e->backend[record] == 'B')
            backend++;
        else if (e->backend[record] == 'E' && backend > 0)
            backend--;
    }
    build_add_ns(&e->b->profile.lines.unattributed_ns, ns);
    return true;
}

static bool estimate_input_times(struct profile_build *b, struct line_table *lines,
                                 const struct build_input *in)
{
    size_t n = (size_t)in->trace->n_records + 1;
    struct time_estimate e = {
        .b = b,
        .lines = lines,
        .in = in,
        .user_stacks = calloc(n, sizeof *e.user_stacks),
        .backend = calloc(n, 1),
    };
    bool ok = e.user_stacks && e.backend && line_table_start(lines, in) && count_line_guards(&e) &&
              count_symbols(&e);
    if (ok)
        mark_backend(&e);
    for (uint32_t i = 0; ok && i < in->trace->n_attempts; i++)
        if (in->compile_of[i] != PROFILE_NONE)
            ok = estimate_attempt(&e, i);
    free(e.user_stacks);
    free(e.backend);
    return ok;
}

bool line_times_estimate(struct profile_build *b, struct line_table *lines, struct err *err)
{
    b->profile.lines.longest_line = PROFILE_NONE;
    for (uint32_t i = 0; i < b->profile.n_traces; i++)
        if (!estimate_input_times(b, lines, &b->inputs[i]))
            return err_nomem(err);
    return true;
}
