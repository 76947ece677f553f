#include "profile/model/headlines.h"

#include "profile/model/format.h"

enum {
    CODE_COLUMNS = 70,  /* of a source line in a sentence */
    TEXT_COLUMNS = 110, /* of a message of PyTorch */
    LONG_GUARD = 1000,  /* characters: an expression that slows down each function that reads it */
    WORTH_LINE = 20,    /* a user line with less than this part of the compile makes no headline */
    WORTH_PERCENT = 5   /* a share below this makes no headline */
};

static bool worth(int64_t part, int64_t whole)
{
    return part > 0 && part >= whole / 100 * WORTH_PERCENT;
}

static void put_code_name(struct buf *out, struct str code)
{
    if (code.n == 0)
        return;
    buf_puts(out, " `");
    format_text(out, code, CODE_COLUMNS);
    buf_putc(out, '`');
}

/* Names the user line that took longest, if its time is known well enough. */
static void slowest_line(const struct profile *p, struct buf *out)
{
    const struct profile_lines *all = &p->lines;
    const struct profile_line *top = profile_slowest_line(p);
    bool measured = all->basis == LINES_MEASURED;
    if (!top || (!measured && top->ns < p->compile_ns / WORTH_LINE))
        return;
    buf_puts(out, measured ? "" : "an estimated ");
    format_range(out, top->ns, top->low_ns, top->high_ns, all->total_ns);
    buf_puts(out, " of the ");
    format_ns(out, all->total_ns);
    buf_puts(out, measured ? " in dispatches, as recorded, went into one user line, "
                           : " in which user lines were traced went into one, ");
    format_place(out, profile_name(p, top->file), top->line);
    put_code_name(out, top->code);
}

static void guards(const struct profile *p, struct buf *out)
{
    const struct profile_line *top = NULL;
    uint64_t all = p->guards.by_kind[GUARD_EVAL];
    for (uint32_t i = 0; i < p->lines.n_lines; i++)
        if (!top || p->lines.lines[i].guards > top->guards)
            top = &p->lines.lines[i];
    const struct profile_line *library = NULL;
    for (uint32_t i = 0; i < p->lines.n_library_lines; i++)
        if (!library || p->lines.library_lines[i].guards > library->guards)
            library = &p->lines.library_lines[i];
    if (all < 20 || !top)
        return;
    format_plural(out, all, "guard");
    if (p->guards.kept < all) {
        buf_puts(out, ", ");
        format_count(out, p->guards.kept);
        buf_puts(out, " of them in attempts that were kept");
    }
    if (library && library->guards * 2 >= all && library->guards > top->guards) {
        buf_puts(out, "; ");
        format_share(out, (int64_t)library->guards, (int64_t)all);
        buf_puts(out, " come from inside ");
        format_place(out, profile_name(p, library->file), library->line);
        put_code_name(out, library->code);
    } else if (top->guards * 4 >= all) {
        buf_puts(out, "; ");
        format_share(out, (int64_t)top->guards, (int64_t)all);
        buf_puts(out, " come from ");
        format_place(out, profile_name(p, top->file), top->line);
        put_code_name(out, top->code);
    }
    if (p->guards.longest >= LONG_GUARD) {
        buf_puts(out, "; the longest is ");
        format_plural(out, p->guards.longest, "character");
    }
}

/* Returns the part with the next smaller time after `last` (PHASE_PARTS: the greatest), or
 * PHASE_PARTS at the end. */
static int next_phase_part(const struct profile *p, int last)
{
    const int64_t *ns = p->phases.part_ns;
    int next = PHASE_PARTS;
    for (int i = 0; i < PHASE_PARTS; i++) {
        bool after = last == PHASE_PARTS || ns[i] < ns[last] || (ns[i] == ns[last] && i > last);
        if (after && (next == PHASE_PARTS || ns[i] > ns[next]))
            next = i;
    }
    return next;
}

static void put_phase_parts(const struct profile *p, struct buf *out)
{
    if (p->phases.total_ns <= 0)
        return;
    const char *before = "by part of the compile time: ";
    for (int i = next_phase_part(p, PHASE_PARTS); i < PHASE_PARTS; i = next_phase_part(p, i)) {
        if (!worth(p->phases.part_ns[i], p->phases.total_ns))
            return;
        buf_puts(out, before);
        format_share(out, p->phases.part_ns[i], p->phases.total_ns);
        buf_printf(out, " %s", phase_part_title((enum phase_part)i));
        before = ", ";
    }
}

static void expansion(const struct profile *p, struct buf *out)
{
    const uint64_t *kept = p->operators.kept;
    uint64_t aten = kept[GRAPH_FORWARD] + kept[GRAPH_BACKWARD] + kept[GRAPH_INFERENCE];
    if (kept[GRAPH_DYNAMO] == 0 || aten == 0)
        return;
    format_plural(out, kept[GRAPH_DYNAMO], "call");
    buf_puts(out, " that Dynamo captured became ");
    format_plural(out, aten, "ATen call");
    buf_printf(out, " (%.1f times as many", (double)aten / (double)kept[GRAPH_DYNAMO]);
    buf_puts(out, kept[GRAPH_BACKWARD] > 0 ? ", forward and backward)" : ")");
}

static void caches(const struct profile *p, struct buf *out)
{
    bool first = true;
    for (int k = 0; k < CACHE_KINDS; k++)
        for (int s = 0; s < CACHE_STATES; s++) {
            if (p->cache_counts[k][s] == 0 || s == CACHE_UNKNOWN)
                continue;
            buf_puts(out, first ? "caches: " : ", ");
            first = false;
            buf_printf(out, "%s %u %s", cache_kind_name((enum cache_kind)k), p->cache_counts[k][s],
                       cache_state_name((enum cache_state)s));
        }
    if (worth(p->autotuning_ns, p->compile_ns)) {
        buf_puts(out, first ? "autotuning took " : "; autotuning took ");
        format_ns(out, p->autotuning_ns);
    }
}

static void recordings(const struct profile *p, struct buf *out)
{
    if (p->n_recordings < 2 || p->slowest == PROFILE_NONE)
        return;
    const struct profile_recording *slow = &p->recordings[p->slowest];
    format_plural(out, p->n_recordings, "recording");
    buf_puts(out, "; the slowest is ");
    format_text(out, slow->short_name, 0);
    buf_puts(out, " with ");
    format_ns(out, slow->compile_ns);
    if (p->n_differences == 0) {
        buf_puts(out, "; their compiles do not differ");
    } else {
        buf_puts(out, p->n_differences == 1 ? "; there is " : "; there are ");
        format_plural(out, p->n_differences, "difference");
        buf_puts(out, " between them");
    }
}

/* Explains why a profile contains less than others. */
static void nothing_there(const struct profile *p, struct buf *out)
{
    if (p->n_compiles == 0 && p->operators.graphs[GRAPH_EXPORTED] > 0) {
        buf_puts(out, "an exported program, ");
        format_plural(out, p->operators.calls[GRAPH_EXPORTED], "call");
        buf_puts(out, " in ");
        format_plural(out, p->operators.graphs[GRAPH_EXPORTED], "graph");
        buf_puts(out, "; an archive (.pt2) tells no times, guards or phases");
    } else if (p->n_compiles == 0) {
        buf_puts(out, "no compile was recorded");
    } else if (p->options.file.n > 0 && p->lines.n_lines == 0) {
        buf_puts(out, "no user line has \"");
        format_text(out, p->options.file, TEXT_COLUMNS);
        buf_puts(out, "\" in the path of its file");
    }
}

struct headline_writer {
    struct buf text;
    void (*each)(void *user, struct str text);
    void *user;
};

static void put_headlines(struct headline_writer *t)
{
    if (t->text.n > 0 && !t->text.failed)
        t->each(t->user, buf_str(&t->text));
    buf_clear(&t->text);
}

bool headlines(const struct profile *p, void (*each)(void *user, struct str text), void *user)
{
    static void (*const HEADLINES[])(const struct profile *, struct buf *) = {
        recordings, nothing_there, slowest_line,        put_phase_parts, headline_spots,
        guards,     expansion,     headline_dispatches, caches,
    };
    struct headline_writer t = { .each = each, .user = user };
    for (size_t i = 0; i < sizeof HEADLINES / sizeof *HEADLINES; i++) {
        HEADLINES[i](p, &t.text);
        put_headlines(&t);
    }
    bool ok = !t.text.failed;
    buf_release(&t.text);
    return ok;
}
