#include "profile/diagnosis/recompiles/recompile_cause.h"

/* Appends the key of a compile. */
static void put_key(struct buf *out, uint32_t recording, struct str compile)
{
    buf_clear(out);
    buf_printf(out, "%u %.*s", (unsigned)recording, STR_ARG(compile));
}

bool recompile_index_fill(struct recompile_index *index, const struct profile *p)
{
    struct buf key = BUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->n_recompiles; i++) {
        const struct profile_where *where = &p->recompiles[i].where;
        if (where->compile == PROFILE_NONE)
            continue;
        put_key(&key, where->recording, p->compiles[where->compile].id);
        uint32_t id = key.failed ? INTERN_NONE : intern(&index->compiles, buf_str(&key));
        ok = id != INTERN_NONE && (id < index->recompiles.n || vec_push(&index->recompiles, i));
    }
    buf_release(&key);
    return ok;
}

void recompile_index_release(struct recompile_index *index)
{
    intern_release(&index->compiles);
    vec_release(&index->recompiles);
}

/* Returns the recompile that made a compile necessary, or NULL. */
static const struct recompile *recompile_of(const struct recompile_index *index,
                                            const struct profile *p, uint32_t recording,
                                            struct str compile, struct err *err)
{
    struct buf key = BUF_INIT;
    put_key(&key, recording, compile);
    uint32_t id = key.failed ? INTERN_NONE : intern_find(&index->compiles, buf_str(&key));
    if (key.failed)
        err_nomem(err);
    buf_release(&key);
    return id == INTERN_NONE ? NULL : p->recompiles[index->recompiles.v[id]].is;
}

/* Sizes are compared by what they are sizes of; conditions and guards without a source by their
 * whole text. */
bool recompile_same_subject(const struct recompile_guard *a, const struct recompile_guard *b)
{
    bool named = a->kind == RECOMPILE_MARKING || (a->source.n > 0 && a->kind != RECOMPILE_BRANCH);
    return a->kind == b->kind && str_eq(a->source, b->source) && str_eq(a->index, b->index) &&
           (named || str_eq(a->text, b->text));
}

/* Each reason is the first guard that failed of one earlier compile, the one that was used last
 * first. If that compile was made because of the same guard, an entry with the other value exists
 * and failed for another reason, which is then the cause. */
const struct recompile_reason *recompile_cause(const struct recompile_index *index,
                                               const struct profile *p,
                                               const struct profile_recompile *recompile,
                                               struct err *err)
{
    const struct recompile_reason *reasons = recompile->is->reasons;
    uint32_t n = recompile->is->n_reasons;
    const struct recompile *earlier = NULL;
    if (n > 1)
        earlier = recompile_of(index, p, recompile->where.recording, reasons[0].compile, err);
    if (!earlier || earlier->n_reasons == 0 || earlier == recompile->is)
        return n > 0 ? reasons : NULL;
    struct recompile_guard first = recompile_guard_parse(reasons[0].guard);
    struct recompile_guard cause = recompile_guard_parse(earlier->reasons[0].guard);
    for (uint32_t i = 1; i < n && recompile_same_subject(&first, &cause); i++) {
        struct recompile_guard other = recompile_guard_parse(reasons[i].guard);
        if (!recompile_same_subject(&first, &other))
            return &reasons[i];
    }
    return reasons;
}
