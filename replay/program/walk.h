/* Walks a program: makes each call with its operator's rule, on the results of the calls before
 * it, and compares the result with the recorded one.
 *
 * The recorded meta replaces a result only after an unsupported, refused or mismatching call, so
 * that the walk can continue. */
#ifndef SYMTAPE_REPLAY_PROGRAM_WALK_H
#define SYMTAPE_REPLAY_PROGRAM_WALK_H

#include "replay/program/compare_results.h"
#include "replay/program/dtensor.h"
#include "replay/program/inject.h"
#include "replay/program/interpret.h"
#include "replay/program/program.h"

struct walker {
    struct ops *ops;
    struct shape_env *env;
    struct unbound unbound;
    /* Returns the value of an input that was not passed. False with err set on failure. */
    bool (*input)(void *user, const struct program *program, const struct step *step,
                  struct value *ret, struct err *err);
    /* Returns the tensor that an attribute of the graph is in the first walk; may be NULL: it has
     * the recorded meta. False with err set on failure. */
    bool (*attribute)(void *user, const struct program *program, const struct step *step,
                      struct value *ret, struct err *err);
    /* Called before and after each call; either may be NULL. They see guards in their order in
     * time. False with err set on failure; false without one ends the walk early: it is
     * `stopped`. */
    bool (*before)(void *user, const struct program *program, const struct step *step,
                   struct err *err);
    bool (*after)(void *user, const struct program *program, const struct step *step,
                  struct value result, struct err *err);
    /* Returns an input of a further walk; may be NULL. */
    struct value (*input_again)(void *user, const struct program *program, const struct step *step,
                                struct value value);
    /* Called before each step of the root of a walk that counts, and returns whether the step
     * counts; may be NULL. */
    bool (*counted)(void *user, const struct program *program, const struct step *step);
    /* Returns the result of a call of a walk that counts; may be NULL. */
    struct value (*result_again)(void *user, struct value value);
    void *user;
    const struct injection *inject; /* the fault to inject (replay/program/inject.h), or NULL */
    bool counts;                    /* a further walk makes every call, to count dispatches */
    struct device_mesh mesh;        /* that of the DTensors */
    bool exported;                  /* the program is that of a .pt2: see call_after_export() */
    bool by_hint; /* inputs were changed: results with equal hints count as equal */
    bool other;   /* the recorded metas are those of another attempt: they replace no result, and a
                     call without a result ends the walk */
    struct interpreter interpreter;
    uint32_t depth;
    bool grad_disabled;    /* by torch.set_grad_enabled() of the graph */
    struct err arithmetic; /* the failure of size arithmetic in the last call */
    bool input_is_set;     /* by input(): the recorded meta is that of another size */
    bool stopped;          /* before() or after() ended the walk, or a call as `other` says */
    struct err err;        /* why the walk failed: ERR_ENV when memory ran out, ERR_INPUT when this
                              graph cannot be walked, which does not affect others */
};

/* Walks a root graph, then those of its subgraphs that no call ran. False: walker->err is set, or
 * the walk was stopped. */
bool walk_program(struct walker *walker, struct program *program);
/* Walks it again, as a warm replay: nothing is compared, named or noted. Sets *ret to the graph's
 * result, which is valid until ops_reset(). */
bool walk_again(struct walker *walker, struct program *program, struct value *ret);
/* Returns whether the sizes of an input differ from those in the graph. */
bool walk_inputs_differ(struct walker *walker, const struct program *program);
/* Makes the comparisons that were postponed to the graph's end, also in subgraphs. */
void walk_finish(struct walker *walker, struct program *program);
void walker_release(struct walker *walker);

#endif
