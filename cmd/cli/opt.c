#include "cmd/cli/opt.h"

#include "cmd/cli/nearest.h"

struct argument_cursor {
    int argc, next;
    const char *const *argv;
};

/* An option that was found on the command line. */
struct found_option {
    const struct opt *opt;
    char *field;
    bool negated; /* --no-NAME */
};

struct str opt_next_word(const char **rest)
{
    struct str text = str_of(*rest);
    struct str word = str_first(text, str_find_char(text, '|'));
    *rest += word.n + (word.n < text.n);
    return word;
}

static struct found_option find_letter(const struct opt_parse *parse, char letter)
{
    for (size_t t = 0; t < parse->n_targets; t++)
        for (const struct opt *o = parse->targets[t].options; o && o->kind != OPT_KIND_END; o++)
            if (letter && o->letter == letter)
                return (struct found_option){ o, (char *)parse->targets[t].args + o->offset,
                                              false };
    return (struct found_option){ 0 };
}

static bool matches_name(const struct opt *opt, struct str name)
{
    if (str_is(name, opt->name))
        return true;
    for (const char *rest = opt->old; rest && *rest;)
        if (str_eq(name, opt_next_word(&rest)))
            return true;
    return false;
}

static struct found_option find_option_name(const struct opt_parse *parse, struct str name)
{
    struct str positive = str_starts(name, STR("no-")) ? str_from(name, 3) : (struct str){ 0 };
    for (size_t t = 0; t < parse->n_targets; t++)
        for (const struct opt *o = parse->targets[t].options; o && o->kind != OPT_KIND_END; o++) {
            char *field = (char *)parse->targets[t].args + o->offset;
            if (matches_name(o, name))
                return (struct found_option){ o, field, false };
            if (o->kind == OPT_KIND_FLAG && positive.n && matches_name(o, positive))
                return (struct found_option){ o, field, true };
        }
    return (struct found_option){ 0 };
}

static bool unknown_name(const struct opt_parse *parse, struct str name, struct err *err)
{
    struct nearest search = nearest_of(name);
    for (size_t t = 0; t < parse->n_targets; t++)
        for (const struct opt *o = parse->targets[t].options; o && o->kind != OPT_KIND_END; o++)
            nearest_offer(&search, str_of(o->name));
    if (search.best.n)
        return err_set(err, ERR_USAGE, "unknown option --%.*s; did you mean --%.*s?", STR_ARG(name),
                       STR_ARG(search.best));
    return err_set(err, ERR_USAGE, "unknown option --%.*s; --help lists the options",
                   STR_ARG(name));
}

static bool store_choice(const struct opt *opt, char *field, const char *value, struct err *err)
{
    struct nearest search = nearest_of(str_of(value));
    const char *rest = opt->value;
    while (*rest) {
        struct str word = opt_next_word(&rest);
        nearest_offer(&search, word);
        if (!str_is(word, value))
            continue;
        *(const char **)(void *)field = value;
        return true;
    }
    if (search.best.n)
        return err_set(err, ERR_USAGE, "--%s: \"%s\" is not one of %s; did you mean \"%.*s\"?",
                       opt->name, value, opt->value, STR_ARG(search.best));
    return err_set(err, ERR_USAGE, "--%s: \"%s\" is not one of %s", opt->name, value, opt->value);
}

static bool store_number(const struct opt *opt, char *field, const char *value, struct err *err)
{
    struct opt_number *number = (struct opt_number *)(void *)field;
    number->given = str_to_u64(str_of(value), &number->value);
    return number->given || err_set(err, ERR_USAGE, "--%s: \"%s\" is not a whole number below 2^64",
                                    opt->name, value);
}

static bool store_sizes(char *field, const char *value)
{
    struct opt_sizes *sizes = (struct opt_sizes *)(void *)field;
    if (!*value || value[strcspn(value, "=/")] == '=')
        sizes->text = value;
    else
        sizes->file = value;
    return true;
}

static bool store_in_list(const struct opt *opt, char *field, const char *value, struct err *err)
{
    struct opt_list *list = (struct opt_list *)(void *)field;
    if (list->n == OPT_LIST_MAX)
        return err_set(err, ERR_USAGE, "--%s can be given at most %d times", opt->name,
                       OPT_LIST_MAX);
    list->v[list->n++] = value;
    return true;
}

static bool store_value(const struct opt_parse *parse, const struct found_option *found,
                        const char *value, struct err *err)
{
    switch (found->opt->kind) {
    case OPT_KIND_END: return true;
    case OPT_KIND_FLAG: *(bool *)found->field = !found->negated; return true;
    case OPT_KIND_STRING:
    case OPT_KIND_OPTIONAL: *(const char **)(void *)found->field = value; return true;
    case OPT_KIND_NUMBER: return store_number(found->opt, found->field, value, err);
    case OPT_KIND_CHOICE: return store_choice(found->opt, found->field, value, err);
    case OPT_KIND_SIZES: return store_sizes(found->field, value);
    case OPT_KIND_LIST: return store_in_list(found->opt, found->field, value, err);
    case OPT_KIND_SPLIT:
        *(struct opt_number *)(void *)found->field = (struct opt_number){ parse->operands.n, true };
        return true;
    }
    return true;
}

/* Returns the next word of the command line, as a value, or NULL when there is none. */
static const char *next_argument(struct argument_cursor *at)
{
    return at->next < at->argc ? at->argv[at->next++] : NULL;
}

/* An optional value may be the next word, but only if that word can be neither an option nor an
 * operand. */
static const char *optional_word(const struct opt_parse *parse, struct argument_cursor *at)
{
    if (parse->operands.n == 0 || at->next >= at->argc)
        return "";
    const char *word = at->argv[at->next];
    if (word[0] == '-' && word[1])
        return "";
    at->next++;
    return word;
}

static bool parse_long(struct opt_parse *parse, struct argument_cursor *at, const char *word,
                       struct err *err)
{
    struct str text = str_of(word);
    size_t equals = str_find_char(text, '=');
    const char *value = equals < text.n ? word + equals + 1 : NULL;
    struct str name = str_first(text, equals);
    struct found_option found = find_option_name(parse, name);
    if (!found.opt)
        return unknown_name(parse, name, err);
    if (value && !opt_takes_value(found.opt) && found.opt->kind != OPT_KIND_OPTIONAL)
        return err_set(err, ERR_USAGE, "--%.*s takes no value", STR_ARG(name));
    if (!value && opt_takes_value(found.opt) && !(value = next_argument(at)))
        return err_set(err, ERR_USAGE, "--%s needs a value: %s", found.opt->name, found.opt->value);
    if (!value && found.opt->kind == OPT_KIND_OPTIONAL)
        value = optional_word(parse, at);
    return store_value(parse, &found, value, err);
}

/* Parses "-qo FILE" and "-qoFILE": flags, then at most one option with a value. */
static bool parse_letters(struct opt_parse *parse, struct argument_cursor *at, const char *word,
                          struct err *err)
{
    for (const char *p = word; *p; p++) {
        struct found_option found = find_letter(parse, *p);
        if (!found.opt)
            return err_set(err, ERR_USAGE, "unknown option -%c; --help lists the options", *p);
        if (!opt_takes_value(found.opt)) {
            if (!store_value(parse, &found, "", err))
                return false;
            continue;
        }
        const char *value = p[1] ? p + 1 : next_argument(at);
        if (!value)
            return err_set(err, ERR_USAGE, "-%c needs a value: %s", *p, found.opt->value);
        return store_value(parse, &found, value, err);
    }
    return true;
}

bool opt_parse(struct opt_parse *parse, int argc, const char *const *argv, struct err *err)
{
    struct argument_cursor at = { argc, 0, argv };
    bool options = true;
    while (at.next < at.argc) {
        const char *word = at.argv[at.next++];
        bool ok;
        if (options && strcmp(word, "--") == 0) {
            options = false;
            parse->dashes = true;
            continue;
        }
        if (options && word[0] == '-' && word[1] == '-')
            ok = parse_long(parse, &at, word + 2, err);
        else if (options && word[0] == '-' && word[1])
            ok = parse_letters(parse, &at, word + 1, err);
        else {
            ok = vec_push(&parse->operands, word) || err_nomem(err);
            options = options && !parse->options_first;
        }
        if (!ok)
            return false;
    }
    if (!vec_reserve(&parse->operands, 1))
        return err_nomem(err);
    parse->operands.v[parse->operands.n] = NULL;
    return true;
}

bool opt_is_given(const struct opt *opt, const void *args)
{
    const char *field = (const char *)args + opt->offset;
    const struct opt_sizes *sizes;
    switch (opt->kind) {
    case OPT_KIND_END: break;
    case OPT_KIND_FLAG: return *(const bool *)field;
    case OPT_KIND_STRING:
    case OPT_KIND_OPTIONAL:
    case OPT_KIND_CHOICE: return *(const char *const *)(const void *)field != NULL;
    case OPT_KIND_NUMBER:
    case OPT_KIND_SPLIT: return ((const struct opt_number *)(const void *)field)->given;
    case OPT_KIND_SIZES: sizes = (const void *)field; return sizes->text || sizes->file;
    case OPT_KIND_LIST: return ((const struct opt_list *)(const void *)field)->n > 0;
    }
    return false;
}

const struct opt *opt_find(const struct opt *options, const char *name)
{
    for (const struct opt *o = options; o->kind != OPT_KIND_END; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

void opt_release(struct opt_parse *parse)
{
    vec_release(&parse->operands);
}
