/* A log cut into pieces: a line, and the TAB lines that follow it.
 *
 * This is the only layer that looks for line ends; whether the line is a header is for others to
 * say. Blank lines between TAB lines belong to the payload (logs that went through an editor have
 * them). TAB lines in front of any line are a piece with an empty header.
 *
 * Memory: one buffer that grows to the largest piece, of LOG_PIECE_LIMIT bytes at most: a longer
 * one comes in parts. So does a first line of more than LOG_LINE_LIMIT bytes, which no header is:
 * parts that are longer than a header may be, and end without a line end, but the last. */
#ifndef SYMTAPE_TRACE_LOG_LOG_SPLIT_H
#define SYMTAPE_TRACE_LOG_LOG_SPLIT_H

#include "trace/base/buf.h"
#include "trace/log/source.h"

#define LOG_PIECE_LIMIT (UINT64_C(1) << 30)
/* PyTorch's longest are below 1 MiB. */
#define LOG_LINE_LIMIT (UINT64_C(16) << 20)

struct log_piece {
    struct str whole;   /* every byte, line ends too */
    struct str header;  /* the line without its end */
    bool crlf;          /* it ended in \r\n */
    bool unterminated;  /* the log ends here without a line end */
    struct str payload; /* the TAB lines with their TABs, without the last line end; "" */
    bool has_payload;
    bool blank_inside;     /* the payload has lines without a TAB */
    uint64_t line, offset; /* where it starts: line from 1, byte from 0 */
    uint64_t lines;
};

struct log_split {
    struct source *source; /* borrowed */
    struct buf data;
    size_t start, end; /* the piece that comes next starts at `start` */
    bool at_end;
    bool inside; /* the piece before was a part of a line */
    uint64_t line, offset;
};

/* The next piece, valid until the next call. True with ret->whole.n == 0 is the end. Damage of the
 * source (see source->damage) is an error here too, told once all pieces before it were handed out.
 */
bool log_split_next(struct log_split *split, struct log_piece *ret, struct err *err);
void log_split_release(struct log_split *split);

#endif
