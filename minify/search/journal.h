/* The journal: every answer of the oracle, on disk as soon as it is there.
 *
 *     symtape-journal 1 <tab> program <tab> oracle <tab> checksum
 *     1 <tab> hash <tab> verdict <tab> attempts <tab> ms <tab> worker <tab> node <tab> edits
 *       <tab> kind <tab> message <tab> operator <tab> frame <tab> text <tab> checksum
 *     ...
 *
 * Text, a record a line, appended with one write each, so that a process killed at any byte leaves
 * whole records and at most one torn line, which the next run cuts off. A record whose checksum
 * does not hold is skipped and counted. "again" for a verdict's prefix ("again-interesting") is a
 * result that was asked again (confirmation). One without a single failure is worth nothing: it is
 * removed at its end, and replaced by another oracle's without being asked.
 *
 * One run at a time: the file is locked while it is open. */
#ifndef SYMTAPE_MINIFY_SEARCH_JOURNAL_H
#define SYMTAPE_MINIFY_SEARCH_JOURNAL_H

#include "minify/minify.h"
#include "minify/search/answer_cache.h"

/* A record. The caller owns the texts of a record that it writes; texts of journal_next() point
 * into the text that is read. */
struct journal_record {
    uint64_t seq;
    struct cand_hash hash;
    enum verdict verdict;
    bool again; /* the confirmation of a result that was interesting before */
    uint32_t attempts, worker;
    double seconds;
    struct str node, edits;
    struct signature signature;
    struct str text;
    /* Read back, texts are as they were written, for journal_text(). */
};

struct journal_head {
    struct str program, oracle; /* its version; struct oracle's id */
};

void journal_print_head(const struct journal_head *head, struct buf *out);
void journal_print(const struct journal_record *record, struct buf *out);

enum journal_line { JOURNAL_END, JOURNAL_RECORD, JOURNAL_DAMAGED, JOURNAL_TORN };

/* A text of a record that was read, with its escapes resolved; appended to out. */
void journal_text(struct str field, struct buf *out);

/* Takes the head off the text. False with ERR_INPUT (not a journal, one of a later format). */
bool journal_read_head(struct str *text, struct journal_head *head, struct err *err);
/* Takes the next line off. JOURNAL_TORN: what is left has no end of line. */
enum journal_line journal_next(struct str *text, struct journal_record *record);

struct journal;

struct journal_found {
    uint64_t records; /* of an earlier run */
    uint64_t damaged; /* lines that were skipped */
    bool torn;        /* a last line was cut off */
};

/* Opens or begins it, and puts what it holds into the cache. NULL with ERR_USAGE when it is another
 * oracle's or version's (unless `mode` replaces it), or in use. */
struct journal *journal_open(const char *path, const struct journal_head *head,
                             enum journal_mode mode, struct cache *cache,
                             struct journal_found *found, struct err *err);
/* seq is filled in. With `lazy` the record may wait in memory for the next one that is not, or for
 * journal_sync(). */
bool journal_add(struct journal *journal, const struct journal_record *record, bool lazy,
                 struct err *err);
/* Flushes the journal to the disk (fsync). */
bool journal_sync(struct journal *journal, struct err *err);
/* NULL is fine. False when what was waiting could not be written. */
bool journal_close(struct journal *journal, struct err *err);

#endif
