#include "profile/calls/cudagraphs/private_pool.h"
#include "tests/harness.h"

#define MIB ((uint64_t)1 << 20)

static uint32_t take(struct private_pool *pool, uint64_t bytes)
{
    uint32_t ret;
    assert_true(private_pool_take(pool, bytes, &ret));
    return ret;
}

static void test_segments(void **state)
{
    (void)state;
    struct private_pool pool = { 0 };
    assert_int_equal(take(&pool, 0), BLOCK_NONE);
    assert_int_equal(pool.reserved, 0);
    take(&pool, 1); /* 512 bytes of 2 MiB */
    take(&pool, MIB);
    assert_int_equal(pool.reserved, 2 * MIB);
    take(&pool, MIB);
    assert_int_equal(pool.reserved, 4 * MIB);
    take(&pool, MIB + 1); /* of 20 MiB */
    take(&pool, 9 * MIB);
    assert_int_equal(pool.reserved, 24 * MIB);
    take(&pool, 10 * MIB); /* of its own */
    assert_int_equal(pool.reserved, 34 * MIB);
    take(&pool, 11 * MIB + 1);
    assert_int_equal(pool.reserved, 46 * MIB);
    private_pool_release(&pool);
}

static void test_reuse(void **state)
{
    (void)state;
    struct private_pool pool = { 0 };
    uint32_t a = take(&pool, 8 * MIB), b = take(&pool, 6 * MIB), c = take(&pool, 6 * MIB);
    assert_int_equal(pool.reserved, 20 * MIB);
    assert_true(private_pool_give(&pool, a) && private_pool_give(&pool, c));
    take(&pool, 6 * MIB); /* the block that fits exactly */
    take(&pool, 8 * MIB);
    assert_int_equal(pool.reserved, 20 * MIB);
    assert_true(private_pool_give(&pool, b));
    take(&pool, 7 * MIB);
    assert_int_equal(pool.reserved, 40 * MIB);
    private_pool_release(&pool);
}

/* Whatever is taken and given, blocks do not overlap, and all are joined at the end. */
static bool take_many(void *data)
{
    (void)data;
    struct private_pool pool = { 0 };
    uint64_t random = 7, taken = 0;
    uint32_t held[64];
    bool ok = true;
    for (int i = 0; i < 64; i++)
        held[i] = BLOCK_NONE;
    for (int i = 0; ok && i < 400; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t *one = &held[random >> 33 & 63];
        if (*one != BLOCK_NONE)
            taken -= pool.blocks.v[*one].bytes;
        ok = private_pool_give(&pool, *one) &&
             private_pool_take(&pool, (random >> 40 & 0xfff) << 10, one);
        if (ok && *one != BLOCK_NONE)
            taken += pool.blocks.v[*one].bytes;
        uint64_t free = 0;
        for (size_t k = 0; ok && k < pool.free.n; k++)
            free += pool.blocks.v[pool.free.v[k]].bytes;
        if (ok)
            assert_int_equal(taken + free, pool.reserved);
    }
    for (int i = 0; ok && i < 64; i++)
        ok = private_pool_give(&pool, held[i]);
    for (size_t i = 0; ok && i < pool.free.n; i++) {
        assert_int_equal(pool.blocks.v[pool.free.v[i]].previous, BLOCK_NONE);
        assert_int_equal(pool.blocks.v[pool.free.v[i]].next, BLOCK_NONE);
    }
    private_pool_release(&pool);
    return ok;
}

static void test_many(void **state)
{
    (void)state;
    assert_true(take_many(NULL));
    check_alloc_failures(take_many, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
