/* Assigns ids to what events refer to: an object is written once, when it first occurs. */
#include <string.h>

#include "trace/record/deep/agent.h"

static bool dict_find(PyObject *dict, PyObject *key, uint32_t *ret)
{
    PyObject *id = PyDict_GetItemWithError(dict, key);
    if (!id) {
        PyErr_Clear();
        return false;
    }
    *ret = (uint32_t)PyLong_AsUnsignedLong(id);
    return true;
}

static void dict_add(PyObject *dict, PyObject *key, uint32_t id)
{
    PyObject *value = PyLong_FromUnsignedLong(id);
    if (!value || PyDict_SetItem(dict, key, value) != 0)
        PyErr_Clear();
    Py_XDECREF(value);
}

/* Returns the name of an attribute as a borrowed reference, or NULL with an exception. Python finds
 * an attribute by an interned name without comparing its characters. */
static PyObject *attribute_name(enum agent_attribute name)
{
    static const char *const NAMES[] = {
#define ATTRIBUTE(name) #name,
        AGENT_ATTRIBUTES(ATTRIBUTE)
#undef ATTRIBUTE
    };
    if (!agent.attributes[name])
        agent.attributes[name] = PyUnicode_InternFromString(NAMES[name]);
    return agent.attributes[name];
}

PyObject *agent_attribute(PyObject *object, enum agent_attribute name)
{
    PyObject *text = attribute_name(name);
    return text ? PyObject_GetAttr(object, text) : NULL;
}

PyObject *agent_item(PyObject *dict, enum agent_attribute name)
{
    PyObject *text = attribute_name(name), *ret = text ? PyDict_GetItemWithError(dict, text) : NULL;
    if (!ret)
        PyErr_Clear();
    return ret;
}

/* Returns the UTF-8 of a str; "" for other objects and for strings with surrogates. */
static const char *utf8_of(PyObject *text, size_t *n)
{
    Py_ssize_t length = 0;
    const char *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &length) : "";
    if (!bytes) {
        PyErr_Clear();
        bytes = "";
    }
    *n = (size_t)length;
    return bytes;
}

uint32_t string_of(PyObject *text)
{
    struct event event;
    uint32_t id;
    size_t n;
    if (!text || !PyUnicode_Check(text) || !agent_ready())
        return 0;
    if (dict_find(agent.strings, text, &id))
        return id;
    const char *bytes = utf8_of(text, &n);
    if (!event_begin(&event, DEEP_STRING, 8 + n))
        return 0;
    id = ++agent.n_strings;
    event_u32(&event, id);
    event_text(&event, bytes, n);
    event_end(&event);
    dict_add(agent.strings, text, id);
    return id;
}

uint32_t string_of_type(PyObject *object)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (!name)
        PyErr_Clear();
    uint32_t id = string_of(name);
    Py_XDECREF(name);
    return id;
}

/* Returns the operator's name: OpOverload's str() is "aten.add.Tensor"; a HigherOrderOperator
 * has a name. */
uint32_t string_of_operator(PyObject *function)
{
    const struct ptr_slot *known = ptr_find(&agent.operators, function);
    if (known)
        return known->id;
    PyObject *name = PyObject_Str(function);
    if (!name)
        PyErr_Clear();
    uint32_t id = string_of(name);
    Py_XDECREF(name);
    if (id)
        ptr_add(&agent.operators, function, id, 0);
    return id;
}

/* ------------------------------------------------------------------------------------------------
 * Values: rendered by Python, once for each object. */

static uint32_t write_value(PyObject *rendered)
{
    struct event event;
    size_t n, n_floats;
    const char *json = utf8_of(PyTuple_GetItem(rendered, 0), &n);
    const char *floats = utf8_of(PyTuple_GetItem(rendered, 1), &n_floats);
    if (!event_begin(&event, DEEP_VALUE, 12 + n + n_floats))
        return 0;
    uint32_t id = ++agent.n_values;
    event_u32(&event, id);
    event_text(&event, json, n);
    event_text(&event, floats, n_floats);
    event_end(&event);
    return id;
}

uint32_t id_of_value(PyObject *object)
{
    const struct ptr_slot *known = ptr_find(&agent.values, object);
    if (known)
        return known->id;
    if (!agent_ready() || !agent.globals[AGENT_on_value])
        return 0;
    PyObject *rendered = PyObject_CallFunctionObjArgs(agent.globals[AGENT_on_value], object, NULL);
    uint32_t id = 0;
    if (rendered && PyTuple_Check(rendered) && PyTuple_Size(rendered) == 2)
        id = write_value(rendered);
    if (!rendered)
        PyErr_Clear();
    Py_XDECREF(rendered);
    if (id)
        ptr_add(&agent.values, object, id, 0);
    return id;
}

/* ------------------------------------------------------------------------------------------------
 * Contexts: which attempt of which compile a thread works for. */

static int64_t number_in(PyObject *tuple, Py_ssize_t i)
{
    PyObject *item = PyTuple_GetItem(tuple, i);
    int64_t value = item && PyLong_Check(item) ? PyLong_AsLongLong(item) : -1;
    PyErr_Clear();
    return value;
}

static uint32_t write_context(PyObject *key, int64_t attempt)
{
    struct event event;
    if (!event_begin(&event, DEEP_CONTEXT, 4 + 5 * 8))
        return 0;
    uint32_t id = ++agent.n_contexts;
    event_u32(&event, id);
    for (int i = 0; i < 3; i++)
        event_u64(&event, (uint64_t)number_in(key, i));
    event_u64(&event, (uint64_t)attempt);
    event_u64(&event, agent_now() - agent.start_ns);
    event_end(&event);
    return id;
}

/* Returns the id of a context; `ids` is the result of on_context(): (autograd, frame, compile). */
static uint32_t context_of_ids(PyObject *ids, int64_t attempt)
{
    uint32_t id = 0;
    if (!PyTuple_Check(ids) || PyTuple_Size(ids) != 3)
        return 0;
    PyObject *number = PyLong_FromLongLong(attempt);
    PyObject *key = number ? PyTuple_Pack(2, ids, number) : NULL;
    if (key && !dict_find(agent.contexts, key, &id)) {
        id = write_context(ids, attempt);
        if (id)
            dict_add(agent.contexts, key, id);
    }
    if (!key)
        PyErr_Clear();
    Py_XDECREF(number);
    Py_XDECREF(key);
    return id;
}

static uint32_t context_of(PyObject *context, int64_t attempt)
{
    PyObject *on_context = agent.globals[AGENT_on_context];
    PyObject *ids = on_context ? PyObject_CallFunctionObjArgs(on_context, context, NULL) : NULL;
    uint32_t id = ids ? context_of_ids(ids, attempt) : 0;
    if (!ids)
        PyErr_Clear();
    Py_XDECREF(ids);
    Py_INCREF(context);
    Py_XDECREF(agent.last_context);
    agent.last_context = context;
    agent.last_attempt = attempt;
    agent.last_context_id = id;
    return id;
}

static int64_t context_attempt(PyObject *context)
{
    PyObject *number = agent_attribute(context, ATTRIBUTE_attempt);
    int64_t attempt = number && PyLong_Check(number) ? PyLong_AsLongLong(number) : 0;
    PyErr_Clear();
    Py_XDECREF(number);
    return attempt;
}

uint32_t context_now(void)
{
    PyObject *tls = agent.globals[AGENT_compile_tls];
    PyObject *context = tls ? agent_attribute(tls, ATTRIBUTE_compile_context) : NULL;
    uint32_t id = 0;
    if (!context) {
        PyErr_Clear();
        return 0;
    }
    if (context != Py_None) {
        int64_t attempt = context_attempt(context);
        id = context == agent.last_context && attempt == agent.last_attempt
                 ? agent.last_context_id
                 : context_of(context, attempt);
    }
    Py_DECREF(context);
    return id;
}

/* ------------------------------------------------------------------------------------------------
 * Environments. on_env() answers (number, settings), settings being None unless it is new. */

static void write_env(uint32_t number, PyObject *settings)
{
    struct event event;
    size_t n;
    uint32_t context = context_now();
    const char *json = utf8_of(settings, &n);
    if (!event_begin(&event, DEEP_ENV, 12 + n))
        return;
    event_u32(&event, number);
    event_u32(&event, context);
    event_text(&event, json, n);
    event_end(&event);
}

uint32_t env_of(PyObject *env)
{
    PyObject *on_env = agent.globals[AGENT_on_env];
    if (env == agent.last_env)
        return agent.last_env_id;
    PyObject *answer = on_env ? PyObject_CallFunctionObjArgs(on_env, env, NULL) : NULL;
    uint32_t number = 0;
    if (answer && PyTuple_Check(answer) && PyTuple_Size(answer) == 2) {
        number = (uint32_t)number_in(answer, 0);
        PyObject *settings = PyTuple_GetItem(answer, 1);
        if (settings != Py_None)
            write_env(number, settings);
    }
    if (!answer)
        PyErr_Clear();
    Py_XDECREF(answer);
    Py_INCREF(env);
    Py_XDECREF(agent.last_env);
    agent.last_env = env;
    agent.last_env_id = number;
    return number;
}

/* ------------------------------------------------------------------------------------------------
 * Letting go. */

static void forget(PyObject **object)
{
    PyObject *old = *object;
    *object = NULL;
    Py_XDECREF(old);
}

void agent_release(void)
{
    ptr_clear(&agent.codes);
    ptr_clear(&agent.values);
    ptr_clear(&agent.summaries);
    u64_clear(&agent.code_frames);
    forget(&agent.last_context);
    forget(&agent.last_loc);
    forget(&agent.last_env);
}

void agent_forget_contexts(void)
{
    if (agent.contexts)
        PyDict_Clear(agent.contexts);
    forget(&agent.last_context);
}

void agent_forget(void)
{
    agent_release();
    ptr_clear(&agent.operators);
    u64_clear(&agent.stacks);
    u64_clear(&agent.cost_rows);
    u64_clear(&agent.operator_costs);
    PyDict_Clear(agent.strings);
    PyDict_Clear(agent.frames);
    PyDict_Clear(agent.texts);
    agent_forget_contexts();
    agent.n_strings = agent.n_frames = agent.n_stacks = agent.n_contexts = 0;
    agent.n_codes = agent.n_values = agent.n_operator_costs = 0;
}
