/* Numbers of objects, which are not kept alive: equal numbers mean the same object. This is the
 * class Objects of call_values.py, in C. */
#include <stdlib.h>

#include "trace/record/deep/agent.h"

#include <structmember.h>

enum { LEAST_SLOTS = 256, LEAST_LIMIT = 4096 };

struct object_slot {
    PyObject *object;    /* its address; borrowed, and another object may have it by now */
    PyObject *reference; /* weak; NULL: a free slot */
    long long number;
};

struct call_objects {
    PyObject_HEAD struct object_slot *slots;
    size_t n, cap, limit;
    long long next;
};

static struct object_slot *object_slot_of(struct object_slot *slots, size_t cap,
                                          const PyObject *object)
{
    size_t i = agent_hash((uint64_t)(uintptr_t)object) & (cap - 1);
    while (slots[i].reference && slots[i].object != object)
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

bool agent_refers_to(PyObject *reference, const PyObject *object)
{
    PyObject *found = PyObject_CallNoArgs(reference);
    Py_XDECREF(found);
    return found == object;
}

/* Makes the table larger, or removes what no longer lives. */
static bool objects_resize(struct call_objects *o, size_t cap, bool living_only)
{
    struct object_slot *slots = calloc(cap, sizeof *slots), *old = o->slots;
    if (!slots)
        return PyErr_NoMemory(), false;
    size_t old_cap = o->cap;
    o->n = 0;
    for (size_t i = 0; i < old_cap; i++) {
        if (!old[i].reference)
            continue;
        if (living_only && !agent_refers_to(old[i].reference, old[i].object)) {
            Py_DECREF(old[i].reference);
            continue;
        }
        *object_slot_of(slots, cap, old[i].object) = old[i];
        o->n++;
    }
    o->slots = slots;
    o->cap = cap;
    free(old);
    return true;
}

static bool objects_make_space(struct call_objects *o)
{
    if (o->cap && o->n >= o->limit) {
        if (!objects_resize(o, o->cap, true))
            return false;
        o->limit = 2 * o->n > LEAST_LIMIT ? 2 * o->n : LEAST_LIMIT;
    }
    return o->n * 2 < o->cap || objects_resize(o, o->cap ? 2 * o->cap : LEAST_SLOTS, false);
}

long long object_number(PyObject *self, PyObject *object)
{
    struct call_objects *o = (struct call_objects *)self;
    if (o->cap) {
        const struct object_slot *slot = object_slot_of(o->slots, o->cap, object);
        if (slot->reference && agent_refers_to(slot->reference, object))
            return slot->number;
    }
    /* What this allocates may start a garbage collection, in which other code runs: the object may
     * have a number afterwards. */
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    if (!reference) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return OBJECT_FAILED;
        PyErr_Clear();
        return OBJECT_UNNUMBERED;
    }
    if (!objects_make_space(o)) {
        Py_DECREF(reference);
        return OBJECT_FAILED;
    }
    struct object_slot *slot = object_slot_of(o->slots, o->cap, object);
    if (slot->reference && agent_refers_to(slot->reference, object)) {
        Py_DECREF(reference);
        return slot->number;
    }
    PyObject *old = slot->reference;
    o->n += old == NULL;
    *slot = (struct object_slot){ object, reference, o->next++ };
    long long number = slot->number;
    Py_XDECREF(old);
    return number;
}

long long objects_next(PyObject *self)
{
    return ((struct call_objects *)self)->next;
}

static PyObject *objects_number(PyObject *self, PyObject *object)
{
    long long number = object_number(self, object);
    if (number == OBJECT_FAILED)
        return NULL;
    return number == OBJECT_UNNUMBERED ? Py_NewRef(Py_None) : PyLong_FromLongLong(number);
}

static void objects_free(PyObject *self)
{
    struct call_objects *o = (struct call_objects *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_self = __extension__(freefunc) PyType_GetSlot(type, Py_tp_free);
    for (size_t i = 0; i < o->cap; i++)
        Py_XDECREF(o->slots[i].reference);
    free(o->slots);
    free_self(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    { "number", objects_number, METH_O, NULL },
    { 0 },
};

static PyMemberDef members[] = {
    { "next", T_LONGLONG, offsetof(struct call_objects, next), READONLY, NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, AGENT_SLOT(objects_free) },
    { Py_tp_methods, methods },
    { Py_tp_members, members },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "_symtape_deep.Objects",
    .basicsize = sizeof(struct call_objects),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

PyObject *agent_objects_type(void)
{
    return PyType_FromSpec(&spec);
}
