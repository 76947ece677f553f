#include "cmd/human.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* `value` in the largest of the units, 1000 apart, that leaves a number of at least 1. */
static const char *with_unit(char *text, uint64_t value, const char *const *units, size_t n_units)
{
    double scaled = (double)value;
    size_t unit = 0;
    while (scaled >= 999.5 && unit + 1 < n_units) {
        scaled /= 1000;
        unit++;
    }
    int decimals = unit == 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    snprintf(text, HUMAN_SIZE, "%.*f %s", decimals, scaled, units[unit]);
    return text;
}

const char *human_bytes(char *text, uint64_t bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    return with_unit(text, bytes, units, sizeof units / sizeof units[0]);
}

const char *human_ns(char *text, uint64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    return with_unit(text, ns, units, sizeof units / sizeof units[0]);
}

const char *human_count(char *text, uint64_t count)
{
    char digits[HUMAN_SIZE];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = text;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}
