#include "prove/validate/unbounded.h"

#include "trace/events/result_name.h"
#include "trace/events/user_line.h"

/* Finds the line of the program that made a symbol. Of a symbol that was not replayed, the range is
 * not known: a size that depends on data has one, and a number that item() reads has none. */
static bool find_frame(const struct trace *trace, uint32_t recording, struct validate_unbounded *u)
{
    u->frame = stack_frame(trace, recording, user_program_line(trace, recording, u->user_stack));
    return user_file_of(u->frame.file) != USER_FILE_TORCH && !str_starts(u->frame.file, STR("<")) &&
           (u->is_replayed || str_contains(u->frame.code, STR(".item()")));
}

static bool is_listed(const struct validate_unbounded *list, size_t n, struct frame frame)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].frame.line == frame.line && str_eq(list[i].frame.file, frame.file))
            return true;
    return false;
}

static bool put_check(struct validate_unbounded *u, struct arena *arena)
{
    struct buf text = BUF_INIT;
    buf_puts(&text, "torch._check(");
    if (!result_put_name(u->frame.code, STR(".item()"), &text))
        buf_put(&text, u->symbol);
    buf_puts(&text, " >= 0)");
    u->check = arena_copy(arena, buf_str(&text));
    bool ok = !text.failed && u->check.p;
    buf_release(&text);
    return ok;
}

bool unbounded_describe(const struct trace *trace, uint32_t attempt,
                        struct validate_unbounded *list, size_t *n, struct arena *arena)
{
    uint32_t recording = trace->attempts[attempt].recording;
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; i < *n && ok; i++) {
        if (!find_frame(trace, recording, &list[i]) || is_listed(list, kept, list[i].frame))
            continue;
        list[kept] = list[i];
        ok = put_check(&list[kept++], arena);
    }
    *n = kept;
    return ok;
}
