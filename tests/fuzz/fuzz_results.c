/* Result files and expectations: whatever is read can be viewed, written in every format, judged by
 * itself and updated, and what was updated is as expected. The input is a result file, or two parts
 * behind a NUL: results, and expectations of them. */
#include "tests/fuzz/fuzz.h"

#include "profile/dash/dash_report.h"
#include "profile/dash/result_file.h"

static void write_formats(const struct dash_view *view, const struct verdicts *verdicts)
{
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 60 };
    dash_text_write(view, verdicts, &how, &out);
    dash_markdown(view, verdicts, &how, &out);
    dash_json(view, verdicts, &how, &out);
    dash_html(view, verdicts, &how, &out);
    FUZZ_CHECK(!out.failed && out.n > 0);
    buf_release(&out);
}

/* Updates a file, whose new text is returned. */
static struct buf judge(struct dash *dash, const struct dash_view *view, struct str text,
                        bool *ret_fails)
{
    struct err err = { .kind = ERR_NONE };
    const struct verdict_options options = { .partial = false };
    struct buf copy = BUF_INIT, updated = BUF_INIT;
    struct expectations file;
    struct verdicts verdicts = { .fails = false };
    buf_put(&copy, text);
    if (expectations_read(dash, STR("x.csv"), &copy, &file, &err)) {
        FUZZ_CHECK(verdicts_make(dash, &file, 1, &options, &verdicts, &err));
        write_formats(view, &verdicts);
        FUZZ_CHECK(expectations_update(&file, 0, dash, &verdicts, &updated, &err));
        *ret_fails = verdicts.n[VERDICT_FAIL] + verdicts.n[VERDICT_IMPROVED] > 0;
    } else {
        FUZZ_CHECK(err.kind == ERR_INPUT);
    }
    buf_release(&copy);
    verdicts_release(&verdicts);
    expectations_release(&file);
    return updated;
}

static bool is_one_config(const struct dash *dash)
{
    return dash->configs.n == 1;
}

static void judge_twice(struct dash *dash, const struct dash_view *view, struct str text)
{
    bool fails = false, fails_again = false;
    struct buf once = judge(dash, view, text, &fails);
    struct buf again = judge(dash, view, buf_str(&once), &fails_again);
    if (once.n > 0 && is_one_config(dash))
        FUZZ_CHECK(!fails_again && str_eq(buf_str(&once), buf_str(&again)));
    buf_release(&once);
    buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    size_t end = str_find_char(text, '\0');
    const struct dash_view_options options = { .limit = 5 };
    struct dash_view view = { .base = 0 };
    struct dash *dash = dash_new(&err);
    FUZZ_CHECK(dash);
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        struct dash_point *point = dash_point_add(dash, i ? STR("b") : STR("a"), &err);
        ok = result_file_read(dash, point, STR("x.csv"), str_first(text, i ? end : end / 2), 300,
                              &err);
        if (!ok && i == 0) { /* half a file may not be one */
            err = (struct err){ .kind = ERR_NONE };
            ok = true;
        }
    }
    if (ok) {
        FUZZ_CHECK(dash_finish(dash, &err) && dash_view_make(dash, &options, &view, &err));
        write_formats(&view, NULL);
        judge_twice(dash, &view, end < n ? str_from(text, end + 1) : text);
    } else {
        FUZZ_CHECK(err.kind == ERR_INPUT);
    }
    dash_view_release(&view);
    dash_free(dash);
    return 0;
}
