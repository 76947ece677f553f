#include "profile/model/format.h"
#include "profile/ranks/divergence_report.h"

enum { NAMES_SHOWN = 8 };

/* Names in a row: "rank0, rank2 and rank3", "rank0, rank1 ... and 504 more". */
struct name_list {
    const struct job *job;
    struct buf *out;
    uint32_t n, count; /* of all; so far */
};

static void put_name(struct name_list *list, uint32_t rank)
{
    uint32_t at = list->count++, shown = list->n <= NAMES_SHOWN ? list->n : NAMES_SHOWN - 1;
    if (at < shown) {
        buf_puts(list->out, at == 0 ? "" : at + 1 == list->n ? " and " : ", ");
        format_text(list->out, job_rank_name(list->job, rank), 0);
    } else if (at == shown) {
        buf_puts(list->out, " and ");
        format_count(list->out, list->n - shown);
        buf_puts(list->out, " more");
    }
}

static void put_ranks(const struct divergences *found, const struct job *job,
                      const struct divergence *d, struct buf *out)
{
    struct name_list list = { job, out, d->n_ranks, 0 };
    for (uint32_t i = 0; i < d->n_ranks; i++)
        put_name(&list, found->ranks.v[d->first_rank + i]);
}

static void put_place(const struct job *job, uint32_t place, struct buf *out)
{
    const struct job_place *p = &job->places.v[place];
    struct str function = job_text(job, p->function);
    format_place(out, job_text(job, p->file), p->line);
    if (function.n) {
        buf_puts(out, " in ");
        format_text(out, function, 0);
    }
}

/* ---- The verdict ---- */

/* What all ranks have in common need not be well. */
static void put_bad_ends(const struct job *job, struct buf *out)
{
    uint32_t failed = 0, open = 0;
    for (size_t i = 0; i < job->compiles.n; i++) {
        uint32_t at = 0;
        failed += job_next_fact(job, &job->compiles.v[i], FACT_FAILURE, &at) != NULL;
        open += job->compiles.v[i].status == ATTEMPT_UNFINISHED;
    }
    if (failed) {
        format_plural(out, failed, "compile");
        buf_puts(out, " of all ranks failed; symtape diagnose prints why\n");
    }
    if (open) {
        format_plural(out, open, "compile");
        buf_puts(out, " of all ranks did not end\n");
    }
}

static void put_same(const struct divergences *found, const struct job *job, struct buf *out)
{
    if (job->ranks.n < 2) {
        format_plural(out, job->ranks.n, "rank");
        buf_puts(out, ": nothing to compare with\n");
        return;
    }
    buf_puts(out, "no rank differs: ");
    format_plural(out, job->ranks.n, "rank");
    buf_puts(out, ", ");
    format_plural(out, job->n_steps, "compile");
    buf_puts(out, "\n");
    put_bad_ends(job, out);
    if (found->n_stages > 1) {
        buf_puts(out, "they are ");
        format_count(out, found->n_stages);
        buf_puts(out, " stages, by what they send and receive; each is compared in itself\n");
    }
}

/* "G['rank'] == 1 on rank1, 0 on rank0": the guards on one thing that differ. */
static void put_cause(const struct job *job, const struct divergence *d, struct buf *out)
{
    if (d->cause == JOB_NONE)
        return;
    const struct fact *own = &job->facts.v[d->cause], *other = &job->facts.v[d->cause_other];
    buf_puts(out, "  cause  ");
    format_text(out, job_text(job, own->what), 0);
    buf_puts(out, " is ");
    format_text(out, job_text(job, own->detail), 0);
    buf_puts(out, " on ");
    format_text(out, job_rank_name(job, job->compiles.v[d->compile].rank), 0);
    buf_puts(out, " and ");
    format_text(out, job_text(job, other->detail), 0);
    buf_puts(out, " on ");
    format_text(out, job_rank_name(job, job->compiles.v[d->other].rank), 0);
    buf_puts(out, "\n");
}

static void put_verdict(const struct divergences *found, const struct job *job,
                        const struct report_options *options, struct buf *out)
{
    const struct divergence *d = &found->list.v[0];
    style_mark(options->styles, out, STYLE_BOLD);
    put_ranks(found, job, d, out);
    buf_puts(out, d->n_ranks > 1 ? " differ: each " : " ");
    divergence_sentence(job, d, out);
    buf_puts(out, "\n");
    style_mark(options->styles, out, STYLE_NONE);
    buf_printf(out, "  kind   %s: ", divergence_name(d->kind));
    format_count(out, d->n_ranks);
    buf_puts(out, d->n_ranks == 1 ? " rank differs from " : " ranks differ from ");
    format_count(out, d->n_others);
    buf_puts(out, "\n");
    if (d->place != JOB_NONE) {
        buf_puts(out, "  line   ");
        put_place(job, d->place, out);
        buf_puts(out, "\n");
    }
    put_cause(job, d, out);
}

/* ---- Who waits ---- */

/* ", called at train.py:36 in <module>", or the line of the collective if that is not recorded. */
static void put_wait_place(const struct job *job, const struct rank_wait *wait, struct buf *out)
{
    uint32_t call = job->compiles.v[wait->compile].call;
    uint32_t line = wait->fact != JOB_NONE ? job->facts.v[wait->fact].place : JOB_NONE;
    if (call == JOB_NONE && line == JOB_NONE)
        return;
    buf_puts(out, call != JOB_NONE ? ", called at " : ", at ");
    put_place(job, call != JOB_NONE ? call : line, out);
}

static void put_state(const struct job *job, const struct rank_wait *wait, bool one,
                      struct buf *out)
{
    static const char *const STATES[][2] = {
        [WAIT_COLLECTIVE] = { " wait in ", " waits in " },
        [WAIT_COMPILER] = { " wait in a compiler collective of ",
                            " waits in a compiler collective of " },
        [WAIT_COMPILE] = { " are in compile ", " is in compile " },
        [WAIT_ELSEWHERE] = { " have not come", " has not come" },
        [WAIT_FAILED] = { " failed in compile ", " failed in compile " },
    };
    struct str id =
        wait->compile == JOB_NONE ? STR("") : job_text(job, job->compiles.v[wait->compile].id);
    struct str what =
        wait->fact == JOB_NONE ? STR("") : job_text(job, job->facts.v[wait->fact].what);
    bool elsewhere = wait->state == WAIT_ELSEWHERE;
    buf_puts(out, STATES[wait->state][one]);
    if (!id.n)
        return;
    if (elsewhere)
        buf_puts(out, what.n ? "; the last compile with a collective is "
                      : one  ? ": there is none in its "
                             : ": there is none in their ");
    else if (what.n) {
        format_text(out, what, 0);
        buf_puts(out, " of ");
    }
    format_text(out, id, 0);
    if (elsewhere && what.n) {
        buf_puts(out, " (");
        format_text(out, what, 0);
        buf_puts(out, ")");
    }
    put_wait_place(job, wait, out);
}

static uint32_t count_group(const struct wait_groups *groups, size_t n, uint32_t group, bool same)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (groups->group[i] == group) == same;
    return count;
}

static void put_group(const struct divergences *found, const struct job *job,
                      const struct wait_groups *groups, uint32_t group, bool same, struct buf *out)
{
    struct name_list list = { job, out, count_group(groups, found->waits.n, group, same), 0 };
    for (size_t i = 0; i < found->waits.n; i++)
        if ((groups->group[i] == group) == same)
            put_name(&list, found->waits.v[i].rank);
}

static void put_waits(const struct divergences *found, const struct job *job, struct buf *out)
{
    struct wait_groups groups;
    uint32_t group = 0;
    if (!wait_groups_make(&groups, found, job)) {
        out->failed = true;
        return;
    }
    buf_puts(out, found->waits.n ? "\nWho waits for whom, if the job hangs\n" : "");
    for (size_t i = 0; i < found->waits.n; i++) {
        if (groups.group[i] != group)
            continue;
        bool one = count_group(&groups, found->waits.n, group, true) == 1;
        put_group(found, job, &groups, group, true, out);
        put_state(job, &found->waits.v[i], one, out);
        if (wait_is_for_others(found->waits.v[i].state) && groups.n > 1) {
            buf_puts(out, ", for ");
            put_group(found, job, &groups, group, false, out);
        }
        buf_puts(out, "\n");
        group++;
    }
    wait_groups_release(&groups);
}

/* ---- Lists ---- */

static void put_others(const struct divergences *found, const struct job *job,
                       const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "rank", COLUMN_LEFT, 0 },
        { "kind", COLUMN_MARKUP, 0 },
        { "line", COLUMN_PATH, 1 },
        { "what it does", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = found->list.n ? (uint32_t)found->list.n - 1 : 0, shown = report_shown(options, n);
    for (uint32_t i = 1; i <= shown; i++) {
        const struct divergence *d = &found->list.v[i];
        put_ranks(found, job, d, &table.text);
        table_cell(&table);
        table_text(&table, str_of(divergence_name(d->kind)));
        if (d->place != JOB_NONE)
            format_place(&table.text, job_text(job, job->places.v[d->place].file),
                         job->places.v[d->place].line);
        table_cell(&table);
        divergence_sentence(job, d, &table.text);
        table_cell(&table);
    }
    buf_puts(out, n ? "\nOther differences\n" : "");
    report_table(&table, options, 0, n, out);
}

static void put_stragglers(const struct divergences *found, const struct job *job,
                           const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "rank", COLUMN_LEFT, 0 },
        { "took", COLUMN_RIGHT, 0 },
        { "median", COLUMN_RIGHT, 0 },
        { "phase", COLUMN_LEFT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)found->stragglers.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct straggler *s = &found->stragglers.v[i];
        format_text(&table.text, job_rank_name(job, s->rank), 0);
        table_cell(&table);
        table_ns(&table, s->ns);
        table_ns(&table, s->median_ns);
        table_text(&table, job_text(job, s->phase));
    }
    buf_puts(out, n ? "\nPhases that took a rank longer than the median of all ranks\n" : "");
    report_table(&table, options, 0, n, out);
}

void divergences_text(const struct divergences *found, const struct job *job,
                      const struct report_options *options, struct buf *out)
{
    if (found->list.n)
        put_verdict(found, job, options, out);
    else
        put_same(found, job, out);
    if (found->n_graphs) {
        buf_puts(out, "graphs differ in ");
        format_plural(out, found->n_graphs, "compile");
        buf_puts(out, "; by itself that is no fault\n");
    }
    put_waits(found, job, out);
    put_others(found, job, options, out);
    put_stragglers(found, job, options, out);
}
