#include "profile/compare/check_fields.h"

#include <math.h>

#include "profile/compare/measure_fields.h"

/* ---- Sides of a measure --------------------------------------------------------------------- */

/* Returns NULL if the side is absent or does not have the measure. */
static const struct measure_summary *side_summary(const struct check_side *side,
                                                  const void *measure)
{
    const struct measure_summary *s = side ? &side->measures[*(const enum measure *)measure] : NULL;
    return s && s->n > 0 ? s : NULL;
}

static const struct measure_summary *summary_before(const void *context, const void *measure)
{
    return side_summary(((const struct check *)context)->before, measure);
}

static const struct measure_summary *summary_now(const void *context, const void *measure)
{
    return side_summary(((const struct check *)context)->now, measure);
}

REACH_IN(reach_before, struct check, enum measure, summary_before(in, row))
REACH_IN(reach_now, struct check, enum measure, summary_now(in, row))

static void put_measure_summary(enum measure measure, const struct measure_summary *s,
                                struct buf *out)
{
    if (s)
        measure_format_summary(measure, s, out);
}

static void put_median(enum measure measure, const struct measure_summary *s, struct buf *out)
{
    if (s)
        measure_format(measure, s->median, out);
}

static void cell_before(const void *context, const void *at, struct buf *out)
{
    put_measure_summary(*(const enum measure *)at, summary_before(context, at), out);
}

static void cell_now(const void *context, const void *at, struct buf *out)
{
    put_measure_summary(*(const enum measure *)at, summary_now(context, at), out);
}

static void cell_before_median(const void *context, const void *at, struct buf *out)
{
    put_median(*(const enum measure *)at, summary_before(context, at), out);
}

static void cell_now_median(const void *context, const void *at, struct buf *out)
{
    put_median(*(const enum measure *)at, summary_now(context, at), out);
}

static struct datum get_difference(const void *context, const void *at)
{
    const struct measure_summary *b = summary_before(context, at), *n = summary_now(context, at);
    return b && n ? datum_number(n->median - b->median) : datum_null();
}

static void cell_difference(const void *context, const void *at, struct buf *out)
{
    struct datum change = get_difference(context, at);
    if (change.kind == DATUM_NULL)
        return;
    if (change.as.number == 0) {
        buf_putc(out, '0');
        return;
    }
    double was = summary_before(context, at)->median;
    check_format_change(*(const enum measure *)at, change.as.number, out);
    if (was != 0)
        buf_printf(out, " (%+.1f %%)", 100 * change.as.number / fabs(was));
}

static const struct field SUMMARY[] = {
    { "value", MEMBER(struct measure_summary, median) },
    { "least", MEMBER(struct measure_summary, least) },
    { "greatest", MEMBER(struct measure_summary, greatest) },
    { "n", MEMBER(struct measure_summary, n) },
};
static const struct fields SUMMARY_FIELDS = FIELDS_OF(SUMMARY);

static const struct field NOW[] = {
    { "here", .group = &SUMMARY_FIELDS, .reach = reach_now, .cell = cell_now,
      IN_TABLE(CHECK_LIMITS, 4, "here", NUMBER, 0), IN_TABLE(CHECK_CHANGED, 3, "here", NUMBER, 0),
      IN_TABLE(CHECK_LIST, 2, "value", NUMBER, 0) },
};
static const struct fields NOW_FIELDS = FIELDS_OF(NOW);

static const struct field SIDES[] = {
    { "baseline", .group = &SUMMARY_FIELDS, .reach = reach_before, .cell = cell_before,
      IN_TABLE(CHECK_LIMITS, 3, "baseline", NUMBER, 0),
      IN_TABLE(CHECK_CHANGED, 2, "baseline", NUMBER, 0) },
    { NULL, .cell = cell_before_median, IN_TABLE(CHECK_LIMITS_MARKDOWN, 3, "baseline", NUMBER, 0),
      IN_TABLE(CHECK_CHANGED_MARKDOWN, 2, "baseline", NUMBER, 0) },
    { NULL, .group = &NOW_FIELDS },
    { NULL, .cell = cell_now_median, IN_TABLE(CHECK_LIMITS_MARKDOWN, 4, "here", NUMBER, 0),
      IN_TABLE(CHECK_CHANGED_MARKDOWN, 3, "here", NUMBER, 0) },
    { "change", .get = get_difference, .cell = cell_difference,
      IN_TABLE(CHECK_LIMITS, 5, "change", NUMBER, 0),
      IN_TABLE(CHECK_CHANGED, 4, "change", NUMBER, 0),
      IN_TABLE(CHECK_LIMITS_MARKDOWN, 5, "change", NUMBER, 0),
      IN_TABLE(CHECK_CHANGED_MARKDOWN, 4, "change", NUMBER, 0) },
};
static const struct fields SIDES_FIELDS = FIELDS_OF(SIDES);

/* ---- Measures ------------------------------------------------------------------------------- */

static const struct field MEASURE[] = {
    { "measure", .get = get_measure, IN_TABLE(CHECK_CHANGED, 1, "measure", WORD, 0),
      IN_TABLE(CHECK_LIST, 1, "measure", WORD, 0),
      IN_TABLE(CHECK_CHANGED_MARKDOWN, 1, "measure", WORD, 0) },
    { "unit", .get = get_measure_unit },
    { "source", .get = get_measure_source, IN_TABLE(CHECK_LIST, 3, "measured", WORD, 2) },
};
static const struct fields MEASURE_FIELDS = FIELDS_OF(MEASURE);

static const struct field CHANGED[] = {
    { NULL, .group = &MEASURE_FIELDS },
    { NULL, .group = &SIDES_FIELDS },
    { NULL, .get = get_measure_meaning, IN_TABLE(CHECK_CHANGED, 5, "meaning", TEXT, 1),
      IN_TABLE(CHECK_CHANGED_MARKDOWN, 5, "", MARKUP, 0) },
};
const struct fields check_changed_fields = FIELDS_OF(CHANGED);

static const struct field LIST[] = {
    { NULL, .group = &MEASURE_FIELDS },
    { "meaning", .get = get_measure_meaning, IN_TABLE(CHECK_LIST, 4, "meaning", TEXT, 1) },
    { NULL, .group = &NOW_FIELDS },
};
const struct fields check_list_fields = FIELDS_OF(LIST);

/* ---- Limits --------------------------------------------------------------------------------- */

const char *check_verdict_word(enum check_verdict verdict)
{
    return verdict == CHECK_CANNOT_TELL ? "cannot_tell" : check_verdict_name(verdict);
}

static const char *mark(enum check_verdict verdict)
{
    static const char *const MARKS[] = { "ok", "**regressed**", "cannot tell" };
    return MARKS[verdict];
}

GETTER(get_kind, enum check_kind, datum_name(*row == CHECK_MAX ? "max" : "fail_on"))
GETTER(get_verdict, enum check_verdict, datum_name(check_verdict_word(*row)))
GETTER(get_verdict_name, enum check_verdict, datum_name(check_verdict_name(*row)))
GETTER(get_mark, enum check_verdict, datum_name(mark(*row)))
GETTER(get_allowed, struct check_row, row->compared ? datum_number(row->allowed) : datum_null())
GETTER(get_why, struct check_row,
       datum_name(row->why ? row->why : measure_row(row->rule.measure)->meaning))

static void cell_rule(const void *context, const void *at, struct buf *out)
{
    (void)context;
    check_format_rule(at, out);
}

static void cell_allowed(const void *context, const void *at, struct buf *out)
{
    const struct check_row *row = at;
    (void)context;
    if (row->compared)
        measure_format(row->rule.measure, row->allowed, out);
}

static const struct field LIMIT[] = {
    { "limit", MEMBER(struct check_row, rule.text) },
    { NULL, CELL(cell_rule, struct check_row, rule), IN_TABLE(CHECK_LIMITS, 2, "limit", WORD, 0),
      IN_TABLE(CHECK_LIMITS_MARKDOWN, 2, "limit", WORD, 0) },
    { "kind", GET(get_kind, struct check_row, rule.kind) },
    { NULL, PART(MEASURE_FIELDS, struct check_row, rule.measure) },
    { "verdict", GET(get_verdict, struct check_row, verdict) },
    { NULL, GET(get_verdict_name, struct check_row, verdict),
      IN_TABLE(CHECK_LIMITS, 1, "verdict", WORD, 0) },
    { NULL, GET(get_mark, struct check_row, verdict),
      IN_TABLE(CHECK_LIMITS_MARKDOWN, 1, "", MARKUP, 0) },
    { NULL, PART(SIDES_FIELDS, struct check_row, rule.measure) },
    { "allowed", .get = get_allowed, .cell = cell_allowed,
      IN_TABLE(CHECK_LIMITS, 6, "allowed", NUMBER, 0) },
    { "why", MEMBER(struct check_row, why) },
    { NULL, .get = get_why, IN_TABLE(CHECK_LIMITS, 7, "meaning", TEXT, 1),
      IN_TABLE(CHECK_LIMITS_MARKDOWN, 6, "", MARKUP, 0) },
};
const struct fields check_limit_fields = FIELDS_OF(LIMIT);
