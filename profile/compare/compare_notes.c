/* Notes what cannot be compared. */
#include "profile/compare/compare_build.h"

static struct str torch_of(const struct snapshot *s)
{
    for (size_t i = 0; i < s->outline->recordings.n; i++) {
        struct str version = outline_text(s->outline, s->outline->recordings.v[i].torch_version);
        if (version.n > 0)
            return version;
    }
    return STR("");
}

/* Returns the release of a version: "2.11" for "2.11.0+cu128". */
static struct str release_of(struct str version)
{
    size_t dots = 0, n = 0;
    for (; n < version.n; n++) {
        dots += version.p[n] == '.';
        if (dots == 2 || version.p[n] == '+')
            break;
    }
    return str_first(version, n);
}

static bool note_compare_versions(struct compare_build *b)
{
    const struct compare *c = &b->compare;
    struct str was = torch_of(c->before.runs[c->before_run]);
    struct str now = torch_of(c->after.runs[c->after_run]);
    if (was.n == 0 || now.n == 0 || str_eq(release_of(was), release_of(now)))
        return true;
    return compare_note(b, false,
                        "torch %.*s before, %.*s after: operators, guards and phases may differ "
                        "because PyTorch does, not the program",
                        STR_ARG(was), STR_ARG(now));
}

static uint32_t n_archives(const struct outline *o)
{
    uint32_t n = 0;
    for (size_t i = 0; i < o->recordings.n; i++)
        n += o->recordings.v[i].is_pt2;
    return n;
}

static bool note_kinds(struct compare_build *b)
{
    bool was = n_archives(b->a) > 0, now = n_archives(b->b) > 0;
    if (was == now)
        return true;
    return compare_note(b, true,
                        "%s is an archive of torch.export, %s a log: an archive has no "
                        "compiles, guards or times, so little can be compared",
                        was ? "before" : "after", was ? "after" : "before");
}

static uint32_t n_unfinished(const struct outline *o)
{
    uint32_t n = 0;
    for (size_t i = 0; i < o->attempts.n; i++)
        n += o->attempts.v[i].status == ATTEMPT_UNFINISHED;
    return n;
}

static bool note_run(struct compare_build *b, const char *side, const struct snapshot *s)
{
    uint32_t unfinished = n_unfinished(s->outline);
    bool ok = true;
    if (s->truncated)
        ok = compare_note(b, true, "%s: %.*s was cut off: later records are not compared", side,
                          STR_ARG(s->name));
    if (s->damaged && ok)
        ok = compare_note(b, false, "%s: %.*s is damaged in %llu place%s", side, STR_ARG(s->name),
                          (unsigned long long)s->damaged, s->damaged == 1 ? "" : "s");
    if (unfinished && ok)
        ok = compare_note(b, true,
                          "%s: %u compile%s of %.*s never ended: the rest of %s is not compared",
                          side, unfinished, unfinished == 1 ? "" : "s", STR_ARG(s->name),
                          unfinished == 1 ? "it" : "them");
    if (s->outline->n_unreadable && ok)
        ok = compare_note(b, true, "%s: %u graph%s of %.*s cannot be read", side,
                          s->outline->n_unreadable, s->outline->n_unreadable == 1 ? "" : "s",
                          STR_ARG(s->name));
    return ok;
}

static bool note_side(struct compare_build *b, const char *name, const struct compare_side *side)
{
    bool ok = true;
    for (uint32_t i = 0; i < side->n_runs && ok; i++)
        ok = note_run(b, name, side->runs[i]);
    return ok;
}

/* Notes counts that vary between runs of one side. */
static bool note_compare_spread(struct compare_build *b)
{
    for (size_t i = 0; i < b->measures.n; i++) {
        const struct compare_measure *m = &b->measures.v[i];
        const struct measure_row *row = measure_row(m->measure);
        if (row->source != MEASURE_RECORDED)
            continue;
        for (int after = 0; after < 2; after++) {
            const struct measure_summary *s = after ? &m->after : &m->before;
            if (s->least != s->greatest &&
                !compare_note(b, false, "%s: the runs do not agree: %s %.15g to %.15g",
                              after ? "after" : "before", row->name, s->least, s->greatest))
                return false;
        }
    }
    return true;
}

static bool has_compiles(const struct outline *o)
{
    for (size_t i = 0; i < o->compiles.n; i++)
        if (o->compiles.v[i].id != 0)
            return true;
    return false;
}

/* Notes how many compiles have a partner. The record of events outside compiles is not counted. */
static bool note_common(struct compare_build *b)
{
    for (size_t i = 0; i < b->align->compiles.n; i++) {
        const struct align_compile *pair = &b->align->compiles.v[i];
        if (pair->a != ALIGN_NONE && pair->b != ALIGN_NONE && b->a->compiles.v[pair->a].id != 0)
            return true;
    }
    if (!has_compiles(b->a) && !has_compiles(b->b))
        return n_archives(b->a) > 0 || n_archives(b->b) > 0 ||
               compare_note(b, true, "nothing was compiled on either side");
    if (!has_compiles(b->a) || !has_compiles(b->b))
        return n_archives(b->a) > 0 || n_archives(b->b) > 0 ||
               compare_note(b, true, "nothing was compiled %s",
                            has_compiles(b->a) ? "after" : "before");
    return compare_note(b, true, "no compile is on both sides: are these runs of one program?");
}

static bool note_deep_sides(struct compare_build *b)
{
    const struct compare *c = &b->compare;
    bool was = c->before.runs[c->before_run]->deep, now = c->after.runs[c->after_run]->deep;
    if (was == now)
        return true;
    return compare_note(b, false,
                        "only %s was recorded with --deep: dispatches and uses of sizes are not "
                        "compared",
                        was ? "before" : "after");
}

bool compare_notes(struct compare_build *b)
{
    return note_kinds(b) && note_common(b) && note_compare_versions(b) &&
           note_side(b, "before", &b->compare.before) && note_side(b, "after", &b->compare.after) &&
           note_deep_sides(b) && note_compare_spread(b);
}
