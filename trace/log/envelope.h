/* The JSON of a header line, taken apart (trace_structured() in torch/_logging/_internal.py):
 *
 *     {"create_symbol": {"symbol": "s77", ..., "stack": [...]}, "frame_id": 0, "has_payload":
 * "..."} event            metadata                             context
 *
 * Stacks go to the stack table and leave a reference (JSON_REF_MARK and the node's number) in the
 * text; the checksum, when it is the payload's own, leaves ENVELOPE_MD5_MARK in the context, so
 * that equal contexts are equal texts. Event, metadata and context put together again, with the
 * stacks and the checksum printed, are the line's JSON, unless `odd`. */
#ifndef SYMTAPE_TRACE_LOG_ENVELOPE_H
#define SYMTAPE_TRACE_LOG_ENVELOPE_H

#include "trace/base/text/json.h"
#include "trace/tape/stacks.h"

enum { ENVELOPE_MD5_MARK = 2 };

struct envelope {
    struct str event;    /* the event's name, as it is encoded */
    struct str meta;     /* JSON; its stacks are references */
    struct str context;  /* from the end of the metadata to the end: ", "frame_id": 0, ...}" */
    struct str checksum; /* the text of has_payload, lower-case hex; "" when there is none */
    bool odd; /* spacing or order is unusual: printing the parts would not give the line */
};

struct envelope_reader {
    struct buf text;    /* the line with its stacks replaced; meta and context point into it */
    struct buf context; /* a context that was assembled from several places of the line */
    uint32_t root;      /* the root of the stack tree, see stacks_root() */
    struct json doc;
};

void envelope_release(struct envelope_reader *reader);

/* Splits `json` into its parts, which are valid until the next call. Returns false, with err
 * set, when `json` is no envelope (ERR_INPUT "offset N: ...") or memory ran out. */
bool envelope_read(struct envelope_reader *reader, struct stack_table *stacks, struct str json,
                   struct envelope *ret, struct err *err);

/* Replaces the checksum in a context by ENVELOPE_MD5_MARK, which is what the tape stores when
 * the checksum is right. */
void envelope_mark_checksum(const struct envelope *envelope, struct buf *out);

/* Prints `text` (metadata or a context) with its stacks written out, and the checksum `md5_hex`
 * at its mark. Returns false, with part of it printed, as soon as `out` is longer than `most`
 * bytes. */
bool envelope_expand(const struct stack_table *stacks, struct str text, struct str md5_hex,
                     size_t most, struct buf *out);

#endif
