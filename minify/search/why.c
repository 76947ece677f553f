#include "minify/search/why.h"

#include "trace/base/clock.h"

struct why_search {
    const struct candidate *best;
    struct oracle *oracle;
    const struct why_limits *limits;
    uint32_t of_kind; /* parts of this kind that were examined */
    struct why_list *ret;
    struct err *err;
};

static struct str store_text(struct why_search *f, struct buf *text)
{
    struct str ret = text->failed ? (struct str){ 0 } : arena_copy(&f->ret->arena, buf_str(text));
    buf_release(text);
    return ret;
}

/* Returns the first line of an error, shortened. */
static struct str headline(struct str text)
{
    text = str_trim(text);
    return str_first(str_first(text, str_find_char(text, '\n')), 160);
}

static struct str result_of(struct why_search *f, const struct answer *answer)
{
    struct buf text = BUF_INIT;
    struct str line = headline(answer->text);
    switch (answer->verdict) {
    case VERDICT_INTERESTING: buf_puts(&text, "it still fails"); break;
    case VERDICT_BORING: buf_puts(&text, "it does not fail any more"); break;
    case VERDICT_OTHER: buf_puts(&text, "it fails differently"); break;
    default: buf_puts(&text, "cannot tell"); break;
    }
    if (answer->verdict != VERDICT_INTERESTING && answer->verdict != VERDICT_BORING && line.n)
        buf_printf(&text, ": %.*s", STR_ARG(line));
    return store_text(f, &text);
}

static void store_good(struct why_search *f, struct candidate *candidate)
{
    struct candidate **good = &f->ret->good;
    struct cand_size a, b;
    if (*good) {
        a = candidate_size(candidate);
        b = candidate_size(*good);
        if (cand_size_compare(&a, &b) <= 0) {
            candidate_free(candidate);
            return;
        }
        candidate_free(*good);
    }
    *good = candidate;
    f->ret->good_at = f->ret->list.n; /* its row is the next one */
}

static bool why_is_cancelled(const struct why_search *f)
{
    return f->limits->cancel && atomic_load(f->limits->cancel);
}

/* Returns whether one more part of this kind may be examined. */
static bool may_examine(struct why_search *f)
{
    const struct why_limits *limits = f->limits;
    bool ends = f->of_kind == WHYS_OF_A_KIND || (limits->most && f->ret->calls >= limits->most) ||
                (limits->until > 0 && clock_seconds() >= limits->until);
    f->ret->is_short |= ends;
    f->of_kind += !ends;
    return !ends && !why_is_cancelled(f);
}

/* Asks about the first of these edits that can be applied. */
static bool ask_without_part(struct why_search *f, struct str element, const struct edit *edits,
                             const char *const *taken, size_t n)
{
    for (size_t i = 0; i < n && !why_is_cancelled(f); i++) {
        struct err why = { 0 };
        struct candidate *less = candidate_apply(f->best, &edits[i], 1, &why);
        if (!less && why.kind == ERR_ENV)
            return *f->err = why, false;
        if (!less)
            continue;
        struct oracle_question asking = { .call = f->ret->calls++,
                                          .cancel = f->limits->cancel,
                                          .timeout = f->limits->timeout };
        struct answer answer = { .verdict = VERDICT_UNRESOLVED };
        f->oracle->ask(f->oracle, less, &asking, &answer);
        if (why_is_cancelled(f)) { /* it was interrupted, so its answer does not count */
            answer_release(&answer);
            candidate_free(less);
            return true;
        }
        struct why row = { .edit = edits[i],
                           .element = element,
                           .taken = str_of(taken[i]),
                           .verdict = answer.verdict,
                           .result = result_of(f, &answer) };
        bool ok = answer.verdict != VERDICT_BROKEN;
        if (!ok)
            *f->err = answer.err;
        if (answer.verdict == VERDICT_BORING)
            store_good(f, less);
        else
            candidate_free(less);
        answer_release(&answer);
        return ok && ((row.result.p && vec_push(&f->ret->list, row)) || err_nomem(f->err));
    }
    return true;
}

/* Returns the name of a call and its target: "mm = torch.ops.aten.mm.default". */
static struct str name_call(struct why_search *f, const struct node *node)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s = ", STR_ARG(node->name));
    node_op_name(node, &text);
    return store_text(f, &text);
}

static bool ask_calls(struct why_search *f)
{
    static const char *const taken[] = { "replaced by an input", "replaced by an input",
                                         "replaced by its argument", "removed" };
    const struct graph *graph = f->best->graph;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (!node_is_call(node))
            continue;
        if (!may_examine(f))
            break;
        const struct arg *of = node_args(graph, node);
        uint32_t source = of && of->kind == ARG_NODE ? of->u.node : i;
        const struct edit edits[] = { { EDIT_CUT, i, 1, 0 },
                                      { EDIT_CUT, i, 0, 0 },
                                      { EDIT_BYPASS, i, source, 0 },
                                      { EDIT_REMOVE_NODE, i, 0, 0 } };
        struct str element = name_call(f, node);
        if (!element.p || !ask_without_part(f, element, edits, taken, 4))
            return element.p ? false : err_nomem(f->err);
    }
    return true;
}

static bool ask_symbols(struct why_search *f)
{
    static const char *const taken[] = { "made a number" };
    for (uint32_t i = 0; i < f->best->n_symbols && may_examine(f); i++) {
        const struct cand_symbol *symbol = &f->best->symbols[i];
        const struct edit edit = { EDIT_STATIC, i, 0, 0 };
        struct buf text = BUF_INIT;
        buf_printf(&text, "symbol %.*s", STR_ARG(symbol->name));
        if (symbol->source.n)
            buf_printf(&text, " of %.*s", STR_ARG(symbol->source));
        struct str element = store_text(f, &text);
        if (!element.p || !ask_without_part(f, element, &edit, taken, 1))
            return element.p ? false : err_nomem(f->err);
    }
    return true;
}

static bool ask_guards(struct why_search *f)
{
    static const char *const taken[] = { "removed" };
    for (uint32_t i = 0; i < f->best->n_guards && may_examine(f); i++) {
        const struct cand_guard *guard = &f->best->guards[i];
        const struct edit edit = { EDIT_REMOVE_GUARD, i, 0, 0 };
        struct buf text = BUF_INIT;
        buf_printf(&text, "%s %.*s", guard->deferred ? "assert" : "guard", STR_ARG(guard->expr));
        struct str element = store_text(f, &text);
        if (!element.p || !ask_without_part(f, element, &edit, taken, 1))
            return element.p ? false : err_nomem(f->err);
    }
    return true;
}

static bool ask_outputs(struct why_search *f)
{
    static const char *const taken[] = { "removed" };
    const struct graph *graph = f->best->graph;
    const struct node *output = &graph->nodes[graph->n_nodes - 1];
    uint32_t n = output->op == NODE_OUTPUT && output->n_args > 1 ? output->n_args : 0;
    for (uint32_t i = 0; i < n && may_examine(f); i++) {
        const struct arg *arg = &graph->args[output->first_arg + i];
        const struct edit edit = { EDIT_REMOVE_OUTPUT, i, 0, 0 };
        struct buf text = BUF_INIT;
        buf_printf(&text, "output %.*s",
                   STR_ARG(arg->kind == ARG_NODE ? graph->nodes[arg->u.node].name : STR("")));
        struct str element = store_text(f, &text);
        if (!element.p || !ask_without_part(f, element, &edit, taken, 1))
            return element.p ? false : err_nomem(f->err);
    }
    return true;
}

bool why_find(const struct candidate *best, struct oracle *oracle, const struct why_limits *limits,
              struct why_list *ret, struct err *err)
{
    static bool (*const ask_parts[])(struct why_search *) = { ask_calls, ask_symbols, ask_guards,
                                                              ask_outputs };
    struct why_search f = {
        .best = best, .oracle = oracle, .limits = limits, .ret = ret, .err = err
    };
    bool ok = true;
    *ret = (struct why_list){ .calls = 0 };
    for (size_t i = 0; ok && i < sizeof ask_parts / sizeof *ask_parts; i++) {
        f.of_kind = 0;
        ok = ask_parts[i](&f);
    }
    return ok;
}

void why_release(struct why_list *list)
{
    vec_release(&list->list);
    candidate_free(list->good);
    arena_release(&list->arena);
    *list = (struct why_list){ .calls = 0 };
}
