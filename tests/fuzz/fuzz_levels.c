/* A log up to a line "====", and calls after it: whatever they hold, the caches and levels have an
 * answer that prints and adds up, or there is an error. */
#include "tests/fuzz/shared/walk.h"

#include "profile/calls/levels/levels_report.h"

static void print(const struct levels_run *run, const struct call_log *log)
{
    struct buf text = BUF_INIT;
    levels_text(run, log, &(struct report_options){ .limit = 5, .width = 60 }, &text);
    levels_json(run, log, &text);
    FUZZ_CHECK(!text.failed);
    buf_release(&text);
}

/* Each artifact is one compile; look-ups of a segment stand side by side and have one level. */
static void check(const struct levels_run *run)
{
    uint64_t compiles = 0, failed = 0;
    for (size_t i = 0; i < run->cache.lookups.n; i++) {
        const struct look_level *look = &run->levels.looks.v[i];
        failed += run->cache.lookups.v[i].outcome == LOOKUP_NO_ENTRY;
        if (look->group == CALL_NONE)
            continue;
        FUZZ_CHECK(look->group <= look->segment && look->segment <= i && look->level >= 1);
        FUZZ_CHECK(look->segment == i || (run->levels.looks.v[i - 1].segment == look->segment &&
                                          run->levels.looks.v[i - 1].level == look->level));
    }
    for (size_t i = 0; i < run->counts.n; i++)
        compiles += run->counts.v[i].levels;
    if (run->cache.backwards.n)
        compiles += run->backward.levels;
    FUZZ_CHECK(compiles == run->artifacts.n + failed);
    FUZZ_CHECK(run->asked.again <= run->asked.asked);
    for (size_t i = 0; i < run->artifacts.n; i++)
        FUZZ_CHECK(run->artifacts.v[i].first_part + run->artifacts.v[i].n_parts <=
                   run->artifact_parts.n);
    for (size_t i = 0; i < run->spared.n; i++)
        FUZZ_CHECK(run->spared.v[i].with < run->artifacts.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str input = { (const char *)data, n };
    struct call_log log = { 0 };
    struct levels_run run = { 0 };
    const struct cache_options options = { .what_if = n % 4 == 0 };
    size_t end = str_find(input, STR("\n====\n"));
    char path[32];
    int fd = walk_file(str_first(input, end + 1), path);
    struct trace *trace = trace_open(path, NULL, &err);
    if (trace && trace->n_recordings && call_log_read(&log, str_from(input, end + 6), &err) &&
        levels_run_make(&run, trace, 0, &log, &options, &err)) {
        check(&run);
        print(&run, &log);
    }
    FUZZ_CHECK(err.kind != ERR_ENV);
    levels_run_release(&run);
    call_log_release(&log);
    trace_close(trace);
    close(fd);
    return 0;
}
