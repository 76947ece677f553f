#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "trace/log/source_codec.h"

enum { FIRST_BYTES = 5, BLOCK_HEADER = 3 };

struct zstd_decoder {
    ZSTD_DCtx *context;
    size_t wanted; /* zstd's hint: length of the next block and of the header after it; never 0 */
    bool inside;   /* a frame has begun and has not ended */
    bool pending;  /* the output was too small for the decoded bytes */
};

static void zstd_close(void *decoder)
{
    struct zstd_decoder *zstd = decoder;
    ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

static void *zstd_open(void)
{
    struct zstd_decoder *zstd = calloc(1, sizeof *zstd);
    if (!zstd)
        return NULL;
    zstd->context = ZSTD_createDCtx();
    zstd->wanted = FIRST_BYTES;
    if (zstd->context && !ZSTD_isError(ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax,
                                                              SOURCE_MAX_WINDOW_LOG)))
        return zstd;
    zstd_close(zstd);
    return NULL;
}

/* Returns the window's size from the frame's header (RFC 8878, 3.1.1.1): a descriptor, then the
 * window, or the content's size for a frame of one segment. An incomplete header counts as the
 * largest window that is allowed. */
static uint64_t zstd_window(const void *decoder, const struct source_input *in)
{
    const struct zstd_decoder *zstd = decoder;
    const unsigned char *p = in->p;
    uint64_t most = UINT64_C(1) << SOURCE_MAX_WINDOW_LOG, size = 0;
    if (zstd->inside || in->n == 0)
        return 0;
    if (in->n < 4 + 1 + 4 + 8)
        return most;
    if (memcmp(p, "\x28\xB5\x2F\xFD", 4) != 0)
        return 0;
    unsigned descriptor = p[4], of_dictionary = (1u << (descriptor & 3)) >> 1;
    unsigned bytes = descriptor >> 6 ? 1u << (descriptor >> 6) : 1;
    if (!(descriptor & 0x20)) {
        uint64_t base = UINT64_C(1) << (10 + (p[5] >> 3));
        size = base + base / 8 * (p[5] & 7);
    } else {
        for (unsigned i = bytes; i-- > 0;)
            size = size << 8 | p[5 + of_dictionary + i];
        size += bytes == 2 ? 256 : 0;
    }
    return size < most ? size : most;
}

static enum source_step zstd_reason(size_t code, const char **why)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation: return STEP_NOMEM;
    case ZSTD_error_frameParameter_windowTooLarge:
        *why = "zstd: needs a window of more than 128 MiB; recompress it with --long=27 at most";
        return STEP_REFUSE;
    case ZSTD_error_prefix_unknown:
        *why = "zstd: the data after the last frame is not a frame";
        return STEP_DAMAGE;
    case ZSTD_error_checksum_wrong:
        *why = "zstd: a frame does not match its checksum";
        return STEP_DAMAGE;
    default: *why = "zstd: damaged data"; return STEP_DAMAGE;
    }
}

/* Returns how much of the input the next call may see. A ZSTD_decompressStream() that fails
 * loses what it decoded before in the same call, so each call gets one block or header, and
 * nothing while output is pending. */
static size_t next_piece(const struct zstd_decoder *zstd, const struct source_input *in)
{
    size_t piece = zstd->wanted > BLOCK_HEADER ? zstd->wanted - BLOCK_HEADER : zstd->wanted;
    if (zstd->pending)
        return 0;
    return in->n < piece ? in->n : piece;
}

static enum source_step zstd_step(void *decoder, struct source_input *in, char *out, size_t size,
                                  size_t *made, const char **why)
{
    struct zstd_decoder *zstd = decoder;
    bool at_end = in->n == 0;
    ZSTD_inBuffer from = { in->p, next_piece(zstd, in), 0 };
    ZSTD_outBuffer to = { out, size, 0 };

    *made = 0;
    if (at_end && !zstd->inside)
        return STEP_MORE;
    size_t left = ZSTD_decompressStream(zstd->context, &to, &from);
    in->p += from.pos;
    in->n -= from.pos;
    *made = to.pos;
    if (ZSTD_isError(left))
        return zstd_reason(left, why);
    zstd->pending = to.pos == size;
    zstd->inside = left != 0;
    zstd->wanted = left ? left : FIRST_BYTES;
    if (!at_end || to.pos > 0 || !zstd->inside)
        return STEP_MORE;
    *why = "zstd: ends inside a frame";
    return STEP_DAMAGE;
}

const struct source_codec source_zstd = { zstd_open, zstd_window, zstd_step, zstd_close };
