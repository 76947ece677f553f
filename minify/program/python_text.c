#include "minify/program/python_text.h"

#include "trace/base/text/printable.h"

/* ---- Regular expressions and comments ---- */

/* Returns whether a text can be a raw literal, in which a quote after an odd number of backslashes
 * does not end it. */
static bool fits_raw(struct str text)
{
    size_t slashes = 0;
    while (text.n) {
        uint32_t c;
        size_t n = utf8_sequence(text, &c);
        if (!n || !printable_code(c) || (c == '"' && slashes % 2 == 0))
            return false;
        slashes = c == '\\' ? slashes + 1 : 0;
        text = str_from(text, n);
    }
    return slashes % 2 == 0;
}

void python_put_regex(struct buf *out, struct str regex)
{
    if (!fits_raw(regex)) {
        python_put_string(out, regex);
        return;
    }
    buf_puts(out, "r\"");
    buf_put(out, regex);
    buf_putc(out, '"');
}

void python_put_comment(struct buf *out, struct str text)
{
    buf_puts(out, "# ");
    while (text.n) {
        char c = *text.p;
        bool coding = str_ends(buf_str(out), STR("coding"));
        if (c == '\t') {
            buf_putc(out, c);
            text = str_from(text, 1);
        } else if (coding && (c == ':' || c == '=')) {
            buf_puts(out, c == ':' ? "\\x3a" : "\\x3d");
            text = str_from(text, 1);
        } else {
            text = str_from(text, python_put_character(out, text));
        }
    }
    buf_putc(out, '\n');
}

/* ---- Numbers ---- */

static bool starts_with(struct str text, char c)
{
    return text.n && text.p[0] == c;
}

enum { DIGITS_MAX = 1000 }; /* Python reads 4,300 (sys.set_int_max_str_digits) */

struct python_number {
    bool negative, named; /* named: inf, nan */
    struct str text;      /* without its sign and without zeros that Python refuses */
};

/* Reads the number at the start and removes it from *rest. */
static bool take_python_number(struct str *rest, struct python_number *ret)
{
    struct str text = *rest;
    *ret = (struct python_number){ .negative = starts_with(text, '-') };
    if (ret->negative || starts_with(text, '+'))
        text = str_from(text, 1);
    ret->named = str_starts(text, STR("inf")) || str_starts(text, STR("nan"));
    size_t whole = str_digits(text), n = whole, fraction = 0, zeros = 0;
    bool real = false;
    if (ret->named) {
        n = 3;
    } else {
        if (n < text.n && text.p[n] == '.') {
            fraction = str_digits(str_from(text, n + 1));
            n += 1 + fraction;
            real = true;
        }
        if (whole + fraction == 0 || whole > DIGITS_MAX)
            return false;
        if (n < text.n && (text.p[n] == 'e' || text.p[n] == 'E')) {
            bool sign = n + 1 < text.n && (text.p[n + 1] == '-' || text.p[n + 1] == '+');
            size_t digits = str_digits(str_from(text, n + 1 + sign));
            if (digits == 0)
                return false;
            n += 1 + sign + digits;
            real = true;
        }
        while (!real && zeros + 1 < whole && text.p[zeros] == '0')
            zeros++;
    }
    ret->text = str_from(str_first(text, n), zeros);
    *rest = str_from(text, n);
    return true;
}

static void put_real(struct buf *out, const struct python_number *number)
{
    if (number->named)
        buf_puts(out, "float(\"");
    if (number->negative)
        buf_putc(out, '-');
    buf_put(out, number->text);
    if (number->named)
        buf_puts(out, "\")");
}

/* Prints a complex number as Python does; there is no literal for an infinity. */
static void put_python_complex(struct buf *out, const struct python_number *real,
                               const struct python_number *imaginary)
{
    bool named = real->named || imaginary->named;
    buf_puts(out, named ? "complex(" : "(");
    put_real(out, real);
    buf_puts(out, named ? ", " : imaginary->negative ? "" : "+");
    put_real(out, imaginary);
    buf_puts(out, named ? ")" : "j)");
}

bool python_put_number(struct buf *out, struct str text)
{
    const struct python_number zero = { .text = STR("0.0") };
    struct python_number first, second;
    bool brackets = starts_with(text, '(') && str_ends(text, STR(")"));
    struct str rest = brackets ? str_first(str_from(text, 1), text.n - 2) : text;
    if (!take_python_number(&rest, &first))
        return false;
    if (str_is(rest, "j")) {
        second = first;
        first = zero;
    } else if (!rest.n && !brackets) {
        put_real(out, &first);
        return true;
    } else if (!(starts_with(rest, '+') || starts_with(rest, '-')) ||
               !take_python_number(&rest, &second) || !str_is(rest, "j")) {
        return false;
    }
    put_python_complex(out, &first, &second);
    return true;
}

/* ---- Names ---- */

static bool is_shape(struct str rest)
{
    struct str digits = str_from(rest, sizeof ".shape[" - 1);
    size_t n = str_digits(digits);
    return str_starts(rest, STR(".shape[")) && n > 0 && n < 10 && n + 1 == digits.n &&
           digits.p[n] == ']';
}

bool python_put_name(struct buf *out, struct str name)
{
    size_t n = str_find_char(name, '.');
    if (!python_is_name(str_first(name, n)) || (n < name.n && !is_shape(str_from(name, n))))
        return false;
    buf_put(out, name);
    return true;
}

bool python_put_dotted(struct buf *out, struct str name)
{
    for (struct str rest = name;;) {
        size_t n = str_find_char(rest, '.');
        if (!python_is_name(str_first(rest, n)))
            return false;
        if (n >= rest.n)
            break;
        rest = str_from(rest, n + 1);
    }
    buf_put(out, name);
    return true;
}
