/* Products of cuBLASLt, run and captured on the backend's stream. */
#include "tests/device/lab/graft.h"

#include <stdlib.h>
#include <string.h>

const uint32_t graft_m[MS] = { 1, 2, 4, 8, 16, 17, 32, 64, 100, 128, 256, 512, 1000, 2048 };
static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct cublaslt_table, member), needed },
#include "replay/backend/cuda/libraries/cublaslt.def"
#undef SYMBOL
};

size_t graft_result_bytes(const struct graft *g, const struct product *p)
{
    return (size_t)p->m * g->kind->columns * g->kind->element;
}

static bool fine(int status, const char *what, struct err *err)
{
    return status == CUBLAS_OK || err_set(err, ERR_ENV, "%s: status %d", what, status);
}

/* ---- Products ---- */

/* c = a b by rows is c = b a by columns. */
bool graft_make_product(struct graft *g, uint32_t m, struct product *p, struct err *err)
{
    const struct kind *k = g->kind;
    *p = (struct product){ .m = m };
    if (!fine(g->lt.op_create(&p->op, CUBLAS_COMPUTE_F32, CUBLAS_F32), "an operation", err) ||
        !fine(g->lt.layout_create(&p->a, k->type, k->columns, k->inner, k->columns), "a layout",
              err) ||
        !fine(g->lt.layout_create(&p->b, k->type, k->inner, m, k->inner), "a layout", err) ||
        !fine(g->lt.layout_create(&p->c, k->type, k->columns, m, k->columns), "a layout", err))
        return false;
    double begin = clock_us();
    int status = g->lt.heuristic(g->handle, p->op, p->a, p->b, p->c, p->c, g->preference, 1,
                                 p->choices, &p->found);
    p->heuristic_us = clock_us() - begin;
    if (!fine(status, "the heuristic", err))
        return false;
    status = g->lt.heuristic(g->handle, p->op, p->a, p->b, p->c, p->c, g->preference, CHOICES_MAX,
                             p->choices, &p->found);
    return fine(p->found ? status : CUBLAS_NOT_SUPPORTED, "the heuristic", err);
}

static bool multiply(struct graft *g, const struct product *p, int choice, struct err *err)
{
    const float one = 1, zero = 0;
    return fine(g->lt.matmul(g->handle, p->op, &one, (const void *)(uintptr_t)g->b, p->a,
                             (const void *)(uintptr_t)g->a, p->b, &zero,
                             (const void *)(uintptr_t)g->c, p->c, (void *)(uintptr_t)g->c, p->c,
                             &p->choices[choice].algorithm, (void *)(uintptr_t)g->room, ROOM,
                             g->lab->cuda->stream),
                "cublasLtMatmul", err);
}

bool graft_spoil_result(struct graft *g, const struct product *p, struct err *err)
{
    return lab_check(
        g->lab,
        g->lab->cuda->driver.fill_bytes(g->c, 0xff, graft_result_bytes(g, p), g->lab->cuda->stream),
        "filling", err);
}

bool graft_read_result(struct graft *g, const struct product *p, void *to, struct err *err)
{
    return cuda_copy_to_host(g->lab->cuda, to, g->c, graft_result_bytes(g, p), err);
}

bool graft_run_directly(struct graft *g, struct product *p, struct err *err)
{
    p->expected = malloc(graft_result_bytes(g, p));
    if (!p->expected)
        return err_nomem(err);
    return graft_spoil_result(g, p, err) && multiply(g, p, 0, err) &&
           graft_read_result(g, p, p->expected, err);
}

bool graft_grab(struct graft *g, const struct product *p, int choice, struct grabbed *ret,
                struct err *err)
{
    struct lab *lab = g->lab;
    *ret = (struct grabbed){ .n = NODES_MAX };
    if (!lab_check(lab, lab->graphs.capture_begin(lab->cuda->stream, CAPTURE_RELAXED),
                   "cuStreamBeginCapture", err))
        return false;
    bool ok = multiply(g, p, choice, err);
    struct err later = { 0 };
    ok &= lab_check(lab, lab->graphs.capture_end(lab->cuda->stream, &ret->graph),
                    "cuStreamEndCapture", ok ? err : &later);
    ok = ok &&
         lab_check(lab, lab->graphs.nodes(ret->graph, ret->nodes, &ret->n), "cuGraphGetNodes", err);
    for (size_t i = 0; ok && i < ret->n; i++) {
        ok = lab_check(lab, lab->graphs.node_type(ret->nodes[i], &ret->types[i]),
                       "cuGraphNodeGetType", err);
        if (!ok || ret->types[i] != CU_NODE_KERNEL)
            continue;
        ok = lab_check(lab, lab->graphs.kernel_params(ret->nodes[i], &ret->params[i]),
                       "cuGraphKernelNodeGetParams", err);
        /* Not there is as good as none. */
        if (ok && lab->graphs.kernel_attribute)
            lab->graphs.kernel_attribute(ret->nodes[i], CU_ATTRIBUTE_CLUSTER, &ret->cluster[i]);
    }
    return ok;
}

void graft_release_product(struct graft *g, struct product *p)
{
    void *layouts[] = { p->a, p->b, p->c };
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            g->lt.layout_destroy(layouts[i]);
    if (p->op)
        g->lt.op_destroy(p->op);
    if (p->grabbed.graph)
        g->lab->graphs.graph_destroy(p->grabbed.graph);
    free(p->expected);
    *p = (struct product){ .m = 0 };
}

static bool fill(struct graft *g, uint64_t to, size_t n, struct err *err)
{
    size_t bytes = n * g->kind->element;
    unsigned char *values = malloc(bytes);
    uint32_t state = 1;
    if (!values)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        float value = (float)(int32_t)state / 2147483648.0f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint16_t half = (uint16_t)(bits >> 16);
        if (g->kind->element == 4)
            memcpy(values + 4 * i, &bits, 4);
        else
            memcpy(values + 2 * i, &half, 2);
    }
    bool ok = cuda_copy_to_device(g->lab->cuda, to, values, bytes, err) && lab_wait(g->lab, err);
    free(values);
    return ok;
}

bool graft_take_matrices(struct graft *g, struct err *err)
{
    const struct kind *k = g->kind;
    size_t a = (size_t)graft_m[MS - 1] * k->inner, b = (size_t)k->inner * k->columns;
    size_t c = (size_t)graft_m[MS - 1] * k->columns * k->element;
    g->got = malloc(c);
    return (g->got || err_nomem(err)) && lab_take(g->lab, a * k->element, &g->a, err) &&
           lab_take(g->lab, b * k->element, &g->b, err) && lab_take(g->lab, c, &g->c, err) &&
           fill(g, g->a, a, err) && fill(g, g->b, b, err);
}

bool graft_open_library(struct graft *g, struct err *err)
{
    uint64_t room = ROOM;
    return library_open(LIBRARY_CUBLASLT, 0, &g->library, err) &&
           library_load(&g->library, symbols, sizeof symbols / sizeof *symbols, &g->lt, err) &&
           fine(g->lt.create(&g->handle), "cublasLtCreate", err) &&
           fine(g->lt.preference_create(&g->preference), "a preference", err) &&
           fine(g->lt.preference_set(g->preference, PREFERENCE_WORKSPACE, &room, sizeof room),
                "a preference", err) &&
           lab_take(g->lab, ROOM, &g->room, err);
}
