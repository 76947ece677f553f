/* Loads candidates from recordings. */
#include <stdlib.h>

#include "minify/candidate/candidate_source.h"
#include "replay/attempt/lift.h"

static struct cand_symbol symbol_from(const struct graph_replay_symbol *s, bool marked)
{
    return (struct cand_symbol){ .name = s->name,
                                 .source = s->source,
                                 .backed = s->backed,
                                 .is_float = s->is_float,
                                 .has_hint = s->has_hint,
                                 .hint = s->hint,
                                 .float_hint = s->float_hint,
                                 .min = s->min,
                                 .max = s->max,
                                 .marked = marked };
}

static struct candidate *make_from_lifted(const struct lifted *lifted, struct str version,
                                          const struct candidate_options *options, struct err *err)
{
    struct candidate like = { .kind = lifted->kind, .torch_version = version };
    struct cand_symbol *symbols = calloc((size_t)lifted->n_symbols + 1, sizeof *symbols);
    struct cand_guard *guards = calloc((size_t)lifted->n_guards + 1, sizeof *guards);
    struct str *metas = calloc((size_t)lifted->n_tree_nodes + 1, sizeof *metas);
    struct candidate *ret = NULL;
    if (!symbols || !guards || !metas) {
        err_nomem(err);
    } else {
        for (uint32_t i = 0; i < lifted->n_symbols; i++)
            symbols[i] = symbol_from(&lifted->symbols[i], lifted->marked[i]);
        for (uint32_t i = 0; i < lifted->n_guards; i++)
            guards[i] = (struct cand_guard){ lifted->guards[i].expr, lifted->guards[i].deferred,
                                             lifted->guards[i].node };
        for (uint32_t i = 0; i < lifted->n_tree_nodes; i++)
            if (lifted->metas[i].n)
                metas[i] = lifted->metas[i];
        struct cand_source source = { .like = &like,
                                      .graph = lifted->graph,
                                      .metas = metas,
                                      .storages = lifted->storages,
                                      .gradients =
                                          options && options->gradients ? lifted->gradients : NULL,
                                      .symbols = symbols,
                                      .n_symbols = lifted->n_symbols,
                                      .guards = guards,
                                      .n_guards = lifted->n_guards };
        ret = candidate_make(&source, options, err);
    }
    free(symbols);
    free(guards);
    free(metas);
    return ret;
}

static bool holds_no_graph(const struct trace *trace, const struct graph_list *list,
                           const struct selector *selector)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (selector_has_attempt(trace, selector, list->refs[i].attempt))
            return false;
    return true;
}

struct candidate *candidate_load(struct trace *trace, const struct selector *selector,
                                 const struct candidate_options *options, struct err *err)
{
    struct lifted lifted;
    const struct graph_list *list = trace_graphs(trace, err);
    uint32_t ref;
    if (!list || !selector_check(trace, selector, err))
        return NULL;
    if (holds_no_graph(trace, list, selector)) {
        err_set(err, ERR_USAGE,
                "%.*s has no graph there: PyTorch logs a graph only after tracing succeeded; "
                "symtape record --deep records the partial graph of a compile that fails",
                STR_ARG(trace->path));
        return NULL;
    }
    if (!selector_graph(trace, list, selector, &ref, err) || !lift_graph(trace, ref, &lifted, err))
        return NULL;
    uint32_t recording = trace->records[list->refs[ref].record].recording;
    struct candidate *ret =
        make_from_lifted(&lifted, trace->recordings[recording].torch_version, options, err);
    lifted_release(&lifted);
    return ret;
}
