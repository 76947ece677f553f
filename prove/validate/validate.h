/* Whether the guards of each attempt imply what was answered while the attempt was traced.
 *
 *     struct validation *v = validate_trace(trace, &VALIDATE_DEFAULT, &err);
 *     for (size_t i = 0; i < v->n_attempts; i++) print(&v->attempts[i]);
 *     validation_free(v);
 *
 * The facts are the recorded guards, the runtime asserts, the ranges that symbols begin with, and
 * those that the program states (torch._check, mark_dynamic): what a compiled function checks
 * before it runs, or asserts while it does. Sizes that share a symbol are equal. The claims are
 * what a replay of the attempt (replay/replay.h) evaluates and derives: each question with its
 * answer, replacements, ranges, and the specializations of the record. A claim that the
 * facts do not imply is an answer that other sizes get wrong, although they pass all guards.
 *
 * This is what PyTorch's translation validation does (torch/fx/experimental/validator.py
 * `_validate` and `bisect`), of a recording. */
#ifndef SYMTAPE_PROVE_VALIDATE_VALIDATE_H
#define SYMTAPE_PROVE_VALIDATE_VALIDATE_H

#include "prove/decide/decide.h"
#include "trace/base/arena.h"
#include "trace/open.h"
#include "trace/selector.h"

struct validate_options {
    struct selector selector;
    struct decide_limits limits; /* of a claim, and whether Z3 is asked */
    uint64_t attempt_steps;      /* of an attempt; afterwards only what takes little is tried */
    bool redundant;              /* finds the guards that others imply, too */
    uint32_t jobs;
};
#define VALIDATE_DEFAULT                                                         \
    ((struct validate_options){ .selector = SELECTOR_ALL,                        \
                                .limits = { .steps = 400000, .ns = 5000000000 }, \
                                .attempt_steps = 8000000,                        \
                                .redundant = true })

enum claim_kind {
    CLAIM_GUARDED, /* a question whose answer is a guard */
    CLAIM_KNOWN,   /* a question that was answered without a guard */
    CLAIM_REPLACEMENT,
    CLAIM_RANGE,
    CLAIM_SPECIALIZATION,
    CLAIM_KINDS
};
const char *claim_kind_name(enum claim_kind kind); /* "guarded", "known" ... */

struct validate_value {
    struct str symbol, source; /* source: "L['x'].size()[0]", or "" */
    int64_t value;
};

enum { VALIDATE_MAX_FINDINGS = 1000 }; /* of an attempt */

/* A claim that is not proved. */
struct validate_finding {
    enum claim_kind kind;
    enum decide_verdict verdict; /* REFUTED or UNDECIDED */
    struct str claim;            /* the condition that should hold: "Eq(s27, 8)" */
    struct str question, answer; /* of a question, else "" */
    /* The answer of a replay with the values of the counterexample, where it differs, or, if
     * `refused`, the error of the call that asked. The first question of an attempt that is refuted
     * is replayed. "" if it was not, or if nothing differs. */
    struct str replayed;
    bool refused;
    struct str node, rule;     /* what asked: a node of a graph and an operator, or "" */
    const struct guard *guard; /* that was recorded for it, or NULL */
    uint32_t ref;              /* the node's graph, or TRACE_NONE */
    const struct graph *location_graph;
    uint32_t location;                   /* LOCATION_NONE when the line is not known */
    stack_id user_stack;                 /* where no node asked; 0 for none */
    const struct validate_value *values; /* of a counterexample */
    uint32_t n_values;
    bool smallest, raises, no_values;
    enum decide_method method; /* that found it, or that was tried last */
    enum z3_end z3;            /* what became of the question to Z3 */
    uint64_t points, ns;
};

/* Which other guards imply a guard: those before it, those after it, or both together. */
enum implied_by { IMPLIED_BY_EARLIER, IMPLIED_BY_LATER, IMPLIED_BY_BOTH };

/* A guard that other guards imply. */
struct validate_redundant {
    const struct guard *guard;
    enum implied_by others;
};

/* An assert of the attempt. */
struct validate_assert {
    const struct guard *guard;   /* as it was recorded */
    enum decide_verdict verdict; /* PROVED: the guards imply it; REFUTED: it can fail */
    const struct validate_value *values;
    uint32_t n_values;
};

/* An unbacked symbol that may be negative as far as guards, asserts and ranges say. */
struct validate_unbounded {
    struct str symbol;
    stack_id user_stack;
    bool is_replayed;   /* the replay has it, and with it all that is known of its range */
    struct frame frame; /* the line that made it */
    struct str check;   /* "torch._check(longest >= 0)"; with the symbol if the line has no name */
};

struct validate_attempt {
    uint32_t attempt;
    uint64_t claims[CLAIM_KINDS], proved[CLAIM_KINDS], refuted[CLAIM_KINDS];
    uint64_t by_method[DECIDE_METHODS]; /* proved claims */
    uint64_t z3_asked, z3_decided;      /* claims about which Z3 was asked; proved or refuted */
    uint64_t guards, asserted, unread;  /* unread: recorded guards that are no expressions */
    bool contradictory;                 /* no sizes satisfy the guards */
    bool partial;                       /* the replay does not reach the end of the attempt */
    struct validate_finding *findings;  /* in the order in which the claims were made */
    size_t n_findings;                  /* at most VALIDATE_MAX_FINDINGS; `claims` counts all */
    struct validate_redundant *redundant;
    size_t n_redundant;
    struct validate_assert *asserts;
    size_t n_asserts;
    struct validate_unbounded *unbounded;
    size_t n_unbounded;
    uint64_t ns;
};

struct validation {
    struct validate_attempt **attempts;
    size_t n_attempts;
};

/* Returns NULL on failure. The trace must stay open as long as the result is used. */
struct validation *validate_trace(struct trace *trace, const struct validate_options *options,
                                  struct err *err);
void validation_free(struct validation *v);

/* REFUTED if a claim is refuted, else UNDECIDED if one is not decided. */
enum decide_verdict validate_attempt_verdict(const struct validate_attempt *a);
/* Of the claims that are questions with guards: how many are decided. */
uint64_t validate_attempt_decided(const struct validate_attempt *a);

#endif
