/* Sections: phases as a tree, by name and by compile, and those that never ended. */
#include "profile/model/format.h"
#include "profile/report/section.h"

/* ---- Phases that never ended ---- */

static struct datum get_attempt(const void *context, const void *at)
{
    const struct profile *p = context;
    const struct phase_span *span = at;
    const struct trace *trace = p->traces[p->recordings[span->recording].input];
    return span->attempt == TRACE_NONE ? datum_null()
                                       : datum_count(trace->attempts[span->attempt].number);
}

GETTER(get_elapsed, struct phase_span, datum_integer(row->end_ns - row->start_ns))
GETTER(get_ended_by, bool, datum_name(*row ? "end of log" : "the phase around it"))

static void cell_span_compile(const void *context, const void *at, struct buf *out)
{
    const struct phase_span *span = at;
    cell_compile(context, span->recording, span->compile, out);
}

static const struct field UNFINISHED[] = {
    { "name", GET(get_profile_name, struct phase_span, name), TEXT(4, "phase", TEXT, 0) },
    { "recording", GET(get_recording_name, struct phase_span, recording) },
    { "compile", GET(get_compile_id, struct phase_span, compile) },
    { NULL, .cell = cell_span_compile, TEXT(2, "compile", WORD, 0) },
    { "attempt", .get = get_attempt },
    { "elapsed_ns", .get = get_elapsed, TEXT(1, "elapsed", NS, 0) },
    { "open", MEMBER(struct phase_span, open) },
    { NULL, GET(get_ended_by, struct phase_span, open), TEXT(3, "ended by", WORD, 0) },
};
static const struct fields UNFINISHED_FIELDS = FIELDS_OF(UNFINISHED);

static struct rows unfinished_rows(const struct profile_phases *phases)
{
    struct rows rows = ROWS(phases->spans, phases->n_unfinished);
    rows.order = phases->unfinished;
    return rows;
}

static void text_unfinished(struct report *r)
{
    struct rows rows = unfinished_rows(&r->p->phases);
    text_rows(r, "Phases that never ended (time until the log's last record)", &UNFINISHED_FIELDS,
              0, &rows, r->options->limit);
}

static void json_unfinished(struct report *r)
{
    struct rows rows = unfinished_rows(&r->p->phases);
    fields_json_rows(&r->w, "unfinished", &UNFINISHED_FIELDS, r->p, &rows, 0);
}

const struct section section_unfinished = { .text = text_unfinished, .json = json_unfinished };

/* ---- Phases by name ---- */

static struct datum get_part(const void *context, const void *at)
{
    struct str name = profile_name(context, *(const uint32_t *)at);
    return datum_name(phase_part_title(phase_part_of(name)));
}

static void cell_exclusive_share(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    format_share(out, *(const int64_t *)at, p->phases.total_ns);
}

static const struct field TOTAL[] = {
    { "name", GET(get_profile_name, struct phase_total, name), TEXT(5, "phase", TEXT, 0) },
    { "calls", MEMBER(struct phase_total, calls), TEXT(4, "calls", COUNT, 0) },
    { "inclusive_ns", MEMBER(struct phase_total, inclusive_ns), TEXT(3, "inclusive", NS, 0) },
    { "exclusive_ns", MEMBER(struct phase_total, exclusive_ns), TEXT(1, "exclusive", NS, 0) },
    { NULL, CELL(cell_exclusive_share, struct phase_total, exclusive_ns),
      TEXT(2, "share", RATIO, 0) },
    { "unfinished", MEMBER(struct phase_total, unfinished) },
    { "part", GET(get_part, struct phase_total, name) },
};
static const struct fields TOTAL_FIELDS = FIELDS_OF(TOTAL);

const struct section section_phases = {
    .key = "phases",
    .title = "Phases by name, wherever they run (share: of all phases)",
    .fields = &TOTAL_FIELDS,
    PROFILE_ROWS(phases.totals, phases.n_totals),
    .limited = true,
};

/* ---- The tree ---- */

/* Returns the index of the parent in the same list; null for a root. */
static struct datum get_parent(const void *context, const void *at)
{
    uint32_t parent = *(const uint32_t *)at;
    (void)context;
    return parent == PROFILE_NONE ? datum_null() : datum_count(parent);
}

static unsigned phase_depth(const struct profile_phases *phases, const struct phase_node *node)
{
    unsigned depth = 0;
    for (; node->parent != PROFILE_NONE; node = &phases->nodes[node->parent])
        depth++;
    return depth;
}

static void cell_node(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    const struct phase_node *node = at;
    struct str name = profile_name(p, node->name);
    const char *meaning = phase_meaning(name);
    for (unsigned depth = phase_depth(&p->phases, node); depth > 0; depth--)
        buf_puts(out, "| ");
    format_text(out, name, 0);
    if (node->unfinished > 0)
        buf_puts(out, " [never ended]");
    if (*meaning)
        buf_printf(out, ": %s", meaning);
}

static const struct field NODE[] = {
    { "name", GET(get_profile_name, struct phase_node, name) },
    { NULL, .cell = cell_node, TEXT(5, "phase", TEXT, 0) },
    { "parent", GET(get_parent, struct phase_node, parent) },
    { "calls", MEMBER(struct phase_node, calls), TEXT(4, "calls", COUNT, 0) },
    { "inclusive_ns", MEMBER(struct phase_node, inclusive_ns), TEXT(1, "inclusive", NS, 0) },
    { NULL, CELL(cell_exclusive_share, struct phase_node, inclusive_ns),
      TEXT(2, "share", RATIO, 0) },
    { "exclusive_ns", MEMBER(struct phase_node, exclusive_ns), TEXT(3, "exclusive", NS, 0) },
    { "unfinished", MEMBER(struct phase_node, unfinished) },
};
static const struct fields NODE_FIELDS = FIELDS_OF(NODE);

/* Adds nodes depth first, without those that are too small to matter (half a percent) unless all
 * rows are shown. */
static uint32_t put_nodes(const struct report *r, struct text_table *t)
{
    enum { DEEPEST = 30 };
    const struct profile_phases *phases = &r->p->phases;
    uint32_t left_out = 0, node = phases->first_root;
    unsigned depth = 0;
    while (node != PROFILE_NONE) {
        const struct phase_node *n = &phases->nodes[node];
        bool small = r->options->limit > 0 && n->inclusive_ns < phases->total_ns / 200;
        if (small || depth >= DEEPEST)
            left_out++;
        else
            text_table_row(t, r->p, n);
        if (!small && n->first_child != PROFILE_NONE) {
            node = n->first_child;
            depth++;
            continue;
        }
        while (node != PROFILE_NONE && phases->nodes[node].next_sibling == PROFILE_NONE) {
            node = phases->nodes[node].parent;
            depth -= depth > 0;
        }
        if (node != PROFILE_NONE)
            node = phases->nodes[node].next_sibling;
    }
    return left_out;
}

static void text_tree(struct report *r)
{
    struct text_table t;
    if (r->p->phases.n_nodes == 0)
        return;
    text_title(
        r, "Phases (inclusive: with what runs inside; exclusive: itself; share: of all phases)");
    text_table_init(&t, &NODE_FIELDS, 0);
    uint32_t left_out = put_nodes(r, &t);
    text_finish(r, &t.table, 0);
    if (left_out > 0) {
        buf_puts(r->out, "  ");
        format_plural(r->out, left_out, "small phase");
        buf_puts(r->out, " left out\n");
    }
    if (r->p->phases.stray_ends > 0) {
        buf_puts(r->out, "  ");
        format_plural(r->out, r->p->phases.stray_ends, "end");
        buf_puts(r->out, " without a beginning\n");
    }
}

const struct section section_phase_tree = {
    .key = "phase_tree",
    .fields = &NODE_FIELDS,
    PROFILE_ROWS(phases.nodes, phases.n_nodes),
    .text = text_tree,
};

/* ---- By compile, and by part of the compiler; only in JSON ---- */

static struct datum get_recording_of(const void *context, const void *at)
{
    const struct profile *p = context;
    uint32_t compile = *(const uint32_t *)at;
    return compile == PROFILE_NONE ? datum_null()
                                   : get_recording_name(p, &p->compiles[compile].recording);
}

static const struct field BY_COMPILE[] = {
    { "recording", GET(get_recording_of, struct phase_by_compile, compile) },
    { "compile", GET(get_compile_id, struct phase_by_compile, compile) },
    { "name", GET(get_profile_name, struct phase_by_compile, name) },
    { "calls", MEMBER(struct phase_by_compile, calls) },
    { "inclusive_ns", MEMBER(struct phase_by_compile, inclusive_ns) },
    { "exclusive_ns", MEMBER(struct phase_by_compile, exclusive_ns) },
};
static const struct fields BY_COMPILE_FIELDS = FIELDS_OF(BY_COMPILE);

const struct section section_phases_by_compile = {
    .key = "phases_by_compile",
    .fields = &BY_COMPILE_FIELDS,
    PROFILE_ROWS(phases.by_compile, phases.n_by_compile),
};

static const struct field PHASES[] = {
    { "phases_ns", MEMBER(struct profile, phases.total_ns) },
    { "autotuning_ns", MEMBER(struct profile, autotuning_ns) },
    { "stray_ends", MEMBER(struct profile, phases.stray_ends) },
    { "unreadable_events", MEMBER(struct profile, phases.unreadable) },
};
static const struct fields PHASES_FIELDS = FIELDS_OF(PHASES);

static void json_parts(struct report *r)
{
    json_open_object(&r->w, "parts");
    for (int i = 0; i < PHASE_PARTS; i++)
        json_put_i64(&r->w, phase_part_title((enum phase_part)i), r->p->phases.part_ns[i]);
    json_close(&r->w);
    fields_json(&PHASES_FIELDS, r->p, r->p, &r->w);
}

const struct section section_phase_parts = { .json = json_parts };
