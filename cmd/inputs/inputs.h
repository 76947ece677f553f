/* symtape inputs: what its files share. */
#ifndef SYMTAPE_CMD_INPUTS_INPUTS_H
#define SYMTAPE_CMD_INPUTS_INPUTS_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/inputs/program_calls.h"
#include "cmd/inputs/regions_run.h"
#include "profile/report/report.h"
#include "prove/cover/cover.h"
#include "prove/regions/regions.h"
#include "trace/base/text/json_write.h"

struct inputs_args {
    const char *cover, *assume, *solver, *calls, *run;
    struct opt_number limit, seconds;
    bool python, json, strict;
};

/* ---- Names and ranges (inputs_names.c) ---- */

enum { INPUTS_NAMES = 32, INPUTS_PIECES = 256 };

/* The values of one name of --cover. */
struct inputs_range {
    struct str name; /* a symbol, or the source of one */
    bool found;      /* in one of the compiles */
    size_t n_pieces;
    struct cover_piece *pieces;
};
struct inputs_ranges {
    struct inputs_range list[INPUTS_NAMES];
    size_t n;
    struct arena arena;
};

/* Reads "s0=1..4096,L['x'].size()[1]=8..1024:8,s2=1,2,4". Fails with ERR_USAGE. */
bool inputs_ranges_read(struct inputs_ranges *ret, struct str text, struct err *err);
void inputs_ranges_release(struct inputs_ranges *ranges);

/* What a name is in a compile: the symbol, the size, or both; UINT32_MAX: none. */
struct inputs_meaning {
    uint32_t symbol, size; /* in the conditions */
};

/* The names of a compile. Zero-initialize all but the conditions. */
struct inputs_scope {
    struct conditions *conditions;
    struct intern plain; /* sources in the spelling of why_name_plain(), */
    vec_of(struct inputs_meaning)
    meanings; /* and what they are */
    bool is_read;
    struct arena arena;
};
void inputs_scope_release(struct inputs_scope *scope);

/* Finds a symbol by name, or by source in any of the spellings that symtape-why(1) takes. Fails
 * when memory ran out. */
bool inputs_find(struct inputs_scope *scope, struct str name, struct inputs_meaning *ret,
                 struct err *err);
/* Parses a condition over symbols and sources. Returns false with err set (ERR_USAGE) if the text
 * is no condition; *missing is the first name that is not known here, or "". */
bool inputs_parse(struct inputs_scope *scope, struct str text, sym_id *ret, struct str *missing,
                  struct err *err);

/* ---- A range in the symbols of a compile (inputs_range.c) ---- */

struct inputs_names {
    struct inputs_scope scope;
    struct cover_symbol symbols[INPUTS_NAMES];
    struct str missing[INPUTS_NAMES]; /* names that this compile does not have */
    size_t n_symbols, n_missing;
    sym_id assume;
};

/* Finds the names of --cover, and those of --assume (NULL: none). A static size gets a symbol, and
 * so does each further size of those that share one. `title` names the compile in messages. Fails
 * with ERR_USAGE, or when memory ran out; inputs_names_release() is required then, too. */
bool inputs_names_make(struct inputs_names *ret, struct trace *trace, struct conditions *conditions,
                       struct inputs_ranges *ranges, const char *assume, struct str title,
                       struct err *err);
void inputs_names_release(struct inputs_names *names);

/* ---- The program's calls (place_calls.c) ---- */

/* Counts in which regions the calls of the function lie. *n_left_out are those in which the value
 * of a symbol is not told, or which lie in no region that was found. Fails when memory ran out. */
bool place_calls(const struct program_calls *calls, const struct trace *trace,
                 const struct conditions *conditions, struct regions *regions, uint64_t *n_left_out,
                 struct err *err);

/* ---- The run ---- */

struct inputs_run {
    struct cmd *cmd;
    const struct inputs_args *args;
    struct tape_arg tape;
    struct report_options how;
    struct buf text;           /* the report */
    struct json_writer writer; /* into it */
    uint64_t seconds;
    struct decide_limits limits; /* of a condition of --cover */
    struct program_calls calls;
    uint64_t n_left_out; /* calls of the function that is answered, which are in no region */
    enum decide_verdict verdict;
    bool by_compile;     /* a selector names one; else the verdict is that of functions */
    bool *in_function;   /* by attempt, without a selector: the verdict of its function counts */
    uint32_t n_answered; /* compiles */
    uint32_t n_large;    /* compiles with too many symbols, whose regions are not looked for */
    struct regions_runner runner; /* of --run */
};
void inputs_note_verdict(struct inputs_run *run, enum decide_verdict verdict);

/* Where the conditions are: "0/1_0", or the program of a record. */
void inputs_put_name(const struct inputs_run *run, const struct conditions *conditions,
                     struct buf *out);
/* Writes the members that say so in JSON. */
void inputs_json_name(const struct inputs_run *run, const struct conditions *conditions,
                      struct json_writer *w);
/* Returns whether the compile failed, so that it serves no sizes. */
bool inputs_failed(const struct inputs_run *run, const struct conditions *conditions);
/* Appends the name of a symbol, or the source of a size that is none. */
void inputs_put_symbol(const struct conditions *conditions, sym_id symbol, struct buf *out);
/* Appends "demo/encoder.py:25 `if length % WINDOW:`", or nothing. */
void inputs_put_line(const struct inputs_run *run, const struct conditions *conditions,
                     const struct condition *condition, struct buf *out);
/* Writes the member "line" of a condition. */
void inputs_json_line(const struct trace *trace, uint32_t recording,
                      const struct condition *condition, struct json_writer *w);

/* ---- --cover: functions (function_cover.c) ---- */

/* Answers for each function of the selected recordings whether its entries cover the range, and
 * sets the verdict of the run. With JSON it writes the array "functions". */
bool answer_functions(struct inputs_run *run, struct inputs_ranges *ranges, struct err *err);

/* ---- --cover: compiles (cover_report.c) ---- */

struct cover_report {
    struct inputs_run *run;
    const struct conditions *conditions;
    const struct cover *cover;
    const struct inputs_ranges *ranges;
    const struct str *missing; /* names that this compile does not have */
    size_t n_missing;
};
void cover_report_text(const struct cover_report *report);
void cover_report_json(const struct cover_report *report);
/* Append "s77=1, s27=8", and write the array that says so. */
void inputs_put_values(const struct conditions *conditions, const struct decide_value *values,
                       uint32_t n, struct buf *out);
void inputs_json_values(const struct conditions *conditions, const struct decide_value *values,
                        uint32_t n, struct json_writer *w, const char *key);

/* ---- Regions (regions_report.c) ---- */

/* `results`: of each region, or NULL without --run. */
void regions_report_text(struct inputs_run *run, const struct conditions *conditions,
                         const struct regions *regions, const struct region_result *results);
void regions_report_json(struct inputs_run *run, const struct conditions *conditions,
                         const struct regions *regions, const struct region_result *results);

/* ---- What a compile serves (served_report.c) ---- */

/* Appends "0/1_0 serves s77 >= 2; other sizes fall into 2 other regions". */
void served_put_first_line(const struct inputs_run *run, const struct conditions *conditions,
                           const struct regions *regions, struct buf *out);
/* Append, and write as the array "served", the sizes of each symbol in the first region with the
 * user lines that limit them. The text has its conditions on several sizes, too. */
void served_put_reasons(const struct inputs_run *run, const struct conditions *conditions,
                        const struct region *region, struct buf *out);
void served_json(const struct conditions *conditions, const struct region *region,
                 struct json_writer *w);

/* ---- --python (regions_python.c) ---- */

void regions_python_begin(struct inputs_run *run);
/* Writes the rows of a compile's regions. Fails when memory ran out. */
bool regions_python(struct inputs_run *run, const struct conditions *conditions,
                    const struct regions *regions, struct err *err);
void regions_python_end(struct inputs_run *run);

#endif
