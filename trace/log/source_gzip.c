#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "trace/log/source_codec.h"

enum { WINDOW_BITS_GZIP = MAX_WBITS + 16 }; /* 16: a gzip header, not a zlib one */

struct gzip_decoder {
    z_stream stream;
    bool inside;  /* a member has begun and has not ended */
    bool padding; /* a member ended; zeros after it are padding, which gzip(1) accepts */
};

static void gzip_close(void *decoder)
{
    struct gzip_decoder *gzip = decoder;
    inflateEnd(&gzip->stream);
    free(gzip);
}

/* Returns 0: the window of gzip is 32 KiB, which is too small to count. */
static uint64_t gzip_window(const void *decoder, const struct source_input *in)
{
    (void)decoder;
    (void)in;
    return 0;
}

static void *gzip_open(void)
{
    struct gzip_decoder *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    if (inflateInit2(&gzip->stream, WINDOW_BITS_GZIP) == Z_OK)
        return gzip;
    free(gzip);
    return NULL;
}

static void skip_padding(struct gzip_decoder *gzip, struct source_input *in)
{
    while (gzip->padding && in->n > 0 && *in->p == 0) {
        in->p++;
        in->n--;
    }
    if (in->n > 0)
        gzip->padding = false;
}

static enum source_step gzip_reason(int code, const char **why)
{
    if (code == Z_MEM_ERROR)
        return STEP_NOMEM;
    *why = "gzip: damaged data";
    return STEP_DAMAGE;
}

static enum source_step end_of_file(const struct gzip_decoder *gzip, const char **why)
{
    if (!gzip->inside)
        return STEP_MORE;
    *why = "gzip: ends inside a member";
    return STEP_DAMAGE;
}

/* Starts a member. Returns false when no member begins in this input. */
static bool begin_member(struct gzip_decoder *gzip, struct source_input *in)
{
    skip_padding(gzip, in);
    gzip->inside = in->n > 0;
    if (gzip->inside)
        (void)inflateReset(&gzip->stream); /* on failure inflate() reports it */
    return gzip->inside;
}

static enum source_step gzip_step(void *decoder, struct source_input *in, char *out, size_t size,
                                  size_t *made, const char **why)
{
    struct gzip_decoder *gzip = decoder;
    z_stream *z = &gzip->stream;
    bool at_end = in->n == 0;

    *made = 0;
    if (!gzip->inside && !begin_member(gzip, in))
        return STEP_MORE;
    z->next_in = (unsigned char *)in->p; /* zlib does not write there */
    z->avail_in = in->n < UINT_MAX ? (uInt)in->n : UINT_MAX;
    z->next_out = (unsigned char *)out;
    z->avail_out = size < UINT_MAX ? (uInt)size : UINT_MAX;
    int code = inflate(z, Z_NO_FLUSH);
    *made = (size_t)(z->next_out - (unsigned char *)out);
    in->n -= (size_t)(z->next_in - in->p);
    in->p = z->next_in;
    gzip->padding = code == Z_STREAM_END;
    gzip->inside = !gzip->padding;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return gzip_reason(code, why);
    return at_end && *made == 0 ? end_of_file(gzip, why) : STEP_MORE;
}

const struct source_codec source_gzip = { gzip_open, gzip_window, gzip_step, gzip_close };
