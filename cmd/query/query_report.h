/* Prints the rows of a query. */
#ifndef SYMTAPE_CMD_QUERY_QUERY_REPORT_H
#define SYMTAPE_CMD_QUERY_QUERY_REPORT_H

#include "cmd/cmd.h"
#include "profile/corpus/corpus_query.h"
#include "trace/base/text/json_write.h"

enum query_format { QUERY_TABLE, QUERY_JSON, QUERY_CSV };

enum { QUERY_TEXT_ROWS = 40 };

struct query_report {
    struct query *query;
    const char *name; /* NULL: of the user's SQL */
    enum query_format format;
    uint64_t limit; /* 0: all rows */
};

/* Prints the rows while they are read; a table is printed at its end. Returns the exit code; errors
 * are printed, those of the query from `err`. It stops the process's alarm(2) at the last row. */
int query_print(struct out *out, const struct query_report *report, struct err *err);

#endif
