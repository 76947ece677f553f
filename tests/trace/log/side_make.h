/* Writes side files of deep recordings for the tests of those who read them. */
#ifndef SYMTAPE_TESTS_TRACE_LOG_SIDE_MAKE_H
#define SYMTAPE_TESTS_TRACE_LOG_SIDE_MAKE_H

#include "tests/harness.h"
#include "trace/log/deep/deep_format.h"

static inline void side_text(struct buf *out, const char *text)
{
    buf_le32(out, (uint32_t)strlen(text));
    buf_puts(out, text);
}

static inline struct buf side_start(uint64_t pid)
{
    struct deep_header header = { .magic = DEEP_MAGIC,
                                  .version = DEEP_VERSION,
                                  .byte_order = DEEP_BYTE_ORDER,
                                  .pid = pid,
                                  .start_us = 1700000000000000,
                                  .overhead_ns = 77,
                                  .lost = 2 };
    struct buf out = BUF_INIT;
    buf_put(&out, (struct str){ (const char *)&header, sizeof header });
    return out;
}

/* fields: as deep_format.def spells them; numbers are uint64_t, texts const char *. */
static inline void side_event(struct buf *out, enum deep_event_type type, const char *fields, ...)
{
    va_list args;
    size_t at = out->n;
    buf_le32(out, 0);
    buf_le32(out, (uint32_t)type | 1u << 16);
    va_start(args, fields);
    for (; *fields; fields++)
        if (*fields == '4')
            buf_le32(out, (uint32_t)va_arg(args, uint64_t));
        else if (*fields == '8')
            buf_le64(out, va_arg(args, uint64_t));
        else
            side_text(out, va_arg(args, const char *));
    va_end(args);
    uint32_t size = (uint32_t)(out->n - at);
    memcpy(out->p + at, &size, sizeof size);
    while (out->n % DEEP_ALIGN)
        buf_putc(out, 0);
    assert_false(out->failed);
}

#define N(number) ((uint64_t)(number))

/* A process with one attempt of compile 0/0: strings 1 aten.add.Tensor, 2 /a/m.py, 3 f, 4 y = x +
 * 1, 5 is_contiguous, 6 evaluate_expr, 7 orig_expr, 8 out; stack 1 is m.py:3, 2 a traceback of it.
 */
static inline struct buf side_compile(uint64_t pid)
{
    static const char *const strings[] = {
        "aten.add.Tensor", "/a/m.py",       "f",         "y = x + 1",
        "is_contiguous",   "evaluate_expr", "orig_expr", "out"
    };
    struct buf side = side_start(pid);
    side_event(&side, DEEP_PROCESS, "s",
               "{\"level\": \"all\", \"torch\": \"2.13\", \"log\": null, "
               "\"wrapped\": 3, \"not_wrapped\": []}");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        side_event(&side, DEEP_STRING, "4s", N(i + 1), strings[i]);
    side_event(&side, DEEP_CONTEXT, "488888", N(1), N(-1), N(0), N(0), N(0), N(5000));
    side_event(&side, DEEP_FRAME, "444444", N(1), N(1), N(2), N(3), N(3), N(4));
    side_event(&side, DEEP_STACK, "444", N(1), N(0), N(1));
    side_event(&side, DEEP_STACK_TEXT, "4s", N(2),
               "  File \"/a/m.py\", line 3, in f\n    y = x + 1\n");
    return side;
}

static inline void side_dispatch(struct buf *side, uint64_t order, uint64_t stack, uint64_t ns)
{
    side_event(side, DEEP_DISPATCH, "8444444444488", order, N(1), stack, N(1), N(0), N(1), N(5),
               N(0), N(1), N(0), N(0), ns, ns / 2);
}

#endif
