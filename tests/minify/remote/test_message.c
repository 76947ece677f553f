#include "minify/remote/message.h"

#include "tests/harness.h"

static void fill(struct job *job)
{
    *job = (struct job){ .number = 7, .timeout = 2.5, .input = 0 };
    job_add_file(job, STR("candidate.fx"), STR("graph\n"), false);
    job_add_file(job, STR("1-fails.sh"), STR("#!"), true);
    job_add_word(job, 1, STR(""));
    job_add_word(job, JOB_TEXT, STR("a \"b\"\n"));
    job_add_word(job, JOB_TMP, STR(""));
    job_add_variable(job, STR("SYMTAPE_FX"), 0, STR(""));
    job_add_variable(job, STR("SEED"), JOB_TEXT, STR("12"));
}

static void a_job_arrives(void **state)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct job job;
    struct message got;
    (void)state;
    fill(&job);
    message_print_run(&job, &text);
    buf_puts(&text, "rest");
    for (size_t n = 0; n < text.n - 4; n++) { /* at any place, it is not all there yet */
        struct str part = { text.p, n };
        assert_int_equal(message_read(&part, &got, &err), MESSAGE_PARTIAL);
    }
    struct str all = buf_str(&text);
    assert_int_equal(message_read(&all, &got, &err), MESSAGE_READ);
    assert_str_is(all, "rest");
    assert_int_equal(got.kind, MESSAGE_RUN);
    assert_int_equal(got.job.number, 7);
    assert_true(got.job.timeout == 2.5);
    assert_int_equal(got.job.input, 0);
    assert_str_is(got.job.files.v[0].name, "candidate.fx");
    assert_str_is(got.job.files.v[0].bytes, "graph\n");
    assert_str_is(got.job.files.v[1].bytes, "#!");
    assert_true(got.job.files.v[1].program);
    assert_int_equal(got.job.words.v[0].file, 1);
    assert_str_is(got.job.words.v[1].text, "a \"b\"\n");
    assert_int_equal(got.job.words.v[2].file, JOB_TMP);
    assert_str_is(got.job.variables.v[1].name, "SEED");
    assert_str_is(got.job.variables.v[1].value.text, "12");
    message_release(&got);
    job_release(&job);
    buf_release(&text);
}

/* Its first word is its script, and its input the question. */
static void a_warm_job_arrives(void **state)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct job job;
    struct message got;
    (void)state;
    fill(&job);
    job.warm = true;
    message_print_run(&job, &text);
    struct str all = buf_str(&text);
    assert_int_equal(message_read(&all, &got, &err), MESSAGE_READ);
    assert_true(got.job.warm);
    message_release(&got);
    buf_clear(&text);
    job.input = JOB_TEXT;
    message_print_run(&job, &text);
    all = buf_str(&text);
    assert_int_equal(message_read(&all, &got, &err), MESSAGE_BAD);
    assert_true(str_find(str_of(err.text), STR("a warm job without")) < strlen(err.text));
    job_release(&job);
    buf_release(&text);
}

static void an_end_arrives(void **state)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct child_end end = {
        .status = 137, .signal = 9, .timed_out = true, .seconds = 0.5, .n = 3
    };
    struct message got;
    (void)state;
    memcpy(end.output, "abc", 3);
    message_print_end(9, &end, STR(""), &text);
    message_print_end(10, &end, STR("no such program"), &text);
    struct str rest = buf_str(&text);
    assert_int_equal(message_read(&rest, &got, &err), MESSAGE_READ);
    assert_int_equal(got.number, 9);
    assert_true(got.started && got.end.timed_out && !got.end.cancelled);
    assert_int_equal(got.end.status, 137);
    assert_int_equal(got.end.n, 3);
    assert_memory_equal(got.end.output, "abc", 3);
    message_release(&got);
    assert_int_equal(message_read(&rest, &got, &err), MESSAGE_READ);
    assert_false(got.started);
    assert_str_is(got.error, "no such program");
    assert_int_equal(rest.n, 0);
    message_release(&got);
    buf_release(&text);
}

static void refuses(void **state)
{
    static const char *const lines[] = {
        "banana\n",
        "[]\n",
        "{\"what\": 1}\n",
        "{\"run\": 1, \"seconds\": -1, \"words\": [\"a\"]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": []}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [{\"file\": 0}]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"input\": 0}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\\u0000b\"]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"variables\": [[\"A=B\", \"c\"]]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"files\": [{\"name\": \"../x\", \"bytes\": 0}]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"files\": [{\"name\": \"tmp\", \"bytes\": 0}]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"files\": [{\"name\": \"x\", \"bytes\": 0}, "
        "{\"name\": \"x\", \"bytes\": 0}]}\n",
        "{\"run\": 1, \"seconds\": 1, \"words\": [\"a\"], \"files\": [{\"name\": \"x\", \"bytes\": "
        "99999999999}]}\n",
        "{\"end\": 1, \"status\": 1, \"bytes\": 5000}\n",
        "{\"end\": 1, \"status\": 1000, \"bytes\": 0}\n",
        "{\"end\": 1, \"status\": 1, \"seconds\": NaN, \"bytes\": 0}\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct err err = { 0 };
        struct message got;
        struct str text = str_of(lines[i]);
        assert_int_equal(message_read(&text, &got, &err), MESSAGE_BAD);
        assert_true(err_is_set(&err));
    }
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct job job;
    struct message got;
    (void)arg;
    fill(&job);
    message_print_run(&job, &text);
    struct str rest = buf_str(&text);
    bool good = !job.failed && !text.failed && message_read(&rest, &got, &err) == MESSAGE_READ;
    if (good)
        message_release(&got);
    job_release(&job);
    buf_release(&text);
    return good;
}

static void memory_runs_out(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_arrives),   cmocka_unit_test(a_warm_job_arrives),
        cmocka_unit_test(an_end_arrives),  cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
