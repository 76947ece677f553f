/* Graphs that are run on the CUDA backend at any size, on the fake device (tests/cuda) or, with
 * $SYMTAPE_TEST_DEVICE, on the one that there is, and the bits of their outputs. */
#ifndef SYMTAPE_TESTS_REPLAY_BACKEND_CUDA_RUNTIME_GRAPH_RUNS_H
#define SYMTAPE_TESTS_REPLAY_BACKEND_CUDA_RUNTIME_GRAPH_RUNS_H

#include "replay/backend/cuda/runtime/cuda.h"
#include "tests/harness.h"
#include "tests/replay/backend/cuda/cuda_calls.h"

enum { MOST_BYTES = 1 << 20, MOST_OUTPUTS = 4 };

static inline int set_up(void **state)
{
    (void)state;
    if (!on_device())
        use_fake_device();
    unsetenv("SYMTAPE_CUDA_WITHOUT");
    return 0;
}

static const struct run_symbol SYMBOLS[] = { { { "s0", 2 }, 6, true, { "6", 1 } } };

struct world {
    struct backend *backend;
    struct err err;
};

static inline void open_world(struct world *w)
{
    *w = (struct world){ 0 };
    w->backend = backend_find(STR("cuda"))->open(&w->err);
    assert_no_err(&w->err);
}

static inline struct cuda *cuda_of_world(struct world *w)
{
    return (struct cuda *)w->backend;
}

static inline void close_world(struct world *w)
{
    assert_null(cuda_of_world(w)->captured);
    w->backend->kind->close(w->backend);
}

/* A graph with a run of it at that size. */
struct capture_case {
    struct graph *graph;
    struct run *run;
};

static inline struct capture_case case_of(struct world *w, const char *body, int64_t size)
{
    struct buf text = BUF_INIT;
    struct capture_case c;
    const struct run_size sizes[] = { { { "s0", 2 }, size } };
    buf_printf(&text, "class f(torch.nn.Module):\n%s", body);
    c.graph = graph_parse(buf_str(&text), &w->err);
    buf_release(&text);
    assert_no_err(&w->err);
    struct run_options options = { .backend = w->backend,
                                   .captures = true,
                                   .seed = 7,
                                   .symbols = SYMBOLS,
                                   .n_symbols = 1,
                                   .sizes = sizes,
                                   .n_sizes = size ? 1 : 0 };
    c.run = run_new(c.graph, &options, &w->err);
    assert_no_err(&w->err);
    return c;
}

static inline void case_free(struct capture_case *c)
{
    run_free(c->run);
    graph_free(c->graph);
}

struct outputs {
    uint32_t n;
    size_t bytes[MOST_OUTPUTS];
    char *values[MOST_OUTPUTS];
};

static inline struct outputs outputs_of(struct world *w, struct run *run)
{
    struct outputs ret = { .n = run->n_outputs };
    assert_true(ret.n <= MOST_OUTPUTS);
    for (uint32_t i = 0; i < ret.n; i++) {
        struct arena arena = ARENA_INIT;
        struct array a;
        assert_true(run_array(run, run->outputs[i].u.tensor, &arena, &a, &w->err));
        assert_true(a.bytes <= MOST_BYTES);
        ret.bytes[i] = a.bytes;
        assert_non_null(ret.values[i] = malloc(a.bytes + 1));
        memcpy(ret.values[i], a.p, a.bytes);
        arena_release(&arena);
    }
    return ret;
}

static inline void outputs_free(struct outputs *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        free(o->values[i]);
}

/* Runs again; the outputs must have the bits of `same`. */
static inline void run_gives(struct world *w, struct run *run, const struct outputs *same)
{
    if (!run_execute(run, &w->err))
        fail_msg("%s", w->err.text);
    struct outputs o = outputs_of(w, run);
    assert_int_equal(o.n, same->n);
    for (uint32_t i = 0; i < o.n; i++) {
        assert_int_equal(o.bytes[i], same->bytes[i]);
        assert_memory_equal(o.values[i], same->values[i], o.bytes[i]);
    }
    outputs_free(&o);
}

static inline struct outputs first_outputs(struct world *w, struct run *run)
{
    if (!run_execute(run, &w->err))
        fail_msg("%s", w->err.text);
    assert_null(run->captured);
    return outputs_of(w, run);
}

#define FORWARD(inputs) "    def forward(self, " inputs "):\n"
#define X               "x: \"f32[s0, 16][16, 1]cpu\""
#define ATEN            " = torch.ops.aten."

#define POINTS_BODY                                    \
    FORWARD(X)                                         \
    "        a" ATEN "sin.default(x)\n"                \
    "        b" ATEN "mul.Tensor(a, 3.0)\n"            \
    "        c" ATEN "sum.dim_IntList(b, [1], True)\n" \
    "        d" ATEN "div.Tensor(b, c)\n"              \
    "        return (d, b)\n"
#define PRODUCT_BODY                                                  \
    FORWARD(X ", w: \"f32[16, 16][16, 1]cpu\", b: \"f32[16][1]cpu\"") \
    "        p" ATEN "addmm.default(b, x, w)\n"                       \
    "        q" ATEN "relu.default(p)\n"                              \
    "        r" ATEN "mm.default(q, w)\n"                             \
    "        s" ATEN "_softmax.default(r, -1, False)\n"               \
    "        return (s,)\n"

#endif
