#include "profile/calls/dynamic/peers.h"

bool peers_find(struct calls_table *table)
{
    struct ring {
        uint32_t first, last, n;
    };
    vec_of(struct ring)
    rings = { 0 }; /* by name: the present one */
    struct intern names = INTERN_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < table->codes.n; i++) {
        struct code_calls *code = &table->codes.v[i];
        uint32_t name = intern(&names, table->run->codes.v[code->code].name);
        ok = name != INTERN_NONE &&
             (name < rings.n || vec_push(&rings, (struct ring){ .first = i, .last = i }));
        if (!ok)
            break;
        struct ring *ring = &rings.v[name];
        if (ring->n == MOST_PEERS)
            *ring = (struct ring){ .first = i, .last = i };
        table->codes.v[ring->last].peer = i;
        code->peer = ring->first;
        ring->last = i;
        ring->n++;
    }
    intern_release(&names);
    vec_release(&rings);
    return ok;
}

bool is_first_peer(const struct calls_table *table, const struct code_calls *code)
{
    uint32_t number = (uint32_t)(code - table->codes.v);
    for (uint32_t i = code->peer; i != number; i = table->codes.v[i].peer)
        if (i < number)
            return false;
    return true;
}

struct peer_calls peer_calls_begin(struct calls_table *table, struct code_calls *code, bool alone)
{
    struct peer_calls ret = { .n = 1, .codes = { code } };
    struct code_calls *peer = &table->codes.v[code->peer];
    for (; !alone && peer != code && ret.n < MOST_PEERS; peer = &table->codes.v[peer->peer])
        ret.codes[ret.n++] = peer;
    return ret;
}

const struct code_call *peer_calls_next(struct peer_calls *calls, uint32_t *member)
{
    const struct code_call *ret = NULL;
    for (uint32_t i = 0; i < calls->n; i++) {
        const struct code_calls *code = calls->codes[i];
        const struct code_call *next =
            calls->next[i] < code->calls.n ? &code->calls.v[calls->next[i]] : NULL;
        if (next && (!ret || next->lookup < ret->lookup)) {
            ret = next;
            *member = i;
        }
    }
    if (ret)
        calls->next[*member]++;
    return ret;
}
