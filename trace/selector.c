#include "trace/selector.h"

#include <unistd.h>

enum { CANDIDATES_SHOWN = 8 };

/* Returns the length of a compile id at the start of `text`: "0/0", "!1", "!1/0/0", after a
 * reset "0/0.1"; 0 when there is none. */
static size_t compile_id_length(struct str text)
{
    bool autograd = text.n && text.p[0] == '!';
    size_t at = autograd, numbers = 0;
    while (numbers < 3) {
        size_t n = str_digits(str_from(text, at));
        if (n == 0)
            return 0;
        at += n;
        numbers++;
        if (at >= text.n || text.p[at] != '/')
            break;
        at++;
    }
    bool whole = at == text.n || text.p[at] != '/';
    size_t resets = at < text.n && text.p[at] == '.' ? str_digits(str_from(text, at + 1)) : 0;
    return whole && (autograd ? numbers != 2 : numbers == 2) ? at + (resets ? resets + 1 : 0) : 0;
}

/* Reads "_N" or "#N". Returns false unless the text is empty, or a mark and a number. */
static bool marked_number(struct str text, char mark, int64_t *ret)
{
    if (text.n == 0)
        return true;
    return text.p[0] == mark && is_digit(text.n > 1 ? text.p[1] : '\0') &&
           str_to_i64(str_from(text, 1), ret);
}

/* Parses "COMPILE[_ATTEMPT]" or nothing. */
static bool parse_compile(struct selector *selector, struct str text)
{
    size_t n = compile_id_length(text);
    selector->compile = str_first(text, n);
    return (n || text.n == 0) && marked_number(str_from(text, n), '_', &selector->attempt);
}

/* Parses "KIND[#I]". */
static bool parse_kind(struct selector *selector, struct str text)
{
    size_t hash = text.n;
    while (hash > 0 && text.p[hash - 1] != '#')
        hash--;
    hash = hash ? hash - 1 : text.n;
    selector->kind = str_first(text, hash);
    return hash > 0 && marked_number(str_from(text, hash), '#', &selector->index);
}

/* Parses what follows TAPE[@RECORDING]: ":COMPILE[_ATTEMPT][:KIND[#I]]"; the first colon is not
 * in text. */
static bool parse_selected_place(struct selector *selector, struct str text)
{
    struct selector trial = *selector;
    size_t colon = str_find_char(text, ':');
    if (!parse_compile(&trial, str_first(text, colon)) || text.n == 0)
        return false;
    if (colon < text.n && !parse_kind(&trial, str_from(text, colon + 1)))
        return false;
    *selector = trial;
    return true;
}

static bool file_exists(struct str path)
{
    char name[4096];
    if (path.n == 0 || path.n >= sizeof name)
        return false;
    memcpy(name, path.p, path.n);
    name[path.n] = '\0';
    return access(name, F_OK) == 0;
}

/* Parses "TAPE@RECORDING" or "TAPE"; a '/' after the last '@' means that the '@' is part of a
 * path. */
static bool parse_tape(struct selector *selector, struct str text)
{
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] != '@' && text.p[at - 1] != '/')
        at--;
    bool split = at > 1 && text.p[at - 1] == '@' && at < text.n && !file_exists(text);
    selector->tape = split ? str_first(text, at - 1) : text;
    selector->recording = split ? str_from(text, at) : (struct str){ 0 };
    return selector->tape.n > 0;
}

/* Returns whether the text after `colon` is probably a misspelt place: it starts as a compile id
 * does, or its tape exists. */
static bool meant_as_place(struct str text, size_t colon)
{
    struct str rest = str_from(text, colon + 1);
    return (rest.n && (is_digit(rest.p[0]) || rest.p[0] == '!')) ||
           file_exists(str_first(text, colon));
}

bool selector_parse(struct selector *selector, struct str text, struct err *err)
{
    *selector = SELECTOR_ALL;
    size_t odd = text.n;
    if (file_exists(text)) {
        selector->tape = text;
        return true;
    }
    for (size_t colon = str_find_char(text, ':'); colon < text.n;
         colon += 1 + str_find_char(str_from(text, colon + 1), ':')) {
        if (parse_selected_place(selector, str_from(text, colon + 1)))
            return parse_tape(selector, str_first(text, colon)) ||
                   err_set(err, ERR_USAGE, "\"%.*s\" does not name a tape", STR_ARG(text));
        if (odd == text.n && meant_as_place(text, colon))
            odd = colon;
    }
    if (odd < text.n)
        return err_set(err, ERR_USAGE,
                       "\"%.*s\" is not COMPILE[_ATTEMPT][:KIND[#I]], as in 0/0:forward",
                       STR_ARG(str_from(text, odd + 1)));
    return parse_tape(selector, text) || err_set(err, ERR_USAGE, "the name of the tape is empty");
}

bool selector_parse_part(struct selector *selector, struct str text, struct err *err)
{
    struct str place = text;
    *selector = SELECTOR_ALL;
    if (text.n && text.p[0] == '@') {
        size_t colon = str_find_char(text, ':');
        selector->recording = str_from(str_first(text, colon), 1);
        place = str_from(text, colon + (colon < text.n));
        if (selector->recording.n && place.n == 0)
            return true;
    } else if (text.n && text.p[0] == ':') {
        place = str_from(text, 1);
    }
    if (parse_selected_place(selector, place))
        return true;
    if (str_find_char(place, ':') == place.n && place.n && !is_digit(place.p[0]) &&
        parse_kind(selector, place))
        return true;
    return err_set(err, ERR_USAGE,
                   "\"%.*s\" is not [@RECORDING:]COMPILE[_ATTEMPT][:KIND[#I]], as in 0/0:forward",
                   STR_ARG(text));
}

bool selector_has_recording(const struct trace *trace, const struct selector *selector,
                            uint32_t recording)
{
    return selector->recording.n == 0 ||
           str_eq(trace->recordings[recording].name, selector->recording);
}

bool selector_has_attempt(const struct trace *trace, const struct selector *selector,
                          uint32_t attempt)
{
    if (attempt == TRACE_NONE)
        return selector->compile.n == 0 && selector->attempt < 0;
    const struct attempt *a = &trace->attempts[attempt];
    return selector_has_recording(trace, selector, a->recording) &&
           (selector->compile.n == 0 || str_eq(a->compile, selector->compile)) &&
           (selector->attempt < 0 || selector->attempt == (int64_t)a->number);
}

/* The list "; there are a, b and 7 more", made from names that are added one by one. */
struct offer {
    struct buf text;
    size_t n;
};

static void offer(struct offer *list, struct str name)
{
    if (++list->n > CANDIDATES_SHOWN)
        return;
    buf_puts(&list->text, list->n > 1 ? ", " : "");
    buf_put(&list->text, name);
}

/* Sets an error with `what` and the names in the list. */
static bool offer_error(struct offer *list, struct err *err, const char *lead, struct str what)
{
    if (list->n > CANDIDATES_SHOWN)
        buf_printf(&list->text, " and %zu more", list->n - CANDIDATES_SHOWN);
    if (list->text.failed)
        err_nomem(err);
    else if (list->n)
        err_set(err, ERR_USAGE, "%s%.*s; there %s %.*s", lead, STR_ARG(what),
                list->n == 1 ? "is" : "are", STR_ARG(buf_str(&list->text)));
    else
        err_set(err, ERR_USAGE, "%s%.*s", lead, STR_ARG(what));
    buf_release(&list->text);
    return false;
}

static bool check_recording(const struct trace *trace, const struct selector *selector,
                            struct err *err)
{
    struct offer names = { 0 };
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        if (selector_has_recording(trace, selector, i))
            return true;
    if (selector->recording.n == 0)
        return true;
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        offer(&names, trace->recordings[i].name);
    return offer_error(&names, err, "no recording ", selector->recording);
}

bool selector_check(const struct trace *trace, const struct selector *selector, struct err *err)
{
    struct offer ids = { 0 };
    struct buf what = BUF_INIT;
    if (!check_recording(trace, selector, err))
        return false;
    if (selector->compile.n == 0 && selector->attempt < 0)
        return true;
    for (uint32_t i = 0; i < trace->n_attempts; i++)
        if (selector_has_attempt(trace, selector, i))
            return true;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        buf_clear(&what);
        selector_print_attempt(trace, trace->attempts[i].recording, i, &what);
        offer(&ids, str_from(buf_str(&what), what.n && what.p[0] == ':'));
    }
    buf_clear(&what);
    buf_put(&what, selector->compile);
    if (selector->attempt >= 0)
        buf_printf(&what, "_%lld", (long long)selector->attempt);
    offer_error(&ids, err, "no compile ", buf_str(&what));
    buf_release(&what);
    return false;
}

static bool matches_kind(const struct graph_ref *ref, const struct selector *selector)
{
    return selector->kind.n == 0 || str_eq(ref->name, selector->kind) ||
           str_is(selector->kind, graph_kind_name(ref->kind));
}

/* Returns whether another attempt replaces a graph's: without an attempt, a selector means the
 * last attempt of the compile that has such a graph. */
static bool is_superseded(const struct trace *trace, const struct graph_list *list,
                          const struct selector *selector, const struct graph_ref *ref)
{
    if (selector->attempt >= 0 || ref->attempt == TRACE_NONE)
        return false;
    const struct attempt *mine = &trace->attempts[ref->attempt];
    for (uint32_t i = 0; i < list->n; i++) {
        const struct graph_ref *other = &list->refs[i];
        if (other->attempt == TRACE_NONE || !matches_kind(other, selector))
            continue;
        const struct attempt *theirs = &trace->attempts[other->attempt];
        if (theirs->number > mine->number && theirs->recording == mine->recording &&
            str_eq(theirs->compile, mine->compile))
            return true;
    }
    return false;
}

/* Returns how many earlier graphs of its attempt the selector's kind includes. */
static int64_t place_in_attempt(const struct graph_list *list, const struct selector *selector,
                                uint32_t ref)
{
    int64_t before = 0;
    for (uint32_t i = 0; i < ref; i++)
        before += list->refs[i].attempt == list->refs[ref].attempt &&
                  matches_kind(&list->refs[i], selector);
    return before;
}

bool selector_has_graph(const struct trace *trace, const struct graph_list *list,
                        const struct selector *selector, uint32_t ref)
{
    const struct graph_ref *r = &list->refs[ref];
    if (!matches_kind(r, selector) || !selector_has_attempt(trace, selector, r->attempt) ||
        !selector_has_recording(trace, selector, trace->records[r->record].recording))
        return false;
    return !is_superseded(trace, list, selector, r) &&
           (selector->index < 0 || selector->index == place_in_attempt(list, selector, ref));
}

static bool graph_error(const struct trace *trace, const struct graph_list *list,
                        const struct selector *selector, bool ambiguous, struct err *err)
{
    struct offer names = { 0 };
    struct buf name = BUF_INIT;
    for (uint32_t i = 0; i < list->n; i++) {
        if (ambiguous && !selector_has_graph(trace, list, selector, i))
            continue;
        buf_clear(&name);
        selector_print_graph(trace, list, i, &name);
        offer(&names, buf_str(&name));
    }
    buf_release(&name);
    return offer_error(&names, err, ambiguous ? "several graphs match" : "no such graph",
                       (struct str){ 0 });
}

bool selector_graph(const struct trace *trace, const struct graph_list *list,
                    const struct selector *selector, uint32_t *ret, struct err *err)
{
    uint32_t found = TRACE_NONE;
    if (!selector_check(trace, selector, err))
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        if (!selector_has_graph(trace, list, selector, i))
            continue;
        if (found != TRACE_NONE)
            return graph_error(trace, list, selector, true, err);
        found = i;
    }
    if (found == TRACE_NONE)
        return graph_error(trace, list, selector, false, err);
    *ret = found;
    return true;
}

void selector_print_attempt(const struct trace *trace, uint32_t recording, uint32_t attempt,
                            struct buf *out)
{
    if (trace->n_recordings > 1) {
        buf_putc(out, '@');
        buf_put(out, trace->recordings[recording].name);
    }
    if (attempt == TRACE_NONE)
        return;
    buf_putc(out, ':');
    buf_put(out, trace->attempts[attempt].compile);
    buf_printf(out, "_%u", (unsigned)trace->attempts[attempt].number);
}

void selector_print_graph(const struct trace *trace, const struct graph_list *list, uint32_t ref,
                          struct buf *out)
{
    const struct graph_ref *r = &list->refs[ref];
    bool several = false;
    for (uint32_t i = 0; i < list->n; i++)
        several |=
            i != ref && list->refs[i].attempt == r->attempt && str_eq(list->refs[i].name, r->name);
    size_t start = out->n;
    selector_print_attempt(trace, trace->records[r->record].recording, r->attempt, out);
    if (r->attempt == TRACE_NONE)
        buf_putc(out, ':');
    else if (out->n > start && !out->failed && out->p[start] == ':')
        memmove(out->p + start, out->p + start + 1, --out->n - start);
    buf_putc(out, ':');
    buf_put(out, r->name);
    if (several)
        buf_printf(out, "#%u", (unsigned)r->index);
}
