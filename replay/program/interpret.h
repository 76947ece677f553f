/* Runs the statements of a program in their order. What a statement gives is asked of the user by
 * callbacks: the shape walk compares with what was recorded (walk.c), a backend computes
 * (replay/backend/run). The interpreter itself knows what is the same for all of them: inputs that
 * were passed, aliases, subgraphs as values, outputs, and which value a node's name stands for.
 *
 * It holds nothing but a pointer to the program at work, so an interpreter may be used for a
 * program that a callback runs, as a higher-order operator does with a subgraph. */
#ifndef SYMTAPE_REPLAY_PROGRAM_INTERPRET_H
#define SYMTAPE_REPLAY_PROGRAM_INTERPRET_H

#include "replay/program/program.h"

struct interpreter {
    struct ops *ops;
    void *user;
    struct program *program; /* at work; NULL outside of interpret() */
    struct err *err;         /* where a failure is told */
};

/* Each returns false after a failure, which ends the run; in->err is set then, unless the user
 * keeps failures elsewhere. */
struct interpreter_callbacks {
    /* Around every statement; NULL: nothing. `value` is what its node stands for, none for the
     * output. */
    bool (*begin)(struct interpreter *in, struct program *p, const struct step *step);
    bool (*end)(struct interpreter *in, struct program *p, const struct step *step,
                struct value value);
    /* Input `number` of the program. `passed`: what the caller of interpret() gave; NULL: nothing.
     */
    bool (*input)(struct interpreter *in, struct program *p, const struct step *step,
                  uint32_t number, const struct value *passed, struct value *ret);
    /* A call: of an operator, a function, a method, a module, or getitem. `ready`: its arguments
     * are in step->args; false: one of them names a value that does not exist. */
    bool (*call)(struct interpreter *in, struct program *p, const struct step *step, bool ready,
                 struct value *ret);
    /* A get_attr that names no subgraph, or a statement that the parser did not know. */
    bool (*other)(struct interpreter *in, struct program *p, const struct step *step,
                  struct value *ret);
    /* An alias or an output names a value that does not exist. True: it stands for *ret. */
    bool (*missing)(struct interpreter *in, struct program *p, const struct step *step,
                    struct value *ret);
};

/* *ret is what the program returns: a value, or a VALUE_TUPLE, valid until ops_reset(). False: a
 * callback failed, or memory ran out. */
bool interpret(struct interpreter *in, const struct interpreter_callbacks *on, struct program *p,
               const struct value *inputs, uint32_t n_inputs, struct value *ret);

/* Item step->args[1] of the tuple or list step->args[0]; false: it is neither, or has no such item.
 */
bool step_getitem(const struct step *step, const struct sym_pool *pool, struct value *ret);

#endif
