#include "minify/search/schedule.h"

#include "minify/search/search_inside.h"

/* The state of a pass while passes repeat until none finds anything. */
struct turn {
    struct pass_stats *stats;
    bool clean; /* its last run, on clean_at, found nothing */
    struct cand_hash clean_at;
    double worth; /* the reduction per oracle call of its last run, which determines the order */
};

struct schedule {
    struct search *search;
    struct turn *turns;
    uint32_t n, first_loop, end_loop; /* [first_loop, end_loop) run until none finds anything */
};

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

static bool run_turn(struct search *search, struct turn *turn)
{
    struct pass_stats *stats = turn->stats;
    uint64_t accepted = search->accepted, spent = search->spent, hits = search->hits;
    struct cand_size before = search->best_size;
    double began = clock_seconds();
    search->pass = stats->pass->name;
    search_show(search, false);
    bool good = stats->pass->run(search) && !search_stops(search);
    stats->runs++;
    stats->accepted += search->accepted - accepted;
    stats->calls += search->spent - spent;
    stats->hits += search->hits - hits;
    stats->seconds += clock_seconds() - began;
    turn->worth = worth_of(&before, &search->best_size, search->spent - spent);
    turn->clean = good && search->accepted == accepted;
    turn->clean_at = search->best_hash;
    return good;
}

static bool run_range(struct schedule *schedule, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!(schedule->turns[i].clean &&
              cand_hash_eq(schedule->turns[i].clean_at, schedule->search->best_hash)) &&
            !run_turn(schedule->search, &schedule->turns[i]))
            return false;
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

static bool run_passes_to_fixpoint(struct schedule *schedule)
{
    struct turn *turns = schedule->turns + schedule->first_loop;
    uint32_t n = schedule->end_loop - schedule->first_loop;
    for (;;) {
        uint64_t accepted = schedule->search->accepted;
        if (!run_range(schedule, schedule->first_loop, schedule->end_loop))
            return false;
        if (schedule->search->accepted == accepted)
            return true;
        sort_by_worth(turns, n);
    }
}

static bool run_all_passes(struct schedule *schedule, struct minify_result *result)
{
    struct search *search = schedule->search;
    if (!run_range(schedule, 0, schedule->first_loop))
        return false;
    for (;;) {
        if (!run_passes_to_fixpoint(schedule))
            return false;
        uint64_t accepted = search->accepted, not_told = search->not_told;
        if (!run_range(schedule, schedule->end_loop, schedule->n))
            return false;
        if (search->accepted != accepted)
            continue;
        result->minimal = schedule->n > schedule->end_loop && search->not_told == not_told;
        return true;
    }
}

static bool is_chosen(const struct minify_options *options, const struct pass *pass)
{
    for (uint32_t i = 0; i < options->n_passes; i++)
        if (str_is(options->passes[i], pass->name))
            return true;
    return options->n_passes == 0;
}

static void fill_schedule(struct schedule *schedule, struct minify_result *result)
{
    for (size_t i = 0; i < n_passes; i++) {
        if (!is_chosen(schedule->search->options, &passes[i]))
            continue;
        result->passes[result->n_passes].pass = &passes[i];
        schedule->turns[schedule->n++].stats = &result->passes[result->n_passes++];
    }
    while (schedule->first_loop < schedule->n &&
           schedule->turns[schedule->first_loop].stats->pass->once)
        schedule->first_loop++;
    schedule->end_loop = schedule->n;
    while (schedule->end_loop > schedule->first_loop &&
           schedule->turns[schedule->end_loop - 1].stats->pass->once)
        schedule->end_loop--;
}

bool schedule_run(struct search *search, struct minify_result *result)
{
    struct schedule schedule = { .search = search };
    result->passes = calloc(n_passes + 1, sizeof *result->passes);
    schedule.turns = calloc(n_passes + 1, sizeof *schedule.turns);
    bool good = result->passes && schedule.turns;
    if (good) {
        fill_schedule(&schedule, result);
        good = run_all_passes(&schedule, result);
    } else {
        err_nomem(&search->err);
        search_fail(search);
    }
    free(schedule.turns);
    return good;
}
