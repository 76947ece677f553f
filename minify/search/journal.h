/* The journal stores every answer of the oracle on disk at once.
 *
 *     symtape-journal 1 <tab> program <tab> oracle <tab> checksum
 *     1 <tab> hash <tab> verdict <tab> attempts <tab> ms <tab> worker <tab> node <tab> edits
 *       <tab> kind <tab> message <tab> operator <tab> frame <tab> text <tab> checksum
 *     ...
 *
 * It is text with one record a line. Each record is appended with one write, so a process that is
 * killed leaves whole records and at most one incomplete line, which the next run removes. A record
 * with a wrong checksum is skipped and counted. The prefix "again" of a verdict
 * ("again-interesting") marks a result that was asked again (confirmation). A journal without any
 * failure is useless: it is removed at the end of the run, and another oracle replaces it.
 *
 * Only one run may use a journal: the file is locked while it is open. */
#ifndef SYMTAPE_MINIFY_SEARCH_JOURNAL_H
#define SYMTAPE_MINIFY_SEARCH_JOURNAL_H

#include "minify/minify.h"
#include "minify/search/answer_cache.h"

/* A record. The caller owns the texts of a record that it writes; the texts of journal_next() point
 * into its argument. */
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
    /* The texts of a record that was read are still escaped: see journal_text(). */
};

struct journal_head {
    struct str program, oracle; /* the program's version; the id of struct oracle */
};

void journal_print_head(const struct journal_head *head, struct buf *out);
void journal_print(const struct journal_record *record, struct buf *out);

enum journal_line { JOURNAL_END, JOURNAL_RECORD, JOURNAL_DAMAGED, JOURNAL_TORN };

/* Appends a text of a record that was read, with its escapes resolved. */
void journal_text(struct str field, struct buf *out);

/* Reads the head and removes it from the text. Returns false with ERR_INPUT (no journal, or one of
 * a later format). */
bool journal_read_head(struct str *text, struct journal_head *head, struct err *err);
/* Reads the next line and removes it from the text. JOURNAL_TORN: the rest has no end of line. */
enum journal_line journal_next(struct str *text, struct journal_record *record);

struct journal;

struct journal_found {
    uint64_t records; /* of earlier runs */
    uint64_t damaged; /* lines that were skipped */
    bool torn;        /* the last line was incomplete and was removed */
};

/* Opens or begins a journal and adds its records to the cache. Returns NULL with ERR_USAGE if it
 * belongs to another oracle or version (unless `mode` replaces it), or is in use. */
struct journal *journal_open(const char *path, const struct journal_head *head,
                             enum journal_mode mode, struct cache *cache,
                             struct journal_found *found, struct err *err);
/* Adds a record and sets its number. With `lazy` the record may wait in memory for the next one
 * that is not lazy, or for journal_sync(). */
bool journal_add(struct journal *journal, const struct journal_record *record, bool lazy,
                 struct err *err);
/* Flushes the journal to the disk (fsync). */
bool journal_sync(struct journal *journal, struct err *err);
/* Closes a journal; NULL is fine. Returns false if waiting records could not be written. */
bool journal_close(struct journal *journal, struct err *err);

#endif
