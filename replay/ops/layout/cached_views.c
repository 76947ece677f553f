#include "replay/ops/layout/cached_views.h"

#include "replay/ops/dispatch/context.h"
#include "trace/base/hash.h"

static uint32_t hash_of(const struct cached_view *view)
{
    return (uint32_t)hash_mix(view->op, (uint64_t)view->source << 32 | view->view);
}

static bool is_known(const struct cached_views *views, const struct cached_view *view)
{
    uint32_t row, hash = hash_of(view);
    for (size_t at = hash_index_start(&views->index, hash);
         hash_index_next(&views->index, hash, &at, &row);) {
        const struct cached_view *known = &views->rows.v[row];
        if (known->op == view->op && known->source == view->source && known->view == view->view)
            return true;
    }
    return false;
}

static bool add_view(struct cached_views *views, const struct cached_view *view)
{
    if (is_known(views, view))
        return true;
    if (!hash_index_reserve(&views->index, 1) || !vec_push(&views->rows, *view))
        return false;
    hash_index_add(&views->index, hash_of(view), (uint32_t)views->rows.n - 1);
    return true;
}

/* Returns whether the cache could have the views that a call makes: those of a composite operator
 * are made by calls of its own. */
static bool is_cached(struct call *c, struct tensor source)
{
    const struct schema *s = &c->op->schema;
    return !c->op->writes && s->n_results && s->results[0].alias &&
           c->ops->metas.symbolic.v[source.meta->id] &&
           (c->op->composite || call_bypass(c) == OP_BYPASS_NONE);
}

static bool is_view(const struct tensor *x, struct tensor source)
{
    return source.meta && x->storage == source.storage && x->meta != source.meta;
}

static struct cached_view view_of(const struct call *c, struct tensor source,
                                  const struct tensor *x)
{
    return (struct cached_view){ c->op->index, source.meta->id, x->meta->id };
}

/* Returns whether all views among the results have been made before. */
static bool all_known(struct call *c, struct tensor source)
{
    struct tensor *x;
    for (uint32_t i = 0; (x = result_tensor(c, i)); i++) {
        struct cached_view view = view_of(c, source, x);
        if (is_view(x, source) && !is_known(&c->ops->cached_views, &view))
            return false;
    }
    return true;
}

void mark_cached_views(struct call *c)
{
    struct tensor *x, source = arg(c, 0).kind == VALUE_TENSOR ? c->args[0].u.tensor
                                                              : (struct tensor){ .meta = NULL };
    bool cached = source.meta && is_cached(c, source), known = cached && all_known(c, source);
    for (uint32_t i = 0; (x = result_tensor(c, i)); i++) {
        bool same = source.meta && x->meta == source.meta && x->storage == source.storage;
        bool mark = same ? source.cached_view : known && is_view(x, source);
        if (x->cached_view != mark)
            x->cached_view = mark;
        if (cached && !known && is_view(x, source)) {
            struct cached_view view = view_of(c, source, x);
            c->ops->short_of_memory |= !add_view(&c->ops->cached_views, &view);
        }
    }
}

bool contiguity_is_known(const struct call *c, struct tensor x)
{
    return c->op && (c->op->composite ? x.contiguous : x.cached_view);
}

void cached_views_clear(struct cached_views *views)
{
    views->rows.n = 0;
    hash_index_clear(&views->index);
}

void cached_views_release(struct cached_views *views)
{
    vec_release(&views->rows);
    hash_index_release(&views->index);
}
