/* Prints the output of commands.
 *
 * Data goes to out->data (standard output), everything said about the work to out->notes (standard
 * error). Color and width are decided for each stream by itself: nothing is colored or shortened
 * unless that stream is a terminal or the user asked. --color, then NO_COLOR, CLICOLOR_FORCE,
 * CLICOLOR=0, TERM=dumb, then whether it is a terminal. The stream stores a failure to write, and
 * out_finish() reports it at the end, so printing code does not check. Lines that are wider than a
 * terminal are folded (profile/report/fold.h), so what is printed with one call ends with a whole
 * line.
 *
 * Text of a log may have any characters, also terminal escapes. All output passes through these
 * functions, which print such characters as escapes (trace/base/text/printable.h), also to a pipe:
 * a pager or `head` may stand between it and a terminal. Only out_exact() writes bytes unchanged to
 * a pipe. Only out.c has escape sequences of terminals; styles are stored beside a text
 * (profile/report/style.h). */
#ifndef SYMTAPE_CMD_CLI_OUT_H
#define SYMTAPE_CMD_CLI_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/report/style.h"
#include "profile/report/table.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct out {
    FILE *data, *notes;
    bool quiet; /* -q: errors only, no notes */
    bool data_color, notes_color;
    bool data_tty, notes_tty;
    bool exact;                 /* data is for other programs (JSON): its lines are not folded */
    unsigned width;             /* columns of the terminal that data goes to, or 0 if it is not a
                                 * terminal */
    unsigned notes_width;       /* the same of notes */
    uint64_t progress_ms;       /* when progress was last shown, or 0 if none is on the screen */
    int write_errno;            /* errno of the first write to data that failed, or 0 */
    int unprinted;              /* exit code for a report that was not printed since memory ran out,
                                 * or 0 */
    struct styles styles;       /* styles of the buffer that is printed next */
    struct memory_limit *limit; /* NULL, or the limit that out_error() names when memory runs out */
};

/* Examines the two streams and the environment. The streams remain the caller's. */
void out_init(struct out *out, FILE *data, FILE *notes, enum color_when color);

/* Returns the object in which to mark the styles of the buffer that out_buf() is given next, or
 * NULL when data has no color. */
struct styles *out_styles(struct out *out);

/* Prints to the data stream. */
void out_printf(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
void out_text(struct out *out, struct str text);
/* Prints bytes unchanged, for what other programs read: a payload, a graph's text. On a terminal
 * they are printed as by out_text(). */
void out_exact(struct out *out, struct str bytes);
/* Prints a finished buffer (a report, JSON, help) with its styles; an allocation that failed
 * while it was filled is an error. Returns EXIT_DONE or EXIT_ENV. */
int out_buf(struct out *out, const struct buf *buf);
/* Prints it to a file; NULL and "-" are the data stream. */
int out_report(struct out *out, const char *path, bool overwrite, const struct buf *buf);
/* Prints a table, fitted to the terminal that data goes to. Returns the same codes. */
int out_table(struct out *out, const struct table *table);

/* Prints one line "symtape: ..." to the notes stream, with escapes for what is not printable. It
 * prints nothing with -q. */
void out_note(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Prints a text of several lines to the notes stream; nothing with -q. */
void out_note_text(struct out *out, struct str text);
/* Prints an error in the same way, also with -q, and returns the exit code of its kind. */
int out_error(struct out *out, const struct err *err);
/* As out_error(), for an error in the command's arguments; returns EXIT_USAGE. */
int out_usage(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);

/* Prints a line that the next one overwrites, if notes go to a terminal, at most ten times a
 * second. */
void out_progress(struct out *out, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Clears that line, before anything else is printed. */
void out_progress_end(struct out *out);

/* Flushes the data stream, for a reader who waits for a line. */
void out_flush(struct out *out);
/* Flushes both streams. Returns `code`, or if printing failed EXIT_ENV (with a note) or
 * EXIT_BROKEN_PIPE; for EXIT_DONE, the code in `unprinted`. */
int out_finish(struct out *out, int code);

/* Returns the exit code for a kind of error. */
int exit_code_of(enum err_kind kind);
/* Maps an exit code to one for `git bisect run`, which skips a revision at 125 and stops at 128 and
 * above: an undecided result becomes 125, and a mistake in the command line 129. */
int exit_code_for_bisect(int code);

#endif
