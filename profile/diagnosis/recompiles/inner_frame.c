#include "profile/diagnosis/recompiles/inner_frame.h"

#include "trace/events/user_line.h"

static struct str key_of(struct compiled_functions *functions, uint32_t recording, struct str file,
                         struct str function)
{
    buf_clear(&functions->key);
    buf_printf(&functions->key, "%u ", recording);
    buf_put(&functions->key, file);
    buf_putc(&functions->key, ' ');
    buf_put(&functions->key, function);
    return buf_str(&functions->key);
}

bool compiled_functions_read(struct finder *d, struct compiled_functions *ret)
{
    *ret = (struct compiled_functions){ 0 };
    for (uint32_t i = 0; i < d->p->n_compiles; i++) {
        const struct profile_compile *c = &d->p->compiles[i];
        if (c->function.n > 0 &&
            intern(&ret->names, key_of(ret, c->recording, c->file, c->function)) == INTERN_NONE)
            return err_nomem(&d->err);
    }
    return !ret->key.failed || err_nomem(&d->err);
}

void compiled_functions_release(struct compiled_functions *functions)
{
    intern_release(&functions->names);
    buf_release(&functions->key);
}

/* Sets the outermost function above a stack's innermost frame that was compiled, and the innermost
 * such frame as the place. */
static void find_above(struct finder *d, struct compiled_functions *functions, uint32_t recording,
                       stack_id stack, struct inner_frame *ret)
{
    enum { MOST_FRAMES = 4096 };
    const struct trace *trace = find_input(d, recording)->trace;
    uint32_t in = d->p->recordings[recording].recording;
    stack_id at = stack ? stack_parent(trace, stack) : 0;
    for (int i = 0; at != 0 && i < MOST_FRAMES; i++, at = stack_parent(trace, at)) {
        struct frame frame = stack_frame(trace, in, at);
        struct str key = key_of(functions, recording, frame.file, frame.function);
        if (frame.file.n == 0 || intern_find(&functions->names, key) == INTERN_NONE)
            continue;
        if (ret->outer.n == 0) {
            ret->file = frame.file;
            ret->line = frame.line;
        }
        function_resumes(frame.function, &ret->outer);
    }
    if (functions->key.failed)
        err_nomem(&d->err);
}

struct inner_frame inner_frame_find(struct finder *d, struct compiled_functions *functions,
                                    uint32_t compile)
{
    const struct profile_compile *c = &d->p->compiles[compile];
    struct trace *trace = find_input(d, c->recording)->trace;
    const struct attempt *a = &trace->attempts[c->first_attempt];
    struct str resumed;
    struct inner_frame ret = { 0 };
    struct json doc = { 0 };
    for (uint32_t i = 0; ret.outer.n == 0 && i < a->n_records; i++) {
        struct err unreadable = { 0 };
        if (trace->records[a->records[i]].event == EVENT_DYNAMO_START &&
            record_json(trace, a->records[i], &doc, &unreadable))
            find_above(d, functions, c->recording, record_stack(trace, &doc, STR("stack")), &ret);
    }
    json_release(&doc);
    if (function_resumes(c->function, &resumed))
        ret = (struct inner_frame){ ret.outer.n ? ret.outer : resumed, c->file, c->line };
    return ret;
}
