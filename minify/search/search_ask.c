#include "minify/search/search_inside.h"

/* The interval in seconds at which the main thread checks whether to stop. */
#define WAIT 0.05

/* Prints edits for readers of the journal; nothing depends on it. */
static void print_edits(const struct search_trial *trial, struct buf *out)
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
    buf_clear(&task->edits);
    if (search->journal && trial)
        print_edits(trial, &task->edits);
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
    struct cached_answer *old = cache_find(&search->cache, task->hash);
    const struct cached_answer known = { .hash = task->hash,
                                         .verdict = task->answer.verdict,
                                         .attempts = task->attempts,
                                         .seconds = task->answer.seconds,
                                         .node = task->answer.node,
                                         .signature = task->answer.signature,
                                         .text = task->answer.text };
    if (!task->again)
        return cache_add(&search->cache, &known) || err_nomem(&search->err);
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

/* Processes an answer that has arrived. Returns false if the search has failed. */
static bool take_in(struct search *search, struct task *task)
{
    const struct minify_options *options = search->options;
    search->calls += task->attempts;
    search->confirming += task->again ? task->attempts : 0;
    if (is_cut_short(task))
        return true;
    if (task->answer.verdict == VERDICT_BROKEN) {
        search->err = task->answer.err;
        if (!err_is_set(&search->err))
            err_set(&search->err, ERR_ENV, "the oracle cannot run");
        return search_fail(search);
    }
    if (!write_down(search, task) || !remember_answer(search, task))
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

static struct task *find_task(struct search *search, struct cand_hash hash)
{
    for (uint32_t i = 0; i < workers_n(search->workers); i++) {
        struct task *task = workers_task(search->workers, i);
        if (workers_state(search->workers, i) != TASK_FREE && cand_hash_eq(task->hash, hash) &&
            !atomic_load(&task->cancel) && !task->again)
            return task;
    }
    return NULL;
}

bool search_is_asking(struct search *search, struct cand_hash hash)
{
    return search->workers && find_task(search, hash);
}

static struct task *free_task(struct search *search)
{
    for (uint32_t i = 0; i < workers_n(search->workers); i++)
        if (workers_state(search->workers, i) == TASK_FREE)
            return workers_task(search->workers, i);
    return NULL;
}

static bool is_wanted_hash(struct cand_hash hash, const struct cand_hash *wanted, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (cand_hash_eq(hash, wanted[i]))
            return true;
    return false;
}

/* Cancels the question that is wanted least, so that a worker becomes free, unless one is being
 * cancelled already. */
static void cancel_least_wanted(struct search *search, const struct cand_hash *wanted, uint32_t n)
{
    struct task *unwanted = NULL;
    for (uint32_t i = 0; i < workers_n(search->workers); i++) {
        struct task *task = workers_task(search->workers, i);
        if (atomic_load(&task->cancel))
            return;
        if (!is_wanted_hash(task->hash, wanted, n))
            unwanted = task;
    }
    if (unwanted)
        atomic_store(&unwanted->cancel, true);
}

bool search_ask_ahead(struct search *search, struct built *built, const struct search_trial *trial,
                      const struct cand_hash *wanted, uint32_t n_wanted)
{
    struct task *task = free_task(search);
    if (!task) {
        cancel_least_wanted(search, wanted, n_wanted);
        return false;
    }
    prepare_task(search, task, built->candidate, built->hash, trial);
    task->owned = built->candidate;
    built->candidate = NULL;
    workers_ask(search->workers, task->worker);
    return true;
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

/* Waits for one answer that is needed; borrows the candidate. */
static bool ask_worker(struct search *search, const struct built *built,
                       const struct search_trial *trial, look_ahead *ahead, void *user)
{
    for (;;) {
        if (!collect_answer(search) || search_stops(search))
            break;
        if (cache_find(&search->cache, built->hash))
            return true;
        if (!find_task(search, built->hash)) {
            struct task *task = free_task(search);
            if (task) {
                prepare_task(search, task, built->candidate, built->hash, trial);
                workers_ask(search->workers, task->worker);
            } else {
                cancel_least_wanted(search, &built->hash, 1);
            }
        }
        if (!ahead(search, user))
            break;
        search_show(search, false);
        workers_wait(search->workers, WAIT);
    }
    search_leave_off(search);
    return false;
}

bool search_ask(struct search *search, const struct built *built, const struct search_trial *trial,
                look_ahead *ahead, void *user)
{
    if (search->workers)
        return ask_worker(search, built, trial, ahead, user);
    struct task task = { 0 };
    prepare_task(search, &task, built->candidate, built->hash, trial);
    return ask_here(search, &task);
}

bool search_confirm(struct search *search, const struct candidate *candidate, struct cand_hash hash,
                    enum verdict *verdict)
{
    struct cached_answer *known = cache_find(&search->cache, hash);
    uint32_t confirmed = known ? known->confirmed : 0, doubted = known ? known->doubted : 0;
    struct task here = { 0 };
    search_leave_off(search);
    struct task *task = search->workers ? free_task(search) : &here;
    if (search_stops(search))
        return false;
    prepare_task(search, task, candidate, hash, NULL);
    task->again = true;
    task->how.clean = 1;
    if (!search->workers) {
        if (!ask_here(search, task))
            return false;
    } else {
        workers_ask(search->workers, task->worker);
        while (workers_state(search->workers, task->worker) != TASK_FREE && !search_stops(search)) {
            workers_wait(search->workers, WAIT);
            collect_answer(search);
            search_show(search, false);
        }
        search_leave_off(search);
    }
    known = cache_find(&search->cache, hash);
    if (!known || (known->confirmed == confirmed && known->doubted == doubted))
        return false;
    *verdict = known->confirmed > confirmed ? VERDICT_INTERESTING : VERDICT_BORING;
    return search->end == MINIFY_DONE;
}
