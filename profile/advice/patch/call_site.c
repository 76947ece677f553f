#include "profile/advice/patch/call_site.h"

#include <string.h>

#include "profile/calls/values/python_scan.h"
#include "profile/model/build.h"
#include "trace/events/user_line.h"

enum { MOST_DECORATORS = 8 /* lines before a def */ };

/* ---- The recorded call ---- */

/* Returns the stack at which a compile began: the innermost frame is the function's own. */
static stack_id start_stack(struct trace *trace, uint32_t attempt)
{
    const struct attempt *a = &trace->attempts[attempt];
    struct json doc = { 0 };
    stack_id ret = 0;
    for (uint32_t i = 0; !ret && i < a->n_records; i++) {
        struct err unreadable = { 0 };
        if (trace->records[a->records[i]].event == EVENT_DYNAMO_START &&
            record_json(trace, a->records[i], &doc, &unreadable))
            ret = record_stack(trace, &doc, STR("stack"));
    }
    json_release(&doc);
    return ret;
}

/* Returns whether a frame passes the arguments of a call on as they are. */
static bool passes_on(struct str file)
{
    return str_ends(file, STR("/torch/_dynamo/eval_frame.py")) ||
           str_ends(file, STR("/torch/nn/modules/module.py"));
}

/* Finds the frame of the program that called the function of a compile. */
static bool find_caller(struct trace *trace, const struct profile_compile *c, struct frame *ret)
{
    uint32_t recording = trace->attempts[c->first_attempt].recording;
    stack_id stack = start_stack(trace, c->first_attempt);
    struct frame own = stack_frame(trace, recording, stack);
    if (!stack || !str_eq(own.file, c->file) || own.line != c->line)
        return false;
    for (stack = stack_parent(trace, stack); stack; stack = stack_parent(trace, stack)) {
        *ret = stack_frame(trace, recording, stack);
        if (!passes_on(ret->file))
            return true;
    }
    return false;
}

/* Returns the first compile of the function of a compile. */
static uint32_t first_compile(const struct profile *p, uint32_t compile)
{
    const struct profile_compile *c = &p->compiles[compile];
    struct str frame = str_first(c->id, str_find_char(c->id, '/'));
    for (uint32_t i = 0; i < compile; i++)
        if (p->compiles[i].recording == c->recording &&
            str_eq(str_first(p->compiles[i].id, str_find_char(p->compiles[i].id, '/')), frame))
            return i;
    return compile;
}

/* Sizes cannot be marked while Dynamo traces the caller. */
static bool is_compiled(const struct profile *p, const struct frame *frame)
{
    for (uint32_t i = 0; i < p->n_compiles; i++) {
        struct str function;
        function_resumes(p->compiles[i].function, &function);
        if (str_eq(p->compiles[i].file, frame->file) && str_eq(function, frame->function))
            return true;
    }
    return false;
}

/* ---- The call ---- */

static bool is_name(struct str text)
{
    static const char *const WORDS[] = { "None", "True", "False", "lambda", "not", "await" };
    return str_is_identifier(text) && !STR_IS_ANY(text, WORDS);
}

static bool is_dotted(struct str text)
{
    while (text.n) {
        size_t dot = str_find_char(text, '.');
        if (!is_name(str_first(text, dot)) || dot + 1 == text.n)
            return false;
        text = str_from(text, dot + 1);
    }
    return true;
}

/* Returns whether a text consists of names, with commas or dots between them. */
static bool is_target(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_word_char(text.p[i]) && !is_space(text.p[i]) && text.p[i] != ',' &&
            text.p[i] != '.')
            return false;
    return text.n > 0;
}

/* Reads `NAME = CALLEE(ARGUMENTS)`, `CALLEE(...)` or `return CALLEE(...)`. */
static bool read_call(struct str line, struct str *arguments)
{
    size_t open = str_find_char(line, '('), close = str_find_char(line, ')');
    struct str head = str_first(line, open), after = str_trim(str_from(line, close + 1));
    size_t equal = str_find(head, STR(" = "));
    struct str callee = str_trim(equal < head.n ? str_from(head, equal + 3) : head);
    if (close == line.n || open > close || (after.n && after.p[0] != '#'))
        return false;
    if (equal < head.n && !is_target(str_first(head, equal)))
        return false;
    if (equal == head.n && str_starts(callee, STR("return ")))
        callee = str_trim(str_from(callee, 7));
    *arguments = (struct str){ line.p + open + 1, close - open - 1 };
    return callee.n && is_dotted(callee);
}

/* Takes the next of a list with commas outside of brackets; false at its end. */
static bool take_item(struct str *list, struct str *item)
{
    struct python_scan scan = { .text = *list };
    size_t end = list->n;
    while (end == list->n && python_scan_next(&scan))
        if (scan.c == ',' && !scan.depth)
            end = scan.at;
    *item = str_trim(str_first(*list, end));
    *list = str_from(*list, end + 1);
    return item->n > 0;
}

/* Returns whether arguments are names, or names of parameters with names. */
static bool are_plain(struct str arguments)
{
    struct str item;
    while (take_item(&arguments, &item)) {
        size_t equal = str_find_char(item, '=');
        if (!is_name(equal < item.n ? str_trim(str_from(item, equal + 1)) : item) ||
            (equal < item.n && !is_name(str_trim(str_first(item, equal)))))
            return false;
    }
    return !str_trim(arguments).n;
}

/* Finds `def NAME(PARAMETERS)` from the first line of a function on. */
static bool read_parameters(const struct program_lines *lines, struct call_place place,
                            struct str *ret)
{
    size_t first = place.first_line ? place.first_line - 1 : 0;
    for (size_t i = first; i < lines->v.n && i <= first + MOST_DECORATORS; i++) {
        struct str line = str_trim(lines->v.v[i].text), rest = str_from(line, 4);
        if (!str_starts(line, STR("def ")) || !str_starts(rest, place.function))
            continue;
        rest = str_from(rest, place.function.n);
        struct python_scan scan = { .text = rest };
        while (rest.n && rest.p[0] == '(' && python_scan_next(&scan))
            if (scan.closes && !scan.depth) {
                *ret = str_from(str_first(rest, scan.at), 1);
                return !str_contains(*ret, STR("*args")) && !str_contains(*ret, STR("**"));
            }
        return false;
    }
    return false;
}

/* A bound method is called without its first parameter. */
static struct str without_self(struct str parameters)
{
    struct str rest = parameters, first;
    return take_item(&rest, &first) && str_is(first, "self") ? rest : parameters;
}

bool call_site_read(const struct program_lines *lines, struct call_place place,
                    struct call_site *ret)
{
    if (place.call_line < 2 || place.call_line > lines->v.n)
        return false;
    struct str text = lines->v.v[place.call_line - 1].text, line = str_trim(text);
    ret->line = place.call_line - 1;
    ret->space = str_first(text, (size_t)(line.p - text.p));
    if (!line.n || !read_call(line, &ret->arguments) || !are_plain(ret->arguments) ||
        !read_parameters(lines, place, &ret->parameters) ||
        !program_lines_begin_statement(lines, ret->line))
        return false;
    ret->parameters = without_self(ret->parameters);
    return true;
}

static bool has_word(struct str text, struct str word)
{
    for (size_t at = str_find(text, word); at < text.n; at = str_find(text, word)) {
        bool begins = !at || !is_word_char(text.p[at - 1]);
        text = str_from(text, at + word.n);
        if (begins && (!text.n || !is_word_char(text.p[0])))
            return true;
    }
    return false;
}

static bool names_argument(const struct call_site *site, struct str text)
{
    struct str rest = site->arguments, item;
    while (take_item(&rest, &item)) {
        size_t equal = str_find_char(item, '=');
        if (has_word(text, equal < item.n ? str_trim(str_from(item, equal + 1)) : item))
            return true;
    }
    return false;
}

/* Returns whether another compiled function takes one of the arguments, too. A mark is the
 * tensor's, so that it would be one for that function as well. */
static bool is_passed_elsewhere(const struct profile *p, const struct profile_compile *c,
                                struct str file, const struct call_site *site)
{
    for (uint32_t i = 0; i < p->n_compiles; i++) {
        const struct profile_compile *other = &p->compiles[i];
        struct frame caller;
        struct str arguments;
        if (other == c || first_compile(p, i) != i)
            continue;
        struct trace *trace = profile_inputs(p)[p->recordings[other->recording].input].trace;
        if (!find_caller(trace, other, &caller) || !str_eq(caller.file, file))
            continue;
        struct str line = str_trim(caller.code);
        if (names_argument(site, read_call(line, &arguments) ? arguments : line))
            return true;
    }
    return false;
}

bool call_site_find(const struct profile *profile, uint32_t compile, struct str file,
                    const struct program_lines *lines, struct call_site *ret)
{
    const struct profile_compile *c = &profile->compiles[first_compile(profile, compile)];
    struct trace *trace = profile_inputs(profile)[profile->recordings[c->recording].input].trace;
    struct frame caller;
    if (!c->function.n || !str_eq(c->file, file) || !find_caller(trace, c, &caller) ||
        !str_eq(caller.file, file) || is_compiled(profile, &caller) ||
        !call_site_read(lines, (struct call_place){ c->function, c->line, caller.line }, ret))
        return false;
    return str_eq(str_trim(lines->v.v[ret->line].text), str_trim(caller.code)) &&
           !is_passed_elsewhere(profile, c, file, ret);
}

/* ---- Arguments ---- */

/* Returns the place of a parameter that can be passed by position; SIZE_MAX. */
static size_t place_of(struct str parameters, struct str name)
{
    struct str item;
    for (size_t i = 0; take_item(&parameters, &item);) {
        if (str_is(item, "*"))
            return SIZE_MAX;
        if (str_is(item, "/"))
            continue;
        if (str_eq(str_first(item, str_word(item)), name))
            return i;
        i++;
    }
    return SIZE_MAX;
}

/* Returns what is passed for a parameter; "" if it is not passed. */
static struct str argument_of(const struct call_site *site, struct str name)
{
    size_t place = place_of(site->parameters, name), i = 0;
    struct str rest = site->arguments, item;
    while (take_item(&rest, &item)) {
        size_t equal = str_find_char(item, '=');
        if (equal < item.n && str_eq(str_trim(str_first(item, equal)), name))
            return str_trim(str_from(item, equal + 1));
        if (equal == item.n && i++ == place)
            return item;
    }
    return STR("");
}

/* Returns whether what follows a name in a source can stand in a program: ".ids", "[0]". */
static bool is_suffix(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_word_char(text.p[i]) && !memchr(".[]'", text.p[i], 4))
            return false;
    return !str_contains(text, STR("__")) && !str_contains(text, STR("._"));
}

bool call_site_put(const struct call_site *site, struct str source, struct buf *out)
{
    struct str name = str_from(source, 3);
    size_t end = str_find(name, STR("']"));
    struct str suffix = str_from(name, end + 2);
    name = str_first(name, end);
    struct str argument =
        str_starts(source, STR("L['")) && is_name(name) ? argument_of(site, name) : STR("");
    if (!argument.n || !is_suffix(suffix))
        return false;
    buf_put(out, argument);
    buf_put(out, suffix);
    return true;
}
