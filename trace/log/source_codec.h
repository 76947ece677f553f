/* The interface of a decoder for compressed input. Private to trace/log/source.c, source_gzip.c and
 * source_zstd.c. */
#ifndef SYMTAPE_TRACE_LOG_SOURCE_CODEC_H
#define SYMTAPE_TRACE_LOG_SOURCE_CODEC_H

#include "trace/log/source.h"

/* Bytes of the file that are not decoded yet. */
struct source_input {
    const unsigned char *p;
    size_t n;
};

enum source_step {
    STEP_MORE,   /* continue, with more input when the input is empty */
    STEP_DAMAGE, /* the data is damaged; *why has the reason */
    STEP_REFUSE, /* the data is intact but not supported; *why has the reason */
    STEP_NOMEM,
};

struct source_codec {
    void *(*open)(void); /* NULL when memory ran out */
    /* Returns the memory for the frame that starts at the input; 0 inside of a frame. */
    uint64_t (*window)(const void *decoder, const struct source_input *in);
    /* Consumes bytes of `in`, writes at most `size` bytes to `out` and sets *made to their number.
     * It is called with an empty input only at the end of the file, to find out whether the data is
     * truncated. */
    enum source_step (*step)(void *decoder, struct source_input *in, char *out, size_t size,
                             size_t *made, const char **why);
    void (*close)(void *decoder);
};

extern const struct source_codec source_zstd, source_gzip;

#endif
