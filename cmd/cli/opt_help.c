#include "cmd/cli/opt.h"
#include "profile/model/format.h"

enum { HELP_AT = 28 };

/* Prints "a|b|c" at a column; what does not fit goes on below it. */
static void put_words(struct str words, size_t column, unsigned width, struct buf *out)
{
    size_t at = column;
    while (words.n) {
        size_t bar = str_find_char(words, '|');
        struct str word = str_first(words, bar + 1);
        if (at > column && at + word.n > width) {
            buf_putc(out, '\n');
            format_spaces(out, column);
            at = column;
        }
        buf_put(out, word);
        at += word.n;
        words = str_from(words, word.n);
    }
}

/* Prints " -o, --output TAPE" or " --events[=NAME]". */
static size_t option_names(const struct opt *opt, unsigned width, struct buf *out)
{
    size_t start = out->n;
    if (opt->letter)
        buf_printf(out, "  -%c, --%s", opt->letter, opt->name);
    else
        buf_printf(out, "      --%s", opt->name);
    if (opt->kind == OPT_KIND_OPTIONAL)
        buf_printf(out, "[=%s]", opt->value);
    else if (opt_takes_value(opt)) {
        buf_putc(out, ' ');
        put_words(str_of(opt->value), out->n - start, width, out);
    }
    return out->n - start;
}

void opt_help(const struct opt *options, unsigned width, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        size_t at = option_names(o, width, out);
        if (at + 2 > HELP_AT) {
            buf_putc(out, '\n');
            at = 0;
        }
        format_spaces(out, HELP_AT - at);
        format_wrapped(out, str_of(o->help), width, HELP_AT, HELP_AT);
    }
}
