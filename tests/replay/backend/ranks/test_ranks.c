/* Ranks that meet, and ranks that do not agree. */
#include "replay/backend/ranks/ranks.h"

#include <pthread.h>
#include <string.h>

#include "tests/harness.h"

enum { RANKS = 4 };

struct member {
    struct rank_job *job;
    uint32_t number;
    const struct collective *calls; /* n_calls; their data is set here */
    size_t n_calls;
    int value; /* what it sends, and the sum */
    struct err err;
    pthread_t thread;
};

static bool sum(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    int total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += *(int *)all[i]->data;
    for (uint32_t i = 0; i < n; i++)
        *(int *)all[i]->data = total;
    return true;
}

static bool refuse(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)all;
    return err_set(err, ERR_ENV, "%u ranks are refused", n);
}

static void *run_calls(void *user)
{
    struct member *m = user;
    struct rank *rank = rank_begin(m->job, m->number);
    bool ok = true;
    for (size_t i = 0; ok && i < m->n_calls; i++) {
        struct collective call = m->calls[i];
        call.data = &m->value;
        ok = rank_meet(rank, &call, str_is(call.op, "refused") ? refuse : sum, &m->err);
    }
    rank_end(rank, &m->err);
    return NULL;
}

static void run_members(struct member *members, struct rank_job *job)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        members[i].job = job;
        members[i].number = i;
        members[i].value = (int)i + 1;
        assert_int_equal(pthread_create(&members[i].thread, NULL, run_calls, &members[i]), 0);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        pthread_join(members[i].thread, NULL);
}

static struct collective call_of(const char *op, const char *group, enum dtype dtype, int64_t size)
{
    return (struct collective){ .op = str_of(op),
                                .group = str_of(group),
                                .root = -1,
                                .dtype = dtype,
                                .ndim = 1,
                                .size = { size } };
}

static struct rank_job *new_job(void)
{
    struct err err = { 0 };
    struct rank_job *job = rank_job_new(RANKS, &err);
    assert_non_null(job);
    return job;
}

static void test_meet(void **state)
{
    (void)state;
    const struct collective calls[] = { call_of("all_reduce", "0", DTYPE_F32, 8),
                                        call_of("all_reduce", "0", DTYPE_F32, 8) };
    struct member members[RANKS] = { 0 };
    struct rank_job *job = new_job();
    for (uint32_t i = 0; i < RANKS; i++) {
        members[i].calls = calls;
        members[i].n_calls = 2;
    }
    run_members(members, job);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_false(err_is_set(&members[i].err));
        assert_int_equal(members[i].value, 40);
    }
    assert_null(rank_job_divergence(job)->kind);
    rank_job_free(job);
}

static void test_groups(void **state)
{
    (void)state;
    const struct collective even = call_of("all_reduce", "1", DTYPE_F32, 8),
                            odd = call_of("all_reduce", "2", DTYPE_F32, 8);
    struct member members[RANKS] = { 0 };
    struct rank_job *job = new_job();
    struct err err = { 0 };
    for (uint32_t i = 0; i < RANKS; i++) {
        members[i].calls = i % 2 ? &odd : &even;
        members[i].n_calls = 1;
        assert_true(rank_job_join(job, i % 2 ? STR("2") : STR("1"), i, &err));
    }
    run_members(members, job);
    for (uint32_t i = 0; i < RANKS; i++)
        assert_int_equal(members[i].value, i % 2 ? 6 : 4);
    rank_job_free(job);
}

static void check_divergence(const struct collective *usual, size_t n,
                             const struct collective *other, size_t n_other, const char *kind)
{
    struct member members[RANKS] = { 0 };
    struct rank_job *job = new_job();
    for (uint32_t i = 0; i < RANKS; i++) {
        members[i].calls = i == 2 ? other : usual;
        members[i].n_calls = i == 2 ? n_other : n;
    }
    run_members(members, job);
    const struct rank_divergence *d = rank_job_divergence(job);
    assert_string_equal(d->kind, kind);
    assert_int_equal(d->rank, 2);
    assert_true(str_contains(d->text, STR("rank 2: ")));
    assert_int_equal(members[0].err.kind, ERR_USAGE);
    rank_job_free(job);
}

static void test_divergence(void **state)
{
    (void)state;
    const struct collective usual[] = { call_of("all_reduce", "0", DTYPE_F32, 8) },
                            size[] = { call_of("all_reduce", "0", DTYPE_F32, 7) },
                            dtype[] = { call_of("all_reduce", "0", DTYPE_BF16, 8) },
                            order[] = { call_of("broadcast", "0", DTYPE_F32, 8) };
    check_divergence(usual, 1, size, 1, "size");
    check_divergence(usual, 1, dtype, 1, "dtype");
    check_divergence(usual, 1, order, 1, "order");
    check_divergence(usual, 1, NULL, 0, "missing");
}

static void test_failure(void **state)
{
    (void)state;
    const struct collective call = call_of("refused", "0", DTYPE_F32, 8);
    struct member members[RANKS] = { 0 };
    struct rank_job *job = new_job();
    for (uint32_t i = 0; i < RANKS; i++) {
        members[i].calls = &call;
        members[i].n_calls = 1;
    }
    run_members(members, job);
    for (uint32_t i = 0; i < RANKS; i++)
        assert_string_equal(members[i].err.text, "4 ranks are refused");
    assert_null(rank_job_divergence(job)->kind);
    rank_job_free(job);
}

static struct err meet_once(struct rank *rank)
{
    struct collective call = call_of("all_reduce", "0", DTYPE_F32, 8);
    struct err err = { 0 };
    int value = 0;
    call.data = &value;
    (void)rank_meet(rank, &call, sum, &err);
    return err;
}

static void *repeat_graphs(void *user)
{
    struct member *m = user;
    struct rank *rank = rank_begin(m->job, m->number);
    for (int graph = 0; graph < 2; graph++) {
        rank_begin_graph(rank);
        for (int i = 0; i < 3; i++) {
            rank_repeat(rank);
            (void)meet_once(rank);
        }
    }
    if (m->number)
        m->err = meet_once(rank);
    rank_end(rank, &m->err);
    return NULL;
}

/* Two graphs that are run three times have two collectives, not six. */
static void test_repeats(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct rank_job *job = rank_job_new(2, &err);
    struct member members[2] = { { .job = job }, { .job = job, .number = 1 } };
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&members[i].thread, NULL, repeat_graphs, &members[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(members[i].thread, NULL);
    assert_string_equal(rank_job_divergence(job)->kind, "missing");
    assert_int_equal(rank_job_divergence(job)->ordinal, 3);
    rank_job_free(job);
}

/* ---- Messages ---- */

static void *send_or_receive(void *user)
{
    struct member *m = user;
    struct rank *rank = rank_begin(m->job, m->number);
    double x[2] = { m->number + 1, 0 };
    struct rank_message message = { .op = m->number ? STR("isend") : STR("irecv"),
                                    .group = STR("0"),
                                    .peer = m->number ? 0 : 1,
                                    .dtype = DTYPE_F32,
                                    .elements = x,
                                    .n = (size_t)m->value,
                                    .each = sizeof *x };
    if (m->number == 0 && rank_receive(rank, &message, &m->err))
        m->value = (int)x[0];
    else if (m->number == 1)
        (void)rank_send(rank, &message, &m->err);
    rank_end(rank, &m->err);
    return NULL;
}

static void check_message(int sent, int received, const char *kind)
{
    struct err err = { 0 };
    struct rank_job *job = rank_job_new(2, &err);
    struct member members[2] = { { .job = job, .value = received },
                                 { .job = job, .number = 1, .value = sent } };
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&members[i].thread, NULL, send_or_receive, &members[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(members[i].thread, NULL);
    if (kind)
        assert_string_equal(rank_job_divergence(job)->kind, kind);
    else
        assert_int_equal(members[0].value, 2);
    rank_job_free(job);
}

static void test_messages(void **state)
{
    (void)state;
    check_message(1, 1, NULL);
    check_message(2, 1, "size");
}

/* Nobody waits for a rank that does not exist. */
static void test_no_peer(void **state)
{
    (void)state;
    struct err sent = { 0 }, received = { 0 };
    double x = 0;
    struct rank_job *job = rank_job_new(1, &sent);
    struct rank *rank = rank_begin(job, 0);
    struct rank_message m = {
        .op = STR("isend"), .group = STR("0"), .peer = 1, .elements = &x, .n = 1, .each = sizeof x
    };
    assert_false(rank_send(rank, &m, &sent));
    assert_string_equal(sent.text, "isend to rank 1, and process group \"0\" has 1 ranks");
    m.op = STR("irecv");
    m.peer = -1;
    assert_false(rank_receive(rank, &m, &received));
    assert_string_equal(received.text, "irecv from rank -1, and process group \"0\" has 1 ranks");
    rank_end(rank, &received);
    assert_null(rank_job_divergence(job)->kind);
    rank_job_free(job);
}

/* Each rank computes a part and lets the others do so before it waits. */
struct yielding {
    struct rank_job *job;
    uint32_t number;
    char *order; /* of all ranks, "01230123" */
    pthread_t thread;
};

static void *yield_twice(void *user)
{
    const struct yielding *y = user;
    struct err err = ERR_INIT;
    struct rank *rank = rank_begin(y->job, y->number);
    for (int i = 0; i < 2; i++) {
        y->order[strlen(y->order)] = (char)('0' + y->number);
        rank_yield(rank);
    }
    rank_end(rank, &err);
    return NULL;
}

static void test_yield(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rank_job *job = rank_job_new(RANKS, &err);
    struct yielding all[RANKS];
    char order[2 * RANKS + 1] = { 0 };
    for (uint32_t i = 0; i < RANKS; i++) {
        all[i] = (struct yielding){ .job = job, .number = i, .order = order };
        assert_int_equal(pthread_create(&all[i].thread, NULL, yield_twice, &all[i]), 0);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        pthread_join(all[i].thread, NULL);
    assert_string_equal(order, "01230123");
    assert_null(rank_job_divergence(job)->kind);
    rank_yield(NULL);
    rank_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yield),   cmocka_unit_test(test_meet),
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_failure), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_no_peer), cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
