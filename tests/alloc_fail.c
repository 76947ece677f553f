/* The linker sends the allocations of a unit test here (-Wl,--wrap). */
#include <stdlib.h>

#include "tests/harness.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static struct {
    size_t countdown; /* 0: none is to fail */
    bool onwards, failed;
} plan;

void alloc_fail_at(size_t n, bool onwards)
{
    plan.countdown = n;
    plan.onwards = onwards;
    plan.failed = false;
}

bool alloc_has_failed(void)
{
    return plan.failed;
}

static bool is_to_fail(void)
{
    if (plan.countdown == 0 || --plan.countdown > 0)
        return false;
    plan.failed = true;
    plan.countdown = plan.onwards ? 1 : 0;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return is_to_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_to_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_to_fail() ? NULL : __real_realloc(old, size);
}
