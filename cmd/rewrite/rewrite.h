/* Declarations that the files of `symtape rewrite` share. */
#ifndef SYMTAPE_CMD_REWRITE_REWRITE_H
#define SYMTAPE_CMD_REWRITE_REWRITE_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "minify/candidate/candidate_log.h"
#include "minify/rewrite/rewrite.h"
#include "minify/rewrite/rewrite_check.h"
#include "trace/base/text/json_write.h"

struct rewrite_args {
    bool masks, overwrite, json, strict;
    const char *output, *check;
    struct opt_number limit;
};

/* All graphs together. */
struct rewrite_totals {
    uint32_t graphs, changed;  /* read, and those with rewritten calls */
    uint32_t calls, rewritten; /* with masks */
    uint32_t unbacked_before, unbacked_after;
    uint32_t checked, differing, partly; /* partly: equal, but not run with all masks */
};

struct rewrite_job {
    struct cmd *cmd;
    const struct rewrite_args *args;
    struct tape_arg tape;
    const struct graph_list *list; /* NULL: FX text */
    struct candidate_log log;
    struct buf log_text;
    struct log_place *places; /* by attempt */
    bool *placed, *infers;    /* by attempt: it has its place; it has a graph for inference */
    uint32_t next_frame;
    struct rewrite_totals totals;
    uint32_t rows; /* that the table has */
    struct table table;
    struct buf notes; /* what the checks found */
    struct buf json;
    struct json_writer writer;
};

/* A graph that was rewritten. */
struct rewritten_graph {
    struct str name;        /* "0/0_0:dynamo_output_graph"; the file of FX text */
    struct log_place place; /* on the new tape */
    const struct rewrite *rewrite;
    const struct rewrite_check *check;
};

/* rewrite_report.c: the rows of a graph, and the whole. */
void rewrite_report_begin(struct rewrite_job *job);
void rewrite_report_graph(struct rewrite_job *job, const struct rewritten_graph *graph);
int rewrite_report_end(struct rewrite_job *job, bool written);

#endif
