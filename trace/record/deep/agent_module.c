/* Defines the module's functions, which the Python part calls. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/record/deep/agent.h"

static const char *const global_names[] = {
#define GLOBAL(name) #name,
    AGENT_GLOBALS(GLOBAL)
#undef GLOBAL
};

/* start(folder, process): the file is made with the first event. */
static PyObject *start_agent(PyObject *self, PyObject *args)
{
    const char *folder;
    PyObject *process;
    (void)self;
    if (!PyArg_ParseTuple(args, "sU", &folder, &process))
        return NULL;
    if (!agent.strings) {
        agent.strings = PyDict_New();
        agent.frames = PyDict_New();
        agent.texts = PyDict_New();
        agent.contexts = PyDict_New();
        agent.counts = PyDict_New();
        pthread_atfork(NULL, NULL, agent_forked);
    }
    if (!agent.strings || !agent.frames || !agent.texts || !agent.contexts || !agent.counts)
        return PyErr_NoMemory();
    Py_INCREF(process);
    Py_XDECREF(agent.process);
    agent.process = process;
    if (!agent.folder)
        agent.failed = false; /* a recording begins */
    free(agent.folder);
    agent.folder = strdup(folder);
    return agent.folder ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *stop(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    agent_close(true);
    free(agent.folder);
    agent.folder = NULL;
    if (agent.strings)
        agent_forget(); /* another recording of this process has another file */
    return Py_NewRef(Py_None);
}

/* give(name, object): sets one of AGENT_GLOBALS. */
static PyObject *give_object(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *object;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &name, &object))
        return NULL;
    for (int i = 0; i < AGENT_GLOBAL_COUNT; i++)
        if (strcmp(global_names[i], name) == 0) {
            Py_INCREF(object);
            Py_XDECREF(agent.globals[i]);
            agent.globals[i] = object;
            return Py_NewRef(Py_None);
        }
    return PyErr_Format(PyExc_KeyError, "%s", name);
}

/* ------------------------------------------------------------------------------------------------
 * emit(type, fields, value...): fields as deep_format.def spells them. */

enum { MOST_FIELDS = 12 };

struct event_field {
    const char *text;
    Py_ssize_t n;
    uint64_t number;
};

static bool read_field(char kind, PyObject *value, struct event_field *field)
{
    field->text = NULL;
    if (kind == 's')
        return (field->text = PyUnicode_AsUTF8AndSize(value, &field->n)) != NULL;
    field->number = PyLong_AsUnsignedLongLongMask(value);
    return !PyErr_Occurred();
}

static PyObject *emit_event(PyObject *self, PyObject *args)
{
    struct event_field fields[MOST_FIELDS];
    struct event event;
    size_t size = 0;
    (void)self;
    Py_ssize_t n = PyTuple_Size(args) - 2;
    long type = n >= 0 ? PyLong_AsLong(PyTuple_GetItem(args, 0)) : -1;
    const char *kinds = n >= 0 ? PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, 1), NULL) : NULL;
    if (!kinds || n > MOST_FIELDS || (size_t)n != strlen(kinds))
        return PyErr_Format(PyExc_TypeError, "emit(type, fields, value...)");
    if (!agent_ready())
        return Py_NewRef(Py_False);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!read_field(kinds[i], PyTuple_GetItem(args, i + 2), &fields[i]))
            return NULL;
        size += kinds[i] == 's' ? 4 + (size_t)fields[i].n : kinds[i] == '8' ? 8 : 4;
    }
    if (!event_begin(&event, (enum deep_event_type)type, size))
        return Py_NewRef(Py_False);
    for (Py_ssize_t i = 0; i < n; i++)
        if (kinds[i] == 's')
            event_text(&event, fields[i].text, (size_t)fields[i].n);
        else if (kinds[i] == '8')
            event_u64(&event, fields[i].number);
        else
            event_u32(&event, (uint32_t)fields[i].number);
    event_end(&event);
    return Py_NewRef(Py_True);
}

/* ------------------------------------------------------------------------------------------------
 * The rest. */

static PyObject *string(PyObject *self, PyObject *text)
{
    (void)self;
    return PyLong_FromUnsignedLong(string_of(text));
}

/* place() -> (context, stack) of the thread */
static PyObject *place_now(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    if (!agent_ready())
        return Py_BuildValue("(kk)", 0ul, 0ul);
    unsigned long context = context_now();
    return Py_BuildValue("(kk)", context, (unsigned long)stack_now((uint32_t)context));
}

/* stack_of(text) -> the number of the stack that a text in the format of tracebacks has */
static PyObject *stack_of(PyObject *self, PyObject *text)
{
    (void)self;
    bool can = agent_ready() && PyUnicode_Check(text);
    return PyLong_FromUnsignedLong(can ? stack_of_text(text) : 0);
}

static PyObject *generation(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyLong_FromUnsignedLong(agent_ready() ? agent.generation : 0);
}

static PyObject *is_file_open(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyBool_FromLong(agent.map != NULL);
}

/* now() -> nanoseconds since the file began */
static PyObject *ns_since_start(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyLong_FromUnsignedLongLong(agent_ready() ? agent_now() - agent.start_ns : 0);
}

static PyObject *call_counts(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return agent.counts ? PyDict_Copy(agent.counts) : PyDict_New();
}

static PyObject *ids_again(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    agent_forget_contexts();
    return Py_NewRef(Py_None);
}

static PyObject *release_agent(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    agent_release();
    return Py_NewRef(Py_None);
}

/* spent(ns): adds time that the Python part used */
static PyObject *spent(PyObject *self, PyObject *ns)
{
    (void)self;
    agent.overhead_ns += PyLong_AsUnsignedLongLongMask(ns);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *overhead(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyLong_FromUnsignedLongLong(agent.overhead_ns);
}

/* memory() -> (resident bytes, highest so far) */
static PyObject *memory(PyObject *self, PyObject *none)
{
    char text[128] = "";
    unsigned long long resident = 0;
    struct rusage usage = { 0 };
    (void)self, (void)none;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof text - 1);
        char *pages = n > 0 ? strchr(text, ' ') : NULL;
        if (pages)
            resident = strtoull(pages, NULL, 10) * (unsigned long long)sysconf(_SC_PAGESIZE);
        close(fd);
    }
    getrusage(RUSAGE_SELF, &usage);
    unsigned long long peak = (unsigned long long)usage.ru_maxrss * 1024;
    return Py_BuildValue("(KK)", resident, peak < resident ? resident : peak);
}

static PyObject *wrap(PyObject *self, PyObject *args)
{
    PyObject *type = PyObject_GetAttrString(self, "wrapper");
    PyObject *ret = type ? agent_wrap(type, args) : NULL;
    Py_XDECREF(type);
    return ret;
}

static PyMethodDef methods[] = {
    { "start", start_agent, METH_VARARGS, NULL },
    { "stop", stop, METH_NOARGS, NULL },
    { "give", give_object, METH_VARARGS, NULL },
    { "emit", emit_event, METH_VARARGS, NULL },
    { "wrap", wrap, METH_VARARGS, NULL },
    { "string", string, METH_O, NULL },
    { "place", place_now, METH_NOARGS, NULL },
    { "stack_of", stack_of, METH_O, NULL },
    { "generation", generation, METH_NOARGS, NULL },
    { "opened", is_file_open, METH_NOARGS, NULL },
    { "now", ns_since_start, METH_NOARGS, NULL },
    { "counts", call_counts, METH_NOARGS, NULL },
    { "ids_again", ids_again, METH_NOARGS, NULL },
    { "release", release_agent, METH_NOARGS, NULL },
    { "spent", spent, METH_O, NULL },
    { "overhead", overhead, METH_NOARGS, NULL },
    { "memory", memory, METH_NOARGS, NULL },
    { "watch_calls", agent_watch_calls, METH_VARARGS, NULL },
    { "wrap_eval_frame", agent_wrap_eval_frame, METH_VARARGS, NULL },
    { "entry_guard", agent_entry_guard, METH_O, NULL },
    { "set_active", agent_set_active, METH_O, NULL },
    { "begin_run", agent_begin_run, METH_VARARGS, NULL },
    { "end_run", agent_end_run, METH_NOARGS, NULL },
    { 0 },
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_symtape_deep",
    .m_doc = "Writes what PyTorch's compiler does to the side file of symtape record --deep.",
    .m_size = -1, /* one process has one file */
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__symtape_deep(void);

bool agent_add_class(PyObject *to, const char *name, PyObject *type)
{
    if (type && PyModule_AddObject(to, name, type) == 0)
        return true;
    Py_XDECREF(type);
    return false;
}

PyMODINIT_FUNC PyInit__symtape_deep(void)
{
    PyObject *ret = PyModule_Create(&module);
    if (ret && agent_add_class(ret, "wrapper", agent_wrapper_type()) && agent_add_calls(ret))
        return ret;
    Py_XDECREF(ret);
    return NULL;
}
