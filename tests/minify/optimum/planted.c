#include "tests/minify/optimum/planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "minify/candidate/candidate_data.h"
#include "minify/oracle/oracle_ops.h"

const char *const planted_kind_names[PLANTED_KINDS] = {
    [PLANTED_ANY] = "any",     [PLANTED_THREE] = "three",     [PLANTED_FLOW] = "flow",
    [PLANTED_FLOW3] = "flow3", [PLANTED_SYMBOLS] = "symbols", [PLANTED_SYMBOLIC] = "symbolic",
    [PLANTED_RANK] = "rank",   [PLANTED_GUARD] = "guard",
};

/* ---- Random graphs of values of s0 * a + s1 * b + c rows of four ---- */

struct value {
    int a, b, c;
    bool deep; /* with a size of 1 before these */
    char name[8];
};

struct drawing {
    uint64_t state;
    struct value values[PLANTED_CALLS_MAX + 3];
    unsigned n, n_calls;
    struct buf body;
};

/* A number below n (xorshift*). */
static unsigned draw(struct drawing *d, unsigned n)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (unsigned)((d->state * 0x2545f4914f6cdd1dU) >> 33) % n;
}

static void print_rows(struct buf *out, const struct value *v, int times)
{
    const char *plus = "";
    const int factor[] = { v->a * times, v->b * times };
    for (int i = 0; i < 2; i++) {
        if (factor[i] == 0)
            continue;
        if (factor[i] == 1)
            buf_printf(out, "%ss%d", plus, i);
        else
            buf_printf(out, "%s%d*s%d", plus, factor[i], i);
        plus = " + ";
    }
    if (v->c || !*plus)
        buf_printf(out, "%s%d", plus, v->c * times);
}

static void print_meta(struct buf *out, const struct value *v)
{
    buf_puts(out, v->deep ? "f32[1, " : "f32[");
    print_rows(out, v, 1);
    buf_puts(out, ", 4][");
    if (v->deep) {
        print_rows(out, v, 4);
        buf_puts(out, ", ");
    }
    buf_puts(out, "4, 1]cpu");
}

/* Adds a call with the arguments that are printed after it. */
static void add_call(struct drawing *d, struct value v, const char *op, const char *arguments)
{
    snprintf(v.name, sizeof v.name, "n%u", d->n_calls++);
    buf_printf(&d->body, "        %s: \"", v.name);
    print_meta(&d->body, &v);
    buf_printf(&d->body, "\" = torch.ops.aten.%s(%s)\n", op, arguments);
    d->values[d->n++] = v;
}

static bool same_shape(const struct value *x, const struct value *y)
{
    return x->a == y->a && x->b == y->b && x->c == y->c && x->deep == y->deep;
}

static void add_unary(struct drawing *d, const struct value *x)
{
    static const char *const ops[] = { "sin.default",  "cos.default",  "exp.default",
                                       "relu.default", "tanh.default", "sigmoid.default" };
    add_call(d, *x, ops[draw(d, sizeof ops / sizeof *ops)], x->name);
}

/* One of the last four values, mostly. */
static const struct value *draw_value(struct drawing *d)
{
    unsigned back = d->n < 4 || draw(d, 5) == 0 ? d->n : 4;
    return &d->values[d->n - 1 - draw(d, back)];
}

static void add_random(struct drawing *d)
{
    const struct value x = *draw_value(d), y = *draw_value(d);
    char arguments[64];
    struct value v = x;
    switch (draw(d, 8)) {
    case 0:
    case 1:
        snprintf(arguments, sizeof arguments, "%s, %s", x.name, y.name);
        if (same_shape(&x, &y)) {
            add_call(d, x, draw(d, 2) ? "add.Tensor" : "mul.Tensor", arguments);
            return;
        }
        if (x.deep == y.deep && x.a + y.a + x.b + y.b < 6) {
            v = (struct value){ x.a + y.a, x.b + y.b, x.c + y.c, x.deep, "" };
            snprintf(arguments, sizeof arguments, "[%s, %s], %d", x.name, y.name, x.deep);
            add_call(d, v, "cat.default", arguments);
            return;
        }
        break;
    case 2:
        if (x.deep)
            break;
        snprintf(arguments, sizeof arguments, "%s, 0", x.name);
        v.deep = true;
        add_call(d, v, "unsqueeze.default", arguments);
        return;
    case 3:
        if (x.deep || x.c)
            break;
        snprintf(arguments, sizeof arguments, "%s, w", x.name);
        add_call(d, x, "mm.default", arguments);
        return;
    case 4:
        if (x.deep || draw(d, 2))
            break;
        snprintf(arguments, sizeof arguments, "%s, [0], True", x.name);
        add_call(d, (struct value){ 0, 0, 1, false, "" }, "sum.dim_IntList", arguments);
        return;
    default: break;
    }
    add_unary(d, &x);
}

/* Values that no call uses are outputs. */
static void print_return(struct drawing *d, struct buf *out)
{
    buf_puts(out, "        return (");
    for (unsigned i = 2; i < d->n; i++) {
        char use[12];
        snprintf(use, sizeof use, "%s,", d->values[i].name);
        bool used = false;
        for (size_t at = 0; at < d->body.n; at++) {
            struct str rest = str_from(buf_str(&d->body), at);
            size_t n = strlen(d->values[i].name);
            used |= str_starts(rest, str_of(d->values[i].name)) && at && rest.n > n &&
                    strchr("(, [", d->body.p[at - 1]) && strchr(",)]", rest.p[n]);
        }
        if (!used)
            buf_puts(out, use);
    }
    buf_puts(out, ")\n");
}

static struct candidate *draw_graph(struct drawing *d, bool guards)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    unsigned calls = 6 + draw(d, PLANTED_CALLS_MAX - 5);
    d->values[0] = (struct value){ 1, 0, 0, false, "x" };
    d->values[1] = (struct value){ 0, 1, 0, false, "y" };
    d->n = 2;
    while (d->n_calls < calls)
        add_random(d);
    buf_puts(&text, "# symbol s0 = 3 in [2, int_oo]\n# symbol s1 = 5 in [2, int_oo]\n");
    if (guards)
        buf_puts(&text, "# guard Ne(s0, s1)\n# guard s0 < 99\n# guard s1 < 77\n");
    buf_puts(&text,
             "class f(torch.nn.Module):\n    def forward(self, x: \"f32[s0, 4][4, 1]cpu\", y: "
             "\"f32[s1, 4][4, 1]cpu\", w: \"f32[4, 4][4, 1]cpu\"):\n");
    buf_put(&text, buf_str(&d->body));
    print_return(d, &text);
    struct candidate *ret =
        text.failed || d->body.failed ? NULL : candidate_read_fx(buf_str(&text), NULL, &err);
    buf_release(&text);
    buf_release(&d->body);
    return ret;
}

/* ---- Predicates ---- */

static uint32_t count_symbols(struct str text)
{
    bool found[2] = { false, false };
    for (size_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] == 's' && (text.p[i + 1] == '0' || text.p[i + 1] == '1'))
            found[text.p[i + 1] - '0'] = true;
    return (uint32_t)found[0] + found[1];
}

static const char *last_op(const struct planted *planted)
{
    const char *ret = planted->ops[0];
    for (int i = 0; i < PLANTED_OPS && planted->ops[i]; i++)
        ret = planted->ops[i];
    return ret;
}

/* Whether a result of the last operator has so many symbols and sizes. */
static bool has_result(const struct planted *planted, const struct candidate *candidate,
                       uint32_t symbols, uint32_t sizes)
{
    const struct graph *graph = candidate->graph;
    struct str op = str_of(last_op(planted));
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        const struct meta *meta = node_meta(graph, node);
        if (node_is_call(node) && str_find(node->target, op) < node->target.n && meta &&
            count_symbols(meta->text) >= symbols && meta->n_sizes >= sizes)
            return true;
    }
    return false;
}

static bool has_guard(const struct candidate *candidate)
{
    for (uint32_t i = 0; i < candidate->n_guards; i++)
        if (count_symbols(candidate->guards[i].expr) == 2)
            return true;
    return false;
}

struct planted_least planted_least(const struct planted *planted)
{
    static const struct planted_least of_kind[PLANTED_KINDS] = {
        [PLANTED_SYMBOLS] = { 0, 0, 2 },
        [PLANTED_SYMBOLIC] = { 0, 0, 1 },
        [PLANTED_GUARD] = { 0, 1, 2 },
    };
    enum planted_kind kind = planted->kind;
    bool flows = kind == PLANTED_FLOW || kind == PLANTED_FLOW3 || kind == PLANTED_RANK;
    struct planted_least ret = of_kind[kind];
    for (int i = 0; i < PLANTED_OPS && planted->ops[i]; i++) {
        bool same = false; /* the same call, unless one has to reach the other */
        for (int j = 0; j < i && !flows; j++)
            same |= planted->ops[i] == planted->ops[j];
        ret.calls += !same;
    }
    return ret;
}

bool planted_holds(const struct planted *planted, struct oracle *ops,
                   const struct candidate *candidate)
{
    const struct oracle_question question = { .cancel = NULL };
    struct answer answer = { .verdict = VERDICT_UNRESOLVED };
    ops->ask(ops, candidate, &question, &answer);
    bool holds = answer.verdict == VERDICT_INTERESTING;
    answer_release(&answer);
    if (!holds)
        return false;
    switch (planted->kind) {
    case PLANTED_SYMBOLS: return has_result(planted, candidate, 2, 0);
    case PLANTED_SYMBOLIC: return has_result(planted, candidate, 1, 0);
    case PLANTED_RANK: return has_result(planted, candidate, 0, 3);
    case PLANTED_GUARD: return has_guard(candidate);
    default: return true;
    }
}

static void ask_planted(struct oracle *oracle, const struct candidate *candidate,
                        const struct oracle_question *asking, struct answer *answer)
{
    struct planted_oracle *planted = (struct planted_oracle *)oracle;
    (void)asking;
    answer->verdict = planted_holds(planted->planted, planted->ops, candidate) ? VERDICT_INTERESTING
                                                                               : VERDICT_BORING;
}

void planted_oracle_init(struct planted_oracle *oracle, const struct planted *planted,
                         struct oracle *ops)
{
    *oracle = (struct planted_oracle){ .oracle = *ops, .planted = planted, .ops = ops };
    oracle->oracle.ask = ask_planted;
    oracle->oracle.free = NULL;
}

/* ---- Planting ---- */

static unsigned ops_of(enum planted_kind kind)
{
    return kind == PLANTED_THREE || kind == PLANTED_FLOW3     ? 3
           : kind == PLANTED_SYMBOLS || kind == PLANTED_GUARD ? 1
                                                              : 2;
}

static void name_ops(struct drawing *d, struct planted *planted)
{
    static const char *const names[] = { "aten.sin",  "aten.cos",       "aten.exp", "aten.relu",
                                         "aten.tanh", "aten.sigmoid",   "aten.add", "aten.mul",
                                         "aten.cat",  "aten.unsqueeze", "aten.mm",  "aten.sum" };
    enum planted_kind kind = planted->kind;
    bool flows = kind == PLANTED_FLOW || kind == PLANTED_FLOW3 || kind == PLANTED_RANK;
    size_t n = 0;
    memset(planted->ops, 0, sizeof planted->ops);
    planted->what[0] = 0;
    for (unsigned i = 0; i < ops_of(kind); i++) {
        planted->ops[i] = names[draw(d, sizeof names / sizeof *names)];
        n += (size_t)snprintf(planted->what + n, sizeof planted->what - n, "%s%s",
                              i == 0  ? ""
                              : flows ? " -> "
                                      : ", ",
                              planted->ops[i]);
    }
}

static bool is_planted(const struct planted *planted)
{
    struct err err = { 0 };
    struct oracle *ops = oracle_ops(str_of(planted->what), &err);
    bool holds = ops && planted_holds(planted, ops, planted->whole);
    if (ops)
        ops->free(ops);
    return holds;
}

bool planted_make(enum planted_kind kind, uint64_t seed, struct planted *planted)
{
    enum { GRAPHS = 50, TRIES = 200 };
    struct drawing d = { .state = (seed + 1) * 0x9e3779b97f4a7c15U };
    for (int graph = 0; graph < GRAPHS; graph++) {
        d = (struct drawing){ .state = d.state };
        *planted = (struct planted){ .kind = kind, .whole = draw_graph(&d, kind == PLANTED_GUARD) };
        for (int i = 0; planted->whole && i < TRIES; i++) {
            name_ops(&d, planted);
            if (is_planted(planted))
                return true;
        }
        planted_release(planted);
    }
    return false;
}

void planted_release(struct planted *planted)
{
    candidate_free(planted->whole);
    planted->whole = NULL;
}
