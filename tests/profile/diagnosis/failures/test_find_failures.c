#include "profile/diagnosis/diagnosis.h"
#include "tests/profile/made.h"

static void put_symbol(struct log_make *log, const char *name, const char *value, const char *range,
                       const char *source)
{
    struct buf meta = BUF_INIT;
    buf_printf(
        &meta,
        "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%s\", \"vr\": \"%s\", \"source\": "
        "\"%s\", \"user_stack\": [" MADE_USER "], \"stack\": []}",
        name, value, range, source);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_failure(struct log_make *log, const char *type, const char *reason)
{
    struct buf meta = BUF_INIT;
    buf_printf(
        &meta,
        "\"compilation_metrics\": {\"co_name\": \"forward\", \"entire_frame_compile_time_s\": "
        "0.5, \"fail_type\": \"%s\", \"fail_reason\": \"%s\", \"fail_user_frame_filename\": "
        "\"/u/zoo/model.py\", \"fail_user_frame_lineno\": 12}",
        type, reason);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static struct log_make log_with_symbols(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    log.context = LOG_COMPILE(0, 0, 0);
    put_symbol(&log, "s27", "30", "[2, int_oo]", "L['x'].size()[1]");
    put_symbol(&log, "s5", "40", "[8, 64]", "L['y'].size()[0]");
    return log;
}

static const struct finding *first_finding(const struct diagnosis *d)
{
    assert_true(d->n_findings > 0);
    return &d->findings[0];
}

static struct diagnosis *diagnosis_of(struct made *made)
{
    struct err err = ERR_INIT;
    struct diagnosis *d = diagnosis_build(made->profile, &err);
    assert_no_err(&err);
    assert_non_null(d);
    return d;
}

static const struct failure_case {
    const char *type, *reason, *cause, *evidence, *remedy;
    enum finding_kind kind;
} CASES[] = {
    { "TorchRuntimeError",
      "RuntimeError when making fake tensor call\\n  Explanation: Dynamo failed to run FX node with "
      "fake tensors: call_function <built-in function mul>(*(FakeTensor(...), FakeTensor(...)), "
      "**{}): got RuntimeError('The size of tensor a (s27: hint = 30) must match the size of tensor "
      "b (s27 - 1) at non-singleton dimension 1)')\\n  Hint: Your code may result in an error when "
      "running in eager.",
      "mul: the size of tensor a (s27: hint = 30) must match the size of tensor b (s27 - 1) at "
      "dimension 1",
      "s27 = L['x'].size()[1], 30 at the call",
      "slice or pad one of the two tensors, so that their sizes at dimension 1 are equal",
      FINDING_FAILURE },
    { "TorchRuntimeError",
      "RuntimeError when making fake tensor call\\n  Explanation: Dynamo failed to run FX node with "
      "fake tensors: call_method view(*(FakeTensor(...), -1, 64), **{}): got ValueError('Cannot "
      "view a tensor with shape torch.Size([s27, s77]) and strides (1, s27) as a tensor with shape "
      "(((s27*s77)//64), 64)!')",
      "view() cannot give the shape (((s27*s77)//64), 64) to a tensor of shape (s27, s77) with "
      "strides (1, s27), because its elements are not in that order in memory",
      NULL, "use .reshape(...) instead of .view(...), or .contiguous() before it",
      FINDING_FAILURE },
    { "Unsupported",
      "Operator does not support running with fake tensors\\n  Developer debug context: unsupported "
      "operator: mylib.roll.default\\n",
      "the operator mylib.roll.default has no fake implementation, without which PyTorch does not "
      "know the shape of its result",
      NULL,
      "@torch.library.register_fake(\"mylib::roll\") on a function with the same arguments that "
      "returns an empty tensor of the result's shape, such as torch.empty_like(x)",
      FINDING_FAILURE },
    { "Unsupported", "Odd thing\\n  Explanation: It is odd.\\n  Hint: Make it even.\\n",
      "It is odd", NULL, "Make it even.", FINDING_FAILURE },
    { "BackendCompilerFailed", "backend='tvm' raised:\\nKeyError: 'x'\\n",
      "the backend tvm failed: KeyError: 'x'", NULL,
      "symtape minify makes a small program of this recording for a report", FINDING_FAILURE },
    { "UserError",
      "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like "
      "symbols: none)",
      "the code asks whether u0 == 1, which depends on a result of a data-dependent operator and is "
      "not known when the program is compiled",
      NULL, "torch._check(u0 >= 2) before line 12, if it always holds", FINDING_FAILURE },
    { "ConstraintViolationError",
      "Constraints violated (L['x'].size()[1])!\\n  - You marked L['x'].size()[1] as dynamic but "
      "your code specialized it to be a constant (30). If you're using mark_dynamic, remove it.",
      "L['x'].size()[1] was marked dynamic but the program makes it the constant 30",
      "s27 = L['x'].size()[1], 30 at the call", "torch._dynamo.maybe_mark_dynamic(x, 1)",
      FINDING_CONSTRAINT },
    { "ConstraintViolationError",
      "Constraints violated (L['y'].size()[0])!\\n  - Not all values of L['y'].size()[0] = "
      "L['y'].size()[0] in the specified range 8 <= L['y'].size()[0] <= 64 satisfy the generated "
      "guard 192*L['y'].size()[0] == 768*(L['y'].size()[0] // 4).",
      "L['y'].size()[0] was marked dynamic in 8..64 but has to be a multiple of 4",
      "the line asks for Eq(192*s5, 768*((s5//4)))", "pad y to a multiple of 4 at dimension 0",
      FINDING_CONSTRAINT },
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct failure_case *c = &CASES[i];
        struct log_make log = log_with_symbols();
        made_guard(&log, "Eq(192*s5, 768*((s5//4)))", "eval");
        put_failure(&log, c->type, c->reason);
        struct made made = made_profile(&log, &(struct profile_options){ 0 });
        struct diagnosis *d = diagnosis_of(&made);
        const struct finding *f = first_finding(d);
        assert_str_is(f->cause, c->cause);
        assert_int_equal(f->kind, c->kind);
        assert_true(f->ended_program);
        assert_int_equal(f->ns, 500000000);
        assert_true(f->message.n > 0);
        if (c->evidence)
            assert_str_is(f->evidence[0], c->evidence);
        assert_true(f->n_remedies > 0);
        assert_str_is(f->remedies[0].text, c->remedy);
        diagnosis_free(d);
        made_drop(&made);
    }
}

static void test_limit_is_no_failure(void **state)
{
    (void)state;
    struct log_make log = log_with_symbols();
    put_failure(&log, "Unsupported", "Dynamo recompile limit exceeded\\n  Explanation: ...");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    for (uint32_t i = 0; i < d->n_findings; i++)
        assert_int_not_equal(d->findings[i].kind, FINDING_FAILURE);
    diagnosis_free(d);
    made_drop(&made);
}

static void test_program_continued(void **state)
{
    (void)state;
    struct log_make log = log_with_symbols();
    put_failure(&log, "Unsupported", "Odd thing");
    log.context = LOG_COMPILE(1, 0, 0);
    made_guard(&log, "Ne(s0, 1)", "eval");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    assert_false(first_finding(d)->ended_program);
    diagnosis_free(d);
    made_drop(&made);
}

static void put_unbacked(struct log_make *log, const char *name, const char *code,
                         const char *function)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_unbacked_symbol\": {\"symbol\": \"%s\", \"vr\": \"[-int_oo, int_oo]\", "
               "\"user_stack\": [{\"line\": 6, \"name\": \"forward\", \"filename\": 1, \"loc\": "
               "\"%s\"}], \"stack\": [" MADE_USER
               ", {\"line\": 9, \"name\": \"%s\", \"filename\": 4, \"loc\": \"\"}]}",
               name, code, function);
    buf_putc(&meta, '\0');
    log_put(log, "\"str\": [\"/env/torch/_subclasses/fake_impls.py\", 4]", NULL);
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static struct made made_with_asserts(const char *first, const char *second)
{
    struct log_make log = log_with_symbols();
    put_unbacked(&log, "u0", "kept = x[mask]", "nonzero");
    put_unbacked(&log, "u1", "n = y.max().item()", "local_scalar_dense");
    if (first)
        made_guard(&log, first, "runtime_assert");
    made_guard(&log, second, "runtime_assert");
    log_put(&log,
            "\"compilation_metrics\": {\"co_name\": \"forward\", "
            "\"entire_frame_compile_time_s\": 0.5}",
            NULL);
    return made_profile(&log, &(struct profile_options){ 0 });
}

static void test_asserts(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { NULL, "Eq(u0, u1)", "the compiled program fails at run time if u0 != n" },
        { NULL, "u1 <= s27", "the compiled program fails at run time if n > x.shape[1]" },
        { NULL, "s5 <= 64", NULL }, /* implied by the range */
        { NULL, "u0 >= 0", NULL },  /* a size */
        { "u1 <= 8", "u1 <= 9", "the compiled program fails at run time if n > 8" },
        { NULL, "u0 >=", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made made = made_with_asserts(cases[i][0], cases[i][1]);
        struct diagnosis *d = diagnosis_of(&made);
        uint32_t n = 0;
        for (uint32_t k = 0; k < d->n_findings; k++)
            if (d->findings[k].kind == FINDING_ASSERT && n++ == 0 && cases[i][2])
                assert_str_is(d->findings[k].cause, cases[i][2]);
        assert_int_equal(n, cases[i][2] != NULL);
        diagnosis_free(d);
        made_drop(&made);
    }
}

/* Logs the symbol of a size of L['x'] that was marked with mark_unbacked. */
static void put_marked(struct log_make *log, int ndim)
{
    struct buf meta = BUF_INIT;
    buf_printf(
        &meta,
        "\"describe_tensor\": {\"id\": 0, \"describer_id\": 0, \"ndim\": %d, \"size\": [12, 40, 5]}",
        ndim);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
    log_put(log, "\"describe_source\": {\"describer_id\": 0, \"id\": 0, \"source\": \"L['x']\"}",
            NULL);
    log_put(log,
            "\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"vr\": \"[-int_oo, int_oo]\", "
            "\"user_stack\": [" MADE_USER "], \"stack\": [{\"line\": 9, \"name\": "
            "\"wrap_tensor\", \"filename\": 2, \"loc\": \"\"}]}",
            NULL);
}

/* A log of a failure on a branch on u0, whose line is `code`. */
static struct made made_with_branch(int ndim, const char *expr, const char *code)
{
    struct log_make log = log_with_symbols();
    struct buf reason = BUF_INIT;
    put_marked(&log, ndim);
    buf_printf(&reason,
               "Could not guard on data-dependent expression %s (unhinted: %s).  consider "
               "guard_or_false\\n\\nUser Stack (most recent call last):\\n  File "
               "\\\"/u/zoo/model.py\\\", line 12, in forward\\n    %s\\n",
               expr, expr, code);
    buf_putc(&reason, '\0');
    put_failure(&log, "UserError", reason.p);
    buf_release(&reason);
    return made_profile(&log, &(struct profile_options){ 0 });
}

/* The dimension of a marked size is the one that the line reads. */
static void test_marked_size(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        const char *code, *source;
    } cases[] = {
        { 2, "if x.shape[1] > 8:", "L['x'].size()[1]" },
        { 3, "if x.size(-1) > 8:", "L['x'].size()[2]" },
        { 3, "if len(x) > x.shape[0] - 8:", "L['x'].size()[0]" },
        { 2, "if x.shape[0] > x.shape[1]:", "L['x']" },
        { 2, "if max.shape[0] > 8 or self.x.shape[0] > 8:", "L['x']" },
        { 2, "if x.shape[2] > 8:", "L['x']" },
        { 2, "if x.shape[-3] > 8:", "L['x']" },
        { 2, "if rows > 8:", "L['x']" },
        { 1, "if rows > 8:", "L['x'].size()[0]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made made = made_with_branch(cases[i].ndim, "u0 > 8", cases[i].code);
        struct diagnosis *d = diagnosis_of(&made);
        const struct finding *f = first_finding(d);
        assert_str_is(f->code, cases[i].code);
        assert_str_is(f->source, cases[i].source);
        assert_int_equal(f->remedies[0].kind, REMEDY_MARK_DYNAMIC);
        diagnosis_free(d);
        made_drop(&made);
    }
}

/* What was false at the recorded call, with sizes 12, 40 and 5, is not suggested as a fact. */
static void test_recorded_truth(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        const char *expr, *code, *check, *guard_or; /* NULL: not suggested */
    } cases[] = {
        { 2, "u0 > 32", "if x.shape[0] > 32:", "(x.shape[0] <= 32)", "guard_or_false" },
        { 2, "u0 > 32", "if x.shape[1] > 32:", "(x.shape[1] > 32)", "guard_or_true" },
        { 1, "u0 > 32", "if not (rows > 32):", "(not (rows > 32))", "guard_or_true" },
        { 1, "u0 > 8", "if not rows > 8:", "(rows > 8)", "guard_or_false" },
        { 1, "u0 > s27", "if rows > columns:", "(rows <= columns)", "guard_or_false" },
        { 1, "Eq(u0, 12)", "while len(x) == 12:", "(len(x) == 12)", "guard_or_true" },
        { 1, "Ne(u0, 12)", "if len(x) != 12:", "(len(x) == 12)", "guard_or_false" },
        { 2, "u0 > 32", "if rows > 32:", "(rows > 32)", "guard_or_false" },
        { 1, "u0 > u9", "if rows > kept:", "(rows > kept)", "guard_or_false" },
        { 1, "u0 > 32", "if rows > 32 or big:", "(rows > 32 or big)", "guard_or_false" },
        { 1, "Eq(u0, 1)", "y = x.squeeze(0)", "(u0 >= 2)", NULL },
        { 1, "u0 > 32", "y = f(x)", "(u0 <= 32)", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made made = made_with_branch(cases[i].ndim, cases[i].expr, cases[i].code);
        struct diagnosis *d = diagnosis_of(&made);
        const struct finding *f = first_finding(d);
        struct str check = STR(""), guard_or = STR("");
        for (size_t k = 0; k < f->n_remedies; k++) {
            struct str text = f->remedies[k].text;
            if (f->remedies[k].kind == REMEDY_TORCH_CHECK)
                check = str_from(str_first(text, str_find(text, STR(" before"))), 12);
            if (f->remedies[k].kind == REMEDY_GUARD_OR_FALSE)
                guard_or = str_first(text, str_find_char(text, '('));
        }
        assert_str_is(check, cases[i].check);
        assert_str_is(guard_or, cases[i].guard_or ? cases[i].guard_or : "");
        diagnosis_free(d);
        made_drop(&made);
    }
}

/* torch.export without Dynamo: symbols and guards that belong to no compile, and no exception. */
static void check_export(const char *context)
{
    static const char stack[] =
        "\"stack\": [{\"line\": 3, \"name\": \"<module>\", \"filename\": 1, \"loc\": "
        "\"export(m, (x,), dynamic_shapes={'x': {0: rows}})\"}, {\"line\": 9, \"name\": "
        "\"_export\", \"filename\": 5, \"loc\": \"\"}";
    struct log_make log = log_start();
    struct buf meta = BUF_INIT;
    made_strings(&log);
    log.context = context;
    log_put(&log, "\"str\": [\"/env/torch/export/_trace.py\", 5]", NULL);
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"s5\", \"val\": \"40\", \"vr\": \"[8, 64]\", "
               "\"source\": \"L['x'].size()[0]\", \"user_stack\": [], %s]}",
               stack);
    buf_putc(&meta, '\0');
    log_put(&log, meta.p, NULL);
    buf_clear(&meta);
    buf_printf(&meta,
               "\"guard_added_fast\": {\"expr\": \"s5 <= 48\", \"user_stack\": [], %s, {\"line\": "
               "5, \"name\": \"evaluate_expr\", \"filename\": 3, \"loc\": "
               "\"self._log_guard(\\\"eval\\\", g)\"}]}",
               stack);
    buf_putc(&meta, '\0');
    log_put(&log, meta.p, NULL);
    buf_release(&meta);
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = first_finding(d);
    assert_int_equal(f->kind, FINDING_CONSTRAINT);
    assert_str_is(f->cause,
                  "L['x'].size()[0] was declared dynamic in 8..64 but has to be at most 48");
    assert_str_is(f->remedies[0].text, "rows = Dim(\"rows\", min=8, max=48)");
    assert_true(f->ended_program);
    diagnosis_free(d);
    made_drop(&made);
}

/* Before torch 2.15, what torch.export records belongs to no compile. */
static void test_export(void **state)
{
    (void)state;
    check_export("\"frame_id\": null");
    check_export(LOG_COMPILE(0, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_limit_is_no_failure),
        cmocka_unit_test(test_program_continued),
        cmocka_unit_test(test_asserts),
        cmocka_unit_test(test_marked_size),
        cmocka_unit_test(test_recorded_truth),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
