#include "trace/tape/tape_frame.h"

#include <stdlib.h>
#include <zstd.h>

enum {
    LEVEL = 3,
    MOST_STORED = TAPE_BLOCK_LIMIT + (1 << 20), /* length of a zstd frame, which in the worst case
                                                   is a little longer than its content */
};

struct frame_codec {
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
};

struct frame_codec *frame_codec_new(struct err *err)
{
    struct frame_codec *codec = calloc(1, sizeof *codec);
    if (codec) {
        codec->compress = ZSTD_createCCtx();
        codec->decompress = ZSTD_createDCtx();
    }
    if (codec && codec->compress && codec->decompress &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_compressionLevel, LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_checksumFlag, 1)))
        return codec;
    frame_codec_free(codec);
    err_nomem(err);
    return NULL;
}

void frame_codec_free(struct frame_codec *codec)
{
    if (!codec)
        return;
    ZSTD_freeCCtx(codec->compress);
    ZSTD_freeDCtx(codec->decompress);
    free(codec);
}

static bool zstd_failed(size_t code, enum err_kind kind, struct err *err)
{
    return err_set(err, kind, "zstd: %s", ZSTD_getErrorName(code));
}

bool frame_compress(struct frame_codec *codec, struct str content, struct buf *out, struct err *err)
{
    size_t room = ZSTD_compressBound(content.n);
    if (!buf_reserve(out, room))
        return err_nomem(err);
    size_t n = ZSTD_compress2(codec->compress, out->p + out->n, room, content.p, content.n);
    if (ZSTD_isError(n))
        return zstd_failed(n, ERR_ENV, err);
    out->n += n;
    return true;
}

bool frame_content_size(struct str frame, size_t *ret, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame.p, frame.n);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return err_set(err, ERR_INPUT, "frame without a content size");
    if (size > TAPE_BLOCK_LIMIT)
        return err_set(err, ERR_INPUT, "frame of %llu bytes", size);
    *ret = (size_t)size;
    return true;
}

static bool decompress(struct frame_codec *codec, struct str frame, char *to, size_t size,
                       struct err *err)
{
    size_t n = ZSTD_decompressDCtx(codec->decompress, to, size, frame.p, frame.n);
    return ZSTD_isError(n) ? zstd_failed(n, ERR_INPUT, err) : true;
}

bool frame_decompress(struct frame_codec *codec, struct str frame, struct buf *out, struct err *err)
{
    size_t size = 0;
    if (!frame_content_size(frame, &size, err))
        return false;
    if (!buf_reserve(out, size))
        return err_nomem(err);
    if (!decompress(codec, frame, out->p + out->n, size, err))
        return false;
    out->n += size;
    return true;
}

bool frame_decompress_to(struct frame_codec *codec, struct str frame, struct arena *arena,
                         struct str *ret, struct err *err)
{
    size_t size = 0;
    if (!frame_content_size(frame, &size, err))
        return false;
    char *to = arena_bytes(arena, size + 1);
    *ret = (struct str){ to, size };
    return to ? decompress(codec, frame, to, size, err) : err_nomem(err);
}

void frame_skippable(uint32_t magic, struct str content, struct buf *out)
{
    buf_le32(out, magic);
    buf_le32(out, (uint32_t)content.n);
    buf_put(out, content);
}

bool frame_next(struct str bytes, struct frame_place *ret)
{
    *ret = (struct frame_place){ 0 };
    if (bytes.n < 8)
        return false;
    struct bytes in = bytes_of(bytes);
    uint32_t magic = bytes_le32(&in);
    if ((magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) {
        ret->magic = magic;
        ret->content = bytes_take(&in, bytes_le32(&in));
        ret->size = bytes.n - bytes_left(&in);
        return !in.failed;
    }
    if (magic != ZSTD_MAGICNUMBER)
        return false;
    ret->size = ZSTD_findFrameCompressedSize(bytes.p, str_first(bytes, MOST_STORED).n);
    return !ZSTD_isError(ret->size);
}

size_t frame_resync(struct str bytes, size_t from)
{
    static const char magic[] = "\x28\xB5\x2F\xFD";
    struct str rest = str_from(bytes, from);
    return bytes.n - rest.n + str_find(rest, (struct str){ magic, 4 });
}
