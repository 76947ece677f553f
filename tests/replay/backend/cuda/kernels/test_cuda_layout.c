#include <stdlib.h>

#include "replay/backend/call/kernel.h"
#include "replay/backend/cuda/runtime/cuda.h"

#include "tests/harness.h"

/* Tensors at made-up addresses. */
struct bench {
    struct cuda cuda;
    struct caller caller;
    struct storages storages;
    struct cuda_call now;
    struct backend_call call;
    struct kernel k;
    struct err err;
    struct kernel_meta metas[8];
    int64_t numbers[8][2][TENSOR_MAX_DIM];
    uint32_t n;
};

static int setup(void **state)
{
    static struct bench b;
    b = (struct bench){ .caller.backend = &b.cuda.base };
    b.call = (struct backend_call){ .caller = &b.caller, .storages = &b.storages };
    b.k = (struct kernel){ .call = &b.call, .err = &b.err };
    b.cuda.now = &b.now;
    *state = &b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    vec_release(&b->storages.by_number);
    arena_release(&b->k.arena);
    return 0;
}

enum { FAR = 1 << 30 };

/* The address is FAR * (number + 1) + shift. */
static struct kernel_tensor tensor(struct bench *b, enum dtype dtype, uint32_t ndim,
                                   const int64_t *size, const int64_t *stride, unsigned shift)
{
    uint32_t i = b->n++;
    struct memory memory = { .p = (void *)((uintptr_t)FAR * (i + 1) + shift), .bytes = SIZE_MAX };
    bool empty = false;
    for (uint32_t d = 0; d < ndim; d++) {
        empty |= size[d] == 0;
        b->numbers[i][0][d] = size[d];
        b->numbers[i][1][d] = stride[d];
    }
    b->metas[i] = (struct kernel_meta){ .dtype = dtype,
                                        .addressable = true,
                                        .ndim = ndim,
                                        .size = b->numbers[i][0],
                                        .stride = b->numbers[i][1],
                                        .reach = !empty };
    assert_true(vec_push(&b->storages.by_number, memory));
    return (struct kernel_tensor){ .meta = &b->metas[i], .storage = i };
}

#define INTS(...)     \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }

static void check_sizes(const struct cuda_layout *l, uint32_t ndim, const int64_t *size)
{
    assert_int_equal(l->ndim, ndim);
    for (uint32_t i = 0; i < ndim; i++)
        assert_int_equal(l->size[i], size[i]);
}

static void test_merges(void **state)
{
    struct bench *b = *state;
    struct cuda_layout l;
    struct kernel_tensor x[2] = {
        tensor(b, DTYPE_F32, 4, INTS(2, 3, 1, 4), INTS(12, 4, 4, 1), 0),
        tensor(b, DTYPE_F32, 4, INTS(2, 3, 1, 4), INTS(24, 4, 9, 1), 0),
    };
    assert_true(cuda_layout_of(&b->k, x, 1, &l));
    check_sizes(&l, 1, INTS(24));
    assert_int_equal(l.stride[0][0], 1);
    assert_int_equal(l.n, 24);
    assert_false(l.wide);
    assert_int_equal(l.vector, 16);
    assert_true(cuda_layout_of(&b->k, x, 2, &l));
    check_sizes(&l, 2, INTS(2, 12));
    assert_int_equal(l.stride[0][0], 12);
    assert_int_equal(l.stride[1][0], 24);
    assert_int_equal(l.stride[1][1], 1);
    assert_int_equal(l.vector, 16);
}

static void test_broadcasts(void **state)
{
    struct bench *b = *state;
    struct cuda_layout l;
    struct kernel_tensor x[3] = {
        tensor(b, DTYPE_F32, 3, INTS(2, 5, 8), INTS(40, 8, 1), 0),
        tensor(b, DTYPE_F32, 1, INTS(8), INTS(1), 0),
        tensor(b, DTYPE_F32, 3, INTS(2, 1, 1), INTS(1, 7, 7), 0),
    };
    assert_true(cuda_layout_of(&b->k, x, 2, &l));
    check_sizes(&l, 2, INTS(10, 8));
    assert_int_equal(l.stride[1][0], 0);
    assert_int_equal(l.stride[1][1], 1);
    assert_int_equal(l.vector, 16);
    assert_true(cuda_layout_of(&b->k, x, 3, &l));
    check_sizes(&l, 3, INTS(2, 5, 8));
    assert_int_equal(l.stride[2][0], 1);
    assert_int_equal(l.stride[2][1], 0);
    assert_int_equal(l.stride[2][2], 0);
    assert_int_equal(l.vector, 4); /* one of them has a single element in a row */
}

static void test_no_elements(void **state)
{
    struct bench *b = *state;
    struct cuda_layout l;
    struct kernel_tensor x = tensor(b, DTYPE_F32, 2, INTS(0, 5), INTS(5, 1), 0);
    struct kernel_tensor scalar = tensor(b, DTYPE_F64, 0, NULL, NULL, 0);
    assert_true(cuda_layout_of(&b->k, &x, 1, &l));
    assert_int_equal(l.n, 0);
    assert_true(cuda_layout_of(&b->k, &scalar, 1, &l));
    assert_int_equal(l.n, 1);
    assert_int_equal(l.ndim, 0);
    assert_int_equal(l.vector, 8);
    assert_int_equal(cuda_address(&b->k, x), 0);
    assert_int_equal(cuda_address(&b->k, scalar), 2 * (uint64_t)FAR);
}

static uint32_t vector(struct bench *b, enum dtype dtype, int64_t rows, int64_t row, int64_t stride,
                       unsigned shift)
{
    struct cuda_layout l;
    b->n = 0;
    b->storages.by_number.n = 0;
    struct kernel_tensor x = tensor(b, dtype, 2, INTS(rows, row), INTS(stride, 1), shift);
    assert_true(cuda_layout_of(&b->k, &x, 1, &l));
    return l.vector;
}

static void test_vector(void **state)
{
    struct bench *b = *state;
    assert_int_equal(vector(b, DTYPE_F32, 3, 8, 8, 0), 16);
    assert_int_equal(vector(b, DTYPE_F32, 3, 8, 10, 0), 8);
    assert_int_equal(vector(b, DTYPE_F32, 3, 8, 11, 0), 4);
    assert_int_equal(vector(b, DTYPE_F32, 3, 8, 8, 8), 8);
    assert_int_equal(vector(b, DTYPE_F32, 3, 8, 8, 4), 4);
    assert_int_equal(vector(b, DTYPE_F32, 3, 6, 8, 0), 8);
    assert_int_equal(vector(b, DTYPE_BF16, 2, 12, 16, 0), 8);
    assert_int_equal(vector(b, DTYPE_BF16, 2, 7, 16, 0), 2);
    assert_int_equal(vector(b, DTYPE_I8, 1, 48, 1, 0), 16);
    assert_int_equal(vector(b, DTYPE_I8, 1, 48, 1, 3), 1);
    assert_int_equal(vector(b, DTYPE_F64, 2, 4, 4, 0), 16);
}

/* Of several dtypes: elements by elements, the widest by 16 bytes. */
static void test_vector_of_two(void **state)
{
    struct bench *b = *state;
    struct cuda_layout l;
    struct kernel_tensor x[2] = { tensor(b, DTYPE_F32, 1, INTS(8), INTS(1), 0),
                                  tensor(b, DTYPE_BF16, 1, INTS(8), INTS(1), 8) };
    assert_true(cuda_layout_of(&b->k, x, 2, &l));
    assert_int_equal(l.vector, 16); /* four elements: 16 and 8 bytes */
    x[1] = tensor(b, DTYPE_BF16, 1, INTS(8), INTS(1), 4);
    assert_true(cuda_layout_of(&b->k, x, 2, &l));
    assert_int_equal(l.vector, 8);
}

static bool wide(struct bench *b, enum dtype dtype, int64_t rows, int64_t row, int64_t stride)
{
    struct cuda_layout l;
    b->n = 0;
    b->storages.by_number.n = 0;
    struct kernel_tensor x = tensor(b, dtype, 2, INTS(rows, row), INTS(stride, 1), 0);
    assert_true(cuda_layout_of(&b->k, &x, 1, &l));
    return l.wide;
}

static void test_wide(void **state)
{
    struct bench *b = *state;
    assert_false(wide(b, DTYPE_I8, 1, INT32_MAX, 1));
    assert_true(wide(b, DTYPE_I8, 1, (int64_t)INT32_MAX + 1, 1));
    assert_true(wide(b, DTYPE_F32, 1, (int64_t)1 << 29, 1));
    assert_false(wide(b, DTYPE_F32, 1, ((int64_t)1 << 29) - 1, 1));
    assert_true(wide(b, DTYPE_F32, 2, 1, (int64_t)1 << 29)); /* two elements, far apart */
    assert_true(wide(b, DTYPE_F32, (int64_t)1 << 40, 1, 0)); /* one element, so many times */
}

/* More dimensions than kernels take, and what they do not know, are for the CPU. */
static void test_declines(void **state)
{
    struct bench *b = *state;
    struct cuda_layout l;
    int64_t size[9], stride[9];
    for (int i = 0; i < 9; i++) {
        size[i] = 2;
        stride[i] = (int64_t)3 << i * 2;
    }
    struct kernel_tensor many = tensor(b, DTYPE_F32, 9, size, stride, 0);
    assert_false(cuda_layout_of(&b->k, &many, 1, &l));
    assert_true(b->now.declined);
    assert_false(err_is_set(&b->err));

    b->k.failed = b->now.declined = false;
    struct kernel_tensor negative = tensor(b, DTYPE_F32, 1, INTS(4), INTS(1), 0);
    b->metas[negative.storage].neg = true;
    assert_false(cuda_layout_of(&b->k, &negative, 1, &l));
    assert_true(b->now.declined);
}

static void test_types(void **state)
{
    (void)state;
    assert_string_equal(cuda_type(DTYPE_BF16), "bf16");
    assert_string_equal(cuda_sum_type(DTYPE_BF16), "f32");
    assert_string_equal(cuda_sum_type(DTYPE_F64), "f64");
    assert_string_equal(cuda_sum_type(DTYPE_B8), "i64");
    assert_null(cuda_type(DTYPE_C64));
    assert_null(cuda_sum_type(DTYPE_C64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_merges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broadcasts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vector, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vector_of_two, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wide, setup, teardown),
        cmocka_unit_test_setup_teardown(test_declines, setup, teardown),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
