/* Parses lists of limits: NAME:+N, NAME:-N%, NAME:N. */
#include <math.h>
#include <stdlib.h>

#include "profile/compare/check.h"

/* Reads digits with at most one point; no sign, exponent or hexadecimal, which strtod() would
 * accept. */
static bool read_limit_number(struct str text, double *ret)
{
    char digits[64];
    size_t points = 0;
    if (text.n == 0 || text.n >= sizeof digits)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        points += text.p[i] == '.';
        if ((text.p[i] < '0' || text.p[i] > '9') && text.p[i] != '.')
            return false;
    }
    if (points > 1 || points == text.n)
        return false;
    memcpy(digits, text.p, text.n);
    digits[text.n] = '\0';
    *ret = strtod(digits, NULL);
    return isfinite(*ret);
}

static bool read_limit(struct str text, enum check_list of, struct check_rule *rule)
{
    rule->kind = of == CHECK_BUDGETS ? CHECK_MAX : CHECK_CHANGE;
    if (of == CHECK_BESIDE && text.n > 0 && (text.p[0] == '+' || text.p[0] == '-')) {
        rule->kind = text.p[0] == '+' ? CHECK_RISE : CHECK_FALL;
        text = str_from(text, 1);
    }
    if (of == CHECK_BESIDE && str_ends(text, STR("%"))) {
        rule->percent = true;
        text = str_first(text, text.n - 1);
    }
    return read_limit_number(text, &rule->limit);
}

static bool parse_rule(struct str text, enum check_list of, struct check_rule *rule,
                       struct err *err)
{
    size_t colon = str_find_char(text, ':');
    struct str name = str_trim(str_first(text, colon));
    *rule = (struct check_rule){ .text = text };
    if (!measure_find(name, &rule->measure))
        return err_set(err, ERR_USAGE, "\"%.*s\" is not a measure; check --list lists them",
                       STR_ARG(str_first(name, 60)));
    if (colon == text.n)
        return err_set(err, ERR_USAGE, "%.*s: a limit is missing, as in %.*s:%s", STR_ARG(name),
                       STR_ARG(name), of == CHECK_BUDGETS ? "500" : "+0");
    if (!read_limit(str_trim(str_from(text, colon + 1)), of, rule))
        return err_set(err, ERR_USAGE, "%.*s: \"%.*s\" is not a limit; %s", STR_ARG(name),
                       STR_ARG(str_first(str_from(text, colon + 1), 60)),
                       of == CHECK_BUDGETS ? "it must be a number, as in 500 or 20.5"
                                           : "it must be one of the forms +5, -5, 5, +10%");
    return true;
}

bool check_rules_parse(struct check_rules *rules, struct str list, enum check_list of,
                       struct err *err)
{
    do {
        size_t comma = str_find_char(list, ',');
        struct check_rule rule;
        if (!parse_rule(str_trim(str_first(list, comma)), of, &rule, err))
            return false;
        if (!vec_push(&rules->rules, rule))
            return err_nomem(err);
        list = comma < list.n ? str_from(list, comma + 1) : STR("");
    } while (list.n > 0);
    return true;
}

bool check_rules_usual(struct check_rules *rules, struct err *err)
{
    size_t first = rules->rules.n;
    bool ok = check_rules_parse(rules, STR(CHECK_USUAL), CHECK_BESIDE, err);
    for (size_t i = first; i < rules->rules.n; i++)
        rules->rules.v[i].usual = true;
    return ok;
}

void check_rules_release(struct check_rules *rules)
{
    vec_release(&rules->rules);
}

void check_format_rule(const struct check_rule *rule, struct buf *out)
{
    if (rule->kind == CHECK_MAX)
        buf_puts(out, "max ");
    buf_put(out, rule->text);
}
