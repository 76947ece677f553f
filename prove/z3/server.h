/* The process that waits for questions, for the files of prove/z3 only. */
#ifndef SYMTAPE_PROVE_Z3_SERVER_H
#define SYMTAPE_PROVE_Z3_SERVER_H

#include "prove/z3/z3.h"

/* What is sent before the bytes of a question and of an answer. */
struct z3_request {
    uint32_t n_text, n_values, ms;
};
struct z3_reply {
    uint32_t end, n; /* end: enum z3_end */
};

/* Answers the questions that arrive at the socket until its other end is closed; does not return.
 */
_Noreturn void z3_serve(int socket, z3_solver solver);

#endif
