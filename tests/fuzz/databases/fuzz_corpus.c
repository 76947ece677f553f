/* Any bytes read as a corpus: its tapes are listed and copied, and one of the queries that are
 * shipped runs. What the reader accepts, a writer accepts as well. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/corpus/corpus.h"
#include "profile/corpus/corpus_query.h"

static bool take_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    (void)sink, (void)table, (void)err;
    return true;
}

/* Reads the cells. */
static bool take_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    (void)sink, (void)err;
    FUZZ_CHECK(cells[0].null || cells[0].text.n == 0 || cells[0].text.p);
    return true;
}

static void copy_tapes(struct corpus_reader *reader)
{
    struct err err = { .kind = ERR_NONE };
    struct arena arena = ARENA_INIT;
    struct corpus_tapes tapes = { 0 };
    struct table_sink sink = { take_table, take_row, NULL };
    bool ok = corpus_reader_tapes(reader, &arena, &tapes, &err);
    FUZZ_CHECK(ok || err.kind == ERR_INPUT);
    for (uint64_t i = 0; ok && i < tapes.tapes.n && i < 100; i++)
        ok = corpus_reader_copy(reader, i, &sink, &err);
    FUZZ_CHECK(ok || err.kind == ERR_INPUT);
    vec_release(&tapes.tapes);
    arena_release(&arena);
}

static void run_query(const char *path, size_t n)
{
    enum { MS = 200, ROWS = 1000 };
    struct err err = { .kind = ERR_NONE };
    struct query query;
    size_t n_queries = 0;
    bool row = true;
    while (shipped_queries[n_queries].name)
        n_queries++;
    bool ok = query_open(&query, path, shipped_queries[n % n_queries].sql, MS, &err);
    for (size_t i = 0; ok && row && i < ROWS; i++) {
        ok = query_step(&query, &row, &err);
        for (int column = 0; ok && row && column < query.n_columns; column++)
            (void)query_cell(&query, column);
    }
    FUZZ_CHECK(ok || err_is_set(&err));
    query_close(&query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    char path[64];
    int fd = memfd_create("corpus", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct corpus_reader *reader = corpus_reader_open(path, &err);
    FUZZ_CHECK(!reader == err_is_set(&err));
    if (reader)
        copy_tapes(reader);
    corpus_reader_close(reader);
    run_query(path, n);
    close(fd);
    return 0;
}
