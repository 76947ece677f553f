#include "minify/search/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/harness.h"

static const struct journal_head head = { .program = { "0.1.0", 5 }, .oracle = { "check 12", 8 } };

static struct journal_record record_of(uint64_t i, enum verdict verdict)
{
    return (struct journal_record){ .hash = { .low = i, .high = ~i },
                                    .verdict = verdict,
                                    .attempts = 2,
                                    .worker = 3,
                                    .seconds = 0.0125,
                                    .node = STR("add_3"),
                                    .edits = STR("cut 3 1; bypass 4 2"),
                                    .signature = { .kind = STR("refused"),
                                                   .message = STR("a\tb \\n c"),
                                                   .op = STR("aten.view.default"),
                                                   .frame = STR("") },
                                    .text = STR("two\nlines \xff") };
}

static const char *write_three(const char *name)
{
    struct err err = ERR_INIT;
    struct cache cache = CACHE_INIT;
    struct journal_found found;
    const char *path = temp_path(name);
    unlink(path);
    struct journal *journal = journal_open(path, &head, JOURNAL_USE, &cache, &found, &err);
    assert_no_err(&err);
    for (uint64_t i = 0; i < 3; i++) {
        struct journal_record record = record_of(i, i ? VERDICT_BORING : VERDICT_INTERESTING);
        assert_true(journal_add(journal, &record, i == 1, &err));
    }
    struct journal_record again = record_of(0, VERDICT_INTERESTING);
    again.again = true;
    assert_true(journal_add(journal, &again, false, &err));
    assert_true(journal_sync(journal, &err));
    assert_true(journal_close(journal, &err));
    cache_release(&cache);
    return path;
}

static void keeps_answers(void **state)
{
    struct err err = ERR_INIT;
    struct cache cache = CACHE_INIT;
    struct journal_found found;
    (void)state;
    const char *path = write_three("keeps.journal");
    struct journal *journal = journal_open(path, &head, JOURNAL_USE, &cache, &found, &err);
    assert_no_err(&err);
    assert_int_equal(found.records, 4);
    assert_int_equal(found.damaged, 0);
    assert_false(found.torn);
    const struct cached_answer *known = cache_find(&cache, (struct cand_hash){ 0, ~UINT64_C(0) });
    assert_non_null(known);
    assert_int_equal(known->verdict, VERDICT_INTERESTING);
    assert_int_equal(known->attempts, 2);
    assert_int_equal(known->confirmed, 1);
    assert_true(known->resumed);
    assert_str_is(known->node, "add_3");
    assert_str_is(known->signature.kind, "refused");
    assert_str_is(known->signature.message, "a\tb \\n c");
    assert_str_is(known->signature.op, "aten.view.default");
    assert_str_is(known->signature.frame, "");
    assert_str_is(known->text, "two\nlines \xff");
    assert_true(known->seconds > 0.0124 && known->seconds < 0.0126);
    assert_null(cache_find(&cache, (struct cand_hash){ 9, 9 }));
    journal_close(journal, &err);
    cache_release(&cache);
}

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void damage_is_skipped(void **state)
{
    struct err err = ERR_INIT;
    struct journal_found found;
    (void)state;
    const char *path = write_three("damage.journal");
    struct buf text = read_file(path);
    append(path, "4\tnot a record\n5\ttorn");
    for (int run = 0; run < 2; run++) {
        struct cache cache = CACHE_INIT;
        struct journal *journal = journal_open(path, &head, JOURNAL_USE, &cache, &found, &err);
        assert_no_err(&err);
        assert_int_equal(found.records, 4);
        assert_int_equal(found.damaged, 1);
        assert_int_equal(found.torn, run == 0); /* it was cut off */
        journal_close(journal, &err);
        cache_release(&cache);
    }
    /* A changed byte anywhere costs the line that it is in, or is told. */
    for (size_t i = 0; i < text.n; i++) {
        struct cache cache = CACHE_INIT;
        FILE *file = fopen(path, "w");
        text.p[i] ^= 1;
        fwrite(text.p, 1, text.n, file);
        fclose(file);
        struct journal *journal = journal_open(path, &head, JOURNAL_USE, &cache, &found, &err);
        if (journal)
            assert_true(found.records == 3 || found.records == 2 || found.torn);
        else
            assert_true(err.kind == ERR_INPUT || err.kind == ERR_USAGE);
        err = ERR_INIT;
        journal_close(journal, &err);
        cache_release(&cache);
        text.p[i] ^= 1;
    }
    buf_release(&text);
}

static void refuses(const char *path, const struct journal_head *with, enum journal_mode mode,
                    enum err_kind kind, const char *why)
{
    struct err err = ERR_INIT;
    struct cache cache = CACHE_INIT;
    struct journal_found found;
    assert_null(journal_open(path, with, mode, &cache, &found, &err));
    assert_err(&err, kind, why);
    cache_release(&cache);
}

static void another_is_refused(void **state)
{
    const struct journal_head oracle = { .program = STR("0.1.0"), .oracle = STR("check 13") },
                              version = { .program = STR("0.2.0"), .oracle = STR("check 12") };
    struct err err = ERR_INIT;
    struct cache cache = CACHE_INIT;
    struct journal_found found;
    (void)state;
    const char *path = write_three("other.journal"), *text = temp_path("text");
    refuses(path, &oracle, JOURNAL_USE, ERR_USAGE, "another command");
    refuses(path, &version, JOURNAL_USE, ERR_USAGE, "by symtape 0.1.0, and this is 0.2.0");
    append(text, "hello\n");
    refuses(text, &head, JOURNAL_USE, ERR_INPUT, "not a journal");
    struct journal *journal = journal_open(path, &oracle, JOURNAL_REPLACE, &cache, &found, &err);
    assert_no_err(&err);
    assert_int_equal(found.records, 0);
    refuses(path, &oracle, JOURNAL_USE, ERR_USAGE, "another run uses this");
    struct journal_record record = record_of(1, VERDICT_INTERESTING);
    assert_true(journal_add(journal, &record, false, &err));
    journal_close(journal, &err);
    refuses(path, &head, JOURNAL_USE, ERR_USAGE, "another command");
    cache_release(&cache);
}

/* Without a single failure there is nothing to lose. */
static void empty_ones_go(void **state)
{
    const struct journal_head other = { .program = STR("0.1.0"), .oracle = STR("check 13") };
    struct err err = ERR_INIT;
    struct journal_found found;
    const char *path = temp_path("empty.journal");
    (void)state;
    for (int run = 0; run < 2; run++) {
        struct cache cache = CACHE_INIT;
        struct journal *journal = journal_open(path, &head, JOURNAL_USE, &cache, &found, &err);
        struct journal_record record = record_of(1, VERDICT_BORING);
        assert_no_err(&err);
        assert_int_equal(found.records, 0);
        assert_true(journal_add(journal, &record, false, &err));
        if (run == 0)
            assert_int_equal(link(path, temp_path("kept.journal")), 0);
        assert_true(journal_close(journal, &err));
        assert_int_not_equal(access(path, F_OK), 0);
        cache_release(&cache);
    }
    struct cache cache = CACHE_INIT;
    struct journal *journal =
        journal_open(temp_path("kept.journal"), &other, JOURNAL_USE, &cache, &found, &err);
    assert_no_err(&err);
    assert_int_equal(found.records, 0);
    journal_close(journal, &err);
    cache_release(&cache);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct cache cache = CACHE_INIT;
    struct journal_found found;
    struct journal_record record = record_of(7, VERDICT_OTHER);
    struct journal *journal = journal_open(arg, &head, JOURNAL_USE, &cache, &found, &err);
    bool good = journal && journal_add(journal, &record, false, &err);
    good = journal_close(journal, &err) && good;
    cache_release(&cache);
    assert_true(good != err_is_set(&err));
    return good;
}

static void memory_runs_out(void **state)
{
    (void)state;
    check_alloc_failures(attempt, (void *)write_three("memory.journal"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_answers),      cmocka_unit_test(damage_is_skipped),
        cmocka_unit_test(another_is_refused), cmocka_unit_test(empty_ones_go),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
