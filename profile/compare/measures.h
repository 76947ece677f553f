/* Named measures of one trace: a flat list of numbers, each with a unit, a meaning and a way in
 * which it is measured (profile/compare/measures.def).
 *
 *     struct measures m = { 0 };
 *     if (!measures_take(trace, &(struct measure_options){ .replay = true }, &m, &err)) ...
 *     if (m.has[MEASURE_GUARDS]) printf("%g guards\n", m.value[MEASURE_GUARDS]);
 *
 * A measure that a trace cannot tell is absent, never 0: no ATen call means no ms_per_op, a log
 * without phases no dynamo_s, a .pt2 no compile time. Several traces of one program are summed up
 * as medians with their spread by measures_summarize().
 *
 * Plain values: nothing here is owned, nothing fails but measures_take(). */
#ifndef SYMTAPE_PROFILE_COMPARE_MEASURES_H
#define SYMTAPE_PROFILE_COMPARE_MEASURES_H

#include "profile/model/profile.h"
#include "replay/replay.h"
#include "trace/base/buf.h"

enum measure {
#define MEASURE(id, name, unit, source, meaning) MEASURE_##id,
#include "profile/compare/measures.def"
#undef MEASURE
    MEASURES
};

enum measure_unit {
    MEASURE_COUNT,
    MEASURE_SECONDS,
    MEASURE_MILLISECONDS,
    MEASURE_MICROSECONDS,
    MEASURE_BYTES,
    MEASURE_RATIO,
};

enum measure_source {
    MEASURE_RECORDED,
    MEASURE_TIMED,
    MEASURE_REPLAYED,
    MEASURE_ESTIMATED,
    MEASURE_DEEP,
    MEASURE_SOURCES
};

struct measure_row {
    const char *name, *meaning;
    enum measure_unit unit;
    enum measure_source source;
};

/* Values are in the measure's own unit. Counts are whole numbers, exact up to 2^53. */
struct measures {
    bool has[MEASURES];
    double value[MEASURES];
};

struct measure_options {
    struct str compile, recording;    /* as in struct profile_options; "" for all */
    bool replay;                      /* walk the graphs for the REPLAYED ones, too */
    uint32_t jobs;                    /* of the replay; 0: one */
    const struct custom_rules *rules; /* of custom operators; NULL */
};

const struct measure_row *measure_row(enum measure measure);
/* False when there is none of that name. */
bool measure_find(struct str name, enum measure *ret);
const char *measure_unit_name(enum measure_unit unit);       /* "", "s", "ms", "us", "B", "x" */
const char *measure_source_name(enum measure_source source); /* "recorded", "timed", ... */

/* False with err set: memory, the tape, a filter that names nothing. */
bool measures_take(struct trace *trace, const struct measure_options *options, struct measures *ret,
                   struct err *err);
/* The parts, for who has a profile or a replay already; each adds to ret what it knows. */
void measures_of_profile(const struct profile *profile, struct measures *ret);
void measures_of_replay(const struct replay *replay, struct measures *ret);

/* One measure over several traces. */
struct measure_summary {
    uint32_t n; /* traces that have it; 0: absent, and the rest is 0 */
    double median, least, greatest;
};

/* `ret` has MEASURES elements. False only when memory ran out. */
bool measures_summarize(const struct measures *all, size_t n, struct measure_summary *ret,
                        struct err *err);

/* For reading: "1,234", "10.7 s", "18.4 ms", "1.25 MB", "2.26". Appended to out. */
void measure_format(enum measure measure, double value, struct buf *out);
/* Its median, and the spread of several traces: "10.7 s (9.9 s to 11.2 s)"; nothing when absent. */
void measure_format_summary(enum measure measure, const struct measure_summary *summary,
                            struct buf *out);

#endif
