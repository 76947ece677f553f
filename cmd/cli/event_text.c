#include "cmd/cli/event_text.h"

#include <inttypes.h>

#include "cmd/cli/place.h"
#include "profile/model/format.h"

struct meta_writer {
    const struct trace *trace;
    uint32_t recording;
    enum stack_form stacks;
    const struct json *doc;
    struct buf *out, scratch;
};

static void put_record_stack(struct meta_writer *m, json_id id)
{
    struct json_writer w = json_writer_of(m->out);
    uint32_t stack = 0;
    json_ref(m->doc, id, &stack);
    if (stack >= trace_n_stacks(m->trace))
        stack = 0;
    if (m->stacks == STACK_WHOLE) {
        place_stack_json(m->trace, m->recording, stack, &w, NULL);
    } else if (m->stacks == STACK_INNERMOST) {
        place_json(m->trace, m->recording, stack, &w, NULL);
    } else {
        buf_clear(&m->scratch);
        struct frame frame = stack_frame(m->trace, m->recording, stack);
        if (stack != 0)
            format_place(&m->scratch, frame.file, frame.line);
        json_quote(m->out, buf_str(&m->scratch));
    }
}

static void put_json_string(struct meta_writer *m, json_id id)
{
    buf_clear(&m->scratch);
    json_decode(m->doc, id, &m->scratch);
    json_quote(m->out, buf_str(&m->scratch));
}

static bool is_finite_number(struct str number)
{
    struct str digits = str_from(number, number.n && number.p[0] == '-');
    return digits.n && is_digit(digits.p[0]);
}

/* Copies the text between nodes, without carriage returns, which would move a terminal's cursor. */
static void put_between(struct meta_writer *m, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        buf_putc(m->out, text.p[i] == '\r' ? ' ' : text.p[i]);
}

/* Copies the text and replaces the nodes that are printed differently; nodes are in the order of
 * the text. */
static void put_metadata(struct meta_writer *m)
{
    struct str text = m->doc->text;
    size_t done = 0;
    for (json_id id = 0; id < m->doc->nodes.n; id++) {
        const struct json_node *node = &m->doc->nodes.v[id];
        bool quoted = node->kind == JSON_STRING, reference = node->kind == JSON_REF;
        bool number = node->kind == JSON_NUMBER && !is_finite_number(json_text(m->doc, id));
        if (!quoted && !number && !reference)
            continue;
        /* A string's quotes and a reference's mark are outside of its node. */
        size_t from = node->off - (quoted || reference ? 1 : 0);
        put_between(m, (struct str){ text.p + done, from - done });
        done = (size_t)node->off + node->len + (quoted ? 1 : 0);
        if (quoted)
            put_json_string(m, id);
        else if (number)
            buf_puts(m->out, "null");
        else
            put_record_stack(m, id);
    }
    put_between(m, str_from(text, done));
}

bool record_meta_json(const struct trace *trace, uint32_t record, enum stack_form stacks,
                      struct buf *out, struct err *err)
{
    struct json doc = { 0 };
    struct meta_writer m = { .trace = trace,
                             .recording = trace->records[record].recording,
                             .stacks = stacks,
                             .doc = &doc,
                             .out = out };
    bool ok = record_json(trace, record, &doc, err);
    if (ok)
        put_metadata(&m);
    if (m.scratch.failed)
        out->failed = true;
    buf_release(&m.scratch);
    json_release(&doc);
    return ok;
}

struct str record_label(const struct trace *trace, uint32_t record)
{
    const struct record *r = &trace->records[record];
    struct json doc = { 0 };
    struct err ignored = { 0 };
    struct str label = { 0 };
    if (r->event == EVENT_RAW)
        return STR("raw");
    bool named = r->event == EVENT_ARTIFACT || r->event == EVENT_GRAPH_DUMP ||
                 r->event == EVENT_DUMP_FILE || r->event == EVENT_PT2_MEMBER;
    if (named && record_json(trace, record, &doc, &ignored))
        label = json_str(&doc, json_get(&doc, JSON_ROOT, STR("name")));
    json_release(&doc);
    return label.n ? label : trace_string(trace, r->name);
}

void record_time(const struct record *record, struct buf *out)
{
    uint64_t s = record->time_us / 1000000;
    buf_printf(out, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%06" PRIu64, s / 3600, s / 60 % 60,
               s % 60, record->time_us % 1000000);
}
