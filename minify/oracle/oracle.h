/* Oracles decide whether a candidate still fails in the way that the first one did.
 *
 *     struct oracle *oracle = oracle_shape(&options, whole, &err);
 *     struct answer answer;
 *     oracle->ask(oracle, candidate, &question, &answer);
 *     oracle->free(oracle);
 *
 * Several threads may call ask(), which blocks; it returns UNRESOLVED soon after *question->cancel
 * becomes true. It stores no answers: the cache (minify/search/answer_cache.h) does.
 *
 * There are oracles in this process that use the shape engine (a refusal or mismatch, a guard, a
 * specialization, a cost), a command (--check of symtape-minify(1)), and a warm worker with
 * PyTorch. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_H

#include <stdatomic.h>

#include "minify/candidate/candidate.h"

enum verdict {
    VERDICT_INTERESTING, /* fails as the first did */
    VERDICT_BORING,      /* does not fail */
    VERDICT_OTHER,       /* fails differently: never accepted; the first few are saved */
    VERDICT_UNRESOLVED,  /* undecided: not accepted, and not stored as a "no" */
    VERDICT_BROKEN, /* the oracle itself cannot run: the search stops; answer.err has the reason */
    VERDICTS
};
const char *verdict_name(enum verdict verdict); /* "interesting", ... */
bool verdict_read(struct str name, enum verdict *verdict);

/* The parameters of a question other than the candidate. */
struct oracle_question {
    uint32_t worker;  /* 0 .. jobs-1 */
    uint64_t call;    /* increases during the run */
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
    struct str text;            /* the error's original text; "" */
    struct str node;            /* the node in the error, where passes start; "" */
    double seconds;
    struct err err; /* for VERDICT_BROKEN */
    struct arena arena;
};
void answer_release(struct answer *answer);

/* The text of an answer that took too long begins so. */
#define NO_END_WITHIN "no end within"

struct oracle {
    void (*ask)(struct oracle *oracle, const struct candidate *candidate,
                const struct oracle_question *asking, struct answer *answer);
    void (*free)(struct oracle *oracle);
    struct str name;      /* for messages: "replay", "guard", "check" ... */
    struct str id;        /* changes whenever an answer might: part of the journal's key */
    struct str without;   /* what it cannot use, and why, for the user; "" */
    double least_timeout; /* seconds that a question is given at least, by default; 0: 5 */
    bool deterministic;   /* in process: one question is enough */
    bool cheap; /* in process: many small questions are fine, and the journal is not flushed after
                   each */
};

#endif
