/* What the guards that are checked at each call say about inputs: bounds of sizes and numbers, and
 * which tensors require a gradient. */
#include "replay/attempt/contradictions/evidence.h"
#include "trace/events/guard_tree.h"

/* Returns the fact about a source, which is added; NULL when memory ran out. */
static struct tree_fact *fact_of(struct evidence *e, struct str source)
{
    uint32_t id = intern(&e->tree_sources, source);
    struct tree_fact none = { .lower = INT64_MIN, .upper = INT64_MAX };
    if (id == INTERN_NONE || (id == e->tree_facts.n && !vec_push(&e->tree_facts, none))) {
        e->failed = true;
        return NULL;
    }
    return &e->tree_facts.v[id];
}

/* "check_tensor(L['x'], Tensor, DispatchKeySet(...), torch.float32, device=None,
 * requires_grad=False, size=[None], stride=[1])" */
static void read_tensor_match(struct evidence *e, struct str code)
{
    const struct str begin = STR("check_tensor("), grad = STR(", requires_grad=");
    size_t end = str_find(code, STR(", DispatchKeySet("));
    size_t at = str_find(code, grad);
    if (!str_starts(code, begin) || end == code.n || at == code.n)
        return;
    while (end > begin.n && code.p[end - 1] != ',')
        end--;
    if (end <= begin.n + 1)
        return;
    struct tree_fact *fact = fact_of(e, str_from(str_first(code, end - 1), begin.n));
    if (fact) {
        fact->has_grad = true;
        fact->grad = str_starts(str_from(code, at + grad.n), STR("True"));
    }
}

/* "2 <= L['x'].size()[0] <= 15", and either half of it. */
static void read_bounds(struct evidence *e, struct str code)
{
    const struct str LESS = STR(" <= ");
    size_t first = str_find(code, LESS);
    struct str head = str_first(code, first), rest = str_from(code, first + LESS.n);
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    if (first == code.n)
        return;
    if (!str_to_i64(head, &lower)) {
        lower = INT64_MIN;
        rest = code;
    }
    size_t second = str_find(rest, LESS);
    if (second < rest.n && !str_to_i64(str_from(rest, second + LESS.n), &upper))
        return;
    struct tree_fact *fact = fact_of(e, str_first(rest, second));
    if (fact) {
        fact->bounded = true;
        fact->lower = lower;
        fact->upper = upper;
    }
}

static void read_condition(struct evidence *e, struct str code)
{
    read_bounds(e, code);
    e->failed |= intern(&e->found->conditions, code) == INTERN_NONE;
}

void evidence_read_tree(struct evidence *e)
{
    struct str tree = e->records->tree;
    struct tree_guard guard;
    while (!e->failed && guard_tree_next(&tree, &guard))
        if (str_is(guard.kind, "TENSOR_MATCH"))
            read_tensor_match(e, guard.code);
        else if (str_is(guard.kind, "LAMBDA_GUARD"))
            read_condition(e, guard.code);
}

const struct tree_fact *evidence_tree_fact(const struct evidence *e, struct str source)
{
    uint32_t id = intern_find(&e->tree_sources, source);
    return id == INTERN_NONE ? NULL : &e->tree_facts.v[id];
}

void settle_gradient(struct evidence *e, struct input_tensor *t, bool grad, uint32_t beside)
{
    if (t->requires_grad == grad)
        return;
    static const char *const texts[] = { "requires_grad=False", "requires_grad=True" };
    evidence_add(e, (struct contradiction){ .kind = CONTRADICTION_DESCRIPTION,
                                            .record = t->record,
                                            .beside = beside,
                                            .ref = TRACE_NONE,
                                            .name = t->source,
                                            .recorded = str_of(texts[!grad]),
                                            .expected = str_of(texts[grad]) });
    t->requires_grad = grad;
}

void settle_gradients(struct evidence *e, struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n && !e->failed; i++) {
        struct input_tensor *t = &inputs->list.v[i].tensor;
        const struct tree_fact *fact =
            inputs->list.v[i].kind == INPUT_TENSOR ? evidence_tree_fact(e, t->source) : NULL;
        if (fact && fact->has_grad)
            settle_gradient(e, t, fact->grad, TRACE_NONE);
    }
}
