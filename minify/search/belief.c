#include "minify/search/belief.h"

#include <math.h>
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"

/* How probable kinds of hypotheses are before any answer. */
static const double of_one = 0.2, of_two = 0.2, of_flow = 0.25, of_flow_through = 0.25,
                    of_other = 0.1;
/* The probability of a "yes" if the hypothesis is right and the candidate has what it names, and if
 * it has not. */
static const double if_holds = 0.97, if_not = 0.005;
/* Less probable hypotheses, relative to all, are left out. */
static const double least_weight = 1e-6;
enum { ANSWERS_MAX = 512 };

/* ---- What calls reach ---- */

struct reaching {
    uint64_t *before; /* by node: the operators that it was computed from, with its own */
    uint64_t now;
};

static void add_before(void *user, node_id id)
{
    struct reaching *r = user;
    r->now |= r->before[id];
}

static uint32_t operator_number(const struct belief *belief, const struct graph *graph, node_id id)
{
    const struct node *node = &graph->nodes[id];
    if (!node_is_call(node) || node_is_getitem(graph, node))
        return INTERN_NONE;
    uint32_t number = intern_find(&belief->operators, node->target);
    return number < BELIEF_OPERATORS ? number : INTERN_NONE;
}

struct operator_flow *belief_flow(const struct belief *belief, const struct candidate *candidate)
{
    const struct graph *graph = candidate->graph;
    struct operator_flow *flow = calloc(1, sizeof *flow);
    struct reaching r = { .before = calloc((size_t)graph->n_nodes + 1, sizeof *r.before) };
    if (!flow || !r.before) {
        free(flow);
        free(r.before);
        return NULL;
    }
    for (node_id id = 0; id < graph->n_nodes; id++) {
        uint32_t number = operator_number(belief, graph, id);
        r.now = 0;
        node_references(graph, &graph->nodes[id], add_before, &r);
        r.before[id] = r.now;
        if (number == INTERN_NONE)
            continue;
        flow->from[number] |= r.now;
        flow->called |= (uint64_t)1 << number;
        r.before[id] |= (uint64_t)1 << number;
    }
    free(r.before);
    return flow;
}

/* ---- Hypotheses ---- */

/* Returns the number of operators that hypotheses are about. */
static uint8_t operators_of(const struct belief *belief)
{
    size_t n = belief->operators.texts.n;
    return (uint8_t)(n < BELIEF_OPERATORS ? n : BELIEF_OPERATORS);
}

static bool calls(const struct operator_flow *flow, uint8_t number)
{
    return flow->called >> number & 1;
}

static bool reaches(const struct operator_flow *flow, uint8_t from, uint8_t to)
{
    return flow->from[to] >> from & 1;
}

static bool holds(const struct hypothesis *h, const struct operator_flow *flow)
{
    const uint8_t *at = h->operators;
    for (uint8_t i = 0; i < h->n; i++)
        if (!calls(flow, at[i]))
            return false;
    for (uint8_t i = 0; h->flows && i + 1 < h->n; i++)
        if (!reaches(flow, at[i], at[i + 1]))
            return false;
    return !h->flows || h->n < 3 || reaches(flow, at[0], at[2]);
}

static double likelihood(const struct hypothesis *h, const struct flow_answer *answer)
{
    double yes = holds(h, answer->flow) ? if_holds : if_not;
    return answer->yes ? yes : 1 - yes;
}

/* A failure that no hypothesis describes makes both answers equally probable. */
static const double likelihood_of_other = 0.5;

/* Adds a hypothesis with its weight by all answers, unless it is not probable: the last answers,
 * which are about the smallest candidates, exclude most of them. */
static bool add_hypothesis(struct belief *belief, struct hypothesis h, double weight)
{
    double least = belief->other * least_weight;
    for (size_t i = belief->answers.n; i-- > 0 && weight > least;)
        weight *= likelihood(&h, &belief->answers.v[i]);
    if (weight <= least)
        return true;
    h.weight = (float)weight;
    return vec_push(&belief->list, h);
}

/* Returns whether what a computes reaches b in the last graph that failed. */
static bool may_flow(const struct belief *belief, uint8_t a, uint8_t b)
{
    for (size_t i = belief->answers.n; i-- > 0;)
        if (belief->answers.v[i].yes)
            return reaches(belief->answers.v[i].flow, a, b);
    return true;
}

static bool add_through(struct belief *belief, uint8_t a, uint8_t c, double weight)
{
    uint8_t n = operators_of(belief);
    for (uint8_t b = 0; b < n; b++)
        if (b != a && b != c &&
            !add_hypothesis(belief, (struct hypothesis){ 3, { a, b, c }, true, 0 },
                            weight * (double)belief->share[b]))
            return false;
    return true;
}

static bool add_pair(struct belief *belief, uint8_t a, uint8_t b)
{
    double both = (double)belief->share[a] * (double)belief->share[b];
    bool good = a > b || add_hypothesis(belief, (struct hypothesis){ 2, { a, b, 0 }, false, 0 },
                                        2 * of_two * both);
    if (!good || !may_flow(belief, a, b))
        return good;
    return add_hypothesis(belief, (struct hypothesis){ 2, { a, b, 0 }, true, 0 }, of_flow * both) &&
           add_through(belief, a, b, of_flow_through * both);
}

bool belief_weigh(struct belief *belief)
{
    uint8_t n = operators_of(belief);
    bool good = true;
    belief->list.n = 0;
    belief->other = of_other * pow(likelihood_of_other, (double)belief->answers.n);
    for (uint8_t a = 0; a < n && good; a++) {
        good = add_hypothesis(belief, (struct hypothesis){ 1, { a, 0, 0 }, false, 0 },
                              of_one * (double)belief->share[a]);
        for (uint8_t b = 0; b < n && good; b++)
            good = a == b || add_pair(belief, a, b);
    }
    return good;
}

double belief_chance(const struct belief *belief, const struct flow_answer *assumed, size_t n,
                     const struct operator_flow *flow, double otherwise)
{
    double all = belief->other * pow(likelihood_of_other, (double)n), yes = all * otherwise;
    for (size_t i = 0; i < belief->list.n; i++) {
        const struct hypothesis *h = &belief->list.v[i];
        double weight = (double)h->weight;
        for (size_t k = 0; k < n; k++)
            weight *= likelihood(h, &assumed[k]);
        all += weight;
        yes += weight * (holds(h, flow) ? if_holds : if_not);
    }
    return all > 0 ? yes / all : otherwise;
}

/* ---- Answers ---- */

bool belief_tell(struct belief *belief, const struct candidate *candidate, bool yes)
{
    if (belief->answers.n == ANSWERS_MAX)
        return true;
    struct operator_flow *flow = belief_flow(belief, candidate);
    if (flow && vec_push(&belief->answers, ((struct flow_answer){ flow, yes })))
        return true;
    free(flow);
    return false;
}

/* An operator that is called often is needed less often than one that is called once. */
static void share_out(struct belief *belief, const struct graph *graph)
{
    float all = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        uint32_t number = operator_number(belief, graph, id);
        if (number != INTERN_NONE)
            belief->share[number]++;
    }
    for (int i = 0; i < BELIEF_OPERATORS; i++) {
        belief->share[i] = belief->share[i] > 0 ? 1 / sqrtf(belief->share[i]) : 0;
        all += belief->share[i];
    }
    for (int i = 0; i < BELIEF_OPERATORS && all > 0; i++)
        belief->share[i] /= all;
}

bool belief_init(struct belief *belief, const struct candidate *whole)
{
    const struct graph *graph = whole->graph;
    *belief = (struct belief){ .other = 0 };
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        if (node_is_call(node) && !node_is_getitem(graph, node) &&
            intern(&belief->operators, node->target) == INTERN_NONE)
            return false;
    }
    share_out(belief, graph);
    return belief_tell(belief, whole, true);
}

void belief_release(struct belief *belief)
{
    for (size_t i = 0; i < belief->answers.n; i++)
        free(belief->answers.v[i].flow);
    vec_release(&belief->answers);
    vec_release(&belief->list);
    intern_release(&belief->operators);
}
