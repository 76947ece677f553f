#include "profile/page/page.h"

#include "profile/page/page_frame.h"
#include "profile/page/page_parts.h"
#include "profile/report/diagnosis_report.h"
#include "profile/report/report.h"

/* The bytes that graphs may take with what is compared, and the limits to which the rest and what
 * is compared are cut, step by step until they fit. */
enum { GRAPH_BYTES = 2600000, COMPARED_BYTES = 1000000, REST_BYTES = PAGE_DATA - GRAPH_BYTES };
static const struct page_limits STEPS[] = {
    { 20000, 4000 }, { 5000, 2000 }, { 1500, 1000 }, { 400, 500 },
    { 100, 300 },    { 25, 200 },    { 6, 120 },     { 2, 60 },
};

/* ---- The data ---- */

/* Writes the profile's recordings of a trace, by number. */
static void recordings_json(const struct profile *profile, uint32_t trace, struct json_writer *w)
{
    json_open_array(w, "recordings");
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        if (profile->recordings[i].input == trace)
            json_put_u64(w, NULL, i);
    json_close(w);
}

static void tapes_json(const struct page_input *input, struct json_writer *w)
{
    const struct profile *profile = input->profile;
    json_open_array(w, "tapes");
    for (uint32_t i = 0; i < profile->n_traces; i++) {
        const struct trace *trace = profile->traces[i];
        json_open_object(w, NULL);
        json_put_str(w, "path", trace->path);
        json_put_str_or_null(w, "torch",
                             trace->n_recordings ? trace->recordings[0].torch_version : STR(""));
        recordings_json(profile, i, w);
        if (input->each)
            report_diagnosis_json(input->each[i], w, "diagnosis");
        json_close(w);
    }
    json_close(w);
}

static void profile_json(const struct page_input *input, struct json_writer *w)
{
    const struct report_options all = { .diagnosis = input->diagnosis };
    struct buf text = BUF_INIT;
    report_json(input->profile, &all, &text);
    json_put_raw(w, "profile", str_first(buf_str(&text), text.n ? text.n - 1 : 0));
    w->out->failed |= text.failed;
    buf_release(&text);
}

/* Writes everything but the graphs, in full length. */
static bool rest_json(const struct page_input *input, struct buf *out, struct err *err)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", PAGE_SCHEMA);
    json_put_cstr(&w, "version", input->version);
    tapes_json(input, &w);
    profile_json(input, &w);
    page_timeline_json(input->profile, &w);
    bool ok = page_symbols_json(input->profile, &w, err) &&
              page_kernels_json(input->profile, &w, err) &&
              page_calls_json(input->profile, &w, err) && page_replay_json(input->profile, &w, err);
    json_close(&w);
    return ok && (!out->failed || err_nomem(err));
}

static void add_omitted(const struct page_omitted *added, struct page_omitted *omitted,
                        struct buf *out)
{
    for (size_t i = 0; i < added->lists.n; i++)
        out->failed |= !page_omit(omitted, added->lists.v[i].list, added->lists.v[i].n);
    omitted->texts += added->texts;
}

/* Appends a document, cut until it fits. */
static void put_cut(struct str json, const char *under, size_t bytes, struct buf *out,
                    struct page_omitted *omitted)
{
    struct page_omitted cut = { .texts = 0 };
    size_t begin = out->n;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        out->n = begin;
        page_omitted_release(&cut);
        page_reduce(json, under, &STEPS[i], out, &cut);
        if (out->failed || out->n - begin <= bytes)
            break;
    }
    add_omitted(&cut, omitted, out);
    page_omitted_release(&cut);
}

/* Appends the members of the object `rest`. */
static void put_rest(struct str rest, struct buf *out, struct page_omitted *omitted)
{
    size_t begin = out->n;
    put_cut(rest, "", REST_BYTES, out, omitted);
    out->n -= out->n > begin; /* the brace that closes it */
}

static bool put_compared(const struct profile *profile, struct buf *out,
                         struct page_omitted *omitted, struct err *err)
{
    struct buf compared = BUF_INIT;
    struct json_writer w = json_writer_of(&compared);
    bool ok = page_compared_json(profile, &w, err);
    if (ok) {
        buf_puts(out, ",\"compared\":");
        put_cut(buf_str(&compared), "compared", COMPARED_BYTES, out, omitted);
    }
    buf_release(&compared);
    return ok;
}

static bool put_graphs(const struct profile *profile, size_t bytes, struct buf *out,
                       struct page_omitted *omitted, struct err *err)
{
    static const struct page_limits LIMITS = { UINT32_MAX, 400 };
    struct buf graphs = BUF_INIT;
    bool ok = page_graphs_json(profile, bytes, &graphs, omitted, err);
    buf_puts(out, ",\"graphs\":");
    page_reduce(buf_str(&graphs), "graphs", &LIMITS, out, omitted);
    out->failed |= graphs.failed;
    buf_release(&graphs);
    return ok;
}

bool page_data(const struct page_input *input, struct buf *out, struct err *err)
{
    struct buf rest = BUF_INIT;
    struct page_omitted omitted = { .texts = 0 };
    bool ok = rest_json(input, &rest, err);
    if (ok) {
        put_rest(buf_str(&rest), out, &omitted);
        buf_release(&rest);
        size_t before = out->n;
        ok = put_compared(input->profile, out, &omitted, err);
        size_t used = out->n - before < GRAPH_BYTES ? out->n - before : GRAPH_BYTES;
        ok = ok && put_graphs(input->profile, GRAPH_BYTES - used, out, &omitted, err);
    }
    if (ok) {
        struct buf list = BUF_INIT;
        struct json_writer w = json_writer_of(&list);
        page_omitted_json(&omitted, &w, NULL);
        buf_puts(out, ",\"omitted\":");
        page_reduce(buf_str(&list), "omitted", &STEPS[0], out, &omitted);
        buf_puts(out, "}\n");
        out->failed |= list.failed;
        buf_release(&list);
    }
    buf_release(&rest);
    page_omitted_release(&omitted);
    return ok && (!out->failed || err_nomem(err));
}

/* ---- The page around it ---- */

/* The page has one script, which these files make in this order. */
static void put_script(struct buf *out)
{
    static const char *const FILES[] = { "page/format.js",  "page/table.js",  "page/chart.js",
                                         "page/columns.js", "page/memory.js", "page/compare.js",
                                         "page/calls.js",   "page/graphs.js", "page/page.js" };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        buf_put(out, page_asset_text(FILES[i]));
}

static void put_script_hash(struct buf *out)
{
    struct buf script = BUF_INIT;
    put_script(&script);
    page_put_hash(out, buf_str(&script));
    out->failed |= script.failed;
    buf_release(&script);
}

/* The places of page.html that are filled in: "@script@" on a line of its own, and so on. */
static bool put_place(const struct page_input *input, struct str name, struct buf *out,
                      struct err *err)
{
    if (str_is(name, "style"))
        buf_put(out, page_asset_text("page/page.css"));
    else if (str_is(name, "script"))
        put_script(out);
    else if (str_is(name, "style_hash"))
        page_put_hash(out, page_asset_text("page/page.css"));
    else if (str_is(name, "script_hash"))
        put_script_hash(out);
    else if (str_is(name, "data"))
        return page_data(input, out, err);
    return true;
}

bool page_write(const struct page_input *input, struct buf *out, struct err *err)
{
    struct str html = page_asset_text("page/page.html");
    while (html.n > 0) {
        size_t at = str_find_char(html, '@');
        buf_put(out, str_first(html, at));
        if (at == html.n)
            break;
        html = str_from(html, at + 1);
        size_t end = str_find_char(html, '@');
        if (!put_place(input, str_first(html, end), out, err))
            return false;
        html = str_from(html, end + 1);
    }
    return !out->failed || err_nomem(err);
}
