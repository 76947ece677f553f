/* usage: bench_json LOG
 *
 * The JSON of a log's header lines, read by trace/base/text/json.c and by json-c in turn: MB/s of
 * each, the median of nine rounds. Both parse a line whole and look up one key. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <json-c/json.h>

#include "trace/base/text/json.h"

enum { ROUNDS = 9 };

static struct buf read_all(const char *path)
{
    struct buf text = BUF_INIT;
    FILE *file = fopen(path, "rb");
    size_t n = 1;
    while (file && n > 0 && buf_reserve(&text, 1 << 20)) {
        n = fread(text.p + text.n, 1, 1 << 20, file);
        text.n += n;
    }
    if (file)
        fclose(file);
    return text;
}

/* The part of each header line behind "] ". */
static void find_lines(struct str text, struct str **ret, size_t *ret_n)
{
    vec_of(struct str)
    lines = { 0 };
    while (text.n) {
        size_t n = str_find_char(text, '\n');
        struct str line = str_first(text, n);
        size_t at = str_find(line, STR("] {"));
        if (at < line.n && line.p[0] == 'V' && !vec_push(&lines, str_from(line, at + 2)))
            exit(4);
        text = str_from(text, n + 1);
    }
    *ret = lines.v;
    *ret_n = lines.n;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double read_ours(const struct str *lines, size_t n, size_t *found)
{
    struct json doc = { 0 };
    double start = now();
    for (size_t i = 0; i < n; i++) {
        struct err err = { .kind = ERR_NONE };
        if (json_parse(&doc, lines[i], &err))
            *found += json_get(&doc, JSON_ROOT, STR("frame_id")) != JSON_NONE;
    }
    double seconds = now() - start;
    json_release(&doc);
    return seconds;
}

static double read_theirs(const struct str *lines, size_t n, size_t *found)
{
    double start = now();
    for (size_t i = 0; i < n; i++) {
        json_tokener *tokener = json_tokener_new();
        json_object *root = json_tokener_parse_ex(tokener, lines[i].p, (int)lines[i].n);
        json_object *value;
        *found += json_object_object_get_ex(root, "frame_id", &value);
        json_object_put(root);
        json_tokener_free(tokener);
    }
    return now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct str *lines;
    size_t n, bytes = 0, found[2] = { 0, 0 };
    double ours[ROUNDS], theirs[ROUNDS];
    if (argc != 2)
        return 2;
    struct buf text = read_all(argv[1]);
    find_lines(buf_str(&text), &lines, &n);
    for (size_t i = 0; i < n; i++)
        bytes += lines[i].n;
    for (int round = 0; round < ROUNDS; round++) {
        ours[round] = read_ours(lines, n, &found[0]);
        theirs[round] = read_theirs(lines, n, &found[1]);
    }
    qsort(ours, ROUNDS, sizeof *ours, by_value);
    qsort(theirs, ROUNDS, sizeof *theirs, by_value);
    double mb = (double)bytes / 1e6;
    printf("%zu lines, %.1f MB: json.c %.0f MB/s, json-c %.0f MB/s, ratio %.1f\n", n, mb,
           mb / ours[ROUNDS / 2], mb / theirs[ROUNDS / 2], theirs[ROUNDS / 2] / ours[ROUNDS / 2]);
    free(lines);
    buf_release(&text);
    return found[0] == found[1] && found[0] > 0 ? 0 : 1;
}
