/* Private members of an open trace. */
#ifndef SYMTAPE_TRACE_TABLES_H
#define SYMTAPE_TRACE_TABLES_H

#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"
#include "trace/open.h"
#include "trace/tape/tape_read.h"

/* File names of the processes of a recording, by space and the number in their frames. */
struct file_table {
    struct str *paths; /* n_files for each space; .p is NULL where there is none */
    size_t n_files, n_spaces;
};

/* A frame's texts, decoded. */
struct frame_text {
    struct str function, code;
};

struct trace_tables {
    struct tape *tape;
    struct buf bytes;         /* the tape's file */
    struct arena arena;       /* memory of everything below */
    struct file_table *files; /* one for each recording */
    struct frame_text *frames;
    struct str *long_metas; /* by payload number; NULL: none */
    struct symbol_table *symbols;
    struct guard_list *guards;
    struct graph_list *graphs;
    struct graph **parsed; /* one for each graph_ref; NULL: not yet */
};

/* As record_json(), but metadata that is no JSON is no failure: *readable is set instead.
 * Returns false only when memory ran out. */
bool record_try_json(const struct trace *trace, uint32_t record, struct json *doc, bool *readable,
                     struct err *err);
/* Groups records by compile and attempt, and determines how each ended. Sets trace->attempts and
 * records[].attempt. */
bool trace_find_attempts(struct trace *trace, struct record *records, struct err *err);
/* Reads the string tables of the processes. */
bool trace_find_files(struct trace *trace, struct err *err);

#endif
