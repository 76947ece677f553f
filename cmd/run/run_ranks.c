/* Runs the graphs of several recordings, or of one several times, as ranks of one job: a thread, an
 * open backend and a device for each (replay/backend/ranks/ranks.h). */
#include <pthread.h>
#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/run/run_session.h"
#include "profile/model/format.h"
#include "profile/ranks/collective_ops.h"
#include "replay/ops/layers.h"
#include "trace/base/text/printable.h"
#include "trace/events/user_line.h"

/* One rank: a recording, and its graphs that were run. */
struct job_rank_run {
    struct session session;
    struct selector selector;
    vec_of(struct graph_run *)
    runs;
    struct err why;     /* the error that ended it: of its last graph, if it came to one */
    struct err without; /* what its backend did without (struct backend) */
    pthread_t thread;
    bool started;
};

struct job_run {
    struct cmd *cmd;
    const struct run_args *args;
    struct op_catalog *operators;
    vec_of(struct tape_arg *)
    tapes;
    struct rank_job *job;
    uint32_t n;
    struct job_rank_run *ranks;
    uint32_t devices; /* 0: the backend has none */
};

/* ---- Arguments ---- */

static bool check_options(const struct run_args *args, struct err *err)
{
    const struct {
        bool given;
        const char *name;
    } alone[] = {
        { args->pad != NULL, "--pad" },           { args->warm.text || args->warm.file, "--warm" },
        { args->inputs != NULL, "--inputs" },     { args->outputs != NULL, "--outputs" },
        { args->save != NULL, "--save-nodes" },   { args->perturb != NULL, "--perturb" },
        { args->device_sizes, "--device-sizes" },
    };
    const struct backend_kind *tested = backend_find(str_of(args->backend ? args->backend : "cpu"));
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (alone[i].given)
            return err_set(err, ERR_USAGE, "%s: not with several ranks", alone[i].name);
    if (args->compare && !backend_find(str_of(args->compare)))
        return err_set(err, ERR_USAGE,
                       "--compare-with %s: several ranks are compared with a backend only",
                       args->compare);
    if (tested && tested->shapes_only)
        return err_set(err, ERR_USAGE, "backend %s computes nothing that ranks could exchange",
                       tested->name);
    return !args->ranks.given || (args->ranks.value >= 1 && args->ranks.value <= RANKS_MAX) ||
           err_set(err, ERR_USAGE, "--ranks: 1 to %d", RANKS_MAX);
}

static int open_tapes(struct job_run *j)
{
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < j->cmd->n_operands; i++) {
        struct tape_arg *tape = calloc(1, sizeof *tape);
        struct err err = { 0 };
        if (!tape || !vec_push(&j->tapes, tape)) {
            free(tape);
            return err_nomem(&err), out_error(j->cmd->out, &err);
        }
        code = tape_arg_open(tape, j->cmd->out, j->cmd->operands[i],
                             j->args->strict ? TAPE_ARG_STRICT : 0);
        if (i)
            j->tapes.v[i - 1]->failures.next = &tape->failures;
    }
    memory_limit_end(j->cmd->out->limit);
    return code;
}

/* A recording that is a rank. */
struct rank_source {
    struct tape_arg *tape;
    uint32_t recording;
    int64_t rank; /* that it had when it was recorded; -1 */
};
struct rank_sources {
    vec_of(struct rank_source)
    list;
};

static bool find_sources(const struct job_run *j, struct rank_sources *ret, struct err *err)
{
    for (size_t i = 0; i < j->tapes.n; i++) {
        struct tape_arg *tape = j->tapes.v[i];
        const struct trace *trace = tape->trace;
        for (uint32_t r = 0; r < trace->n_recordings; r++) {
            struct rank_source source = { tape, r, trace->recordings[r].rank };
            if (selector_has_recording(trace, &tape->selector, r) && !vec_push(&ret->list, source))
                return err_nomem(err);
        }
    }
    return true;
}

/* Puts recordings with different numbers of ranks into their order; others stay as they are named.
 */
static void sort_sources(struct rank_sources *s)
{
    for (size_t i = 0; i < s->list.n; i++)
        for (size_t k = 0; k < i; k++)
            if (s->list.v[i].rank < 0 || s->list.v[i].rank == s->list.v[k].rank)
                return;
    for (size_t i = 1; i < s->list.n; i++)
        for (size_t k = i; k > 0 && s->list.v[k].rank < s->list.v[k - 1].rank; k--) {
            struct rank_source t = s->list.v[k];
            s->list.v[k] = s->list.v[k - 1];
            s->list.v[k - 1] = t;
        }
}

/* Says which recorded ranks run, if the job had others too: they are numbered from 0. */
static void note_numbers(const struct job_run *j, const struct rank_sources *s)
{
    struct buf numbers = BUF_INIT;
    bool differ = false;
    for (size_t i = 0; i < s->list.n; i++) {
        if (s->list.v[i].rank < 0 || (i && s->list.v[i].rank <= s->list.v[i - 1].rank)) {
            buf_release(&numbers);
            return;
        }
        differ |= s->list.v[i].rank != (int64_t)i;
        buf_printf(&numbers, "%s%lld", i ? ", " : "", (long long)s->list.v[i].rank);
    }
    if (differ && s->list.n > 1 && !numbers.failed)
        out_note(j->cmd->out, "ranks 0 to %zu are the recorded ranks %.*s", s->list.n - 1,
                 STR_ARG(buf_str(&numbers)));
    buf_release(&numbers);
}

/* One recording stands for all ranks, or there is one for each. */
static bool count_ranks(struct job_run *j, const struct rank_sources *s, struct err *err)
{
    const struct opt_number *asked = &j->args->ranks;
    if (s->list.n > RANKS_MAX)
        return err_set(err, ERR_USAGE, "%zu recordings; a job has at most %d ranks", s->list.n,
                       RANKS_MAX);
    j->n = asked->given ? (uint32_t)asked->value : (uint32_t)s->list.n;
    return s->list.n == 1 || j->n == s->list.n ||
           err_set(err, ERR_USAGE,
                   "--ranks %u: there are %zu recordings, each of which is a rank; name one with "
                   "@RECORDING to run it several times",
                   j->n, s->list.n);
}

static bool make_rank(struct job_run *j, const struct rank_sources *s, uint32_t i, struct err *err)
{
    const struct rank_source *from = &s->list.v[s->list.n == 1 ? 0 : i];
    struct job_rank_run *rank = &j->ranks[i];
    rank->selector = from->tape->selector;
    if (from->tape->trace->n_recordings > 1)
        rank->selector.recording = from->tape->trace->recordings[from->recording].name;
    rank->session = (struct session){ .cmd = j->cmd,
                                      .args = j->args,
                                      .trace = from->tape->trace,
                                      .failures = &from->tape->failures,
                                      .operators = j->operators,
                                      .job = j->job,
                                      .rank = i };
    if (!session_read(&rank->session, err))
        return false;
    rank->session.seed += i;
    rank->session.pair.device = j->devices ? i % j->devices : 0;
    return rank->session.grid.n == 1 ||
           err_set(err, ERR_USAGE, "--sizes: several ranks run at one point of the sizes, not %zu",
                   rank->session.grid.n);
}

static bool make_ranks(struct job_run *j, struct err *err)
{
    const struct backend_kind *kind =
        backend_find(str_of(j->args->backend ? j->args->backend : "cpu"));
    struct rank_sources sources = { 0 };
    bool ok = find_sources(j, &sources, err);
    sort_sources(&sources);
    if (ok)
        note_numbers(j, &sources);
    ok = ok && count_ranks(j, &sources, err) && (!kind->devices || kind->devices(&j->devices, err));
    if (ok) {
        j->job = rank_job_new(j->n, err);
        j->ranks = calloc(j->n, sizeof *j->ranks);
        ok = j->job && (j->ranks || err_nomem(err));
    }
    for (uint32_t i = 0; ok && i < j->n; i++)
        ok = make_rank(j, &sources, i, err);
    vec_release(&sources.list);
    return ok;
}

/* ---- Process groups ---- */

/* Returns the last text among the arguments, which is the name of the process group. */
static struct str group_argument(const struct graph *graph, const struct node *node)
{
    const struct arg *args = node_args(graph, node);
    struct str ret = { 0 };
    for (uint32_t i = 0; i < node->n_args; i++)
        if (args[i].kind == ARG_STRING)
            ret = args[i].text;
    return ret;
}

static bool join_groups(struct rank_job *job, const struct graph *graph, uint32_t rank,
                        struct err *err)
{
    struct buf op = BUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++) {
        struct str name;
        buf_clear(&op);
        if (graph->nodes[i].op != NODE_CALL_FUNCTION)
            continue;
        node_op_name(&graph->nodes[i], &op);
        struct str group =
            is_collective(buf_str(&op), &name) ? group_argument(graph, &graph->nodes[i]) : STR("");
        ok = !group.n || rank_job_join(job, group, rank, err);
    }
    ok = ok && (!op.failed || err_nomem(err));
    buf_release(&op);
    return ok;
}

/* Joins the groups of a graph, if it is selected, or if one of its compile attempt is and it may
 * pass values to that one (run_schedule.c). Such a graph may be unreadable. */
static bool find_groups_of(struct job_run *j, uint32_t i, uint32_t ref, const bool *attempts,
                           struct err *err)
{
    struct session *s = &j->ranks[i].session;
    const struct graph_ref *g = &s->list->refs[ref];
    struct err why = { 0 };
    bool runs = session_runs(s, &j->ranks[i].selector, ref);
    bool passes = g->is_event && g->attempt != TRACE_NONE && attempts[g->attempt] &&
                  (g->kind == GRAPH_FORWARD || g->kind == GRAPH_BACKWARD);
    if (!runs && !passes)
        return true;
    const struct graph *graph = trace_graph(s->trace, ref, &why);
    if (!graph)
        return (!runs && why.kind != ERR_ENV) || err_copy(err, &why);
    return join_groups(j->job, graph, i, err);
}

/* Which rank is in which process group is not recorded: those are whose graphs name it. */
static bool find_groups(struct job_run *j, uint32_t i, struct err *err)
{
    struct session *s = &j->ranks[i].session;
    bool *attempts = calloc((size_t)s->trace->n_attempts + 1, sizeof *attempts);
    bool ok = attempts || err_nomem(err);
    for (uint32_t g = 0; ok && g < s->list->n; g++) {
        const struct graph_ref *ref = &s->list->refs[g];
        if (ref->attempt != TRACE_NONE)
            attempts[ref->attempt] |= session_runs(s, &j->ranks[i].selector, g);
    }
    for (uint32_t g = 0; ok && g < s->list->n; g++)
        ok = find_groups_of(j, i, g, attempts, err);
    free(attempts);
    return ok;
}

/* ---- Runs ---- */

static const struct location *own_line(const struct graph *graph, uint32_t node)
{
    uint32_t at = graph->nodes[node].location;
    bool known =
        at < graph->n_locations && user_file_of(graph->locations[at].file) == USER_FILE_PROGRAM;
    return known ? &graph->locations[at] : NULL;
}

/* Returns the user line of a node, or of the nearest one before it that has one, or else behind it:
 * the comments of graphs name the line in torch.distributed for collectives. */
static const struct location *program_line(const struct graph *graph, uint32_t node)
{
    const struct location *ret = NULL;
    for (uint32_t i = node + 1; !ret && i-- > 0;)
        ret = own_line(graph, i);
    for (uint32_t i = node + 1; !ret && i < graph->n_nodes; i++)
        ret = own_line(graph, i);
    return ret;
}

static void describe_node(void *user, uint32_t node, struct buf *out)
{
    const struct session *s = &((const struct job_rank_run *)user)->session;
    if (!s->running || node >= s->running->n_nodes)
        return;
    buf_printf(out, "%.*s, node %.*s", STR_ARG(s->running_name),
               STR_ARG(s->running->nodes[node].name));
    const struct location *at = program_line(s->running, node);
    if (at) {
        buf_puts(out, " at ");
        format_place(out, at->file, at->line);
    }
}

/* Runs one graph; false: the rank goes no further. */
static bool run_graph(struct job_rank_run *rank, uint32_t ref, struct err *err)
{
    struct graph_run *g = calloc(1, sizeof *g);
    if (!g || !vec_push(&rank->runs, g))
        return free(g), err_nomem(err);
    rank_begin_graph(rank->session.pair.tested->rank);
    bool ok = (rank->session.args->profile ? profile_graph_execute
                                           : graph_run_execute)(g, &rank->session, ref, 0);
    rank->session.running = NULL;
    return ok || err_copy(err, &g->err);
}

static bool run_rank(struct job_rank_run *rank, struct rank *self, struct err *err)
{
    struct session *s = &rank->session;
    if (!session_open(s, err))
        return false;
    s->pair.tested->rank = self;
    if (s->pair.reference)
        s->pair.reference->rank = self;
    for (uint32_t i = 0; i < s->list->n; i++)
        if (session_runs(s, &rank->selector, i) && !run_graph(rank, i, err))
            return false;
    return true;
}

static void *rank_thread(void *user)
{
    struct job_rank_run *rank = user;
    struct err why = { 0 };
    struct rank *self = rank_begin(rank->session.job, rank->session.rank);
    self->describe = describe_node;
    self->user = rank;
    run_rank(rank, self, &why);
    rank->why = why;
    if (rank->session.pair.tested)
        rank->without = rank->session.pair.tested->without;
    backend_pair_close(&rank->session.pair);
    rank_end(self, &why);
    return NULL;
}

/* A rank whose thread cannot be started ends at once, so that no other one waits for it. */
static void run_threads(struct job_run *j)
{
    struct err why = { 0 };
    err_set(&why, ERR_ENV, "cannot start a thread");
    for (uint32_t i = 0; i < j->n; i++)
        j->ranks[i].started =
            pthread_create(&j->ranks[i].thread, NULL, rank_thread, &j->ranks[i]) == 0;
    for (uint32_t i = 0; i < j->n; i++) {
        if (j->ranks[i].started)
            continue;
        j->ranks[i].why = why;
        rank_end(rank_begin(j->job, i), &why);
    }
    for (uint32_t i = 0; i < j->n; i++)
        if (j->ranks[i].started)
            pthread_join(j->ranks[i].thread, NULL);
}

/* ---- The report ---- */

void run_ranks_headline(const struct session *s, struct buf *out)
{
    const struct rank_divergence *d = rank_job_divergence(s->job);
    if (!d->kind) {
        format_plural(out, rank_job_size(s->job), "rank");
        buf_puts(out, ", ");
        return;
    }
    buf_printf(out, "the ranks diverge: %s, rank %u, ", d->kind, d->rank);
    if (d->ordinal)
        buf_printf(out, "collective %llu of ", (unsigned long long)d->ordinal);
    buf_puts(out, d->group.n ? "process group \"" : "message");
    printable_line(out, d->group);
    buf_puts(out, d->group.n ? "\"\n" : "\n");
    for (struct str rest = d->text; rest.n; rest = str_from(rest, str_find_char(rest, '\n') + 1))
        buf_printf(out, "  %.*s\n", STR_ARG(str_first(rest, str_find_char(rest, '\n'))));
    format_plural(out, rank_job_size(s->job), "rank");
    buf_puts(out, ", ");
}

void run_ranks_json(struct session *s)
{
    const struct rank_divergence *d = rank_job_divergence(s->job);
    struct json_writer *w = &s->writer;
    json_put_u64(w, "ranks", rank_job_size(s->job));
    if (!d->kind) {
        json_put_cstr(w, "divergence", NULL);
        return;
    }
    json_open_object(w, "divergence");
    json_put_cstr(w, "kind", d->kind);
    json_put_u64(w, "rank", d->rank);
    json_put_str(w, "group", d->group);
    json_put_u64(w, "ordinal", d->ordinal);
    json_put_str(w, "text", d->text);
    json_close(w);
}

/* Returns whether the error is that of a rank before it: a collective fails on all of them. */
static bool is_told(const struct job_run *j, uint32_t rank, const struct err *err)
{
    for (uint32_t i = 0; i < rank; i++)
        if (str_eq(str_of(err->text), str_of(j->ranks[i].why.text)))
            return true;
    return false;
}

/* Reports a graph that ended with an error which need not be printed. */
static void report_silently(struct graph_run *g)
{
    graph_run_count(g);
    err_at(&g->err, "%.*s", STR_ARG(buf_str(&g->name)));
    err_at(&g->err, "rank %u", g->session->rank);
    if (g->session->args->json)
        graph_run_json(g);
}

/* Prints one rank's results into the documents of `to`. A graph that only stopped because the ranks
 * diverged is not an error of its own. */
static int report_rank(const struct job_run *j, struct job_rank_run *rank, struct session *to)
{
    struct session *s = &rank->session;
    bool diverged = rank_job_divergence(s->job)->kind != NULL;
    int code = !rank->runs.n && err_is_set(&rank->why) && !is_told(j, s->rank, &rank->why)
                   ? out_error(s->cmd->out, &rank->why)
                   : EXIT_DONE;
    s->writer = to->writer;
    for (size_t i = 0; i < rank->runs.n; i++) {
        struct graph_run *g = rank->runs.v[i];
        bool ok = !err_is_set(&g->err);
        int one = EXIT_DONE;
        if (!ok && ((diverged && g->err.kind == ERR_USAGE) || is_told(j, s->rank, &g->err)))
            report_silently(g);
        else
            one = graph_run_report(g, ok);
        code = one != EXIT_DONE ? one : code;
    }
    to->writer = s->writer;
    if (s != to) {
        buf_put(&to->text, buf_str(&s->text));
        to->text.failed |= s->text.failed;
    }
    return code;
}

static void add_totals(struct run_totals *to, const struct run_totals *t)
{
    to->graphs += t->graphs;
    to->peak = t->peak > to->peak ? t->peak : to->peak;
    to->wall_us = t->wall_us > to->wall_us ? t->wall_us : to->wall_us; /* they run together */
    for (int i = 0; i < RUN_OUTCOMES; i++)
        to->outcomes[i] += t->outcomes[i];
    if (!to->first_graph.n)
        buf_put(&to->first_graph, buf_str(&t->first_graph));
    if (!to->refusal.n)
        buf_put(&to->refusal, buf_str(&t->refusal));
}

static int report(struct job_run *j)
{
    if (err_is_set(&j->ranks[0].without))
        out_note(j->cmd->out, "%s", j->ranks[0].without.text);
    struct session *first = &j->ranks[0].session;
    int code = EXIT_DONE;
    first->failures = &j->tapes.v[0]->failures;
    if (j->args->json)
        session_json_begin(first);
    for (uint32_t i = 0; i < j->n; i++) {
        int one = report_rank(j, &j->ranks[i], first);
        code = one != EXIT_DONE ? one : code;
        if (i)
            add_totals(&first->totals, &j->ranks[i].session.totals);
    }
    int printed = j->args->json ? session_json_end(first) : session_text_end(first);
    if (printed != EXIT_DONE || code != EXIT_DONE)
        return printed != EXIT_DONE ? printed : code;
    return first->totals.outcomes[RUN_DIFFERS] || rank_job_divergence(j->job)->kind ? EXIT_DIFFERS
                                                                                    : EXIT_DONE;
}

/* ---- The command ---- */

static void note_devices(const struct job_run *j)
{
    if (j->devices && j->devices < j->n)
        out_note(j->cmd->out,
                 "%u ranks share %u device%s: the host computes their collectives, without NCCL",
                 j->n, j->devices, j->devices == 1 ? "" : "s");
}

static int run_job(struct job_run *j)
{
    struct err err = { 0 };
    if (!make_ranks(j, &err))
        return out_error(j->cmd->out, &err);
    for (uint32_t i = 0; i < j->n; i++) {
        int code = session_check_graphs(&j->ranks[i].session, &j->ranks[i].selector);
        if (code != EXIT_DONE)
            return code;
        if (!find_groups(j, i, &err))
            return out_error(j->cmd->out, &err);
    }
    note_devices(j);
    run_threads(j);
    return report(j);
}

static void release_rank(struct job_rank_run *rank)
{
    for (size_t i = 0; i < rank->runs.n; i++) {
        graph_run_release(rank->runs.v[i]);
        free(rank->runs.v[i]);
    }
    vec_release(&rank->runs);
    session_release(&rank->session);
}

static void release(struct job_run *j)
{
    for (uint32_t i = 0; j->ranks && i < j->n; i++)
        release_rank(&j->ranks[i]);
    free(j->ranks);
    rank_job_free(j->job);
    for (size_t i = 0; i < j->tapes.n; i++) {
        tape_arg_close(j->tapes.v[i]);
        free(j->tapes.v[i]);
    }
    vec_release(&j->tapes);
}

int run_ranks(struct cmd *cmd, const struct run_args *args)
{
    struct err err = { 0 };
    struct custom_rules *rules = NULL;
    struct job_run j = { .cmd = cmd, .args = args };
    int code = check_options(args, &err) &&
                       rules_arg_read(&rules, args->rules, &cmd->out->limit->meter, &err) &&
                       (j.operators = op_catalog_new(rules, &err)) != NULL
                   ? open_tapes(&j)
                   : out_error(cmd->out, &err);
    if (code == EXIT_DONE)
        code = run_job(&j);
    release(&j);
    op_catalog_free(j.operators);
    custom_rules_free(rules);
    return args->bisect_codes ? exit_code_for_bisect(code) : code;
}
