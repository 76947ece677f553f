#include "tests/profile/diagnosis/found.h"

static void put_tensor(struct log_make *log, const char *sizes)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"describe_tensor\": {\"id\": 0, \"describer_id\": 0, \"ndim\": 2, \"size\": [%s]}",
               sizes);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    log_put(log, "\"describe_source\": {\"describer_id\": 0, \"id\": 0, \"source\": \"L['x']\"}",
            NULL);
    buf_release(&meta);
}

static void put_metrics(struct log_make *log, const char *seconds, const char *more)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"compilation_metrics\": {\"co_name\": \"forward\", \"co_filename\": "
               "\"/u/zoo/model.py\", \"co_firstlineno\": 10, \"entire_frame_compile_time_s\": "
               "%s%s}",
               seconds, more);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* A compile for a tensor of these sizes, made because of these reasons (NULL: it is the first). */
static void put_compile(struct log_make *log, const char *context, const char *reasons,
                        const char *sizes, const char *guards)
{
    log->context = context;
    if (reasons)
        log_artifact(log, "recompile_reasons", reasons);
    put_tensor(log, sizes);
    made_guard(log, "Ne(s0, 1)", "eval");
    log_put(log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    log_put(log, "\"dynamo_cpp_guards_str\": {}", guards);
    put_metrics(log, "0.25", "");
}

static struct log_make new_log(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    return log;
}

static struct diagnosis *diagnosis_of(struct made *made)
{
    struct err err = ERR_INIT;
    struct diagnosis *d = diagnosis_build(made->profile, &err);
    assert_no_err(&err);
    assert_non_null(d);
    return d;
}

/* Returns the first finding of a kind. */
static const struct finding *finding_of(const struct diagnosis *d, enum finding_kind kind)
{
    for (uint32_t i = 0; i < d->n_findings; i++)
        if (d->findings[i].kind == kind)
            return &d->findings[i];
    fail_msg("no finding of this kind");
    return NULL;
}

#define TENSOR_GUARD                                                                          \
    "| +- TENSOR_MATCH: check_tensor(L['x'], Tensor)  # y = self.head(x)  # zoo/model.py:14 " \
    "in forward\n"

static void test_sizes(void **state)
{
    (void)state;
    struct log_make log = new_log();
    put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", TENSOR_GUARD);
    put_compile(&log, LOG_COMPILE(0, 1, 0),
                "0/0: tensor 'x' size mismatch at index 1. expected 24, actual 30", "8, 30",
                TENSOR_GUARD);
    put_compile(&log, LOG_COMPILE(0, 2, 0),
                "[\"0/1: tensor 'x' size mismatch at index 1. expected 30, actual 31\", "
                "\"0/0: tensor 'x' size mismatch at index 1. expected 24, actual 31\"]",
                "9, 31", TENSOR_GUARD);
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = finding_of(d, FINDING_RECOMPILE);
    assert_str_is(f->cause,
                  "L['x'].size()[1] was compiled as a constant and changed: 24, 30 and 31");
    assert_str_is(f->source, "L['x'].size()[1]");
    assert_int_equal(f->count, 2);
    assert_int_equal(f->ns, 500000000);
    assert_str_is(f->file, "/u/zoo/model.py");
    assert_int_equal(f->line, 14);
    assert_str_is(f->code, "y = self.head(x)");
    assert_int_equal(f->remedies[0].kind, REMEDY_MARK_DYNAMIC);
    assert_str_is(f->remedies[0].text, "torch._dynamo.mark_dynamic(x, 0); "
                                       "torch._dynamo.mark_dynamic(x, 1) before the first call");
    diagnosis_free(d);
    made_drop(&made);
}

/* Of many values some are kept, and the rest is not counted. */
static void test_many_values(void **state)
{
    (void)state;
    struct log_make log = new_log();
    struct buf context = BUF_INIT, reason = BUF_INIT;
    for (int i = 0; i < 100; i++) {
        buf_clear(&context);
        buf_clear(&reason);
        buf_printf(&context, "\"frame_id\": 0, \"frame_compile_id\": %d, \"attempt\": 0%c", i, 0);
        buf_printf(&reason, "0/%d: n == %d%c", i - 1, i, 0);
        put_compile(&log, context.p, i > 0 ? reason.p : NULL, "8, 24", "");
    }
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = finding_of(d, FINDING_RECOMPILE);
    assert_int_equal(f->count, 99);
    assert_str_is(f->cause, "the value of n was compiled as a constant and changed: 1, 2, 3, 4, 5 "
                            "and at least 59 more");
    diagnosis_free(d);
    made_drop(&made);
    buf_release(&context);
    buf_release(&reason);
}

/* A variable that a closure captures has the program's name, where PyTorch's hint has it. */
static void test_captured(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "",
          "the value of ['n'] of a variable that s.hook captures was compiled as the constant 0, and "
          "then it was 1",
          "capture a tensor in place of the number ['n'] of a variable that s.hook captures, and "
          "change it with .fill_() or .add_()" },
        { " (HINT: guard on \\\"state\\\"['n'])",
          "the value of state['n'] (captured by s.hook) was compiled as the constant 0, and then it "
          "was 1",
          "capture a tensor in place of the number state['n'] (captured by s.hook), and change it "
          "with .fill_() or .add_()" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_make log = new_log();
        struct buf reason = BUF_INIT;
        buf_printf(&reason,
                   "[\"0/0: s.hook.__closure__[0].cell_contents['n'] == 0  # state['n'] += 1  # "
                   "zoo/model.py:6 in hook%s\"]%c",
                   cases[i][0], 0);
        put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", "");
        put_compile(&log, LOG_COMPILE(0, 1, 0), reason.p, "8, 24",
                    "EQUALS_MATCH: L['s'].hook.__closure__[0].cell_contents['n'] == 1\n");
        buf_release(&reason);
        struct made made = made_profile(&log, &(struct profile_options){ 0 });
        struct diagnosis *d = diagnosis_of(&made);
        const struct finding *f = finding_of(d, FINDING_RECOMPILE);
        assert_str_is(f->cause, cases[i][1]);
        assert_str_is(f->remedies[0].text, cases[i][2]);
        diagnosis_free(d);
        made_drop(&made);
    }
}

/* The value of the newest compile is known from its guards only. */
static void test_values(void **state)
{
    (void)state;
    struct log_make log = new_log();
    put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", "EQUALS_MATCH: L['n'] == 3");
    put_compile(&log, LOG_COMPILE(0, 1, 0),
                "0/0: n == 3  # x = x * n\\nUser stack trace:\\n  File \"/u/zoo/model.py\", line "
                "21, in forward\\n    x = x * n\\n  File \"/env/torch/nn/f.py\", line 3, in g\\n",
                "8, 24", "EQUALS_MATCH: L['n'] == 5  # x = x * n\n");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = finding_of(d, FINDING_RECOMPILE);
    assert_str_is(f->cause, "the value of n was compiled as the constant 3, and then it was 5");
    assert_str_is(f->source, "L['n']");
    assert_int_equal(f->remedies[0].kind, REMEDY_INT_TENSOR);
    diagnosis_free(d);
    made_drop(&made);
}

/* B was compiled because of the mode. When a size changes in the mode of A, B's guard on the mode
 * fails first, but the size is the cause. */
static void test_telling_reason(void **state)
{
    (void)state;
    struct log_make log = new_log();
    put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", "");
    put_compile(&log, LOG_COMPILE(0, 1, 0), "0/0: self.training == True", "8, 24", "");
    put_compile(&log, LOG_COMPILE(0, 2, 0),
                "[\"0/1: self.training == False\", \"0/0: tensor 'x' size mismatch at index 0. "
                "expected 8, actual 6\"]",
                "6, 24", "");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    assert_int_equal(d->n_findings, 2);
    assert_str_is(d->findings[0].source, "L['self'].training");
    assert_str_is(d->findings[1].cause,
                  "L['x'].size()[0] was compiled as the constant 8, and then it was 6");
    diagnosis_free(d);
    made_drop(&made);
}

static void test_limit(void **state)
{
    (void)state;
    struct log_make log = new_log();
    put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", "");
    put_compile(&log, LOG_COMPILE(0, 1, 0),
                "0/0: self.step == 0  # (HINT: torch._dynamo.config."
                "allow_unspec_int_on_nn_module = True)",
                "8, 24", "");
    log.context = LOG_COMPILE(0, 2, 0);
    log_artifact(&log, "recompile_reasons", "[\"0/1: self.step == 1\", \"0/0: self.step == 0\"]");
    put_metrics(&log, "0.01",
                ", \"fail_type\": \"FailOnRecompileLimitHit\", \"fail_reason\": \"Dynamo recompile "
                "limit exceeded (currently set to 2). Limit type: recompile_limit\"");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    assert_int_equal(d->n_findings, 1);
    const struct finding *f = finding_of(d, FINDING_LIMIT);
    assert_str_is(f->cause, "`forward` reached the recompile limit of 2: the value of self.step "
                            "was compiled as the constant 0, and then it was 1");
    assert_true(f->ended_program);
    assert_int_equal(f->ns, 250000000);
    assert_int_equal(f->remedies[0].kind, REMEDY_CHANGE_SETTING);
    assert_int_equal(f->remedies[f->n_remedies - 1].kind, REMEDY_RAISE_LIMIT);
    assert_str_is(f->remedies[f->n_remedies - 1].text,
                  "torch._dynamo.config.recompile_limit = 4, if each version is needed");
    diagnosis_free(d);
    made_drop(&made);
}

/* A symbol of this source, at this line of the program. */
static void put_symbol(struct log_make *log, const char *source, int line)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"12\", \"source\": \"%s\", "
               "\"user_stack\": [{\"line\": %d, \"name\": \"forward\", \"filename\": 1, "
               "\"loc\": \"line %d\"}], \"stack\": []}",
               source, line, line);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* Two functions with an input of one name: each has the line of its own compile, whichever of them
 * is compiled again first. */
static void test_two_functions(void **state)
{
    (void)state;
    static const char *const reason[] = {
        "0/0: tensor 'x' size mismatch at index 0. expected 8, actual 12",
        "1/0: tensor 'x' size mismatch at index 0. expected 8, actual 12",
    };
    struct log_make log = new_log();
    put_compile(&log, LOG_COMPILE(0, 0, 0), NULL, "8, 24", TENSOR_GUARD);
    put_compile(&log, LOG_COMPILE(1, 0, 0), NULL, "8, 24", TENSOR_GUARD);
    log.context = LOG_COMPILE(0, 1, 0);
    put_symbol(&log, "L['x'].size()[0]", 6);
    put_compile(&log, LOG_COMPILE(0, 1, 0), reason[0], "12, 24", TENSOR_GUARD);
    log.context = LOG_COMPILE(1, 1, 0);
    put_symbol(&log, "L['x'].size()[0]", 10);
    put_compile(&log, LOG_COMPILE(1, 1, 0), reason[1], "12, 24", TENSOR_GUARD);
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    assert_int_equal(d->n_findings, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct finding *f = &d->findings[i];
        assert_int_equal(f->kind, FINDING_RECOMPILE);
        assert_str_is(made.profile->compiles[f->compile].id, i == 0 ? "0/1" : "1/1");
        assert_int_equal(f->line, i == 0 ? 6 : 10);
        assert_str_is(f->code, i == 0 ? "line 6" : "line 10");
    }
    diagnosis_free(d);
    made_drop(&made);
}

static void put_float(struct log_make *log, const char *name, const char *source)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"1e-05\", \"source\": \"%s\", "
               "\"user_stack\": [" MADE_USER ", " MADE_TORCH "], \"stack\": []}",
               name, source);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void test_restart(void **state)
{
    (void)state;
    struct log_make log = made_log();
    log.context = LOG_COMPILE(0, 0, 0);
    put_float(&log, "zf1", "L['self']._modules['norm1'].eps");
    put_float(&log, "zf2", "L['self']._modules['norm2'].eps");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = finding_of(d, FINDING_RESTART);
    assert_str_is(f->cause, "Python floats were traced as symbols and then needed as constants, so "
                            "the compile began again: eps of 2 modules such as norm1");
    assert_int_equal(f->line, 12);
    assert_int_equal(f->remedies[0].kind, REMEDY_SPECIALIZE_FLOAT);
    diagnosis_free(d);
    made_drop(&made);
}

static void test_break(void **state)
{
    (void)state;
    struct log_make log = new_log();
    log.context = LOG_COMPILE(0, 0, 0);
    for (int i = 0; i < 2; i++)
        log_artifact(&log, "dynamo_graph_break_reason",
                     "Graph break in user code at /u/zoo/model.py:7\n"
                     "Graph Break Reason: Data-dependent branching\n"
                     "  Explanation: Detected data-dependent branching.\n"
                     "\n"
                     "      The branch condition involves a tensor computed as follows:\n"
                     "  Hint: Use `torch.cond` to express dynamic control flow.\n");
    log_put(&log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    put_metrics(&log, "0.25", "");
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    assert_int_equal(d->n_findings, 1);
    const struct finding *f = finding_of(d, FINDING_BREAK);
    assert_str_is(f->cause, "a branch depends on the values of a tensor");
    assert_str_is(made.profile->breaks[0].is->summary, "Data-dependent branching");
    assert_int_equal(f->count, 2);
    assert_int_equal(f->line, 7);
    assert_str_is(f->remedies[0].text,
                  "compute both sides and choose with torch.where(), or use torch.cond()");
    diagnosis_free(d);
    made_drop(&made);
}

/* A compile of a function that line 3 of the program calls. */
static void put_start(struct log_make *log, const char *context, const char *function)
{
    struct buf meta = BUF_INIT;
    log->context = context;
    buf_printf(&meta,
               "\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"main\", \"filename\": "
               "1}, {\"line\": 5, \"name\": \"%s\", \"filename\": 1}]}",
               function);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    log_put(log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    buf_release(&meta);
}

static void put_broken(struct log_make *log, const char *context)
{
    put_start(log, context, "f");
    log_artifact(log, "dynamo_graph_break_reason",
                 "Graph break in user code at /u/zoo/model.py:7\n"
                 "Graph Break Reason: Data-dependent branching\n");
    put_metrics(log, "0.25", "");
}

/* The compiles that a line's breaks caused are counted over all compiles that it broke; the time is
 * that of the first of each function, since the others are recompiles. */
static void test_caused(void **state)
{
    (void)state;
    static const char RESUME[] = "torch_dynamo_resume_in_f_at_7";
    struct log_make log = new_log();
    put_broken(&log, LOG_COMPILE(0, 0, 0));
    put_start(&log, LOG_COMPILE(1, 0, 0), RESUME);
    put_metrics(&log, "2.0", "");
    put_broken(&log, LOG_COMPILE(0, 1, 0));
    for (int i = 1; i < 3; i++) {
        put_start(&log, i == 1 ? LOG_COMPILE(1, 1, 0) : LOG_COMPILE(1, 2, 0), RESUME);
        put_metrics(&log, "4.0", "");
    }
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    struct diagnosis *d = diagnosis_of(&made);
    const struct finding *f = finding_of(d, FINDING_BREAK);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->ns, 2000000000);
    assert_int_equal(f->n_evidence, 3);
    assert_str_is(f->evidence[1],
                  "the rest of the function is compiled by itself, in 3 more compiles");
    assert_str_is(f->evidence[2],
                  "2 of these are recompiles; their time is part of other findings");
    diagnosis_free(d);
    check_alloc_failures(diagnose_once, made.profile);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_captured),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_telling_reason), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_two_functions),  cmocka_unit_test(test_restart),
        cmocka_unit_test(test_break),          cmocka_unit_test(test_caused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
