#include "profile/model/headlines.h"

#include "profile/model/format.h"

enum {
    CODE_COLUMNS = 70,  /* of a source line in a sentence */
    TEXT_COLUMNS = 110, /* of a message of PyTorch */
    LONG_GUARD = 1000,  /* characters: an expression that slows down each function that reads it */
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

static void put_compile_name(struct buf *out, const struct profile *p, uint32_t compile)
{
    if (compile == PROFILE_NONE) {
        buf_puts(out, "a compile without an id");
        return;
    }
    const struct profile_compile *c = &p->compiles[compile];
    format_text(out, c->id, 0);
    if (p->n_recordings > 1) {
        buf_puts(out, " of ");
        format_text(out, p->recordings[c->recording].short_name, 0);
    }
    if (c->function.n == 0)
        return;
    buf_puts(out, " (");
    format_text(out, c->function, CODE_COLUMNS);
    buf_puts(out, ", ");
    format_place(out, c->file, c->line);
    buf_putc(out, ')');
}

/* Returns the innermost phase that was still open in a compile, or PROFILE_NONE. */
static uint32_t open_phase(const struct profile *p, uint32_t compile)
{
    uint32_t found = PROFILE_NONE;
    for (uint32_t i = 0; i < p->phases.n_spans; i++)
        if (p->phases.spans[i].open && p->phases.spans[i].compile == compile)
            found = i;
    return found;
}

static void put_unfinished(const struct profile *p, uint32_t compile, struct buf *out)
{
    const struct profile_compile *c = &p->compiles[compile];
    if (c->status != ATTEMPT_UNFINISHED)
        return;
    put_compile_name(out, p, compile);
    uint32_t span = open_phase(p, compile);
    if (span == PROFILE_NONE && p->phases.n_spans > 0) {
        buf_puts(out, " has no end in the log, but its phases ended (torch.export records none)");
        return;
    }
    buf_puts(out, " never finished: it had run for ");
    format_ns(out, c->ns);
    buf_puts(out, " when the log ends");
    if (span == PROFILE_NONE)
        return;
    const struct phase_span *s = &p->phases.spans[span];
    buf_puts(out, ", ");
    if (s->end_ns > s->start_ns) {
        format_ns(out, s->end_ns - s->start_ns);
        buf_puts(out, " of it in ");
    } else { /* the log does not contain how long the phase ran */
        buf_puts(out, "and its last record is the start of ");
    }
    format_text(out, profile_name(p, s->name), 0);
    const char *meaning = phase_meaning(profile_name(p, s->name));
    if (*meaning)
        buf_printf(out, " (%s)", meaning);
}

static void slowest_line(const struct profile *p, struct buf *out)
{
    const struct profile_line *top = NULL;
    for (uint32_t i = 0; i < p->lines.n_lines; i++)
        if (!top || p->lines.lines[i].estimated_ns > top->estimated_ns)
            top = &p->lines.lines[i];
    if (!top || top->estimated_ns <= 0 || top->estimated_ns < p->compile_ns / 10)
        return;
    buf_puts(out, "an estimated ");
    format_ns(out, top->estimated_ns);
    buf_puts(out, " (");
    format_share(out, top->estimated_ns, p->compile_ns);
    buf_puts(out, ") went into one user line, ");
    format_place(out, profile_name(p, top->file), top->line);
    put_code_name(out, top->code);
    if (p->lines.longest_line == PROFILE_NONE || p->lines.longest_ns < top->estimated_ns / 4 ||
        top != &p->lines.lines[p->lines.longest_line])
        return;
    const struct trace *trace = p->traces[p->lines.longest_trace];
    const struct record *record = &trace->records[p->lines.longest_record];
    buf_puts(out, "; ");
    format_ns(out, p->lines.longest_ns);
    buf_puts(out, " of that passed before a single ");
    format_text(out, trace_string(trace, record->name), 0);
    buf_printf(out, " record (line %llu of the log)", (unsigned long long)record->line);
}

static void put_restart(const struct profile *p, const struct profile_restart *r, struct buf *out)
{
    if (!worth(r->is->ns, p->compile_ns))
        return;
    const struct trace *trace = p->traces[p->recordings[r->where.recording].input];
    int64_t share = p->compile_ns > 0 ? r->is->ns * 100 / p->compile_ns : 0;
    buf_puts(out, share >= 44 && share <= 56 ? "about half of the time (" : "");
    format_ns(out, r->is->ns);
    buf_puts(out, " of ");
    format_ns(out, p->compile_ns);
    buf_printf(out, "%s went into attempt %u of ", share >= 44 && share <= 56 ? ")" : "",
               trace->attempts[r->is->attempt].number);
    put_compile_name(out, p, r->where.compile);
    buf_puts(out, ", which was thrown away");
    if (r->is->meaning.n > 0) {
        buf_puts(out, " because ");
        buf_puts(out, str_starts(r->is->meaning, STR("a graph break")) ? "of " : "");
        buf_put(out, r->is->meaning);
    }
    if (r->is->summary.n > 0) {
        buf_puts(out, " (");
        format_text(out, r->is->summary, TEXT_COLUMNS);
        buf_putc(out, ')');
    }
}

static void failure(const struct profile *p, const struct profile_failure *f, struct buf *out)
{
    if (f->is->is_break)
        return;
    put_compile_name(out, p, f->where.compile);
    buf_puts(out, " failed: ");
    format_text(out, f->is->type, 0);
    buf_puts(out, ": ");
    format_text(out, f->is->summary, TEXT_COLUMNS);
    if (f->is->file.n > 0) {
        buf_puts(out, ", at ");
        format_place(out, f->is->file, f->is->line);
        put_code_name(out, f->is->code);
    }
}

struct break_counts {
    const struct graph_break *top; /* of the user line that broke graphs most often */
    uint64_t most, places, caused, skipped;
    int64_t caused_ns;
};

/* Returns the number of breaks at the line of break `i`, or 0 when an earlier break has the same
 * line. */
static uint64_t breaks_there(const struct profile *p, uint32_t i)
{
    enum { LOOK_AT = 1000 }; /* of more, the first will do */
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->n_breaks && k < LOOK_AT; k++) {
        if (p->breaks[k].is->line != p->breaks[i].is->line ||
            !str_eq(p->breaks[k].is->file, p->breaks[i].is->file))
            continue;
        if (k < i)
            return 0;
        n++;
    }
    return n;
}

static struct break_counts count_breaks(const struct profile *p)
{
    struct break_counts c = { 0 };
    for (uint32_t i = 0; i < p->n_breaks; i++) {
        uint64_t there = breaks_there(p, i);
        if (there > c.most) {
            c.most = there;
            c.top = p->breaks[i].is;
        }
        c.places += there > 0;
        c.caused += p->breaks[i].is->n_caused;
        c.skipped += p->breaks[i].is->skipped;
        if (c.caused_ns < INT64_MAX / 2 && p->breaks[i].caused_ns < INT64_MAX / 2)
            c.caused_ns += p->breaks[i].caused_ns;
    }
    return c;
}

static void breaks(const struct profile *p, struct buf *out)
{
    struct break_counts c = count_breaks(p);
    if (!c.top)
        return;
    format_plural(out, p->n_breaks, "graph break");
    buf_puts(out, " at ");
    format_plural(out, c.places, "line");
    buf_puts(out, c.places > 1 ? ", most often " : ", ");
    format_place(out, c.top->file, c.top->line);
    put_code_name(out, c.top->code);
    buf_puts(out, ": ");
    format_text(out, c.top->summary, TEXT_COLUMNS);
    if (c.skipped > 0) {
        buf_puts(out, "; ");
        format_plural(out, c.skipped, "function");
        buf_puts(out, c.skipped == 1 ? " was given up and runs" : " were given up and run");
        buf_puts(out, " without being compiled");
    }
    if (c.caused > 0) {
        buf_puts(out, "; ");
        format_plural(out, c.caused, "more compile");
        buf_puts(out, c.caused == 1 ? " follows from that (" : " follow from that (");
        format_ns(out, c.caused_ns);
        buf_putc(out, ')');
    }
}

static void recompiles(const struct profile *p, struct buf *out)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < p->n_recompiles; i++)
        if (p->recompiles[i].is->ns > 0 && ns < INT64_MAX / 2)
            ns += p->recompiles[i].is->ns;
    if (p->n_recompiles == 0)
        return;
    const struct recompile *last = p->recompiles[p->n_recompiles - 1].is;
    format_plural(out, p->n_recompiles, "recompile");
    if (ns > 0) {
        buf_puts(out, " took ");
        format_ns(out, ns);
        buf_puts(out, " of ");
        format_ns(out, p->compile_ns);
    }
    if (last->n_reasons == 0)
        return;
    buf_puts(out, p->n_recompiles == 1 ? "; this guard of " : "; the last because this guard of ");
    format_text(out, last->reasons[0].compile, 0);
    buf_puts(out, " failed: ");
    format_text(out, last->reasons[0].guard, TEXT_COLUMNS);
    if (last->reasons[0].file.n > 0) {
        buf_puts(out, ", used at ");
        format_place(out, last->reasons[0].file, last->reasons[0].line);
    }
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
    const char *before = "by part: ";
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
    static void (*const REST[])(const struct profile *, struct buf *) = {
        slowest_line, breaks,    recompiles,          put_phase_parts, headline_spots,
        guards,       expansion, headline_dispatches, caches,
    };
    struct headline_writer t = { .each = each, .user = user };
    recordings(p, &t.text);
    put_headlines(&t);
    nothing_there(p, &t.text);
    put_headlines(&t);
    for (uint32_t i = 0; i < p->n_compiles; i++) {
        put_unfinished(p, i, &t.text);
        put_headlines(&t);
    }
    for (uint32_t i = 0; i < p->n_restarts; i++) {
        put_restart(p, &p->restarts[i], &t.text);
        put_headlines(&t);
    }
    for (uint32_t i = 0; i < p->n_failures; i++) {
        failure(p, &p->failures[i], &t.text);
        put_headlines(&t);
    }
    for (size_t i = 0; i < sizeof REST / sizeof *REST; i++) {
        REST[i](p, &t.text);
        put_headlines(&t);
    }
    bool ok = !t.text.failed;
    buf_release(&t.text);
    return ok;
}
