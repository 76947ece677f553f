#include "profile/calls/dynamic/propose.h"

#include <string.h>

#include "profile/calls/dynamic/peers.h"

/* The most calls that are run for the proposal of a code object, over all sets of marks. */
enum { MOST_STEPS = 2000000, MOST_CHOICES = 12 };

struct proposer {
    struct calls_table *table;
    struct code_calls *code;
    vec_of(uint32_t)
    slots; /* that may be marked */
    uint8_t *marks;
    const uint8_t *before; /* see policy_options */
    uint64_t steps;
    uint64_t n_calls;            /* of a run, with those of peers */
    struct policy_counts counts; /* of the last run */
};

/* Takes slots away that the tape's compiles made constants although they were to be symbols:
 * mark_dynamic() would raise. */
static void leave_constants_out(const struct code_calls *code, uint8_t *open)
{
    for (size_t i = 0; i < code->entries.n; i++) {
        const struct known_entry *entry = &code->entries.v[i];
        for (size_t k = 0; k < entry->inputs.n; k++) {
            const struct known_input *input = &entry->inputs.v[k];
            for (uint32_t d = 0; d < input->n; d++) {
                if (is_made_constant(input, &entry->dims.v[input->first + d]))
                    open[code->inputs.v[input->input].first_slot + d] = 0;
            }
        }
    }
}

static bool find_slots(struct proposer *p, const uint8_t *varies)
{
    uint8_t *open = p->marks; /* not used yet */
    memcpy(open, varies, p->code->n_slots);
    leave_constants_out(p->code, open);
    for (uint32_t i = 0; i < p->code->inputs.n; i++) {
        const struct code_input *input = &p->code->inputs.v[i];
        for (uint32_t d = 0; d < input->rank; d++)
            if (open[input->first_slot + d] && !input->fixed &&
                !vec_push(&p->slots, input->first_slot + d))
                return false;
    }
    memset(p->marks, 0, p->code->n_slots);
    return true;
}

static bool run(struct proposer *p)
{
    const struct policy_options options = { .policy = CALLS_MARKED,
                                            .marks = p->marks,
                                            .before = p->before };
    p->steps += p->n_calls;
    return policy_run(p->table, p->code, &options, &p->counts, NULL);
}

static uint32_t count_bits(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static void set_marks(struct proposer *p, uint32_t mask)
{
    for (size_t i = 0; i < p->slots.n; i++)
        p->marks[p->slots.v[i]] = mask >> i & 1;
}

/* Tries all sets of marks; `best` is that of none. */
static bool try_all(struct proposer *p, struct policy_counts *best)
{
    uint32_t best_mask = 0;
    for (uint32_t mask = 1; mask < 1u << p->slots.n; mask++) {
        set_marks(p, mask);
        if (!run(p))
            return false;
        bool equal =
            !policy_counts_fewer(&p->counts, best) && !policy_counts_fewer(best, &p->counts);
        if (policy_counts_fewer(&p->counts, best) ||
            (equal && count_bits(mask) < count_bits(best_mask))) {
            *best = p->counts;
            best_mask = mask;
        }
    }
    set_marks(p, best_mask);
    return true;
}

/* Marks all, then takes marks away in ever smaller groups while that costs nothing. */
static bool take_away(struct proposer *p, struct policy_counts *best)
{
    for (size_t i = 0; i < p->slots.n; i++)
        p->marks[p->slots.v[i]] = 1;
    if (!run(p))
        return false;
    struct policy_counts all = p->counts;
    for (size_t group = p->slots.n / 2 + 1; group > 0 && p->steps < MOST_STEPS; group /= 2)
        for (size_t at = 0; at < p->slots.n && p->steps < MOST_STEPS; at += group) {
            size_t end = at + group < p->slots.n ? at + group : p->slots.n, n = 0;
            for (size_t i = at; i < end; i++)
                n += p->marks[p->slots.v[i]];
            if (!n)
                continue;
            uint8_t *before = malloc(p->code->n_slots + 1);
            if (!before)
                return false;
            memcpy(before, p->marks, p->code->n_slots);
            for (size_t i = at; i < end; i++)
                p->marks[p->slots.v[i]] = 0;
            bool ok = run(p);
            if (policy_counts_fewer(&all, &p->counts))
                memcpy(p->marks, before, p->code->n_slots);
            else
                all = p->counts;
            free(before);
            if (!ok)
                return false;
        }
    *best = all;
    return true;
}

static bool propose(struct proposer *p, const uint8_t *varies, struct proposal *ret)
{
    if (!find_slots(p, varies))
        return false;
    ret->minimal = true;
    if (!p->slots.n)
        return true;
    bool all = p->slots.n <= MOST_CHOICES && (p->n_calls << p->slots.n) <= MOST_STEPS;
    ret->minimal = all;
    return all ? try_all(p, &ret->with) : take_away(p, &ret->with);
}

bool propose_marks(struct calls_table *table, struct code_calls *code, const uint8_t *before,
                   const uint8_t *varies, const struct policy_counts *least, struct proposal *ret)
{
    struct proposer p = { .table = table, .code = code, .before = before };
    const struct peer_calls peers = peer_calls_begin(table, code, false);
    for (uint32_t i = 0; i < peers.n; i++)
        p.n_calls += peers.codes[i]->calls.n;
    *ret = (struct proposal){ .with = *least };
    p.marks = calloc(code->n_slots + 1, 1);
    bool ok = p.marks && propose(&p, varies, ret);
    if (ok && policy_counts_fewer(&ret->with, least)) {
        ret->marks = p.marks;
        p.marks = NULL;
        for (uint32_t i = 0; i < code->n_slots; i++)
            ret->n_marks += ret->marks[i];
    } else {
        ret->with = *least;
    }
    vec_release(&p.slots);
    free(p.marks);
    return ok;
}

void proposal_release(struct proposal *proposal)
{
    free(proposal->marks);
    proposal->marks = NULL;
}
