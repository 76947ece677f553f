/* Named measures of one trace: a flat list of numbers, each with a unit, a meaning and a way in
 * which it is measured (profile/compare/measures.def).
 *
 *     struct measures m = { 0 };
 *     if (!measures_take(trace, &(struct measure_options){ .replay = true }, &m, &err)) ...
 *     if (m.has[MEASURE_GUARDS]) printf("%g guards\n", m.value[MEASURE_GUARDS]);
 *
 * A measure that a trace does not contain is absent, never 0: without ATen calls there is no
 * ms_per_op, without phases no dynamo_s, and a .pt2 has no compile time. measures_summarize() makes
 * medians with their spread from several traces of one program.
 *
 * These structs own nothing, and only measures_take() can fail. */
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

/* The measures of one trace, in their own units. Counts are whole numbers, exact up to 2^53. */
struct measures {
    bool has[MEASURES];
    double value[MEASURES];
};

struct measure_options {
    struct str compile, recording;    /* as in struct profile_options; "" for all */
    bool replay;                      /* replay the graphs for the REPLAYED measures */
    uint32_t jobs;                    /* of the replay; 0: one */
    const struct custom_rules *rules; /* of custom operators; NULL */
};

const struct measure_row *measure_row(enum measure measure);
/* Finds a measure by its name; returns false if there is none. */
bool measure_find(struct str name, enum measure *ret);
const char *measure_unit_name(enum measure_unit unit);       /* "", "s", "ms", "us", "B", "x" */
const char *measure_source_name(enum measure_source source); /* "recorded", "timed", ... */

/* Takes all measures of a trace. Returns false with err set: out of memory, an unreadable tape, a
 * filter that selects nothing. */
bool measures_take(struct trace *trace, const struct measure_options *options, struct measures *ret,
                   struct err *err);
/* The parts of measures_take(), for callers that have a profile or a replay already. Each adds the
 * measures of its source to ret. */
void measures_of_profile(const struct profile *profile, struct measures *ret);
void measures_of_replay(const struct replay *replay, struct measures *ret);

/* One measure over several traces. */
struct measure_summary {
    uint32_t n; /* traces that have it; 0: absent, and the rest is 0 */
    double median, least, greatest;
};

/* Fills `ret`, which has MEASURES elements. Returns false only when memory ran out. */
bool measures_summarize(const struct measures *all, size_t n, struct measure_summary *ret,
                        struct err *err);

/* Appends a value for a reader: "1,234", "10.7 s", "18.4 ms", "1.25 MB", "2.26". */
void measure_format(enum measure measure, double value, struct buf *out);
/* Appends the median, and the spread of several traces: "10.7 s (9.9 s to 11.2 s)"; nothing if
 * absent. */
void measure_format_summary(enum measure measure, const struct measure_summary *summary,
                            struct buf *out);

#endif
