#include "minify/search/search_inside.h"

/* One possible continuation of the schedule. */
struct branch {
    double chance;
    void *state; /* of the plan; owned */
    struct cand_size best;
};

struct lookahead {
    struct search *search;
    const struct search_plan *plan;
    struct search_trial trial;
    vec_of(struct branch)
    branches;
    vec_of(struct cand_hash)
    wanted;        /* the most likely needed first */
    uint64_t most; /* the greatest number of questions */
    uint32_t steps;
};

/* The limit on steps over answers that are known. */
enum { STEPS_A_WORKER = 16 };

static bool add_branch(struct lookahead *looking, const void *state, const struct cand_size *best,
                       bool yes, double chance)
{
    struct branch branch = { .chance = chance, .best = *best };
    branch.state = malloc(looking->plan->state_size);
    if (!branch.state)
        return err_nomem(&looking->search->err);
    memcpy(branch.state, state, looking->plan->state_size);
    looking->plan->tell(looking->plan, branch.state, yes);
    if (vec_push(&looking->branches, branch))
        return true;
    free(branch.state);
    return err_nomem(&looking->search->err);
}

/* Continues the current trial under either answer. */
static bool add_both(struct lookahead *looking, const void *state, const struct cand_size *if_no,
                     const struct cand_size *if_yes, double chance)
{
    double yes = looking->plan->chance(looking->plan, state);
    return add_branch(looking, state, if_no, false, chance * (1 - yes)) &&
           add_branch(looking, state, if_yes, true, chance * yes);
}

/* Returns the most likely branch; of equally likely ones, the earliest. */
static bool take_branch(struct lookahead *looking, struct branch *ret)
{
    size_t best = 0;
    if (looking->branches.n == 0)
        return false;
    for (size_t i = 1; i < looking->branches.n; i++)
        if (looking->branches.v[i].chance > looking->branches.v[best].chance)
            best = i;
    *ret = looking->branches.v[best];
    looking->branches.v[best] = looking->branches.v[--looking->branches.n];
    return true;
}

/* Returns the candidate of a trial, built once for the whole plan; the pointer is valid until the
 * next call. */
static struct built *remembered(struct lookahead *looking)
{
    struct search *search = looking->search;
    struct build_memory memory = { .trial = trial_hash(&looking->trial) };
    for (size_t i = 0; i < search->built.n; i++)
        if (search->built.v[i].trial == memory.trial)
            return &search->built.v[i].built;
    if (!search_build(search, &looking->trial, &memory.built))
        return NULL;
    if (search->built.n >= BUILT_MAX) { /* removes the oldest */
        built_release(&search->built.v[0].built);
        memmove(search->built.v, search->built.v + 1,
                (search->built.n - 1) * sizeof *search->built.v);
        search->built.n--;
    }
    if (vec_push(&search->built, memory))
        return &search->built.v[search->built.n - 1].built;
    built_release(&memory.built);
    err_nomem(&search->err);
    return NULL;
}

/* Returns whether a candidate can be asked about; one that a worker took and then had to cancel is
 * built again. */
static bool can_ask(struct lookahead *looking, struct built *built)
{
    struct search *search = looking->search;
    if (built->candidate || search_is_asking(search, built->hash))
        return true;
    return search_build(search, &looking->trial, built);
}

static bool add_wanted(struct lookahead *looking, struct cand_hash hash)
{
    for (size_t i = 0; i < looking->wanted.n; i++)
        if (cand_hash_eq(looking->wanted.v[i], hash))
            return true;
    return vec_push(&looking->wanted, hash) || err_nomem(&looking->search->err);
}

/* Follows a branch to its next question; returns false when memory ran out. */
static bool follow(struct lookahead *looking, struct branch *branch)
{
    const struct search_plan *plan = looking->plan;
    while (looking->steps-- > 0) {
        looking->trial.edits.n = 0;
        looking->trial.any_size = false;
        if (!plan->next(plan, branch->state, &looking->trial))
            return true;
        struct built *built = remembered(looking);
        if (!built)
            return false;
        bool smaller = built->valid && cand_size_compare(&built->size, &branch->best) < 0;
        const struct cand_size *if_yes = smaller ? &built->size : &branch->best;
        enum judged judged =
            search_judge(looking->search, built, looking->trial.any_size, &branch->best);
        if (judged == JUDGED_UNKNOWN && !can_ask(looking, built))
            return false;
        if (judged == JUDGED_UNKNOWN)
            return add_wanted(looking, built->hash) &&
                   add_both(looking, branch->state, &branch->best, if_yes, branch->chance);
        if (judged == JUDGED_YES)
            branch->best = *if_yes;
        plan->tell(plan, branch->state, judged == JUDGED_YES);
    }
    return true;
}

static bool find_wanted(struct lookahead *looking, const struct look *look)
{
    struct branch branch;
    bool good = add_wanted(looking, look->asked) &&
                add_both(looking, look->state, &look->size_if_no, &look->size_if_yes, 1);
    while (good && looking->wanted.n < looking->most && looking->steps < UINT32_MAX &&
           take_branch(looking, &branch)) {
        good = follow(looking, &branch);
        free(branch.state);
    }
    return good;
}

/* Returns the stored candidate of a question. */
static struct built *built_of(struct search *search, struct cand_hash hash)
{
    for (size_t i = 0; i < search->built.n; i++) {
        struct built *built = &search->built.v[i].built;
        if (built->candidate && cand_hash_eq(built->hash, hash))
            return built;
    }
    return NULL;
}

static void ask_wanted(struct lookahead *looking)
{
    struct search *search = looking->search;
    const struct search_trial ahead = { 0 };
    for (size_t i = 1; i < looking->wanted.n; i++) {
        if (search_is_asking(search, looking->wanted.v[i]))
            continue;
        struct built *built = built_of(search, looking->wanted.v[i]);
        if (built && !search_ask_ahead(search, built, &ahead, looking->wanted.v,
                                       (uint32_t)looking->wanted.n))
            break;
    }
}

bool search_look(struct search *search, void *user)
{
    const struct look *look = user;
    uint32_t n = workers_n(search->workers);
    struct lookahead looking = {
        .search = search, .plan = look->plan, .most = n, .steps = n * STEPS_A_WORKER
    };
    if (n < 2 || !look->plan)
        return true;
    bool good = find_wanted(&looking, look);
    if (good)
        ask_wanted(&looking);
    for (size_t i = 0; i < looking.branches.n; i++)
        free(looking.branches.v[i].state);
    vec_release(&looking.branches);
    vec_release(&looking.wanted);
    vec_release(&looking.trial.edits);
    return good || search_fail(search);
}
