#include "minify/program/program_script.h"

#include "minify/program/program_names.h"
#include "minify/program/python_text.h"

static const char *const check[] = {
#include <minify/program_check.inc>
};
static const char *const run[] = {
#include <minify/program_run.inc>
};
static const char *const results[] = {
#include <minify/torch_results.inc>
};
static const char *const bisect[] = {
#include <minify/torch_bisect.inc>
};
static const char *const worker[] = {
#include <minify/torch_worker.inc>
};

static void put_lines(struct buf *out, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_puts(out, lines[i]);
}

#define PUT_LINES(out, lines) put_lines(out, lines, sizeof lines / sizeof *lines)

char *program_script(enum program_script script, const struct program_setup *setup)
{
    struct buf text = BUF_INIT, tables = BUF_INIT, given = BUF_INIT;
    program_tables(setup->allow, &tables);
    program_setup_json(setup, &given);
    buf_puts(&text, "import sys\nif sys.path[:1] == [\"\"]:\n    del sys.path[0]\n"
                    "import json\nTABLES = json.loads(");
    python_put_string(&text, buf_str(&tables));
    buf_puts(&text, ")\nSETUP = json.loads(");
    python_put_string(&text, buf_str(&given));
    buf_puts(&text, ")\n");
    PUT_LINES(&text, check);
    buf_puts(&text, "\n\nNAMES = Names(TABLES, SETUP)\n");
    if (script == PROGRAM_RUN)
        PUT_LINES(&text, run);
    if (script == PROGRAM_WORKER) {
        PUT_LINES(&text, results);
        PUT_LINES(&text, bisect);
        PUT_LINES(&text, worker);
    }
    buf_putc(&text, '\0');
    text.failed |= tables.failed || given.failed;
    buf_release(&tables);
    buf_release(&given);
    if (text.failed)
        buf_release(&text);
    return text.p;
}
