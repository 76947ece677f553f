/* substitute: replaces a value by anything that it was computed from, of whatever size, and removes
 * the calls between them that nothing else uses. Sizes behind it are computed anew; the engine
 * refuses, before anything is asked, what a later call does not accept.
 *
 * Each call has a probability of being needed. The next replacement is the one that removes most
 * calls, weighed by the probability that none of them is needed; after a refusal these are raised
 * so that they explain it (probabilistic delta debugging).
 *
 * pairs: two such replacements together, if the engine refuses each of them alone: one changes
 * sizes, and the other one removes what they do not fit. */
#include <math.h>
#include <stdlib.h>

#include "minify/passes/pass_edits.h"

enum {
    VALUES_MAX = 400,     /* of larger graphs, only values near the end are replaced */
    LOOKED_MAX = 1 << 18, /* references that are looked at for a value, about: of more values that
                             it was computed from, each second one or fewer are taken */
    WALKED_MAX = 50000,   /* nodes of the graphs that the engine refuses, until the pass ends */
    FAR_CALLS_MAX = 16,   /* the certificate of a larger graph asks about arguments only */
};

/* A replacement, and what it removes. */
struct replacement {
    node_id of, by;
    double gain;       /* at most this */
    uint32_t n_before; /* refusals before it was weighed: without more, the gain is exact */
};

/* The probabilities that calls are needed, by their names. */
struct learned {
    struct intern names;
    vec_of(double)
    needed; /* by the number of a name */
};

struct substitution {
    const struct graph *graph;
    uint32_t *uses;     /* by node */
    uint32_t *left;     /* the same, except while a replacement is looked at: those left after it */
    bool *ancestor;     /* by node, of one value */
    double *needed;     /* by node: probability */
    node_id *removed;   /* nodes that one replacement removes */
    uint32_t n_removed; /* of those, the first is the replaced one */
    uint32_t n_walked;  /* nodes of what the engine refused */
    uint32_t n_refused; /* replacements that the oracle refused */
    vec_of(struct replacement)
    list; /* a heap: none has more gain than the one above it */
    bool failed;
};

static bool begin_substitution(struct substitution *s, const struct graph *graph)
{
    size_t n = (size_t)graph->n_nodes + 1;
    *s = (struct substitution){ .graph = graph };
    s->uses = count_node_uses(graph);
    s->left = calloc(n, sizeof *s->left);
    s->ancestor = calloc(n, sizeof *s->ancestor);
    s->needed = calloc(n, sizeof *s->needed);
    s->removed = calloc(n, sizeof *s->removed);
    bool ok = s->uses && s->left && s->ancestor && s->needed && s->removed;
    if (ok)
        memcpy(s->left, s->uses, graph->n_nodes * sizeof *s->left);
    return ok;
}

static void end_substitution(struct substitution *s)
{
    free(s->uses);
    free(s->left);
    free(s->ancestor);
    free(s->needed);
    free(s->removed);
    vec_release(&s->list);
}

/* ---- What a replacement removes ---- */

static void release_use(void *user, node_id id)
{
    struct substitution *s = user;
    if (--s->left[id] == 0 && node_is_call(&s->graph->nodes[id]) &&
        !node_writes(s->graph, &s->graph->nodes[id]))
        s->removed[s->n_removed++] = id;
}

static void restore_use(void *user, node_id id)
{
    struct substitution *s = user;
    s->left[id]++;
}

/* Lists the calls that nothing uses when `by` stands in for `of`, up to one that is needed. */
static void list_removed(struct substitution *s, node_id of, node_id by)
{
    s->left[by] += s->uses[of];
    s->left[of] = 0;
    s->removed[0] = of;
    s->n_removed = 1;
    uint32_t n = 0;
    while (n < s->n_removed && s->needed[s->removed[n]] < 1)
        node_references(s->graph, &s->graph->nodes[s->removed[n++]], release_use, s);
    for (uint32_t i = 0; i < n; i++)
        node_references(s->graph, &s->graph->nodes[s->removed[i]], restore_use, s);
    s->left[by] -= s->uses[of];
    s->left[of] = s->uses[of];
}

/* Returns the probability that none of the removed calls is needed. */
static double chance_left(const struct substitution *s)
{
    double chance = 1;
    for (uint32_t i = 0; i < s->n_removed; i++)
        chance *= 1 - s->needed[s->removed[i]];
    return chance;
}

static double chance_of(struct substitution *s, const struct replacement *r)
{
    list_removed(s, r->of, r->by);
    return chance_left(s);
}

/* Returns the number of calls that are removed, weighed by the probability that none is needed. */
static double gain_of(const struct substitution *s)
{
    uint32_t whole = 0;
    for (uint32_t i = 0; i < s->n_removed; i++)
        whole += is_whole_call(s->graph, s->removed[i]);
    return chance_left(s) * ((double)whole + 1e-3);
}

/* ---- All replacements ---- */

static void mark_ancestor(void *user, node_id id)
{
    bool *ancestor = user;
    ancestor[id] = true;
}

/* Finds what a value was computed from, or only its arguments. */
static void find_ancestors(struct substitution *s, node_id of, bool far)
{
    memset(s->ancestor, 0, s->graph->n_nodes * sizeof *s->ancestor);
    node_references(s->graph, &s->graph->nodes[of], mark_ancestor, s->ancestor);
    for (node_id id = of; far && id-- > 0;)
        if (s->ancestor[id])
            node_references(s->graph, &s->graph->nodes[id], mark_ancestor, s->ancestor);
}

static bool may_be_replaced(const struct graph *graph, node_id id)
{
    return node_is_call(&graph->nodes[id]) && node_is_value(graph, &graph->nodes[id]) &&
           !node_writes(graph, &graph->nodes[id]);
}

static bool may_stand_in(const struct substitution *s, node_id by)
{
    return s->ancestor[by] && node_is_value(s->graph, &s->graph->nodes[by]);
}

/* Returns of how many values that one was computed from one is taken, so that the time is bounded:
 * a replacement removes at most what comes before. */
static uint32_t stride_of(const struct substitution *s, node_id of)
{
    double references = 1 + (double)s->graph->n_args / s->graph->n_nodes, looked = 0;
    for (node_id by = 0; by < of; by++)
        looked += may_stand_in(s, by) ? of * references : 0;
    double stride = 1 + floor(looked / LOOKED_MAX);
    return stride < UINT32_MAX ? (uint32_t)stride : UINT32_MAX;
}

static void add_replacements(struct substitution *s, node_id of, bool far)
{
    find_ancestors(s, of, far);
    uint32_t n = 0, stride = stride_of(s, of);
    for (node_id by = of; by-- > 0;) {
        if (!may_stand_in(s, by) || n++ % stride)
            continue;
        list_removed(s, of, by);
        struct replacement r = { of, by, gain_of(s), 0 };
        if (r.gain > 0 && !vec_push(&s->list, r))
            s->failed = true;
    }
}

static void list_replacements(struct substitution *s, bool far)
{
    uint32_t n = 0;
    s->list.n = 0;
    for (node_id id = s->graph->n_nodes; id-- > 0 && n < VALUES_MAX;)
        if (may_be_replaced(s->graph, id)) {
            add_replacements(s, id, far);
            n++;
        }
}

static int by_gain(const void *a, const void *b)
{
    const struct replacement *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->of != y->of)
        return x->of > y->of ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by;
}

/* Sorts the list, best first: such a list is a heap. */
static void rank(struct substitution *s)
{
    if (s->list.n)
        qsort(s->list.v, s->list.n, sizeof *s->list.v, by_gain);
}

/* Returns the edit of a replacement: a bypass if the metas are equal. */
static struct edit edit_of(const struct graph *graph, const struct replacement *r)
{
    bool equal = graph->nodes[r->of].meta == graph->nodes[r->by].meta;
    return (struct edit){ equal ? EDIT_BYPASS : EDIT_SUBSTITUTE, r->of, r->by, 0 };
}

static void add_replacement(const struct graph *graph, const struct replacement *r,
                            struct edits *edits)
{
    const struct edit edit = edit_of(graph, r);
    edits_propose(edits);
    edits_add(edits, edit.kind, edit.a, edit.b, 0);
}

/* ---- The pass ---- */

/* Returns whether a replacement is valid and smaller, or sets s->failed. */
static bool is_possible(struct substitution *s, struct search *search, const struct replacement *r)
{
    bool fits = false;
    const struct edit edit = edit_of(s->graph, r);
    s->failed |= !search_fits(search, &edit, 1, &fits, NULL);
    return fits;
}

/* The replacement was refused: one of the calls that it removes is needed. */
static void learn(struct substitution *s, struct search *search, const struct replacement *r)
{
    double chance = 1;
    list_removed(s, r->of, r->by);
    for (uint32_t i = 0; i < s->n_removed; i++)
        chance *= 1 - s->needed[s->removed[i]];
    for (uint32_t i = 0; i < s->n_removed; i++) {
        double *p = &s->needed[s->removed[i]];
        *p = chance < 1 ? fmin(1, *p / (1 - chance)) : 1;
        if (*p > 0.999 && s->n_removed == 1) {
            search_note_needed(search, s->graph->nodes[s->removed[i]].name, NEEDED_CALL);
        }
    }
}

/* Returns the probability that earlier refusals left for a call of that name. */
static double recall_needed(const struct learned *learned, struct str name, double otherwise)
{
    uint32_t number = intern_find(&learned->names, name);
    return number == INTERN_NONE ? otherwise : learned->needed.v[number];
}

static void guess_needed(struct substitution *s, const struct search *search,
                         const struct learned *learned)
{
    const double likely = 0.9;
    const struct graph *graph = s->graph;
    node_id first, last;
    double n = (double)candidate_size(search_best(search)).part[SIZE_CALLS];
    find_ends(graph, &first, &last);
    for (node_id id = 0; id < graph->n_nodes; id++) {
        struct str name = graph->nodes[id].name;
        if (search_is_needed(search, name, NEEDED_CALL))
            s->needed[id] = 1;
        else if (is_whole_call(graph, id))
            s->needed[id] =
                recall_needed(learned, name, id == first || id == last ? likely : 1 / (n + 1));
    }
}

static void learned_release(struct learned *learned)
{
    intern_release(&learned->names);
    learned->names = INTERN_INIT;
    vec_release(&learned->needed);
}

static void keep_learned(struct substitution *s, struct learned *learned)
{
    learned_release(learned);
    for (node_id id = 0; id < s->graph->n_nodes && !s->failed; id++) {
        if (!is_whole_call(s->graph, id))
            continue;
        uint32_t number = intern(&learned->names, s->graph->nodes[id].name);
        s->failed = number == INTERN_NONE ||
                    (number == learned->needed.n && !vec_push(&learned->needed, s->needed[id]));
    }
    if (s->failed)
        learned_release(learned);
}

/* Moves the top of the heap, whose gain is less than it was, to its place. */
static void sift_down(struct substitution *s)
{
    struct replacement moved = s->list.v[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->list.n; at = child) {
        child += child + 1 < s->list.n && by_gain(&s->list.v[child + 1], &s->list.v[child]) < 0;
        if (by_gain(&moved, &s->list.v[child]) < 0)
            break;
        s->list.v[at] = s->list.v[child];
    }
    s->list.v[at] = moved;
}

static void remove_top(struct substitution *s)
{
    s->list.v[0] = s->list.v[--s->list.n];
    if (s->list.n)
        sift_down(s);
}

/* Makes the top of the heap the replacement that has the greatest gain now. A refusal lowers gains
 * and raises none, so that only what comes to the top is weighed again. */
static void weigh_top(struct substitution *s)
{
    while (s->list.n && s->list.v[0].n_before != s->n_refused) {
        struct replacement *top = &s->list.v[0];
        list_removed(s, top->of, top->by);
        top->gain = gain_of(s);
        top->n_before = s->n_refused;
        if (top->gain > 1e-9)
            sift_down(s);
        else
            remove_top(s);
    }
}

/* Removes the best possible replacement from the heap. Returns false if there is none. */
static bool take_best(struct substitution *s, struct search *search, struct replacement *ret)
{
    for (weigh_top(s); s->list.n && s->n_walked < WALKED_MAX; weigh_top(s)) {
        *ret = s->list.v[0];
        remove_top(s);
        bool possible = is_possible(s, search, ret);
        if (possible || s->failed)
            return possible && !s->failed;
        s->n_walked += s->graph->n_nodes;
    }
    return false;
}

/* Tries the replacements in the order of their gain until one is accepted. */
static bool replace_one(struct search *search, struct substitution *s, struct learned *learned,
                        bool *accepted)
{
    struct replacement r;
    guess_needed(s, search, learned);
    list_replacements(s, true);
    rank(s);
    *accepted = false;
    while (!*accepted && take_best(s, search, &r)) {
        struct edits edits = { .failed = false };
        add_replacement(s->graph, &r, &edits);
        keep_learned(s, learned);
        search_expect(search, chance_of(s, &r));
        if (!edits_try(search, &edits, accepted))
            return false;
        if (!*accepted) {
            learn(s, search, &r);
            s->n_refused++;
        }
    }
    return true;
}

bool pass_substitute(struct search *search)
{
    bool accepted = true, good = true;
    struct learned learned = { 0 };
    while (accepted && good) {
        struct substitution s;
        struct edits none = { .failed = true };
        good = begin_substitution(&s, search_best(search)->graph);
        if (good)
            good = replace_one(search, &s, &learned, &accepted);
        else
            s.failed = true;
        if (s.failed)
            good = edits_try(search, &none, NULL);
        end_substitution(&s);
    }
    learned_release(&learned);
    return good;
}

/* ---- Two together ---- */

enum {
    PAIRED_CALLS_MAX = 16, /* larger graphs have too many pairs */
    PAIRED_MAX = 96,       /* replacements that are paired */
    PAIRS_ASKED_MAX = 12,
};

struct replacement_pair {
    const struct replacement *a, *b;
    uint64_t calls; /* that are left */
};

/* Keeps the replacements that the engine refuses: those that it accepts were asked about. */
static void keep_impossible(struct substitution *s, struct search *search)
{
    size_t n = 0;
    for (size_t i = 0; i < s->list.n && n < PAIRED_MAX && !s->failed; i++)
        if (!is_possible(s, search, &s->list.v[i]))
            s->list.v[n++] = s->list.v[i];
    s->list.n = n;
}

/* Adds a pair to the best ones, which leave the fewest calls. */
static uint32_t insert_pair(struct replacement_pair *pairs, uint32_t n,
                            struct replacement_pair pair)
{
    uint32_t at = n < PAIRS_ASKED_MAX ? n++ : PAIRS_ASKED_MAX;
    for (; at > 0 && pairs[at - 1].calls > pair.calls; at--)
        if (at < PAIRS_ASKED_MAX)
            pairs[at] = pairs[at - 1];
    if (at < PAIRS_ASKED_MAX)
        pairs[at] = pair;
    return n;
}

static uint32_t find_pairs(struct substitution *s, struct search *search,
                           struct replacement_pair *pairs)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->list.n; i++)
        for (size_t j = 0; j < i && !s->failed; j++) {
            struct replacement_pair pair = { &s->list.v[i], &s->list.v[j], 0 };
            const struct edit edits[] = { edit_of(s->graph, pair.a), edit_of(s->graph, pair.b) };
            bool fits = false;
            if (pair.a->of != pair.b->of)
                s->failed |= !search_fits(search, edits, 2, &fits, &pair.calls);
            if (fits)
                n = insert_pair(pairs, n, pair);
        }
    return n;
}

/* Tries the pairs that leave the fewest calls. */
static bool replace_two(struct search *search, struct substitution *s, bool *accepted)
{
    const double likely = 0.3;
    struct learned nothing = { 0 };
    struct replacement_pair pairs[PAIRS_ASKED_MAX];
    struct edits edits = { .failed = false };
    uint32_t which;
    guess_needed(s, search, &nothing);
    list_replacements(s, true);
    rank(s);
    keep_impossible(s, search);
    uint32_t n = find_pairs(s, search, pairs);
    for (uint32_t i = 0; i < n; i++) {
        const struct edit both[] = { edit_of(s->graph, pairs[i].a), edit_of(s->graph, pairs[i].b) };
        edits_propose(&edits);
        for (int k = 0; k < 2; k++)
            edits_add(&edits, both[k].kind, both[k].a, both[k].b, 0);
    }
    edits.failed |= s->failed;
    search_expect(search, likely);
    bool good = edits_try_each(search, &edits, &which);
    *accepted = good && which != UINT32_MAX;
    return good;
}

bool pass_pairs(struct search *search)
{
    bool accepted = true, good = true;
    while (accepted && good &&
           candidate_size(search_best(search)).part[SIZE_CALLS] <= PAIRED_CALLS_MAX) {
        struct substitution s;
        struct edits none = { .failed = true };
        good = begin_substitution(&s, search_best(search)->graph)
                   ? replace_two(search, &s, &accepted)
                   : edits_try(search, &none, NULL);
        end_substitution(&s);
    }
    return good;
}

/* Proposes to replace each value by each that it was computed from, those that remove least first;
 * in larger graphs, by each of its arguments. */
void propose_substitutes(const struct candidate *best, struct edits *edits)
{
    struct substitution s;
    if (!begin_substitution(&s, best->graph)) {
        edits->failed = true;
    } else {
        list_replacements(&s, candidate_size(best).part[SIZE_CALLS] <= FAR_CALLS_MAX);
        rank(&s);
        for (size_t i = s.list.n; i-- > 0;)
            add_replacement(best->graph, &s.list.v[i], edits);
        edits->failed |= s.failed;
    }
    end_substitution(&s);
}
