/* Logs for tests: written line by line, imported, opened, exported. */
#ifndef SYMTAPE_TESTS_TRACE_TAPE_LOG_MAKE_H
#define SYMTAPE_TESTS_TRACE_TAPE_LOG_MAKE_H

#include <string.h>

#include "tests/harness.h"
#include "trace/base/md5.h"
#include "trace/log/export.h"
#include "trace/log/import.h"
#include "trace/log/import_piece.h"
#include "trace/open.h"

#define PREFIX  "V1120 07:34:58.618000 673 torch/_dynamo/utils.py:2126] "
#define COMPILE "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"

/* The MD5 of a payload, as has_payload has it. */
static inline struct str log_md5(struct str payload, char hex[MD5_HEX])
{
    struct err err = ERR_INIT;
    struct md5 md5;
    unsigned char digest[MD5_BYTES];
    assert_true(md5_init(&md5, &err));
    md5_update(&md5, payload);
    assert_true(md5_final(&md5, digest, &err));
    md5_release(&md5);
    md5_hex(digest, hex);
    return (struct str){ hex, MD5_HEX };
}

/* A header line; `json` is what stands between the braces. */
static inline void log_line(struct buf *log, const char *json)
{
    buf_puts(log, PREFIX "{");
    buf_puts(log, json);
    buf_puts(log, "}\n");
}

/* A header line that announces its payload, and the payload. */
static inline void log_payload(struct buf *log, const char *json, struct str payload)
{
    char hex[MD5_HEX];
    buf_puts(log, PREFIX "{");
    buf_puts(log, json);
    buf_puts(log, ", \"has_payload\": \"");
    buf_put(log, log_md5(payload, hex));
    buf_puts(log, "\"}\n");
    import_put_tabs(payload, log);
    buf_putc(log, '\n');
}

static inline void put_file(const char *path, struct str bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.n ? bytes.p : "", 1, bytes.n, file), bytes.n);
    assert_int_equal(fclose(file), 0);
}

/* The tape of a log; the caller releases both. */
static inline struct buf import_text(struct str log, struct import_result *result)
{
    struct err err = ERR_INIT;
    struct buf tape = BUF_INIT;
    const char *path = temp_path("made.log");
    put_file(path, log);
    if (!import_to_memory(path, NULL, NULL, &tape, result, &err))
        fail_msg("%s", err.text);
    return tape;
}

static inline struct trace *open_bytes(struct str tape)
{
    struct err err = ERR_INIT;
    const char *path = temp_path("made.tape");
    put_file(path, tape);
    struct trace *trace = trace_open(path, NULL, &err);
    if (!trace)
        fail_msg("%s", err.text);
    return trace;
}

static inline struct trace *open_text(struct str log)
{
    struct import_result result;
    struct buf tape = import_text(log, &result);
    struct trace *trace = open_bytes(buf_str(&tape));
    import_result_release(&result);
    buf_release(&tape);
    return trace;
}

static inline bool write_to_test_buf(void *user, struct str bytes, struct err *err)
{
    (void)err;
    buf_put(user, bytes);
    return true;
}

/* What could be exported, and the error if any. */
static inline struct buf exported(struct trace *trace, uint32_t recording, struct err *err)
{
    struct buf out = BUF_INIT;
    export_log(trace, recording, (struct export_sink){ write_to_test_buf, &out }, err);
    return out;
}

static inline void check_bytes(struct str actual, struct str expected, const char *name)
{
    size_t i = 0;
    while (i < actual.n && i < expected.n && actual.p[i] == expected.p[i])
        i++;
    if (actual.n != expected.n || i < actual.n)
        fail_msg("%s: %zu bytes, not %zu, different from byte %zu on", name, actual.n, expected.n,
                 i);
}

/* Import, then export, is the identity. */
static inline void check_round_trip(struct str log, const char *name)
{
    struct err err = ERR_INIT;
    struct trace *trace = open_text(log);
    struct buf out = exported(trace, 0, &err);
    assert_no_err(&err);
    check_bytes(buf_str(&out), log, name);
    buf_release(&out);
    trace_close(trace);
}

#endif
