/* Private to the reports: a section, and what sections share.
 *
 * A section is a list of records of the profile (profile/report/fields.h describes a record) with
 * its key in JSON and its title in text; section_json() and section_text() write any of them. A
 * report that is more than a list (sentences, a tree, a table for each level) has a function text()
 * or json() instead. report_text.c and report_json.c define the order of the sections. */
#ifndef SYMTAPE_PROFILE_REPORT_SECTION_H
#define SYMTAPE_PROFILE_REPORT_SECTION_H

#include "profile/report/fields.h"
#include "profile/report/report.h"

/* A report that is being written, in either format. */
struct report {
    const struct profile *p;
    const struct report_options *options;
    struct buf *out;
    struct json_writer w; /* for JSON, which goes to `out` */
};

struct section {
    const char *key, *title; /* in JSON, in text */
    const struct fields *fields;
    size_t rows, n, size; /* PROFILE_ROWS */
    /* NULL, or the value by which text sorts the rows, the greatest first. */
    int64_t (*order)(const struct profile *profile, uint32_t i);
    /* NULL, or returns whether a record belongs to the section; `context` is the profile. */
    bool (*wanted)(const void *context, const void *item);
    bool limited,
        whole; /* limited: --limit applies to JSON, too; whole: it does not apply to text either */
    void (*text)(struct report *r);
    void (*json)(struct report *r);
};

/* The rows of a section: an array of the profile, and its count. */
#define PROFILE_ROWS(member, count)                                                 \
    .rows = offsetof(struct profile, member), .n = offsetof(struct profile, count), \
    .size = sizeof *((struct profile *)NULL)->member

void section_text(struct report *r, const struct section *section);
void section_json(struct report *r, const struct section *section);

extern const struct section section_summary, section_recordings, section_differences,
    section_compiles, section_expansion, section_unfinished, section_phases, section_phase_tree,
    section_phases_by_compile, section_phase_parts, section_operators, section_levels,
    section_restarts, section_recompiles, section_breaks, section_failures, section_caches,
    section_lines, section_guards, section_guard_symbols, section_costs, section_allocations,
    section_counters, section_spots, section_size_uses, section_phase_memory, section_graph_memory,
    section_saved, section_processes, section_groups, section_cost_model;

/* ---- Text ---- */

void text_title(const struct report *r, const char *text);
/* Prints a table of at most `limit` rows (0: all) with its title, and how many rows were left out;
 * nothing without rows. */
void text_rows(const struct report *r, const char *title, const struct fields *fields,
               unsigned table, const struct rows *rows, uint32_t limit);
/* Prints and releases a table, and reports how many of `n` rows are not in it. */
void text_finish(const struct report *r, struct table *table, uint32_t n);
/* Prints sentences, if any, wrapped below a title; releases their buffer. */
void text_paragraph(const struct report *r, struct buf *text);
/* Returns the numbers 0 ... n-1 sorted by descending `order`, which the caller frees, or NULL when
 * memory ran out (then r->out has failed). */
uint32_t *text_order(const struct report *r, uint32_t n,
                     int64_t (*order)(const struct profile *profile, uint32_t i));

/* ---- Getters for members that are indices of the profile, which is the context ---- */

struct datum get_profile_name(const void *context, const void *at); /* in names */
struct datum get_recording_name(const void *context, const void *at);
struct datum get_compile_id(const void *context, const void *at); /* null for PROFILE_NONE */
struct datum get_level(const void *context, const void *at);      /* enum graph_kind */

/* Appends "0/0", or "0/0 rank1" if there are several recordings; nothing for PROFILE_NONE. */
void cell_compile(const struct profile *p, uint32_t recording, uint32_t compile, struct buf *out);

/* Writes an array of GRAPH_KINDS counts: {"aot_forward_graph": 7, ...}. */
void json_levels(const void *context, const void *at, struct json_writer *w, const char *key);

#endif
