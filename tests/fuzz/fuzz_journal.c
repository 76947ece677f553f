/* The journal's reader: any text is read to its end, line by line; what reads as a record prints as
 * a line that reads as the same record. */
#include "tests/fuzz/fuzz.h"

#include "minify/search/journal.h"

static void check_record(const struct journal_record *record)
{
    struct buf line = BUF_INIT;
    struct journal_record again;
    journal_print(record, &line);
    FUZZ_CHECK(!line.failed);
    struct str text = buf_str(&line);
    FUZZ_CHECK(journal_next(&text, &again) == JOURNAL_RECORD && text.n == 0);
    FUZZ_CHECK(again.seq == record->seq && again.verdict == record->verdict &&
               again.again == record->again && again.attempts == record->attempts &&
               again.worker == record->worker && cand_hash_eq(again.hash, record->hash));
    FUZZ_CHECK(journal_next(&text, &again) == JOURNAL_END);
    buf_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct journal_head head;
    struct journal_record record;
    struct err err = { 0 };
    if (!journal_read_head(&text, &head, &err))
        text = (struct str){ (const char *)data, n };
    for (size_t before = text.n + 1; text.n < before;) {
        before = text.n;
        enum journal_line line = journal_next(&text, &record);
        if (line == JOURNAL_RECORD)
            check_record(&record);
        if (line == JOURNAL_END || line == JOURNAL_TORN)
            break;
    }
    return 0;
}
