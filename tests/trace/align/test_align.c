#include "trace/align/align.h"

#include "tests/log_make.h"
#include "trace/events/guards.h"

/* What may differ between two runs of one program, and what is put into a run on purpose. */
struct run {
    const char *path, *torch; /* where the program and PyTorch lie */
    const char *s, *t, *u;    /* names of symbols */
    const char *product;      /* s times t, as sympy orders them */
    int line;                 /* number of the line that works */
    int frame;                /* compile id */
    const char *width;        /* of the result */
    const char *extra;        /* one more statement */
    const char *guard;        /* one more guard; NULL */
};

static const struct run PLAIN = { .path = "/home/a/zoo/model.py",
                                  .torch = "/env/torch",
                                  .s = "s77",
                                  .t = "s27",
                                  .u = "u0",
                                  .product = "s27*s77",
                                  .line = 12,
                                  .frame = 0,
                                  .width = "64",
                                  .extra = "" };
/* The same run of the same program. */
static const struct run ELSEWHERE = { .path = "/b/zoo/model.py",
                                      .torch = "/usr/lib/python3/dist-packages/torch",
                                      .s = "s12",
                                      .t = "s44",
                                      .u = "u7",
                                      .product = "s12*s44",
                                      .line = 15,
                                      .frame = 3,
                                      .width = "64",
                                      .extra = "" };

#define USER "{\"line\": %d, \"name\": \"forward\", \"filename\": 1, \"loc\": \"x = self.bn(x)\"}"

static void put_symbol(struct log_make *log, const struct run *run, const char *event,
                       const char *name, const char *rest)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"%s\": {\"symbol\": \"%s\"%s, \"user_stack\": [" USER "], \"stack\": []}",
               event, name, rest, run->line);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_guard(struct log_make *log, const struct run *run, const char *format, ...)
{
    struct buf meta = BUF_INIT, expr = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vprintf(&expr, format, args);
    va_end(args);
    buf_printf(&meta,
               "\"guard_added_fast\": {\"expr\": \"%.*s\", \"user_stack\": [" USER
               "], \"stack\": [" USER ", {\"line\": 1, \"name\": \"f\", \"filename\": 2, \"loc\": "
               "\"\"}, {\"line\": 5, \"name\": \"evaluate_expr\", \"filename\": 3, \"loc\": "
               "\"self._log_guard(\\\"eval\\\", g)\"}]}",
               (int)expr.n, expr.p, run->line, run->line);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&expr);
    buf_release(&meta);
}

static void put_graph(struct log_make *log, const struct run *run)
{
    struct buf text = BUF_INIT;
    buf_printf(&text,
               "class <lambda>(torch.nn.Module):\n"
               "    def forward(self, arg%d_1: \"Sym(%s)\", arg9_1: \"f32[%s, %s][%s, 1]cpu\"):\n"
               "         # File: %s:%d in forward, code: x = self.bn(x)\n"
               "        add_%d: \"f32[%s][1]cpu\" = torch.ops.aten.view.default(arg9_1, [-1])\n"
               "        relu: \"f32[%s, %s]cpu\" = torch.ops.aten.relu.default(add_%d)\n"
               "%s"
               "        return (relu,)\n        \n",
               run->line, run->s, run->s, run->t, run->t, run->path, run->line, run->line,
               run->product, run->s, run->width, run->line, run->extra);
    buf_putc(&text, '\0');
    log_put(log, "\"aot_inference_graph\": {}", text.p);
    buf_release(&text);
}

static void put_string(struct log_make *log, const char *a, const char *b, int number)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"str\": [\"%s%s\", %d]", a, b, number);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_compile(struct log_make *log, const struct run *run, const char *function)
{
    struct buf meta = BUF_INIT;
    put_symbol(log, run, "create_symbol", run->s,
               ", \"val\": \"3\", \"vr\": \"[2, int_oo]\", \"source\": \"L['x'].size()[0]\"");
    put_symbol(log, run, "create_symbol", run->t,
               ", \"val\": \"5\", \"vr\": \"[2, int_oo]\", \"source\": \"L['x'].size()[1]\"");
    put_symbol(log, run, "create_unbacked_symbol", run->u, "");
    put_guard(log, run, "%s > 1", run->product);
    put_guard(log, run, "Ne(%s, %s)", run->u, run->t);
    if (run->guard)
        put_guard(log, run, "%s", run->guard);
    put_graph(log, run);
    buf_printf(&meta,
               "\"compilation_metrics\": {\"co_name\": \"%s\", \"co_filename\": \"%s\", "
               "\"co_firstlineno\": %d, \"entire_frame_compile_time_s\": 0.18}",
               function, run->path, run->line - 2);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static struct log_make start(const struct run *run)
{
    struct log_make log = log_start();
    log.context = run->frame == 3 ? LOG_COMPILE(3, 0, 0) : LOG_COMPILE(0, 0, 0);
    put_string(&log, run->path, "", 1);
    put_string(&log, run->torch, "/_prims_common/wrappers.py", 2);
    put_string(&log, run->torch, "/fx/experimental/symbolic_shapes.py", 3);
    return log;
}

struct side {
    struct trace *trace;
    struct outline *outline;
};

static struct side open_log(struct log_make *log)
{
    struct err err = ERR_INIT;
    struct side side = { .trace = log_open(log) };
    side.outline = outline_build(side.trace, NULL, &err);
    assert_no_err(&err);
    assert_non_null(side.outline);
    return side;
}

static struct side run_once(const struct run *run)
{
    struct log_make log = start(run);
    put_compile(&log, run, "forward");
    return open_log(&log);
}

static void drop(struct side *side)
{
    outline_free(side->outline);
    trace_close(side->trace);
}

static struct align *align(const struct side *a, const struct side *b)
{
    struct err err = ERR_INIT;
    struct align *ret = align_outlines(a->outline, b->outline, &err);
    assert_no_err(&err);
    assert_non_null(ret);
    return ret;
}

static uint32_t n_differences(const struct align *x)
{
    uint32_t n = 0;
    for (size_t i = 0; i < x->compiles.n; i++)
        n += x->compiles.v[i].a == ALIGN_NONE || x->compiles.v[i].b == ALIGN_NONE;
    for (size_t i = 0; i < x->attempts.n; i++)
        n += x->attempts.v[i].a == ALIGN_NONE || x->attempts.v[i].b == ALIGN_NONE;
    for (size_t i = 0; i < x->graphs.n; i++)
        n += x->graphs.v[i].n_differences +
             (x->graphs.v[i].a == ALIGN_NONE || x->graphs.v[i].b == ALIGN_NONE);
    for (size_t i = 0; i < x->events.n; i++)
        n += x->events.v[i].a == ALIGN_NONE || x->events.v[i].b == ALIGN_NONE ||
             (x->events.v[i].change & ALIGN_DIFFERS);
    return n;
}

/* Names of symbols, paths, line numbers, names of nodes and compile ids are no difference. */
static void test_same(void **state)
{
    (void)state;
    struct side a = run_once(&PLAIN), b = run_once(&ELSEWHERE);
    struct align *x = align(&a, &b);
    assert_int_equal(x->events.n, 5);
    assert_int_equal(x->nodes.n, 5);
    assert_int_equal(n_differences(x), 0);
    align_free(x);
    drop(&a);
    drop(&b);
}

static const struct outline_form *form(const struct outline *outline, uint32_t node)
{
    return &outline->forms.v[outline->nodes.v[node].form];
}

static void test_nodes(void **state)
{
    (void)state;
    struct run wide = ELSEWHERE;
    wide.width = "128";
    wide.extra = "         # File: /b/zoo/model.py:99 in forward, code: x = -x\n"
                 "        neg: \"f32[s12*s44][1]cpu\" = torch.ops.aten.neg.default(add_15)\n";
    struct side a = run_once(&PLAIN), b = run_once(&wide);
    struct align *x = align(&a, &b);
    uint32_t n_new = 0, n_meta = 0;
    for (size_t i = 0; i < x->nodes.n; i++) {
        const struct align_pair *pair = &x->nodes.v[i];
        if (pair->a == ALIGN_NONE) {
            const struct outline_form *f = form(b.outline, pair->b);
            assert_str_is(outline_text(b.outline, f->op), "aten.neg.default");
            assert_str_is(outline_text(b.outline, b.outline->lines.v[f->line].code), "x = -x");
            assert_int_equal(b.outline->lines.v[f->line].line, 99);
            n_new++;
        } else if (pair->change & ALIGN_META) {
            assert_str_is(outline_text(b.outline, form(b.outline, pair->b)->op),
                          "aten.relu.default");
            n_meta++;
        }
    }
    assert_int_equal(n_new, 1);
    assert_int_equal(n_meta, 1);
    align_free(x);
    drop(&a);
    drop(&b);
}

static void test_guards(void **state)
{
    (void)state;
    struct run more = PLAIN;
    more.guard = "Eq(Mod(s27, 8), 0)";
    struct side a = run_once(&PLAIN), b = run_once(&more);
    struct align *x = align(&a, &b);
    assert_int_equal(n_differences(x), 1);
    const struct align_pair *last = &x->events.v[x->events.n - 1];
    assert_int_equal(last->a, ALIGN_NONE);
    const struct outline_event *event = &b.outline->events.v[last->b];
    assert_int_equal(event->kind, OUTLINE_GUARD);
    assert_int_equal(event->asked_by, GUARD_BY_KERNEL);
    assert_str_is(outline_text(b.outline, event->shown), "Eq(Mod(s27, 8), 0)");
    assert_str_is(outline_text(b.outline, event->text), "Eq(0, Mod(<L['x'].size()[1]>, 8))");
    align_free(x);
    drop(&a);
    drop(&b);
}

/* Two functions, in the other order on the other side, and one that only one side has. */
static void test_order(void **state)
{
    (void)state;
    struct run wide = PLAIN;
    wide.width = "128";
    struct log_make one = start(&PLAIN), two = start(&PLAIN);
    put_compile(&one, &PLAIN, "first");
    one.context = LOG_COMPILE(1, 0, 0);
    put_compile(&one, &wide, "second");
    put_compile(&two, &wide, "second");
    two.context = LOG_COMPILE(1, 0, 0);
    put_compile(&two, &PLAIN, "first");
    two.context = LOG_COMPILE(2, 0, 0);
    put_compile(&two, &wide, "third");
    struct side a = open_log(&one), b = open_log(&two);
    struct align *x = align(&a, &b);
    assert_int_equal(n_differences(x), 1);
    assert_int_equal(x->compiles.n, 4); /* with what belongs to no compile */
    assert_int_equal(x->compiles.v[3].a, ALIGN_NONE);
    assert_str_is(outline_text(b.outline, b.outline->compiles.v[x->compiles.v[3].b].function),
                  "third");
    align_free(x);
    drop(&a);
    drop(&b);
}

/* A function of another name with the same contents is the same; one with others is not. */
static void test_renamed(void **state)
{
    (void)state;
    struct log_make one = start(&PLAIN), two = start(&ELSEWHERE);
    put_compile(&one, &PLAIN, "forward");
    put_compile(&two, &ELSEWHERE, "forward_v2");
    struct side a = open_log(&one), b = open_log(&two);
    struct align *x = align(&a, &b);
    assert_int_equal(n_differences(x), 0);
    align_free(x);
    drop(&a);
    drop(&b);
}

/* Recompiles of one function go by their contents. */
static void test_recompiles(void **state)
{
    (void)state;
    struct run wide = PLAIN;
    wide.width = "128";
    struct log_make one = start(&PLAIN), two = start(&PLAIN);
    put_compile(&one, &PLAIN, "forward");
    one.context = LOG_COMPILE(0, 1, 0);
    put_compile(&one, &wide, "forward");
    put_compile(&two, &wide, "forward");
    struct side a = open_log(&one), b = open_log(&two);
    struct align *x = align(&a, &b);
    assert_int_equal(x->compiles.n, 3);
    assert_int_equal(x->compiles.v[1].b, ALIGN_NONE);
    assert_int_not_equal(x->compiles.v[2].b, ALIGN_NONE);
    assert_int_equal(n_differences(x), 1);
    align_free(x);
    drop(&a);
    drop(&b);
}

static bool attempt(void *arg)
{
    struct side *sides = arg;
    struct err err = ERR_INIT;
    struct outline *a = outline_build(sides[0].trace, NULL, &err);
    struct outline *b = a ? outline_build(sides[1].trace, NULL, &err) : NULL;
    struct align *x = b ? align_outlines(a, b, &err) : NULL;
    assert_true(x || err.kind == ERR_ENV);
    bool ok = x != NULL;
    align_free(x);
    outline_free(a);
    outline_free(b);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct run wide = ELSEWHERE;
    wide.width = "128";
    struct side sides[] = { run_once(&PLAIN), run_once(&wide) };
    check_alloc_failures(attempt, sides);
    drop(&sides[0]);
    drop(&sides[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_guards),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_renamed), cmocka_unit_test(test_recompiles),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
