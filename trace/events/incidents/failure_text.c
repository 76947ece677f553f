#include "trace/events/incidents/failure_text.h"

#include "trace/base/text/wildcard.h"

/* Hints of torch/_dynamo/graph_break_hints.py that do not say what to change. */
static const struct str USELESS_HINTS[] = {
#define TEXT(literal)               \
    {                               \
        literal, sizeof literal - 1 \
    }
    TEXT("report an issue to PyTorch"),
    TEXT("please file an issue"),
    TEXT("Your code may result in an error when running in eager"),
    TEXT("tracing the code will result in an error when running in eager"),
    TEXT("This graph break is fundamental"),
    TEXT("Resolving the earlier graph break may resolve this one"),
#undef TEXT
};

static bool is_useless_hint(struct str hint)
{
    for (size_t i = 0; i < sizeof USELESS_HINTS / sizeof *USELESS_HINTS; i++)
        if (str_contains(hint, USELESS_HINTS[i]))
            return true;
    return false;
}

/* Removes the text of the next line that is not empty. */
static bool next_full_line(struct str *text, struct str *line)
{
    while (text->n > 0) {
        size_t end = str_find_char(*text, '\n');
        *line = str_trim(str_first(*text, end));
        *text = str_from(*text, end + 1);
        if (line->n > 0)
            return true;
    }
    return false;
}

static void read_explained(struct failure_text *ret, struct str text)
{
    struct str line;
    while (next_full_line(&text, &line)) {
        if (str_starts(line, STR("Explanation: ")) && ret->explanation.n == 0)
            ret->explanation = str_from(line, 13);
        else if (str_starts(line, STR("Hint: ")) && ret->n_hints < FAILURE_HINTS &&
                 !is_useless_hint(line))
            ret->hints[ret->n_hints++] = str_from(line, 6);
    }
}

/* Returns the name of what was called: "mul" of "<built-in function mul>" and of "<function mul at
 * 0x7f>", "audio.normalize" of itself. */
static struct str called_name(struct str target)
{
    static const struct str before[] = { { "<built-in function ", 19 },
                                         { "<built-in method ", 17 },
                                         { "<function ", 10 } };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (str_starts(target, before[i])) {
            target = str_from(target, before[i].n);
            return str_first(target,
                             str_find_char(target, target.n && target.p[target.n - 1] == '>' &&
                                                           !str_contains(target, STR(" "))
                                                       ? '>'
                                                       : ' '));
        }
    return target;
}

/* Returns what repr() put between quotes: "TYPE('MESSAGE')" without the quotes. */
static struct str unquoted(struct str text)
{
    if (text.n >= 2 && (text.p[0] == '\'' || text.p[0] == '"')) {
        char quote[] = { text.p[0], ')' };
        size_t end = str_find(text, (struct str){ quote, 2 });
        while (end < text.n && str_contains(str_from(text, end + 2), (struct str){ quote, 2 }))
            end += 2 + str_find(str_from(text, end + 2), (struct str){ quote, 2 });
        return str_from(str_first(text, end), 1);
    }
    return str_first(text, str_find_char(text, ')'));
}

static void read_fake_call(struct failure_text *ret, struct str text)
{
    struct str parts[2];
    if (!wildcard_find(text, STR("FX node with fake tensors: call_* "), parts, 1) &&
        !wildcard_find(text, STR("Failed running call_* "), parts, 1))
        return;
    struct str target = str_from(text, (size_t)(parts[0].p + parts[0].n + 1 - text.p));
    ret->call = called_name(str_first(target, str_find(target, STR("(*("))));
    size_t got = str_find(target, STR(": got "));
    if (got == target.n) { /* up to 2.6, the message is the next line */
        target = str_from(target, str_find(target, STR("**{")));
        ret->message = str_trim(str_from(target, str_find_char(target, '\n')));
        ret->message = str_first(ret->message, str_find_char(ret->message, '\n'));
        return;
    }
    target = str_from(target, got + 6);
    target = str_first(target, str_find(target, STR("\n  Hint: ")));
    size_t open = str_find_char(target, '(');
    ret->exception = str_first(target, open);
    ret->message = unquoted(str_from(target, open + 1));
}

struct failure_text failure_text_parse(struct str text)
{
    struct failure_text ret = {
        .explanation = STR(""),
        .call = STR(""),
        .exception = STR(""),
        .message = STR(""),
    };
    struct str rest = text;
    if (!next_full_line(&rest, &ret.summary))
        ret.summary = STR("");
    read_explained(&ret, text);
    read_fake_call(&ret, text);
    return ret;
}

/* ---- Constraints ---- */

/* The ways in which torch/fx/experimental/symbolic_shapes.py words a violation
 * (produce_guards_verbose). Parts are assigned in the order of `roles`: n name, s source, r range,
 * v value, g guard, e equal, - nothing. */
static const struct violation_form {
    struct str pattern;
    const char *roles;
} FORMS[] = {
#define FORM(pattern, roles)                   \
    {                                          \
        { pattern, sizeof pattern - 1 }, roles \
    }
    FORM("You marked * as dynamic but your code specialized it to be a constant (*)", "sv"),
    FORM("You marked * as dynamic but your code specialized it to be the constant *.", "sv"),
    FORM("Not all values of RelaxedUnspecConstraint(*) are valid because * was inferred to be a "
         "constant (*)",
         "s-v"),
    FORM("Not all values of RelaxedUnspecConstraint(*) satisfy the generated guard *", "sg"),
    FORM("Not all values of * = * in the specified range * are valid because * was inferred to be "
         "a constant (*)",
         "nsr-v"),
    FORM("Not all values of * = * in the specified range * are valid because * was inferred to be "
         "equal to *",
         "nsr-e"),
    FORM("Not all values of * = * in the specified range * satisfy the generated guard *", "nsrg"),
    FORM("Not all values of * = * in the specified range satisfy the generated guard *", "nsg"),
    FORM("Not all values of * = * in the specified range are valid because * was inferred to be a "
         "constant (*)",
         "ns-v"),
    FORM("The values of * = * must always be related to the values of * = * by * = *", "ns---e"),
    FORM("The values of * = * and * = * must always be equal", "ns-e"),
#undef FORM
};

static struct str *violation_part(struct violation_text *v, char role)
{
    switch (role) {
    case 'n': return &v->name;
    case 's': return &v->source;
    case 'r': return &v->range;
    case 'v': return &v->value;
    case 'g': return &v->guard;
    case 'e': return &v->equal;
    default: return NULL;
    }
}

static struct str without_full_stop(struct str text)
{
    text = str_trim(text);
    return text.n > 0 && text.p[text.n - 1] == '.' ? str_first(text, text.n - 1) : text;
}

static bool read_violation(struct str item, struct violation_text *ret)
{
    enum { MOST_PARTS = 6 };
    struct str parts[MOST_PARTS];
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        if (!wildcard_find(item, FORMS[i].pattern, parts, MOST_PARTS))
            continue;
        *ret = (struct violation_text){ STR(""), STR(""), STR(""), STR(""), STR(""), STR("") };
        for (size_t k = 0; FORMS[i].roles[k]; k++) {
            struct str *part = violation_part(ret, FORMS[i].roles[k]);
            if (part)
                *part = without_full_stop(parts[k]);
        }
        if (ret->name.n == 0)
            ret->name = ret->source;
        return true;
    }
    return false;
}

bool violation_text_next(struct str *text, struct violation_text *ret)
{
    struct str line;
    while (next_full_line(text, &line))
        if (str_starts(line, STR("- ")) && read_violation(line, ret))
            return true;
    return false;
}
