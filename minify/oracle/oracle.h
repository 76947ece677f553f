/* Oracles: does a candidate still fail, in the way that the first one did?
 *
 *     struct oracle *oracle = oracle_expect(&options, &err);      minify/oracle/oracle_shape.h and
 * others struct answer answer; oracle->ask(oracle, candidate, &asking, &answer);
 *     oracle->free(oracle);
 *
 * ask() may be called by several threads at once and blocks; it returns soon after *asking->cancel
 * becomes true, with UNRESOLVED. It does not remember anything: the cache
 * (minify/search/answer_cache.h) does.
 *
 * Kinds: in process through the shape engine (a refusal or mismatch, a guard, a specialization, a
 * cost), a command (the contract of symtape-minify(1), --check), a warm worker with PyTorch. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_H

#include <stdatomic.h>

#include "minify/candidate/candidate.h"

enum verdict {
    VERDICT_INTERESTING, /* fails as the first did */
    VERDICT_BORING,      /* does not fail */
    VERDICT_OTHER,       /* fails differently: never accepted; the first few are saved for the
                          * user */
    VERDICT_UNRESOLVED,  /* cannot tell: not accepted, not remembered as a no */
    VERDICT_BROKEN,      /* the oracle itself cannot run: the search stops, and answer.err has the
                          * reason */
    VERDICTS
};
const char *verdict_name(enum verdict verdict); /* "interesting", ... */
bool verdict_read(struct str name, enum verdict *verdict);

/* The parameters of a question other than the candidate. */
struct oracle_question {
    uint32_t worker;  /* 0 .. jobs-1 */
    uint64_t call;    /* counts up over the run */
    uint32_t attempt; /* of a repeated question, from 0 */
    double timeout;   /* seconds that this call may take; then it is UNRESOLVED */
    const atomic_bool *cancel;
};

/* The properties that identify a failure, as texts without numbers and names of symbols. A part
 * that does not apply is "". Equal texts mean the same bug. */
struct signature {
    struct str kind;    /* "refused", "mismatch", "guard", "exit", an exception's type */
    struct str message; /* normalised */
    struct str op;      /* "aten.view.default" */
    struct str frame;   /* "file.py:function" of the user */
};

struct answer {
    enum verdict verdict;
    struct signature signature; /* of a failure; owned by `arena` */
    struct str text;            /* the error as it stands; "" */
    struct str node;            /* the node that it names, where it names one: passes start there */
    double seconds;
    struct err err; /* of VERDICT_BROKEN */
    struct arena arena;
};
void answer_release(struct answer *answer);

struct oracle {
    void (*ask)(struct oracle *oracle, const struct candidate *candidate,
                const struct oracle_question *asking, struct answer *answer);
    void (*free)(struct oracle *oracle);
    struct str name;    /* "replay", "guard", "check" ...: for messages */
    struct str id;      /* changes whenever an answer might: part of the journal's key */
    struct str without; /* what it goes without, and why: a note for the user; "" */
    bool deterministic; /* in process: asked once */
    bool cheap;         /* in process: prefer many small questions, no journal flush a question */
};

#endif
