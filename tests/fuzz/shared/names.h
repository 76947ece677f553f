/* What stands in a graph as a name is one, whatever the text or archive that it was read from. */
#ifndef SYMTAPE_TESTS_FUZZ_SHARED_NAMES_H
#define SYMTAPE_TESTS_FUZZ_SHARED_NAMES_H

#include "tests/fuzz/fuzz.h"

#include "trace/graph/graph.h"
#include "trace/graph/python_name.h"

/* Targets of texts may hold letters beyond ASCII, which python_name.h has no place for. */
static inline bool is_path(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x80 && text.p[i] != '.' && text.p[i] != '_' &&
            !((text.p[i] | 32) >= 'a' && (text.p[i] | 32) <= 'z') &&
            !(text.p[i] >= '0' && text.p[i] <= '9'))
            return false;
    return text.n > 0;
}

static inline void check_names_of_args(const struct graph *graph, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        const struct arg *arg = &graph->args[i];
        FUZZ_CHECK(arg->key.n == 0 || python_is_word(arg->key));
        switch (arg->kind) {
        case ARG_DEVICE: FUZZ_CHECK(device_is_spelled(arg->text)); break;
        case ARG_TARGET:
            FUZZ_CHECK(is_path(arg->text) || target_form_of(arg->text) == TARGET_EXTENSION);
            break;
        case ARG_INT:
            for (size_t k = 0; k < arg->text.n; k++)
                FUZZ_CHECK((arg->text.p[k] >= '0' && arg->text.p[k] <= '9') ||
                           (k == 0 && arg->text.p[k] == '-'));
            break;
        case ARG_FLOAT:
        case ARG_COMPLEX:
            for (size_t k = 0; k < arg->text.n; k++)
                FUZZ_CHECK(arg->text.p[k] && strchr("0123456789+-.eEjinfa()", arg->text.p[k]));
            break;
        case ARG_LIST:
        case ARG_TUPLE:
        case ARG_DICT:
        case ARG_SLICE:
        case ARG_CALL:
            FUZZ_CHECK(arg->kind != ARG_CALL || is_path(arg->text));
            check_names_of_args(graph, arg->u.items.first, arg->u.items.n);
            break;
        default: break;
        }
    }
}

static inline void check_names(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        FUZZ_CHECK(node->name.n == 0 || python_is_name(node->name));
        FUZZ_CHECK((node->op != NODE_CALL_FUNCTION && node->op != NODE_CALL_METHOD) ||
                   is_path(node->target) || target_form_of(node->target) == TARGET_EXTENSION);
        if (node->op != NODE_OPAQUE)
            check_names_of_args(graph, node->first_arg, node->n_args);
    }
    for (uint32_t i = 0; i < graph->pool->n_metas; i++) {
        const struct meta *meta = &graph->pool->metas[i];
        FUZZ_CHECK(meta->device.n == 0 || device_is_spelled(meta->device));
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        check_names(graph->children[i]);
}

#endif
