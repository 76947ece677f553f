/* Walking a program: each call goes through its operator, on the results of the calls before it,
 * and what comes out is held beside what was recorded.
 *
 * The recorded meta of a call takes the place of its result only after an unsupported, refused or
 * mismatching call, so that the rest can go on. */
#ifndef SYMTAPE_REPLAY_PROGRAM_WALK_H
#define SYMTAPE_REPLAY_PROGRAM_WALK_H

#include "replay/program/compare.h"
#include "replay/program/inject.h"
#include "replay/program/interpret.h"
#include "replay/program/program.h"

struct walker {
    struct ops *ops;
    struct shape_env *env;
    struct unbound unbound;
    /* The value of an input that nobody passed. False with err set on failure. */
    bool (*input)(void *user, const struct program *program, const struct step *step,
                  struct value *ret, struct err *err);
    /* Before and after each call: guards at their place in time. Either may be NULL. False with err
     * set on failure; without one, it asks for no more: the walk is `stopped`. */
    bool (*before)(void *user, const struct program *program, const struct step *step,
                   struct err *err);
    bool (*after)(void *user, const struct program *program, const struct step *step,
                  struct value result, struct err *err);
    /* An input of a further walk; may be NULL. */
    struct value (*input_again)(void *user, const struct program *program, const struct step *step,
                                struct value value);
    void *user;
    const struct injection
        *inject;          /* results that are wrong on purpose (replay/program/inject.h); NULL */
    bool counts;          /* a further walk makes every call, for its counts */
    uint32_t counts_from; /* and counts from this node of the root on */
    bool exported;        /* programs of a .pt2: see call_after_export() */
    bool by_hint;         /* inputs were changed: what has the recorded hint is the same */
    struct interpreter interpreter;
    uint32_t depth;
    struct err arithmetic; /* of the last call that sizes made fail */
    bool stopped;          /* by before() or after(), which wanted no more */
    struct err err;        /* of the walk that failed: ERR_ENV when memory ran out, ERR_INPUT when
                              this graph cannot be walked; others can */
};

/* Runs a root graph, then those of its subgraphs that no call ran. False: walker->err is set, or
 * the walk was stopped. */
bool walk_program(struct walker *walker, struct program *program);
/* Runs it again, as a warm replay: nothing is compared, named or noted. */
bool walk_again(struct walker *walker, struct program *program);
/* Some input's sizes are not those that the graph prints. */
bool walk_inputs_differ(struct walker *walker, const struct program *program);
/* Compares what was to be compared at the graph's end; children too. */
void walk_finish(struct walker *walker, struct program *program);
void walker_release(struct walker *walker);

#endif
