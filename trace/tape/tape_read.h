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
    uint64_t used; /* time of the last use, to find the least recently used one */
    struct buf content;
    size_t skip; /* number of bytes of the block's head */
};

struct tape {
    struct str bytes; /* borrowed; the whole file */
    struct arena arena;
    struct intern strings; /* only for reading texts, not for look-ups */
    struct stack_table stacks;
    vec_of(struct str)
    contexts;
    vec_of(struct tape_payload)
    payloads;
    vec_of(struct tape_recording)
    recordings; /* one for each index: its last row */
    vec_of(struct tape_record)
    records;
    vec_of(struct stream_block)
    streams[TAPE_LANES];
    vec_of(struct tape_damage)
    damage;
    struct tape_part parts[TAPE_LANES];
    uint64_t most;      /* limit on the memory for its tables */
    uint64_t taken;     /* memory for decompressed table blocks and their rows */
    bool refused;       /* they would need more than the limit */
    uint64_t lost_rows; /* number of rows that replace those of damaged blocks */
    struct frame_codec *codec;
    struct cached_block cache[TAPE_CACHED_BLOCKS];
    uint64_t clock;
    struct buf joined[2]; /* payloads that span several blocks */
};

/* Returns whether these bytes (at least the first 32 of a file) start a tape. */
bool tape_recognise(struct str bytes);

/* The default limit on memory for a tape: a constant, plus a multiple of the file's size. */
#define TAPE_MEMORY_BASE  (UINT64_C(64) << 20)
#define TAPE_MEMORY_TIMES UINT64_C(1000)

/* Reads a tape. `bytes` must outlive it. It returns NULL on failure, also with ERR_INPUT when
 * its tables would need more than `most` bytes: those that the index lists, which is checked
 * before any is read, and those that are in the file. */
struct tape *tape_read(struct str bytes, uint64_t most, struct err *err);
void tape_close(struct tape *tape);

/* Returns a payload by its number; it is valid until the second next call. */
bool tape_payload(struct tape *tape, uint32_t id, struct str *ret, struct err *err);
void tape_forget_payloads(struct tape *tape); /* trace_forget_payloads() */
uint64_t tape_payload_size(const struct tape *tape, uint32_t id);
struct str tape_string(const struct tape *tape, uint32_t id); /* "" when there is none */

#endif
