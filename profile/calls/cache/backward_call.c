#include "profile/calls/cache/cache_builder.h"

static uint32_t number_hash(uint64_t number)
{
    return (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32);
}

/* Returns the forward of the call with this number, or NULL. */
static const struct forward_call *find_forward(const struct cache_builder *b, uint64_t number)
{
    uint32_t row, hash = number_hash(number);
    for (size_t at = hash_index_start(&b->forward_index, hash);
         hash_index_next(&b->forward_index, hash, &at, &row);)
        if (b->forwards.v[row].number == number)
            return &b->forwards.v[row];
    return NULL;
}

/* Adds what a look-up says of the entry that the backward of its call belongs to. */
static void add_look_up(struct forward_call *forward, const struct cache_run *run, uint32_t id)
{
    const struct lookup_row *look = &run->lookups.v[id];
    forward->is_unknown |= look->outcome == LOOKUP_UNKNOWN;
    if (look->answered == CALL_NONE)
        return;
    /* A call inside of which several entries answer has a backward for each of them. */
    forward->is_unknown |= forward->entry != CALL_NONE;
    forward->entry = look->answered;
    forward->look = id;
}

/* Adds the calls that were looked up since; most lists have no backward. */
static bool add_forwards(struct cache_builder *b)
{
    while (b->n_forwards < b->run->lookups.n) {
        const struct lookup_row *look = &b->run->lookups.v[b->n_forwards];
        const struct program_call *call = &b->log->calls.v[look->call];
        struct forward_call forward = { .number = call->number,
                                        .first = (uint32_t)b->n_forwards,
                                        .entry = CALL_NONE,
                                        .look = CALL_NONE };
        do
            add_look_up(&forward, b->run, (uint32_t)b->n_forwards++);
        while (b->n_forwards < b->run->lookups.n &&
               b->log->calls.v[b->run->lookups.v[b->n_forwards].call].inside);
        forward.n = (uint32_t)b->n_forwards - forward.first;
        if (find_forward(b, forward.number))
            continue; /* the list has another call with this number */
        if (!hash_index_reserve(&b->forward_index, 1) || !vec_push(&b->forwards, forward))
            return false;
        hash_index_add(&b->forward_index, number_hash(forward.number), (uint32_t)b->forwards.n - 1);
    }
    return true;
}

static void count(struct lookup_totals *totals, const struct backward_row *row)
{
    totals->lookups++;
    totals->hits += row->outcome == LOOKUP_HIT;
    totals->compiles += row->outcome == LOOKUP_COMPILED;
    totals->eager += row->outcome == LOOKUP_EAGER;
    totals->unknown += row->outcome == LOOKUP_UNKNOWN;
    totals->compile_seconds += row->seconds;
}

/* Runs the backward of an entry. */
static void run_backward(struct cache_entry *entry, struct backward_row *row)
{
    bool compiles = entry->lazy_backward && !entry->backward_ran;
    /* Whether an assumed entry has symbols is not known. */
    row->outcome = entry->assumed_from.n ? LOOKUP_UNKNOWN : compiles ? LOOKUP_COMPILED : LOOKUP_HIT;
    row->seconds = compiles ? entry->backward_seconds : 0;
    entry->backward_ran = true;
}

bool cache_backward_call(struct cache_builder *b, uint32_t number)
{
    struct backward_row row = { number, LOOKUP_UNKNOWN, CALL_NONE, CALL_NONE, 0 };
    if (!add_forwards(b))
        return err_nomem(b->err);
    const struct program_call *call = &b->log->calls.v[number];
    const struct forward_call *forward = find_forward(b, (uint64_t)call->backward_of);
    struct forward_call one = { .entry = CALL_NONE, .look = CALL_NONE };
    if (forward && call->look >= 0 && call->look < forward->n) {
        add_look_up(&one, b->run, forward->first + (uint32_t)call->look);
        forward = &one;
    }
    if (forward && !forward->is_unknown) {
        row.entry = forward->entry;
        row.look = forward->look;
        row.outcome = LOOKUP_EAGER;
        if (row.entry != CALL_NONE)
            run_backward(&b->run->entries.v[row.entry], &row);
    }
    count(&b->run->backward, &row);
    return vec_push(&b->run->backwards, row) || err_nomem(b->err);
}
