/* Threads that run one at a time, until they give way: a switch is a few instructions. */
#ifndef SYMTAPE_TESTS_CUDA_FIBER_H
#define SYMTAPE_TESTS_CUDA_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber {
    void *at;    /* where it left off; its own on x86-64, a ucontext_t elsewhere */
    void *stack; /* lowest address, above a page that cannot be touched; NULL: the caller's own */
    size_t size;
    /* AddressSanitizer's: where it keeps its own, and the stack's bounds as it knows them */
    void *shadow;
    const void *bottom;
    size_t depth;
};

enum { FIBER_STACK = 128 << 10 };

bool fiber_new(struct fiber *ret);
void fiber_free(struct fiber *fiber);
/* It begins with run(), which never returns, at the next switch to it. */
void fiber_start(struct fiber *fiber, void (*run)(void));
/* Leaves `from` for `to`; returns when someone switches back. `ends`: `from` will not go on. */
void fiber_switch(struct fiber *from, struct fiber *to, bool ends);
/* First thing in run(): who switched to it. */
void fiber_entered(struct fiber *fiber, struct fiber *from);

#endif
