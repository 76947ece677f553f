/* A corpus: the tables of many tapes in one database of SQLite. The manual of profile/corpus.
 *
 *     struct corpus_writer *writer = corpus_writer_open("all.sqlite.partial", err);
 *     for each tape, in the order of corpus_tape_compare():
 *         struct table_sink *sink = corpus_writer_begin(writer, &tape, err);
 *         bool good = sink && tables_write(profile, sink, err);
 *         good = sink && sink->end(sink, good, err) && good;
 *     corpus_writer_close(writer, true, err);
 *
 * The tables are those of profile/tables, each with the column tape_id at its end; `tapes` has a
 * row for each tape, and `spans` says which ids a tape has in which table. Ids are unique in the
 * whole corpus, so that a query of one tape's tables gives the same of many.
 *
 * A tape's key is the SHA-256 of its file. Tapes are written in the order of their keys, and the
 * same tapes give the same bytes, whoever wrote them: a process that was killed and went on, or
 * several whose corpora were merged. Three things make that so. Rows are only ever appended.
 * Transactions, which SQLite counts in the file's header, end where the tapes say so. And a tape
 * that failed in the middle takes the file back to the last transaction.
 *
 * A corpus may be a stranger's. It is read by a connection that can only read (database.h), its
 * tables must be created by exactly our statements, and each number is checked. */
#ifndef SYMTAPE_PROFILE_CORPUS_CORPUS_H
#define SYMTAPE_PROFILE_CORPUS_CORPUS_H

#include "profile/tables/tables.h"
#include "trace/base/arena.h"
#include "trace/base/sha256.h"
#include "trace/base/vec.h"

/* One tape of a corpus. Empty texts are NULL in the file. */
struct corpus_tape {
    unsigned char key[SHA256_BYTES];
    struct str name;     /* the path as it was given */
    struct str model;    /* what tapes of several revisions have in common */
    struct str revision; /* of what was recorded: a commit, a date */
    uint64_t bytes;      /* of the file */
};

/* Compares the keys as memcmp() does. */
int corpus_tape_compare(const struct corpus_tape *a, const struct corpus_tape *b);
/* Returns whether all fields are the same. */
bool corpus_tape_same(const struct corpus_tape *a, const struct corpus_tape *b);

/* Returns in *ret whether a file begins as a database of SQLite does; one that does not exist does
 * not. ERR_ENV: it cannot be read. */
bool corpus_is_database(const char *path, bool *ret, struct err *err);

/* ---- Writing ---- */

struct corpus_writer;

/* Creates a corpus, or opens one to which tapes are appended after those that it has: the rest of
 * a transaction that was not ended is removed. Another process that writes the same file is an
 * error. ERR_INPUT: there is something else of that name. The path is borrowed. */
struct corpus_writer *corpus_writer_open(const char *path, struct err *err);
/* The number of tapes that it has. */
uint64_t corpus_writer_tapes(const struct corpus_writer *writer);

/* Begins a tape, whose key must be above that of the last one. The sink takes its rows. Its end()
 * does not free the writer; if it is not `good`, the writer can only be closed. */
struct table_sink *corpus_writer_begin(struct corpus_writer *writer, const struct corpus_tape *tape,
                                       struct err *err);

/* Ends the transaction and syncs the file, which can now be renamed: until corpus_writer_close(),
 * no other process writes it. Fails if the file has lost its name to another process. */
bool corpus_writer_finish(struct corpus_writer *writer, struct err *err);

/* Finishes if `good`, and unlocks the file; unless it was finished, it stays at the end of the last
 * transaction. Frees the writer. NULL is allowed if not good. */
bool corpus_writer_close(struct corpus_writer *writer, bool good, struct err *err);

/* ---- Reading ---- */

struct corpus_reader;

/* Opens a corpus; ERR_INPUT if it is none of this version, or damaged. */
struct corpus_reader *corpus_reader_open(const char *path, struct err *err);
void corpus_reader_close(struct corpus_reader *reader); /* NULL is allowed */

/* Appends its tapes, in the order of their keys. Texts are copied into the arena. */
struct corpus_tapes {
    vec_of(struct corpus_tape)
    tapes;
};
bool corpus_reader_tapes(struct corpus_reader *reader, struct arena *arena,
                         struct corpus_tapes *ret, struct err *err);

/* Passes the rows of the n-th tape (from 0) to a sink, with ids as tables_write() passes them. */
bool corpus_reader_copy(struct corpus_reader *reader, uint64_t n, struct table_sink *sink,
                        struct err *err);

#endif
