/* Uses simple tensors: float32 and int64, without gradients, contiguous, on the CPU. */
#include "minify/passes/pass_edits.h"

static enum dtype default_dtype_for(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_F16:
    case DTYPE_BF16: return DTYPE_F32;
    case DTYPE_I32:
    case DTYPE_I16:
    case DTYPE_I8:
    case DTYPE_U8: return DTYPE_I64;
    default: return DTYPE_NONE;
    }
}

void propose_dtypes(const struct candidate *best, struct edits *edits)
{
    bool seen[DTYPE_COUNT] = { false };
    for (node_id id = 0; id < best->graph->n_nodes; id++) {
        const struct meta *meta = node_meta(best->graph, &best->graph->nodes[id]);
        if (!meta || meta->kind != META_TENSOR || seen[meta->dtype] ||
            !default_dtype_for(meta->dtype))
            continue;
        seen[meta->dtype] = true;
        edits_propose(edits);
        edits_add(edits, EDIT_DTYPE, meta->dtype, default_dtype_for(meta->dtype), 0);
    }
}

bool pass_dtype(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX) {
        struct edits edits = { .failed = false };
        propose_dtypes(search_best(search), &edits);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}

/* Proposes an edit for each input for which `may` says yes. */
static void propose_for_inputs(const struct candidate *best,
                               bool (*may)(const struct candidate *, node_id), enum edit_kind kind,
                               struct edits *edits)
{
    uint32_t position = 0;
    for (node_id id = 0; id < best->graph->n_nodes; id++) {
        if (best->graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        if (may(best, id)) {
            edits_propose(edits);
            edits_add(edits, kind, position, 0, 0);
        }
        position++;
    }
}

void propose_gradients(const struct candidate *best, struct edits *edits)
{
    propose_for_inputs(best, candidate_requires_grad, EDIT_GRADIENT, edits);
}

bool pass_gradients(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_gradients(search_best(search), &edits);
    return edits_sweep(search, &edits);
}

static bool has_other_strides(const struct candidate *best, node_id input)
{
    return !input_is_contiguous(best, input);
}

void propose_strides(const struct candidate *best, struct edits *edits)
{
    propose_for_inputs(best, has_other_strides, EDIT_CONTIGUOUS, edits);
}

bool pass_strides(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_strides(search_best(search), &edits);
    return edits_sweep(search, &edits);
}

void propose_device(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id < best->graph->n_nodes; id++) {
        const struct meta *meta = node_meta(best->graph, &best->graph->nodes[id]);
        if (!meta || !meta->device.n || str_is(meta->device, "cpu"))
            continue;
        edits_propose(edits);
        edits_add(edits, EDIT_DEVICE, 0, 0, 0);
        return;
    }
}

bool pass_device(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_device(search_best(search), &edits);
    return edits_try(search, &edits, NULL);
}
