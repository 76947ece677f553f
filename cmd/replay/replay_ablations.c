/* Implements --ablate: the list, the operators that its items name, the replays, their report. */
#include <stdlib.h>

#include "cmd/cli/nearest.h"
#include "cmd/replay/replay.h"
#include "profile/model/cost_model/cost_model.h"
#include "profile/model/dispatch_times.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/shape/env/env.h"

/* --- The list --- */

static bool unknown_ablation(struct str item, struct err *err)
{
    if (item.n == 0)
        return err_set(err, ERR_USAGE, "--ablate: an ablation is missing");
    struct str name = str_first(item, str_find_char(item, ':'));
    struct nearest search = nearest_of(name);
    struct buf names = BUF_INIT;
    char hint[NEAREST_TEXT];
    for (unsigned i = 0; i < ABLATIONS; i++) {
        const struct ablation_row *row = ablation_row((enum ablation)i);
        nearest_offer(&search, str_of(row->name));
        buf_printf(&names, "%s%s%s",
                   i == 0              ? ""
                   : i + 1 < ABLATIONS ? ", "
                                       : " and ",
                   row->name,
                   row->operator_ == NO_OPERATOR    ? ""
                   : row->operator_ == ANY_OPERATOR ? "[:OPERATOR]"
                                                    : ":OPERATOR");
    }
    if (names.failed)
        err_nomem(err);
    else
        err_set(err, ERR_USAGE, "--ablate: no ablation %.*s; there are %.*s%s", STR_ARG(item),
                STR_ARG(buf_str(&names)), nearest_text(&search, hint));
    buf_release(&names);
    return false;
}

static bool read_part(struct str text, struct replay_ablation *ret, struct err *err)
{
    size_t colon = str_find_char(text, ':');
    struct str name = str_first(text, colon);
    *ret = (struct replay_ablation){ .op = str_from(text, colon + 1) };
    if (!ablation_by_name(name, &ret->ablation))
        return unknown_ablation(text, err);
    enum ablation_operator operator_ = ablation_row(ret->ablation)->operator_;
    if (operator_ == NO_OPERATOR && colon < text.n)
        return err_set(err, ERR_USAGE, "--ablate: %.*s has no operator", STR_ARG(name));
    if (ret->op.n == 0 && (operator_ == ONE_OPERATOR || colon < text.n))
        return err_set(err, ERR_USAGE, "--ablate: %.*s needs an operator: %.*s:aten.add",
                       STR_ARG(name), STR_ARG(name));
    return true;
}

static bool is_same_part(const struct replay_ablation *a, const struct replay_ablation *b)
{
    return a->ablation == b->ablation && str_eq(a->op, b->op);
}

static bool is_same_item(const struct ablation_item *a, const struct ablation_item *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = is_same_part(&a->parts[i], &b->parts[i]);
    return same;
}

static bool read_item(struct str text, struct ablation_item *ret, struct err *err)
{
    struct str rest = text;
    bool more = true;
    ret->n = 0;
    while (more) {
        size_t plus = str_find_char(rest, '+');
        more = plus < rest.n;
        if (ret->n == ABLATION_PARTS)
            return err_set(err, ERR_USAGE, "--ablate: %.*s combines more than %d", STR_ARG(text),
                           ABLATION_PARTS);
        if (!read_part(str_trim(str_first(rest, plus)), &ret->parts[ret->n], err))
            return false;
        for (size_t i = 0; i < ret->n; i++)
            if (is_same_part(&ret->parts[i], &ret->parts[ret->n]))
                return err_set(err, ERR_USAGE, "--ablate: %.*s names an ablation twice",
                               STR_ARG(text));
        ret->n++;
        rest = str_from(rest, plus + 1);
    }
    return true;
}

/* Returns the index of an item, or the number of items. */
static size_t find_item(const struct replay_lists *lists, const struct ablation_item *item)
{
    size_t i = 0;
    while (i < lists->n_ablations && !is_same_item(&lists->ablations[i], item))
        i++;
    return i;
}

static bool add_item(struct replay_lists *lists, const struct ablation_item *item, struct err *err)
{
    if (find_item(lists, item) < lists->n_ablations)
        return true;
    if (lists->n_ablations == REPLAY_MAX_LIST)
        return err_set(err, ERR_USAGE, "--ablate takes at most %d items", REPLAY_MAX_LIST);
    lists->ablations[lists->n_ablations++] = *item;
    return true;
}

static struct ablation_item part_of(const struct ablation_item *item, size_t i)
{
    return (struct ablation_item){ .parts = { item->parts[i] }, .n = 1 };
}

bool replay_ablations_read(struct replay_lists *lists, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "");
    while (rest.n) {
        struct ablation_item item;
        if (!read_item(replay_next_item(&rest), &item, err))
            return false;
        for (size_t i = 0; i < item.n && item.n > 1; i++) {
            struct ablation_item part = part_of(&item, i);
            if (!add_item(lists, &part, err))
                return false;
        }
        if (!add_item(lists, &item, err))
            return false;
    }
    return true;
}

/* --- Operators --- */

/* Returns "aten.sin" of "aten.sin.default". */
static struct str without_overload(struct str name)
{
    size_t end = name.n;
    while (end > 0 && name.p[end - 1] != '.')
        end--;
    return end > 0 ? str_first(name, end - 1) : name;
}

static bool is_operator(struct str name, struct str op)
{
    return str_starts(name, op) && (name.n == op.n || name.p[op.n] == '.');
}

/* The operator whose name, without its namespace, is nearest to a word. */
struct nearest_operator {
    struct nearest search;
    struct str space; /* of the nearest one */
};

static void offer_operator(struct nearest_operator *n, struct str space, struct str name)
{
    size_t before = n->search.distance;
    nearest_offer(&n->search, name);
    n->space = n->search.distance < before ? space : n->space;
}

static void offer_row(void *user, struct str schema)
{
    static const struct str COLONS = { "::", 2 };
    struct str name = str_first(schema, str_find_char(schema, '('));
    size_t colons = str_find(name, COLONS);
    struct str base = colons < name.n ? str_from(name, colons + COLONS.n) : name;
    base = str_first(base, str_find_char(base, '.'));
    offer_operator(user, colons < name.n ? str_first(name, colons) : STR("aten"), base);
}

/* Reports an operator that no graph calls, with the nearest one that is called, or else the
 * nearest one that there is. */
static bool unknown_operator(struct str op, const struct replay *baseline, struct err *err)
{
    size_t dot = str_find_char(op, '.');
    struct str word = dot < op.n ? str_from(op, dot + 1) : op;
    struct nearest_operator n = { .search = nearest_of(word) };
    for (size_t i = 0; i < baseline->n_operators; i++) {
        struct str name = baseline->operators[i].op, short_name = without_overload(name);
        size_t end = str_find_char(name, '.');
        offer_operator(&n, str_first(name, end), str_from(short_name, end + 1));
        offer_operator(&n, str_first(name, end), str_from(name, end + 1));
    }
    if (n.search.best.n == 0)
        ops_visit_rows(offer_row, &n);
    if (n.search.best.n && !str_eq(n.search.best, word))
        return err_set(err, ERR_USAGE, "--ablate: no graph calls %.*s; did you mean \"%.*s.%.*s\"?",
                       STR_ARG(op), STR_ARG(n.space), STR_ARG(n.search.best));
    return err_set(err, ERR_USAGE,
                   "--ablate: no graph calls %.*s; symtape replay --operators lists the operators",
                   STR_ARG(op));
}

static bool is_called(const struct replay *baseline, struct str op)
{
    for (size_t i = 0; i < baseline->n_operators; i++)
        if (is_operator(baseline->operators[i].op, op))
            return true;
    return false;
}

/* Finds the namespaces in which the graphs call an operator of that name: those of calls from
 * outside, or else those of nested ones. Writes "aten.relu or prims.relu"; returns their number. */
static unsigned find_namespaces(const struct replay *baseline, struct str op, bool outside,
                                struct buf *names, struct str *last)
{
    unsigned n = 0;
    *last = STR("");
    for (size_t i = 0; i < baseline->n_operators; i++) {
        const struct replay_operator *row = &baseline->operators[i];
        struct str space = str_first(row->op, str_find_char(row->op, '.'));
        if ((outside && !row->stats.calls) || !is_operator(str_from(row->op, space.n + 1), op) ||
            str_eq(space, *last)) /* rows are sorted by name */
            continue;
        buf_printf(names, "%s%.*s.%.*s", n++ ? " or " : "", STR_ARG(space), STR_ARG(op));
        *last = space;
    }
    return n;
}

/* Replaces an operator without a namespace by its full name. An ablation of an operator that the
 * baseline did not call changes nothing, so that it is an error. */
static bool resolve_operator(struct str *op, const struct replay *baseline, struct arena *arena,
                             struct err *err)
{
    struct buf names = BUF_INIT;
    struct str space;
    bool ok = true;
    if (op->n == 0 || is_called(baseline, *op))
        return true;
    unsigned n = find_namespaces(baseline, *op, true, &names, &space);
    if (n == 0)
        n = find_namespaces(baseline, *op, false, &names, &space);
    if (n == 0) {
        ok = unknown_operator(*op, baseline, err);
    } else if (n > 1) {
        ok = err_set(err, ERR_USAGE, "--ablate: %.*s is %.*s; name one", STR_ARG(*op),
                     STR_ARG(buf_str(&names)));
    } else {
        *op = arena_copy(arena, buf_str(&names));
        ok = (!names.failed && op->p) || err_nomem(err);
    }
    buf_release(&names);
    return ok;
}

static bool resolve_operators(struct replay_lists *lists, const struct replay *baseline,
                              struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < lists->n_ablations; i++)
        for (size_t k = 0; k < lists->ablations[i].n; k++)
            if (!resolve_operator(&lists->ablations[i].parts[k].op, baseline, arena, err))
                return false;
    return true;
}

/* Returns the name of an item's row, or NULL when memory ran out. */
static const char *name_of(const struct ablation_item *item, struct arena *arena)
{
    struct buf name = BUF_INIT;
    for (size_t i = 0; i < item->n; i++)
        buf_printf(&name, "%s%s%s%.*s", i ? "+" : "", ablation_row(item->parts[i].ablation)->name,
                   item->parts[i].op.n ? ":" : "", STR_ARG(item->parts[i].op));
    buf_putc(&name, '\0');
    struct str ret = name.failed ? (struct str){ 0 } : arena_copy(arena, buf_str(&name));
    buf_release(&name);
    return ret.p;
}

/* --- The replays --- */

struct ablation_runs {
    struct trace *trace;
    struct replay_lists *lists;
    struct ablation_run run[REPLAY_MAX_LIST + 1]; /* the baseline, then those of the list */
    struct replay *replay[REPLAY_MAX_LIST + 1];
    size_t n;
    struct arena arena;
    double explained;
    int release; /* whose times are used; 0: the tape's own */
};

static bool add_run(struct ablation_runs *runs, const char *name, const struct replay_options *how,
                    struct err *err)
{
    struct replay *replay = name ? replay_trace(runs->trace, how, err) : NULL;
    if (!name)
        return err_nomem(err);
    if (!replay)
        return false;
    runs->replay[runs->n] = replay;
    runs->run[runs->n++] = (struct ablation_run){ .name = name, .replay = replay };
    return true;
}

static bool replay_all(struct ablation_runs *runs, struct replay_options *how, struct err *err)
{
    how->digests = how->passes = true;
    bool ok = add_run(runs, "baseline", how, err) &&
              resolve_operators(runs->lists, runs->replay[0], &runs->arena, err);
    for (size_t i = 0; i < runs->lists->n_ablations && ok; i++) {
        const struct ablation_item *item = &runs->lists->ablations[i];
        how->ablations = item->parts;
        how->n_ablations = item->n;
        ok = add_run(runs, name_of(item, &runs->arena), how, err);
    }
    return ok;
}

/* --- What they are compared by --- */

static void compare_results(struct ablation_run *run, const struct replay *baseline)
{
    size_t n =
        run->replay->n_digests < baseline->n_digests ? run->replay->n_digests : baseline->n_digests;
    for (size_t i = 0; i < n; i++) {
        if (run->replay->digests[i].hash == baseline->digests[i].hash)
            continue;
        if (!run->n_changed++)
            run->changed = &baseline->digests[i];
    }
}

static bool counts_equal(const struct replay_costs *a, const struct replay_costs *b)
{
    return a->dispatches == b->dispatches && a->fake_tensor == b->fake_tensor &&
           a->proxy == b->proxy && a->hits == b->hits && a->misses == b->misses &&
           a->fast_attempts == b->fast_attempts && a->fast_answers == b->fast_answers;
}

static bool has_part(const struct ablation_item *item, enum ablation ablation)
{
    for (size_t i = 0; i < item->n; i++)
        if (item->parts[i].ablation == ablation)
            return true;
    return false;
}

/* Returns whether there are times of what an ablation leaves out: only deep recordings have the
 * time in no_dispatch(). */
static bool has_times(const struct ablation_runs *runs, const struct ablation_item *item)
{
    return !runs->release || !has_part(item, ABLATION_NO_DISPATCH);
}

static void set_times(struct ablation_runs *runs, const struct dispatch_times *times)
{
    double base = dispatch_times_of(times, runs->replay[0]);
    double around = times->no_dispatch_ns + times->device_ns;
    double all = runs->release ? base : times->measured_ns;
    runs->explained = all > 0 ? base / all : 0;
    for (size_t i = 0; i < runs->n; i++) {
        struct saved_time saved = dispatch_times_saved(times, runs->replay[0], runs->replay[i]);
        const struct ablation_item *item = i ? &runs->lists->ablations[i - 1] : NULL;
        double spared = item && has_part(item, ABLATION_NO_DISPATCH) ? times->no_dispatch_ns : 0;
        spared += item && has_part(item, ABLATION_DEVICE_PROPERTY) ? times->device_ns : 0;
        runs->run[i].timed = !item || has_times(runs, item);
        runs->run[i].saved_ns = cost_whole_ns(saved.ns + spared);
        runs->run[i].saved_low_ns = cost_whole_ns(saved.low_ns + spared);
        runs->run[i].saved_high_ns = cost_whole_ns(saved.high_ns + spared);
        runs->run[i].pytorch_ns = cost_whole_ns(all + around - saved.ns - spared);
    }
}

static void shift(uint64_t *count, uint64_t modelled, uint64_t recorded)
{
    uint64_t less = modelled > recorded ? modelled - recorded : 0;
    *count = *count > less ? *count - less : 0;
    *count += recorded > modelled ? recorded - modelled : 0;
}

/* A deep recording has the baseline's dispatches: those of an ablation differ from these as the
 * replays do. */
static void take_recorded(struct ablation_runs *runs, const struct dispatch_times *times)
{
    const struct replay_costs base = runs->replay[0]->costs;
    const struct path_time *path = times->all.path;
    uint64_t recorded = 0;
    for (unsigned i = 0; i < PATH_PROXY; i++)
        recorded += path[i].count;
    for (size_t i = 0; i < runs->n; i++) {
        struct replay_costs *costs = &runs->replay[i]->costs;
        shift(&costs->dispatches, base.dispatches, recorded);
        shift(&costs->fake_tensor, base.fake_tensor, path[PATH_FAKE_TENSOR].count);
        shift(&costs->proxy, base.proxy, path[PATH_PROXY].count);
    }
}

/* Sets PyTorch's times: measured, or estimated. */
static bool find_times(struct ablation_runs *runs, const struct graph_list *list, struct err *err)
{
    struct deep *deep = deep_read(runs->trace, err);
    struct dispatch_times *times =
        deep ? dispatch_times_find(runs->trace, deep, runs->replay[0], list, &runs->release, err)
             : NULL;
    bool modelled = times && runs->replay[0]->costs.modelled;
    if (modelled)
        set_times(runs, times);
    if (modelled && !runs->release)
        take_recorded(runs, times);
    bool ok = times != NULL;
    dispatch_times_free(times);
    deep_free(deep);
    return ok;
}

static int64_t saved_dispatches(const struct ablation_runs *runs, size_t i)
{
    return (int64_t)runs->replay[0]->costs.dispatches - (int64_t)runs->replay[i]->costs.dispatches;
}

static void set_interaction(struct ablation_runs *runs, size_t i)
{
    const struct ablation_item *item = &runs->lists->ablations[i - 1];
    struct ablation_run *run = &runs->run[i];
    run->combined = item->n > 1;
    run->interaction = saved_dispatches(runs, i);
    run->interaction_ns = run->saved_ns;
    for (size_t k = 0; k < item->n; k++) {
        struct ablation_item part = part_of(item, k);
        size_t at = find_item(runs->lists, &part) + 1;
        run->interaction -= at < runs->n ? saved_dispatches(runs, at) : 0;
        run->interaction_ns -= at < runs->n ? runs->run[at].saved_ns : 0;
    }
}

static bool compare_runs(struct ablation_runs *runs, const struct graph_list *list, struct err *err)
{
    if (!find_times(runs, list, err))
        return false;
    for (size_t i = 1; i < runs->n; i++) {
        compare_results(&runs->run[i], runs->replay[0]);
        runs->run[i].same_counts = counts_equal(&runs->replay[i]->costs, &runs->replay[0]->costs);
        set_interaction(runs, i);
    }
    return true;
}

static int print_runs(struct cmd *cmd, const struct ablation_runs *runs,
                      const struct graph_list *list)
{
    const struct replay_args *args = cmd->args;
    const struct report_options how = replay_report_options(cmd);
    const struct ablation_report report = { .runs = runs->run,
                                            .n = runs->n,
                                            .trace = runs->trace,
                                            .list = list,
                                            .release = runs->release,
                                            .explained = runs->explained };
    struct buf text = BUF_INIT;
    if (args->run.json)
        replay_ablations_json(&report, &text);
    else
        replay_ablations_text(&report, &how, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

int replay_ablations(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                     struct replay_lists *lists)
{
    struct ablation_runs runs = { .trace = trace, .lists = lists };
    struct err err = { 0 };
    const struct graph_list *list = NULL;
    bool ok = replay_all(&runs, how, &err);
    if (ok)
        list = trace_graphs(trace, &err);
    ok = list && compare_runs(&runs, list, &err);
    int code = ok ? print_runs(cmd, &runs, list) : out_error(cmd->out, &err);
    for (size_t i = 0; i < runs.n; i++)
        replay_free(runs.replay[i]);
    arena_release(&runs.arena);
    return code;
}
