/* The part of `symtape record --deep` that runs inside the program: a Python extension module that
 * counts and writes events to the process's side file (trace/log/deep/deep_format.h).
 *
 * python/ beside this folder decides what is wrapped and renders what is written seldom; what
 * happens thousands of times a second is done here: dispatches, calls into ShapeEnv, uses of sizes,
 * costs. It is built against Python's limited API, so that one module serves Python 3.10 and later,
 * and it links nothing: it is loaded into a foreign process.
 *
 * One process has one side file, hence one `struct agent`, the module's global state. All of it is
 * used with the GIL held only. Nothing here may change what the program does: a failure of ours
 * clears our exception, counts what was lost, and the program continues.
 *
 * References. The tables own references to objects whose address is a key (otherwise another object
 * could get the same address): code objects, expressions, operators. agent_release() releases them
 * whenever a compile ends. No wrapper refers to its arguments, so there are no cycles. */
#ifndef SYMTAPE_TRACE_RECORD_DEEP_AGENT_H
#define SYMTAPE_TRACE_RECORD_DEEP_AGENT_H

#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "trace/log/deep/deep_format.h"

/* ------------------------------------------------------------------------------------------------
 * agent_table.c: ids by address, and by number. */

uint64_t agent_hash(uint64_t key);

struct ptr_slot {
    PyObject *key; /* owned reference */
    uint32_t id;
    uint32_t flags; /* the caller's */
};

struct ptr_table {
    struct ptr_slot *slots;
    size_t n, cap;
};

/* Returns the slot of a key; NULL when it is not there. */
struct ptr_slot *ptr_find(const struct ptr_table *table, const PyObject *key);
bool ptr_add(struct ptr_table *table, PyObject *key, uint32_t id, uint32_t flags);
void ptr_clear(struct ptr_table *table);

struct u64_table {
    uint64_t *keys, *values; /* value 0: a free slot */
    size_t n, cap;
};

uint64_t u64_find(const struct u64_table *table, uint64_t key); /* 0: not there */
bool u64_add(struct u64_table *table, uint64_t key, uint64_t value);
void u64_clear(struct u64_table *table);

/* ------------------------------------------------------------------------------------------------
 * The state. */

/* Objects that the Python part passes to us, by attribute of its helper. */
#define AGENT_GLOBALS(GLOBAL)                                                               \
    GLOBAL(compile_tls) /* torch._guards._TLS: compile_context, tracing_context */          \
    GLOBAL(fx_globals)  /* dict of torch.fx.traceback: current_meta */                      \
    GLOBAL(fake_mode)   /* class FakeTensorMode: cache_hits, cache_misses */                \
    GLOBAL(on_context)  /* (compile context) -> (autograd, frame, compile) */               \
    GLOBAL(on_code)     /* (code) -> (file, name, line table, first line, source, flags) */ \
    GLOBAL(on_frame)    /* (file, line) -> source line */                                   \
    GLOBAL(on_value)    /* (object) -> (JSON, floats as JSON) */                            \
    GLOBAL(on_env)      /* (ShapeEnv) -> number, settings as JSON or None */                \
    GLOBAL(on_source)   /* (SymNode) -> source of its symbol or None */

enum agent_global {
#define GLOBAL(name) AGENT_##name,
    AGENT_GLOBALS(GLOBAL)
#undef GLOBAL
        AGENT_GLOBAL_COUNT
};

/* Attributes of PyTorch's objects, and keys of its dicts, that are read often. */
#define AGENT_ATTRIBUTES(ATTRIBUTE)                               \
    ATTRIBUTE(compile_context)      /* of _TLS */                 \
    ATTRIBUTE(tracing_context)      /* of _TLS */                 \
    ATTRIBUTE(attempt)              /* of a compile context */    \
    ATTRIBUTE(loc_in_frame)         /* of a tracing context */    \
    ATTRIBUTE(frame_summary_stack)  /* of a tracing context */    \
    ATTRIBUTE(cache_hits)           /* of FakeTensorMode */       \
    ATTRIBUTE(cache_misses)         /* of FakeTensorMode */       \
    ATTRIBUTE(node)                 /* of a SymInt */             \
    ATTRIBUTE(_expr)                /* of a SymNode */            \
    ATTRIBUTE(current_meta)         /* of fx_globals, a dict */   \
    ATTRIBUTE(stack_trace)          /* of current_meta, a dict */ \
    ATTRIBUTE(_suppress_guards_tls) /* of a ShapeEnv, a function */

enum agent_attribute {
#define ATTRIBUTE(name) ATTRIBUTE_##name,
    AGENT_ATTRIBUTES(ATTRIBUTE)
#undef ATTRIBUTE
        AGENT_ATTRIBUTE_COUNT
};

struct agent {
    /* agent_file.c */
    char *folder;         /* NULL: not started, or stopped */
    bool failed;          /* no more events are written */
    volatile bool forked; /* set in the child of a fork: a new file must be opened */
    int fd;
    unsigned char *map;
    size_t size, used;
    uint64_t start_ns, overhead_ns, lost;
    uint32_t generation; /* generation of ids, which are valid in one file only */
    char path[4096];
    PyObject *process; /* text of the PROCESS event, written first into each file */

    /* agent_names.c */
    PyObject *strings;  /* dict: text -> id */
    PyObject *frames;   /* dict: (file, line, function) -> id */
    PyObject *texts;    /* dict: traceback text -> stack id */
    PyObject *contexts; /* dict: (autograd, frame, compile, attempt) -> id */
    uint32_t n_strings, n_frames, n_stacks, n_contexts, n_codes, n_values, n_operator_costs;
    struct ptr_table codes, values, summaries, operators;
    struct u64_table code_frames, stacks, cost_rows, operator_costs;
    PyObject *last_context, *last_loc, *last_env;
    int64_t last_attempt;
    uint32_t last_context_id, last_stack, last_env_id;
    int64_t last_depth;
    PyObject *globals[AGENT_GLOBAL_COUNT];
    PyObject *attributes[AGENT_ATTRIBUTE_COUNT]; /* their names, interned; NULL: not yet */

    /* agent_wrap.c */
    PyObject *counts; /* dict: label -> how often, as PyTorch's simple_call_counter */
    uint64_t order;
    uint32_t n_wrappers;
};

extern struct agent agent;

/* The dispatch or call that a thread is in. */
struct running_dispatch {
    struct running_dispatch *up;
    uint32_t mode, stack, context;
    uint32_t op, fast, slow, bypass; /* strings */
    uint32_t generation;             /* of these ids */
    uint64_t inside_ns;
    long hits_inside, misses_inside;
};

struct running_cost { /* a cost that a thread is in */
    struct running_cost *up;
    uint32_t context, generation; /* an id, and the generation to which it belongs */
    uint64_t inside_ns;
};

struct thread {
    struct running_dispatch *running; /* innermost dispatch */
    struct running_cost *costing;
    uint32_t depth[3]; /* by mode */
    bool in_env, in_use;
    uint16_t number; /* 0: no number yet */
};

extern _Thread_local struct thread thread;

/* ------------------------------------------------------------------------------------------------
 * agent_file.c: the side file. */

uint64_t agent_now(void);
/* Returns whether events can be written; opens the file if it is not open, or after a fork. */
bool agent_ready(void);
void agent_forked(void); /* for pthread_atfork */
void agent_close(bool orderly);

/* An event under construction: no other function may be called between begin and end.
 * event_begin() reserves `size` bytes for fields; it returns false (and counts a lost event)
 * when there is no space. */
struct event {
    unsigned char *start, *at;
};
bool event_begin(struct event *event, enum deep_event_type type, size_t size);
void event_u32(struct event *event, uint32_t value);
void event_u64(struct event *event, uint64_t value);
void event_text(struct event *event, const char *text, size_t n);
/* Ends the event and returns its offset in the file. */
uint64_t event_end(struct event *event);
void agent_add_in_place(uint64_t offset, uint64_t value);

/* ------------------------------------------------------------------------------------------------
 * agent_names.c: what events refer to by id. 0 where there is none, or after a failure (no
 * exception is left behind). */

/* Returns an attribute, as a new reference, or NULL with an exception. */
PyObject *agent_attribute(PyObject *object, enum agent_attribute name);
/* Returns what a dict has for the name of an attribute, as a borrowed reference, or NULL. */
PyObject *agent_item(PyObject *dict, enum agent_attribute name);
uint32_t string_of(PyObject *text);
uint32_t string_of_type(PyObject *object); /* name of its type */
uint32_t id_of_value(PyObject *object);
uint32_t string_of_operator(PyObject *function); /* a string */
uint32_t context_now(void);
uint32_t env_of(PyObject *env);

/* agent_stack.c */
uint32_t stack_now(uint32_t context);
uint32_t stack_of_text(PyObject *text); /* a string, as an FX node's stack_trace */
/* Returns the innermost frame that is not SymInt's or ShapeEnv's own. */
uint32_t asker_now(void);

/* Releases the objects that are keys of tables. */
void agent_release(void);
/* Drops the ids of compiles, because torch._dynamo.reset() gives them to others. */
void agent_forget_contexts(void);
/* Drops all ids, because a new file begins. */
void agent_forget(void);

/* ------------------------------------------------------------------------------------------------
 * agent_wrap.c: functions of PyTorch with ours around them. */

PyObject *agent_wrapper_type(void); /* new reference; NULL with an exception */
PyObject *agent_wrap(PyObject *type, PyObject *args);

/* Adds a class to a module. `type`: a new reference, or NULL with an exception, as when it returns
 * false. */
bool agent_add_class(PyObject *module, const char *name, PyObject *type);

/* CPython's slots are void pointers, also those to functions. */
#define AGENT_SLOT(name) (__extension__(void *)(name))

/* ------------------------------------------------------------------------------------------------
 * agent_objects.c: the numbers that the recorder of calls gives to objects. */

enum { OBJECT_UNNUMBERED = -1, OBJECT_FAILED = -2 };

PyObject *agent_objects_type(void); /* the class Objects; new reference, or NULL */
/* Returns an object's number, which is new if the object has none; OBJECT_UNNUMBERED if it cannot
 * be referred to weakly; OBJECT_FAILED with an exception. */
long long object_number(PyObject *objects, PyObject *object);
long long objects_next(PyObject *objects);
bool agent_refers_to(PyObject *reference, const PyObject *object); /* a weak reference */

/* ------------------------------------------------------------------------------------------------
 * agent_calls.c: calls of compiled functions that are as the calls before them. */

/* How a value is compared with the key of an argument: the numbers of call_values.py. */
enum { AGAIN_FIXED, AGAIN_TENSOR, AGAIN_PLAIN, AGAIN_LIST, AGAIN_OBJECT };

/* Adds the classes Call and Objects to the module; false with an exception. */
bool agent_add_calls(PyObject *module);
/* Functions of the module. */
PyObject *agent_watch_calls(PyObject *module, PyObject *args);
PyObject *agent_wrap_eval_frame(PyObject *module, PyObject *args);
PyObject *agent_entry_guard(PyObject *module, PyObject *entry);
PyObject *agent_set_active(PyObject *module, PyObject *active);
PyObject *agent_begin_run(PyObject *module, PyObject *args);
PyObject *agent_end_run(PyObject *module, PyObject *none);

#endif
