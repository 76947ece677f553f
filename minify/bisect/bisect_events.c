#include "minify/bisect/bisect_events.h"

#include <regex.h>
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/engines.h"
#include "minify/oracle/guard_match.h"
#include "minify/oracle/shape_failure.h"
#include "trace/base/hash.h"

static const char *const event_names[] = {
#define BISECT_EVENT(id, name) name,
    BISECT_EVENTS(BISECT_EVENT)
#undef BISECT_EVENT
};

const char *bisect_event_name(enum bisect_event_kind kind)
{
    return event_names[kind];
}

struct event_walk {
    const struct candidate *candidate;
    const struct bisect_question *question;
    struct graph_replay *single;
    struct bisect_events *ret;
    uint32_t limit;
    regex_t regex;
    bool has_regex, exact;
    struct guard_match match;
    struct injection injection;
    vec_of(bool)
    like; /* by event: whether another guard has the same form over other symbols */
    uint32_t symbols, guards, asserts, specializations;
    uint64_t replacements;
    vec_of(struct sym_pair)
    replaced; /* those that were reported */
    struct buf text;
    struct arena arena; /* for data of the walk */
    bool failed;
};

/* ---- One event ---- */

static struct str copy_event_text(struct event_walk *w, struct str text)
{
    struct str ret = text.n ? arena_copy(&w->ret->arena, text) : STR("");
    w->failed |= !ret.p;
    return ret.p ? ret : STR("");
}

/* Hashes the order of the symbols in the text. */
static uint64_t hash_renamed(struct str text)
{
    struct str seen[32];
    uint64_t hash = 1, n = 0;
    while (text.n) {
        size_t k = 0;
        while (k < text.n && is_word_char(text.p[k]))
            k++;
        struct str word = str_first(text, k ? k : 1);
        bool symbol = k > 1 && strchr("suz", word.p[0]) && is_digit(word.p[k - 1]);
        uint64_t which = 0;
        while (symbol && which < n && !str_eq(seen[which], word))
            which++;
        if (symbol && which == n && n < sizeof seen / sizeof *seen)
            seen[n++] = word;
        hash = hash_mix(hash, symbol ? which + 1 : hash_str(word));
        text = str_from(text, word.n);
    }
    return hash;
}

static void put_event_in_order(struct event_walk *w, struct bisect_event *event,
                               const struct program *program, node_id id)
{
    const struct node *node = &program->graph->nodes[id];
    struct buf op = BUF_INIT;
    node_op_name(node, &op);
    event->node = copy_event_text(w, node->name);
    event->op = copy_event_text(w, buf_str(&op));
    buf_release(&op);
    if (node->location == LOCATION_NONE)
        return;
    const struct location *at = &program->graph->locations[node->location];
    event->file = copy_event_text(w, at->file);
    event->function = copy_event_text(w, at->function);
    event->code = copy_event_text(w, at->code);
    event->line = at->line;
}

static void append_event(struct event_walk *w, struct bisect_event event, const struct step *step,
                         bool like)
{
    event.at = step ? step->node : NODE_NONE;
    event.node = event.op = event.file = event.function = event.code = STR("");
    if (!event.failure.p)
        event.failure = STR("");
    event.expr = copy_event_text(w, buf_str(&w->text));
    if (step)
        put_event_in_order(w, &event, w->single->program, step->node);
    event.id = hash_mix(hash_mix((uint64_t)event.kind, hash_renamed(event.expr)),
                        hash_mix(hash_str(str_basename(event.file)),
                                 hash_mix(hash_str(event.function), hash_str(event.code))));
    if (!vec_push(&w->ret->list, event) || !vec_push(&w->like, like))
        w->failed = true;
    buf_clear(&w->text);
}

static bool is_full(const struct event_walk *w)
{
    return w->ret->list.n >= w->limit;
}

/* ---- Events since the last step ---- */

static void add_symbols(struct event_walk *w, const struct step *step)
{
    struct shape_env *env = w->single->env;
    for (; w->symbols < env_n_symbols(env) && !is_full(w); w->symbols++) {
        sym_id symbol = env_symbol_at(env, w->symbols);
        sym_print(env_pool(env), symbol, &w->text);
        /* The symbols of inputs are created before any call. */
        append_event(w, (struct bisect_event){ .kind = BISECT_EVENT_SYMBOL },
                     env_is_unbacked(env, symbol) ? step : NULL, false);
    }
}

static void guard_hits(struct event_walk *w, sym_id expr, bool *exact, bool *like)
{
    *exact = *like = false;
    if (w->question->kind != BISECT_GUARD)
        return;
    guard_match_pool(&w->match, env_pool(w->single->env));
    *like = guard_matches(&w->match, expr);
    *exact = *like && (expr == w->match.expr || expr == w->match.canonical);
    w->exact |= *exact;
}

static void add_guard_events(struct event_walk *w, const struct step *step)
{
    struct shape_env *env = w->single->env;
    bool exact, like;
    for (; w->guards < env_n_guards(env) && !is_full(w); w->guards++) {
        const struct env_guard *guard = env_guard_at(env, w->guards);
        bool asked = guard->origin.node != ENV_NODE_NONE;
        guard_hits(w, guard->expr, &exact, &like);
        sym_print(env_pool(env), guard->expr, &w->text);
        append_event(
            w, (struct bisect_event){ .kind = BISECT_EVENT_GUARD, .hit = exact, .asked = asked },
            step, like);
    }
    for (; w->asserts < env_n_asserts(env) && !is_full(w); w->asserts++) {
        const struct env_assert *at = env_assert_at(env, w->asserts);
        bool asked = at->origin.node != ENV_NODE_NONE;
        guard_hits(w, at->expr, &exact, &like);
        sym_print(env_pool(env), at->expr, &w->text);
        append_event(
            w, (struct bisect_event){ .kind = BISECT_EVENT_ASSERT, .hit = exact, .asked = asked },
            step, like);
    }
}

/* Returns whether a symbol that became a number is the one in the question, and marks it. */
static bool is_looked_for(const struct event_walk *w, sym_id symbol)
{
    const struct candidate *c = w->candidate;
    for (uint32_t i = 0; i < c->n_symbols && w->question->kind == BISECT_SPECIALIZES; i++)
        if (w->single->symbols[i] == symbol && (str_eq(c->symbols[i].name, w->question->what) ||
                                                str_eq(c->symbols[i].source, w->question->what)))
            return true;
    return false;
}

static void add_pair_event(struct event_walk *w, const struct step *step,
                           enum bisect_event_kind kind, sym_id symbol, sym_id to)
{
    struct sym_pool *pool = env_pool(w->single->env);
    bool hit = to != SYM_NONE && sym_is_number(pool, to) && is_looked_for(w, symbol);
    sym_print(pool, symbol, &w->text);
    buf_puts(&w->text, " = ");
    sym_print(pool, to, &w->text);
    append_event(w, (struct bisect_event){ .kind = kind, .hit = hit }, step, false);
}

static bool is_known_replacement(struct event_walk *w, sym_id symbol, sym_id to)
{
    for (size_t i = 0; i < w->replaced.n; i++)
        if (w->replaced.v[i].from == symbol) {
            bool same = w->replaced.v[i].to == to;
            w->replaced.v[i].to = to;
            return same;
        }
    w->failed |= !vec_push(&w->replaced, (struct sym_pair){ symbol, to });
    return false;
}

static void add_replacements(struct event_walk *w, const struct step *step)
{
    struct shape_env *env = w->single->env;
    uint64_t count = env_counts(env).replacements;
    for (; w->specializations < env_n_specializations(env) && !is_full(w); w->specializations++) {
        const struct env_specialization *s = env_specialization_at(env, w->specializations);
        add_pair_event(w, step, BISECT_EVENT_SPECIALIZATION, s->symbol, s->value);
    }
    if (count == w->replacements)
        return;
    w->replacements = count;
    for (uint32_t i = 0; i < env_n_replacements(env) && !is_full(w); i++) {
        const struct env_replacement *r = env_replacement_at(env, i);
        if (!is_known_replacement(w, r->symbol, r->to))
            add_pair_event(w, step, BISECT_EVENT_REPLACEMENT, r->symbol, r->to);
    }
}

static void collect_step_events(struct event_walk *w, const struct step *step)
{
    add_symbols(w, step);
    add_guard_events(w, step);
    add_replacements(w, step);
    const struct node *node = step ? &w->single->program->graph->nodes[step->node] : NULL;
    if (node && !is_full(w) && node_is_call(node)) {
        buf_printf(&w->text, "%.*s = ", STR_ARG(node->name));
        node_op_name(node, &w->text);
        append_event(w, (struct bisect_event){ .kind = BISECT_EVENT_NODE }, step, false);
    }
}

static bool more(void *user, struct graph_replay *single, const struct step *step)
{
    struct event_walk *w = user;
    (void)single;
    collect_step_events(w, step);
    return !is_full(w) && !w->failed;
}

/* ---- Failures, which are final when the walk has ended ---- */

static struct str failure_in(struct event_walk *w, const struct program *program, node_id id)
{
    struct shape_failure failure;
    return failure_of(w->single, program, id, &w->arena, &failure) ? failure.text : STR("");
}

/* Returns the failure of the first call in the subgraphs of a call. */
static struct str failure_below(struct event_walk *w, const struct program *program, node_id id)
{
    const struct graph *graph = program->graph;
    const struct node *node = &graph->nodes[id];
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &graph->args[node->first_arg + i];
        struct program *child =
            arg->kind == ARG_NODE && graph->nodes[arg->u.node].op == NODE_GET_ATTR
                ? program_child(program, graph->nodes[arg->u.node].target)
                : NULL;
        for (node_id k = 0; child && k < child->n_steps; k++) {
            struct str text = failure_in(w, child, k);
            if (text.n)
                return text;
        }
    }
    return STR("");
}

static void note_failures(struct event_walk *w)
{
    for (size_t i = 0; i < w->ret->list.n; i++) {
        struct bisect_event *event = &w->ret->list.v[i];
        if (event->kind != BISECT_EVENT_NODE)
            continue;
        struct str text = failure_in(w, w->single->program, event->at);
        if (!text.n)
            text = failure_below(w, w->single->program, event->at);
        event->failure = copy_event_text(w, text);
        if (w->question->kind == BISECT_FAILURE)
            event->hit =
                text.n && (!w->has_regex || regexec(&w->regex, event->failure.p, 0, NULL, 0) == 0);
    }
}

/* ---- The whole ---- */

static bool read_bisect_question(struct event_walk *w, struct err *err)
{
    struct str what = w->question->what;
    char why[200];
    if (w->question->inject.n && !injection_parse(&w->injection, w->question->inject, err))
        return false;
    if (w->question->kind == BISECT_GUARD) {
        guard_match_begin(&w->match, what);
        return guard_match_check(what, err);
    }
    if (w->question->kind == BISECT_SPECIALIZES) {
        for (uint32_t i = 0; i < w->candidate->n_symbols; i++)
            if (str_eq(w->candidate->symbols[i].name, what) ||
                str_eq(w->candidate->symbols[i].source, what))
                return true;
        return err_set(err, ERR_USAGE, "--specializes: the graph has no symbol %.*s",
                       STR_ARG(what));
    }
    if (!what.n)
        return true;
    struct str z = arena_copy(&w->arena, what);
    int code = z.p ? regcomp(&w->regex, z.p, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
    w->has_regex = code == 0;
    if (code == 0)
        return true;
    regerror(code, &w->regex, why, sizeof why);
    return err_set(err, ERR_USAGE, "--error: \"%.*s\": %s", STR_ARG(what), why);
}

static bool walk_events(struct event_walk *w, struct err *err)
{
    const struct injection *inject = w->question->inject.n ? &w->injection : NULL;
    w->single->more = more;
    w->single->more_user = w;
    bool ok = w->limit == 0 || engines_walk(w->single, w->candidate, inject, &w->arena, err);
    w->single->more = NULL;
    if (!ok || w->limit == 0)
        return ok;
    if (!w->single->walker.stopped)
        collect_step_events(w, NULL); /* the effects of recorded guards after the last call */
    w->ret->whole = !w->single->walker.stopped;
    graph_replay_finish(w->single);
    note_failures(w);
    w->ret->exact = w->exact;
    for (size_t i = 0; i < w->ret->list.n && !w->exact && !w->question->exactly; i++)
        w->ret->list.v[i].hit |= w->like.v[i];
    return (!w->failed && !w->text.failed) || err_nomem(err);
}

bool bisect_events_walk(const struct candidate *candidate, const struct bisect_question *question,
                        uint32_t limit, struct bisect_events *ret, struct err *err)
{
    struct event_walk w = {
        .candidate = candidate, .question = question, .ret = ret, .limit = limit
    };
    struct engines *engines = data_of(candidate)->texts->engines;
    *ret = (struct bisect_events){ .whole = false };
    bool ok = read_bisect_question(&w, err);
    w.single = ok ? engines_take(engines, err) : NULL;
    ok = ok && w.single && walk_events(&w, err);
    engines_give(engines, w.single);
    if (w.has_regex)
        regfree(&w.regex);
    guard_match_end(&w.match);
    vec_release(&w.like);
    vec_release(&w.replaced);
    buf_release(&w.text);
    arena_release(&w.arena);
    return ok;
}

void bisect_events_release(struct bisect_events *events)
{
    vec_release(&events->list);
    arena_release(&events->arena);
}

bool bisect_events_hit(const struct bisect_events *events, uint32_t n)
{
    for (size_t i = 0; i < events->list.n && i < n; i++)
        if (events->list.v[i].hit)
            return true;
    return false;
}
