/* Any text read as expected failures and as cases: what reads is written again and reads the same;
 * every case is checked, and written with numbers for its symbols. */
#include "tests/fuzz/fuzz.h"

#include "replay/cases/case_write.h"
#include "replay/cases/expected_failures.h"
#include "replay/cases/op_case.h"

static void write_failures_again(const struct expected_failures *list)
{
    struct expected_failures again = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct buf first = BUF_INIT, second = BUF_INIT;
    expected_failures_write(list, &first);
    FUZZ_CHECK(!first.failed && expected_failures_read(&again, buf_str(&first), &err));
    expected_failures_write(&again, &second);
    FUZZ_CHECK(again.list.n == list->list.n && str_eq(buf_str(&first), buf_str(&second)));
    for (size_t i = 0; i < list->list.n; i++)
        FUZZ_CHECK(expected_failures_find(list, list->list.v[i].op, list->list.v[i].check) ==
                   &list->list.v[i]);
    expected_failures_release(&again);
    buf_release(&first);
    buf_release(&second);
}

static void write_case(struct op_case *call)
{
    struct buf out = BUF_INIT;
    struct sym_pair pairs[CASE_MAX_SYMBOLS];
    struct case_writer cw = case_writer_of(call->ops, &out);
    const struct arguments arguments = { call->args, call->n_args, call->keywords,
                                         call->n_keywords };
    for (uint32_t i = 0; i < call->n_symbols; i++)
        pairs[i] = (struct sym_pair){ call->symbols[i].symbol, SYM_ID_TWO };
    cw.sizes = pairs;
    cw.n_sizes = call->n_symbols;
    case_put_call(&cw, STR("aten.relu.default"), STR("2.13"), &arguments);
    case_put_environment(&cw);
    json_close(&cw.json);
    struct json doc = { 0 };
    struct err err = { .kind = ERR_NONE };
    FUZZ_CHECK(!out.failed && json_parse(&doc, buf_str(&out), &err));
    json_release(&doc);
    case_writer_release(&cw);
    buf_release(&out);
}

static void check_line(struct case_checker *checker, struct str line)
{
    struct json doc = { 0 };
    struct err err = { .kind = ERR_NONE };
    enum case_verdict verdict = CASE_VERDICTS;
    if (json_parse(&doc, line, &err)) {
        FUZZ_CHECK(case_check(checker, &doc, &verdict, &err) && verdict < CASE_VERDICTS);
        FUZZ_CHECK(verdict != CASE_FAILED || checker->call.why.n);
        if (case_open(checker, &doc, &err))
            write_case(&checker->call);
    }
    json_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str rest = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    struct expected_failures list = { 0 };
    if (expected_failures_read(&list, rest, &err))
        write_failures_again(&list);
    else
        FUZZ_CHECK(err.kind == ERR_INPUT);
    expected_failures_release(&list);
    err.kind = ERR_NONE;
    struct case_checker *checker = case_checker_new(NULL, &err);
    FUZZ_CHECK(checker);
    while (rest.n) {
        size_t end = str_find_char(rest, '\n');
        check_line(checker, str_first(rest, end));
        rest = str_from(rest, end + 1);
    }
    case_checker_free(checker);
    return 0;
}
