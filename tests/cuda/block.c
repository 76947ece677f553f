#include "tests/cuda/block.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/cuda/fiber.h"

enum { MAX_THREADS = 1024, WARP = 32, MAX_SHARED = 227 << 10, SIGNAL_STACK = 64 << 10 };
enum { ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719, OUT_OF_MEMORY = 2 };

enum state { READY, AT_BARRIER, AT_WARP, DONE };

struct thread {
    enum state state;
    struct fiber *fiber;
    int line;       /* of the barrier or shuffle it waits at */
    uint64_t value; /* given to a shuffle, then what came out of it */
    uint32_t lane;  /* whose value it wants */
    int ballot;     /* -1: it shuffles; otherwise what it votes */
};

/* One launch at a time: a device has one too, of its own. */
static struct {
    const struct block_launch *launch;
    struct block_failure *failure;
    struct shim shim;
    struct fiber host;
    struct fiber fibers[MAX_THREADS];
    struct fiber *idle[MAX_THREADS];
    uint32_t n_fibers, n_idle;
    struct thread threads[MAX_THREADS];
    uint32_t current; /* thread */
    bool in_thread, failed;
    char *dynamic_end; /* a page that cannot be touched begins here */
} b;

static bool fail(int error, void *at, const char *format, ...)
{
    if (b.failed)
        return false;
    b.failed = true;
    b.failure->error = error;
    b.failure->at = at;
    va_list args;
    va_start(args, format);
    int n = snprintf(b.failure->text, sizeof b.failure->text,
                     "block (%u, %u, %u), thread %u: ", b.shim.block[0], b.shim.block[1],
                     b.shim.block[2], b.current);
    vsnprintf(b.failure->text + n, sizeof b.failure->text - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* --- What threads call --- */

static void give_way(enum state state, int line)
{
    struct thread *thread = &b.threads[b.current];
    thread->state = state;
    thread->line = line;
    fiber_switch(thread->fiber, &b.host, false);
}

static void at_barrier(int line)
{
    give_way(AT_BARRIER, line);
}

static uint64_t at_shuffle(uint64_t value, uint32_t lane, int line)
{
    struct thread *thread = &b.threads[b.current];
    thread->value = value;
    thread->lane = lane;
    thread->ballot = -1;
    give_way(AT_WARP, line);
    return thread->value;
}

static uint32_t at_ballot(int x, int line)
{
    struct thread *thread = &b.threads[b.current];
    thread->ballot = x != 0;
    give_way(AT_WARP, line);
    return (uint32_t)thread->value;
}

static void at_warp(int line)
{
    at_ballot(0, line);
}

static void thread_body(void)
{
    fiber_entered(b.threads[b.current].fiber, &b.host);
    b.launch->run(b.launch->args);
    struct thread *thread = &b.threads[b.current];
    thread->state = DONE;
    fiber_switch(thread->fiber, &b.host, true);
    abort();
}

/* --- The scheduler --- */

static bool take_fiber(struct thread *thread)
{
    if (b.n_idle == 0) {
        if (b.n_fibers == MAX_THREADS || !fiber_new(&b.fibers[b.n_fibers]))
            return fail(OUT_OF_MEMORY, NULL, "no room for its stack");
        b.idle[b.n_idle++] = &b.fibers[b.n_fibers++];
    }
    thread->fiber = b.idle[--b.n_idle];
    fiber_start(thread->fiber, thread_body);
    return true;
}

static void run_thread(uint32_t i)
{
    struct thread *thread = &b.threads[i];
    b.current = b.shim.thread = i;
    if (!thread->fiber && !take_fiber(thread))
        return;
    b.in_thread = true;
    fiber_switch(&b.host, thread->fiber, false);
    b.in_thread = false;
    if (thread->state == DONE || b.failed) {
        b.idle[b.n_idle++] = thread->fiber;
        thread->fiber = NULL;
    }
}

/* All of the warp have come: they get what they asked for. */
static void exchange(struct thread *warp)
{
    uint64_t given[WARP];
    uint32_t votes = 0;
    for (uint32_t i = 0; i < WARP; i++) {
        given[i] = warp[i].value;
        votes |= (uint32_t)(warp[i].ballot == 1) << i;
    }
    for (uint32_t i = 0; i < WARP; i++) {
        if (warp[i].ballot >= 0)
            warp[i].value = votes;
        else if (warp[i].lane < WARP)
            warp[i].value = given[warp[i].lane];
        warp[i].state = READY;
    }
}

/* Runs its threads until all wait at the block's barrier or have ended. */
static bool run_warp(uint32_t first, uint32_t n)
{
    struct thread *warp = &b.threads[first];
    for (;;) {
        uint32_t waiting = 0;
        for (uint32_t i = 0; i < n && !b.failed; i++) {
            if (warp[i].state == READY)
                run_thread(first + i);
            waiting += warp[i].state == AT_WARP;
        }
        if (b.failed || waiting == 0)
            return !b.failed;
        for (uint32_t i = 0; i < n; i++) {
            b.current = first + i;
            if (warp[i].state != AT_WARP)
                return fail(LAUNCH_FAILED, NULL, "%s, others of its warp shuffle",
                            warp[i].state == DONE ? "has ended" : "waits at a barrier");
            if (warp[i].line != warp[0].line || (warp[i].ballot < 0) != (warp[0].ballot < 0))
                return fail(LAUNCH_FAILED, NULL,
                            "shuffles in line %d, others of its warp in line %d", warp[i].line,
                            warp[0].line);
        }
        if (n < WARP)
            return fail(LAUNCH_FAILED, NULL, "shuffles in line %d in a warp of %u threads",
                        warp[0].line, n);
        exchange(warp);
    }
}

static bool run_block(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        b.threads[i] = (struct thread){ .state = READY };
    if (b.launch->shared[0])
        memset(b.launch->shared[0], 0xff, (size_t)(b.launch->shared[1] - b.launch->shared[0]));
    if (b.launch->dynamic_shared)
        memset(b.shim.dynamic_shared, 0xff, b.launch->dynamic_shared);
    for (;;) {
        uint32_t waiting = 0, first = 0;
        for (uint32_t i = 0; i < n && !b.failed; i += WARP)
            run_warp(i, n - i < WARP ? n - i : WARP);
        for (uint32_t i = n; i-- > 0;)
            if (b.threads[i].state == AT_BARRIER) {
                waiting++;
                first = i;
            }
        if (b.failed || waiting == 0)
            return !b.failed;
        for (uint32_t i = 0; i < n; i++) {
            b.current = i;
            if (b.threads[i].state == DONE)
                return fail(LAUNCH_FAILED, NULL, "has ended, thread %u waits in line %d", first,
                            b.threads[first].line);
            if (b.threads[i].line != b.threads[first].line)
                return fail(LAUNCH_FAILED, NULL, "waits in line %d, thread %u in line %d",
                            b.threads[i].line, first, b.threads[first].line);
            b.threads[i].state = READY;
        }
    }
}

/* --- Faults --- */

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
enum { N_SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[N_SIGNALS];

static void *instruction(void *context)
{
#ifdef __x86_64__
    return (void *)(uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
    return NULL;
#endif
}

/* On a stack of its own, which is left for good: the thread does not go on. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (!b.in_thread) { /* not a kernel's: as if this were not here */
        for (int i = 0; i < N_SIGNALS; i++)
            sigaction(signals[i], &before[i], NULL);
        raise(signal);
        return;
    }
    /* The processor's own check of 16-byte loads tells no address. */
    bool aligned = signal != SIGSEGV || info->si_code != SI_KERNEL;
    if ((signal == SIGSEGV && aligned) || signal == SIGBUS)
        fail(ILLEGAL_ADDRESS, instruction(context), "touches address %p", info->si_addr);
    else
        fail(LAUNCH_FAILED, instruction(context),
             signal == SIGFPE ? "divides by zero"
                              : "address not aligned, or what C does not define");
    fiber_switch(b.threads[b.current].fiber, &b.host, false);
    abort();
}

static void watch(bool on, stack_t *old_stack)
{
    static char *stack;
    if (!stack && (stack = malloc(SIGNAL_STACK)) == NULL)
        return;
    if (!on) {
        for (int i = 0; i < N_SIGNALS; i++)
            sigaction(signals[i], &before[i], NULL);
        sigaltstack(old_stack, NULL);
        return;
    }
    stack_t own = { .ss_sp = stack, .ss_size = SIGNAL_STACK };
    sigaltstack(&own, old_stack);
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
}

/* Dynamic shared memory ends where a page that cannot be touched begins. */
static void *dynamic_shared(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (MAX_SHARED / page + 1) * page;
    if (!b.dynamic_end) {
        char *map =
            mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED)
            return NULL;
        mprotect(map + whole, page, PROT_NONE);
        b.dynamic_end = map + whole;
    }
    return b.dynamic_end - (bytes + 15) / 16 * 16;
}

bool block_run(const struct block_launch *launch, struct block_failure *failure)
{
    *failure = (struct block_failure){ 0 };
    b.launch = launch;
    b.failure = failure;
    b.failed = false;
    b.shim = (struct shim){ .threads = launch->threads,
                            .sync = at_barrier,
                            .sync_warp = at_warp,
                            .shuffle = at_shuffle,
                            .ballot = at_ballot };
    memcpy(b.shim.grid, launch->grid, sizeof b.shim.grid);
    b.shim.dynamic_shared = dynamic_shared(launch->dynamic_shared);
    *launch->shim = &b.shim;
    stack_t old_stack;
    watch(true, &old_stack);
    for (uint32_t z = 0; z < launch->grid[2] && !b.failed; z++)
        for (uint32_t y = 0; y < launch->grid[1] && !b.failed; y++)
            for (uint32_t x = 0; x < launch->grid[0] && !b.failed; x++) {
                memcpy(b.shim.block, (uint32_t[]){ x, y, z }, sizeof b.shim.block);
                run_block(launch->threads);
            }
    watch(false, &old_stack);
    if (b.failed) { /* fibers of threads that will not go on */
        b.n_idle = 0;
        for (uint32_t i = 0; i < b.n_fibers; i++)
            b.idle[b.n_idle++] = &b.fibers[i];
    }
    return !b.failed;
}
