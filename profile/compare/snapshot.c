#include "profile/compare/snapshot.h"

#include <stdlib.h>

#include "trace/base/buf.h"

static struct str copy_snapshot_text(struct snapshot *s, struct str text, bool *ok)
{
    struct str copy = arena_copy(&s->arena, text.p ? text : STR(""));
    *ok = *ok && copy.p;
    return copy;
}

static bool take_phases(struct snapshot *s, const struct profile *profile)
{
    const struct profile_phases *all = &profile->phases;
    struct snapshot_phase *phases =
        arena_array(&s->arena, struct snapshot_phase, (size_t)all->n_totals + 1);
    bool ok = phases;
    for (uint32_t i = 0; i < all->n_totals && ok; i++) {
        const struct phase_total *t = &all->totals[i];
        phases[i] =
            (struct snapshot_phase){ copy_snapshot_text(s, profile_name(profile, t->name), &ok),
                                     t->calls, t->inclusive_ns, t->exclusive_ns };
    }
    s->phases = phases;
    s->n_phases = all->n_totals;
    return ok;
}

static bool take_lines(struct snapshot *s, const struct profile *profile)
{
    const struct profile_lines *all = &profile->lines;
    struct snapshot_line *lines =
        arena_array(&s->arena, struct snapshot_line, (size_t)all->n_lines + 1);
    bool ok = lines;
    for (uint32_t i = 0; i < all->n_lines && ok; i++) {
        const struct profile_line *l = &all->lines[i];
        if (l->estimated_ns <= 0)
            continue;
        struct str file = copy_snapshot_text(s, profile_name(profile, l->file), &ok);
        struct str function = copy_snapshot_text(s, l->function, &ok),
                   code = copy_snapshot_text(s, l->code, &ok);
        lines[s->n_lines++] =
            (struct snapshot_line){ file, function, code, l->line, l->estimated_ns };
    }
    s->lines = lines;
    return ok;
}

/* Returns the compile that a selector names, in the form that profile_options takes: "0/0",
 * "0/0_1". */
static struct str selected_compile_text(struct snapshot *s, const struct selector *only, bool *ok)
{
    struct buf text = BUF_INIT;
    if (only) {
        buf_put(&text, only->compile);
        if (only->compile.n && only->attempt >= 0)
            buf_printf(&text, "_%lld", (long long)only->attempt);
    }
    struct str ret = text.failed ? (struct str){ 0 } : copy_snapshot_text(s, buf_str(&text), ok);
    *ok = *ok && !text.failed;
    buf_release(&text);
    return ret;
}

static bool take_profile(struct snapshot *s, struct trace *trace, const struct selector *only,
                         struct err *err)
{
    bool ok = true;
    const struct profile_options how = {
        .compile = selected_compile_text(s, only, &ok),
        .recording = only && only->recording.n ? only->recording : STR(""),
    };
    struct profile *profile = ok ? profile_build(&trace, 1, &how, err) : NULL;
    if (!profile)
        return ok ? false : err_nomem(err);
    measures_of_profile(profile, &s->measures);
    ok = (take_phases(s, profile) && take_lines(s, profile)) || err_nomem(err);
    profile_free(profile);
    return ok;
}

static void look_for_damage(struct snapshot *s, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        s->damaged += trace->recordings[i].damaged;
        s->truncated += !trace->recordings[i].complete;
    }
    for (uint32_t i = 0; i < trace->n_records && !s->deep; i++)
        s->deep = trace->records[i].event == EVENT_SYMTAPE_DEEP;
}

struct snapshot *snapshot_take(struct trace *trace, const struct selector *only, struct str name,
                               struct err *err)
{
    struct snapshot *s = calloc(1, sizeof *s);
    bool ok = true;
    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->name = copy_snapshot_text(s, name, &ok);
    ok = (ok || err_nomem(err)) && take_profile(s, trace, only, err) &&
         (s->outline = outline_build(trace, only, err));
    if (ok) {
        look_for_damage(s, trace);
        return s;
    }
    snapshot_free(s);
    return NULL;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    outline_free(snapshot->outline);
    arena_release(&snapshot->arena);
    free(snapshot);
}
