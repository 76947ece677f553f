/* The recordings of ../shared: what holds of every profile, and the story of four. */
#include <glob.h>
#include <stdlib.h>

#include "profile/report/diagnosis_report.h"
#include "profile/report/report.h"
#include "tests/harness.h"

static struct trace *open_shared(const char *path)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    assert_non_null(trace);
    return trace;
}

static struct profile *build(struct trace *trace)
{
    struct err err = ERR_INIT;
    struct profile *profile = profile_build(&trace, 1, NULL, &err);
    assert_no_err(&err);
    assert_non_null(profile);
    return profile;
}

static void check_phases(const struct profile *p)
{
    int64_t exclusive = 0, roots = 0, parts = 0;
    for (uint32_t i = 0; i < p->phases.n_nodes; i++) {
        exclusive += p->phases.nodes[i].exclusive_ns;
        if (p->phases.nodes[i].parent == PROFILE_NONE)
            roots += p->phases.nodes[i].inclusive_ns;
    }
    for (int i = 0; i < PHASE_PARTS; i++)
        parts += p->phases.part_ns[i];
    assert_int_equal(exclusive, roots);
    assert_int_equal(exclusive, p->phases.total_ns);
    assert_int_equal(parts, exclusive);
    assert_int_equal(p->phases.stray_ends, 0);
    assert_int_equal(p->phases.unreadable, 0);
}

static void check_guards(const struct profile *p)
{
    uint64_t rows[GUARD_KINDS] = { 0 }, exprs = 0, by_class = 0, compiles = 0;
    for (uint32_t i = 0; i < p->guards.n_rows; i++)
        rows[p->guards.rows[i].kind] += p->guards.rows[i].count;
    for (uint32_t i = 0; i < p->guards.n_exprs; i++)
        exprs += p->guards.exprs[i].count;
    for (int i = 0; i < GUARD_CLASSES; i++)
        by_class += p->guards.by_class[i];
    for (uint32_t i = 0; i < p->n_compiles; i++)
        compiles += p->compiles[i].n_guards;
    for (int i = 0; i < GUARD_KINDS; i++)
        assert_int_equal(rows[i], p->guards.by_kind[i]);
    assert_int_equal(exprs, p->guards.by_kind[GUARD_EVAL]);
    assert_int_equal(by_class, p->guards.by_kind[GUARD_EVAL]);
    assert_int_equal(compiles, p->guards.by_kind[GUARD_EVAL]);
}

static void check_operators(const struct profile *p)
{
    uint64_t calls[GRAPH_KINDS] = { 0 };
    for (uint32_t i = 0; i < p->operators.n_rows; i++) {
        assert_true(p->operators.rows[i].kept <= p->operators.rows[i].calls);
        calls[p->operators.rows[i].level] += p->operators.rows[i].calls;
    }
    for (int i = 0; i < GRAPH_KINDS; i++)
        assert_int_equal(calls[i], p->operators.calls[i]);
    assert_int_equal(p->operators.unreadable, 0);
}

static void check_all(const char *pattern)
{
    glob_t found;
    const char *folder = shared_path("README.md");
    char path[4096];
    snprintf(path, sizeof path, "%.*s%s", (int)(strlen(folder) - strlen("README.md")), folder,
             pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct trace *trace = open_shared(found.gl_pathv[i]);
        struct profile *profile = build(trace);
        check_phases(profile);
        check_guards(profile);
        check_operators(profile);
        profile_free(profile);
        trace_close(trace);
    }
    globfree(&found);
}

static void test_traces(void **state)
{
    (void)state;
    check_all("traces/*.log.zst");
}

static void test_failures(void **state)
{
    (void)state;
    check_all("failures/*.log.zst");
}

static void test_variety(void **state)
{
    (void)state;
    check_all("variety/*.log.zst");
}

/* The diagnosis of a recording and its text report hold every one of `parts` in their first lines.
 */
static void check_story(const char *recording, const char *const *parts, size_t n)
{
    struct trace *trace = open_shared(shared_path(recording));
    struct profile *profile = build(trace);
    struct report_options options = { .limit = 10 };
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct diagnosis *diagnosis = diagnosis_build(profile, &err);
    assert_non_null(diagnosis);
    report_diagnosis_text(diagnosis, &options, 0, &out);
    report_text(profile, &options, &out);
    assert_false(out.failed);
    size_t end = str_find(buf_str(&out), STR("\n\nCompiles"));
    for (size_t i = 0; i < n; i++)
        if (str_find(str_first(buf_str(&out), end), str_of(parts[i])) >= end)
            fail_msg("%s: no \"%s\" in:\n%.*s", recording, parts[i], (int)end, out.p);
    buf_release(&out);
    diagnosis_free(diagnosis);
    profile_free(profile);
    trace_close(trace);
}

#define CHECK_STORY(recording, ...)                                \
    check_story((recording), (const char *const[]){ __VA_ARGS__ }, \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void test_stories(void **state)
{
    (void)state;
    CHECK_STORY("traces/hrnet_w18.eval.aot_eager.log.zst", "restarted, 31.0 s of 64.5 s",
                "eps of 325 modules", "models/hrnet.py:790", "modules/batchnorm.py:194");
    CHECK_STORY("traces/tf_mixnet_l.eval.aot_eager.log.zst",
                "did not finish, 7 min 33 s of 7 min 33 s", "began is bytecode_tracing",
                "Phases that never ended");
    CHECK_STORY("failures/mod_guard.log.zst", "recompiled, 9.12 s of 38.8 s",
                "the condition (x.size()[1] % 7) != 0", "models/rec_fail.py:105");
    CHECK_STORY("failures/graph_break.log.zst", "graph break 2 times", "print() cannot be traced",
                "models/rec_fail.py:129  print(\"step\", x.shape[1]); return x");
    CHECK_STORY("failures/data_dependent_branch.log.zst", "failed, 2.22 s of 2.22 s",
                "rec_fail.py:58  return x + 1 if y.shape[1] > 8 else x - 1");
}

int main(void)
{
    require_shared();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_variety),
        cmocka_unit_test(test_stories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
