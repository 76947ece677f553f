/* The trace room's manual: what PyTorch's compiler recorded, read from a tape.
 *
 *     struct trace *trace = trace_open("bert.tape", NULL, &err);
 *     for (uint32_t i = 0; i < trace->n_records; i++)
 *         if (trace->records[i].event == EVENT_CREATE_SYMBOL) ...
 *     trace_close(trace);
 *
 * Words. A *tape* holds *recordings*, one per log, that is per process or rank (or one
 * .pt2 archive). A *record* is one header line of a log with its *payload*. A *compile* is what one
 * compile id ("0/0") did in one recording, until torch._dynamo.reset() gives the id again; it has
 * *attempts*, and this interface numbers those: graphs, symbols and guards belong to an
 * attempt.
 *
 * Input. trace_open() takes a tape, or anything that symtape import takes (a log, plain, .zst or
 * .gz; a folder of logs; a .pt2; "-" for standard input), and recognizes it by content; everything
 * but a tape is imported into memory first, so that there is one way to read.
 *
 * Ownership. Everything belongs to the trace, and trace_close() frees it; pointers and struct str
 * stay valid until then, except where a call says otherwise. A trace is read-only once open; calls
 * that fill a cache (payloads, graphs) make it unfit for two threads at once.
 *
 * Damage. What could be read is read. What could not is a raw record (its bytes are kept) or a flag
 * on the record, and is counted in the recording; trace_damage() lists the places. */
#ifndef SYMTAPE_TRACE_OPEN_H
#define SYMTAPE_TRACE_OPEN_H

#include <stdio.h>

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/base/text/json.h"

#define TRACE_NONE UINT32_MAX

enum event {
    EVENT_RAW,   /* not a record: bytes kept as they were (damage, or foreign lines) */
    EVENT_OTHER, /* an event that events.def does not name */
#define EVENT(id, name) EVENT_##id,
#include "trace/events.def"
#undef EVENT
    EVENT_COUNT
};

/* A stack of call frames: an index into a trie over the whole tape; 0 is the empty stack. */
typedef uint32_t stack_id;

enum record_flag {
    RECORD_BAD_CHECKSUM = 1 << 0, /* the payload's MD5 is not the header's has_payload */
    RECORD_NO_PAYLOAD = 1 << 1,   /* the header has has_payload, but there is no payload */
    RECORD_ODD_LAYOUT =
        1 << 2, /* read, but not laid out as PyTorch does; its bytes are kept as well */
    RECORD_UNANNOUNCED = 1 << 3, /* a payload without has_payload */
    RECORD_LOST_META = 1 << 4,   /* the metadata is lost to damage of the tape; meta is "{}" */
};

/* One line of a log, with its payload. */
struct record {
    enum event event;
    uint32_t name;      /* id of the event's name, see trace_string(); TRACE_NONE when raw */
    struct str meta;    /* the event's metadata as JSON text; stacks in it are references, see
                           record_stack(). For a raw record: its bytes, maybe truncated to 64 KiB */
    uint32_t recording; /* index into recordings */
    uint32_t attempt;   /* index into attempts; TRACE_NONE when it names no compile */
    uint32_t context;   /* index into contexts */
    uint32_t payload;   /* for trace_payload(); TRACE_NONE when there is none */
    uint32_t flags;     /* enum record_flag */
    uint32_t path;      /* id of the path of the Python file that logged it, with its line */
    uint32_t path_line;
    uint16_t month_day; /* 1120 is 20 November; the header has no year and no zone */
    uint64_t time_us;   /* since local midnight */
    uint64_t pid;       /* thread id in logs of 2024 and before */
    uint64_t line;      /* its place in the log: line number from 1, byte offset from 0 */
    uint64_t offset;
};

/* The fields after the metadata in a header line; equal contexts are stored once. */
struct context {
    int64_t compiled_autograd_id, frame_id, frame_compile_id; /* -1: absent or null */
    int64_t rank;                                             /* -1: absent */
    int64_t attempt;                                          /* -1: absent, to be read as 0 */
    stack_id stack; /* the stack that logged a record which belongs to no compile */
};

enum recording_kind { RECORDING_LOG, RECORDING_PT2 };

struct recording {
    enum recording_kind kind;
    struct str name;   /* unique on the tape; what selectors name: "rank0", or from the file */
    struct str source; /* path it was read from, as given */
    int64_t rank;      /* -1: not distributed */
    uint64_t pid;      /* of its first record; 0 for .pt2 */
    struct str torch_version;         /* "" when the log does not say */
    uint32_t first_record, n_records; /* contiguous in records */
    uint64_t payloads;                /* number of records that have one */
    uint64_t damaged;                 /* number of places that could not be read correctly */
    uint64_t bytes;                   /* size of the (uncompressed, redacted) log */
    bool complete;                    /* import reached the end of the input */
};

enum attempt_status {
    ATTEMPT_OK,
    ATTEMPT_FAILED,
    ATTEMPT_RESTARTED, /* the same compile has a later attempt */
    ATTEMPT_UNFINISHED /* neither an end nor a next attempt was recorded */
};
const char *attempt_status_name(enum attempt_status status); /* "ok", "failed", ... */

/* One attempt of one compile. */
struct attempt {
    uint32_t recording;
    struct str compile; /* "0/0", "!1/0/0" with compiled autograd, as PyTorch's CompileId prints;
                           "0/0.1" when the id was given again after torch._dynamo.reset() */
    uint32_t number;    /* 0, 1, ... */
    enum attempt_status status;
    const uint32_t *records; /* indices into records, ascending */
    uint32_t n_records;
    uint32_t previous, next; /* attempts of the same compile; TRACE_NONE at the ends */
};

/* One frame of a Python stack. */
struct frame {
    uint32_t line;
    struct str function;
    struct str file; /* full path, resolved through its process's string table; "" if unknown */
    struct str code; /* source line; "" if it was not recorded */
};

struct trace {
    struct str path; /* as given to trace_open */
    const struct record *records;
    uint32_t n_records;
    const struct context *contexts;
    uint32_t n_contexts;
    const struct recording *recordings;
    uint32_t n_recordings;
    const struct attempt *attempts; /* in the order of their first record */
    uint32_t n_attempts;
    uint64_t tape_bytes;         /* size of the tape file; 0 when imported on the fly */
    struct trace_tables *tables; /* private */
};

struct trace_options {
    bool strict; /* any damage is an error (ERR_INPUT) */
    bool redact; /* of what is imported on the fly; a tape is as it is */
    /* NULL, or notified of what is read; it limits the memory for that (trace/log/source.h). */
    struct source_meter *meter;
};

/* Opens a trace. Returns NULL on failure. `options` may be NULL. */
struct trace *trace_open(const char *path, const struct trace_options *options, struct err *err);
/* The same of a file's bytes, which are copied; `name` stands where a path would. */
struct trace *trace_open_bytes(const char *name, struct str bytes,
                               const struct trace_options *options, struct err *err);
void trace_close(struct trace *trace); /* NULL is allowed */

/* Returns the text of a string id (event names, paths). */
struct str trace_string(const struct trace *trace, uint32_t id);
/* Returns the name of an event of events.def. */
struct str event_name(enum event event);
/* Writes "0/0" to `out` (at least 80 bytes) and returns it, or "" when the context names no
 * compile. */
struct str context_compile_id(const struct context *context, char *out);
/* Returns whether the names of two compiles are those of one function: "0/1" and "0/2". Those of
 * "0/1" and "0/1.1" are not: after torch._dynamo.reset() another function may get the frame id. */
bool compile_same_function(struct str a, struct str b);

/* Returns the payload's text, without TABs, with lines joined by '\n'. It is valid until the
 * second next call. The function returns false when there is none or the tape is damaged there
 * (then err is set). */
bool trace_payload(struct trace *trace, uint32_t record, struct str *ret, struct err *err);
/* Frees the memory of these texts, after which none of them is valid: for payloads of many
 * megabytes that are read once. */
void trace_forget_payloads(struct trace *trace);
/* Returns a copy of it in the caller's arena. */
bool trace_payload_copy(struct trace *trace, uint32_t record, struct arena *arena, struct str *ret,
                        struct err *err);
/* Returns the size of a record's payload in bytes, without reading it; 0 when there is none. */
uint64_t trace_payload_size(const struct trace *trace, uint32_t record);

/* Returns the microseconds from one record to another. Records have a time of day
 * and no date, so that a step back of more than half a day is a new day. */
int64_t record_us_between(const struct trace *trace, uint32_t from, uint32_t to);

/* Parses the metadata of a record into `doc`, whose memory is used again. Returns false with err
 * set when it is not JSON. */
bool record_json(const struct trace *trace, uint32_t record, struct json *doc, struct err *err);
/* Returns the stack under `key` ("stack", "user_stack") of metadata read by record_json(); 0
 * when absent. */
stack_id record_stack(struct trace *trace, const struct json *doc, struct str key);

/* Returns a stack's parent. A node is the innermost frame; its parent is the caller's. The
 * parent of 0 is 0. */
stack_id stack_parent(const struct trace *trace, stack_id stack);
uint32_t stack_depth(const struct trace *trace, stack_id stack);
/* Returns the innermost frame as process `recording` recorded it. All fields are empty for stack
 * 0. */
struct frame stack_frame(const struct trace *trace, uint32_t recording, stack_id stack);
/* Returns an id of the frame's text alone, which is the same wherever the frame occurs, for
 * caches by frame. It is at most trace_n_frames(), which means an unknown frame. */
uint32_t stack_frame_id(const struct trace *trace, stack_id stack);
uint32_t trace_n_stacks(const struct trace *trace); /* ids are below this */
uint32_t trace_n_frames(const struct trace *trace); /* ids of known frames are below this */

/* One damaged place. */
struct damage {
    uint32_t recording; /* TRACE_NONE: the tape itself */
    struct str source;  /* path of the log, or of the tape */
    uint64_t line;      /* 0: see the offset instead */
    uint64_t offset;
    struct str what; /* "payload does not match its checksum", ... */
};
/* Returns a description of a record's damage, or NULL when it is intact. */
const char *record_damage(const struct trace *trace, uint32_t record);
/* Lists at most `max` places; returns how many there are in all. */
uint64_t trace_damage(const struct trace *trace, struct damage *ret, uint64_t max);

#endif
