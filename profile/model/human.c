#include "profile/model/human.h"

#include <stddef.h>
#include <stdio.h>

/* Formats `value` in the largest of the units, 1000 apart, in which it is at least 1. */
static const char *with_unit(char *text, double value, const char *const *units, size_t n_units)
{
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < n_units) {
        value /= 1000;
        unit++;
    }
    int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, HUMAN_SIZE, "%.*f %s", decimals, value, units[unit]);
    return text;
}

const char *human_bytes(char *text, uint64_t bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    return with_unit(text, (double)bytes, units, sizeof units / sizeof units[0]);
}

const char *human_ns(char *text, int64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    int64_t seconds = ns / 1000000000, minutes = seconds / 60;
    if (seconds < 100)
        return with_unit(text, (double)ns, units, sizeof units / sizeof units[0]);
    if (minutes < 60)
        snprintf(text, HUMAN_SIZE, "%d min %02d s", (int)minutes, (int)(seconds % 60));
    else
        snprintf(text, HUMAN_SIZE, "%lld h %02d min", (long long)(minutes / 60),
                 (int)(minutes % 60));
    return text;
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
