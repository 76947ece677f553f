/* A tree of guards up to a line "====", and calls after it: whatever they hold, each call has an
 * answer, or there is an error. */
#include "tests/fuzz/shared/walk.h"

#include "profile/calls/guards/entry_guards.h"
#include "profile/calls/tree/guard_owner.h"
#include "profile/calls/tree/merged_tree.h"
#include "trace/graph/traceback.h"

/* What passes with all guards passes without some of them, too. */
static void check_filter(struct call_log *log, struct str tree)
{
    struct world world = { .sources = &log->sources };
    struct entry_guards all = { 0 }, some = { 0 };
    struct err err = { .kind = ERR_NONE };
    const struct call_mode *mode = &log->calls.v[0].mode;
    bool removed[64], *unguarded;
    bool ok = world_enter(&world, &log->calls.v[0]) &&
              entry_guards_read(&all, tree, &world, mode, &err) &&
              entry_guards_read(&some, tree, &world, mode, &err) && all.leaves.n < 64;
    for (size_t i = 0; i < 64; i++)
        removed[i] = tree.n >> (i % 8) & 1;
    unguarded = calloc(some.managers.n + 1, 1);
    FUZZ_CHECK(!ok || entry_guards_remove(&some, removed, unguarded));
    free(unguarded);
    for (size_t i = 0; ok && i < log->calls.n; i++) {
        mode = &log->calls.v[i].mode;
        FUZZ_CHECK(world_enter(&world, &log->calls.v[i]));
        enum guards_verdict before = entry_guards_check(&all, &world, mode, true).verdict;
        enum guards_verdict after = entry_guards_check(&some, &world, mode, true).verdict;
        FUZZ_CHECK(before == GUARDS_FAIL || after != GUARDS_FAIL);
        FUZZ_CHECK(before != GUARDS_PASS || after == GUARDS_PASS);
    }
    entry_guards_release(&all);
    entry_guards_release(&some);
    world_release(&world);
}

static bool is_symbol(void *data, uint32_t source, uint32_t dim, int64_t before)
{
    (void)data;
    return (source + dim + (uint64_t)before) % 3 != 0;
}

/* Guards that are widened for a call pass. */
static void check_widened(struct call_log *log, struct str tree)
{
    struct world world = { .sources = &log->sources };
    struct entry_guards guards = { 0 };
    struct err err = { .kind = ERR_NONE };
    const struct size_policy policy = { is_symbol, NULL };
    bool ok = world_enter(&world, &log->calls.v[0]) &&
              entry_guards_read(&guards, tree, &world, &log->calls.v[0].mode, &err);
    for (size_t i = 0; ok && i < log->calls.n; i++) {
        const struct call_mode *mode = &log->calls.v[i].mode;
        bool widened;
        FUZZ_CHECK(world_enter(&world, &log->calls.v[i]));
        FUZZ_CHECK(entry_guards_widen(&guards, &world, mode, &policy, &widened));
        FUZZ_CHECK(widened ==
                   (entry_guards_check(&guards, &world, mode, false).verdict == GUARDS_PASS));
    }
    entry_guards_release(&guards);
    world_release(&world);
}

/* Merges a tree with its own second half: each line has an owner, and each use an entry. */
static void check_merged(struct str tree)
{
    struct merged_tree merged = { .several_processes = tree.n & 1 };
    struct intern owners = INTERN_INIT;
    struct err err = { .kind = ERR_NONE };
    size_t ends[MOST_OWNER_PARTS];
    FUZZ_CHECK(merged_tree_add(&merged, STR("0/0"), 0, tree, &owners, &err));
    FUZZ_CHECK(merged_tree_add(&merged, STR("0/1"), 1, str_from(tree, tree.n / 2), &owners, &err));
    FUZZ_CHECK(merged.uses.n ==
               (size_t)merged.entries.v[0].n_leaves + merged.entries.v[1].n_leaves);
    for (size_t i = 0; i < merged.leaves.n; i++) {
        const struct merged_leaf *leaf = &merged.leaves.v[i];
        FUZZ_CHECK(leaf->n_entries > 0 && leaf->n_entries <= 2);
        if (leaf->owner != INTERN_NONE)
            FUZZ_CHECK(owner_parts(intern_text(&owners, leaf->owner), ends) > 0);
    }
    merged_tree_release(&merged);
    intern_release(&owners);
}

static void check(struct call_log *log, struct str tree)
{
    struct world world = { .sources = &log->sources };
    struct entry_guards guards = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct buf reason = BUF_INIT;
    bool ok = log->calls.n && world_enter(&world, &log->calls.v[0]) &&
              entry_guards_read(&guards, tree, &world, &log->calls.v[0].mode, &err);
    for (size_t i = 0; ok && i < log->calls.n; i++) {
        FUZZ_CHECK(world_enter(&world, &log->calls.v[i]));
        buf_clear(&reason);
        struct guards_answer answer =
            entry_guards_check(&guards, &world, &log->calls.v[i].mode, i % 2);
        FUZZ_CHECK(!answer.no_memory);
        FUZZ_CHECK(entry_guards_explain(&guards, &world, &log->calls.v[i].mode, &answer, &reason));
        FUZZ_CHECK(!reason.failed);
        FUZZ_CHECK((answer.verdict == GUARDS_FAIL) == (reason.n > 0));
        bool assumed;
        uint32_t unlisted;
        FUZZ_CHECK(entry_guards_assumed(&guards, &world, buf_str(&reason), &assumed));
        FUZZ_CHECK(entry_guards_unlisted(&guards, &world, buf_str(&reason), &unlisted));
        FUZZ_CHECK(entry_guards_learn(&guards, &world));
    }
    FUZZ_CHECK(err.kind != ERR_ENV);
    buf_release(&reason);
    entry_guards_release(&guards);
    world_release(&world);
}

/* The lines as rows of a tape, each with calls whose objects have other numbers. */
static void check_recorded(struct str text)
{
    static const uint64_t TO[] = { 1, 1, 2, 0, 1000, UINT64_MAX - 2, 3 };
    enum { N = sizeof TO / sizeof *TO };
    static const struct str OPEN = { "{\"call\": 0", 10 };
    struct call_log log = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct call_reader *in = call_reader_new(&log);
    struct str line;
    FUZZ_CHECK(in);
    bool ok = true;
    for (uint32_t row = 0; ok && text_next_line(&text, &line); row++)
        for (uint32_t i = 0; ok && str_starts(line, OPEN) && i < N; i++) {
            struct recorded_call call = { .number = row * N + i,
                                          .backward_of = i % 3 == 2 ? row : RECORDED_NONE,
                                          .parent = i % 3 == 1 ? row : RECORDED_NONE,
                                          .row = row,
                                          .rest = str_from(line, OPEN.n),
                                          .first = 1,
                                          .n_new = 4,
                                          .to = TO[i] };
            ok = call_reader_recorded(in, &call, &err);
        }
    FUZZ_CHECK(ok || err.kind == ERR_INPUT);
    for (size_t i = 0; i < log.calls.n; i++)
        for (uint32_t k = 0; k < log.calls.v[i].n_values; k++)
            (void)program_call_value(&log.calls.v[i], k);
    call_reader_free(in);
    call_log_release(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct call_log log = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct str input = { (const char *)data, n };
    size_t end = str_find(input, STR("\n====\n"));
    if (call_log_read(&log, str_from(input, end + 6), &err))
        check(&log, str_first(input, end));
    if (log.calls.n) {
        check_filter(&log, str_first(input, end));
        check_widened(&log, str_first(input, end));
    }
    check_merged(str_first(input, end));
    check_recorded(str_from(input, end + 6));
    FUZZ_CHECK(err.kind == ERR_NONE || err.kind == ERR_INPUT);
    call_log_release(&log);
    return 0;
}
