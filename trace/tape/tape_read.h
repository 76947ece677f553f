/* Reading a tape: all tables at once, payloads on demand.
 *
 * tape_read() never refuses a tape for damage behind its header: frames that do not decode are left
 * out and listed in `damage`; rows that refer to something lost read as empty. ERR_INPUT only when
 * the file is no tape, or one of a newer version, or takes more memory than it may. */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_READ_H
#define SYMTAPE_TRACE_TAPE_TAPE_READ_H

#include "trace/tape/tape.h"

struct tape_damage {
    uint64_t offset; /* in the tape */
    struct str what;
};

struct stream_block {
    uint64_t first, count;   /* bytes of the lane's stream */
    uint64_t offset, stored; /* the frame in the tape */
};

enum { TAPE_CACHED_BLOCKS = 5 };

struct cached_block {
    const struct stream_block *block; /* NULL: empty */
    uint64_t used;                    /* when, for the least recent */
    struct buf content;
    size_t skip; /* bytes of the block's head */
};

struct tape {
    struct str bytes; /* borrowed: the whole file */
    struct arena arena;
    struct intern strings; /* texts only: not for look-ups */
    struct stack_table stacks;
    vec_of(struct str)
    contexts;
    vec_of(struct tape_payload)
    payloads;
    vec_of(struct tape_recording)
    recordings; /* one an index, the last row of each */
    vec_of(struct tape_record)
    records;
    vec_of(struct stream_block)
    streams[TAPE_LANES];
    vec_of(struct tape_damage)
    damage;
    struct tape_part parts[TAPE_LANES];
    uint64_t most;      /* that its tables may take */
    uint64_t taken;     /* by table blocks, decompressed, and by their rows */
    bool refused;       /* they would take more */
    uint64_t lost_rows; /* places filled in for what damaged blocks held */
    struct frame_codec *codec;
    struct cached_block cache[TAPE_CACHED_BLOCKS];
    uint64_t clock;
    struct buf joined[2]; /* payloads that go over a block's end */
};

/* Do these bytes (at least the first 32 of a file) start a tape? */
bool tape_recognise(struct str bytes);

/* What a tape may take where nobody says: so much, and a multiple of its file. */
#define TAPE_MEMORY_BASE  (UINT64_C(64) << 20)
#define TAPE_MEMORY_TIMES UINT64_C(1000)

/* `bytes` must outlive the tape. NULL on failure; ERR_INPUT, too, when its tables would take more
 * than `most` bytes: those that its index tells, before any is read, and those that are there. */
struct tape *tape_read(struct str bytes, uint64_t most, struct err *err);
void tape_close(struct tape *tape);

/* A payload by its number, valid until the second next call. */
bool tape_payload(struct tape *tape, uint32_t id, struct str *ret, struct err *err);
uint64_t tape_payload_size(const struct tape *tape, uint32_t id);
struct str tape_string(const struct tape *tape, uint32_t id); /* "" when there is none */

#endif
