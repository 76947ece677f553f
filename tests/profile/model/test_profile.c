/* A profile as a whole, from a small log with some of everything. */
#include "tests/profile/made.h"

#define MS INT64_C(1000000)

static void test_compile(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    const struct profile *p = made.profile;
    assert_int_equal(p->n_recordings, 1);
    assert_int_equal(p->n_compiles, 1);
    assert_int_equal(p->slowest, 0);
    const struct profile_compile *c = &p->compiles[0];
    assert_str_is(c->id, "0/0");
    assert_int_equal(c->n_attempts, 2);
    assert_int_equal(c->status, ATTEMPT_OK);
    assert_str_is(c->function, "forward");
    assert_int_equal(c->line, 10);
    assert_int_equal(c->ns, 180 * MS);
    assert_int_equal(c->restarted_ns, 50 * MS);
    assert_int_equal(c->n_graphs, 4);
    assert_int_equal(c->n_guards, 3);
    assert_int_equal(c->n_symbols, 2);
    assert_int_equal(c->calls[GRAPH_DYNAMO], 1);
    assert_int_equal(c->calls[GRAPH_INFERENCE], 3);
    assert_int_equal(c->thrown_calls[GRAPH_INFERENCE], 3);
    assert_int_equal(p->compile_ns, 180 * MS);
    assert_int_equal(p->restarted_ns, 50 * MS);
    assert_int_equal(p->n_restarts, 1);
    assert_int_equal(p->restarts[0].is->n_guards, 1);
    assert_int_equal(p->cache_counts[CACHE_FX_GRAPH][CACHE_MISS], 1);
    assert_int_equal(p->n_differences, 0);
    made_drop(&made);
}

static void test_operators(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    const struct profile_operators *o = &made.profile->operators;
    assert_int_equal(o->n_rows, 3);
    assert_int_equal(o->rows[0].level, GRAPH_DYNAMO);
    assert_str_is(profile_name(made.profile, o->rows[0].op), "torch.relu");
    assert_str_is(profile_name(made.profile, o->rows[1].op), "aten.add.Tensor");
    assert_int_equal(o->rows[1].calls, 4);
    assert_int_equal(o->rows[1].kept, 2);
    assert_int_equal(o->calls[GRAPH_INFERENCE], 6);
    assert_int_equal(o->kept[GRAPH_INFERENCE], 3);
    assert_int_equal(o->graphs[GRAPH_DYNAMO], 2);
    assert_int_equal(o->kept_graphs[GRAPH_DYNAMO], 1);
    assert_int_equal(o->unreadable, 0);
    made_drop(&made);
}

static void test_lines(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    const struct profile_lines *lines = &made.profile->lines;
    assert_int_equal(lines->n_lines, 1);
    const struct profile_line *l = &lines->lines[0];
    assert_str_is(profile_name(made.profile, l->file), "/u/zoo/model.py");
    assert_int_equal(l->line, 12);
    assert_str_is(l->code, "x = self.bn(x)");
    assert_str_is(l->function, "forward");
    assert_int_equal(l->nodes[GRAPH_INFERENCE], 6);
    assert_int_equal(l->kept_nodes[GRAPH_INFERENCE], 3);
    assert_int_equal(profile_line_nodes(l), 8);
    assert_int_equal(l->guards, 3);
    assert_int_equal(l->kept_guards, 2);
    assert_int_equal(l->symbols, 2);
    assert_int_equal(l->estimated_ns, 42 * MS);
    assert_int_equal(l->kept_estimated_ns, 21 * MS);
    assert_int_equal(lines->estimated_ns, 42 * MS);
    assert_int_equal(lines->unattributed_ns, 2 * MS);
    assert_int_equal(lines->n_library_lines, 1);
    assert_int_equal(lines->library_lines[0].line, 194);
    assert_int_equal(lines->library_lines[0].guards, 3);
    assert_int_equal(lines->library_lines[0].estimated_ns, 0);
    made_drop(&made);
}

static void test_guards(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    const struct profile_guards *g = &made.profile->guards;
    assert_int_equal(g->by_kind[GUARD_EVAL], 3);
    assert_int_equal(g->by_kind[GUARD_SUPPRESSED], 1);
    assert_int_equal(g->by_kind[GUARD_RUNTIME_ASSERT], 1);
    assert_int_equal(g->kept, 2);
    assert_int_equal(g->duplicates, 1);
    assert_int_equal(g->longest, strlen("Ne(s0, 1)"));
    assert_int_equal(g->n_rows, 3);
    assert_str_is(g->rows[0].expr, "Ne(s0, 1)");
    assert_int_equal(g->rows[0].count, 3);
    assert_int_equal(g->rows[0].line, 12);
    assert_str_is(g->rows[0].code, "x = self.bn(x)");
    assert_int_equal(g->n_exprs, 1);
    assert_int_equal(g->exprs[0].n_lines, 1);
    assert_int_equal(g->n_symbols, 1);
    assert_str_is(g->symbols[0].symbol, "s0");
    assert_int_equal(g->symbols[0].guards, 3);
    uint64_t by_class = 0;
    for (int i = 0; i < GUARD_CLASSES; i++)
        by_class += g->by_class[i];
    assert_int_equal(by_class, 3);
    made_drop(&made);
}

static void test_filters(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct profile_options attempt = { .compile = STR("0/0_0") };
    struct made made = made_profile(&log, &attempt);
    assert_int_equal(made.profile->n_compiles, 1);
    assert_int_equal(made.profile->compiles[0].n_attempts, 1);
    assert_int_equal(made.profile->guards.by_kind[GUARD_EVAL], 1);
    assert_int_equal(made.profile->operators.graphs[GRAPH_DYNAMO], 1);
    assert_int_equal(made.profile->n_caches, 0);
    made_drop(&made);

    log = made_log();
    struct profile_options file = { .file = STR("elsewhere") };
    made = made_profile(&log, &file);
    assert_int_equal(made.profile->lines.n_lines, 0);
    assert_int_equal(made.profile->guards.n_rows, 0);
    assert_int_equal(made.profile->operators.n_rows, 3);
    made_drop(&made);

    log = made_log();
    struct profile_options no_graphs = { .no_graphs = true, .file = STR("zoo/model") };
    made = made_profile(&log, &no_graphs);
    assert_int_equal(made.profile->operators.n_rows, 0);
    assert_int_equal(made.profile->lines.lines[0].guards, 3);
    assert_int_equal(profile_line_nodes(&made.profile->lines.lines[0]), 0);
    made_drop(&made);
}

static void test_nothing_by_that_name(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    struct profile_options compile = { .compile = STR("9/9") };
    assert_null(profile_build(&trace, 1, &compile, &err));
    assert_err(&err, ERR_USAGE, "9/9");
    struct profile_options attempt = { .compile = STR("0/0_x") };
    assert_null(profile_build(&trace, 1, &attempt, &err));
    assert_err(&err, ERR_USAGE, "0/0_x");
    struct profile_options recording = { .recording = STR("rank7") };
    assert_null(profile_build(&trace, 1, &recording, &err));
    assert_err(&err, ERR_USAGE, "rank7");
    trace_close(trace);
    profile_free(NULL);
}

/* Nothing of a compile's end was recorded: its time is that to the log's last record. */
static void test_unfinished(void **state)
{
    (void)state;
    struct log_make log = log_start();
    made_strings(&log);
    log_put(&log, "\"dynamo_start\": {\"stack\": [" MADE_USER "]}", NULL);
    made_attempt(&log, '0', false);
    log.time_us += 500000;
    log_put(&log, "\"other\": {}", NULL);
    struct made made = made_profile(&log, NULL);
    const struct profile_compile *c = &made.profile->compiles[0];
    assert_int_equal(c->status, ATTEMPT_UNFINISHED);
    assert_int_equal(c->ns, 522 * MS);
    assert_str_is(c->function, "forward");
    assert_int_equal(made.profile->phases.n_unfinished, 1);
    assert_int_equal(made.profile->recordings[0].n_unfinished, 1);
    made_drop(&made);
}

/* A gap inside a phase in which no user line is worked on is nobody's. Half of that before a guard
 * is its line's: the graph is not known, and other lines may have been traced. */
static void test_backend_gap(void **state)
{
    (void)state;
    struct log_make log = log_start();
    made_strings(&log);
    log_phase(&log, 'B', "GraphLowering.run", "1", "");
    log.time_us += 7000;
    made_guard(&log, "Ne(s0, 1)", "eval");
    log.time_us += 3000;
    log_phase(&log, 'E', "GraphLowering.run", "9", "");
    log.time_us += 2000;
    log_put(&log, "\"describe_tensor\": {}", NULL);
    log.time_us += 4000;
    made_guard(&log, "Ne(s0, 1)", "eval");
    struct made made = made_profile(&log, NULL);
    assert_int_equal(made.profile->lines.estimated_ns, 3 * MS);
    assert_int_equal(made.profile->lines.unattributed_ns, 13 * MS);
    assert_int_equal(made.profile->lines.unplaced_ns, 3 * MS);
    made_drop(&made);
}

static bool build_once(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = arg;
    struct profile *profile = profile_build(&trace, 1, NULL, &err);
    bool ok = profile != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    profile_free(profile);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(build_once, trace);
    trace_close(trace);
}

static void test_empty(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log.context = "\"rank\": 0";
    log_put(&log, "\"other\": {}", NULL);
    struct made made = made_profile(&log, NULL);
    assert_int_equal(made.profile->n_compiles, 0);
    assert_int_equal(made.profile->slowest, PROFILE_NONE);
    assert_int_equal(made.profile->phases.first_root, PROFILE_NONE);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile),    cmocka_unit_test(test_operators),
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_guards),
        cmocka_unit_test(test_filters),    cmocka_unit_test(test_nothing_by_that_name),
        cmocka_unit_test(test_unfinished), cmocka_unit_test(test_backend_gap),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
