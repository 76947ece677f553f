/* Runs the statements of a program in order. Callbacks of the user compute the result of a
 * statement: the shape walk compares it with the recorded one (walk.c), a backend computes values
 * (replay/backend/run). The interpreter itself does what all users have in common: passed inputs,
 * aliases, subgraphs as values, outputs, and the values that the names of nodes refer to.
 *
 * Its only state is a pointer to the program being run, so an interpreter may be used for a
 * program that a callback runs, as a higher-order operator does with a subgraph. */
#ifndef SYMTAPE_REPLAY_PROGRAM_INTERPRET_H
#define SYMTAPE_REPLAY_PROGRAM_INTERPRET_H

#include "replay/program/program.h"

struct interpreter {
    struct ops *ops;
    void *user;
    struct program *program; /* the one being run; NULL outside of interpret() */
    struct err *err;         /* where failures are stored */
};

/* Each callback returns false after a failure, which ends the run. in->err is set then, unless the
 * user stores failures elsewhere. */
struct interpreter_callbacks {
    /* Called around every statement; may be NULL. `value` is the value of the node, none for the
     * output. */
    bool (*begin)(struct interpreter *in, struct program *p, const struct step *step);
    bool (*end)(struct interpreter *in, struct program *p, const struct step *step,
                struct value value);
    /* Returns input `number` of the program. `passed` is the value that the caller of interpret()
     * passed, or NULL. */
    bool (*input)(struct interpreter *in, struct program *p, const struct step *step,
                  uint32_t number, const struct value *passed, struct value *ret);
    /* Makes a call of an operator, a function, a method, a module or getitem. `ready`: its
     * arguments are in step->args; false: one of them names a value that does not exist. */
    bool (*call)(struct interpreter *in, struct program *p, const struct step *step, bool ready,
                 struct value *ret);
    /* Evaluates a get_attr that names no subgraph, or a statement that the parser did not know. */
    bool (*other)(struct interpreter *in, struct program *p, const struct step *step,
                  struct value *ret);
    /* An alias or an output names a value that does not exist. True: *ret is used instead. */
    bool (*missing)(struct interpreter *in, struct program *p, const struct step *step,
                    struct value *ret);
};

/* Sets *ret to the program's result: a value, or a VALUE_TUPLE, valid until ops_reset(). False: a
 * callback failed, or memory ran out. */
bool interpret(struct interpreter *in, const struct interpreter_callbacks *on, struct program *p,
               const struct value *inputs, uint32_t n_inputs, struct value *ret);

/* Gets item step->args[1] of the tuple or list step->args[0]. False: it is neither, or has no such
 * item. */
bool step_getitem(const struct step *step, const struct sym_pool *pool, struct value *ret);

#endif
