#include "cmd/cli/place.h"

#include "profile/model/format.h"
#include "trace/selector.h"

/* More frames than any Python stack has; a longer chain is cut at its outer end. */
enum { STACK_MAX = 5000 };

static void frame_json(struct frame frame, struct json_writer *w, const char *key)
{
    json_open_object(w, key);
    json_put_str(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str(w, "function", frame.function);
    json_put_str(w, "code", frame.code);
    json_close(w);
}

void place_json(const struct trace *trace, uint32_t recording, stack_id stack,
                struct json_writer *w, const char *key)
{
    if (stack == 0)
        json_put_null(w, key);
    else
        frame_json(stack_frame(trace, recording, stack), w, key);
}

/* Writes the frames from the innermost outwards into `chain` and returns their number. */
static size_t chain_of(const struct trace *trace, stack_id stack, stack_id chain[STACK_MAX])
{
    size_t n = 0;
    for (; stack != 0 && n < STACK_MAX; stack = stack_parent(trace, stack))
        chain[n++] = stack;
    return n;
}

void place_stack_json(const struct trace *trace, uint32_t recording, stack_id stack,
                      struct json_writer *w, const char *key)
{
    stack_id chain[STACK_MAX];
    json_open_array(w, key);
    for (size_t n = chain_of(trace, stack, chain); n > 0; n--)
        frame_json(stack_frame(trace, recording, chain[n - 1]), w, NULL);
    json_close(w);
}

void place_stack(const struct trace *trace, uint32_t recording, stack_id stack, const char *indent,
                 struct buf *out)
{
    stack_id chain[STACK_MAX];
    for (size_t n = chain_of(trace, stack, chain); n > 0; n--) {
        struct frame frame = stack_frame(trace, recording, chain[n - 1]);
        buf_printf(out, "%sFile \"%.*s\", line %u, in %.*s\n", indent, STR_ARG(frame.file),
                   (unsigned)frame.line, STR_ARG(frame.function));
        if (frame.code.n)
            buf_printf(out, "%s  %.*s\n", indent, STR_ARG(frame.code));
    }
}

void place_attempt(const struct trace *trace, uint32_t attempt, struct buf *out)
{
    struct buf name = BUF_INIT;
    selector_print_attempt(trace, trace->attempts[attempt].recording, attempt, &name);
    struct str text = buf_str(&name);
    format_text(out, str_from(text, str_starts(text, STR(":"))), 0);
    out->failed |= name.failed;
    buf_release(&name);
}

void place_attempt_json(const struct trace *trace, uint32_t record, uint32_t attempt,
                        struct json_writer *w)
{
    uint32_t recording = trace->records[record].recording;
    json_put_str(w, "recording", trace->recordings[recording].name);
    if (attempt == TRACE_NONE) {
        json_put_null(w, "compile");
        json_put_null(w, "attempt");
        return;
    }
    json_put_str(w, "compile", trace->attempts[attempt].compile);
    json_put_u64(w, "attempt", trace->attempts[attempt].number);
}
