/* Splits a log into pieces: a line, and the TAB lines that follow it.
 *
 * Only this layer looks for line ends; it does not decide whether the line is a header. Blank lines
 * between TAB lines belong to the payload (logs that went through an editor have them). TAB lines
 * before any other line are a piece with an empty header.
 *
 * Memory: one buffer that grows to the largest piece, of LOG_PIECE_LIMIT bytes at most: a longer
 * piece is handed out in parts. A first line of more than LOG_LINE_LIMIT bytes, which cannot be
 * a header, is handed out in parts, too: each is longer than a header may be, and only the last
 * one has a line end. */
#ifndef SYMTAPE_TRACE_LOG_LOG_SPLIT_H
#define SYMTAPE_TRACE_LOG_LOG_SPLIT_H

#include "trace/base/buf.h"
#include "trace/log/source.h"

#define LOG_PIECE_LIMIT (UINT64_C(1) << 30)
/* PyTorch's longest lines are below 1 MiB. */
#define LOG_LINE_LIMIT (UINT64_C(16) << 20)

struct log_piece {
    struct str whole;   /* every byte, with line ends */
    struct str header;  /* the line without its end */
    bool crlf;          /* the line ended in \r\n */
    bool unterminated;  /* the log ends here without a line end */
    struct str payload; /* the TAB lines with their TABs, without the last line end; "" */
    bool has_payload;
    bool blank_inside;     /* the payload has lines without a TAB */
    uint64_t line, offset; /* start of the piece: the line from 1, the byte from 0 */
    uint64_t lines;
};

struct log_split {
    struct source *source; /* borrowed */
    struct buf data;
    size_t start, end; /* the next piece starts at `start` */
    bool at_end;
    bool inside; /* the previous piece was a part of a line */
    uint64_t line, offset;
};

/* Reads the next piece, which is valid until the next call. It returns true with ret->whole.n ==
 * 0 at the end. Damage of the source (see source->damage) is an error here, too, which is
 * returned after all pieces before it. */
bool log_split_next(struct log_split *split, struct log_piece *ret, struct err *err);
void log_split_release(struct log_split *split);

#endif
