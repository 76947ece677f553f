/* Collects the calls of operators in a walked program as cases (replay/cases/op_case.h). */
#include <stdio.h>
#include <stdlib.h>

#include "replay/attempt/attempt.h"
#include "replay/cases/case_write.h"

enum { MAX_ITEM = 1 << 20 };

/* The getitems of each step's result: the first, and the next of the same step; UINT32_MAX ends. */
struct item_steps {
    uint32_t *first, *next;
};

static bool find_items(const struct program *p, struct item_steps *items)
{
    items->first = malloc(((size_t)p->n_steps + 1) * sizeof *items->first);
    items->next = malloc(((size_t)p->n_steps + 1) * sizeof *items->next);
    if (!items->first || !items->next)
        return false;
    memset(items->first, 0xff, ((size_t)p->n_steps + 1) * sizeof *items->first);
    for (uint32_t i = p->n_steps; i-- > 0;) {
        const struct step *step = &p->steps[i];
        node_id from = step->n_patches ? p->patches[step->first_patch].from : p->n_steps;
        if (step->kind != STEP_GETITEM || from >= p->n_steps)
            continue;
        items->next[i] = items->first[from];
        items->first[from] = i;
    }
    return true;
}

static bool is_recorded(const struct expected *e)
{
    return e->kind == EXPECT_TENSOR || e->kind == EXPECT_NUMBER;
}

static void put_expected(struct case_writer *cw, const char *key, const struct expected *e)
{
    if (e->kind == EXPECT_NUMBER) {
        enum number_type type = number_type_of(ops_env(cw->ops), e->number);
        case_put_number(cw, key,
                        value_sym(type == NUMBER_BOOL    ? VALUE_BOOL
                                  : type == NUMBER_FLOAT ? VALUE_FLOAT
                                                         : VALUE_INT,
                                  e->number));
        return;
    }
    const struct tensor_meta meta = { .dtype = e->dtype,
                                      .layout = e->layout,
                                      .device = e->device,
                                      .ndim = e->ndim,
                                      .size = e->size,
                                      .stride = e->stride };
    json_open_object(&cw->json, key);
    case_put_meta(cw, &meta);
    json_close(&cw->json);
}

static bool item_number(const struct case_writer *cw, const struct step *item, int64_t *ret)
{
    return item->n_args == 2 && value_is_number(item->args[1]) && is_recorded(item->expected) &&
           sym_to_i64(ops_pool(cw->ops), item->args[1].u.sym, ret) && *ret >= 0 && *ret < MAX_ITEM;
}

static void put_items(struct case_writer *cw, const struct program *p,
                      const struct item_steps *items, const struct step *step)
{
    bool any = false;
    for (uint32_t i = items->first[step->node]; i != UINT32_MAX; i = items->next[i]) {
        char number[24];
        int64_t n;
        if (!item_number(cw, &p->steps[i], &n))
            continue;
        if (!any) {
            json_open_object(&cw->json, "out");
            json_open_object(&cw->json, "items");
            any = true;
        }
        snprintf(number, sizeof number, "%lld", (long long)n);
        put_expected(cw, number, p->steps[i].expected);
    }
    if (any) {
        json_close(&cw->json);
        json_close(&cw->json);
    }
}

/* Returns the operator's name with its overload: Dynamo's graphs call torch.ops.mylib.blur where it
 * has a single one. */
static struct str whole_name(const struct step *step, struct buf *text)
{
    struct str name = step->op ? op_name(step->op) : str_of(step->name);
    size_t dot = str_find_char(name, '.');
    if (step->op || dot == name.n || str_find_char(str_from(name, dot + 1), '.') < name.n - dot - 1)
        return name;
    buf_put(text, name);
    buf_puts(text, ".default");
    return buf_str(text);
}

/* Writes the case without its closing brace, so that its place can be added. */
static void put_case(struct result_collector *c, struct case_environments *environments,
                     const struct program *p, const struct item_steps *items,
                     const struct step *step)
{
    struct case_writer cw = case_writer_of(c->ops, &c->text);
    cw.environments = environments;
    const struct arguments arguments = step_arguments(step);
    struct buf name = BUF_INIT;
    char torch[24];
    int release = env_settings(ops_env(c->ops))->torch;
    snprintf(torch, sizeof torch, "%d.%d", release / 100, release % 100);
    buf_clear(&c->text);
    case_put_call(&cw, whole_name(step, &name), str_of(torch), &arguments);
    c->failed |= name.failed;
    buf_release(&name);
    if (is_recorded(step->expected))
        put_expected(&cw, "out", step->expected);
    else
        put_items(&cw, p, items, step);
    if (c->result->load->attempt == TRACE_NONE)
        json_put_bool(&cw.json, "exported", true);
    case_put_environment(&cw);
    case_writer_release(&cw);
    c->failed |= c->text.failed;
}

static bool is_operator_call(const struct program *p, const struct step *step)
{
    return step->kind == STEP_OPERATOR ||
           (step->kind == STEP_FUNCTION &&
            str_starts(p->graph->nodes[step->node].target, STR("torch.ops.")));
}

static void collect_case(struct result_collector *c, struct case_environments *environments,
                         const struct program *p, const struct item_steps *items,
                         const struct step *step)
{
    struct attempt_result *r = c->result;
    const struct node *node = &p->graph->nodes[step->node];
    if (!is_operator_call(p, step) || (c->partial && !p->notes[step->node].outcome))
        return;
    put_case(c, environments, p, items, step);
    uint32_t id = c->failed ? INTERN_NONE : intern(&r->call_texts, buf_str(&c->text));
    if (id == r->calls.n) {
        const struct replay_call row = { .ref = c->graph->ref,
                                         .text = intern_text(&r->call_texts, id),
                                         .graph = p->first_node ? p->graph->name : STR(""),
                                         .node = node->name,
                                         .location_graph = p->graph,
                                         .location = node->location };
        c->failed |= !vec_push(&r->calls, row);
    }
    c->failed |= id >= r->calls.n;
    if (!c->failed)
        r->calls.v[id].count++;
}

static void collect_cases(struct result_collector *c, struct case_environments *environments,
                          const struct program *program)
{
    struct item_steps items = { 0 };
    c->failed |= !find_items(program, &items);
    for (uint32_t i = 0; i < program->n_steps && !c->failed; i++)
        collect_case(c, environments, program, &items, &program->steps[i]);
    free(items.first);
    free(items.next);
    for (uint32_t i = 0; i < program->n_children && !c->failed; i++)
        collect_cases(c, environments, program->children[i]);
}

void collect_calls(struct result_collector *c, const struct program *program)
{
    struct case_environments environments = { 0 };
    collect_cases(c, &environments, program);
    case_environments_release(&environments);
}
