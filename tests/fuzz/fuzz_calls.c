/* A tree of guards up to a line "====", and calls after it: whatever they hold, each call has an
 * answer, or there is an error. */
#include "tests/fuzz/walk.h"

#include "profile/calls/guards/entry_guards.h"

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
            entry_guards_check(&guards, &world, &log->calls.v[i].mode, i % 2, &reason);
        FUZZ_CHECK(!answer.no_memory && !reason.failed);
        FUZZ_CHECK((answer.verdict == GUARDS_FAIL) == (reason.n > 0));
        entry_guards_assumed(&guards, &world, buf_str(&reason));
        FUZZ_CHECK(entry_guards_learn(&guards, &world));
    }
    FUZZ_CHECK(err.kind != ERR_ENV);
    buf_release(&reason);
    entry_guards_release(&guards);
    world_release(&world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct call_log log = { 0 };
    struct err err = { .kind = ERR_NONE };
    struct str input = { (const char *)data, n };
    size_t end = str_find(input, STR("\n====\n"));
    if (call_log_read(&log, str_from(input, end + 6), &err))
        check(&log, str_first(input, end));
    FUZZ_CHECK(err.kind == ERR_NONE || err.kind == ERR_INPUT);
    call_log_release(&log);
    return 0;
}
