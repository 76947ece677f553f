/* Divides the time of a pass whose graph was not logged, as that of a compile that was killed.
 *
 * Nothing names the calls between two records, but the user lines of both are known. The work of
 * the first line goes on after its record, and that of the second one began before its record: a
 * gap is shared by both, and either may have all of it. The record that describes an input begins
 * no work, but the call that reads the input comes next: what precedes the description belongs to
 * the line before, and what follows it to the line after. Nor does a symbol's record begin work. A
 * line that leaves no record may have taken any gap but one that begins and ends at the same line.
 */
#include "profile/model/lines/line_gaps.h"

#define BEFORE 2 / 3 /* of a gap, for the line before: a line's first guard is early */
#define WITHIN 3 / 4 /* the least that a line has of a gap at both ends of which it stands ... */
#define QUIET  500000000 /* ... but for lines in between that leave no record, in nanoseconds */

/* The ends of a gap: its marks, NULL for those of the pass, and the lines that were traced. */
struct gap_ends {
    int64_t ns;
    const struct pass_mark *from, *to;
    uint32_t before, after; /* rows, or LINE_NOBODY */
};

/* What the lines at both ends of a gap get of it. What is left has no line that is known. */
struct gap_parts {
    int64_t before_ns, after_ns;
};

static bool begins_no_work(const struct pass_mark *mark)
{
    return mark->describes || !mark->evaluated;
}

static struct gap_parts divide(const struct gap_ends *gap)
{
    bool opens = gap->from && gap->from->describes;
    if (!gap->from || !gap->to)
        return (struct gap_parts){ 0, gap->to && gap->to->evaluated ? gap->ns / 2 : 0 };
    if (opens && gap->to->describes)
        return (struct gap_parts){ 0, 0 };
    if (begins_no_work(gap->to))
        return (struct gap_parts){ opens ? 0 : gap->ns, 0 };
    if (opens)
        return (struct gap_parts){ 0, gap->ns };
    return (struct gap_parts){ gap->ns * BEFORE, gap->ns - gap->ns * BEFORE };
}

static bool give_part(const struct gap_ends *gap, uint32_t row, int64_t ns, int64_t low_ns,
                      bool (*give)(void *user, const struct line_share *share), void *user)
{
    struct line_share share = { .row = row, .ns = ns, .low_ns = low_ns, .unplaced = true };
    share.high_ns = (int64_t)((double)gap->ns * LINE_TIMES_ROUGHLY);
    return give(user, &share);
}

/* Gives what has no line, too, so that the parts add up to the gap. */
static bool give_parts(const struct gap_ends *gap,
                       bool (*give)(void *user, const struct line_share *share), void *user)
{
    struct gap_parts parts = divide(gap);
    int64_t least = gap->ns > QUIET ? (gap->ns - QUIET) * WITHIN : 0;
    if (gap->ns <= 0)
        return true;
    if (gap->before == gap->after && gap->before != LINE_NOBODY)
        return give_part(gap, gap->before, gap->ns, least, give, user);
    return give_part(gap, gap->before, parts.before_ns, 0, give, user) &&
           give_part(gap, gap->after, parts.after_ns, 0, give, user) &&
           give_part(gap, LINE_NOBODY, gap->ns - parts.before_ns - parts.after_ns, 0, give, user);
}

/* Returns the row of the first mark from `i` on that describes no input, or LINE_NOBODY. Sets *at
 * to it, so that no mark is looked at twice. */
static uint32_t next_row(const struct line_pass *pass, size_t i, size_t *at)
{
    *at = *at > i ? *at : i;
    while (*at < pass->n_marks && pass->marks[*at].describes)
        ++*at;
    return *at < pass->n_marks ? pass->marks[*at].row : LINE_NOBODY;
}

bool unlogged_gaps_divide(const struct line_pass *pass,
                          bool (*give)(void *user, const struct line_share *share), void *user)
{
    struct gap_ends gap = { .before = LINE_NOBODY };
    int64_t begin = 0;
    size_t at = 0;
    for (size_t i = 0; i <= pass->n_marks; i++) {
        gap.from = i > 0 ? &pass->marks[i - 1] : NULL;
        gap.to = i < pass->n_marks ? &pass->marks[i] : NULL;
        gap.before = gap.from && !gap.from->describes ? gap.from->row : gap.before;
        gap.after = next_row(pass, i, &at);
        gap.ns = (gap.to ? gap.to->at_ns : pass->ns) - begin;
        begin += gap.ns;
        if (!give_parts(&gap, give, user))
            return false;
    }
    return true;
}
