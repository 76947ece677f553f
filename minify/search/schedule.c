#include "minify/search/schedule.h"

#include "minify/search/search_inside.h"

/* Returns the reduction per call. It does not use times, so that the order does not depend on the
 * machine. */
static double worth_of(const struct cand_size *before, const struct cand_size *after,
                       uint64_t calls)
{
    double gain = 0, weight = 1;
    for (int part = 0; part < SIZE_PARTS; part++, weight /= 16)
        if (after->part[part] < before->part[part])
            gain += weight * (double)(before->part[part] - after->part[part]);
    return gain / ((double)calls + 1);
}

/* The share of trials that is accepted before any was made: most passes find something when few
 * calls are left, and the last one confirms that there is nothing. Each trial changes it by the
 * share `learning` of the difference; a pass that runs again on what it has left finds less. The
 * numbers are those with which 8 jobs were fastest in tests/bench/minify/jobs.py --simulate. */
static const struct {
    double first, learning, again;
} usuals[PASS_KINDS] = {
    [PASS_KIND_CALLS] = { 0.75, 0.33, 0.4 },   [PASS_KIND_ENDS] = { 1, 0, 1 },
    [PASS_KIND_DEAD] = { 0.2, 0.33, 1 },       [PASS_KIND_BYPASS] = { 0.95, 0.1, 0.3 },
    [PASS_KIND_SUBSTITUTE] = { 1, 0.02, 0.5 }, [PASS_KIND_CUT] = { 0.15, 0.25, 1 },
    [PASS_KIND_SIZES] = { 0.92, 0.33, 1 },     [PASS_KIND_CERTIFICATE] = { 0.03, 0.02, 1 },
};

/* ---- Turns ---- */

static bool copy_needed(struct needed_calls *to, const struct needed_calls *from)
{
    to->list.n = 0;
    if (!vec_reserve(&to->list, from->list.n))
        return false;
    for (size_t i = 0; i < from->list.n; i++)
        to->list.v[to->list.n++] = from->list.v[i];
    return true;
}

/* Notes what a turn begins with. A copied schedule repeats the turn from what the original noted.
 */
static bool begin_turn(struct search *search)
{
    struct schedule *schedule = search->schedule;
    struct turn_start *start = &schedule->start;
    enum pass_kind kind = schedule->turns[schedule->at].stats.pass->kind;
    search->usual = schedule->usual[kind];
    search->learning = usuals[kind].learning;
    if (schedule->in_turn)
        return true;
    if (!copy_needed(&start->needed, &search->needed)) {
        err_nomem(&search->err);
        return search_fail(search);
    }
    candidate_free(start->best);
    start->best = candidate_hold(search->best);
    start->hash = search->best_hash;
    start->size = search->best_size;
    start->accepted = search->accepted;
    start->spent = search->spent;
    start->hits = search->hits;
    schedule->in_turn = true;
    return true;
}

static bool run_turn(struct search *search, struct turn *turn)
{
    struct schedule *schedule = search->schedule;
    struct pass_stats *stats = &turn->stats;
    const struct turn_start *start = &schedule->start;
    double began = clock_seconds();
    if (!begin_turn(search))
        return false;
    search->pass = stats->pass->name;
    search_show(search, false);
    bool good = stats->pass->run(search) && !search_stops(search);
    stats->runs++;
    stats->accepted += search->accepted - start->accepted;
    stats->calls += search->spent - start->spent;
    stats->hits += search->hits - start->hits;
    stats->seconds += clock_seconds() - began;
    turn->worth = worth_of(&start->size, &search->best_size, search->spent - start->spent);
    turn->clean = good && search->accepted == start->accepted;
    turn->clean_at = search->best_hash;
    schedule->usual[stats->pass->kind] = search->usual * usuals[stats->pass->kind].again;
    schedule->in_turn = false;
    return good;
}

/* Runs the turns from schedule->at to `to`, without those that found nothing on this candidate. */
static bool run_range(struct search *search, uint32_t to)
{
    struct schedule *schedule = search->schedule;
    for (; schedule->at < to; schedule->at++) {
        struct turn *turn = &schedule->turns[schedule->at];
        bool known = turn->clean && cand_hash_eq(turn->clean_at, search->best_hash);
        if ((!known || schedule->in_turn) && !run_turn(search, turn))
            return false;
    }
    return true;
}

/* Sorts by worth with a stable insertion sort, since there are few passes. */
static void sort_by_worth(struct turn *turns, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct turn turn = turns[i];
        uint32_t at = i;
        for (; at > 0 && turns[at - 1].worth < turn.worth; at--)
            turns[at] = turns[at - 1];
        turns[at] = turn;
    }
}

/* ---- Stages ---- */

static void begin_stage(struct search *search, enum schedule_stage stage)
{
    struct schedule *schedule = search->schedule;
    schedule->stage = stage;
    schedule->at = stage == SCHEDULE_FIRST  ? 0
                   : stage == SCHEDULE_LOOP ? schedule->first_loop
                                            : schedule->end_loop;
    schedule->accepted = search->accepted;
    if (stage == SCHEDULE_LAST)
        schedule->not_told = search->not_told;
}

/* Begins the stage that follows the one that has just run. */
static void end_stage(struct search *search)
{
    struct schedule *schedule = search->schedule;
    bool found = search->accepted != schedule->accepted;
    switch (schedule->stage) {
    case SCHEDULE_FIRST: begin_stage(search, SCHEDULE_LOOP); break;
    case SCHEDULE_LOOP:
        if (found)
            sort_by_worth(schedule->turns + schedule->first_loop,
                          schedule->end_loop - schedule->first_loop);
        begin_stage(search, found ? SCHEDULE_LOOP : SCHEDULE_LAST);
        break;
    default:
        schedule->minimal =
            !found && schedule->n > schedule->end_loop && search->not_told == schedule->not_told;
        begin_stage(search, found ? SCHEDULE_LOOP : SCHEDULE_DONE);
    }
}

bool schedule_run(struct search *search)
{
    struct schedule *schedule = search->schedule;
    while (schedule->stage != SCHEDULE_DONE) {
        const uint32_t ends[] = { [SCHEDULE_FIRST] = schedule->first_loop,
                                  [SCHEDULE_LOOP] = schedule->end_loop,
                                  [SCHEDULE_LAST] = schedule->n };
        if (!run_range(search, ends[schedule->stage]))
            return false;
        end_stage(search);
    }
    return true;
}

/* ---- The value ---- */

static bool is_chosen(const struct minify_options *options, const struct pass *pass)
{
    for (uint32_t i = 0; i < options->n_passes; i++)
        if (str_is(options->passes[i], pass->name))
            return true;
    return options->n_passes == 0;
}

bool schedule_init(struct schedule *schedule, const struct minify_options *options)
{
    *schedule = (struct schedule){ .turns = calloc(n_passes + 1, sizeof *schedule->turns) };
    if (!schedule->turns)
        return false;
    for (size_t i = 0; i < n_passes; i++)
        if (is_chosen(options, &passes[i]))
            schedule->turns[schedule->n++] = (struct turn){ .stats.pass = &passes[i] };
    for (int i = 0; i < PASS_KINDS; i++)
        schedule->usual[i] = usuals[i].first;
    while (schedule->first_loop < schedule->n &&
           schedule->turns[schedule->first_loop].stats.pass->once)
        schedule->first_loop++;
    schedule->end_loop = schedule->n;
    while (schedule->end_loop > schedule->first_loop &&
           schedule->turns[schedule->end_loop - 1].stats.pass->once)
        schedule->end_loop--;
    return true;
}

bool schedule_copy(struct schedule *copy, const struct schedule *schedule)
{
    *copy = *schedule;
    copy->start.needed = (struct needed_calls){ 0 };
    copy->start.best = candidate_hold(schedule->start.best);
    copy->turns = calloc(n_passes + 1, sizeof *copy->turns);
    if (copy->turns)
        memcpy(copy->turns, schedule->turns, schedule->n * sizeof *copy->turns);
    return copy->turns && copy_needed(&copy->start.needed, &schedule->start.needed);
}

void schedule_release(struct schedule *schedule)
{
    free(schedule->turns);
    candidate_free(schedule->start.best);
    schedule->start.best = NULL;
    vec_release(&schedule->start.needed.list);
    schedule->turns = NULL;
}

bool schedule_stats(const struct schedule *schedule, struct minify_result *result)
{
    result->passes = calloc(n_passes + 1, sizeof *result->passes);
    if (!result->passes)
        return false;
    for (size_t p = 0; p < n_passes; p++)
        for (uint32_t i = 0; i < schedule->n; i++)
            if (schedule->turns[i].stats.pass == &passes[p])
                result->passes[result->n_passes++] = schedule->turns[i].stats;
    return true;
}
