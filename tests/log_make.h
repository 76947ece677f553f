/* Writes small TORCH_TRACE logs for the tests of those who read them. */
#ifndef SYMTAPE_TESTS_LOG_MAKE_H
#define SYMTAPE_TESTS_LOG_MAKE_H

#include "tests/harness.h"
#include "trace/base/md5.h"
#include "trace/open.h"

struct log_make {
    struct buf text;
    const char *context; /* of the next records: "\"frame_id\": 0, \"frame_compile_id\": 0, ..." */
    uint64_t time_us;    /* since midnight, of the next record */
};

#define LOG_COMPILE(frame, compile, attempt) \
    "\"frame_id\": " #frame ", \"frame_compile_id\": " #compile ", \"attempt\": " #attempt

static inline struct log_make log_start(void)
{
    return (struct log_make){ .context = LOG_COMPILE(0, 0, 0), .time_us = 36000000000 };
}

static inline void log_payload(struct log_make *log, struct str payload)
{
    buf_putc(&log->text, '\t');
    for (size_t i = 0; i < payload.n; i++) {
        buf_putc(&log->text, payload.p[i]);
        if (payload.p[i] == '\n')
            buf_putc(&log->text, '\t');
    }
    buf_putc(&log->text, '\n');
}

/* One record; `meta` is `"event": {...}`; payload may be NULL. */
static inline void log_put(struct log_make *log, const char *meta, const char *payload)
{
    uint64_t s = log->time_us / 1000000;
    buf_printf(&log->text, "V1120 %02d:%02d:%02d.%06d 880 torch/a.py:1] {%s, %s", (int)(s / 3600),
               (int)(s / 60 % 60), (int)(s % 60), (int)(log->time_us % 1000000), meta,
               log->context);
    if (payload) {
        struct err err = ERR_INIT;
        struct md5 md5;
        unsigned char digest[MD5_BYTES];
        char hex[MD5_HEX];
        assert_true(md5_init(&md5, &err));
        md5_update(&md5, str_of(payload));
        assert_true(md5_final(&md5, digest, &err));
        md5_release(&md5);
        md5_hex(digest, hex);
        buf_printf(&log->text, ", \"has_payload\": \"%.*s\"", MD5_HEX, hex);
    }
    buf_puts(&log->text, "}\n");
    if (payload)
        log_payload(log, str_of(payload));
}

static inline void log_artifact(struct log_make *log, const char *name, const char *payload)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"artifact\": {\"name\": \"%s\", \"encoding\": \"string\"}", name);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, payload);
    buf_release(&meta);
}

/* A chromium event: `us` since an epoch that the log's clock has at midnight; `more` is further
 * members, each after a comma: ", \"tid\": 7". The log's clock goes along. */
static inline void log_phase(struct log_make *log, char phase, const char *name, const char *us,
                             const char *more)
{
    struct buf payload = BUF_INIT;
    buf_printf(&payload,
               "{\"name\": \"%s\", \"ts\": %s, \"ph\": \"%c\", \"cat\": \"dynamo_timed\"%s}", name,
               us, phase, more);
    buf_putc(&payload, '\0');
    log_put(log, "\"chromium_event\": {}", payload.p);
    buf_release(&payload);
}

/* Opens what was written, as a file, and lets go of the text. */
static inline struct trace *log_open(struct log_make *log)
{
    struct err err = ERR_INIT;
    const char *path = temp_path("made.log");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_false(log->text.failed);
    assert_int_equal(fwrite(log->text.p, 1, log->text.n, file), log->text.n);
    assert_int_equal(fclose(file), 0);
    buf_release(&log->text);
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    assert_non_null(trace);
    return trace;
}

#endif
