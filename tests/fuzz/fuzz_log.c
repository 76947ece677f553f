/* The log splitter and the importer: any bytes with a record in them become a tape that reads, and
 * whose export is the bytes again. */
#include "tests/fuzz/shared/walk.h"

#include "trace/log/import.h"
#include "trace/log/source.h"

static void check_export(struct trace *trace, struct str log)
{
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    FUZZ_CHECK(trace->n_recordings == 1 && trace->recordings[0].complete);
    FUZZ_CHECK(export_log(trace, 0, (struct export_sink){ walk_keep, &out }, &err));
    FUZZ_CHECK(str_eq(buf_str(&out), log));
    buf_release(&out);
}

static void use_tape(const struct buf *tape, const struct import_result *result, struct str log,
                     bool is_plain)
{
    struct err err = { .kind = ERR_NONE };
    char path[32];
    int fd = walk_file(buf_str(tape), path);
    struct trace *trace = trace_open(path, NULL, &err);
    FUZZ_CHECK(trace);
    FUZZ_CHECK(trace_damage(trace, NULL, 0) == result->damaged);
    walk_trace(trace);
    if (is_plain)
        check_export(trace, log);
    trace_close(trace);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str log = { (const char *)data, n };
    enum source_kind kind = source_kind_of(str_first(log, SOURCE_KIND_BYTES));
    bool is_plain = kind == SOURCE_EMPTY || kind == SOURCE_LOG || kind == SOURCE_OTHER;
    struct import_result result;
    struct buf tape = BUF_INIT;
    char path[32];
    int fd = walk_file(log, path);
    bool imported = import_to_memory(path, NULL, NULL, &tape, &result, &err);
    FUZZ_CHECK(imported != err_is_set(&err));
    FUZZ_CHECK(imported || !is_plain || result.records == 0);
    if (imported)
        use_tape(&tape, &result, log, is_plain);
    import_result_release(&result);
    buf_release(&tape);
    close(fd);
    return 0;
}
