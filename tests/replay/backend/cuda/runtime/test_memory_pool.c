#include "replay/backend/cuda/runtime/memory_pool.h"

#include <string.h>

#include "tests/harness.h"

/* A device of so many bytes, whose chunks are counted. */
struct device {
    size_t room, held;
    unsigned chunks, asked;
    uint64_t next;
    struct {
        uint64_t address;
        size_t bytes;
    } chunk[256];
};

static bool get(void *user, size_t bytes, uint64_t *ret)
{
    struct device *d = user;
    d->asked++;
    assert_int_equal(bytes % MEMORY_POOL_CHUNK, 0);
    if (bytes > d->room - d->held || d->chunks == 256)
        return false;
    *ret = d->next;
    d->chunk[d->chunks].address = d->next;
    d->chunk[d->chunks++].bytes = bytes;
    d->next += bytes + MEMORY_POOL_CHUNK; /* never neighbours */
    d->held += bytes;
    return true;
}

static void put(void *user, uint64_t address)
{
    struct device *d = user;
    for (unsigned i = 0; i < d->chunks; i++)
        if (d->chunk[i].address == address) {
            d->held -= d->chunk[i].bytes;
            d->chunk[i] = d->chunk[--d->chunks];
            return;
        }
    fail_msg("a chunk that was never handed out");
}

static struct device device_of(size_t room)
{
    return (struct device){ .room = room, .next = 1 << 20 };
}

static struct memory_pool pool_of(struct device *d)
{
    struct memory_pool pool;
    memory_pool_init(&pool, (struct memory_pool_source){ get, put, d });
    return pool;
}

static bool within(const struct device *d, uint64_t address, size_t bytes)
{
    for (unsigned i = 0; i < d->chunks; i++)
        if (address >= d->chunk[i].address &&
            address + bytes <= d->chunk[i].address + d->chunk[i].bytes)
            return true;
    return false;
}

struct part {
    uint64_t address;
    size_t bytes;
};

static uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*state >> 33) % n;
}

static void check_apart(const struct part *parts, size_t n, const struct part *one)
{
    for (size_t i = 0; i < n; i++)
        if (&parts[i] != one && parts[i].address)
            assert_true(parts[i].address + parts[i].bytes <= one->address ||
                        one->address + (one->bytes ? one->bytes : 1) <= parts[i].address);
}

/* Whatever is taken and given back in whatever order: nothing overlaps, everything lies in a chunk,
 * sums are right, and in the end all is one part again. */
static void test_random(void **state)
{
    (void)state;
    enum { PARTS = 300, STEPS = 20000 };
    struct device d = device_of((size_t)512 << 20);
    struct memory_pool pool = pool_of(&d);
    struct part parts[PARTS] = { 0 };
    uint64_t seed = 7;
    size_t sum = 0;
    for (int step = 0; step < STEPS; step++) {
        struct part *p = &parts[random_below(&seed, PARTS)];
        if (p->address) {
            assert_true(memory_pool_put(&pool, p->address));
            sum -= p->bytes ? (p->bytes + 255) / 256 * 256 : 256;
            p->address = 0;
        } else {
            p->bytes = random_below(&seed, 1u << random_below(&seed, 22));
            if (memory_pool_get(&pool, p->bytes, &p->address) != MEMORY_POOL_DONE)
                fail_msg("there is room");
            sum += p->bytes ? (p->bytes + 255) / 256 * 256 : 256;
            assert_int_equal(p->address % MEMORY_POOL_ALIGNMENT, 0);
            assert_true(within(&d, p->address, p->bytes));
            check_apart(parts, PARTS, p);
        }
        assert_int_equal(pool.bytes, sum);
        assert_int_equal(pool.reserved, d.held);
        assert_true(pool.peak >= sum && pool.reserved_peak >= pool.peak);
    }
    for (int i = 0; i < PARTS; i++)
        if (parts[i].address)
            assert_true(memory_pool_put(&pool, parts[i].address));
    assert_int_equal(pool.bytes, 0);
    assert_int_equal(pool.n_used, 0);
    size_t left = pool.reserved;
    assert_int_equal(memory_pool_trim(&pool), left);
    assert_int_equal(d.chunks, 0);
    memory_pool_release(&pool);
}

static void test_reuse(void **state)
{
    (void)state;
    struct device d = device_of((size_t)64 << 20);
    struct memory_pool pool = pool_of(&d);
    uint64_t a, b, c, again;
    assert_int_equal(memory_pool_get(&pool, 1000, &a), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, 5000, &b), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, 1000, &c), MEMORY_POOL_DONE);
    assert_int_equal(d.chunks, 1);
    /* What was given back is handed out at once, to what fits best. */
    assert_true(memory_pool_put(&pool, a));
    assert_true(memory_pool_put(&pool, b));
    assert_int_equal(memory_pool_get(&pool, 6100, &again), MEMORY_POOL_DONE); /* a and b together */
    assert_int_equal(again, a);
    assert_int_equal(pool.bytes, 6144 + 1024);
    assert_false(memory_pool_put(&pool, b));
    assert_false(memory_pool_put(&pool, 12345));
    memory_pool_release(&pool);
    assert_int_equal(d.chunks, 0);
}

static void test_best_fit(void **state)
{
    (void)state;
    struct device d = device_of((size_t)64 << 20);
    struct memory_pool pool = pool_of(&d);
    static const size_t sizes[] = { 4096, 256, 2048, 256, 3072, 256 };
    uint64_t at[6], got;
    for (int i = 0; i < 6; i++)
        assert_int_equal(memory_pool_get(&pool, sizes[i], &at[i]), MEMORY_POOL_DONE);
    for (int i = 0; i < 6; i += 2)
        assert_true(memory_pool_put(&pool, at[i]));
    assert_int_equal(memory_pool_get(&pool, 2900, &got), MEMORY_POOL_DONE);
    assert_int_equal(got, at[4]);
    assert_int_equal(memory_pool_get(&pool, 2048, &got), MEMORY_POOL_DONE);
    assert_int_equal(got, at[2]);
    assert_int_equal(memory_pool_get(&pool, 2048, &got), MEMORY_POOL_DONE);
    assert_int_equal(got, at[0]);
    memory_pool_release(&pool);
}

static void test_nothing(void **state)
{
    (void)state;
    struct device d = device_of((size_t)64 << 20);
    struct memory_pool pool = pool_of(&d);
    uint64_t a, b;
    assert_int_equal(memory_pool_get(&pool, 0, &a), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, 0, &b), MEMORY_POOL_DONE);
    assert_true(a && b && a != b);
    assert_true(memory_pool_put(&pool, a) && memory_pool_put(&pool, b));
    memory_pool_release(&pool);
}

/* Unused chunks go back before it is said that there is no room. */
static void test_full(void **state)
{
    (void)state;
    struct device d = device_of((size_t)10 << 20);
    struct memory_pool pool = pool_of(&d);
    uint64_t a, b, c;
    assert_int_equal(memory_pool_get(&pool, (size_t)4 << 20, &a), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, (size_t)4 << 20, &b), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, (size_t)4 << 20, &c), MEMORY_POOL_NO_DEVICE_MEMORY);
    assert_true(memory_pool_put(&pool, a));
    assert_int_equal(memory_pool_get(&pool, (size_t)6 << 20, &c), MEMORY_POOL_DONE);
    assert_int_equal(d.held, (size_t)10 << 20);
    assert_int_equal(memory_pool_get(&pool, SIZE_MAX, &a), MEMORY_POOL_NO_DEVICE_MEMORY);
    assert_int_equal(memory_pool_get(&pool, SIZE_MAX / 2 - 1, &a), MEMORY_POOL_NO_DEVICE_MEMORY);
    assert_int_equal(pool.bytes, (size_t)10 << 20);
    memory_pool_release(&pool);
    assert_int_equal(d.held, 0);
}

/* Chunks grow, so that many small parts ask the driver seldom. */
static void test_few_chunks(void **state)
{
    (void)state;
    struct device d = device_of((size_t)1 << 30);
    struct memory_pool pool = pool_of(&d);
    uint64_t at;
    for (int i = 0; i < 2000; i++)
        assert_int_equal(memory_pool_get(&pool, 100 << 10, &at), MEMORY_POOL_DONE);
    assert_true(d.asked < 10);
    memory_pool_release(&pool);
}

/* With a budget, no more than needed is taken beyond it, and empty chunks go back before and
 * after. */
static void test_budget(void **state)
{
    (void)state;
    enum { MB = 1 << 20 };
    struct device d = device_of((size_t)1 << 30);
    struct memory_pool pool = pool_of(&d);
    uint64_t a, b, c, e;
    pool.budget = 9 * MB;
    assert_int_equal(memory_pool_get(&pool, 1 * MB, &a), MEMORY_POOL_DONE);
    assert_int_equal(memory_pool_get(&pool, 3 * MB, &b), MEMORY_POOL_DONE);
    assert_int_equal(d.held, 6 * MB);                                       /* chunks of 2 and 4 */
    assert_int_equal(memory_pool_get(&pool, 2 * MB, &c), MEMORY_POOL_DONE); /* not of 8 */
    assert_int_equal(d.held, 8 * MB);
    assert_true(memory_pool_put(&pool, b));
    assert_int_equal(memory_pool_get(&pool, 5 * MB, &e), MEMORY_POOL_DONE); /* that of b went */
    assert_int_equal(d.held, 10 * MB);
    assert_int_equal(pool.returned, 4 * MB);
    memory_pool_keep_budget(&pool);
    assert_int_equal(d.held, 10 * MB); /* all is used */
    assert_true(memory_pool_put(&pool, c));
    memory_pool_keep_budget(&pool);
    assert_int_equal(d.held, 8 * MB);
    assert_true(memory_pool_put(&pool, e));
    memory_pool_keep_budget(&pool);
    assert_int_equal(d.held, 8 * MB); /* within the budget, it stays */
    pool.budget = 1;
    memory_pool_keep_budget(&pool);
    assert_int_equal(d.held, 2 * MB);
    assert_int_equal(pool.taken - pool.returned, 2 * MB);
    assert_true(memory_pool_put(&pool, a));
    pool.budget = 0;
    memory_pool_keep_budget(&pool);
    assert_int_equal(d.held, 2 * MB);
    memory_pool_release(&pool);
}

/* Before a larger chunk is taken, empty ones are freed, so that the pool is no larger than the
 * largest of the blocks that are used one after the other. */
static void test_empty_chunks_first(void **state)
{
    (void)state;
    enum { MB = 1 << 20 };
    struct device d = device_of((size_t)1 << 30);
    struct memory_pool pool = pool_of(&d);
    uint64_t used, at;
    assert_int_equal(memory_pool_get(&pool, 1 * MB, &used), MEMORY_POOL_DONE);
    for (size_t bytes = 4; bytes <= 64; bytes += 2) {
        assert_int_equal(memory_pool_get(&pool, bytes * MB, &at), MEMORY_POOL_DONE);
        assert_true(memory_pool_put(&pool, at));
        assert_int_equal(d.held, (2 + bytes) * MB);
    }
    assert_int_equal(pool.reserved_peak, 66 * MB);
    for (size_t bytes = 64; bytes; bytes--) { /* smaller ones fit into the chunk that is there */
        assert_int_equal(memory_pool_get(&pool, bytes * MB, &at), MEMORY_POOL_DONE);
        assert_true(memory_pool_put(&pool, at));
        assert_int_equal(d.chunks, 2);
    }
    memory_pool_release(&pool);
}

/* Chunks that later work uses stay, although they are empty: also where there is no memory. */
static void test_kept_chunks(void **state)
{
    (void)state;
    enum { MB = 1 << 20 };
    struct device d = device_of((size_t)10 << 20);
    struct memory_pool pool = pool_of(&d);
    uint64_t a, b;
    pool.keeps_chunks = true;
    pool.budget = 1;
    assert_int_equal(memory_pool_get(&pool, 2 * MB, &a), MEMORY_POOL_DONE);
    assert_true(memory_pool_put(&pool, a));
    assert_int_equal(memory_pool_get(&pool, 6 * MB, &b), MEMORY_POOL_DONE);
    assert_true(memory_pool_put(&pool, b));
    assert_int_equal(memory_pool_get(&pool, 8 * MB, &b), MEMORY_POOL_NO_DEVICE_MEMORY);
    memory_pool_keep_budget(&pool);
    assert_int_equal(memory_pool_trim(&pool), 0);
    assert_int_equal(d.held, 8 * MB);
    assert_int_equal(memory_pool_get(&pool, 2 * MB, &b), MEMORY_POOL_DONE);
    assert_int_equal(b, a);
    memory_pool_release(&pool);
    assert_int_equal(d.held, 0);
}

static bool take_some(void *arg)
{
    struct device d = device_of((size_t)64 << 20);
    struct memory_pool pool = pool_of(&d);
    uint64_t at[40];
    bool ok = true;
    (void)arg;
    for (int i = 0; ok && i < 40; i++)
        ok = memory_pool_get(&pool, 1000 * (size_t)i, &at[i]) == MEMORY_POOL_DONE;
    memory_pool_release(&pool);
    assert_int_equal(d.chunks, 0);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(take_some, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_best_fit),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_few_chunks),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_empty_chunks_first),
        cmocka_unit_test(test_kept_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
