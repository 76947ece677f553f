/* The messages between symtape and its workers, over a worker's standard input and output
 * (symtape-worker(1) describes them). A message is a line of JSON and the bytes that it announces.
 *
 *     {"symtape-worker": 2, "version": "0.1"}                  the worker, first
 *     {"run": 7, "seconds": 30, "words": [...], ...}           a job: its number, and its files
 *     {"cancel": 7}
 *     {"end": 7, "status": 0, ..., "bytes": 12}                the worker: how the job ended
 *
 * Whoever reads a message trusts nothing in it: lines, numbers, bytes and names are bounded. */
#ifndef SYMTAPE_MINIFY_REMOTE_MESSAGE_H
#define SYMTAPE_MINIFY_REMOTE_MESSAGE_H

#include "minify/remote/job.h"
#include "trace/base/buf.h"

enum { WORKER_PROTOCOL = 2 };
enum { MESSAGE_LINE_MAX = 1 << 20, MESSAGE_BYTES_MAX = 256 << 20 };

enum message_kind { MESSAGE_HELLO, MESSAGE_RUN, MESSAGE_CANCEL, MESSAGE_END };

struct message {
    enum message_kind kind;
    uint64_t number;      /* of the job */
    uint64_t protocol;    /* MESSAGE_HELLO */
    struct job job;       /* MESSAGE_RUN; its texts are in its arena or borrow the text read */
    struct child_end end; /* MESSAGE_END */
    bool started;
    struct str error; /* why it did not start; in job.arena */
};
void message_release(struct message *message);

enum message_read { MESSAGE_READ, MESSAGE_PARTIAL, MESSAGE_BAD };
/* Reads the first message of a text and removes it from there. MESSAGE_PARTIAL: there is not enough
 * yet. MESSAGE_BAD: err says why; nothing else can be read then. */
enum message_read message_read(struct str *text, struct message *ret, struct err *err);

void message_print_hello(struct buf *out);
void message_print_run(const struct job *job, struct buf *out);
/* Returns whether a worker accepts the job: its bytes of files and its line have limits. Otherwise
 * err says what is too large. */
bool message_check_run(const struct job *job, struct err *err);
void message_print_cancel(uint64_t number, struct buf *out);
/* `error`: "" if it started. */
void message_print_end(uint64_t number, const struct child_end *end, struct str error,
                       struct buf *out);

#endif
