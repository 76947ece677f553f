#include <math.h>

#include "minify/search/search_inside.h"

/* The interval in seconds at which the main thread checks whether to stop. */
#define WAIT 0.05

void print_trial(const struct search_trial *trial, struct buf *out)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < trial->edits.n && i < SHOWN; i++) {
        if (i)
            buf_puts(out, "; ");
        edit_print(&trial->edits.v[i], out);
    }
    if (trial->edits.n > SHOWN)
        buf_printf(out, "; and %zu more", trial->edits.n - SHOWN);
}

static void prepare_task(struct search *search, struct task *task,
                         const struct candidate *candidate, struct cand_hash hash,
                         const struct search_trial *trial)
{
    task->candidate = candidate;
    task->hash = hash;
    task->how = search->how;
    task->call = ++search->asked;
    task->began = clock_seconds();
    buf_clear(&task->edits);
    if (search->journal && trial)
        print_trial(trial, &task->edits);
}

/* Returns whether a question took longer than it may now: it was asked in advance, before the time
 * of the first answer was known. */
static bool is_too_slow(const struct search *search, const struct task *task, double seconds)
{
    return search->calibrated && task->how.timeout > search->how.timeout &&
           seconds > search->how.timeout;
}

/* Returns whether a question was interrupted, so that its answer does not count. */
static bool is_cut_short(const struct task *task)
{
    bool cancelled = atomic_load(&task->cancel) || (task->stop && atomic_load(task->stop));
    return cancelled && task->answer.verdict != VERDICT_INTERESTING &&
           (task->answer.verdict == VERDICT_UNRESOLVED || task->attempts < task->how.clean);
}

static void store_first_answer(struct search *search, struct task *task)
{
    if (search->has_first)
        return;
    search->has_first = true;
    search->first = task->answer;
    task->answer.arena = ARENA_INIT;
}

static bool remember_answer(struct search *search, const struct task *task)
{
    struct cached_answer *old = cache_find(search->cache, task->hash);
    const struct cached_answer known = { .hash = task->hash,
                                         .verdict = task->answer.verdict,
                                         .attempts = task->attempts,
                                         .seconds = task->answer.seconds,
                                         .node = task->answer.node,
                                         .signature = task->answer.signature,
                                         .text = task->answer.text };
    if (!task->again)
        return cache_add(search->cache, &known) || err_nomem(&search->err);
    if (old)
        *(task->answer.verdict == VERDICT_INTERESTING ? &old->confirmed : &old->doubted) += 1;
    return true;
}

static bool write_down(struct search *search, const struct task *task)
{
    const struct journal_record record = { .hash = task->hash,
                                           .verdict = task->answer.verdict,
                                           .again = task->again,
                                           .attempts = task->attempts,
                                           .worker = task->worker,
                                           .seconds = task->answer.seconds,
                                           .node = task->answer.node,
                                           .edits = buf_str(&task->edits),
                                           .signature = task->answer.signature,
                                           .text = task->answer.text };
    return journal_add(search->journal, &record, search->oracle->cheap, &search->err);
}

static bool tell_belief(struct search *search, const struct task *task)
{
    enum verdict verdict = task->answer.verdict;
    if (!search->belief || task->again || verdict == VERDICT_UNRESOLVED)
        return true;
    return belief_tell(search->belief, task->candidate, verdict == VERDICT_INTERESTING) ||
           err_nomem(&search->err);
}

/* Processes an answer that has arrived. Returns false if the search has failed. */
static bool take_in(struct search *search, struct task *task)
{
    const struct minify_options *options = search->options;
    search->calls += task->attempts;
    search->changed = true;
    search->answered = clock_seconds();
    if (is_cut_short(task) || is_too_slow(search, task, task->answer.seconds))
        return true;
    /* Of two questions about one candidate, the answer that comes first is the answer. */
    task->again = cache_find(search->cache, task->hash) != NULL;
    if (task->answer.verdict == VERDICT_BROKEN) {
        search->err = task->answer.err;
        if (!err_is_set(&search->err))
            err_set(&search->err, ERR_ENV, "the oracle cannot run");
        return search_fail(search);
    }
    if (!tell_belief(search, task) || !write_down(search, task) || !remember_answer(search, task))
        return search_fail(search);
    if (task->answer.verdict == VERDICT_OTHER && options->aside)
        options->aside(options->user, task->candidate, &task->answer);
    store_first_answer(search, task);
    return true;
}

static bool ask_here(struct search *search, struct task *task)
{
    task->stop = search->options->stop;
    task_ask(task, search->oracle);
    bool good = take_in(search, task);
    bool cut = is_cut_short(task);
    task_free(task);
    return good && !(cut && search_stops(search));
}

/* ---- Workers ---- */

static bool collect_answer(struct search *search)
{
    bool good = true;
    for (uint32_t i = 0; search->workers && i < workers_n(search->workers); i++) {
        if (workers_state(search->workers, i) != TASK_DONE)
            continue;
        struct task *task = workers_task(search->workers, i);
        good = take_in(search, task) && good;
        task_free(task);
    }
    return good;
}

static struct task *find_task(struct search *search, struct cand_hash hash, bool again)
{
    for (uint32_t i = 0; i < workers_n(search->workers); i++) {
        struct task *task = workers_task(search->workers, i);
        if (workers_state(search->workers, i) != TASK_FREE && cand_hash_eq(task->hash, hash) &&
            !atomic_load(&task->cancel) && task->again == again)
            return task;
    }
    return NULL;
}

static struct task *free_task(struct search *search)
{
    for (uint32_t i = 0; i < workers_n(search->workers); i++)
        if (workers_state(search->workers, i) == TASK_FREE)
            return workers_task(search->workers, i);
    return NULL;
}

bool search_is_asking(struct search *search, const struct question_ahead *question)
{
    return find_task(search, question->hash, question->again) != NULL;
}

bool search_ask_ahead(struct search *search, struct question_ahead *question)
{
    struct task *task = free_task(search);
    if (!task)
        return false;
    prepare_task(search, task, question->candidate, question->hash, NULL);
    task->owned = question->candidate;
    task->again = question->again;
    if (task->again)
        task->how.clean = 1;
    task->edits = question->edits;
    question->edits = BUF_INIT;
    question->candidate = NULL;
    workers_ask(search->workers, task->worker);
    return true;
}

static bool is_wanted(const struct task *task, const struct question_ahead *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cand_hash_eq(task->hash, wanted[i].hash) && task->again == wanted[i].again)
            return true;
    return false;
}

void search_cancel_others(struct search *search, const struct question_ahead *wanted, size_t n,
                          size_t most)
{
    for (uint32_t i = 0; i < workers_n(search->workers) && most > 0; i++) {
        struct task *task = workers_task(search->workers, i);
        if (workers_state(search->workers, i) != TASK_ASKING)
            continue;
        if (!atomic_load(&task->cancel) && is_wanted(task, wanted, n))
            continue;
        atomic_store(&task->cancel, true);
        most--;
    }
}

void search_leave_off(struct search *search)
{
    for (;;) {
        bool busy = false;
        collect_answer(search);
        for (uint32_t i = 0; search->workers && i < workers_n(search->workers); i++) {
            if (workers_state(search->workers, i) != TASK_ASKING)
                continue;
            atomic_store(&workers_task(search->workers, i)->cancel, true);
            busy = true;
        }
        if (!busy)
            break;
        workers_wait(search->workers, WAIT);
    }
    collect_answer(search);
}

/* Begins the question that is needed, if it is not being asked and a worker is free. Borrows the
 * candidate. */
static void ask_needed(struct search *search, const struct built *built,
                       const struct search_trial *trial)
{
    struct task *task = find_task(search, built->result.hash, false);
    if (task && workers_state(search->workers, task->worker) == TASK_ASKING &&
        is_too_slow(search, task, clock_seconds() - task->began))
        atomic_store(&task->cancel, true); /* and is asked again, for the time that it may take */
    if (task || !(task = free_task(search)))
        return;
    prepare_task(search, task, built->candidate, built->result.hash, trial);
    workers_ask(search->workers, task->worker);
}

static bool is_busy(struct search *search)
{
    for (uint32_t i = 0; i < workers_n(search->workers); i++)
        if (workers_state(search->workers, i) != TASK_FREE)
            return true;
    return false;
}

/* Questions that began together mostly end together: after an answer, waits for a small share of
 * the time that a question takes, so that what is asked in advance depends on all of them. */
static bool gather_answers(struct search *search)
{
    const double share = 0.02, most = 0.02;
    double rest, grace = fmin(share * search->first.seconds, most);
    while ((rest = search->answered + grace - clock_seconds()) > 0 && is_busy(search)) {
        workers_wait(search->workers, rest);
        if (!collect_answer(search))
            return false;
    }
    return true;
}

/* Waits for one answer that is needed. */
static bool ask_worker(struct search *search, const struct built *built,
                       const struct search_trial *trial)
{
    search->changed = true;
    for (;;) {
        if (!collect_answer(search) || search_stops(search))
            break;
        if (cache_find(search->cache, built->result.hash))
            return true;
        ask_needed(search, built, trial);
        if (search->changed && !gather_answers(search))
            break;
        if (cache_find(search->cache, built->result.hash))
            return true;
        if (search->changed && !forecast_ask(search))
            break;
        search_show(search, false);
        workers_wait(search->workers, WAIT);
    }
    search_leave_off(search);
    return false;
}

bool search_ask(struct search *search, const struct built *built, const struct search_trial *trial)
{
    if (search->workers)
        return ask_worker(search, built, trial);
    struct task task = { 0 };
    prepare_task(search, &task, built->candidate, built->result.hash, trial);
    return ask_here(search, &task);
}

static void prepare_again(struct search *search, struct task *task)
{
    prepare_task(search, task, search->best, search->best_hash, NULL);
    task->again = true;
    task->how.clean = 1;
}

static uint32_t n_again(const struct search *search)
{
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    return known->confirmed + known->doubted;
}

/* Begins as many of the remaining questions as workers are free; returns how many are asked. */
static uint32_t begin_again(struct search *search, uint32_t remaining)
{
    uint32_t asking = 0;
    for (uint32_t i = 0; i < workers_n(search->workers); i++) {
        struct task *task = workers_task(search->workers, i);
        enum task_state state = workers_state(search->workers, i);
        bool same = cand_hash_eq(task->hash, search->best_hash) && task->again;
        if (state == TASK_FREE && asking < remaining) {
            prepare_again(search, task);
            workers_ask(search->workers, i);
            asking++;
        } else if (state != TASK_FREE && same) {
            asking++;
        } else if (state == TASK_ASKING) {
            atomic_store(&task->cancel, true);
        }
    }
    return asking;
}

static bool confirm_by_workers(struct search *search, uint32_t until)
{
    while (n_again(search) < until) {
        if (!collect_answer(search) || search_stops(search)) {
            search_leave_off(search);
            return false;
        }
        uint32_t asked = n_again(search);
        if (asked >= until)
            break;
        begin_again(search, until - asked);
        search_show(search, false);
        workers_wait(search->workers, WAIT);
    }
    search_leave_off(search);
    return true;
}

bool search_confirm(struct search *search, uint32_t times)
{
    uint32_t until;
    if (search->forecast)
        return forecast_confirm(search);
    until = n_again(search) + times;
    search->confirming += times;
    if (search->workers)
        return confirm_by_workers(search, until) && search->end == MINIFY_DONE;
    while (n_again(search) < until) {
        struct task task = { 0 };
        prepare_again(search, &task);
        if (search_stops(search) || !ask_here(search, &task))
            return false;
    }
    return search->end == MINIFY_DONE;
}
