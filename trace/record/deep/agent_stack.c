/* Captures user stacks without formatting them.
 *
 * Which stack is the user's depends on what runs. While Dynamo traces, no frame of the user's
 * runs: TracingContext has the position in the traced code (frame_summary_stack, loc_in_frame;
 * torch/_guards.py). While an FX graph is interpreted, its node's stack_trace is used
 * (torch/fx/traceback.py, current_meta). Outside of a compile the running frames are: code
 * object and offset of the instruction, which packing turns into names. */
#include <dlfcn.h>
#include <string.h>

#include "trace/record/deep/agent.h"

enum { DEEPEST = 96, ASKER_STEPS = 24 };

/* Flags of a code object that on_code() returns. */
enum { CODE_OF_TORCH = 1, CODE_OF_SIZES = 2 /* SymInt's, ShapeEnv's own */ };

/* Functions that are not in the limited API, but exported since 3.9 and 3.11. */
static struct {
    PyFrameObject *(*back)(PyFrameObject *);
    int (*lasti)(PyFrameObject *);
    bool looked_up;
} frame_api;

static void look_up_functions(void)
{
    void *back = dlsym(RTLD_DEFAULT, "PyFrame_GetBack");
    void *lasti = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
    memcpy(&frame_api.back, &back, sizeof back);
    memcpy(&frame_api.lasti, &lasti, sizeof lasti);
    frame_api.looked_up = true;
}

static PyObject *caller_of(PyObject *frame)
{
    PyObject *ret = frame_api.back ? (PyObject *)frame_api.back((PyFrameObject *)frame)
                                   : PyObject_GetAttrString(frame, "f_back");
    if (!ret)
        PyErr_Clear();
    if (ret == Py_None) {
        Py_DECREF(ret);
        ret = NULL;
    }
    return ret;
}

static uint32_t offset_in(PyObject *frame)
{
    if (frame_api.lasti) {
        int offset = frame_api.lasti((PyFrameObject *)frame);
        return offset < 0 ? 0 : (uint32_t)offset;
    }
    PyObject *offset = PyObject_GetAttrString(frame, "f_lasti");
    long value = offset ? PyLong_AsLong(offset) : 0;
    PyErr_Clear();
    Py_XDECREF(offset);
    return value < 0 ? 0 : (uint32_t)value;
}

/* ------------------------------------------------------------------------------------------------
 * Frames and stacks by number. */

static uint32_t write_frame(uint32_t kind, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    struct event event;
    if (!event_begin(&event, DEEP_FRAME, 6 * 4))
        return 0;
    uint32_t id = ++agent.n_frames;
    const uint32_t fields[] = { id, kind, a, b, c, d };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        event_u32(&event, fields[i]);
    event_end(&event);
    return id;
}

static uint32_t child_stack(uint32_t parent, uint32_t frame)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    uint32_t id = (uint32_t)u64_find(&agent.stacks, key);
    struct event event;
    if (id || !frame || !event_begin(&event, DEEP_STACK, 12))
        return id ? id : parent;
    id = ++agent.n_stacks;
    event_u32(&event, id);
    event_u32(&event, parent);
    event_u32(&event, frame);
    event_end(&event);
    u64_add(&agent.stacks, key, id);
    return id;
}

/* ------------------------------------------------------------------------------------------------
 * Code objects. */

static size_t bytes_in(PyObject *object, char **ret)
{
    Py_ssize_t n = 0;
    *ret = NULL;
    if (!object || !PyBytes_Check(object) || PyBytes_AsStringAndSize(object, ret, &n) != 0) {
        PyErr_Clear();
        return 0;
    }
    return (size_t)n;
}

/* Writes a code object; `told` is (file, name, line table, first line, source, flags), where the
 * tables are bytes. */
static const struct ptr_slot *write_code(PyObject *code, PyObject *told)
{
    struct event event;
    char *lines, *source;
    if (!told || !PyTuple_Check(told) || PyTuple_Size(told) != 6)
        return NULL;
    uint32_t file = string_of(PyTuple_GetItem(told, 0)), name = string_of(PyTuple_GetItem(told, 1));
    size_t n_lines = bytes_in(PyTuple_GetItem(told, 2), &lines);
    uint32_t first = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(told, 3));
    size_t n_source = bytes_in(PyTuple_GetItem(told, 4), &source);
    uint32_t flags = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(told, 5));
    PyErr_Clear();
    if (!event_begin(&event, DEEP_CODE, 24 + n_lines + n_source))
        return NULL;
    uint32_t id = ++agent.n_codes;
    event_u32(&event, id);
    event_u32(&event, file);
    event_u32(&event, name);
    event_text(&event, lines, n_lines);
    event_u32(&event, first);
    event_text(&event, source, n_source);
    event_end(&event);
    return ptr_add(&agent.codes, code, id, flags) ? ptr_find(&agent.codes, code) : NULL;
}

static const struct ptr_slot *code_slot(PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    if (!code) {
        PyErr_Clear();
        return NULL;
    }
    const struct ptr_slot *slot = ptr_find(&agent.codes, code);
    if (!slot && agent.globals[AGENT_on_code]) {
        PyObject *told = PyObject_CallFunctionObjArgs(agent.globals[AGENT_on_code], code, NULL);
        if (!told)
            PyErr_Clear();
        slot = write_code(code, told);
        Py_XDECREF(told);
    }
    Py_DECREF(code); /* the table has a reference */
    return slot;
}

static uint32_t frame_at(uint32_t code, uint32_t offset)
{
    uint64_t key = (uint64_t)code << 32 | offset;
    uint32_t id = (uint32_t)u64_find(&agent.code_frames, key);
    if (!id) {
        id = write_frame(0, code, offset, 0, 0);
        if (id)
            u64_add(&agent.code_frames, key, id);
    }
    return id;
}

/* ------------------------------------------------------------------------------------------------
 * Frames that run. */

static uint32_t running_stack(void)
{
    uint64_t user[DEEPEST];
    size_t n = 0;
    if (!frame_api.looked_up)
        look_up_functions();
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
        const struct ptr_slot *code = code_slot(frame);
        if (code && !(code->flags & CODE_OF_TORCH) && n < DEEPEST)
            user[n++] = (uint64_t)code->id << 32 | offset_in(frame);
        PyObject *caller = caller_of(frame);
        Py_DECREF(frame);
        frame = caller;
    }
    uint32_t stack = 0;
    while (n > 0) {
        n--;
        stack = child_stack(stack, frame_at((uint32_t)(user[n] >> 32), (uint32_t)user[n]));
    }
    return stack;
}

uint32_t asker_now(void)
{
    if (!frame_api.looked_up)
        look_up_functions();
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    uint32_t ret = 0;
    Py_XINCREF(frame);
    for (int i = 0; frame && i < ASKER_STEPS; i++) {
        const struct ptr_slot *code = code_slot(frame);
        if (code && !(code->flags & CODE_OF_SIZES)) {
            ret = frame_at(code->id, offset_in(frame));
            break;
        }
        PyObject *caller = caller_of(frame);
        Py_DECREF(frame);
        frame = caller;
    }
    Py_XDECREF(frame);
    return ret;
}

/* ------------------------------------------------------------------------------------------------
 * Frames that are traced. */

static uint32_t write_traced(PyObject *file, PyObject *line, PyObject *function)
{
    PyObject *on_frame = agent.globals[AGENT_on_frame];
    PyObject *code = on_frame ? PyObject_CallFunctionObjArgs(on_frame, file, line, NULL) : NULL;
    if (!code)
        PyErr_Clear();
    uint32_t path = string_of(file), name = string_of(function), text = string_of(code);
    Py_XDECREF(code);
    unsigned long number = PyLong_Check(line) ? PyLong_AsUnsignedLong(line) : 0;
    PyErr_Clear();
    return write_frame(1, path, (uint32_t)number, name, text);
}

/* Returns the id of a frame; `where` is (file, line, function), as TracingContext's loc_in_frame
 * is. */
static uint32_t traced_frame(PyObject *where)
{
    if (!PyTuple_Check(where) || PyTuple_Size(where) != 3)
        return 0;
    PyObject *known = PyDict_GetItemWithError(agent.frames, where);
    if (known)
        return (uint32_t)PyLong_AsUnsignedLong(known);
    PyErr_Clear();
    uint32_t id = write_traced(PyTuple_GetItem(where, 0), PyTuple_GetItem(where, 1),
                               PyTuple_GetItem(where, 2));
    PyObject *number = PyLong_FromUnsignedLong(id);
    if (!number || PyDict_SetItem(agent.frames, where, number) != 0)
        PyErr_Clear();
    Py_XDECREF(number);
    return id;
}

static uint32_t summary_frame(PyObject *summary)
{
    const struct ptr_slot *known = ptr_find(&agent.summaries, summary);
    if (known)
        return known->id;
    PyObject *file = PyObject_GetAttrString(summary, "filename");
    PyObject *line = PyObject_GetAttrString(summary, "lineno");
    PyObject *name = PyObject_GetAttrString(summary, "name");
    PyObject *where = file && line && name ? PyTuple_Pack(3, file, line, name) : NULL;
    if (!where)
        PyErr_Clear();
    uint32_t id = where ? traced_frame(where) : 0;
    Py_XDECREF(where);
    Py_XDECREF(file);
    Py_XDECREF(line);
    Py_XDECREF(name);
    ptr_add(&agent.summaries, summary, id, 0);
    return id;
}

/* Returns the traced stack's id; 0: no user code is being traced. The last result is kept,
 * because the stack of one place is needed many times in a row. */
static uint32_t stack_of_tracing(PyObject *summaries, PyObject *loc)
{
    Py_ssize_t n = PyList_Check(summaries) ? PyList_Size(summaries) : 0;
    uint32_t stack = 0;
    if (loc != Py_None && loc == agent.last_loc && n == agent.last_depth)
        return agent.last_stack;
    for (Py_ssize_t i = 0; i < n; i++)
        stack = child_stack(stack, summary_frame(PyList_GetItem(summaries, i)));
    if (loc == Py_None)
        return stack;
    stack = child_stack(stack, traced_frame(loc));
    Py_INCREF(loc);
    Py_XDECREF(agent.last_loc);
    agent.last_loc = loc;
    agent.last_depth = n;
    agent.last_stack = stack;
    return stack;
}

static uint32_t traced_stack(void)
{
    PyObject *tls = agent.globals[AGENT_compile_tls];
    PyObject *tracing = tls ? agent_attribute(tls, ATTRIBUTE_tracing_context) : NULL;
    PyObject *loc = NULL, *summaries = NULL;
    uint32_t stack = 0;
    if (tracing && tracing != Py_None) {
        loc = agent_attribute(tracing, ATTRIBUTE_loc_in_frame);
        summaries = agent_attribute(tracing, ATTRIBUTE_frame_summary_stack);
        if (loc && summaries)
            stack = stack_of_tracing(summaries, loc);
    }
    PyErr_Clear();
    Py_XDECREF(loc);
    Py_XDECREF(summaries);
    Py_XDECREF(tracing);
    return stack;
}

/* ------------------------------------------------------------------------------------------------
 * Frames that an FX node remembers. */

uint32_t stack_of_text(PyObject *text)
{
    PyObject *known = PyDict_GetItemWithError(agent.texts, text);
    struct event event;
    Py_ssize_t n;
    if (known)
        return (uint32_t)PyLong_AsUnsignedLong(known);
    PyErr_Clear();
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &n);
    if (!bytes || !event_begin(&event, DEEP_STACK_TEXT, 8 + (size_t)n)) {
        PyErr_Clear();
        return 0;
    }
    uint32_t id = ++agent.n_stacks;
    event_u32(&event, id);
    event_text(&event, bytes, (size_t)n);
    event_end(&event);
    PyObject *number = PyLong_FromUnsignedLong(id);
    if (!number || PyDict_SetItem(agent.texts, text, number) != 0)
        PyErr_Clear();
    Py_XDECREF(number);
    return id;
}

static uint32_t node_stack(void)
{
    PyObject *globals = agent.globals[AGENT_fx_globals];
    PyObject *meta = globals ? agent_item(globals, ATTRIBUTE_current_meta) : NULL;
    PyObject *text = meta && PyDict_Check(meta) ? agent_item(meta, ATTRIBUTE_stack_trace) : NULL;
    return text && PyUnicode_Check(text) && PyUnicode_GetLength(text) > 0 ? stack_of_text(text) : 0;
}

uint32_t stack_now(uint32_t context)
{
    uint32_t stack = traced_stack();
    if (!stack)
        stack = node_stack();
    if (!stack && !context)
        stack = running_stack();
    return stack;
}
