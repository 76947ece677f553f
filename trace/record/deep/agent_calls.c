/* The calls of compiled functions that are as the calls before them. The Python part (calls.py)
 * knows what a call is and writes its row; for a call that an entry answers with the arguments and
 * the state of the last one that it answered, what calls.py would find is found here, without
 * running Python code. In each other case nothing is changed and the function of calls.py is
 * called. */
#include <string.h>
#include <time.h>

#include "trace/record/deep/agent.h"

#include <structmember.h>

/* A call that runs: the class Call of calls.py. */
struct call {
    PyObject_HEAD PyObject *number, *objects, *looked, *compiles, *refused, *mode, *entry, *region,
        *backend, *backward_of, *numbers;
    long long frame, outer, first, n;
    double began;
    long shift, compiling;
    char armed;
};

/* What calls.py passes to watch_calls(), and what it tells of the run of equal calls at work.
 * Python code that is called from here may let another thread call watch_calls(): what is used
 * meanwhile is held with a reference of our own. */
static struct {
    uint64_t recording;                       /* how often watching was stopped */
    bool prepared;                            /* else prepare() comes first */
    PyObject *thread;                         /* threading.local: stack, done */
    PyObject *numbers;                        /* iterator */
    PyObject *objects;                        /* Objects */
    PyObject *hit, *end, *name_backend;       /* functions for what is not done here */
    PyObject *inference, *region, *functions; /* functions of torch._C */
    PyObject *prepare;                        /* calls watch_calls() */
    PyObject *start_eval, *set_eval;          /* PyTorch's functions */
    PyObject *wrapper_code;                   /* of compile_wrapper() */
    PyObject *call_type, *objects_type;
    bool active;
    uint64_t dropped;

    PyObject *callback, *backend; /* of the last call: a weak reference, and the backend's name */

    PyObject *run_key; /* NULL: no run */
    long long run_next, run_first, run_left;
    Py_ssize_t run_new;
    double run_until, run_seconds;
    long long run_added;
} calls;

/* Members of tuples that Python made: the order is that of call_values.py and calls.py. */
enum { KEY_SIZE = 1, KEY_STRIDE, KEY_OFFSET, KEY_DTYPE, KEY_DEVICE, KEY_GRAD, KEY_LEAF };
enum { KEY_NUMBER = 10, KEY_PLAIN = 2, KEY_PARTS = 2, KEY_OBJECT = 3 };
enum { CALL_WHERE = 4, CALL_MODE, CALL_RAISED, CALL_ROOT, CALL_FRAMES };
enum { LOOKUP_MODULE = 3, LOOKUP_TRAINING, LOOKUP_ARGS, LOOKUP_STATE };

/* The texts that are compared often, made once. */
#define NAMES(NAME)                       \
    NAME(stack)                           \
    NAME(done)                            \
    NAME(storage_offset)                  \
    NAME(requires_grad)                   \
    NAME(is_leaf)                         \
    NAME(__dict__)                        \
    NAME(shape)                           \
    NAME(stride)                          \
    NAME(dtype)                           \
    NAME(device)                          \
    NAME(is_inference)                    \
    NAME(training)                        \
    NAME(self)                            \
    NAME(last)                            \
    NAME(key)                             \
    NAME(root)                            \
    NAME(mode)                            \
    NAME(sources)                         \
    NAME(states)                          \
    NAME(_dynamo_dynamic_indices)         \
    NAME(_dynamo_weak_dynamic_indices)    \
    NAME(_dynamo_unbacked_indices)        \
    NAME(_dynamo_strict_unbacked_indices) \
    NAME(_dynamo_static_indices)          \
    NAME(_dynamo_static_input_type)

enum name {
#define NAME(text) NAME_##text,
    NAMES(NAME)
#undef NAME
        NAME_COUNT
};

enum { FIRST_MARK = NAME__dynamo_dynamic_indices };

static PyObject *names[NAME_COUNT];

static bool make_names(void)
{
    static const char *const texts[] = {
#define NAME(text) #text,
        NAMES(NAME)
#undef NAME
    };
    for (int i = 0; i < NAME_COUNT; i++)
        if (!names[i] && !(names[i] = PyUnicode_InternFromString(texts[i])))
            return false;
    return true;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_none(const PyObject *object)
{
    return !object || object == Py_None;
}

static void replace(PyObject **place, PyObject *object)
{
    PyObject *old = *place;
    Py_XINCREF(object);
    *place = object;
    Py_XDECREF(old);
}

/* Calls a function that may be replaced while it runs, with the arguments before the first NULL. */
static PyObject *call_held(PyObject *function, PyObject *a, PyObject *b, PyObject *c, PyObject *d)
{
    Py_INCREF(function);
    PyObject *ret = PyObject_CallFunctionObjArgs(function, a, b, c, d, NULL);
    Py_DECREF(function);
    return ret;
}

static bool is_interrupted(void)
{
    return PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception);
}

/* An exception of ours is cleared and counted. Returns false if the exception is the program's own,
 * an interrupt, which is kept. */
static bool forgive(void)
{
    if (is_interrupted())
        return false;
    if (PyErr_Occurred()) {
        PyErr_Clear();
        calls.dropped++;
    }
    return true;
}

/* Has an interrupt raised again as soon as this thread runs Python code: PyTorch clears what a
 * guard raises, and compiles anew (LAMBDA_GUARD in torch/csrc/dynamo/guards.cpp). */
static void raise_later(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* ------------------------------------------------------------------------------------------------
 * Call. */

static struct call *call_make(PyObject *number, long long frame, PyObject *objects,
                              PyObject *backend)
{
    struct call *call = PyObject_New(struct call, (PyTypeObject *)calls.call_type);
    if (!call)
        return NULL;
    memset((char *)call + sizeof(PyObject), 0, sizeof *call - sizeof(PyObject));
    Py_INCREF(number);
    call->number = number;
    call->frame = frame;
    replace(&call->objects, objects);
    replace(&call->backend, backend ? backend : Py_None);
    call->first = objects_next(objects);
    call->looked = PyList_New(0);
    call->numbers = PyList_New(0);
    call->compiles = PyTuple_New(0);
    call->refused = PyTuple_New(0);
    if (call->looked && call->numbers && call->compiles && call->refused)
        return call;
    Py_DECREF(call);
    return NULL;
}

/* Call(number, frame, objects, backend=None) */
static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *number, *frame, *objects, *backend = NULL;
    (void)type, (void)kwargs;
    if (!PyArg_ParseTuple(args, "OOO|O", &number, &frame, &objects, &backend))
        return NULL;
    if ((PyObject *)Py_TYPE(objects) != calls.objects_type)
        return PyErr_Format(PyExc_TypeError, "Call(): objects are of another class");
    long long id = frame == Py_None ? 0 : PyLong_AsLongLong(frame);
    return PyErr_Occurred() ? NULL : (PyObject *)call_make(number, id, objects, backend);
}

static void call_free(PyObject *self)
{
    struct call *call = (struct call *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(call->number);
    Py_XDECREF(call->objects);
    Py_XDECREF(call->looked);
    Py_XDECREF(call->compiles);
    Py_XDECREF(call->refused);
    Py_XDECREF(call->mode);
    Py_XDECREF(call->entry);
    Py_XDECREF(call->region);
    Py_XDECREF(call->backend);
    Py_XDECREF(call->backward_of);
    Py_XDECREF(call->numbers);
    PyObject_Free(self);
    Py_DECREF(type);
}

#define CALL_MEMBER(name, type)                           \
    {                                                     \
#name, type, offsetof(struct call, name), 0, NULL \
    }

static PyMemberDef call_members[] = {
    CALL_MEMBER(number, T_OBJECT),  CALL_MEMBER(objects, T_OBJECT),
    CALL_MEMBER(looked, T_OBJECT),  CALL_MEMBER(compiles, T_OBJECT),
    CALL_MEMBER(refused, T_OBJECT), CALL_MEMBER(mode, T_OBJECT),
    CALL_MEMBER(entry, T_OBJECT),   CALL_MEMBER(region, T_OBJECT),
    CALL_MEMBER(backend, T_OBJECT), CALL_MEMBER(backward_of, T_OBJECT),
    CALL_MEMBER(numbers, T_OBJECT), CALL_MEMBER(frame, T_LONGLONG),
    CALL_MEMBER(outer, T_LONGLONG), CALL_MEMBER(first, T_LONGLONG),
    CALL_MEMBER(n, T_LONGLONG),     CALL_MEMBER(began, T_DOUBLE),
    CALL_MEMBER(shift, T_LONG),     CALL_MEMBER(compiling, T_LONG),
    CALL_MEMBER(armed, T_BOOL),     { 0 },
};

static PyType_Slot call_slots[] = {
    { Py_tp_new, AGENT_SLOT(call_new) },
    { Py_tp_dealloc, AGENT_SLOT(call_free) },
    { Py_tp_members, call_members },
    { 0, NULL },
};

static PyType_Spec call_spec = {
    .name = "_symtape_deep.Call",
    .basicsize = sizeof(struct call),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = call_slots,
};

bool agent_add_calls(PyObject *module)
{
    return make_names() &&
           agent_add_class(module, "Call", calls.call_type = PyType_FromSpec(&call_spec)) &&
           agent_add_class(module, "Objects", calls.objects_type = agent_objects_type());
}

/* A list of this thread, a new reference; NULL when there is none. */
static PyObject *list_of_thread(enum name name)
{
    PyObject *local = calls.thread;
    if (!local)
        return NULL;
    Py_INCREF(local);
    PyObject *list = PyObject_GetAttr(local, names[name]);
    Py_DECREF(local);
    if (!list || PyList_Check(list))
        return list;
    Py_DECREF(list);
    return NULL;
}

/* Returns the last call of a stack, borrowed; NULL when there is none. */
static struct call *last_call(PyObject *stack)
{
    Py_ssize_t n = stack ? PyList_Size(stack) : 0;
    PyObject *call = n > 0 ? PyList_GetItem(stack, n - 1) : NULL;
    return call && (PyObject *)Py_TYPE(call) == calls.call_type ? (struct call *)call : NULL;
}

static int remove_last(PyObject *stack)
{
    Py_ssize_t n = PyList_Size(stack);
    return PyList_SetSlice(stack, n - 1, n, NULL);
}

/* Returns the innermost call of this thread, borrowed from its stack, which is a new reference;
 * both are NULL when there is none. */
static struct call *innermost_call(PyObject **stack)
{
    *stack = list_of_thread(NAME_stack);
    return last_call(*stack);
}

/* ------------------------------------------------------------------------------------------------
 * Whether a value has the key that an argument had before. 1 yes, 0 no, -1 an exception. */

static int is_equal(PyObject *value, PyObject *expected)
{
    return value == expected ? 1 : PyObject_RichCompareBool(value, expected, Py_EQ);
}

/* `value`: a new reference, which is released; NULL after an exception. */
static int made_is_equal(PyObject *value, PyObject *expected)
{
    int ret = value ? is_equal(value, expected) : -1;
    Py_XDECREF(value);
    return ret;
}

static int attribute_is(PyObject *value, enum name name, PyObject *expected)
{
    return made_is_equal(PyObject_GetAttr(value, names[name]), expected);
}

/* The number of an object as keys have it: -1, -2, ... for those that no earlier call had. */
static int number_is(struct call *call, PyObject *value, PyObject *expected)
{
    long long next = objects_next(call->objects), number = object_number(call->objects, value);
    if (number == OBJECT_FAILED)
        return -1;
    if (number == OBJECT_UNNUMBERED)
        return expected == Py_None;
    if (expected == Py_None)
        return 0;
    if (number >= call->first) {
        Py_ssize_t n = PyList_Size(call->numbers), at = number >= next ? n : 0;
        while (at < n && PyLong_AsLongLong(PyList_GetItem(call->numbers, at)) != number)
            at++;
        PyObject *added = at == n ? PyLong_FromLongLong(number) : NULL;
        int failed = at == n && (!added || PyList_Append(call->numbers, added) < 0);
        Py_XDECREF(added);
        if (failed)
            return -1;
        number = -1 - at;
    }
    long long key = PyLong_AsLongLong(expected);
    return PyErr_Occurred() ? -1 : key == number;
}

/* Whether a tensor has no mark of torch._dynamo (mark_dynamic() and others). */
static int has_no_marks(PyObject *value)
{
    PyObject *extra = PyObject_GetAttr(value, names[NAME___dict__]);
    int ret = extra ? PyDict_Check(extra) : -1;
    if (ret > 0 && PyDict_Size(extra) > 0)
        for (int i = FIRST_MARK; ret > 0 && i < NAME_COUNT; i++)
            ret = PyDict_GetItemWithError(extra, names[i]) ? 0 : PyErr_Occurred() ? -1 : 1;
    Py_XDECREF(extra);
    return ret;
}

static PyObject *call_method(PyObject *value, enum name name)
{
    return PyObject_CallMethodObjArgs(value, names[name], NULL);
}

/* `fixed`: the guards compared sizes, strides, dtype and device with constants. */
static int is_tensor_again(struct call *call, bool fixed, PyObject *key, PyObject *value)
{
    int same = 1;
    PyObject *leaf = PyTuple_GetItem(key, KEY_LEAF);
    bool inference = leaf && PyUnicode_Check(leaf); /* made in inference mode */
    if (!fixed) {
        same = attribute_is(value, NAME_shape, PyTuple_GetItem(key, KEY_SIZE));
        if (same > 0)
            same = attribute_is(value, NAME_dtype, PyTuple_GetItem(key, KEY_DTYPE));
        if (same > 0)
            same = attribute_is(value, NAME_device, PyTuple_GetItem(key, KEY_DEVICE));
        if (same > 0)
            same = made_is_equal(call_method(value, NAME_stride), PyTuple_GetItem(key, KEY_STRIDE));
        if (same > 0)
            same = made_is_equal(call_method(value, NAME_is_inference),
                                 inference ? Py_True : Py_False);
    }
    if (same > 0)
        same = made_is_equal(call_method(value, NAME_storage_offset),
                             PyTuple_GetItem(key, KEY_OFFSET));
    PyObject *grad = PyTuple_GetItem(key, KEY_GRAD);
    if (same > 0)
        same = attribute_is(value, NAME_requires_grad, grad);
    /* Each tensor that requires no gradient is a leaf. */
    if (same > 0 && grad != Py_False)
        same = attribute_is(value, NAME_is_leaf, inference ? Py_True : leaf);
    if (same > 0)
        same = has_no_marks(value);
    return same > 0 ? number_is(call, value, PyTuple_GetItem(key, KEY_NUMBER)) : same;
}

static int is_again(struct call *call, long kind, PyObject *part, PyObject *key, PyObject *value);

/* `part`: (type, [(kind, part), ...]). */
static int is_list_again(struct call *call, PyObject *part, PyObject *key, PyObject *value)
{
    PyObject *parts = PyTuple_GetItem(part, 1);
    Py_ssize_t n = parts ? PyList_Size(parts) : -1;
    if ((PyObject *)Py_TYPE(value) != PyTuple_GetItem(part, 0) || n < 0)
        return PyErr_Occurred() ? -1 : 0;
    bool is_list = PyList_Check(value);
    if ((is_list ? PyList_Size(value) : PyTuple_Size(value)) != n)
        return 0;
    int same = 1;
    for (Py_ssize_t i = 0; same > 0 && i < n; i++) {
        PyObject *item = is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i);
        PyObject *below = PyList_GetItem(parts, i), *of_item = PyTuple_GetItem(key, KEY_PARTS + i);
        if (!item || !below || !of_item)
            return -1;
        Py_INCREF(item);
        same = is_again(call, PyLong_AsLong(PyTuple_GetItem(below, 0)), PyTuple_GetItem(below, 1),
                        of_item, item);
        Py_DECREF(item);
    }
    call->n += same > 0 ? n : 0;
    return same;
}

/* `kind`, `part`: as Values.check_of() of call_values.py makes them. The depth is that of keys. */
static int is_again(struct call *call, long kind, PyObject *part, PyObject *key, PyObject *value)
{
    if (kind == AGAIN_LIST)
        return is_list_again(call, part, key, value);
    if ((PyObject *)Py_TYPE(value) != part)
        return 0;
    switch (kind) {
    case AGAIN_FIXED:
    case AGAIN_TENSOR: return is_tensor_again(call, kind == AGAIN_FIXED, key, value);
    case AGAIN_PLAIN: return is_equal(value, PyTuple_GetItem(key, KEY_PLAIN));
    case AGAIN_OBJECT: return number_is(call, value, PyTuple_GetItem(key, KEY_OBJECT));
    default: return 0;
    }
}

/* ------------------------------------------------------------------------------------------------
 * An entry answers. */

static int is_module_again(const struct call *call, PyObject *value, PyObject *lookup)
{
    long long number = object_number(call->objects, value);
    if (number < 0)
        return number == OBJECT_FAILED ? -1 : 0;
    long long known = PyLong_AsLongLong(PyTuple_GetItem(lookup, LOOKUP_MODULE));
    if (PyErr_Occurred() || known != number)
        return PyErr_Occurred() ? -1 : 0;
    return attribute_is(value, NAME_training, PyTuple_GetItem(lookup, LOOKUP_TRAINING));
}

/* `check`: (pair, kind, part), of which the kind may be None. */
static int is_argument_again(struct call *call, PyObject *check, PyObject *name, PyObject *value)
{
    PyObject *pair = PyTuple_GetItem(check, 0), *kind = PyTuple_GetItem(check, 1);
    if (!pair || !kind || kind == Py_None)
        return PyErr_Occurred() ? -1 : 0;
    int same = is_equal(name, PyTuple_GetItem(pair, 0));
    return same > 0 ? is_again(call, PyLong_AsLong(kind), PyTuple_GetItem(check, 2),
                               PyTuple_GetItem(pair, 1), value)
                    : same;
}

static int are_locals_again(struct call *call, PyObject *lookup, PyObject *checks, PyObject *local)
{
    Py_ssize_t position = 0, i = 0, n = PyList_Size(checks);
    PyObject *name, *value;
    bool has_module = PyTuple_GetItem(lookup, LOOKUP_TRAINING) != Py_None, seen = false;
    int same = n >= 0 ? 1 : -1;
    while (same > 0 && PyDict_Next(local, &position, &name, &value)) {
        Py_INCREF(value);
        if (has_module && !seen && is_equal(name, names[NAME_self]) == 1) {
            same = is_module_again(call, value, lookup);
            seen = true;
        } else
            same = i < n ? is_argument_again(call, PyList_GetItem(checks, i++), name, value) : 0;
        Py_DECREF(value);
    }
    return same > 0 ? i == n && seen == has_module : same;
}

/* Whether the attributes and globals that guards read are those of a look-up: the last entry that
 * answered for this module is this one, and takes none as it comes. */
static int is_state_again(PyObject *entry, PyObject *lookup)
{
    PyObject *known = PyTuple_GetItem(lookup, LOOKUP_STATE), *last = NULL;
    PyObject *sources = PyObject_GetAttr(entry, names[NAME_sources]);
    PyObject *states = sources ? PyObject_GetAttr(entry, names[NAME_states]) : NULL;
    int same = states ? 0 : -1;
    if (states && PyDict_Size(sources) == 0)
        same = PyTuple_Size(known) == 0;
    else if (states &&
             (last = PyDict_GetItemWithError(states, PyTuple_GetItem(lookup, LOOKUP_MODULE))))
        same = PyTuple_GetItem(last, 0) == entry && PyTuple_GetItem(last, 1) == known;
    Py_XDECREF(sources);
    Py_XDECREF(states);
    return PyErr_Occurred() ? -1 : same;
}

/* Whether the mode of a call is that of the entry; guards compare all but inference mode. */
static int is_mode_of_entry(PyObject *mode)
{
    if (is_none(mode))
        return 0;
    return made_is_equal(PyObject_CallNoArgs(calls.inference), PyTuple_GetItem(mode, 1));
}

static int no_function_mode(void)
{
    PyObject *n = PyObject_CallNoArgs(calls.functions);
    long depth = n ? PyLong_AsLong(n) : -1;
    Py_XDECREF(n);
    return PyErr_Occurred() ? -1 : depth == 0;
}

/* Notes the look-up if it equals the last one that the entry answered. */
static int note_again(struct call *call, PyObject *entry, PyObject *last, PyObject *local)
{
    if (!PyTuple_Check(last) || PyTuple_Size(last) != 2 || !PyDict_Check(local))
        return 0;
    bool is_first = is_none(call->mode);
    long long met = call->n;
    PyObject *mode = is_first ? PyObject_GetAttr(entry, names[NAME_mode]) : NULL;
    int same = is_first ? (mode ? is_mode_of_entry(mode) : -1) : 1;
    PyObject *lookup = PyTuple_GetItem(last, 0);
    if (same > 0)
        same = no_function_mode();
    if (same > 0)
        same = are_locals_again(call, lookup, PyTuple_GetItem(last, 1), local);
    if (same > 0)
        same = is_state_again(entry, lookup);
    if (same > 0 && is_first) {
        PyObject *region = PyObject_CallNoArgs(calls.region);
        if (region) {
            replace(&call->mode, mode);
            replace(&call->region, region);
            replace(&call->entry, entry);
        }
        Py_XDECREF(region);
        same = region ? 1 : -1;
    }
    Py_XDECREF(mode);
    if (same > 0 && PyList_Append(call->looked, lookup) < 0)
        same = -1;
    if (same <= 0)
        call->n = met; /* the Python part counts them */
    return same;
}

/* The last guard of an entry, which is `self`; always passes. */
static PyObject *entry_answers(PyObject *self, PyObject *local)
{
    PyObject *stack = NULL;
    struct call *call = calls.active ? innermost_call(&stack) : NULL;
    if (call && !call->compiling && is_none(call->backward_of)) {
        Py_INCREF(call);
        PyObject *last = PyObject_GetAttr(self, names[NAME_last]);
        if (last && (last == Py_None || note_again(call, self, last, local) != 1)) {
            if (!is_interrupted()) {
                PyErr_Clear(); /* the Python part tries it again */
                Py_XDECREF(call_held(calls.hit, (PyObject *)call, self, local, NULL));
            }
        }
        Py_XDECREF(last);
        Py_DECREF(call);
    }
    Py_XDECREF(stack);
    if (!forgive())
        raise_later();
    return Py_NewRef(Py_True);
}

/* ------------------------------------------------------------------------------------------------
 * A call begins and ends. */

static bool is_compile_wrapper(PyFrameObject *frame)
{
    PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    bool ret = code && code == calls.wrapper_code;
    PyObject *name = code && !ret ? PyObject_GetAttrString(code, "co_name") : NULL;
    if (name && PyUnicode_CompareWithASCIIString(name, "compile_wrapper") == 0) {
        replace(&calls.wrapper_code, code);
        ret = true;
    }
    Py_XDECREF(name);
    Py_XDECREF(code);
    return ret;
}

static long long handled_exception(PyObject **type)
{
    PyObject *value, *traceback;
    PyErr_GetExcInfo(type, &value, &traceback);
    long long ret = is_none(value) ? 0 : (long long)(intptr_t)value;
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return ret;
}

/* What Calls.backend_of() of calls.py returns for a callback and what is used in its place, a new
 * reference. */
static PyObject *backend_of(PyObject *callback, PyObject *used)
{
    bool kept = used == callback;
    if (kept && calls.callback && agent_refers_to(calls.callback, callback))
        return Py_NewRef(calls.backend);
    uint64_t recording = calls.recording;
    PyObject *name = call_held(calls.name_backend, callback, used, NULL, NULL);
    PyObject *reference = name && kept ? PyWeakref_NewRef(callback, NULL) : NULL;
    if (name && kept && !reference)
        PyErr_Clear(); /* None, or what is no function */
    else if (reference && recording == calls.recording) {
        replace(&calls.callback, reference);
        replace(&calls.backend, name);
    }
    Py_XDECREF(reference);
    return name;
}

/* `backend`: NULL after an exception, as is what this returns. */
static struct call *next_call(PyFrameObject *frame, PyObject *backend)
{
    PyObject *numbers = backend ? calls.numbers : NULL, *objects = calls.objects;
    if (!numbers)
        return NULL;
    Py_INCREF(numbers);
    Py_INCREF(objects);
    PyObject *number = PyIter_Next(numbers);
    struct call *call =
        number ? call_make(number, (long long)(intptr_t)frame, objects, backend) : NULL;
    Py_XDECREF(number);
    Py_DECREF(numbers);
    Py_DECREF(objects);
    return call;
}

static void call_starts(PyFrameObject *frame, PyObject *callback, PyObject *used)
{
    if (!calls.prepared)
        Py_XDECREF(call_held(calls.prepare, NULL, NULL, NULL, NULL));
    PyObject *stack = calls.prepared ? list_of_thread(NAME_stack) : NULL;
    PyObject *backend = stack ? backend_of(callback, used) : NULL;
    /* Another thread may have stopped the recording by now. */
    struct call *call = calls.prepared ? next_call(frame, backend) : NULL, *last;
    if (call) {
        /* An interrupt kept a call from its end if another one begins in its frame's place. */
        while ((last = last_call(stack)) && last->frame == call->frame && remove_last(stack) == 0)
            ;
        PyList_Append(stack, (PyObject *)call);
    }
    Py_XDECREF(call);
    Py_XDECREF(backend);
    Py_XDECREF(stack);
}

/* In place of _callback_from_stance() of torch/_dynamo/eval_frame.py, which raises when a stance
 * forbids the call. */
static PyObject *callback_from_stance(PyObject *self, PyObject *callback)
{
    (void)self;
    PyObject *ret = PyObject_CallFunctionObjArgs(calls.start_eval, callback, NULL);
    if (ret && calls.active) {
        PyFrameObject *frame = PyEval_GetFrame();
        if (is_compile_wrapper(frame))
            call_starts(frame, callback, ret);
        if (!forgive()) {
            Py_DECREF(ret);
            return NULL;
        }
    }
    return ret;
}

static bool are_same_looked(const struct call *call, PyObject *key)
{
    PyObject *frames = PyTuple_GetItem(key, CALL_FRAMES);
    Py_ssize_t n = PyList_Size(call->looked);
    if (n < 1 || PyTuple_Size(frames) != n - 1 ||
        PyList_GetItem(call->looked, 0) != PyTuple_GetItem(key, CALL_ROOT))
        return false;
    for (Py_ssize_t i = 1; i < n; i++)
        if (PyList_GetItem(call->looked, i) != PyTuple_GetItem(frames, i - 1))
            return false;
    return true;
}

static bool is_nothing_compiled(const struct call *call)
{
    return PyTuple_Size(call->compiles) == 0 && PyTuple_Size(call->refused) == 0;
}

/* Whether the new objects of a call come right after those of the call before. */
static bool continues_objects(const struct call *call)
{
    Py_ssize_t n = PyList_Size(call->numbers), i = 0;
    while (i < n && PyLong_AsLongLong(PyList_GetItem(call->numbers, i)) == calls.run_first + i)
        i++;
    return n == calls.run_new && i == n;
}

/* `where`: (region, backend). */
static bool is_called_there(const struct call *call, PyObject *where)
{
    return is_equal(call->region, PyTuple_GetItem(where, 0)) == 1 &&
           is_equal(call->backend, PyTuple_GetItem(where, 1)) == 1;
}

/* Whether this call is one more of the run of equal calls. */
static bool continues_run(const struct call *call, PyObject *stack, double now)
{
    if (!calls.run_key || calls.run_left <= 0 || now > calls.run_until || is_none(call->entry) ||
        call->objects != calls.objects || !is_nothing_compiled(call) || PyList_Size(stack) != 0)
        return false;
    PyObject *key = PyObject_GetAttr(call->entry, names[NAME_key]);
    PyObject *root = PyObject_GetAttr(call->entry, names[NAME_root]);
    PyObject *done = !is_none(root) && key == calls.run_key ? list_of_thread(NAME_done) : NULL;
    bool ret = done && PyList_Size(done) == 0 && are_same_looked(call, key) &&
               call->mode == PyTuple_GetItem(key, CALL_MODE) &&
               is_called_there(call, PyTuple_GetItem(key, CALL_WHERE)) &&
               PyLong_AsLongLong(call->number) == calls.run_next && continues_objects(call);
    Py_XDECREF(key);
    Py_XDECREF(root);
    Py_XDECREF(done);
    PyErr_Clear();
    return ret;
}

static void call_ends(struct call *call, PyObject *stack, PyFrameObject *frame)
{
    double now = seconds_now();
    PyObject *error = NULL;
    bool raised = handled_exception(&error) != call->outer;
    remove_last(stack);
    if (!raised && calls.active && continues_run(call, stack, now)) {
        calls.run_next++;
        calls.run_first += calls.run_new;
        calls.run_left--;
        calls.run_added++;
        calls.run_seconds += now - call->began;
    } else {
        PyObject *seconds = PyFloat_FromDouble(now - call->began);
        if (seconds)
            Py_XDECREF(call_held(calls.end, (PyObject *)call, raised && error ? error : Py_None,
                                 seconds, (PyObject *)frame));
        Py_XDECREF(seconds);
    }
    Py_XDECREF(error);
}

/* In place of _maybe_set_eval_frame() of torch/_dynamo/eval_frame.py. */
static PyObject *maybe_set_eval_frame(PyObject *self, PyObject *callback)
{
    PyObject *stack = NULL;
    struct call *call = innermost_call(&stack);
    PyFrameObject *frame = call ? PyEval_GetFrame() : NULL;
    (void)self;
    if (call && call->frame == (long long)(intptr_t)frame) {
        Py_INCREF(call);
        if (call->armed)
            call_ends(call, stack, frame);
        else {
            PyObject *type = NULL;
            call->armed = 1;
            call->outer = handled_exception(&type);
            call->began = seconds_now();
            Py_XDECREF(type);
        }
        Py_DECREF(call);
    }
    Py_XDECREF(stack);
    if (forgive())
        return PyObject_CallFunctionObjArgs(calls.set_eval, callback, NULL);
    /* The interrupt waits until PyTorch has set what it sets. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(PyObject_CallFunctionObjArgs(calls.set_eval, callback, NULL));
    PyErr_Restore(type, value, traceback);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------
 * What calls.py uses. */

/* watch_calls(thread, numbers, objects, hit, end, backend_of, inference, region, functions);
 * without arguments, no call begins before prepare() has called it with them. Those of before are
 * kept for the calls that run. */
PyObject *agent_watch_calls(PyObject *module, PyObject *args)
{
    PyObject **const places[] = { &calls.thread,    &calls.numbers, &calls.objects,
                                  &calls.hit,       &calls.end,     &calls.name_backend,
                                  &calls.inference, &calls.region,  &calls.functions };
    Py_ssize_t n = PyTuple_Size(args), n_places = sizeof places / sizeof *places;
    (void)module;
    if (n && n != n_places)
        return PyErr_Format(PyExc_TypeError, "watch_calls() takes %zd arguments", n_places);
    if (n && (PyObject *)Py_TYPE(PyTuple_GetItem(args, 2)) != calls.objects_type)
        return PyErr_Format(PyExc_TypeError, "watch_calls(): objects are of another class");
    replace(&calls.run_key, NULL);
    replace(&calls.callback, NULL);
    replace(&calls.backend, NULL);
    for (Py_ssize_t i = 0; i < n; i++)
        replace(places[i], PyTuple_GetItem(args, i));
    calls.prepared = n != 0;
    calls.recording += n == 0;
    return Py_NewRef(Py_None);
}

static PyMethodDef start_method = { "_callback_from_stance", callback_from_stance, METH_O, NULL };
static PyMethodDef set_method = { "_maybe_set_eval_frame", maybe_set_eval_frame, METH_O, NULL };
static PyMethodDef guard_method = { "entry_answers", entry_answers, METH_O, NULL };

/* wrap_eval_frame(_callback_from_stance, _maybe_set_eval_frame, prepare) -> what stands in the
 * places of the first two */
PyObject *agent_wrap_eval_frame(PyObject *module, PyObject *args)
{
    PyObject *start, *set, *prepare;
    if (!PyArg_ParseTuple(args, "OOO", &start, &set, &prepare))
        return NULL;
    replace(&calls.start_eval, start);
    replace(&calls.set_eval, set);
    replace(&calls.prepare, prepare);
    return Py_BuildValue("(NN)", PyCFunction_New(&start_method, module),
                         PyCFunction_New(&set_method, module));
}

/* entry_guard(entry) -> its last guard */
PyObject *agent_entry_guard(PyObject *module, PyObject *entry)
{
    (void)module;
    return PyCFunction_New(&guard_method, entry);
}

PyObject *agent_set_active(PyObject *module, PyObject *active)
{
    (void)module;
    calls.active = active == Py_True;
    return Py_NewRef(Py_None);
}

/* begin_run(key, next number, new objects, first of the next ones, calls left, until) */
PyObject *agent_begin_run(PyObject *module, PyObject *args)
{
    PyObject *key;
    (void)module;
    if (!PyArg_ParseTuple(args, "OLnLLd", &key, &calls.run_next, &calls.run_new, &calls.run_first,
                          &calls.run_left, &calls.run_until))
        return NULL;
    calls.run_added = 0;
    calls.run_seconds = 0;
    replace(&calls.run_key, key);
    return Py_NewRef(Py_None);
}

/* end_run() -> (calls, seconds) that were added to it; dropped calls since the last time */
PyObject *agent_end_run(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    PyObject *ret = Py_BuildValue("(LdK)", calls.run_key ? calls.run_added : 0, calls.run_seconds,
                                  (unsigned long long)calls.dropped);
    if (ret) {
        replace(&calls.run_key, NULL);
        calls.run_added = 0;
        calls.run_seconds = 0;
        calls.dropped = 0;
    }
    return ret;
}
