#include "cmd/opt.h"

enum { COLUMNS = 80, HELP_AT = 28 };

static void spaces(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_putc(out, ' ');
}

void opt_help_wrap(const char *text, size_t at, size_t indent, struct buf *out)
{
    struct str rest = str_trim(str_of(text));
    bool first = true; /* on its line */
    while (rest.n) {
        struct str word = str_first(rest, str_find_char(rest, ' '));
        rest = str_trim(str_from(rest, word.n));
        if (!first && at + 1 + word.n > COLUMNS) {
            buf_putc(out, '\n');
            spaces(out, indent);
            at = indent;
            first = true;
        }
        if (!first)
            buf_putc(out, ' ');
        buf_put(out, word);
        at += word.n + !first;
        first = false;
    }
    buf_putc(out, '\n');
}

/* "  -o, --output TAPE", "      --events[=NAME]" */
static size_t option_names(const struct opt *opt, struct buf *out)
{
    size_t start = out->n;
    if (opt->letter)
        buf_printf(out, "  -%c, --%s", opt->letter, opt->name);
    else
        buf_printf(out, "      --%s", opt->name);
    if (opt->kind == OPT_KIND_OPTIONAL)
        buf_printf(out, "[=%s]", opt->value);
    else if (opt->kind != OPT_KIND_FLAG)
        buf_printf(out, " %s", opt->value);
    return out->n - start;
}

void opt_help(const struct opt *options, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        size_t at = option_names(o, out);
        if (at + 2 > HELP_AT) {
            buf_putc(out, '\n');
            at = 0;
        }
        spaces(out, HELP_AT - at);
        opt_help_wrap(o->help, HELP_AT, HELP_AT, out);
    }
}
