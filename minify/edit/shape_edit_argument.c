/* Simplifies arguments. Propagation decides whether the call still accepts them. */
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
