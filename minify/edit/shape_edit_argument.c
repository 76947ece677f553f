/* Simplifies arguments, and makes them refer to other values. Propagation decides whether the call
 * still accepts them. */
#include "minify/edit/shape_edit.h"

static bool drop_call_argument(struct node *node, struct arg *args, uint32_t b)
{
    if (args[b].key.n) { /* keyword arguments come last, and any can be left out */
        for (uint32_t i = b; i + 1 < node->n_args; i++)
            args[i] = args[i + 1];
        node->n_args--;
        return true;
    }
    if (b + 1 != node->n_args || b == 0)
        return false;
    node->n_args--;
    return true;
}

static bool set_number(struct arg *arg, int64_t value)
{
    static const char *const digits[] = { "-1", "0", "1", "2" };
    static const char *const floats[] = { "-1.0", "0.0", "1.0", "2.0" };
    struct str text = str_of((arg->kind == ARG_FLOAT ? floats : digits)[value + 1]);
    if (arg->kind == ARG_BOOL) {
        bool same = (arg->u.integer != 0) == (value != 0) || value > 1 || value < 0;
        arg->u.integer = value != 0;
        return !same;
    }
    if ((arg->kind != ARG_INT && arg->kind != ARG_FLOAT) || str_eq(arg->text, text))
        return false;
    if (arg->kind == ARG_INT)
        arg->u.integer = value;
    else
        arg->u.number = (double)value;
    arg->text = text;
    return true;
}

bool reshape_argument(struct reshaper *r, const struct edit *edit, struct err *why)
{
    if (edit->a >= r->graph->n_nodes || !node_is_call(&r->nodes[edit->a]) ||
        edit->b >= r->nodes[edit->a].n_args)
        return edit_invalid(why, "there is no such argument");
    struct node *node = &r->nodes[edit->a];
    struct arg *args = &r->args[node->first_arg], *arg = &args[edit->b];
    bool made = false;
    switch (edit->value) {
    case ARGUMENT_DROP:
        made = (node->form == FORM_PLAIN && (edit->b > 0 || arg->kind != ARG_NODE)) &&
               drop_call_argument(node, args, edit->b);
        break;
    case ARGUMENT_ZERO: made = set_number(arg, 0); break;
    case ARGUMENT_ONE: made = set_number(arg, 1); break;
    case ARGUMENT_TWO: made = set_number(arg, 2); break;
    case ARGUMENT_MINUS_ONE: made = set_number(arg, -1); break;
    case ARGUMENT_SHORTER:
        made = (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) && arg->u.items.n > 0 &&
               r->args[arg->u.items.first].kind != ARG_BOOL; /* a mask must keep its length */
        if (made)
            arg->u.items.n--;
        break;
    default: break;
    }
    return made || edit_invalid(why, "the argument would not become simpler");
}

/* ---- References ---- */

/* Returns the argument that is the reference of that number in the order of node_references(), or
 * NULL; *number is then less by the references that were passed. */
static struct arg *find_reference(struct arg *args, uint32_t first, uint32_t n, int64_t *number)
{
    for (uint32_t i = first; i < first + n; i++) {
        struct arg *found = NULL;
        switch (args[i].kind) {
        case ARG_NODE:
            if ((*number)-- == 0)
                return &args[i];
            break;
        case ARG_LIST:
        case ARG_TUPLE:
        case ARG_DICT:
        case ARG_SLICE:
        case ARG_CALL:
            found = find_reference(args, args[i].u.items.first, args[i].u.items.n, number);
            break;
        default: break;
        }
        if (found)
            return found;
    }
    return NULL;
}

static bool may_refer(const struct graph *graph, node_id now, node_id before)
{
    return node_is_value(graph, &graph->nodes[now]) &&
           node_is_value(graph, &graph->nodes[before]) &&
           node_meta(graph, &graph->nodes[now])->kind ==
               node_meta(graph, &graph->nodes[before])->kind;
}

bool reshape_reference(struct reshaper *r, const struct edit *edit, struct err *why)
{
    int64_t number = edit->value;
    if (edit->a >= r->graph->n_nodes || !node_is_call(&r->nodes[edit->a]) || edit->b >= edit->a ||
        number < 0)
        return edit_invalid(why, "there is no such call or no such value before it");
    struct node *node = &r->nodes[edit->a];
    struct arg *arg = find_reference(r->args, node->first_arg, node->n_args, &number);
    if (!arg || !may_refer(r->graph, edit->b, arg->u.node))
        return edit_invalid(why, "it does not refer to such a value");
    if (graph_writes(r->graph))
        return edit_invalid(why, "a call of the graph writes to its argument");
    arg->u.node = edit->b;
    return true;
}
