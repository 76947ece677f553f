#include "minify/program/program_names.h"

#include <stdlib.h>
#include <string.h>

#include "minify/program/python_text.h"
#include "trace/base/text/json_write.h"
#include "trace/graph/graph.h"

/* ---- Tables ---- */

/* The base names of aten that replay has a row for, sorted. */
static const char *const bases[] = {
#include <minify/program_operators.inc>
};

static const char *const python_rows[] = {
#define PYTHON(name, signature, rule, base) name,
#include "replay/ops/python/python.def"
#undef PYTHON
};

static const struct {
    const char *from, *to;
} prefixes[] = {
#define PREFIX(from, to) { from, to },
#include "replay/ops/python/python_prefixes.def"
#undef PREFIX
};

static const char *const operators[] = {
#define OPERATOR(name, base, reflected, how) name,
#include "replay/ops/python/python_operators.def"
#undef OPERATOR
};

static const char *const numbers[] = {
#define NUMBER(name, how, method) name,
#include "replay/ops/python/python_numbers.def"
#undef NUMBER
};

static const char *const spaces[] = {
#define SPACE(name) name,
#include "minify/program/program_names.def"
};
static const struct {
    const char *space, *name;
} refused[] = {
#define REFUSED(space, name) { space, name },
#include "minify/program/program_names.def"
};
static const struct {
    const char *prefix, *base;
} modules[] = {
#define MODULE(prefix, base) { prefix, base },
#include "minify/program/program_names.def"
};
static const char *const operator_functions[] = {
#define OPERATOR_FUNCTION(name) name,
#include "minify/program/program_names.def"
};
static const char *const math_functions[] = {
#define MATH(name) name,
#include "minify/program/program_names.def"
};
static const char *const builtins[] = {
#define BUILTIN(name) name,
#include "minify/program/program_names.def"
};
static const char *const types[] = {
#define TYPE(name) name,
#include "minify/program/program_names.def"
};
static const char *const values[] = {
#define VALUE(chain) chain,
#include "minify/program/program_names.def"
};
static const char *const attributes[] = {
#define ATTRIBUTE(name) name,
#include "minify/program/program_names.def"
};
static const char *const chains[] = {
#define CHAIN(chain) chain,
#include "minify/program/program_names.def"
};
static const char *const members[] = {
#define MEMBER(name) name,
#include "minify/program/program_names.def"
};
static const char *const frame[] = {
#define FRAME(name) name,
#include "minify/program/program_names.def"
};
static const char *const imports[] = {
#define IMPORT(name) name,
#include "minify/program/program_names.def"
};

/* The variables of the code around a graph. */
static const char *const variables[] = {
    "inputs",   "f",        "error", "backend", "envs",      "guards",  "Module", "device",
    "expected", "exported", "auto",  "self",    "shapes",    "traced",  "actual", "make_fx",
    "warm",     "began",    "once",  "seconds", "gradients", "outputs", "copies", "dynamic",
};
/* The names of Python that keep their usual meaning in the program. */
static const char *const usual[] = { "inf",   "nan",  "object", "einops",
                                     "numpy", "dict", "set",    "builtins" };

#define HAS(names, name) has_name_in(names, sizeof names / sizeof *names, name)

static bool has_name_in(const char *const *names, size_t n, struct str name)
{
    return str_is_one_of(name, names, n);
}

static int compare_name(const void *key, const void *element)
{
    return str_cmp(*(const struct str *)key, str_of(*(const char *const *)element));
}

static bool has_base(struct str name)
{
    return bsearch(&name, bases, sizeof bases / sizeof *bases, sizeof *bases, compare_name) != NULL;
}

/* Returns whether `base` followed by the name is a base name of aten. */
static bool has_prefixed_base(const char *base, struct str name)
{
    char room[160];
    size_t n = strlen(base);
    if (n + name.n >= sizeof room)
        return false;
    memcpy(room, base, n);
    memcpy(room + n, name.p, name.n);
    return has_base((struct str){ room, n + name.n });
}

static bool has_row(const char *prefix, struct str name)
{
    size_t n = strlen(prefix);
    for (size_t i = 0; i < sizeof python_rows / sizeof *python_rows; i++) {
        struct str row = str_of(python_rows[i]);
        if (str_starts(row, str_of(prefix)) && str_eq(str_from(row, n), name))
            return true;
    }
    return false;
}

static bool is_refused(struct str space, struct str name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (str_is(space, refused[i].space) && str_is(name, refused[i].name))
            return true;
    return false;
}

static bool is_dunder(struct str name)
{
    return str_starts(name, STR("__"));
}

/* ---- Targets ---- */

static bool is_allowed(struct str space, struct str allow)
{
    while (allow.n) {
        struct str one = str_trim(str_first(allow, str_find_char(allow, ',')));
        if (str_eq(one, space))
            return true;
        allow = str_from(allow, str_find_char(allow, ',') + 1);
    }
    return false;
}

struct operator_name {
    struct str space, name, overload;
};

/* Splits NS.NAME or NS.NAME.OVERLOAD. */
static bool split_operator(struct str target, struct operator_name *ret)
{
    struct str rest = str_from(target, 10);
    ret->space = str_first(rest, str_find_char(rest, '.'));
    rest = str_from(rest, ret->space.n + 1);
    ret->name = str_first(rest, str_find_char(rest, '.'));
    bool more = ret->name.n < rest.n;
    ret->overload = str_from(rest, ret->name.n + 1);
    return python_is_name(ret->space) && python_is_name(ret->name) &&
           (!more || python_is_name(ret->overload));
}

static enum program_target operator_target(struct str target, struct str allow)
{
    struct operator_name name;
    if (!split_operator(target, &name) || is_dunder(name.space) || is_dunder(name.overload) ||
        is_refused(name.space, name.name))
        return PROGRAM_REFUSED;
    if (is_dunder(name.name) && !(str_is(name.space, "aten") && has_base(name.name)))
        return PROGRAM_REFUSED;
    if (str_is(name.space, "higher_order") && name.overload.n)
        return PROGRAM_REFUSED;
    return HAS(spaces, name.space) || is_allowed(name.space, allow) ? PROGRAM_OPERATOR
                                                                    : PROGRAM_FOREIGN;
}

static bool is_operator_function(struct str name)
{
    struct str plain = str_ends(name, STR("_")) ? str_first(name, name.n - 1) : name;
    return HAS(operator_functions, name) || (!is_dunder(name) && HAS(operators, plain));
}

static bool in_module(struct str target)
{
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        struct str prefix = str_of(modules[i].prefix), name = str_from(target, prefix.n);
        if (str_starts(target, prefix) && python_is_name(name) && !is_dunder(name) &&
            has_prefixed_base(modules[i].base, name))
            return true;
    }
    return false;
}

/* Returns whether python.def has a row for a target, by its name or by an alias. */
static bool has_function_row(struct str target)
{
    if (str_starts(target, STR("torch.")) && has_row("", target))
        return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str from = str_of(prefixes[i].from);
        if (str_starts(target, STR("torch.")) && str_starts(target, from) &&
            has_row(prefixes[i].to, str_from(target, from.n)))
            return true;
    }
    return false;
}

enum program_target program_target(struct str target, struct str allow)
{
    bool known;
    if (str_starts(target, STR("torch.ops.")))
        return operator_target(target, allow);
    if (str_starts(target, STR("torch._sym_")))
        known = HAS(math_functions, str_from(target, 11));
    else if (str_starts(target, STR("torch.sym_")))
        known = has_row("", target) || HAS(numbers, str_from(target, 6));
    else if (str_starts(target, STR("torch.")))
        known = in_module(target) || has_function_row(target);
    else if (str_starts(target, STR("operator.")))
        known = is_operator_function(str_from(target, 9));
    else if (str_starts(target, STR("_operator.")))
        known = is_operator_function(str_from(target, 10));
    else if (str_starts(target, STR("math_")))
        known = HAS(math_functions, str_from(target, 5));
    else if (str_starts(target, STR("math.")))
        known = HAS(math_functions, str_from(target, 5));
    else if (str_starts(target, STR("builtins.")))
        known = HAS(builtins, str_from(target, 9));
    else
        known = HAS(builtins, target);
    return known ? PROGRAM_FUNCTION : PROGRAM_REFUSED;
}

void program_explain(struct str target, struct str allow, struct buf *out)
{
    struct operator_name name = { 0 };
    bool op = str_starts(target, STR("torch.ops."));
    buf_printf(out, "calls %.*s", STR_ARG(str_first(target, 80)));
    if (program_target(target, allow) == PROGRAM_FOREIGN && split_operator(target, &name))
        buf_printf(out,
                   ": namespace %.*s is not PyTorch's own; --allow %.*s permits it, "
                   "and minify --import FILE registers it",
                   STR_ARG(str_first(name.space, 40)), STR_ARG(str_first(name.space, 40)));
    else if (op && split_operator(target, &name) && is_refused(name.space, name.name))
        buf_puts(out, ", which does more than compute and is never written into a program");
    else if (op)
        buf_puts(out, ", which is not the name of an operator");
    else
        buf_puts(out, ", which is neither an operator nor a Python function that replay knows");
}

/* ---- Methods, attributes, values ---- */

/* Returns whether a name is a method of an operator: "__add__", "__radd__". */
static bool is_operator_method(struct str name)
{
    if (name.n < 5 || !is_dunder(name) || !str_ends(name, STR("__")))
        return false;
    name = str_first(str_from(name, 2), name.n - 4);
    return HAS(operators, name) || (name.p[0] == 'r' && HAS(operators, str_from(name, 1)));
}

bool program_has_method(struct str name)
{
    return python_is_name(name) &&
           (has_base(name) || has_row("Tensor.", name) || is_operator_method(name));
}

bool program_has_attribute(struct str name)
{
    return HAS(attributes, name);
}

bool program_has_value(struct str name)
{
    return HAS(values, name) || HAS(types, name) || dtype_by_python_name(name) != DTYPE_NONE;
}

#define RESERVE(taken, names) reserve(taken, names, sizeof names / sizeof *names)

static bool reserve(struct intern *taken, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (intern(taken, str_of(names[i])) == INTERN_NONE)
            return false;
    return true;
}

bool program_reserve(struct intern *taken)
{
    return python_reserve(taken) && RESERVE(taken, variables) && RESERVE(taken, builtins) &&
           RESERVE(taken, types) && RESERVE(taken, frame) && RESERVE(taken, imports) &&
           RESERVE(taken, usual);
}

bool program_check_allow(struct str allow, struct err *err)
{
    struct str rest = allow;
    while (rest.n) {
        struct str one = str_trim(str_first(rest, str_find_char(rest, ',')));
        rest = str_from(rest, str_find_char(rest, ',') + 1);
        if (!python_is_name(one) || is_dunder(one))
            return err_set(err, ERR_USAGE,
                           "--allow: \"%.*s\" is not a namespace of operators, as torchvision "
                           "is in torch.ops.torchvision.nms",
                           STR_ARG(str_first(one, 60)));
    }
    return true;
}

/* ---- The tables ---- */

#define PUT(w, key, names) put_names(w, key, names, sizeof names / sizeof *names)

static void put_names(struct json_writer *w, const char *key, const char *const *names, size_t n)
{
    json_open_array(w, key);
    for (size_t i = 0; i < n; i++)
        json_put_cstr(w, NULL, names[i]);
    json_close(w);
}

static void put_name_pair(struct json_writer *w, const char *a, const char *b)
{
    json_open_array(w, NULL);
    json_put_cstr(w, NULL, a);
    json_put_cstr(w, NULL, b);
    json_close(w);
}

static void put_pairs(struct json_writer *w)
{
    json_open_array(w, "refused");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        put_name_pair(w, refused[i].space, refused[i].name);
    json_close(w);
    json_open_array(w, "modules");
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        put_name_pair(w, modules[i].prefix, modules[i].base);
    json_close(w);
    json_open_array(w, "prefixes");
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        put_name_pair(w, prefixes[i].from, prefixes[i].to);
    json_close(w);
}

static void put_allow(struct json_writer *w, struct str allow)
{
    json_open_array(w, "allow");
    while (allow.n) {
        json_put_str(w, NULL, str_trim(str_first(allow, str_find_char(allow, ','))));
        allow = str_from(allow, str_find_char(allow, ',') + 1);
    }
    json_close(w);
}

void program_tables(struct str allow, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    PUT(&w, "bases", bases);
    PUT(&w, "rows", python_rows);
    PUT(&w, "operators", operators);
    PUT(&w, "numbers", numbers);
    PUT(&w, "spaces", spaces);
    PUT(&w, "operator_functions", operator_functions);
    PUT(&w, "math", math_functions);
    PUT(&w, "builtins", builtins);
    PUT(&w, "types", types);
    PUT(&w, "values", values);
    PUT(&w, "attributes", attributes);
    PUT(&w, "chains", chains);
    PUT(&w, "members", members);
    PUT(&w, "frame", frame);
    PUT(&w, "imports", imports);
    PUT(&w, "variables", variables);
    json_open_array(&w, "dtypes");
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        json_put_cstr(&w, NULL, dtype_python_name((enum dtype)i));
    json_close(&w);
    put_pairs(&w);
    put_allow(&w, allow);
    json_close(&w);
}
