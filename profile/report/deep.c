/* Sections: work around operators, uses of sizes and memory of phases, from a deep recording. */
#include "profile/model/format.h"
#include "profile/report/section.h"

/* ---- Processes ---- */

static const struct field PROCESS[] = {
    { "level", MEMBER(struct deep_process, level) },
    { "torch", MEMBER(struct deep_process, torch) },
    { "events", MEMBER(struct deep_process, events) },
    { "lost", MEMBER(struct deep_process, lost) },
    { "overhead_ns", MEMBER(struct deep_process, overhead_ns) },
    { "wrapped", MEMBER(struct deep_process, wrapped) },
    { "not_wrapped", MEMBER(struct deep_process, not_wrapped) },
    { "ended", MEMBER(struct deep_process, ended) },
};
static const struct fields PROCESS_VALUES = FIELDS_OF(PROCESS);
/* The profile has an array of pointers to processes. */
static const struct field PROCESS_POINTER = { .group = &PROCESS_VALUES, .reach = reach_pointer };
static const struct fields PROCESS_FIELDS = { &PROCESS_POINTER, 1 };

const struct section section_processes = {
    .key = "deep_processes",
    .fields = &PROCESS_FIELDS,
    PROFILE_ROWS(costs.processes, costs.n_processes),
};

static void text_processes(const struct report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < costs->n_processes; i++) {
        const struct deep_process *p = costs->processes[i];
        if (p->lost > 0) {
            format_plural(&text, p->lost, "event");
            buf_puts(&text, " found no room and were lost. ");
        }
        if (p->not_wrapped > 0) {
            format_plural(&text, p->not_wrapped, "function");
            buf_puts(&text, " of this version of torch could not be watched. ");
        }
        if (!p->ended)
            buf_puts(&text, "The process did not end by itself. ");
        if (p->overhead_ns > 0) {
            buf_puts(&text, "Recording took ");
            format_ns(&text, p->overhead_ns > INT64_MAX ? INT64_MAX : (int64_t)p->overhead_ns);
            buf_puts(&text, ". ");
        }
    }
    text_paragraph(r, &text);
}

/* ---- Work around operators ---- */

static const struct field SPOT[] = {
    { "cost", MEMBER(struct cost_spot, cost), TEXT(4, "cost", WORD, 0) },
    { "caller", MEMBER(struct cost_spot, caller), TEXT(5, "called by", TEXT, 0) },
    { "calls", MEMBER(struct cost_spot, count), TEXT(3, "calls", COUNT, 0) },
    { "ns", MEMBER(struct cost_spot, ns), TEXT(2, "inclusive", NS, 1) },
    { "self_ns", MEMBER(struct cost_spot, self_ns), TEXT(1, "self time", NS, 0) },
};
static const struct fields SPOT_FIELDS = FIELDS_OF(SPOT);

static void text_spots(struct report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    struct rows rows = ROWS(costs->spots, costs->n_spots);
    static const char TITLE[] = "Work around operators (pytree, devices, no_dispatch), as recorded";
    text_rows(r, TITLE, &SPOT_FIELDS, 0, &rows, r->options->limit);
    if (costs->n_spots == 0 && costs->n_processes > 0)
        text_title(r, TITLE);
    text_processes(r);
}

const struct section section_spots = {
    .key = "costs",
    .fields = &SPOT_FIELDS,
    PROFILE_ROWS(costs.spots, costs.n_spots),
    .limited = true,
    .text = text_spots,
};

/* ---- Uses of sizes ---- */

GETTER(get_source, struct str, row->n > 0 ? datum_string(*row) : datum_null())

static struct datum get_asker(const void *context, const void *at)
{
    const struct size_use *use = at;
    struct datum place = datum_place(use->asker_file, use->asker_line, use->asker_function);
    (void)context;
    place.as.place.text_key = "function";
    return place;
}

GETTER(get_use_place, struct size_use, datum_place(row->file, row->line, row->code))

static const struct field USE[] = {
    { "use", MEMBER(struct size_use, use), TEXT(2, "use", WORD, 0) },
    { "question", MEMBER(struct size_use, question) },
    { "expr", MEMBER(struct size_use, expr), TEXT(3, "size", TEXT, 0) },
    { "source", GET(get_source, struct size_use, source), TEXT(4, "source", TEXT, 2) },
    { "asker", .get = get_asker, TEXT(5, "asked by", PATH, 1) },
    { "line", .get = get_use_place, TEXT(6, "line", PATH, 0) },
    { NULL, MEMBER(struct size_use, code), TEXT(7, "code", TEXT, 0) },
    { "count", MEMBER(struct size_use, count), TEXT(1, "count", COUNT, 0) },
};
static const struct fields USE_FIELDS = FIELDS_OF(USE);

WANTED(is_number, struct size_use, !row->question)
WANTED(is_question, struct size_use, row->question)

static void text_size_uses(struct report *r)
{
    struct rows rows = ROWS(r->p->costs.uses, r->p->costs.n_uses);
    rows.wanted = is_number;
    text_rows(r, "Sizes that Python used as numbers: what makes them static", &USE_FIELDS, 0, &rows,
              r->options->limit);
    rows.wanted = is_question;
    text_rows(r, "Questions that Python asked of sizes", &USE_FIELDS, 0, &rows, r->options->limit);
}

const struct section section_size_uses = {
    .key = "size_uses",
    .fields = &USE_FIELDS,
    PROFILE_ROWS(costs.uses, costs.n_uses),
    .limited = true,
    .text = text_size_uses,
};

/* ---- Memory of phases ---- */

GETTER(get_device_growth, struct phase_memory,
       row->has_device ? datum_integer(row->device_growth) : datum_null())
GETTER(get_device_peak, struct phase_memory,
       row->has_device ? datum_count(row->device_peak) : datum_null())

static const struct field MEMORY[] = {
    { "phase", MEMBER(struct phase_memory, phase), TEXT(6, "phase", TEXT, 0) },
    { "calls", MEMBER(struct phase_memory, calls), TEXT(5, "calls", COUNT, 3) },
    { "host_growth", MEMBER(struct phase_memory, host_growth), TEXT(1, "host", GROWTH, 0) },
    { "host_peak", MEMBER(struct phase_memory, host_peak), TEXT(2, "host peak", BYTES, 0) },
    { "device_growth", .get = get_device_growth, TEXT(3, "device", GROWTH, 1) },
    { "device_peak", .get = get_device_peak, TEXT(4, "device peak", BYTES, 2) },
};
static const struct fields MEMORY_FIELDS = FIELDS_OF(MEMORY);

const struct section section_phase_memory = {
    .key = "memory",
    .title = "Memory of the compiler by phase (growth; peak: of the process until its end)",
    .fields = &MEMORY_FIELDS,
    PROFILE_ROWS(costs.memory, costs.n_memory),
    .limited = true,
};
