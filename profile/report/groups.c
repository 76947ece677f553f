/* Section: groups by operator, line, stack or module (--by). Text leaves out empty columns, since
 * the numbers of a group depend on its kind and on how the run was recorded. The context of the
 * fields is the kind of the groups, which is also the number of their table in text. */
#include "profile/model/format.h"
#include "profile/report/section.h"

static enum profile_by by_of(const void *context)
{
    return *(const enum profile_by *)context;
}

/* ---- Fields ---- */

static const struct field FRAME[] = {
    { "file", MEMBER(struct group_frame, file) },
    { "line", MEMBER(struct group_frame, line) },
    { "function", MEMBER(struct group_frame, function) },
};
static const struct fields FRAME_FIELDS = FIELDS_OF(FRAME);

/* Returns whether groups of this kind have a name (operators, modules); the others have frames. */
static bool has_group_name(const void *context)
{
    return by_of(context) == PROFILE_OP || by_of(context) == PROFILE_MODULE;
}

static void json_name(const void *context, const void *at, struct json_writer *w, const char *key)
{
    if (has_group_name(context))
        json_put_str(w, key, *(const struct str *)at);
}

static void json_frames(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct profile_group *g = at;
    struct rows frames = ROWS(g->frames, g->n_frames);
    if (!has_group_name(context))
        fields_json_rows(w, key, &FRAME_FIELDS, NULL, &frames, 0);
}

static void cell_name(const void *context, const void *at, struct buf *out)
{
    const struct str *name = at;
    if (by_of(context) == PROFILE_MODULE && name->n == 0)
        buf_puts(out, "(the model)");
    else
        format_text(out, *name, 0);
}

static void cell_frames(const void *context, const void *at, struct buf *out)
{
    const struct profile_group *g = at;
    (void)context;
    for (uint32_t i = 0; i < g->n_frames; i++) {
        buf_puts(out, i > 0 ? " > " : "");
        format_place(out, g->frames[i].file, g->frames[i].line);
    }
}

/* Counts that include inner modules; only modules have them. */
GETTER_IN(get_total, void, void, by_of(in) == PROFILE_MODULE ? get_u64(in, row) : datum_absent())

#define IN_ALL(at, title, unit, spare)                                                            \
    IN_TABLE(PROFILE_OP, at, title, unit, spare), IN_TABLE(PROFILE_LINE, at, title, unit, spare), \
        IN_TABLE(PROFILE_STACK, at, title, unit, spare),                                          \
        IN_TABLE(PROFILE_MODULE, at, title, unit, spare)
#define TOTAL(key, member, at, spare)                                \
    {                                                                \
        key, GET(get_total, struct profile_group, member),           \
            IN_TABLE(PROFILE_MODULE, at, "with below", COUNT, spare) \
    }

static const struct field GROUP[] = {
    { "name", .offset = offsetof(struct profile_group, name), .json = json_name, .cell = cell_name,
      IN_TABLE(PROFILE_OP, 14, "op", TEXT, 0), IN_TABLE(PROFILE_MODULE, 14, "module", TEXT, 0) },
    { "frames", .json = json_frames, .cell = cell_frames,
      IN_TABLE(PROFILE_LINE, 14, "line", PATH, 0), IN_TABLE(PROFILE_STACK, 14, "stack", PATH, 0) },
    { NULL, MEMBER(struct profile_group, code), IN_TABLE(PROFILE_LINE, 15, "code", TEXT, 0) },
    { "dynamo_calls", MEMBER(struct profile_group, dynamo_calls),
      IN_ALL(10, "Dynamo calls", COUNT, 3) },
    { "aten_calls", MEMBER(struct profile_group, aten_calls), IN_ALL(12, "ATen calls", COUNT, 2) },
    { "guards", MEMBER(struct profile_group, guards), IN_ALL(5, "guards", COUNT, 0) },
    TOTAL("total_dynamo_calls", total_dynamo_calls, 11, 8),
    TOTAL("total_aten_calls", total_aten_calls, 13, 5),
    TOTAL("total_guards", total_guards, 6, 0),
    { "real_dispatches", MEMBER(struct profile_group, real_dispatches),
      IN_ALL(3, "real dispatches", COUNT, 0) },
    { "dispatches", MEMBER(struct profile_group, dispatches), IN_ALL(4, "dispatches", COUNT, 1) },
    { "exprs", MEMBER(struct profile_group, exprs), IN_ALL(7, "exprs", COUNT, 6) },
    { "symbolic_tensors", MEMBER(struct profile_group, symbolic_tensors),
      IN_ALL(8, "symbolic tensors", COUNT, 7) },
    { "saved_bytes", MEMBER(struct profile_group, saved_bytes), IN_ALL(9, "saved", BYTES, 4) },
    { "self_ns", MEMBER(struct profile_group, self_ns), IN_ALL(1, "self time", SPENT, 0) },
    { "estimated_ns", MEMBER(struct profile_group, estimated_ns),
      IN_ALL(2, "est. time", SPENT, 0) },
};
static const struct fields GROUP_FIELDS = FIELDS_OF(GROUP);

/* ---- Reports ---- */

static void text_by(const struct report *r, enum profile_by by)
{
    static const char *const TITLES[] = { "By operator", "By user line",
                                          "By user stack (outermost frame first)", "By module" };
    const struct profile_groups *groups = &r->p->groups[by];
    struct rows rows = ROWS(groups->rows, groups->n_rows);
    struct text_table t;
    text_title(r, TITLES[by]);
    if (groups->n_rows == 0)
        buf_puts(r->out, "  nothing was recorded of it\n");
    text_table_init(&t, &GROUP_FIELDS, by);
    t.table.squeezed = true;
    text_finish(r, &t.table, text_table_rows(&t, &by, &rows, r->options->limit));
}

static void text_groups(struct report *r)
{
    for (int by = 0; by < PROFILE_BYS; by++)
        if (r->p->groups[by].asked)
            text_by(r, (enum profile_by)by);
}

static void json_groups(struct report *r)
{
    json_open_object(&r->w, "by");
    for (int i = 0; i < PROFILE_BYS; i++) {
        const enum profile_by by = (enum profile_by)i;
        const struct profile_groups *groups = &r->p->groups[i];
        struct rows rows = ROWS(groups->rows, groups->n_rows);
        if (groups->asked)
            fields_json_rows(&r->w, profile_by_name(by), &GROUP_FIELDS, &by, &rows,
                             r->options->limit);
    }
    json_close(&r->w);
}

const struct section section_groups = { .text = text_groups, .json = json_groups };
