/* Private to profile/corpus: the statements that create a corpus, and its own two tables. */
#ifndef SYMTAPE_PROFILE_CORPUS_CORPUS_SCHEMA_H
#define SYMTAPE_PROFILE_CORPUS_CORPUS_SCHEMA_H

#include "profile/corpus/corpus.h"
#include "profile/corpus/database.h"

/* "symt", in the header of the file. */
#define CORPUS_APPLICATION "1937337716"

/* Columns of `tapes`, in their order. */
enum { TAPES_ID, TAPES_KEY, TAPES_NAME, TAPES_MODEL, TAPES_REVISION, TAPES_BYTES };

/* A row of `spans`: a tape's ids of a table are from `first` on, fewer than `count`. Its own id is
 * corpus_span_id(). Tables without a key have rowids instead. */
struct corpus_span {
    int64_t first, count;
};

/* n: of the tape, from 0. */
static inline int64_t corpus_span_id(uint64_t n, enum export_table table)
{
    return (int64_t)(n * TABLES + (uint64_t)table + 1);
}

/* Creates the tables. */
bool corpus_schema_create(struct database *database, struct err *err);
/* Fails with ERR_INPUT if the database has anything else than these tables. */
bool corpus_schema_check(struct database *database, struct err *err);

/* Appends the tapes of a database, whose schema was checked, as corpus_reader_tapes() does. */
bool corpus_tapes_read(struct database *database, struct arena *arena, struct corpus_tapes *ret,
                       struct err *err);

/* Prepares the statement that read a span, and reads one with it: false with ERR_INPUT if it is
 * not there. */
void *corpus_span_statement(struct database *database, struct err *err);
bool corpus_span_read(struct database *database, void *statement, uint64_t n,
                      enum export_table table, struct corpus_span *ret, struct err *err);

#endif
