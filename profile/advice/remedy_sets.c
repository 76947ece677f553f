#include <stdlib.h>

#include "profile/advice/advice_build.h"

/* Each set that is tried replays all calls. */
enum { MOST_TRIED = 96, MOST_REMEDIES = 16 };

/* Some of the proved remedies, and what there is with them. */
struct remedy_set {
    uint32_t items[MOST_REMEDIES]; /* in advice->items */
    uint32_t n;
    struct advice_counts after;
    struct plan_run_time run;
};

struct set_search {
    struct advice_build *b;
    uint32_t proved[MOST_REMEDIES]; /* in advice->items, the one that saves most first */
    uint32_t n_proved;
    struct remedy_set most; /* what saves most, as far as it is known */
    struct remedy_set
        best; /* of those of the present size that save as much; n is 0: there is none */
    uint32_t n_tried;
};

/* ---- What a set does ---- */

/* Replays the calls with all remedies of a set. *known is false if what they do is not known. */
static bool run_set(struct advice_build *b, struct remedy_set *set, struct call_plan *plan,
                    bool *known)
{
    const char *why = NULL;
    *plan = (struct call_plan){ 0 };
    *known = true;
    for (uint32_t i = 0; i < set->n && *known; i++) {
        const struct call_plan *item = &b->advice->items[set->items[i]].plan;
        *known = !call_plan_excludes(plan, item);
        if (*known && !call_plan_merge(plan, item))
            return err_nomem(b->err);
    }
    if (!*known)
        return true;
    if (!advice_run_plan(b, plan, &set->after, &set->run, &why))
        return false;
    *known = !why;
    return true;
}

static bool try_set(struct advice_build *b, struct remedy_set *set, bool *known)
{
    struct call_plan plan;
    bool ok = run_set(b, set, &plan, known);
    call_plan_release(&plan);
    return ok;
}

/* Returns whether a set saves what another one saves. Its time may be a fiftieth of that less:
 * times are estimated. */
static bool saves_as_much(const struct advice *advice, const struct remedy_set *set,
                          const struct remedy_set *other)
{
    const struct advice_counts *a = &set->after, *b = &other->after;
    double saved = advice->recorded.seconds - a->seconds;
    double most = advice->recorded.seconds - b->seconds;
    return a->failures <= b->failures && a->eager <= b->eager && a->compiles <= b->compiles &&
           a->attempts <= b->attempts && a->breaks <= b->breaks && saved >= most * 0.98 &&
           advice_is_gain(&advice->recorded, NULL, a, &set->run);
}

/* ---- What saves most ---- */

/* Returns the chosen item that saves most of those that were not tried; NULL at the end. */
static struct advice_item *next_best(struct advice *advice, const bool *tried)
{
    struct advice_item *ret = NULL;
    for (uint32_t i = 0; i < advice->n_items; i++) {
        struct advice_item *item = &advice->items[i];
        if (item->chosen && !tried[i] && (!ret || advice_is_better(&item->after, &ret->after)))
            ret = item;
    }
    return ret;
}

/* Takes the chosen items, the one that saves most first, as long as each saves more. */
static bool find_most(struct set_search *s)
{
    struct advice *advice = s->b->advice;
    const struct advice_item *item;
    bool *tried = calloc((size_t)advice->n_items + 1, sizeof *tried), ok = tried != NULL, known;
    s->most = (struct remedy_set){ .after = advice->recorded };
    if (!tried)
        return err_nomem(s->b->err);
    while (ok && s->most.n < MOST_REMEDIES && (item = next_best(advice, tried)) != NULL) {
        struct remedy_set with = s->most;
        tried[item - advice->items] = true;
        with.items[with.n++] = (uint32_t)(item - advice->items);
        ok = try_set(s->b, &with, &known);
        if (ok && known && advice_is_gain(&s->most.after, &s->most.run, &with.after, &with.run))
            s->most = with;
    }
    free(tried);
    return ok;
}

/* ---- Fewer that save as much ---- */

/* Lists proved items, those that save most first. */
static void list_proved(struct set_search *s)
{
    const struct advice *advice = s->b->advice;
    for (uint32_t i = 0; i < advice->n_items; i++) {
        const struct advice_item *item = &advice->items[i];
        uint32_t at = s->n_proved;
        if (item->verdict != ADVICE_PROVED)
            continue;
        while (at && advice_is_better(&item->after, &advice->items[s->proved[at - 1]].after))
            at--;
        if (at == MOST_REMEDIES)
            continue;
        uint32_t end = s->n_proved < MOST_REMEDIES ? s->n_proved++ : MOST_REMEDIES - 1;
        for (; end > at; end--)
            s->proved[end] = s->proved[end - 1];
        s->proved[at] = i;
    }
}

static bool consider(struct set_search *s, struct remedy_set *set)
{
    bool known = false;
    s->n_tried++;
    if (!try_set(s->b, set, &known))
        return false;
    if (known && saves_as_much(s->b->advice, set, &s->most) &&
        (!s->best.n || advice_is_better(&set->after, &s->best.after)))
        s->best = *set;
    return true;
}

/* Sets `at` to the next combination of numbers below n; false at the end. */
static bool next_combination(uint32_t *at, uint32_t k, uint32_t n)
{
    uint32_t i = k;
    while (i && at[i - 1] == n - k + i - 1)
        i--;
    if (!i)
        return false;
    at[i - 1]++;
    for (; i < k; i++)
        at[i] = at[i - 1] + 1;
    return true;
}

/* Tries the sets of one size. */
static bool try_size(struct set_search *s, uint32_t size)
{
    uint32_t at[MOST_REMEDIES];
    bool ok = true;
    for (uint32_t i = 0; i < size; i++)
        at[i] = i;
    do {
        struct remedy_set set = { .n = size };
        for (uint32_t i = 0; i < size; i++)
            set.items[i] = s->proved[at[i]];
        ok = consider(s, &set);
    } while (ok && s->n_tried < MOST_TRIED && next_combination(at, size, s->n_proved));
    return ok;
}

/* Leaves out each remedy without which the others save as much. */
static bool leave_out(struct set_search *s)
{
    for (uint32_t i = 0; i < s->most.n && s->most.n > 1;) {
        struct remedy_set without = s->most;
        bool known = false;
        for (uint32_t k = i; k + 1 < without.n; k++)
            without.items[k] = without.items[k + 1];
        without.n--;
        if (!try_set(s->b, &without, &known))
            return false;
        if (known && saves_as_much(s->b->advice, &without, &s->most))
            s->most = without;
        else
            i++;
    }
    return true;
}

static bool find_fewest(struct set_search *s)
{
    if (!leave_out(s))
        return false;
    list_proved(s);
    for (uint32_t size = 1; size < s->most.n && size <= s->n_proved; size++) {
        if (!try_size(s, size))
            return false;
        if (s->best.n) {
            s->most = s->best;
            return true;
        }
        if (s->n_tried >= MOST_TRIED)
            break;
    }
    return true;
}

/* ---- Their order ---- */

static void sort_set(const struct advice *advice, struct remedy_set *set)
{
    for (uint32_t i = 1; i < set->n; i++) {
        uint32_t item = set->items[i], k = i;
        for (; k && advice_is_better(&advice->items[item].after,
                                     &advice->items[set->items[k - 1]].after);
             k--)
            set->items[k] = set->items[k - 1];
        set->items[k] = item;
    }
}

/* Notes what there is with the first remedy, the first two and so on. */
static bool note_steps(struct advice_build *b, const struct remedy_set *set)
{
    struct advice *advice = b->advice;
    for (uint32_t i = 0; i < set->n; i++) {
        struct remedy_set first = *set;
        bool known = false;
        first.n = i + 1;
        call_plan_release(&advice->plan);
        if (!run_set(b, &first, &advice->plan, &known))
            return false;
        advice->together[advice->n_together++] =
            (struct advice_step){ .item = set->items[i], .after = first.after, .run = first.run };
    }
    return true;
}

bool remedy_sets_choose(struct advice_build *b)
{
    struct set_search search = { .b = b };
    if (!find_most(&search) || !find_fewest(&search))
        return false;
    sort_set(b->advice, &search.most);
    return note_steps(b, &search.most);
}
