/* Private to symtape dash: the run of the command and its steps. Each step returns the exit code;
 * errors are printed. */
#ifndef SYMTAPE_CMD_DASH_DASH_CMD_H
#define SYMTAPE_CMD_DASH_DASH_CMD_H

#include "cmd/cmd.h"
#include "profile/dash/dash_view.h"
#include "profile/dash/expectations.h"

struct dash_args {
    struct opt_number to, limit;
    const char *base, *expect, *flaky, *peak_tflops, *output;
    bool pages, together, update, partial, json, markdown, html, overwrite, strict;
};

struct dash_cmd {
    struct cmd *cmd;
    const struct dash_args *args;
    double peak_tflops;
    struct dash *dash;
    struct dash_view view;
    vec_of(struct expectations)
    expectations;
    struct verdicts verdicts;
    vec_of(struct str)
    flaky;
};

/* Adds a point of the operands `first` to `first + n - 1`. */
int dash_point_read(struct dash_cmd *d, size_t first, size_t n);
/* Fills in the first difference of the tapes of each model in the view's lists. */
int dash_differences(struct dash_cmd *d);
/* Writes the pages of the tapes in the view's lists beside the output. */
int dash_pages(struct dash_cmd *d);
/* Reads the expectations, judges, and writes them with --update. */
int dash_expect(struct dash_cmd *d);

#endif
