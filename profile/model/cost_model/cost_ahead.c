#include "profile/model/cost_model/cost_ahead.h"

#include "profile/model/build.h"

/* Returns the row of an operator, which is added if it is new; NULL: no memory. */
static struct cost_ahead_guards *row_of(struct cost_ahead *ahead, struct str op)
{
    for (size_t i = 0; i < ahead->guards.n; i++)
        if (str_eq(ahead->guards.v[i].op, op))
            return &ahead->guards.v[i];
    struct cost_ahead_guards row = { .op = arena_copy(&ahead->arena, op) };
    return row.op.p && vec_push(&ahead->guards, row) ? &ahead->guards.v[ahead->guards.n - 1] : NULL;
}

static bool add_guards(struct cost_ahead *ahead, const struct replay *replay)
{
    for (size_t i = 0; replay && i < replay->n_guards; i++) {
        struct profile_compile one = { 0 };
        struct cost_ahead_guards *row = row_of(ahead, replay->guards[i].rule);
        if (!row)
            return false;
        build_count_guard(&one, replay->guards[i].expr, true);
        row->long_characters += one.long_characters;
    }
    return true;
}

bool cost_ahead_make(struct cost_ahead *ret, struct trace *trace, int release, struct err *err)
{
    const struct profile_options how = { .replay = true, .cost_model = true, .ahead = release };
    *ret = (struct cost_ahead){ 0 };
    struct profile *profile = profile_build(&trace, 1, &how, err);
    if (!profile)
        return false;
    ret->ns = profile->cost_model.estimated_ns;
    ret->shares = profile->cost_model.estimated;
    ret->release = profile->cost_model.release;
    bool ok = add_guards(ret, profile_replay(profile, 0)) || err_nomem(err);
    profile_free(profile);
    if (!ok)
        cost_ahead_release(ret);
    return ok;
}

void cost_ahead_release(struct cost_ahead *ahead)
{
    vec_release(&ahead->guards);
    arena_release(&ahead->arena);
    *ahead = (struct cost_ahead){ 0 };
}
