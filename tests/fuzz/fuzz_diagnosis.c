/* Diagnoses and pages of any log: what opens has a profile and a diagnosis; its text is bounded and
 * has no control character, and its JSON reads. So does the data of its page, cut to any size,
 * which is bounded and has nothing to which HTML gives a meaning. Rows of its tables are complete,
 * their texts harmless, their keys unique; what viewers get is JSON, or can be made. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shared/walk.h"

#include "profile/page/page.h"
#include "profile/page/page_reduce.h"
#include "profile/report/diagnosis_report.h"
#include "profile/tables/tables.h"
#include "profile/viewers/viewers.h"
#include "trace/base/text/printable.h"
#include "trace/log/import.h"

static void check_text(const struct diagnosis *diagnosis)
{
    const struct report_options how = { .width = 100 };
    struct buf out = BUF_INIT;
    unsigned lines = 0;
    report_diagnosis_text(diagnosis, &how, DIAGNOSIS_LINES, &out);
    FUZZ_CHECK(!out.failed && out.n > 0);
    for (size_t i = 0; i < out.n; i++) {
        lines += out.p[i] == '\n';
        FUZZ_CHECK(out.p[i] == '\n' || (unsigned char)out.p[i] >= ' ');
    }
    /* The first finding is printed whole. */
    FUZZ_CHECK(diagnosis->n_findings == 0 || lines > 0);
    buf_clear(&out);
    report_diagnosis_text(diagnosis, &how, 0, &out);
    FUZZ_CHECK(!out.failed);
    buf_release(&out);
}

static void check_json(const struct diagnosis *diagnosis)
{
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    struct json doc = { 0 };
    struct json_writer w = json_writer_of(&out);
    report_diagnosis_json(diagnosis, &w, NULL);
    FUZZ_CHECK(!out.failed && json_parse(&doc, buf_str(&out), &err));
    FUZZ_CHECK(json_count(&doc, json_get(&doc, JSON_ROOT, STR("findings"))) ==
               diagnosis->n_findings);
    json_release(&doc);
    buf_release(&out);
}

static void check_data(const struct buf *out)
{
    struct err err = { .kind = ERR_NONE };
    struct json doc = { 0 };
    FUZZ_CHECK(!out->failed && json_parse(&doc, buf_str(out), &err));
    for (size_t i = 0; i < out->n; i++)
        FUZZ_CHECK(out->p[i] != '<' && out->p[i] != '>' && out->p[i] != '&');
    json_release(&doc);
}

/* The tape twice: as two runs of a program, or, of a job, as its ranks twice, which are none. */
static void check_two(const struct profile *profile, const struct diagnosis *diagnosis)
{
    struct trace *traces[] = { profile->traces[0], profile->traces[0] };
    const struct diagnosis *const each[] = { diagnosis, diagnosis };
    const struct profile_options what = { .jobs = 1 };
    struct err err = { .kind = ERR_NONE };
    struct buf data = BUF_INIT;
    struct profile *both = profile_build(traces, 2, &what, &err);
    FUZZ_CHECK(both);
    const struct page_input input = { both, diagnosis, each, "0" };
    FUZZ_CHECK(page_data(&input, &data, &err) && data.n < 5000000);
    check_data(&data);
    buf_release(&data);
    profile_free(both);
}

static void check_page(const struct profile *profile, const struct diagnosis *diagnosis)
{
    const struct page_input input = { profile, diagnosis, NULL, "0" };
    struct err err = { .kind = ERR_NONE };
    struct page_omitted omitted = { .texts = 0 };
    struct buf data = BUF_INIT, small = BUF_INIT;
    FUZZ_CHECK(page_data(&input, &data, &err) && data.n < 5000000);
    check_data(&data);
    check_two(profile, diagnosis);
    for (uint32_t most = 1; most < 8; most += 3) {
        const struct page_limits limits = { most, 2 * most };
        buf_clear(&small);
        page_reduce(buf_str(&data), "", &limits, &small, &omitted);
        check_data(&small);
    }
    page_omitted_release(&omitted);
    buf_release(&small);
    buf_release(&data);
}

struct checking_sink {
    struct table_sink base;
    enum export_table table;
    uint64_t n_tables;
    int64_t last_key; /* of the table */
};

static bool check_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    struct checking_sink *s = (struct checking_sink *)sink;
    (void)err;
    FUZZ_CHECK(table == s->n_tables);
    s->n_tables++;
    s->table = table;
    s->last_key = -1;
    return true;
}

static void check_cell(struct checking_sink *s, enum export_column column,
                       const struct table_cell *cell)
{
    enum column_type type = column_type(column);
    if (type == COLUMN_KEY) {
        FUZZ_CHECK(!cell->null && cell->integer > s->last_key);
        s->last_key = cell->integer;
    }
    if (type == COLUMN_BOOLEAN)
        FUZZ_CHECK(cell->null || cell->integer == 0 || cell->integer == 1);
    if (type == COLUMN_TEXT && !cell->null)
        FUZZ_CHECK(cell->text.n > 0 && printable_run(cell->text) == cell->text.n);
}

static bool check_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    struct checking_sink *s = (struct checking_sink *)sink;
    (void)err;
    for (unsigned i = 0; i < table_n_columns(s->table); i++)
        check_cell(s, table_first_column(s->table) + i, &cells[i]);
    return true;
}

static void check_tables(const struct profile *profile)
{
    struct checking_sink sink = { .base = { .table = check_table, .row = check_row } };
    struct err err = { .kind = ERR_NONE };
    FUZZ_CHECK(tables_write(profile, &sink.base, &err) == !err_is_set(&err));
    FUZZ_CHECK(err_is_set(&err) || sink.n_tables == TABLES);
}

static void check_viewers(const struct profile *profile)
{
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    struct json doc = { 0 };
    FUZZ_CHECK(viewer_speedscope(profile, STACK_VIEWS, &out, &err) && !out.failed);
    FUZZ_CHECK(json_parse(&doc, buf_str(&out), &err));
    buf_clear(&out);
    FUZZ_CHECK(viewer_chrome(profile, STACK_VIEWS, &out, &err) && !out.failed);
    FUZZ_CHECK(json_parse(&doc, buf_str(&out), &err));
    buf_clear(&out);
    FUZZ_CHECK(viewer_pprof(profile, STACK_VIEWS, &out, &err) && !out.failed);
    FUZZ_CHECK(viewer_folded(profile, VIEW_GUARDS, &out, &err) && !out.failed);
    json_release(&doc);
    buf_release(&out);
}

static void diagnose(struct trace *trace)
{
    const struct profile_options options = {
        .by = { [PROFILE_STACK] = true, [PROFILE_MODULE] = true }
    };
    struct err err = { .kind = ERR_NONE };
    struct profile *profile = profile_build(&trace, 1, &options, &err);
    struct diagnosis *diagnosis = profile ? diagnosis_build(profile, &err) : NULL;
    FUZZ_CHECK((diagnosis != NULL) != err_is_set(&err));
    if (diagnosis) {
        check_text(diagnosis);
        check_json(diagnosis);
        check_page(profile, diagnosis);
        check_tables(profile);
        check_viewers(profile);
    }
    diagnosis_free(diagnosis);
    profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    char path[32];
    int fd = walk_file((struct str){ (const char *)data, n }, path);
    struct trace *trace = trace_open(path, NULL, &err);
    FUZZ_CHECK((trace != NULL) != err_is_set(&err));
    if (trace)
        diagnose(trace);
    trace_close(trace);
    close(fd);
    return 0;
}
