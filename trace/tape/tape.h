/* The tape: the file that holds recordings. This is the format; symtape-tape(5) describes it in
 * full.
 *
 * A tape is a zstd file: `zstd -d` decodes it. It starts with a skippable frame (the header), goes
 * on with independent zstd frames of at most TAPE_BLOCK_LIMIT bytes of content, each with its own
 * checksum, and ends with two skippable frames: the tape's index, and a seek table in zstd's
 * seekable format. All complete frames can be read without the last two.
 *
 * The content of a frame is a *block*: lane (1 byte), first (varint), count (varint), items. A lane
 * is a table that grows from block to block; an item refers to earlier items of its own or of other
 * lanes only. The stream lanes have payload bytes end to end: there `first` is the position of the
 * block's first byte and `count` the number of bytes.
 *
 *     header    "symtape\0" u16 version, u16 0, u32 features, u32 0x01020304, f64 370.5 (all LE)
 *     integers  LEB128 varints; zigzag where they can be negative
 *     versions  1: the first
 *
 * A tape may have wrong numbers: a reader checks each against the contents. */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_H
#define SYMTAPE_TRACE_TAPE_TAPE_H

#include "trace/tape/glog.h"
#include "trace/tape/stacks.h"

enum {
    TAPE_VERSION = 1,
    TAPE_BLOCK_SIZE = 2 << 20,    /* a stream is cut at this size */
    TAPE_BLOCK_LIMIT = 5 << 20,   /* a reader refuses more */
    TAPE_INLINE_LIMIT = 64 << 10, /* a longer metadata text goes to a stream; no string, context or
                                     stack frame is longer */
    TAPE_HEADER_MAGIC = 0x184D2A50,
    TAPE_INDEX_MAGIC = 0x184D2A51,
    TAPE_SEEK_TABLE_MAGIC = 0x184D2A5E, /* zstd seekable format 0.1.0 */
};
#define TAPE_MAGIC       "symtape" /* and its NUL */
#define TAPE_CHECK_INT   UINT32_C(0x01020304)
#define TAPE_CHECK_FLOAT 370.5
#define TAPE_NONE        UINT32_MAX

enum tape_lane {
#define LANE(id, letter, is_stream, holds) TAPE_LANE_##id,
#include "trace/tape/tape_lanes.def"
#undef LANE
    TAPE_LANES
};

/* The columns of tape_lanes.def: */
char tape_lane_letter(enum tape_lane lane);
bool tape_lane_is_stream(enum tape_lane lane);
bool tape_lane_by_letter(char letter, enum tape_lane *ret); /* false: a lane of a later version */

/* How a record is stored, which is the first number of its row. */
enum tape_record_flag {
    TAPE_RECORD_RAW = 1 << 0,          /* no header: `meta` has the bytes as they were */
    TAPE_RECORD_PAYLOAD = 1 << 1,      /* a payload number follows */
    TAPE_RECORD_BAD_CHECKSUM = 1 << 2, /* has_payload is the MD5 of another text */
    TAPE_RECORD_NO_PAYLOAD = 1 << 3,   /* has_payload without a payload */
    TAPE_RECORD_ODD_HEADER = 1 << 4,   /* the header line follows as it was, as a payload number */
    TAPE_RECORD_ODD_PAYLOAD = 1 << 5,  /* the payload is stored as it was, with its TABs */
    TAPE_RECORD_CRLF = 1 << 6,         /* the header line ended in \r\n */
    TAPE_RECORD_NO_NEWLINE = 1 << 7,   /* the log ended without one */
    TAPE_RECORD_META_STORED = 1 << 8,  /* meta is a payload number, not bytes */
    TAPE_RECORD_UNANNOUNCED = 1 << 9,  /* a payload without has_payload */
    TAPE_RECORD_FLAGS = (1 << 10) - 1  /* all of them */
};

/* A record that is written to or read from a tape. On a tape it is: flags, recording, then
 * unless raw: level (1 byte), month_day, time_us and pid (zigzag, each the difference to the
 * preceding row of the block), path (string), path_line, event (string), context; then meta
 * (length and bytes, or a payload number), payload number if any, header's payload number if
 * odd, lines, bytes. */
struct tape_record {
    uint32_t flags;
    uint32_t recording;
    struct glog glog; /* path is not used when reading: path_id is */
    uint32_t path_id, event_id, context_id;
    struct str event;                        /* only for writing */
    struct str meta;                         /* stacks as references; bytes of a raw record */
    struct str context;                      /* only for writing */
    struct str payload;                      /* only for writing */
    struct str header;                       /* only for writing: the line, when odd */
    uint32_t meta_id, payload_id, header_id; /* payload numbers; only for reading */
    uint64_t lines, bytes;                   /* length in the log, payload included */
};

/* A row of the recordings lane. Of several rows with the same `index` the last one is valid. */
struct tape_recording {
    uint32_t index;
    uint32_t kind; /* enum recording_kind */
    bool complete; /* the input was read to its end */
    struct str name, source;
    uint64_t bytes;       /* length of the log */
    uint64_t input_bytes; /* length of the input file, which may be compressed */
    struct str damage;    /* why it is not complete; "" otherwise */
};

/* The place of one payload. */
struct tape_payload {
    uint8_t lane;
    uint64_t offset, size; /* in the lane's stream */
};

/* Figures of one part of the tape, for info. */
struct tape_part {
    uint64_t blocks, stored, content; /* `stored` is compressed, `content` is not */
};

#endif
