/* A target, in the first line, and the log after it: whatever they hold, there is an answer that
 * prints, or an error. */
#include "tests/fuzz/shared/walk.h"

#include "profile/why/why_make.h"

static void print(const struct why_answer *why)
{
    struct buf text = BUF_INIT;
    why_text(why, &(struct report_options){ .limit = 5, .width = 80 }, &text);
    why_json(why, &text);
    FUZZ_CHECK(!text.failed);
    buf_release(&text);
}

static void ask(struct trace *trace, struct str target, bool compare)
{
    struct err err = { .kind = ERR_NONE };
    struct why_options how = { .selector = SELECTOR_ALL, .target = target, .limit = 5 };
    if (compare) {
        how.between[0] = STR("1");
        how.between[1] = STR("24");
    }
    struct why_answer *why = why_make(trace, &how, &err);
    FUZZ_CHECK(!why == err_is_set(&err));
    FUZZ_CHECK(err.kind != ERR_ENV);
    if (why)
        print(why);
    why_free(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str input = { (const char *)data, n };
    size_t end = str_find_char(input, '\n');
    char path[32];
    int fd = walk_file(str_from(input, end + 1), path);
    struct trace *trace = trace_open(path, NULL, &err);
    if (trace) {
        ask(trace, str_first(input, end), false);
        ask(trace, str_first(input, end), true);
        trace_close(trace);
    }
    close(fd);
    return 0;
}
