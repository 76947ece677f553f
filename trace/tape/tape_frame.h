/* The container of a tape: skippable frames and zstd frames. Only this file and
 * trace/log/source_zstd.c use libzstd. */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_FRAME_H
#define SYMTAPE_TRACE_TAPE_TAPE_FRAME_H

#include "trace/tape/tape.h"

struct frame_codec; /* contexts for both directions, which are used again for each frame */

struct frame_codec *frame_codec_new(struct err *err);
void frame_codec_free(struct frame_codec *codec);

/* Returns in *ret the size of the content that a frame declares; ERR_INPUT when it declares
 * none, or more than TAPE_BLOCK_LIMIT. */
bool frame_content_size(struct str frame, size_t *ret, struct err *err);
/* Appends one zstd frame (level 3, content size and checksum) with this content. */
bool frame_compress(struct frame_codec *codec, struct str content, struct buf *out,
                    struct err *err);
/* Appends the content of the zstd frame at the start of `frame`. It fails with ERR_INPUT for
 * more than TAPE_BLOCK_LIMIT bytes, a wrong checksum or a truncated frame. */
bool frame_decompress(struct frame_codec *codec, struct str frame, struct buf *out,
                      struct err *err);
/* Does the same, into an arena. */
bool frame_decompress_to(struct frame_codec *codec, struct str frame, struct arena *arena,
                         struct str *ret, struct err *err);
/* Appends a skippable frame. */
void frame_skippable(uint32_t magic, struct str content, struct buf *out);

/* The frame at the start of some bytes. */
struct frame_place {
    uint32_t magic;     /* of a skippable frame; 0 for a zstd frame */
    size_t size;        /* in the file */
    struct str content; /* of a skippable frame */
};
/* Finds the frame at the start of `bytes`. Returns false when no complete frame starts there. */
bool frame_next(struct str bytes, struct frame_place *ret);
/* Returns the offset of the first byte at or after `from` where a zstd frame may start; bytes.n
 * if there is none. */
size_t frame_resync(struct str bytes, size_t from);

#endif
