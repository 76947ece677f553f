#include "trace/events/guards.h"

#include "trace/tables.h"

const char *guard_kind_name(enum guard_kind kind)
{
    static const char *const names[GUARD_KINDS] = { "guard", "suppressed", "assert" };
    return kind < GUARD_KINDS ? names[kind] : "";
}

const char *guard_class_name(enum guard_class class_)
{
    static const char *const names[GUARD_CLASSES] = { "kernel", "torch function", "dynamo",
                                                      "backend", "user" };
    return class_ < GUARD_CLASSES ? names[class_] : "";
}

enum { SKIP = GUARD_CLASSES, UNKNOWN };

static const struct {
    struct str part;
    uint8_t class_;
} files[] = {
#define GUARD_FILE(part, class_) { { part, sizeof part - 1 }, class_ },
#include "trace/events/guard_classes.def"
#undef GUARD_FILE
};

/* Returns whether `part` occurs in the path at the beginning of a component. */
static bool has_component(struct str path, struct str part)
{
    for (size_t at = 0; at < path.n; at++) {
        at += str_find(str_from(path, at), part);
        if (at >= path.n)
            return false;
        if (at == 0 || path.p[at - 1] == '/')
            return true;
    }
    return false;
}

static uint8_t class_of_file(struct str path)
{
    if (!has_component(path, STR("torch/")))
        return GUARD_BY_USER;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (has_component(path, files[i].part))
            return files[i].class_;
    return GUARD_BY_TORCH_FUNCTION;
}

struct guard_builder {
    struct trace *trace;
    struct json doc;
    struct guard *guards;
    uint8_t *classes; /* class + 1 by frame, for one recording's first process */
    uint32_t recording;
};

/* Returns the class of a frame. Processes that share a log number their files independently, so
 * a frame's text alone does not determine its class. */
static uint8_t class_of_frame(struct guard_builder *b, stack_id stack)
{
    if (b->trace->tables->tape->stacks.nodes.v[stack].space)
        return class_of_file(stack_frame(b->trace, b->recording, stack).file);
    uint8_t *known = &b->classes[stack_frame_id(b->trace, stack)];
    if (*known == 0)
        *known = (uint8_t)(class_of_file(stack_frame(b->trace, b->recording, stack).file) + 1);
    return (uint8_t)(*known - 1);
}

/* Of the backend's passes, _tensorify_python_scalars.py looks at nothing but a graph's calls. Of
 * Dynamo's frames, run_node and _get_fake_value_impl of torch/_dynamo/utils.py make calls (they
 * are the askers for builtin functions, which have no frame), and
 * remove_tensorify_specialized_graphargs of output_graph.py replaces arguments. */
static bool is_of_graph(const struct guard_builder *b, const struct guard *guard)
{
    struct frame frame = { 0 };
    if (guard->asked_by == GUARD_BY_KERNEL || guard->asked_by == GUARD_BY_TORCH_FUNCTION)
        return true;
    frame = stack_frame(b->trace, b->recording, guard->asker);
    if (guard->asked_by == GUARD_BY_BACKEND)
        return str_ends(frame.file, STR("torch/fx/passes/_tensorify_python_scalars.py"));
    return str_ends(frame.file, STR("torch/_dynamo/utils.py")) ||
           str_is(frame.function, "remove_tensorify_specialized_graphargs");
}

/* The formulas of torch/csrc/autograd have no frames: their conditions are asked from the function
 * of torch/autograd/graph.py that runs the engine. */
static bool is_of_formula(const struct guard_builder *b, const struct guard *guard)
{
    return guard->asked_by == GUARD_BY_TORCH_FUNCTION &&
           str_is(stack_frame(b->trace, b->recording, guard->asker).function,
                  "_engine_run_backward");
}

/* Python code needs the number of a symbol (range(), int()) where SymNode.guard_int or guard_float
 * of torch/fx/experimental/sym_node.py asks; a condition is asked by guard_bool. */
static bool needs_value(const struct guard_builder *b, const struct guard *guard)
{
    bool ret = false;
    for (stack_id at = guard->stack; at && at != guard->asker && !ret;
         at = stack_parent(b->trace, at)) {
        struct str function = stack_frame(b->trace, b->recording, at).function;
        ret = str_is(function, "guard_int") || str_is(function, "guard_float");
    }
    return ret;
}

/* Returns the frame of Dynamo that calls operators on a fake tensor without a node of the graph, or
 * 0: tolist() within TensorVariable.method_tolist of torch/_dynamo/variables/tensor.py iterates
 * over its tensor, and the graph holds the items that it finds. Frames of eval_frame.py are
 * wrappers of operators. */
static stack_id iterating_frame(struct guard_builder *b, stack_id at)
{
    for (; at; at = stack_parent(b->trace, at)) {
        if (class_of_frame(b, at) != GUARD_BY_DYNAMO)
            continue;
        struct frame frame = stack_frame(b->trace, b->recording, at);
        if (str_ends(frame.file, STR("torch/_dynamo/eval_frame.py")))
            continue;
        bool iterates = str_is(frame.function, "tolist") &&
                        str_ends(frame.file, STR("torch/_dynamo/variables/tensor.py"));
        return iterates ? at : 0;
    }
    return 0;
}

/* Sets who asked, in a frame of a class. */
static void set_asker(struct guard_builder *b, struct guard *guard, stack_id at, uint8_t class_)
{
    bool may_iterate = class_ == GUARD_BY_KERNEL || class_ == GUARD_BY_TORCH_FUNCTION;
    stack_id iterating = may_iterate ? iterating_frame(b, at) : 0;
    guard->asked_by = iterating ? GUARD_BY_DYNAMO : (enum guard_class)class_;
    guard->asker = iterating ? iterating : at;
}

static void find_asker(struct guard_builder *b, struct guard *guard)
{
    guard->asked_by = GUARD_BY_USER;
    for (stack_id at = guard->stack; at; at = stack_parent(b->trace, at)) {
        uint8_t class_ = class_of_frame(b, at);
        if (class_ == SKIP)
            continue;
        set_asker(b, guard, at, class_);
        guard->of_graph = is_of_graph(b, guard);
        guard->of_formula = is_of_formula(b, guard);
        guard->of_value = !guard->of_graph && needs_value(b, guard);
        return;
    }
}

/* Returns the kind by the first argument that the frame passes to _log_guard. Where its line was
 * recorded without the arguments (a call over several lines), the enclosing method's name shows
 * asserts. */
static enum guard_kind kind_of_frame(const struct frame *frame)
{
    struct str call = str_from(frame->code, str_find(frame->code, STR("_log_guard")));
    if (str_find(call, STR("runtime_assert")) < call.n)
        return GUARD_RUNTIME_ASSERT;
    if (str_find(call, STR("suppressed")) < call.n)
        return GUARD_SUPPRESSED;
    bool told = str_find(call, STR("eval")) < call.n;
    return !told && str_ends(frame->function, STR("defer_runtime_assert")) ? GUARD_RUNTIME_ASSERT
                                                                           : GUARD_EVAL;
}

static enum guard_kind guard_kind_of(struct guard_builder *b, stack_id stack)
{
    for (int i = 0; stack && i < 8; i++, stack = stack_parent(b->trace, stack)) {
        struct frame frame = stack_frame(b->trace, b->recording, stack);
        if (str_find(frame.code, STR("_log_guard(")) < frame.code.n)
            return kind_of_frame(&frame);
    }
    return GUARD_EVAL;
}

static bool add_recorded_guard(struct guard_builder *b, uint32_t record, struct guard *guard)
{
    json_id expr = json_get(&b->doc, JSON_ROOT, STR("expr"));
    *guard = (struct guard){ .record = record, .attempt = b->trace->records[record].attempt };
    guard->expr = json_decoded(&b->doc, expr, &b->trace->tables->arena);
    guard->stack = record_stack(b->trace, &b->doc, STR("stack"));
    guard->user_stack = record_stack(b->trace, &b->doc, STR("user_stack"));
    guard->kind = guard_kind_of(b, guard->stack);
    find_asker(b, guard);
    return guard->expr.p != NULL;
}

static void use_recording(struct guard_builder *b, uint32_t recording)
{
    if (b->recording != recording)
        memset(b->classes, 0, trace_n_frames(b->trace) + 1);
    b->recording = recording;
}

static bool read_guards(struct guard_builder *b, struct guard_list *list, struct err *err)
{
    struct trace *trace = b->trace;
    for (uint32_t i = 0; i < trace->n_records; i++) {
        bool readable;
        if (trace->records[i].event != EVENT_GUARD_ADDED_FAST)
            continue;
        use_recording(b, trace->records[i].recording);
        if (!record_try_json(trace, i, &b->doc, &readable, err))
            return false;
        if (!readable)
            continue;
        if (!add_recorded_guard(b, i, &b->guards[list->n]))
            return err_nomem(err);
        list->by_kind[b->guards[list->n++].kind]++;
    }
    return true;
}

const struct guard_list *trace_guards(struct trace *trace, struct err *err)
{
    struct trace_tables *tables = trace->tables;
    struct guard_builder b = { .trace = trace, .recording = TRACE_NONE };
    size_t n = 1;
    if (tables->guards)
        return tables->guards;
    for (uint32_t i = 0; i < trace->n_records; i++)
        n += trace->records[i].event == EVENT_GUARD_ADDED_FAST;
    struct guard_list *list = arena_new(&tables->arena, struct guard_list);
    b.guards = arena_array(&tables->arena, struct guard, n);
    b.classes = arena_array(&tables->arena, uint8_t, trace_n_frames(trace) + 1);
    bool ok = (list && b.guards && b.classes) || err_nomem(err);
    ok = ok && read_guards(&b, list, err);
    json_release(&b.doc);
    if (!ok)
        return NULL;
    list->guards = b.guards;
    return tables->guards = list;
}

/* Returns whether a word is a symbol's name: s, u, zf, zuf and i of SymT
 * (torch/utils/_sympy/symbol.py), then digits. */
static bool is_symbol_name(struct str word)
{
    static const char *const prefixes[] = { "zuf", "zf", "s", "u", "i" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str rest = str_from(word, strlen(prefixes[i]));
        uint64_t ignored;
        if (str_starts(word, str_of(prefixes[i])) && str_to_u64(rest, &ignored))
            return true;
    }
    return false;
}

void guard_symbols(struct str expr, void (*fn)(void *user, struct str symbol), void *user)
{
    struct intern seen = INTERN_INIT;
    for (size_t at = 0; at < expr.n;) {
        size_t n = 0;
        while (at + n < expr.n && is_word_char(expr.p[at + n]))
            n++;
        struct str word = { expr.p + at, n };
        if (n && is_symbol_name(word) && intern_find(&seen, word) == INTERN_NONE) {
            fn(user, word);
            (void)intern(&seen, word); /* when memory ran out a symbol may be reported twice */
        }
        at += n ? n : 1;
    }
    intern_release(&seen);
}
