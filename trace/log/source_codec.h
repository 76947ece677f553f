/* Private to trace/source*.c: how a compressed input is decoded. */
#ifndef SYMTAPE_TRACE_LOG_SOURCE_CODEC_H
#define SYMTAPE_TRACE_LOG_SOURCE_CODEC_H

#include "trace/log/source.h"

/* Bytes of the file that wait to be decoded. */
struct source_input {
    const unsigned char *p;
    size_t n;
};

enum source_step {
    STEP_MORE,   /* go on: with more input when the input is empty */
    STEP_DAMAGE, /* the data is damaged; *why says how */
    STEP_REFUSE, /* it is not, but is not read either; *why says how */
    STEP_NOMEM,
};

struct source_codec {
    void *(*open)(void); /* NULL when memory ran out */
    /* Memory that the frame takes which starts at the input; 0 inside of one. */
    uint64_t (*window)(const void *decoder, const struct source_input *in);
    /* Takes from `in`, puts at most `size` bytes at `out`, *made says how many. Called with an
     * empty input only at the file's end, to hear whether it came too early. */
    enum source_step (*step)(void *decoder, struct source_input *in, char *out, size_t size,
                             size_t *made, const char **why);
    void (*close)(void *decoder);
};

extern const struct source_codec source_zstd, source_gzip;

#endif
