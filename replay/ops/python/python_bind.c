/* Python's own binding of arguments to a signature. */
#include "replay/ops/python/python_internal.h"

struct parameter {
    struct str name, text; /* text: its default; .p is NULL for none */
    bool rest, keywords;   /* *name, **name */
};

/* Parses the next parameter of "a, b=1, *rest, key='x'"; false at the end. */
static bool next_parameter(struct str *signature, struct parameter *ret)
{
    struct str s = str_trim(*signature);
    if (!s.n)
        return false;
    size_t end = str_find_char(s, ',');
    struct str one = str_trim(str_first(s, end));
    *signature = str_from(s, end + 1);
    *ret = (struct parameter){ .rest = one.n && one.p[0] == '*' };
    if (ret->rest)
        one = str_from(one, 1);
    if (ret->rest && one.n && one.p[0] == '*') {
        ret->rest = false;
        ret->keywords = true;
        one = str_from(one, 1);
    }
    size_t equals = str_find_char(one, '=');
    ret->name = str_first(one, equals);
    if (equals < one.n)
        ret->text = str_from(one, equals + 1);
    return true;
}

/* Parses a default value: None, True, 1, 1e-5, 'mean'. */
static struct value default_value(struct call *c, struct str text)
{
    int64_t integer;
    if (str_is(text, "True") || str_is(text, "False"))
        return value_sym(VALUE_BOOL, sym_boolean(text.p[0] == 'T'));
    if (text.n > 1 && text.p[0] == '\'')
        return (struct value){ .kind = VALUE_STRING,
                               .u.text = str_first(str_from(text, 1), text.n - 2) };
    if (str_to_i64(text, &integer))
        return value_int(sym_integer(c->pool, integer));
    if (str_is(text, "None") || !text.n)
        return value_none();
    char digits[32] = { 0 };
    memcpy(digits, text.p, text.n < sizeof digits ? text.n : sizeof digits - 1);
    return value_sym(VALUE_FLOAT, sym_float(c->pool, strtod(digits, NULL)));
}

static const struct value *keyword_value(const struct keyword *keywords, uint32_t n,
                                         struct str name, uint32_t *used)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(keywords[i].name, name)) {
            ++*used;
            return &keywords[i].value;
        }
    return NULL;
}

/* Returns the remaining positional arguments as a list; a single sequence is that list. */
static struct value rest_of(struct call *c, const struct value *args, uint32_t n)
{
    if (n == 1 && value_is_sequence(args[0]))
        return args[0];
    struct value *items = ops_values(c->ops, n);
    if (!items && n) {
        python_no_memory(c);
        return value_none();
    }
    if (n)
        memcpy(items, args, n * sizeof *items);
    return value_items(VALUE_LIST, items, n);
}

/* Returns keywords that no parameter has, as a dict by name. */
static struct value rest_of_keywords(struct call *c, const char *signature,
                                     const struct keyword *keywords, uint32_t n, uint32_t *used)
{
    struct value *items = ops_values(c->ops, 2 * (size_t)n);
    uint32_t count = 0;
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (uint32_t i = 0; i < n; i++) {
        struct str left = str_of(signature);
        struct parameter parameter;
        bool known = false;
        while (!known && next_parameter(&left, &parameter))
            known = str_eq(parameter.name, keywords[i].name);
        if (known)
            continue;
        ++*used;
        items[count++] = (struct value){ .kind = VALUE_STRING, .u.text = keywords[i].name };
        items[count++] = keywords[i].value;
    }
    return value_items(VALUE_DICT, items, count);
}

const struct value *python_bind(struct call *c, const char *signature,
                                const struct arguments *arguments, uint32_t *n_bound)
{
    struct str left = str_of(signature);
    struct parameter parameter;
    uint32_t i = 0, next = 0, used = 0;
    struct value *bound = ops_values(c->ops, SCHEMA_MAX_SLOTS);
    if (!bound) {
        python_no_memory(c);
        return NULL;
    }
    for (; i < SCHEMA_MAX_SLOTS && next_parameter(&left, &parameter); i++) {
        const struct value *named =
            keyword_value(arguments->keywords, arguments->n_keywords, parameter.name, &used);
        if (parameter.keywords) {
            bound[i] =
                rest_of_keywords(c, signature, arguments->keywords, arguments->n_keywords, &used);
        } else if (parameter.rest && !named) {
            bound[i] = rest_of(c, arguments->values + (next < arguments->n ? next : arguments->n),
                               next < arguments->n ? arguments->n - next : 0);
            next = arguments->n;
        } else if (named) {
            bound[i] = *named;
        } else if (next < arguments->n) {
            bound[i] = arguments->values[next++];
        } else if (parameter.text.p) {
            bound[i] = default_value(c, parameter.text);
        } else {
            refuse(c, "TypeError", "missing a required argument: '%.*s'", STR_ARG(parameter.name));
            return NULL;
        }
    }
    if (next < arguments->n || used < arguments->n_keywords) {
        refuse(c, "TypeError",
               next < arguments->n ? "too many positional arguments"
                                   : "got an unexpected keyword argument");
        return NULL;
    }
    *n_bound = i;
    return bound;
}
