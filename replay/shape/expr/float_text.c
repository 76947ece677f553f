#include "replay/shape/expr/float_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A float's decimal digits without the point, and the power of ten of the first digit. */
struct digits {
    char text[24];
    int n;
    int exponent;
    bool negative;
};

static struct digits split_digits(double value, int n)
{
    struct digits d = { .n = n, .negative = value < 0 };
    char text[48];
    snprintf(text, sizeof text, "%.*e", n - 1, fabs(value));
    d.text[0] = text[0];
    memcpy(d.text + 1, text + 2, (size_t)n - 1);
    d.exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return d;
}

static void put_fixed(struct buf *out, const struct digits *d, bool strip)
{
    int before = d->exponent >= 0 ? d->exponent + 1 : 0; /* digits before the point */
    int n = d->n;
    while (strip && n > before && n > 1 && d->text[n - 1] == '0')
        n--;
    if (before == 0)
        buf_puts(out, "0");
    for (int i = 0; i < before; i++)
        buf_putc(out, i < d->n ? d->text[i] : '0');
    buf_putc(out, '.');
    for (int i = d->exponent + 1; i < 0; i++)
        buf_putc(out, '0');
    if (n > before)
        buf_put(out, (struct str){ d->text + before, (size_t)(n - before) });
    else if (strip)
        buf_putc(out, '0');
}

static void put_scientific(struct buf *out, const struct digits *d, bool strip, char e)
{
    int n = d->n;
    while (strip && n > 2 && d->text[n - 1] == '0')
        n--;
    buf_putc(out, d->text[0]);
    buf_putc(out, '.');
    buf_put(out, (struct str){ d->text + 1, (size_t)n - 1 });
    buf_printf(out, "%c%c%d", e, d->exponent < 0 ? '-' : '+', abs(d->exponent));
}

void float_text(double value, enum float_digits digits, bool strip, struct buf *out)
{
    if (value == 0) {
        buf_puts(out, "0.0");
        return;
    }
    struct digits d = split_digits(value, (int)digits);
    int least = -((int)digits / 3) < -5 ? -((int)digits / 3) : -5;
    if (d.negative)
        buf_putc(out, '-');
    if (d.exponent > least && d.exponent < (int)digits)
        put_fixed(out, &d, strip);
    else
        put_scientific(out, &d, strip, 'e');
}

void float_text_of_range(double value, struct buf *out)
{
    if (value == 0) {
        buf_puts(out, "0.0");
        return;
    }
    struct digits d = split_digits(value, FLOAT_STR);
    if (d.negative)
        buf_putc(out, '-');
    if (d.exponent >= -6 && d.exponent < FLOAT_STR)
        put_fixed(out, &d, false);
    else
        put_scientific(out, &d, false, 'E');
}

void float_repr(double value, struct buf *out)
{
    if (value == 0 || !isfinite(value)) {
        buf_puts(out, isnan(value) ? "nan"
                      : value == 0 ? (signbit(value) ? "-0.0" : "0.0")
                      : value < 0  ? "-inf"
                                   : "inf");
        return;
    }
    struct digits d = { 0 };
    for (int n = 1; n <= 17; n++) {
        char text[48];
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        d = split_digits(value, n);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_puts(out, d.negative ? "-" : "");
    if (d.exponent >= -4 && d.exponent < 16) {
        put_fixed(out, &d, true);
        return;
    }
    buf_putc(out, d.text[0]);
    if (d.n > 1)
        buf_putc(out, '.');
    buf_put(out, (struct str){ d.text + 1, (size_t)d.n - 1 });
    buf_printf(out, "e%c%02d", d.exponent < 0 ? '-' : '+', abs(d.exponent));
}
