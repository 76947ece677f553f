#include "profile/calls/values/call_line.h"

#include <string.h>

enum { MOST_DIGITS = 18 };
#define WHOLE_END 1000000000000000000u /* the least number with more digits */

static uint32_t name_hash(uint64_t name)
{
    return (uint32_t)(name * 0x9e3779b97f4a7c15u >> 32);
}

uint32_t call_object(struct call_objects *objects, uint64_t name)
{
    uint32_t row, hash = name_hash(name), n = (uint32_t)objects->names.n;
    const struct hash_index *index = &objects->index;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, &row);)
        if (objects->names.v[row] == name)
            return row;
    if (n == INTERN_NONE - 1 || !hash_index_reserve(&objects->index, 1) ||
        !vec_reserve(&objects->inference, 1) || !vec_reserve(&objects->line_of, 1) ||
        !vec_reserve(&objects->in_line, 1) || !vec_push(&objects->names, name))
        return INTERN_NONE;
    (void)vec_push(&objects->inference, false);
    (void)vec_push(&objects->line_of, 0);
    (void)vec_push(&objects->in_line, 0);
    hash_index_add(&objects->index, hash, n);
    return n;
}

void call_objects_release(struct call_objects *objects)
{
    vec_release(&objects->names);
    vec_release(&objects->inference);
    vec_release(&objects->line_of);
    vec_release(&objects->in_line);
    hash_index_release(&objects->index);
}

/* Returns the length of a key, its colon and the spaces around it at the start of a text; 0 if it
 * is not there. */
static size_t key_length(struct str text, struct str key)
{
    size_t n = key.n;
    if (!str_starts(text, key))
        return 0;
    while (n < text.n && is_space(text.p[n]))
        n++;
    if (n == text.n || text.p[n++] != ':')
        return 0;
    while (n < text.n && is_space(text.p[n]))
        n++;
    return n;
}

static bool in_number(char c)
{
    return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

/* Returns the length of a number at the start of a text. *whole: it has at most 18 digits and
 * nothing else, and *value is what they say. */
static size_t number_length(struct str text, bool *whole, uint64_t *value)
{
    size_t n = 0;
    *whole = true;
    *value = 0;
    for (; n < text.n && in_number(text.p[n]); n++) {
        *whole = *whole && is_digit(text.p[n]) && n < MOST_DIGITS;
        *value = *whole ? *value * 10 + (uint64_t)(text.p[n] - '0') : 0;
    }
    *whole = *whole && n > 0;
    return n;
}

/* Sets *number to the number that an object has in the line. */
static bool add_object(struct call_line *ret, uint64_t name, struct call_objects *objects,
                       uint32_t *number)
{
    uint32_t id = call_object(objects, name);
    if (id == INTERN_NONE)
        return false;
    if (objects->line_of.v[id] != objects->line) {
        objects->line_of.v[id] = objects->line;
        objects->in_line.v[id] = (uint32_t)ret->objects.n;
        if (!vec_push(&ret->objects, id))
            return false;
    }
    *number = objects->in_line.v[id];
    return true;
}

static bool put_object(struct call_line *ret, uint64_t name, struct call_objects *objects)
{
    uint32_t number = 0;
    bool ok = add_object(ret, name, objects, &number);
    buf_u64(&ret->text, number);
    return ok;
}

/* Reads a key and its number at the start of `rest`, if they are of those that differ, and appends
 * `before`, which stands before them, and both. Returns how many bytes they are, 0 if there are
 * none; *ok is false when memory ran out. */
static size_t take_number(struct call_line *ret, struct str before, struct str rest,
                          struct call_objects *objects, bool *ok)
{
    bool object = rest.p[1] == 'o', whole;
    size_t key = key_length(rest, object ? STR("\"obj\"") : STR("\"seconds\""));
    uint64_t value;
    if (!key)
        return 0;
    size_t n = number_length(str_from(rest, key), &whole, &value);
    if (!n || (object && !whole))
        return 0;
    buf_put(&ret->text, before);
    buf_put(&ret->text, str_first(rest, key));
    if (object)
        *ok = put_object(ret, value, objects);
    else
        buf_putc(&ret->text, '0');
    return key + n;
}

/* Reads a key and a whole number at the start of a text, and removes them from it. */
static bool take_whole(struct str *text, struct str before, struct str key, uint64_t *ret)
{
    bool whole = false;
    size_t n = str_starts(*text, before) ? key_length(str_from(*text, before.n), key) : 0;
    if (n) {
        n += before.n;
        n += number_length(str_from(*text, n), &whole, ret);
    }
    if (whole)
        *text = str_from(*text, n);
    return whole;
}

/* Removes {"call": N, "backward_of": N and "parent": N from the start of a line. */
static struct str take_call(struct call_line *ret, struct str text)
{
    ret->has_number = take_whole(&text, STR("{"), STR("\"call\""), &ret->number);
    ret->has_backward_of =
        ret->has_number && take_whole(&text, STR(", "), STR("\"backward_of\""), &ret->backward_of);
    ret->has_parent =
        ret->has_number && take_whole(&text, STR(", "), STR("\"parent\""), &ret->parent);
    if (ret->has_number)
        buf_puts(&ret->text, "{\"call\": 0");
    if (ret->has_backward_of)
        buf_puts(&ret->text, ", \"backward_of\": 0");
    if (ret->has_parent)
        buf_puts(&ret->text, ", \"parent\": 0");
    return text;
}

static void begin_line(struct call_line *ret, struct call_objects *objects)
{
    objects->line++;
    buf_clear(&ret->text);
    ret->objects.n = 0;
}

bool call_line_read(struct call_line *ret, struct str text, struct call_objects *objects)
{
    bool ok = true;
    begin_line(ret, objects);
    text = take_call(ret, text);
    size_t from = 0;
    for (size_t at = 0; ok && at + 1 < text.n; at++) {
        const char *quote = memchr(text.p + at, '"', text.n - 1 - at);
        if (!quote)
            break;
        at = (size_t)(quote - text.p);
        if ((quote[1] != 'o' && quote[1] != 's') || (at > 0 && quote[-1] == '\\'))
            continue;
        size_t n =
            take_number(ret, str_from(str_first(text, at), from), str_from(text, at), objects, &ok);
        if (n) {
            from = at + n;
            at = from - 1;
        }
    }
    buf_put(&ret->text, str_from(text, from));
    return ok && !ret->text.failed;
}

bool call_line_of_row(struct call_line *ret, const struct recorded_call *call,
                      const uint64_t *names, size_t n_names, struct call_objects *objects,
                      bool *same)
{
    begin_line(ret, objects);
    ret->has_number = true;
    ret->number = call->number;
    ret->has_backward_of = call->backward_of != RECORDED_NONE;
    ret->backward_of = call->backward_of;
    ret->has_parent = call->parent != RECORDED_NONE;
    ret->parent = call->parent;
    *same = call->number < WHOLE_END && (!ret->has_backward_of || call->backward_of < WHOLE_END) &&
            (!ret->has_parent || call->parent < WHOLE_END);
    for (size_t i = 0; *same && i < n_names; i++) {
        uint64_t name = recorded_call_object(call, names[i]);
        uint32_t number = 0;
        *same = name < WHOLE_END;
        if (*same && !add_object(ret, name, objects, &number))
            return false;
        *same = *same && number == i;
    }
    return true;
}

void call_line_release(struct call_line *line)
{
    buf_release(&line->text);
    vec_release(&line->objects);
}
