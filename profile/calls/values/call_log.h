/* The calls of compiled functions that a program made, in order: JSON lines, one object a call.
 *
 *     {"call": 3, "function": "MLP.forward", "module": 1, "training": false,
 *      "args": [{"source": "L['x']", "obj": 5, "size": [8, 16], "stride": [16, 1],
 *                "dtype": "torch.float32", "device": "cpu", "requires_grad": false},
 *               {"source": "L['n']", "type": "int", "value": 3}],
 *      "state": [{"source": "L['self'].k", "type": "int", "value": 2}],
 *      "mode": {"grad": true, "inference": false, "autocast": null,
 *               "default_dtype": "torch.float32", "deterministic": false,
 *               "settings": {"num_threads": "2"}}}
 *
 * "args" are the function's locals and "state" attributes and globals that may have changed; what
 * neither names is as it was. "code" names the code object ("train.py:17:forward"), where it is
 * known, and "frame_id" tells apart those of one name. Entries
 * answer calls with their own "backend" only, where it is told. "stance" names the stance of
 * torch.compiler.set_stance() at work, unless it is the default; "resets" says how often all
 * entries were forgotten before, and "generation" how often compile ids had begun again at 0/0. A
 * value is a tensor, or has a "type" with "value", "len" or "keys". "module" numbers the module
 * whose forward was called, "region" a function that was compiled with isolate_recompiles,
 * "backward_of" the call whose backward this is, "look" which of its look-ups, "parent" the call
 * inside which this one was made. A line without "call" and other members are ignored.
 * symtape-cache(1) documents the format for users. */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_CALL_LOG_H
#define SYMTAPE_PROFILE_CALLS_VALUES_CALL_LOG_H

#include "profile/calls/values/py_value.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/intern.h"
#include "trace/events/calls.h"

enum mode_setting {
#define SETTING(name, place) MODE_SETTING_##name,
#include "profile/calls/values/mode_settings.def"
#undef SETTING
    MODE_SETTING_COUNT
};

/* Modes of the process that GLOBAL_STATE guards. */
struct call_mode {
    bool known;
    bool grad, inference, deterministic;
    struct str autocast_device; /* "" without autocast */
    struct str autocast_dtype;  /* "torch.bfloat16" */
    struct str default_dtype;
    struct str function_modes; /* "DeviceContext(meta)"; "" without a mode of torch.overrides */
    /* "False", "4"; "" where one is as at the first call, or is not told */
    struct str settings[MODE_SETTING_COUNT];
};

/* Appends what tells modes apart. */
void call_mode_put(const struct call_mode *mode, struct buf *out);

/* A value as its line says it: the object of two values of a call is the same if their numbers are
 * equal, and stands in program_call.objects under that number. program_call_value() looks it up. */
struct call_value {
    uint32_t source; /* in call_log.sources */
    struct py_value value;
};

struct call_object {
    uint32_t number; /* equal numbers mean the same object */
    bool inference;  /* made in inference mode */
};

#define CALL_NONE UINT32_MAX

/* What a call does that no entry answers (torch.compiler.set_stance()). */
enum call_stance {
    STANCE_DEFAULT,
    STANCE_FORCE_EAGER,        /* the call is not looked up at all */
    STANCE_EAGER_ON_RECOMPILE, /* nothing is compiled */
    STANCE_FAIL_ON_RECOMPILE,  /* the call fails */
    STANCE_EAGER_THEN_COMPILE  /* the first such call of a code object is not compiled */
};

struct program_call {
    uint64_t number;
    bool inside; /* a frame that was looked up during the call before it, which has its number */
    struct str function;
    struct str code;    /* "FILE:LINE:NAME"; "" if it is not told */
    int64_t frame_id;   /* the first number of its compile ids; -1: it is not told */
    struct str backend; /* with which it was compiled; "" if it is not told */
    enum call_stance stance;
    uint64_t resets, generation;
    int64_t module, region; /* -1: none */
    int64_t backward_of;    /* the number of a call; -1: this is no backward */
    int64_t parent; /* the number of the call inside which it was made; -1: of none that is told */
    int64_t look;   /* of a backward: the look-up of that call whose graph it is the backward
                       of, 0 for that of the called function; -1: it is not told */
    const struct call_value *values;
    uint32_t n_values;
    uint32_t form; /* calls of the same form differ in `number`, `backward_of`, `parent` and
                      `objects` alone, and share `values` */
    uint32_t n_objects;
    const struct call_object *objects; /* by the number that `values` give them */
    struct call_mode mode;
    double seconds; /* that the call took, what it compiled included; 0: it is not told, as of a
                       frame inside a call */
};

struct call_log {
    struct arena arena;    /* holds values */
    struct intern texts;   /* names, types, dtypes, keys ... */
    struct intern sources; /* spelled as source_spelling() does */
    vec_of(struct program_call)
    calls;
    uint32_t n_forms;
    uint32_t n_listed; /* number of sources that calls list, which are the first of `sources` */
    bool of_tape;      /* the calls are those that the tape has, which has all compiles of them */
};

/* Reads calls piece by piece, so that a file need not be held.
 *
 *     struct call_reader *in = call_reader_new(&log);
 *     while (... a piece of the file ...)
 *         ok = ok && call_reader_take(in, piece, err);
 *     ok = ok && call_reader_end(in, err);
 *     call_reader_free(in);
 *
 * call_reader_recorded() takes a call of a tape, as if its line were read: recorded_calls.take.
 * The log owns all it holds. All return false with err set: ERR_INPUT with the line
 * ("line 7: ..."), or when memory ran out. call_reader_new() returns NULL when memory ran out. */
struct call_reader;
struct call_reader *call_reader_new(struct call_log *log);
bool call_reader_take(struct call_reader *in, struct str piece, struct err *err);
bool call_reader_end(struct call_reader *in, struct err *err);
bool call_reader_recorded(struct call_reader *in, const struct recorded_call *call,
                          struct err *err);
void call_reader_free(struct call_reader *in); /* NULL is allowed */

/* Reads all lines of a text. */
bool call_log_read(struct call_log *log, struct str text, struct err *err);
void call_log_release(struct call_log *log);

/* Returns value i of a call, whose object has the number that it has in all calls. */
struct py_value program_call_value(const struct program_call *call, uint32_t i);

/* Writes a source in the spelling of Dynamo's guards: L["x"] becomes L['x']. */
void source_spelling(struct str source, struct buf *out);

#endif
