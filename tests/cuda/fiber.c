#include "tests/cuda/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool fiber_new(struct fiber *ret)
{
    *ret = (struct fiber){ .size = FIBER_STACK };
    char *map = mmap(NULL, FIBER_STACK + page(), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    mprotect(map, page(), PROT_NONE);
    ret->stack = map + page();
#ifndef __x86_64__
    if (!(ret->at = malloc(sizeof(ucontext_t))))
        return munmap(map, FIBER_STACK + page()), false;
#endif
    return true;
}

void fiber_free(struct fiber *fiber)
{
    if (!fiber->stack)
        return;
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(fiber->stack, fiber->size);
#endif
    munmap((char *)fiber->stack - page(), fiber->size + page());
#ifndef __x86_64__
    free(fiber->at);
#endif
    *fiber = (struct fiber){ 0 };
}

#ifdef __x86_64__
/* Registers that a call keeps, and the floating-point control words. */
void fiber_jump(void **from, void *to);
__asm__(".text\n"
        ".globl fiber_jump\n"
        ".hidden fiber_jump\n"
        ".type fiber_jump,@function\n"
        "fiber_jump:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_jump,.-fiber_jump\n");

void fiber_start(struct fiber *fiber, void (*run)(void))
{
    uint64_t *top = (uint64_t *)((char *)fiber->stack + fiber->size);
    uint32_t words[2] = { 0x1f80, 0x037f };
    *--top = 0; /* where run() would return to; its stack is as after a call */
    *--top = (uint64_t)(uintptr_t)run;
    top -= 6;
    memset(top, 0, 6 * sizeof *top);
    memcpy(--top, words, sizeof words);
    fiber->at = top;
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(fiber->stack, fiber->size);
#endif
}
#else
void fiber_start(struct fiber *fiber, void (*run)(void))
{
    ucontext_t *context = fiber->at;
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = fiber->size;
    context->uc_link = NULL;
    makecontext(context, run, 0);
}
#endif

void fiber_switch(struct fiber *from, struct fiber *to, bool ends)
{
#ifdef ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ends ? NULL : &from->shadow, to->stack ? to->stack : to->bottom,
                                   to->stack ? to->size : to->depth);
#endif
    (void)ends;
#ifdef __x86_64__
    fiber_jump(&from->at, to->at);
#else
    ucontext_t own;
    if (!from->stack)
        from->at = &own;
    swapcontext(from->at, to->at);
#endif
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from->shadow, NULL, NULL);
#endif
}

void fiber_entered(struct fiber *fiber, struct fiber *from)
{
#ifdef ADDRESS_SANITIZER
    fiber->shadow = NULL;
    __sanitizer_finish_switch_fiber(NULL, &from->bottom, &from->depth);
#else
    (void)fiber;
    (void)from;
#endif
}
