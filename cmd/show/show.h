/* What the views of `symtape show` have in common.
 *
 * A view is a list of items (guards, symbols, breaks ...) described by a struct show_view: how
 * to load them, the place of each, and the fields of one, from which a row of a table and a JSON
 * object are made (profile/report/fields.h). Filters, --limit, --stack and both formats are
 * implemented once (cmd/show/show_list.c). Two views are no lists and print by themselves:
 * --graph and --artifact. */
#ifndef SYMTAPE_CMD_SHOW_SHOW_H
#define SYMTAPE_CMD_SHOW_SHOW_H

#include "cmd/cli/place.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/report/fields.h"

struct env_levels;
struct show_args {
    bool json, strict, stack;
    bool graphs, guards, symbols, specializations, restarts, recompiles, breaks, caches, failures;
    bool kernels, signature, weights, levels;
    const char *graph, *events; /* NULL: not requested; "": without a value */
    const char *artifact;
    const char *compile, *recording, *file;
    struct opt_number attempt, limit;
};

struct show {
    struct out *out;
    const struct show_args *args;
    struct trace *trace;
    struct selector selector; /* the operand's selector, with the filters of the options */
    struct buf text;          /* JSON that is not written yet */
    struct json_writer w;
    struct env_levels *levels; /* of --levels, once they are made */
    struct buf omitted;        /* members of "omitted": what --limit omitted, by view */
};

/* The record and the place to which an item belongs. */
struct show_place {
    uint32_t record, attempt;   /* attempt may be TRACE_NONE */
    stack_id user_stack, stack; /* 0: none was recorded */
    struct str file;            /* user file if it is not that of user_stack, or "" */
};

/* The context of the fields' getters: the current item. */
struct show_row {
    struct show *show;
    const void *items;
    struct show_place place;
    struct frame line; /* the user's innermost frame, outside PyTorch's own files; text only */
};

struct show_view {
    const char *key;  /* of its array in the JSON; its title in text */
    const char *none; /* text that is printed when there are no items */
    /* in JSON they follow recording, compile, attempt and log_line */
    const struct fields *fields;
    unsigned table; /* of the fields' tables in text */
    /* Sets *ret to *ret_n items, which release() frees (NULL: they belong to the trace). */
    bool (*load)(struct show *show, void **ret, uint32_t *ret_n, struct err *err);
    void (*release)(void *items);
    struct show_place (*place)(const struct show *show, const void *items, uint32_t i);
    /* NULL, or a further condition for an item to be shown. */
    bool (*wanted)(const struct show *show, const void *items, uint32_t i);
    /* NULL, or appends to an item's block of --stack what belongs to it alone, each line after
     * blanks. */
    void (*block)(const void *item, struct buf *out);
    /* NULL, or the same for JSON: writes members of an item with --stack. */
    void (*block_json)(const void *item, struct json_writer *w);
    /* Returns the record that the fields describe; it is valid until the next call. */
    const void *(*item)(struct show *show, void *items, uint32_t i);
};

/* Prints the list as the options require. Returns the exit code. */
int show_list(struct show *show, const struct show_view *view);

extern const struct show_view show_graphs, show_guards, show_symbols, show_specializations,
    show_events, show_restarts, show_recompiles, show_breaks, show_caches, show_failures,
    show_weights;
/* Together they are --kernels. */
extern const struct show_view show_kernels, show_programs, show_fusions;
/* Together they are --levels. */
extern const struct show_view show_levels, show_conditions;
/* Together they are --signature. */
extern const struct show_view show_inputs, show_outputs, show_ranges, show_guards_code;

int show_graph(struct show *show);
int show_artifact(struct show *show);

/* Returns whether an item of this record passes the filters on recording, compile and attempt. */
bool show_in_view(const struct show *show, uint32_t record, uint32_t attempt);

/* Returns the option of show whose name is nearest to a word, for those who name a list where a
 * part of a tape is expected: "guards" for "gaurds"; "" when none is near. */
struct str show_nearest_option(struct str word);

/* Notes that --limit left out `n` items of a view; does nothing for 0. */
void show_omitted(struct show *show, const char *key, uint64_t n);

/* Writes out show->text once it is long. */
void show_flush(struct show *show);

/* Writes the member "line" of a user stack: the innermost frame outside PyTorch's own files. */
void show_line_json(struct show *show, uint32_t recording, stack_id user_stack);

/* ---- Fields that most views have in text; the context is a struct show_row ---- */

/* Prints "0/0_1" ("rank1:0/0_1" on a tape of several recordings). */
void show_cell_compile(const void *context, const void *at, struct buf *out);
/* Returns the user line's place and code. */
struct datum show_get_line(const void *context, const void *at);
struct datum show_get_code(const void *context, const void *at);
/* Prints the archive's program that an item belongs to, whose name is at `at`; on a tape of
 * several recordings after the recording's name. */
void show_cell_program(const void *context, const void *at, struct buf *out);

#define SHOW_COMPILE(at)                                              \
    {                                                                 \
        NULL, .cell = show_cell_compile, TEXT(at, "compile", WORD, 0) \
    }
#define SHOW_LINE(at)                                              \
    {                                                              \
        NULL, .get = show_get_line, TEXT(at, "user line", PATH, 0) \
    }
#define SHOW_CODE(at, spare)                                      \
    {                                                             \
        NULL, .get = show_get_code, TEXT(at, "code", TEXT, spare) \
    }

#endif
