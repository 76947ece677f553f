#include <string.h>
#include <sys/stat.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/tape/tape_write.h"

#define OUTER "{\"line\": 3, \"name\": \"<module>\", \"filename\": 0, \"loc\": \"f(x)\"}"
#define INNER \
    "{\"line\": 7, \"name\": \"f\\u0021\", \"filename\": 1, \"loc\": \"return \\\"x\\\"\"}"
#define STACK "[" OUTER ", " INNER "]"
#define OTHER "V1121 00:00:01.000002 674 torch/other.py:9] "

static struct trace *small_trace(void)
{
    struct buf log = BUF_INIT;
    log_line(&log, "\"str\": [\"/u/a.py\", 0]");
    log_line(&log, "\"str\": [\"/u/\\u00e9.py\", 1]");
    log_payload(&log, "\"artifact\": {\"name\": \"torch_version\", \"encoding\": \"json\"}",
                STR("{\"pytorch_version\": \"2.13.0+cpu\", \"oss\": true}"));
    log_line(&log, "\"dynamo_start\": {\"stack\": " STACK "}, " COMPILE ", \"rank\": 2");
    log_payload(&log, "\"dynamo_output_graph\": {\"sizes\": {}}, " COMPILE, STR("one\ntwo"));
    buf_puts(&log, "garbage\n");
    log_line(&log, "\"a_new_event\": [1], \"stack\": [" OUTER "]");
    buf_puts(&log, OTHER "{\"link\" : {}}\n");
    struct trace *trace = open_text(buf_str(&log));
    buf_release(&log);
    return trace;
}

static void test_records(void **state)
{
    (void)state;
    struct trace *trace = small_trace();
    assert_int_equal(trace->n_records, 8);
    const struct record *r = &trace->records[3];
    assert_int_equal(r->event, EVENT_DYNAMO_START);
    assert_str_is(trace_string(trace, r->name), "dynamo_start");
    assert_str_is(event_name(r->event), "dynamo_start");
    assert_str_is(trace_string(trace, r->path), "torch/_dynamo/utils.py");
    assert_int_equal(r->path_line, 2126);
    assert_int_equal(r->month_day, 1120);
    assert_int_equal(r->pid, 673);
    assert_int_equal(r->line, 5);
    assert_int_equal(r->payload, TRACE_NONE);
    assert_int_equal(trace->contexts[r->context].rank, 2);
    assert_int_equal(trace->contexts[r->context].frame_id, 0);
    assert_int_equal(trace->contexts[r->context].attempt, 0);
    assert_int_equal(trace->contexts[r->context].compiled_autograd_id, -1);
    r = &trace->records[6];
    assert_int_equal(r->event, EVENT_OTHER);
    assert_str_is(trace_string(trace, r->name), "a_new_event");
    assert_str_is(r->meta, "[1]");
    assert_int_equal(r->attempt, TRACE_NONE);
    assert_int_equal(trace->contexts[r->context].attempt, -1);
    assert_int_equal(stack_depth(trace, trace->contexts[r->context].stack), 1);
    r = &trace->records[7];
    assert_int_equal(r->flags, RECORD_ODD_LAYOUT);
    assert_str_is(r->meta, "{}");
    assert_int_equal(r->time_us, 1000002);
    assert_int_equal(r->month_day, 1121);
    r = &trace->records[5];
    assert_int_equal(r->event, EVENT_RAW);
    assert_int_equal(r->name, TRACE_NONE);
    assert_str_is(r->meta, "garbage\n");
    assert_int_equal(event_name(EVENT_RAW).n, 0);
    assert_int_equal(trace_string(trace, TRACE_NONE).n, 0);
    trace_close(trace);
}

static void test_recording(void **state)
{
    (void)state;
    struct trace *trace = small_trace();
    const struct recording *r = trace->recordings;
    assert_int_equal(trace->n_recordings, 1);
    assert_int_equal(r->kind, RECORDING_LOG);
    assert_str_is(r->name, "rank2");
    assert_int_equal(r->rank, 2);
    assert_int_equal(r->pid, 673);
    assert_str_is(r->torch_version, "2.13.0+cpu");
    assert_int_equal(r->n_records, 8);
    assert_int_equal(r->payloads, 2);
    assert_int_equal(r->damaged, 1);
    assert_true(r->complete);
    assert_int_equal(r->bytes, trace->records[7].offset + strlen(OTHER "{\"link\" : {}}\n"));
    trace_close(trace);
}

static void test_payload(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct str text, kept;
    struct trace *trace = small_trace();
    assert_true(trace_payload(trace, 4, &text, &err));
    assert_str_is(text, "one\ntwo");
    assert_int_equal(trace_payload_size(trace, 4), 7);
    assert_true(trace_payload_copy(trace, 4, &arena, &kept, &err));
    assert_false(trace_payload(trace, 3, &text, &err));
    assert_err(&err, ERR_USAGE, "no payload");
    assert_int_equal(trace_payload_size(trace, 3), 0);
    trace_close(trace);
    assert_str_is(kept, "one\ntwo");
    arena_release(&arena);
    /* one with blank lines is stored as it was and read without TABs */
    trace = open_text(STR(PREFIX "{\"a\": 1}\n\tone\n\n\ttwo\n"));
    assert_true(trace_payload(trace, 0, &text, &err));
    assert_str_is(text, "one\n\ntwo");
    assert_int_equal(trace->records[0].flags, RECORD_ODD_LAYOUT | RECORD_UNANNOUNCED);
    trace_close(trace);
}

static void test_stacks(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    struct trace *trace = small_trace();
    assert_true(record_json(trace, 3, &doc, &err));
    stack_id stack = record_stack(trace, &doc, STR("stack"));
    assert_int_equal(record_stack(trace, &doc, STR("user_stack")), 0);
    assert_int_equal(stack_depth(trace, stack), 2);
    struct frame frame = stack_frame(trace, 0, stack);
    assert_int_equal(frame.line, 7);
    assert_str_is(frame.function, "f!");
    assert_str_is(frame.code, "return \"x\"");
    assert_str_is(frame.file, "/u/\xC3\xA9.py");
    stack_id caller = stack_parent(trace, stack);
    assert_str_is(stack_frame(trace, 0, caller).file, "/u/a.py");
    assert_int_equal(stack_parent(trace, caller), 0);
    assert_int_equal(stack_parent(trace, 0), 0);
    assert_int_equal(stack_frame(trace, 0, 0).file.n, 0);
    assert_int_equal(stack_frame(trace, 7, stack).line, 0);
    assert_true(stack_frame_id(trace, stack) < trace_n_frames(trace));
    assert_int_equal(stack_frame_id(trace, 0), trace_n_frames(trace));
    assert_int_equal(stack_frame_id(trace, 99999), trace_n_frames(trace));
    assert_int_equal(stack_parent(trace, 99999), 0);
    assert_int_equal(stack_depth(trace, 99999), 0);
    assert_false(record_json(trace, 5, &doc, &err));
    assert_err(&err, ERR_INPUT, "raw record");
    json_release(&doc);
    trace_close(trace);
}

static struct str file_of(struct trace *trace, uint32_t record)
{
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    assert_true(record_json(trace, record, &doc, &err));
    stack_id stack = record_stack(trace, &doc, STR("stack"));
    json_release(&doc);
    assert_int_not_equal(stack, 0);
    return stack_frame(trace, trace->records[record].recording, stack).file;
}

/* A forked child writes into the same log and numbers its files anew; what it does not number it
 * inherited. */
static void test_forked_process(void **state)
{
    (void)state;
    static const char ask[] =
        "{\"a\": {\"stack\": [{\"line\": 1, \"name\": \"f\", \"filename\": %d}]}}\n";
    struct buf log = BUF_INIT;
    log_line(&log, "\"str\": [\"/parent0.py\", 0]");
    log_line(&log, "\"str\": [\"/parent1.py\", 1]");
    buf_puts(&log, OTHER "{\"str\": [\"/child1.py\", 1]}\n");
    for (int file = 0; file < 3; file++) {
        buf_puts(&log, PREFIX);
        buf_printf(&log, ask, file);
        buf_puts(&log, OTHER);
        buf_printf(&log, ask, file);
    }
    log_line(&log, "\"str\": [\"no number\", -5]");
    log_line(&log, "\"str\": [\"too high\", 4000000000]");
    log_line(&log, "\"str\": {\"not\": 1}");
    log_line(&log, "\"str\": [\"/never/again.py\", 1]"); /* a number is given once */
    struct trace *trace = open_text(buf_str(&log));
    assert_str_is(file_of(trace, 3), "/parent0.py");
    assert_str_is(file_of(trace, 4), "/parent0.py");
    assert_str_is(file_of(trace, 5), "/parent1.py");
    assert_str_is(file_of(trace, 6), "/child1.py");
    assert_str_is(file_of(trace, 7), "");
    assert_str_is(file_of(trace, 8), "");
    trace_close(trace);
    buf_release(&log);
}

/* Two recordings on a tape keep their files apart. */
static void test_two_recordings(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char paths[2][4096];
    const char *list[2] = { paths[0], paths[1] };
    struct import_result result;
    for (int i = 0; i < 2; i++) {
        struct buf log = BUF_INIT;
        snprintf(paths[i], sizeof paths[i], "%s", temp_path(i ? "b.log" : "a.log"));
        log_line(&log, i ? "\"str\": [\"/b.py\", 1]" : "\"str\": [\"/a.py\", 1]");
        log_line(&log, "\"x\": {\"stack\": [" INNER "]}, " COMPILE);
        put_file(paths[i], buf_str(&log));
        buf_release(&log);
    }
    const char *out = temp_path("two.tape");
    assert_true(import_paths(list, 2, out, NULL, &result, &err));
    import_result_release(&result);
    struct trace *trace = trace_open(out, NULL, &err);
    assert_non_null(trace);
    assert_int_equal(trace->n_recordings, 2);
    assert_int_equal(trace->n_attempts, 2);
    assert_int_equal(trace->recordings[1].first_record, 2);
    assert_int_equal(trace->records[2].line, 1);
    assert_int_equal(trace->records[2].offset, 0);
    assert_str_is(file_of(trace, 1), "/a.py");
    assert_str_is(file_of(trace, 3), "/b.py");
    assert_true(trace->tape_bytes > 0);
    trace_close(trace);
}

static void test_contexts(void **state)
{
    (void)state;
    char text[80];
    assert_str_is(context_compile_id(&(struct context){ -1, 3, 1, -1, -1, 0 }, text), "3/1");
    assert_str_is(context_compile_id(&(struct context){ 2, 3, 1, -1, -1, 0 }, text), "!2/3/1");
    assert_str_is(context_compile_id(&(struct context){ 2, -1, -1, -1, -1, 0 }, text), "!2");
    assert_str_is(context_compile_id(&(struct context){ -1, -1, -1, -1, -1, 0 }, text), "");
    const int64_t most = INT64_MAX;
    assert_str_is(context_compile_id(&(struct context){ most, most, most, -1, -1, 0 }, text),
                  "!9223372036854775807/9223372036854775807/9223372036854775807");
    struct trace *trace =
        open_text(STR(PREFIX "{\"a\": 1, \"frame_id\": null, \"attempt\": -3, "
                             "\"rank\": \"x\", \"compiled_autograd_id\": 1e3}\n"));
    const struct context *c = &trace->contexts[trace->records[0].context];
    assert_int_equal(c->frame_id, -1);
    assert_int_equal(c->attempt, -1);
    assert_int_equal(c->rank, -1);
    assert_int_equal(c->compiled_autograd_id, -1);
    assert_int_equal(c->stack, 0);
    trace_close(trace);
}

/* Equal contexts are one, whatever their payloads. */
static void test_contexts_stored_once(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    for (int i = 0; i < 100; i++) {
        char payload[32];
        snprintf(payload, sizeof payload, "payload %d", i);
        log_payload(&log, "\"a\": {}, " COMPILE, str_of(payload));
    }
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_contexts, 2); /* and the one for what is lost */
    trace_close(trace);
    buf_release(&log);
}

/* Metadata above 64 KiB, a huge context, a huge raw line. */
static void test_long_texts(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    struct buf log = BUF_INIT, word = BUF_INIT;
    for (int i = 0; i < 2000000; i++)
        buf_putc(&word, 'w');
    for (int i = 0; i < 2; i++) {
        buf_puts(&log, PREFIX "{\"a\": {\"text\": \"");
        buf_put(&log, buf_str(&word));
        buf_puts(&log, "\"}, " COMPILE "}\n");
    }
    buf_puts(&log, PREFIX "{\"a\": {}, " COMPILE ", \"x\": \"");
    buf_put(&log, buf_str(&word));
    buf_puts(&log, "\"}\n");
    buf_put(&log, buf_str(&word));
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_records, 4);
    assert_int_equal(trace->records[0].meta.n, word.n + strlen("{\"text\": \"\"}"));
    assert_ptr_equal(trace->records[0].meta.p, trace->records[1].meta.p); /* held once */
    assert_true(record_json(trace, 1, &doc, &err));
    assert_int_equal(json_get(&doc, JSON_ROOT, STR("text")), 2);
    assert_int_equal(trace->records[1].attempt, 0);
    assert_int_equal(trace->records[2].flags, RECORD_ODD_LAYOUT);
    assert_int_equal(trace->records[3].event, EVENT_RAW);
    assert_int_equal(trace->records[3].meta.n, TAPE_INLINE_LIMIT);
    json_release(&doc);
    trace_close(trace);
    buf_release(&log);
    buf_release(&word);
}

static void check_place(const struct damage *damage, uint64_t line, uint64_t offset,
                        const char *what)
{
    assert_int_equal(damage->line, line);
    assert_int_equal(damage->offset, offset);
    assert_str_is(damage->what, what);
    assert_true(str_ends(damage->source, STR("made.log")));
    assert_int_equal(damage->recording, 0);
}

static void test_damage(void **state)
{
    (void)state;
    struct damage damage[3];
    struct trace *trace = open_text(STR("\tp\n" PREFIX "{\"a\": 1}\n\tp\n"
                                        "garbage\n" PREFIX "{\"a\": 1, \"has_payload\": \"x\"}\n"));
    assert_int_equal(trace_damage(trace, damage, 3), 4);
    check_place(&damage[0], 1, 0, "a payload without a header");
    check_place(&damage[1], 2, 3, "a payload that its header does not announce");
    check_place(&damage[2], 4, 70, "not a record");
    assert_string_equal(record_damage(trace, 3), "the payload is missing");
    assert_int_equal(trace->recordings[0].damaged, 4);
    trace_close(trace);
}

static void test_open_failures(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace_options strict = { .strict = true };
    char path[4096];
    assert_null(trace_open("/no/such/file", NULL, &err));
    assert_err(&err, ERR_ENV, "/no/such/file");
    snprintf(path, sizeof path, "%s", temp_path("empty"));
    put_file(path, STR(""));
    assert_null(trace_open(path, NULL, &err));
    assert_err(&err, ERR_INPUT, "empty");
    put_file(path, STR(PREFIX "{\"a\": 1}\ngarbage\n"));
    assert_null(trace_open(path, &strict, &err));
    assert_err(&err, ERR_INPUT, "empty:2: offset 64: not a record");
    struct trace *trace = trace_open(path, NULL, &err);
    assert_non_null(trace);
    assert_str_is(trace->path, path);
    assert_int_equal(trace->tape_bytes, 0);
    trace_close(trace);
    trace_close(NULL);
}

/* The same of a tape: strict refuses it for what is damaged in its log, or in itself. */
static void test_strict_tape(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace_options strict = { .strict = true };
    struct import_result result;
    struct buf tape = import_text(STR(PREFIX "{\"a\": 1}\n"), &result);
    const char *path = temp_path("strict.tape");
    put_file(path, buf_str(&tape));
    struct trace *trace = trace_open(path, &strict, &err);
    assert_non_null(trace);
    trace_close(trace);
    put_file(path, str_first(buf_str(&tape), tape.n - 1));
    assert_null(trace_open(path, &strict, &err));
    assert_err(&err, ERR_INPUT, "the tape was not finished");
    trace = trace_open(path, NULL, &err);
    assert_non_null(trace);
    assert_int_equal(trace->n_records, 1);
    struct damage damage;
    assert_int_equal(trace_damage(trace, &damage, 1), 2); /* no index, half a seek table */
    assert_int_equal(damage.recording, TRACE_NONE);
    assert_str_is(damage.source, path);
    trace_close(trace);
    import_result_release(&result);
    buf_release(&tape);
}

/* The version is looked for in small payloads only, and may be missing. */
static void test_no_version(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"artifact\": {\"name\": \"torch_version\"}", STR("{}"));
    log_line(&log, "\"artifact\": {\"name\": \"torch_version\"}");
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->recordings[0].torch_version.n, 0);
    trace_close(trace);
    buf_release(&log);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct str text = STR("");
    struct trace *trace = trace_open(arg, NULL, &err);
    bool ok = trace && trace_payload(trace, 2, &text, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && trace->n_records == 5 && trace->n_attempts == 1 && text.n > 0 &&
         str_is(trace->recordings[0].torch_version, "2.13.0");
    trace_close(trace);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    struct import_result result;
    char path[4096];
    log_line(&log, "\"str\": [\"/u/\\u00e9.py\", 1]");
    log_line(&log, "\"dynamo_start\": {\"stack\": " STACK "}, " COMPILE ", \"rank\": 2");
    log_payload(&log, "\"artifact\": {\"name\": \"torch_version\"}",
                STR("{\"pytorch_version\": \"2.13.0\"}"));
    buf_puts(&log, PREFIX "{\"a\": \"");
    for (int i = 0; i < 70000; i++)
        buf_putc(&log, 'x');
    buf_puts(&log, "\"}\ngarbage\n");
    struct buf tape = import_text(buf_str(&log), &result);
    snprintf(path, sizeof path, "%s", temp_path("memory.tape"));
    put_file(path, buf_str(&tape));
    check_alloc_failures(attempt, path);
    snprintf(path, sizeof path, "%s", temp_path("memory.log"));
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, path);
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_payload),        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_forked_process), cmocka_unit_test(test_two_recordings),
        cmocka_unit_test(test_contexts),       cmocka_unit_test(test_contexts_stored_once),
        cmocka_unit_test(test_long_texts),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_open_failures),  cmocka_unit_test(test_strict_tape),
        cmocka_unit_test(test_no_version),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
