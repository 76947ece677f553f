/* Two starts of a program, the log of the warm one behind a line "====" (without one, the same log
 * twice): whatever they hold, each graph of the warm start has an outcome, and the reports can be
 * written. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/walk.h"

#include "profile/calls/warm/key_difference.h"
#include "profile/calls/warm/warm_report.h"

static void check_rows(const struct warm_start *w)
{
    uint32_t n = 0;
    FUZZ_CHECK(w->rows.n == w->warm.graphs.n);
    for (int i = 0; i < WARM_OUTCOMES; i++)
        n += w->counts[i];
    FUZZ_CHECK(n == w->rows.n && w->n_unasked <= w->cold.graphs.n);
    for (size_t i = 0; i < w->rows.n; i++) {
        const struct warm_row *row = &w->rows.v[i];
        FUZZ_CHECK(row->graph < w->warm.graphs.n);
        FUZZ_CHECK(row->cold == WARM_NONE || row->cold < w->cold.graphs.n);
        FUZZ_CHECK(row->outcome != WARM_AGAIN || row->cold != WARM_NONE);
        FUZZ_CHECK(row->n_changes <= CHANGES_LISTED && row->n_changes <= row->n_differ);
        FUZZ_CHECK((size_t)row->first_change + row->n_changes <= w->changes.n);
    }
    for (size_t i = 0; i < w->changes.n; i++) {
        FUZZ_CHECK(w->changes.v[i].before.n <= DIFFERENCE_BYTES);
        FUZZ_CHECK(w->changes.v[i].after.n <= DIFFERENCE_BYTES);
    }
}

static void check_reports(const struct warm_start *w)
{
    const struct report_options how = { .width = 60, .limit = 40 };
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    struct json doc = { 0 };
    warm_text(w, &how, &out);
    FUZZ_CHECK(!out.failed);
    for (size_t i = 0; i < out.n; i++)
        FUZZ_CHECK(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
    buf_clear(&out);
    warm_json(w, &out);
    FUZZ_CHECK(!out.failed && json_parse(&doc, buf_str(&out), &err));
    FUZZ_CHECK(json_count(&doc, json_get(&doc, JSON_ROOT, STR("graphs"))) == w->rows.n);
    json_release(&doc);
    buf_release(&out);
}

static struct trace *open_log(struct str text, int *fd)
{
    char path[32];
    struct err err = { .kind = ERR_NONE };
    *fd = walk_file(text, path);
    struct trace *trace = trace_open(path, NULL, &err);
    FUZZ_CHECK((trace != NULL) != err_is_set(&err));
    return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str input = { (const char *)data, n };
    size_t end = str_find(input, STR("\n====\n"));
    struct warm_start w = { 0 };
    struct err err = { .kind = ERR_NONE };
    int fds[2];
    struct trace *cold = open_log(str_first(input, end + (end < n)), &fds[0]);
    struct trace *warm = open_log(end < n ? str_from(input, end + 6) : input, &fds[1]);
    if (cold && warm && cold->n_recordings && warm->n_recordings) {
        bool ok = warm_start_make(&w, cold, 0, warm, 0, &err);
        FUZZ_CHECK(ok != err_is_set(&err));
        if (ok) {
            check_rows(&w);
            check_reports(&w);
        }
        warm_start_release(&w);
    }
    trace_close(cold);
    trace_close(warm);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
