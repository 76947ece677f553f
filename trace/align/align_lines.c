/* Aligns the files of both sides, and then their lines.
 *
 * Paths differ between machines and check-outs, so the tails of paths are compared: files are
 * paired that have the most last components in common, at least the name. Files that were
 * renamed are paired if they share lines. */
#include <stdlib.h>

#include "trace/align/align_build.h"

enum { MOST_FILES = 2000 }; /* of a side; with more files, only equal paths are paired */

struct file_list {
    uint32_t *ids; /* numbers of texts */
    uint32_t n;
    bool *taken;
};

static bool list_files(const struct align_side *side, struct file_list *ret)
{
    const struct outline *o = side->outline;
    size_t n_texts = o->texts.texts.n;
    bool *seen = calloc(n_texts + 1, sizeof *seen);
    ret->ids = calloc(o->lines.n + 1, sizeof *ret->ids);
    ret->taken = calloc(o->lines.n + 1, sizeof *ret->taken);
    if (!seen || !ret->ids || !ret->taken) {
        free(seen);
        return false;
    }
    for (size_t i = 0; i < o->lines.n; i++) {
        uint32_t file = o->lines.v[i].file;
        if (!seen[file])
            ret->ids[ret->n++] = file;
        seen[file] = true;
    }
    free(seen);
    return true;
}

/* Returns the number of equal last components of two paths; 1000 when all are equal. */
static uint32_t common_tail(struct str a, struct str b)
{
    enum { WHOLE = 1000 };
    uint32_t n = 0;
    size_t i = 0;
    if (str_eq(a, b))
        return WHOLE;
    for (; i < a.n && i < b.n && a.p[a.n - 1 - i] == b.p[b.n - 1 - i]; i++)
        n += a.p[a.n - 1 - i] == '/';
    /* A component counts when it ends where the other path's does. */
    bool a_ends = i == a.n || a.p[a.n - 1 - i] == '/', b_ends = i == b.n || b.p[b.n - 1 - i] == '/';
    return n + (a_ends && b_ends && i > 0);
}

struct match {
    uint32_t a, b; /* indices into the lists */
    uint32_t score;
};

static int by_common_tail(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

struct file_matcher {
    struct align_build *b;
    struct file_list lists[2];
    vec_of(struct match)
    matches;
};

static void take_best(struct file_matcher *m)
{
    struct align_side *sides = m->b->sides;
    if (m->matches.n > 0)
        qsort(m->matches.v, m->matches.n, sizeof *m->matches.v, by_common_tail);
    for (size_t i = 0; i < m->matches.n; i++) {
        const struct match *match = &m->matches.v[i];
        if (m->lists[0].taken[match->a] || m->lists[1].taken[match->b])
            continue;
        m->lists[0].taken[match->a] = m->lists[1].taken[match->b] = true;
        uint32_t a = m->lists[0].ids[match->a], b = m->lists[1].ids[match->b];
        sides[1].files[b] = sides[0].files[a];
    }
    m->matches.n = 0;
}

static bool match_paths(struct file_matcher *m)
{
    const struct align_side *sides = m->b->sides;
    bool few = m->lists[0].n <= MOST_FILES && m->lists[1].n <= MOST_FILES;
    for (uint32_t i = 0; i < m->lists[0].n && few; i++)
        for (uint32_t k = 0; k < m->lists[1].n; k++) {
            struct str a = outline_text(sides[0].outline, m->lists[0].ids[i]);
            struct str b = outline_text(sides[1].outline, m->lists[1].ids[k]);
            uint32_t score = common_tail(a, b);
            if (score > 0 && !vec_push(&m->matches, (struct match){ i, k, score }))
                return false;
        }
    take_best(m);
    return true;
}

/* A line of code, to count the lines that two files share by function and code. */
struct code_line {
    uint32_t function, code, file; /* function and code are numbers that both sides share; file is
                                      an index into its list */
    uint32_t side;
};

static int by_code(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->side < y->side ? -1 : x->side > y->side;
}

/* Lists the lines of files that have no partner. */
static uint32_t list_code(const struct file_matcher *m, uint32_t which, struct code_line *ret)
{
    const struct align_side *side = &m->b->sides[which];
    const struct outline *o = side->outline;
    uint32_t n = 0;
    for (uint32_t f = 0; f < m->lists[which].n; f++) {
        if (m->lists[which].taken[f])
            continue;
        for (size_t i = 0; i < o->lines.n; i++) {
            const struct outline_line *l = &o->lines.v[i];
            if (l->file == m->lists[which].ids[f] && l->code != 0)
                ret[n++] =
                    (struct code_line){ side->texts[l->function], side->texts[l->code], f, which };
        }
    }
    return n;
}

static bool count_shared(struct file_matcher *m, const struct code_line *lines, uint32_t n)
{
    size_t left = 1000000; /* limit on the number of steps */
    for (uint32_t i = 0; i < n && left; i++)
        for (uint32_t k = i + 1; k < n && lines[k].code == lines[i].code &&
                                 lines[k].function == lines[i].function && left;
             k++, left--) {
            if (lines[i].side != 0 || lines[k].side != 1)
                continue;
            bool known = false;
            for (size_t p = m->matches.n; p > 0 && !known; p--)
                if (m->matches.v[p - 1].a == lines[i].file &&
                    m->matches.v[p - 1].b == lines[k].file) {
                    m->matches.v[p - 1].score++;
                    known = true;
                }
            if (!known && !vec_push(&m->matches, (struct match){ lines[i].file, lines[k].file, 1 }))
                return false;
        }
    return true;
}

static bool match_contents(struct file_matcher *m)
{
    uint32_t left[2] = { 0 };
    for (int s = 0; s < 2; s++)
        for (uint32_t f = 0; f < m->lists[s].n; f++)
            left[s] += !m->lists[s].taken[f];
    if (left[0] == 0 || left[1] == 0 || left[0] > MOST_FILES / 10 || left[1] > MOST_FILES / 10)
        return true;
    size_t most = m->b->sides[0].outline->lines.n + m->b->sides[1].outline->lines.n;
    struct code_line *lines = calloc(most + 1, sizeof *lines);
    if (!lines)
        return false;
    uint32_t n = list_code(m, 0, lines);
    n += list_code(m, 1, lines + n);
    qsort(lines, n, sizeof *lines, by_code);
    bool ok = count_shared(m, lines, n);
    free(lines);
    take_best(m);
    return ok;
}

static bool number_files(struct align_build *b)
{
    struct file_matcher m = { .b = b };
    for (int s = 0; s < 2; s++) {
        struct align_side *side = &b->sides[s];
        size_t n = side->outline->texts.texts.n;
        side->files = calloc(n + 1, sizeof *side->files);
        for (size_t i = 0; side->files && i < n; i++)
            side->files[i] = side->texts[i];
    }
    bool ok = b->sides[0].files && b->sides[1].files && list_files(&b->sides[0], &m.lists[0]) &&
              list_files(&b->sides[1], &m.lists[1]) && match_paths(&m) && match_contents(&m);
    for (int s = 0; s < 2; s++) {
        free(m.lists[s].ids);
        free(m.lists[s].taken);
    }
    vec_release(&m.matches);
    return ok;
}

/* Numbers the lines. Where the code was not recorded, the line's number is used instead. */
static bool number_lines(struct align_build *b, struct align_side *side)
{
    const struct outline *o = side->outline;
    side->lines = calloc(o->lines.n + 1, sizeof *side->lines);
    for (size_t i = 0; side->lines && i < o->lines.n; i++) {
        const struct outline_line *l = &o->lines.v[i];
        bool nameless = l->code == 0 && l->function == 0;
        side->lines[i] = intern(&b->lines, ALIGN_KEY(side->files[l->file], side->texts[l->function],
                                                     side->texts[l->code], nameless ? l->line : 0));
        if (side->lines[i] == INTERN_NONE)
            return false;
    }
    return side->lines;
}

static bool see_lines(struct align_build *b, struct align_side *side)
{
    side->lines_seen = calloc(b->lines.texts.n + 1, sizeof *side->lines_seen);
    for (size_t i = 0; side->lines_seen && i < side->outline->lines.n; i++)
        side->lines_seen[side->lines[i]] = true;
    return side->lines_seen;
}

bool align_lines(struct align_build *b)
{
    return number_files(b) && number_lines(b, &b->sides[0]) && number_lines(b, &b->sides[1]) &&
           see_lines(b, &b->sides[0]) && see_lines(b, &b->sides[1]);
}
