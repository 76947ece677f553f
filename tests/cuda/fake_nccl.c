/* libnccl.so.2 for tests: ranks of one process on the memory of the fake driver. It ends the
 * process where a call breaks a rule of NCCL: outside of a group, ranks of a communicator that make
 * different calls, a device that has two ranks, a message that nobody receives. Sums are made in
 * double, in the order of ranks, and rounded once.
 *
 * $FAKE_NCCL: "refuse": communicators cannot be made; "broken": collectives answer with an error;
 * "lost": the device of rank 0 is lost before the collective, for which the others wait until their
 * communicators are aborted (fake_driver.c reads $SYMTAPE_FAKE_LOST_STREAM, which this sets).
 * $FAKE_NCCL_TRACE: FILE, to which a line for each collective is added. */
#define LIBRARY "nccl"
#define MOOD    "FAKE_NCCL"
#include "tests/cuda/fake_library.h"

#include <stdbool.h>

#include "replay/backend/cuda/libraries/nccl_abi.h"
#include "replay/backend/values/elements.h"

enum { MOST = 64, SYSTEM_ERROR = 2, COMM = 0x434f };
enum call_kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, SEND, RECEIVE };

struct comm {
    int what, rank, n;
    struct clique *clique;
};
struct clique {
    int left; /* ranks that were not destroyed */
};
struct call {
    enum call_kind kind;
    const void *from;
    void *to;
    size_t n;
    int type, op; /* op: the root of a broadcast, the peer of a message */
    struct comm *comm;
    void *stream;
};

static struct call calls[MOST * MOST * 2];
static size_t n_calls;
static int depth;

int ncclGetVersion(int *ret);
int ncclGetVersion(int *ret)
{
    *ret = 22803;
    return NCCL_OK;
}

const char *ncclGetErrorString(int result);
const char *ncclGetErrorString(int result)
{
    return result == SYSTEM_ERROR ? "unhandled system error" : "no error";
}

int ncclCommInitAll(void **ret, int n, const int *devices);
int ncclCommInitAll(void **ret, int n, const int *devices)
{
    if (wanted("refuse"))
        return SYSTEM_ERROR;
    CHECK(n > 0 && n <= MOST, "%d ranks", n);
    struct clique *clique = calloc(1, sizeof *clique);
    CHECK(clique, "no memory");
    clique->left = n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            CHECK(devices[i] != devices[k], "device %d has two ranks", devices[i]);
        struct comm *comm = calloc(1, sizeof *comm);
        CHECK(comm, "no memory");
        *comm = (struct comm){ COMM, i, n, clique };
        ret[i] = comm;
    }
    return NCCL_OK;
}

int ncclCommDestroy(void *p);
int ncclCommDestroy(void *p)
{
    struct comm *comm = p;
    CHECK(comm && comm->what == COMM, "no communicator, or one that was destroyed");
    if (--comm->clique->left == 0)
        free(comm->clique);
    comm->what = 0;
    free(comm);
    return NCCL_OK;
}

int ncclCommAbort(void *p);
int ncclCommAbort(void *p)
{
    setenv("SYMTAPE_FAKE_ABORTED", "1", 1);
    return ncclCommDestroy(p);
}

/* Nothing is computed: streams of the other ranks wait. */
static void lose_device(void)
{
    char text[32];
    for (size_t i = 0; i < n_calls; i++)
        if (calls[i].comm->rank == 0) {
            snprintf(text, sizeof text, "%p", calls[i].stream);
            setenv("SYMTAPE_FAKE_LOST_STREAM", text, 1);
        }
}

static int add(struct call call)
{
    CHECK(call.comm && call.comm->what == COMM, "no communicator, or one that was destroyed");
    CHECK(depth > 0, "outside of a group, the call may wait for a rank that cannot make its own");
    CHECK(n_calls < sizeof calls / sizeof *calls, "too many calls");
    calls[n_calls++] = call;
    return NCCL_OK;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream);
int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream)
{
    return add((struct call){ ALL_REDUCE, from, to, n, type, op, comm, stream });
}

int ncclReduceScatter(const void *from, void *to, size_t n, int type, int op, void *comm,
                      void *stream);
int ncclReduceScatter(const void *from, void *to, size_t n, int type, int op, void *comm,
                      void *stream)
{
    return add((struct call){ REDUCE_SCATTER, from, to, n, type, op, comm, stream });
}

int ncclAllGather(const void *from, void *to, size_t n, int type, void *comm, void *stream);
int ncclAllGather(const void *from, void *to, size_t n, int type, void *comm, void *stream)
{
    return add((struct call){ ALL_GATHER, from, to, n, type, 0, comm, stream });
}

int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, void *comm,
                  void *stream);
int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, void *comm,
                  void *stream)
{
    return add((struct call){ BROADCAST, from, to, n, type, root, comm, stream });
}

int ncclSend(const void *from, size_t n, int type, int peer, void *comm, void *stream);
int ncclSend(const void *from, size_t n, int type, int peer, void *comm, void *stream)
{
    return add((struct call){ SEND, from, NULL, n, type, peer, comm, stream });
}

int ncclRecv(void *to, size_t n, int type, int peer, void *comm, void *stream);
int ncclRecv(void *to, size_t n, int type, int peer, void *comm, void *stream)
{
    return add((struct call){ RECEIVE, NULL, to, n, type, peer, comm, stream });
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
    depth++;
    return NCCL_OK;
}

/* ---- What a group computes ---- */

static enum dtype dtype_of(int type)
{
    static const enum dtype types[] = {
        [NCCL_I8] = DTYPE_I8,   [NCCL_U8] = DTYPE_U8,    [NCCL_I32] = DTYPE_I32,
        [NCCL_I64] = DTYPE_I64, [NCCL_F16] = DTYPE_F16,  [NCCL_F32] = DTYPE_F32,
        [NCCL_F64] = DTYPE_F64, [NCCL_BF16] = DTYPE_BF16
    };
    return types[type];
}

static size_t size_of(int type)
{
    return type <= NCCL_U8                         ? 1
           : type == NCCL_F16 || type == NCCL_BF16 ? 2
           : type == NCCL_I32 || type == NCCL_F32  ? 4
                                                   : 8;
}

static double combine(int op, double a, double b)
{
    return op == NCCL_PRODUCT ? a * b
           : op == NCCL_MAX   ? (b > a ? b : a)
           : op == NCCL_MIN   ? (b < a ? b : a)
                              : a + b;
}

/* Element `at` of the ranks' inputs, reduced, becomes element i of `to`. */
static void reduce(struct call *const *all, int n, size_t at, void *to, size_t i)
{
    enum dtype dtype = dtype_of(all[0]->type);
    int op = all[0]->op;
    if (dense_kind_of(dtype) == DENSE_INT) {
        int64_t x = load_int(dtype, all[0]->from, (int64_t)at);
        for (int r = 1; r < n; r++) {
            int64_t y = load_int(dtype, all[r]->from, (int64_t)at);
            x = op == NCCL_SUM || op == NCCL_AVG ? x + y
                : op == NCCL_PRODUCT             ? x * y
                : (op == NCCL_MAX) == (y > x)    ? y
                                                 : x;
        }
        store_int(dtype, to, (int64_t)i, op == NCCL_AVG ? x / n : x);
        return;
    }
    double x = load_real(dtype, all[0]->from, (int64_t)at);
    for (int r = 1; r < n; r++)
        x = combine(op, x, load_real(dtype, all[r]->from, (int64_t)at));
    store_real(dtype, to, (int64_t)i, op == NCCL_AVG ? x / n : x);
}

/* Computes into memory of its own first, since a result may be an input. */
static void compute(struct call *const *all, int n)
{
    const struct call *c = all[0];
    size_t each = size_of(c->type);
    size_t whole = c->kind == ALL_GATHER || c->kind == REDUCE_SCATTER ? c->n * (size_t)n : c->n;
    char *made = calloc(whole + 1, each);
    CHECK(made, "no memory");
    for (size_t i = 0; i < whole; i++) {
        const char *from = (const char *)all[c->kind == BROADCAST ? c->op : (int)(i / c->n)]->from;
        size_t at = c->kind == BROADCAST ? i : c->n ? i % c->n : 0;
        if (c->kind == ALL_REDUCE || c->kind == REDUCE_SCATTER)
            reduce(all, n, i, made, i);
        else
            memcpy(made + i * each, from + at * each, each);
    }
    for (int r = 0; r < n && whole; r++)
        memcpy(all[r]->to, made + (c->kind == REDUCE_SCATTER ? (size_t)r * c->n * each : 0),
               (c->kind == REDUCE_SCATTER ? c->n : whole) * each);
    free(made);
}

static void trace(const struct call *c)
{
    static const char *const names[] = { "all_reduce", "reduce_scatter", "all_gather",
                                         "broadcast",  "send",           "receive" };
    const char *path = getenv("FAKE_NCCL_TRACE");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s of %d, %zu elements of type %d\n", names[c->kind], c->comm->n, c->n, c->type);
    fclose(file);
}

/* Finds the calls of the other ranks, which must be the same, and computes them. */
static void run_collective(size_t first, bool *done)
{
    struct call *all[MOST] = { NULL };
    const struct call *c = &calls[first];
    int found = 0;
    for (size_t i = first; i < n_calls; i++) {
        struct call *x = &calls[i];
        if (done[i] || x->comm->clique != c->comm->clique || x->kind > BROADCAST ||
            all[x->comm->rank])
            continue;
        CHECK(x->kind == c->kind && x->n == c->n && x->type == c->type && x->op == c->op,
              "ranks %d and %d make different calls", c->comm->rank, x->comm->rank);
        all[x->comm->rank] = x;
        done[i] = true;
        found++;
    }
    CHECK(found == c->comm->n, "%d of %d ranks make the call", found, c->comm->n);
    trace(c);
    compute(all, found);
}

static void run_message(size_t first, bool *done)
{
    const struct call *c = &calls[first];
    done[first] = true;
    for (size_t i = 0; i < n_calls; i++) {
        const struct call *x = &calls[i];
        if (done[i] || x->kind == c->kind || x->kind < SEND || x->comm->clique != c->comm->clique ||
            x->comm->rank != c->op || x->op != c->comm->rank)
            continue;
        CHECK(x->n == c->n && x->type == c->type, "%zu elements are sent and %zu received", c->n,
              x->n);
        done[i] = true;
        trace(c->kind == SEND ? c : x);
        memcpy(c->kind == SEND ? x->to : c->to, c->kind == SEND ? c->from : x->from,
               c->n * size_of(c->type));
        return;
    }
    CHECK(false, "rank %d has no counterpart at rank %d", c->comm->rank, c->op);
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
    static bool done[sizeof calls / sizeof *calls];
    CHECK(depth > 0, "no group was started");
    if (--depth)
        return NCCL_OK;
    memset(done, 0, sizeof done);
    if (n_calls && wanted("lost")) {
        lose_device();
        n_calls = 0;
        return NCCL_OK;
    }
    bool fails = n_calls && wanted("broken");
    for (size_t i = 0; i < n_calls && !idles() && !fails; i++)
        if (!done[i])
            (calls[i].kind < SEND ? run_collective : run_message)(i, done);
    n_calls = 0;
    return fails ? SYSTEM_ERROR : NCCL_OK;
}
