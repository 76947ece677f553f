/* Wraps functions of PyTorch.
 *
 * A wrapper is called like the function, binds to an instance like a function, and has the
 * function's attributes. The time that is spent here is excluded from the recorded times, and
 * summed up in agent.overhead_ns. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "trace/record/deep/agent.h"

#include <structmember.h> /* must follow Python.h */

enum { MODE_FAKE_TENSOR_MODE, MODE_FAKE_TENSOR, MODE_PROXY, MODES };
enum { CACHE_NOT_ASKED, CACHE_HIT, CACHE_MISS, CACHE_BYPASS };
enum { MOST_ARGUMENTS = 12 };

/* KIND(name, function): what a wrapper does when it is called. */
#define KINDS(KIND)                           \
    KIND("dispatch", call_dispatch)           \
    KIND("env", call_env)                     \
    KIND("cost", call_cost)                   \
    KIND("operator cost", call_operator_cost) \
    KIND("mapped", call_mapped)               \
    KIND("use", call_use)                     \
    KIND("label", call_label)                 \
    KIND("bypass", call_cache_bypass)

struct argument {
    PyObject *name;
    long position;
    uint32_t id; /* id of the name */
};

struct wrapper;

typedef PyObject *(*wrapper_function)(struct wrapper *, PyObject *, PyObject *);

struct wrapper {
    PyObject_HEAD PyObject *inner;
    PyObject *name, *extra; /* extra: the caller of a cost */
    PyObject *label;        /* label of a dispatch, as simple_call_counter has it */
    wrapper_function call;
    uint32_t number, mode;
    struct argument arguments[MOST_ARGUMENTS];
    int n_arguments;
    int mapped; /* of a cost: the position of the function that it calls for each leaf, or -1 */
    uint32_t generation, name_id, extra_id; /* ids, which belong to that generation */
};

static void renew_ids(struct wrapper *w)
{
    if (w->generation == agent.generation)
        return;
    w->name_id = string_of(w->name);
    w->extra_id = string_of(w->extra);
    for (int i = 0; i < w->n_arguments; i++)
        w->arguments[i].id = string_of(w->arguments[i].name);
    w->generation = agent.generation;
}

/* Returns a wrapper of `inner` whose calls are made by `call`; NULL with an exception. */
static PyObject *new_wrapper(PyTypeObject *type, wrapper_function call, PyObject *inner,
                             PyObject *name, PyObject *extra)
{
    allocfunc alloc = __extension__(allocfunc) PyType_GetSlot(type, Py_tp_alloc);
    struct wrapper *w = (struct wrapper *)alloc(type, 0);
    if (!w)
        return NULL;
    Py_INCREF(inner);
    Py_INCREF(name);
    Py_INCREF(extra);
    Py_INCREF(name);
    w->call = call;
    w->inner = inner;
    w->name = w->label = name;
    w->extra = extra;
    w->number = ++agent.n_wrappers;
    w->mapped = -1;
    w->generation = UINT32_MAX;
    return (PyObject *)w;
}

static PyObject *call_inner(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    return PyObject_Call(w->inner, args, kwargs);
}

/* The exception that is being raised, which is set aside while other code runs. */
struct raised {
    PyObject *type, *value, *traceback;
};

static void raised_keep(struct raised *raised)
{
    PyErr_Fetch(&raised->type, &raised->value, &raised->traceback);
}

static void raised_restore(const struct raised *raised)
{
    PyErr_Clear();
    PyErr_Restore(raised->type, raised->value, raised->traceback);
}

static uint32_t raised_name(const struct raised *raised)
{
    PyObject *name = raised->type ? PyObject_GetAttrString(raised->type, "__name__") : NULL;
    uint32_t id = string_of(name);
    PyErr_Clear();
    Py_XDECREF(name);
    return id;
}

static void count_label(PyObject *label)
{
    PyObject *old = PyDict_GetItemWithError(agent.counts, label);
    long n = old ? PyLong_AsLong(old) : 0;
    PyObject *value = PyLong_FromLong(n + 1);
    if (!value || PyDict_SetItem(agent.counts, label, value) != 0)
        PyErr_Clear();
    Py_XDECREF(value);
}

/* ------------------------------------------------------------------------------------------------
 * Dispatches: __torch_dispatch__(self, func, types, args, kwargs). */

struct cache_counts {
    long hits, misses;
};

static long long_attribute(PyObject *object, enum agent_attribute name)
{
    PyObject *value = object ? agent_attribute(object, name) : NULL;
    long ret = value && PyLong_Check(value) ? PyLong_AsLong(value) : 0;
    PyErr_Clear();
    Py_XDECREF(value);
    return ret;
}

static struct cache_counts cache_counts(void)
{
    PyObject *mode = agent.globals[AGENT_fake_mode];
    return (struct cache_counts){ long_attribute(mode, ATTRIBUTE_cache_hits),
                                  long_attribute(mode, ATTRIBUTE_cache_misses) };
}

/* Returns the depth that a mode counts: FakeTensor's dispatches count as those of
 * FakeTensorMode. */
static uint32_t mode_depth(uint32_t mode)
{
    return thread.depth[mode == MODE_FAKE_TENSOR ? MODE_FAKE_TENSOR_MODE : mode];
}

/* Returns the dispatch that the thread is in. NULL, too: it began with another side file, whose ids
 * say nothing in this one, and its code has forked or started another recording. */
static struct running_dispatch *dispatch_now(void)
{
    struct running_dispatch *ret = thread.running;
    return ret && ret->generation == agent.generation ? ret : NULL;
}

/* Returns the context of the work that a thread is in, which is that of what it is part of. */
static uint32_t context_of_thread(void)
{
    const struct running_dispatch *running = dispatch_now();
    const struct running_cost *costing = thread.costing;
    return running                                              ? running->context
           : costing && costing->generation == agent.generation ? costing->context
                                                                : context_now();
}

/* Returns to a cost from something that it called and that is not its own: a dispatch, or the
 * function that it maps. Costs in there had no cost around them. */
static void leave_for_cost(struct running_cost *costing, uint64_t ns)
{
    thread.costing = costing;
    if (costing)
        costing->inside_ns += ns;
}

static void enter_dispatch(const struct wrapper *w, uint32_t op, struct running_dispatch *frame)
{
    struct running_dispatch *up = thread.running;
    const struct running_dispatch *within = dispatch_now();
    *frame = (struct running_dispatch){
        .up = up, .mode = w->mode, .op = op, .generation = agent.generation
    };
    frame->context = within ? within->context : context_now();
    frame->stack = within ? within->stack : stack_now(frame->context);
    thread.running = frame;
    thread.depth[w->mode]++;
}

static uint32_t cache_result(const struct running_dispatch *frame,
                             const struct cache_counts *before, struct running_dispatch *up)
{
    struct cache_counts now = cache_counts();
    long hits = now.hits - before->hits, misses = now.misses - before->misses;
    if (up) {
        up->hits_inside += hits;
        up->misses_inside += misses;
    }
    return frame->bypass                   ? CACHE_BYPASS
           : hits > frame->hits_inside     ? CACHE_HIT
           : misses > frame->misses_inside ? CACHE_MISS
                                           : CACHE_NOT_ASKED;
}

static void write_dispatch_event(const struct running_dispatch *frame, uint64_t order,
                                 uint32_t depth, uint32_t cache, uint32_t raised, uint64_t ns)
{
    struct event event;
    uint64_t own = ns > frame->inside_ns ? ns - frame->inside_ns : 0;
    const uint32_t fields[] = { frame->context, frame->stack, frame->op, frame->mode,   depth,
                                frame->fast,    frame->slow,  cache,     frame->bypass, raised };
    if (!event_begin(&event, DEEP_DISPATCH, 8 + sizeof fields + 16))
        return;
    event_u64(&event, order);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        event_u32(&event, fields[i]);
    event_u64(&event, ns);
    event_u64(&event, own);
    event_end(&event);
}

static PyObject *call_dispatch(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    uint64_t start = agent_now();
    struct running_dispatch frame;
    struct raised raised;
    PyObject *func = PyTuple_Size(args) > 1 ? PyTuple_GetItem(args, 1) : NULL;
    uint64_t order = ++agent.order;
    count_label(w->label);
    if (!agent_ready()) /* between two recordings of a process */
        return call_inner(w, args, kwargs);
    uint32_t op = func ? string_of_operator(func) : 0, depth = mode_depth(w->mode);
    struct cache_counts before =
        w->mode == MODE_FAKE_TENSOR_MODE ? cache_counts() : (struct cache_counts){ 0 };
    enter_dispatch(w, op, &frame);
    struct running_cost *costing = thread.costing;
    uint64_t begun = agent_now();
    agent.overhead_ns += begun - start;
    uint64_t overhead = agent.overhead_ns;
    thread.costing = NULL;
    PyObject *ret = call_inner(w, args, kwargs);
    uint64_t ended = agent_now(), ns = ended - begun - (agent.overhead_ns - overhead);
    leave_for_cost(costing, ns);
    thread.running = frame.up;
    thread.depth[w->mode] -= thread.depth[w->mode] > 0;
    raised_keep(&raised);
    if (frame.up)
        frame.up->inside_ns += ns;
    if (agent_ready() && frame.generation == agent.generation) {
        uint32_t cache = w->mode == MODE_FAKE_TENSOR_MODE ? cache_result(&frame, &before, frame.up)
                                                          : CACHE_NOT_ASKED;
        write_dispatch_event(&frame, order, depth, cache, ret ? 0 : raised_name(&raised), ns);
    }
    raised_restore(&raised);
    agent.overhead_ns += agent_now() - ended;
    return ret;
}

/* Handles count_label(label), which the fast path of elementwise operators calls
 * (fake_impls.py): "attempt fast", "fast is_contiguous", "slow no contiguity match". */
static void note_label(struct running_dispatch *frame, PyObject *label)
{
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(label, &n);
    size_t skip = 5;
    if (!text || n <= (Py_ssize_t)skip) {
        PyErr_Clear();
        return;
    }
    bool fast = memcmp(text, "fast ", skip) == 0, slow = memcmp(text, "slow ", skip) == 0;
    PyObject *rest = fast || slow ? PyUnicode_FromString(text + skip) : NULL;
    if (fast)
        frame->fast = string_of(rest);
    else if (slow)
        frame->slow = string_of(rest);
    PyErr_Clear();
    Py_XDECREF(rest);
}

static PyObject *call_label(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    uint64_t start = agent_now();
    PyObject *label = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    if (label && PyUnicode_Check(label)) {
        count_label(label);
        if (thread.running)
            note_label(thread.running, label);
    }
    agent.overhead_ns += agent_now() - start;
    return call_inner(w, args, kwargs);
}

/* Handles __setitem__(cache_bypasses, reason, count). */
static PyObject *call_cache_bypass(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    if (thread.running && PyTuple_Size(args) > 1)
        thread.running->bypass = string_of(PyTuple_GetItem(args, 1));
    return call_inner(w, args, kwargs);
}

/* ------------------------------------------------------------------------------------------------
 * Calls into ShapeEnv, from outside only. */

struct call_argument {
    uint32_t name, tag;
    uint64_t value;
};

static struct call_argument value_named(uint32_t name, PyObject *object)
{
    struct call_argument ret = { .name = name };
    if (object == Py_None) {
        ret.tag = DEEP_TAG_NONE;
    } else if (object == Py_True || object == Py_False) {
        ret.tag = object == Py_True ? DEEP_TAG_TRUE : DEEP_TAG_FALSE;
    } else if (PyLong_CheckExact(object)) {
        int overflow;
        ret.tag = DEEP_TAG_INT;
        ret.value = (uint64_t)PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            ret.tag = DEEP_TAG_VALUE;
            ret.value = id_of_value(object);
        }
    } else if (PyFloat_CheckExact(object)) {
        double real = PyFloat_AsDouble(object);
        ret.tag = DEEP_TAG_FLOAT;
        memcpy(&ret.value, &real, sizeof real);
    } else {
        ret.tag = DEEP_TAG_VALUE;
        ret.value = id_of_value(object);
    }
    return ret;
}

static int gather_arguments(const struct wrapper *w, PyObject *args, PyObject *kwargs,
                            struct call_argument *ret)
{
    int n = 0;
    Py_ssize_t given = PyTuple_Size(args);
    for (int i = 0; i < w->n_arguments; i++) {
        const struct argument *a = &w->arguments[i];
        PyObject *object = a->position < given ? PyTuple_GetItem(args, a->position)
                           : kwargs            ? PyDict_GetItemWithError(kwargs, a->name)
                                               : NULL;
        if (object)
            ret[n++] = value_named(a->id, object);
    }
    PyErr_Clear();
    return n;
}

static bool is_suppressed(PyObject *env)
{
    PyObject *function = agent_attribute(env, ATTRIBUTE__suppress_guards_tls);
    PyObject *answer = function ? PyObject_CallNoArgs(function) : NULL;
    bool ret = answer == Py_True;
    if (!answer)
        PyErr_Clear();
    Py_XDECREF(function);
    Py_XDECREF(answer);
    return ret;
}

struct env_call {
    uint32_t env, context, raised;
    bool suppressed;
    struct call_argument values[MOST_ARGUMENTS + 1];
    int n;
    uint64_t ns;
};

static void write_call(const struct wrapper *w, const struct env_call *call)
{
    struct event event;
    const uint32_t fields[] = { call->env, call->context, w->name_id, call->suppressed,
                                call->raised };
    uint32_t bytes = (uint32_t)call->n * 16;
    if (!event_begin(&event, DEEP_CALL, sizeof fields + 8 + 4 + bytes))
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        event_u32(&event, fields[i]);
    event_u64(&event, call->ns);
    event_u32(&event, bytes);
    for (int i = 0; i < call->n; i++) {
        event_u32(&event, call->values[i].name);
        event_u32(&event, call->values[i].tag);
        event_u64(&event, call->values[i].value);
    }
    event_end(&event);
}

static uint32_t out_name(void)
{
    static uint32_t id, generation;
    if (generation != agent.generation) {
        PyObject *text = PyUnicode_FromString("out");
        id = string_of(text);
        Py_XDECREF(text);
        PyErr_Clear();
        generation = agent.generation;
    }
    return id;
}

static PyObject *call_env(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    if (thread.in_env || PyTuple_Size(args) < 1 || !agent_ready())
        return call_inner(w, args, kwargs);
    uint64_t start = agent_now();
    struct env_call call;
    struct raised raised;
    PyObject *env = PyTuple_GetItem(args, 0);
    thread.in_env = true;
    renew_ids(w);
    call.env = env_of(env);
    call.context = context_of_thread();
    call.n = gather_arguments(w, args, kwargs, call.values);
    call.suppressed = is_suppressed(env);
    uint64_t begun = agent_now(), overhead = agent.overhead_ns;
    PyObject *ret = call_inner(w, args, kwargs);
    uint64_t ended = agent_now();
    call.ns = ended - begun - (agent.overhead_ns - overhead);
    raised_keep(&raised);
    call.raised = 0;
    if (!ret && raised.value)
        call.raised = id_of_value(raised.value);
    if (!ret && !call.raised && raised.type)
        call.raised = id_of_value(raised.type);
    if (ret)
        call.values[call.n++] = value_named(out_name(), ret);
    thread.in_env = false;
    if (agent_ready() && w->generation == agent.generation)
        write_call(w, &call);
    raised_restore(&raised);
    agent.overhead_ns += agent_now() - ended + begun - start;
    return ret;
}

/* ------------------------------------------------------------------------------------------------
 * Costs: counted up in place, one event for each wrapper and context, and for each operator where
 * the work belongs to the dispatch that does it. */

/* Returns a number for a wrapper and an operator, which no wrapper alone has; 0: out of memory. */
static uint32_t number_with_operator(const struct wrapper *w, uint32_t op)
{
    static const uint32_t NOT_OF_WRAPPERS = 1u << 31;
    uint64_t key = (uint64_t)w->number << 32 | op;
    uint32_t number = (uint32_t)u64_find(&agent.operator_costs, key);
    if (!number && u64_add(&agent.operator_costs, key, NOT_OF_WRAPPERS | ++agent.n_operator_costs))
        number = NOT_OF_WRAPPERS | agent.n_operator_costs;
    return number;
}

static uint64_t cost_row(struct wrapper *w, uint32_t context, uint32_t op)
{
    uint32_t number = op ? number_with_operator(w, op) : w->number;
    uint64_t key = (uint64_t)number << 32 | context, row = u64_find(&agent.cost_rows, key);
    struct event event;
    if (row || !number)
        return row;
    renew_ids(w);
    if (!event_begin(&event, DEEP_COST, 12 + 4 + 24))
        return 0;
    event_u32(&event, context);
    event_u32(&event, w->name_id);
    event_u32(&event, w->extra_id);
    event_u32(&event, op);
    for (int i = 0; i < 3; i++)
        event_u64(&event, 0);
    row = event_end(&event) + DEEP_EVENT_HEADER + 16;
    u64_add(&agent.cost_rows, key, row);
    return row;
}

static PyObject *call_mapped(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    struct running_cost *costing = thread.costing;
    uint64_t start = agent_now(), overhead = agent.overhead_ns;
    thread.costing = NULL;
    PyObject *ret = call_inner(w, args, kwargs);
    leave_for_cost(costing, agent_now() - start - (agent.overhead_ns - overhead));
    return ret;
}

/* Returns the arguments of a cost with its mapped function wrapped, so that the time in that
 * function is not the cost's own; the arguments themselves if there is no such function. A new
 * reference, or NULL without an exception. */
static PyObject *wrap_mapped(struct wrapper *w, PyObject *args)
{
    PyObject *function =
        w->mapped >= 0 && w->mapped < PyTuple_Size(args) ? PyTuple_GetItem(args, w->mapped) : NULL;
    if (!function || !PyCallable_Check(function)) {
        Py_INCREF(args);
        return args;
    }
    PyObject *mapped = new_wrapper(Py_TYPE((PyObject *)w), call_mapped, function, w->name, Py_None);
    PyObject *ret = mapped ? PyTuple_New(PyTuple_Size(args)) : NULL;
    for (Py_ssize_t i = 0; ret && i < PyTuple_Size(args); i++) {
        PyObject *item = i == w->mapped ? mapped : PyTuple_GetItem(args, i);
        Py_INCREF(item);
        PyTuple_SetItem(ret, i, item);
    }
    Py_XDECREF(mapped);
    if (!ret)
        PyErr_Clear();
    return ret;
}

static PyObject *call_cost_of(struct wrapper *w, uint32_t op, PyObject *args, PyObject *kwargs)
{
    if (!agent_ready())
        return call_inner(w, args, kwargs);
    uint64_t entered = agent_now();
    PyObject *own = wrap_mapped(w, args);
    struct running_cost frame = { .up = thread.costing,
                                  .context = context_of_thread(),
                                  .generation = agent.generation };
    thread.costing = &frame;
    uint64_t start = agent_now();
    agent.overhead_ns += start - entered;
    uint64_t overhead = agent.overhead_ns;
    PyObject *ret = call_inner(w, own ? own : args, kwargs);
    Py_XDECREF(own);
    uint64_t ended = agent_now(), ns = ended - start - (agent.overhead_ns - overhead);
    thread.costing = frame.up;
    if (frame.up)
        frame.up->inside_ns += ns;
    struct raised raised;
    raised_keep(&raised);
    uint64_t row = !agent_ready()                         ? 0
                   : frame.generation == agent.generation ? cost_row(w, frame.context, op)
                                                          : cost_row(w, context_now(), 0);
    if (row) {
        agent_add_in_place(row, 1);
        agent_add_in_place(row + 8, ns);
        agent_add_in_place(row + 16, ns > frame.inside_ns ? ns - frame.inside_ns : 0);
    }
    raised_restore(&raised);
    agent.overhead_ns += agent_now() - ended;
    return ret;
}

static PyObject *call_cost(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    return call_cost_of(w, 0, args, kwargs);
}

static PyObject *call_operator_cost(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    const struct running_dispatch *running = dispatch_now();
    return call_cost_of(w, running ? running->op : 0, args, kwargs);
}

/* ------------------------------------------------------------------------------------------------
 * Uses of a size: SymInt.__int__(self), SymNode.guard_int(self, file, line) ... */

/* Returns the expression of a SymNode. It is not .expr, which would simplify the expression and
 * take much longer. The table of values owns the reference. */
static PyObject *node_expression(PyObject *self, PyObject **node)
{
    *node = agent_attribute(self, ATTRIBUTE_node);
    if (!*node) {
        PyErr_Clear();
        Py_INCREF(self);
        *node = self;
    }
    PyObject *expr = agent_attribute(*node, ATTRIBUTE__expr);
    if (!expr)
        PyErr_Clear();
    return expr;
}

/* Returns the id of a symbol's source. It is stored beside the expression's id, plus 1, so that
 * it is determined once. */
static uint32_t source_id_of(PyObject *node, const PyObject *expr)
{
    struct ptr_slot *slot = ptr_find(&agent.values, expr);
    if (slot && slot->flags)
        return slot->flags - 1;
    PyObject *on_source = agent.globals[AGENT_on_source];
    PyObject *source = on_source ? PyObject_CallFunctionObjArgs(on_source, node, NULL) : NULL;
    if (!source)
        PyErr_Clear();
    uint32_t id = source && source != Py_None ? string_of(source) : 0;
    Py_XDECREF(source);
    slot = ptr_find(&agent.values, expr);
    if (slot)
        slot->flags = id + 1;
    return id;
}

static void write_use_event(struct wrapper *w, PyObject *self)
{
    PyObject *node;
    struct event event;
    PyObject *expr = node_expression(self, &node);
    if (expr) {
        renew_ids(w);
        uint32_t context = context_of_thread();
        const struct running_dispatch *running = dispatch_now();
        uint32_t stack = running ? running->stack : stack_now(context);
        uint32_t value = id_of_value(expr), source = source_id_of(node, expr), asker = asker_now();
        const uint32_t fields[] = { context, w->name_id, value, source, asker, stack };
        if (event_begin(&event, DEEP_USE, sizeof fields)) {
            for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                event_u32(&event, fields[i]);
            event_end(&event);
        }
        Py_DECREF(expr);
    }
    Py_DECREF(node);
}

static PyObject *call_use(struct wrapper *w, PyObject *args, PyObject *kwargs)
{
    if (thread.in_use || thread.in_env || PyTuple_Size(args) < 1 || !agent_ready())
        return call_inner(w, args, kwargs);
    uint64_t start = agent_now();
    thread.in_use = true;
    write_use_event(w, PyTuple_GetItem(args, 0));
    agent.overhead_ns += agent_now() - start;
    PyObject *ret = call_inner(w, args, kwargs);
    thread.in_use = false;
    return ret;
}

/* ------------------------------------------------------------------------------------------------
 * The type. */

static PyObject *wrapper_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    struct wrapper *w = (struct wrapper *)self;
    return w->call(w, args, kwargs);
}

/* Binds a wrapper to an instance; PyMethod_New is exported, but not in the limited API. */
static PyObject *wrapper_bind(PyObject *self, PyObject *object, PyObject *type)
{
    static PyObject *(*bind)(PyObject *, PyObject *);
    (void)type;
    if (!object || object == Py_None) {
        Py_INCREF(self);
        return self;
    }
    if (!bind) {
        void *found = dlsym(RTLD_DEFAULT, "PyMethod_New");
        memcpy(&bind, &found, sizeof found);
    }
    if (!bind)
        return PyErr_Format(PyExc_RuntimeError, "symtape: this Python has no PyMethod_New");
    return bind(self, object);
}

/* Returns whether an attribute is the wrapped function's although the type has it as well. */
static bool is_of_inner(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__doc__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__module__") == 0;
}

static PyObject *wrapper_attribute(PyObject *self, PyObject *name)
{
    if (is_of_inner(name))
        return PyObject_GetAttr(((struct wrapper *)self)->inner, name);
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    PyErr_Clear();
    return PyObject_GetAttr(((struct wrapper *)self)->inner, name);
}

static PyObject *wrapper_text(PyObject *self)
{
    return PyObject_Repr(((struct wrapper *)self)->inner);
}

static void wrapper_free(PyObject *self)
{
    struct wrapper *w = (struct wrapper *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_self = __extension__(freefunc) PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF(w->inner);
    Py_XDECREF(w->name);
    Py_XDECREF(w->extra);
    Py_XDECREF(w->label);
    for (int i = 0; i < w->n_arguments; i++)
        Py_XDECREF(w->arguments[i].name);
    free_self(self);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    { "__wrapped__", T_OBJECT, offsetof(struct wrapper, inner), READONLY, NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_call, AGENT_SLOT(wrapper_call) },
    { Py_tp_descr_get, AGENT_SLOT(wrapper_bind) },
    { Py_tp_getattro, AGENT_SLOT(wrapper_attribute) },
    { Py_tp_repr, AGENT_SLOT(wrapper_text) },
    { Py_tp_dealloc, AGENT_SLOT(wrapper_free) },
    { Py_tp_members, members },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "_symtape_deep.wrapper",
    .basicsize = sizeof(struct wrapper),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

PyObject *agent_wrapper_type(void)
{
    return PyType_FromSpec(&spec);
}

/* Returns what wrappers of a kind do, or NULL with an exception. */
static wrapper_function function_of_kind(const char *kind)
{
    static const struct {
        const char *name;
        wrapper_function call;
    } kinds[] = {
#define KIND(name, function) { name, function },
        KINDS(KIND)
#undef KIND
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return kinds[i].call;
    PyErr_Format(PyExc_ValueError, "unknown kind of wrapper: %s", kind);
    return NULL;
}

/* Returns the position of the function that a function of torch.utils._pytree applies to each leaf,
 * or -1: tree_map(function, tree), tree_map_only(type, function, tree). */
static int mapped_argument(PyObject *name)
{
    static const struct {
        const char *name;
        int position;
    } MAPPED[] = {
        { "tree_map", 0 },      { "tree_map_", 0 },     { "tree_any", 0 },
        { "tree_all", 0 },      { "tree_map_only", 1 }, { "tree_map_only_", 1 },
        { "tree_any_only", 1 }, { "tree_all_only", 1 }, { "tree_map_with_path", 0 },
    };
    for (size_t i = 0; i < sizeof MAPPED / sizeof *MAPPED; i++)
        if (PyUnicode_CompareWithASCIIString(name, MAPPED[i].name) == 0)
            return MAPPED[i].position;
    return -1;
}

/* Sets the arguments from [(name, position), ...]. */
static bool set_arguments(struct wrapper *w, PyObject *list)
{
    Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; i < n && i < MOST_ARGUMENTS; i++) {
        struct argument *a = &w->arguments[w->n_arguments];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Ul", &a->name, &a->position))
            return false;
        Py_INCREF(a->name);
        w->n_arguments++;
    }
    return true;
}

/* wrap(kind, inner, name, extra): extra is a mode's number, a caller, or a list of arguments. */
PyObject *agent_wrap(PyObject *type, PyObject *args)
{
    const char *kind;
    PyObject *inner, *name, *extra;
    if (!PyArg_ParseTuple(args, "sOUO", &kind, &inner, &name, &extra))
        return NULL;
    wrapper_function call = function_of_kind(kind);
    PyObject *ret = call ? new_wrapper((PyTypeObject *)type, call, inner, name, extra) : NULL;
    struct wrapper *w = (struct wrapper *)ret;
    if (!w)
        return NULL;
    w->mode = PyLong_Check(extra) ? (uint32_t)PyLong_AsUnsignedLong(extra) % MODES : 0;
    w->mapped = call == call_cost ? mapped_argument(name) : -1;
    set_arguments(w, extra);
    if (!PyErr_Occurred())
        return ret;
    Py_DECREF(ret);
    return NULL;
}
