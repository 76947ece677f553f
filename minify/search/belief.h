/* Which operators the failure probably needs, by the answers so far.
 *
 * A hypothesis says that a candidate fails if it calls one operator, calls two, or if what one
 * operator computes reaches another, maybe through a third. Each answer changes how probable the
 * hypotheses are (Bayes' rule; an answer may contradict the true one, which is why no hypothesis is
 * ever excluded), and they say how probable a "yes" is for any other candidate. That decides what
 * is asked in advance (minify/search/forecast.h), and nothing else. Private to the room. */
#ifndef SYMTAPE_MINIFY_SEARCH_BELIEF_H
#define SYMTAPE_MINIFY_SEARCH_BELIEF_H

#include "minify/candidate/candidate.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

/* Of graphs with more operators, hypotheses are about the first ones only. */
enum { BELIEF_OPERATORS = 64 };

/* The operators of a candidate, as sets of their numbers. */
struct operator_flow {
    uint64_t called;
    uint64_t from[BELIEF_OPERATORS]; /* by operator: those whose results reach a call of it */
};

/* An answer, or an assumed one. The flow is borrowed. */
struct flow_answer {
    struct operator_flow *flow;
    bool yes;
};

struct hypothesis {
    uint8_t n, operators[3];
    bool flows;
    float weight;
};

struct belief {
    struct intern operators;
    float share[BELIEF_OPERATORS]; /* the probability of an operator before any answer */
    vec_of(struct flow_answer)
    answers; /* that the whole graph fails, and what was told; their flows are owned */
    vec_of(struct hypothesis)
    list;         /* those that are still probable, as of belief_weigh() */
    double other; /* the weight of a failure that no hypothesis describes */
};

/* Begins with the graph that is to fail. Returns false when memory ran out; the belief is then to
 * be released, too. */
bool belief_init(struct belief *belief, const struct candidate *whole);
void belief_release(struct belief *belief);

/* Finds what calls of a candidate reach. Returns NULL when memory ran out; to be freed. */
struct operator_flow *belief_flow(const struct belief *belief, const struct candidate *candidate);
/* Stores an answer. Returns false when memory ran out. */
bool belief_tell(struct belief *belief, const struct candidate *candidate, bool yes);
/* Weighs the hypotheses by the answers. Returns false when memory ran out. */
bool belief_weigh(struct belief *belief);
/* Returns the probability of a "yes" if the n assumed answers are right, too. `otherwise` is the
 * probability for a failure that no hypothesis describes. */
double belief_chance(const struct belief *belief, const struct flow_answer *assumed, size_t n,
                     const struct operator_flow *flow, double otherwise);

#endif
