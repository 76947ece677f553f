#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/conform_ops.h"
#include "trace/log/source.h"

/* --- Options --- */

int row_options_read(int argc, char **argv, struct row_options *o)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-v"))
            o->verbose = true;
        else if (!strcmp(argv[i], "-vv"))
            o->verbose = o->all = true;
        else if (!strcmp(argv[i], "--table"))
            o->table = true;
        else if (!strcmp(argv[i], "--fail-allocations"))
            o->fail_allocations = true;
        else if (!strcmp(argv[i], "--op") && i + 1 < argc)
            o->op = argv[++i];
        else if (!strcmp(argv[i], "--backend") && i + 1 < argc)
            o->backend = argv[++i];
        else if (!strcmp(argv[i], "--every") && i + 1 < argc)
            o->every = strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--torch") && i + 1 < argc)
            o->torch = torch_release(str_of(argv[++i]));
        else if (!strcmp(argv[i], "--expect") && i + 1 < argc)
            o->expect = strtod(argv[++i], NULL);
        else
            return 0;
    }
    return i;
}

bool row_is_shown(const struct row_options *o, enum case_verdict verdict, uint32_t before)
{
    bool bad = verdict == CASE_FAILED || verdict == CASE_MISSING;
    return bad && (o->all || (o->verbose && before < (o->op ? 20u : 2u)));
}

/* --- What came of rows --- */

struct tally_row *tally_row(struct tally *tally, struct str op)
{
    uint32_t i = intern(&tally->names, op);
    while (tally->rows.n <= i)
        if (!vec_push(&tally->rows, (struct tally_row){ 0 }))
            return NULL;
    return &tally->rows.v[i];
}

void tally_print_table(const struct tally *tally)
{
    printf("%-52s %6s %6s %6s %6s\n", "operator", "passed", "failed", "skip", "unsup");
    for (uint32_t i = 0; i < tally->rows.n; i++) {
        const uint32_t *n = tally->rows.v[i].n;
        printf("%-52.*s %6u %6u %6u %6u\n", STR_ARG(intern_text(&tally->names, i)), n[CASE_PASSED],
               n[CASE_FAILED], n[CASE_SKIPPED], n[CASE_MISSING]);
    }
}

double tally_print_totals(const struct tally *tally)
{
    const uint32_t *n = tally->totals.n;
    uint32_t failed = n[CASE_FAILED] + n[CASE_MISSING];
    printf("%u passed, %u failed, %u skipped\n", n[CASE_PASSED], failed, n[CASE_SKIPPED]);
    return n[CASE_PASSED] + failed ? 100.0 * n[CASE_PASSED] / (n[CASE_PASSED] + failed) : 100;
}

void tally_release(struct tally *tally)
{
    intern_release(&tally->names);
    vec_release(&tally->rows);
}

/* --- Files --- */

static const char *place(const char *path, char *room, size_t n)
{
    const char *shared = getenv("SYMTAPE_SHARED"), *root = getenv("SYMTAPE_ROOT");
    if (strncmp(path, "shared:", 7) != 0)
        return path;
    if (shared)
        snprintf(room, n, "%s/%s", shared, path + 7);
    else
        snprintf(room, n, "%s/../shared/%s", root ? root : ".", path + 7);
    return room;
}

static bool read_all(const char *path, struct buf *text, struct err *err)
{
    struct source *in = source_open(path, err);
    size_t n = 1;
    bool ok = in != NULL;
    while (ok && n) {
        ok = buf_reserve(text, SOURCE_READ_SIZE) || err_nomem(err);
        ok = ok && source_read(in, text->p + text->n, SOURCE_READ_SIZE, &n, err);
        text->n += ok ? n : 0;
    }
    if (in)
        source_close(in);
    return ok;
}

static bool judge_file(const char *path, row_judge *judge, void *user)
{
    struct err err = { .kind = ERR_NONE };
    struct buf text = BUF_INIT;
    struct json doc = { 0 };
    bool ok = read_all(path, &text, &err);
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, err.text);
    struct str left = buf_str(&text);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t line = 1; ok && left.n; line++) {
        size_t end = str_find_char(left, '\n');
        ok = end == 0 || judge(user, name, line, &doc, str_first(left, end));
        left = str_from(left, end + 1);
    }
    json_release(&doc);
    buf_release(&text);
    return ok;
}

int rows_judge_files(char *const *paths, int n, row_judge *judge, void *user)
{
    for (int i = 0; i < n; i++) {
        char room[4096];
        const char *path = place(paths[i], room, sizeof room);
        if (access(path, R_OK) != 0) {
            printf("skipped: no %s\n", path);
            return 77;
        }
        if (!judge_file(path, judge, user))
            return 4;
    }
    return 0;
}
