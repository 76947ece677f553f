/* Two starts of a program, the log of the warm one behind a line "====" (without one, the same log
 * twice): whatever they hold, each graph of the warm start has an outcome, their compiles stand on
 * one time axis, and the reports can be written. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shared/walk.h"

#include "profile/calls/ranks/ranks_report.h"
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

static void check_text(const struct buf *out)
{
    FUZZ_CHECK(!out->failed);
    for (size_t i = 0; i < out->n; i++)
        FUZZ_CHECK(out->p[i] == '\n' || (unsigned char)out->p[i] >= ' ');
}

/* The array of that name has a row each. */
static void check_json(const struct buf *out, struct str array, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct json doc = { 0 };
    FUZZ_CHECK(!out->failed && json_parse(&doc, buf_str(out), &err));
    FUZZ_CHECK(json_count(&doc, json_get(&doc, JSON_ROOT, array)) == n);
    json_release(&doc);
}

static const struct report_options HOW = { .width = 60, .limit = 40 };

static void check_starts(struct trace *cold, struct trace *warm)
{
    struct warm_start w = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    bool ok = warm_start_make(&w, cold, 0, warm, 0, &err);
    FUZZ_CHECK(ok != err_is_set(&err));
    if (ok) {
        check_rows(&w);
        warm_text(&w, &HOW, &out);
        check_text(&out);
        buf_clear(&out);
        warm_json(&w, &out);
        check_json(&out, STR("graphs"), w.rows.n);
    }
    buf_release(&out);
    warm_start_release(&w);
}

static void check_ranks(struct trace *const *traces)
{
    struct rank_times times = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    bool ok = rank_times_make(&times, traces, 2, &err);
    FUZZ_CHECK(ok != err_is_set(&err));
    if (ok) {
        for (size_t i = 0; i < times.compiles.n; i++) {
            const struct rank_compile *c = &times.compiles.v[i];
            FUZZ_CHECK(c->process < times.processes.n);
            FUZZ_CHECK(c->last == RANK_NONE || c->last < times.processes.n);
            FUZZ_CHECK(c->ahead_ns >= -1 && c->waited_ns >= 0);
            FUZZ_CHECK(i == 0 || times.compiles.v[i - 1].begin_ns <= c->begin_ns);
        }
        ranks_text(&times, &HOW, &out);
        check_text(&out);
        buf_clear(&out);
        ranks_json(&times, &out);
        check_json(&out, STR("compiles"), times.compiles.n);
    }
    buf_release(&out);
    rank_times_release(&times);
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
    int fds[2];
    struct trace *traces[] = {
        open_log(str_first(input, end + (end < n)), &fds[0]),
        open_log(end < n ? str_from(input, end + 6) : input, &fds[1]),
    };
    if (traces[0] && traces[1]) {
        if (traces[0]->n_recordings && traces[1]->n_recordings)
            check_starts(traces[0], traces[1]);
        check_ranks(traces);
    }
    trace_close(traces[0]);
    trace_close(traces[1]);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
