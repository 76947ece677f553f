/* usage: conform_ops [-v] [--table] [--op NAME] [--expect PERCENT] [--torch VERSION] FILE...
 *
 * Each row of ops/NAME.jsonl[.zst] is one call with PyTorch's answer; ours must be the same:
 * metas, aliases, numbers, guards, ranges, replacements, errors (replay/cases/op_case.h). */
#include <stdio.h>

#include "tests/conformance/conform_ops.h"

struct conform {
    struct row_options options;
    struct tally tally;
    struct case_checker *checker;
    const char *path;
    size_t line;
};

static void show(struct conform *c, struct str op, enum case_verdict verdict, uint32_t before)
{
    if (row_is_shown(&c->options, verdict, before))
        printf("%s:%zu: %.*s: %.*s\n", c->path, c->line, STR_ARG(op),
               STR_ARG(buf_str(&c->checker->call.why)));
}

static bool tally_up(struct conform *c, struct str op, enum case_verdict verdict)
{
    struct tally_row *row = tally_row(&c->tally, op);
    if (!row)
        return false;
    show(c, op, verdict, row->n[CASE_FAILED] + row->n[CASE_MISSING]);
    row->n[verdict]++;
    c->tally.totals.n[verdict]++;
    return true;
}

static bool judge_line(void *user, const char *path, size_t line, struct json *doc, struct str text)
{
    struct conform *c = user;
    struct err err = { .kind = ERR_NONE };
    enum case_verdict verdict = CASE_FAILED;
    c->path = path;
    c->line = line;
    if (!json_parse(doc, text, &err))
        return fprintf(stderr, "%s:%zu: %s\n", path, line, err.text), false;
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    if (c->options.op && !str_eq(op, str_of(c->options.op)))
        return true;
    if (!case_check(c->checker, doc, &verdict, &err))
        return fprintf(stderr, "%s:%zu: %s\n", path, line, err.text), false;
    return tally_up(c, op, verdict);
}

static int usage(void)
{
    fputs(
        "usage: conform_ops [-v | -vv] [--table] [--op NAME] [--expect PERCENT] [--torch VERSION] "
        "FILE...\n",
        stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct conform c;
    struct err err = { .kind = ERR_NONE };
    int i = row_options_read(argc, argv, &c.options);
    if (!i || i == argc)
        return usage();
    c.checker = case_checker_new(NULL, &err);
    if (!c.checker)
        return fprintf(stderr, "%s\n", err.text), 4;
    c.checker->torch = c.options.torch;
    c.checker->call.any_rank = true;
    int code = rows_judge_files(argv + i, argc - i, judge_line, &c);
    if (code == 77)
        return code;
    if (c.options.table)
        tally_print_table(&c.tally);
    double share = tally_print_totals(&c.tally);
    tally_release(&c.tally);
    case_checker_free(c.checker);
    return code ? code : share < c.options.expect ? 1 : 0;
}
