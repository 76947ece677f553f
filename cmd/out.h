/* What a command prints, and where.
 *
 * Data goes to out->data (standard output), everything said about the work to out->notes (standard
 * error). Color and width are decided for each stream by itself: nothing is colored or shortened
 * unless that stream is a terminal or the user asked. --color, then NO_COLOR, CLICOLOR_FORCE,
 * CLICOLOR=0, TERM=dumb, then whether it is a terminal. A failure to write is kept by the stream and
 * found at the end by out_finish(), so printing code does not check.
 *
 * Text of a log may hold anything, terminal escapes too: print it with out_text(), or in a table
 * (profile/table.h), not with fprintf. */
#ifndef SYMTAPE_CMD_OUT_H
#define SYMTAPE_CMD_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/table.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };

struct out {
    FILE *data, *notes;
    bool quiet;                   /* -q: errors only, no notes */
    bool data_color, notes_color;
    bool data_tty, notes_tty;
    unsigned width;               /* columns of the terminal that data goes to; 0: not one */
    uint64_t progress_ms;         /* when progress was last shown; 0: none is on the screen */
    int write_errno;              /* of the first write to data that failed; 0 */
};

/* Looks at the two streams and the environment. Streams stay the caller's. */
void out_init(struct out *out, FILE *data, FILE *notes, enum color_when color);

/* Starts and ends a style on the data stream, "" when it has no color. */
const char *out_style(const struct out *out, enum style style);

/* To the data stream. out_text() shows control characters as \xNN where data is a terminal and is
 * exact otherwise; out_raw() is always exact. */
void out_printf(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
void out_text(struct out *out, struct str text);
void out_raw(struct out *out, struct str bytes);
/* A finished buffer (JSON, help); an allocation that failed while it was filled is an error. The
 * exit code so far: EXIT_DONE or EXIT_ENV. */
int out_buf(struct out *out, const struct buf *buf);
/* A table, made to fit the terminal that data goes to. The same codes. */
int out_table(struct out *out, const struct table *table);

/* "symtape: ..." on the notes stream, one line, printable. Not with -q. */
void out_note(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
/* The same, always, and the exit code that its kind stands for. */
int out_error(struct out *out, const struct err *err);
/* out_error() for what the command itself finds wrong with its arguments: EXIT_USAGE. */
int out_usage(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);

/* A line that the next one overwrites, where notes go to a terminal, at most ten times a second. */
void out_progress(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Wipes it, before anything else is said. */
void out_progress_end(struct out *out);

/* Flushes; `code`, or what went wrong with writing: EXIT_ENV (said on notes), EXIT_BROKEN_PIPE. */
int out_finish(struct out *out, int code);

/* Exit code of a kind of error. */
int exit_code_of(enum err_kind kind);
/* The same for `git bisect run`, which skips a revision at 125 and stops at 128 and above: what is
 * neither good nor bad cannot be told, and a mistake in the command itself (129) stops. */
int exit_code_for_bisect(int code);

#endif
