#include "trace/base/text/decimal.h"

/* The parts of a number's text: digits around a point, and a power of ten. */
struct decimal {
    bool negative;
    struct str whole, fraction;
    int64_t exponent;
};

enum { EXPONENT_LIMIT = 10000 }; /* with a larger exponent, a number is 0 or does not fit */

static struct str take_digits(struct str *text)
{
    struct str digits = str_first(*text, str_digits(*text));
    *text = str_from(*text, digits.n);
    return digits;
}

static bool take_decimal_char(struct str *text, char c)
{
    if (text->n == 0 || text->p[0] != c)
        return false;
    *text = str_from(*text, 1);
    return true;
}

static bool take_exponent(struct str *text, int64_t *ret)
{
    bool negative = take_decimal_char(text, '-');
    if (!negative)
        take_decimal_char(text, '+');
    struct str digits = take_digits(text);
    int64_t value = 0;
    for (size_t i = 0; i < digits.n && value < EXPONENT_LIMIT; i++)
        value = value * 10 + (digits.p[i] - '0');
    *ret = negative ? -value : value;
    return digits.n > 0;
}

static bool parse_decimal(struct str text, struct decimal *d)
{
    *d = (struct decimal){ .negative = take_decimal_char(&text, '-') };
    d->whole = take_digits(&text);
    if (d->whole.n == 0)
        return false;
    if (take_decimal_char(&text, '.')) {
        d->fraction = take_digits(&text);
        if (d->fraction.n == 0)
            return false;
    }
    if (take_decimal_char(&text, 'e') || take_decimal_char(&text, 'E')) {
        if (!take_exponent(&text, &d->exponent))
            return false;
    }
    return text.n == 0;
}

static int digit_at(const struct decimal *d, size_t i)
{
    if (i < d->whole.n)
        return d->whole.p[i] - '0';
    i -= d->whole.n;
    return i < d->fraction.n ? d->fraction.p[i] - '0' : 0;
}

static bool is_decimal_zero(const struct decimal *d)
{
    for (size_t i = 0; i < d->whole.n + d->fraction.n; i++)
        if (digit_at(d, i) != 0)
            return false;
    return true;
}

bool decimal_scaled(struct str text, int scale, int64_t *ret)
{
    struct decimal d;
    if (!parse_decimal(text, &d))
        return false;
    if (is_decimal_zero(&d)) {
        *ret = 0;
        return true;
    }
    int64_t keep =
        (int64_t)d.whole.n + d.exponent + scale; /* number of digits left of the point, scaled */
    int64_t value = 0;
    for (int64_t i = 0; i < keep; i++) {
        int digit = digit_at(&d, (size_t)i);
        if (value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = d.negative ? -value : value;
    return true;
}
