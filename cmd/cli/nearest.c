#include "cmd/cli/nearest.h"

#include <stdio.h>

enum { NEAREST_MAX = 64 }; /* a longer word is not a typo of one of our names */

static size_t least_of_three(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The Damerau-Levenshtein distance (optimal string alignment): swapping two neighbors is one edit.
 * Both words have at most NEAREST_MAX letters. */
static size_t edits(struct str a, struct str b)
{
    size_t rows[3][NEAREST_MAX + 1];
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *row = rows[i % 3];
        const size_t *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            row[j] =
                least_of_three(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a.p[i - 1] != b.p[j - 1]));
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                up2[j - 2] + 1 < row[j])
                row[j] = up2[j - 2] + 1;
        }
    }
    return rows[a.n % 3][b.n];
}

/* Returns whether a word is made of the candidate's letters in their order, the first and the last
 * one included: "fwd" of "forward". */
static bool abbreviates(struct str word, struct str candidate)
{
    size_t i = 0;
    if (word.n < 3 || word.p[0] != candidate.p[0] ||
        word.p[word.n - 1] != candidate.p[candidate.n - 1])
        return false;
    for (size_t j = 0; j < candidate.n && i < word.n; j++)
        i += candidate.p[j] == word.p[i];
    return i == word.n;
}

struct nearest nearest_of(struct str word)
{
    return (struct nearest){ .word = word, .distance = SIZE_MAX };
}

void nearest_offer(struct nearest *search, struct str candidate)
{
    struct str word = search->word;
    if (word.n == 0 || word.n > NEAREST_MAX || candidate.n == 0 || candidate.n > NEAREST_MAX)
        return;
    size_t distance = edits(word, candidate);
    bool near = distance <= (word.n + 2) / 3 && distance < candidate.n;
    if (!near && ((word.n >= 2 && str_starts(candidate, word)) || abbreviates(word, candidate)))
        near = true;
    if (!near || distance >= search->distance)
        return;
    search->distance = distance;
    search->best = candidate;
}

const char *nearest_text(const struct nearest *search, char *out)
{
    *out = '\0';
    if (search->best.n)
        snprintf(out, NEAREST_TEXT, "; did you mean \"%.*s\"?", STR_ARG(search->best));
    return out;
}
