/* For tests of programs: program_tool check|run|worker [ALLOW] prints the script that stands in
 * front of them. `program_tool print FILE...` prints for each FX text or .pt2 (its first graph) a
 * line of JSON: the programs that ask about it in every way, null for a file that is refused
 * before. FILE.message, where it is, holds the error's text, which is the title, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "minify/program/program_script.h"
#include "minify/repro/repro.h"
#include "trace/base/text/json_write.h"

static const struct repro_what whats[] = {
    { .check = REPRO_NOTHING },
    { .check = REPRO_RAISES },
    { .check = REPRO_RAISES, .route = REPRO_MAKE_FX },
    { .check = REPRO_WRONG, .route = REPRO_EXPORT },
    { .check = REPRO_GUARD },
    { .check = REPRO_GUARDS, .route = REPRO_DECOMPOSE },
    { .check = REPRO_WRONG, .route = REPRO_CUDA, .cpu = true },
    { .check = REPRO_SPECIALIZES },
    { .check = REPRO_RUNS },
};

static bool read_file(const char *path, struct buf *out)
{
    char bytes[4096];
    size_t n;
    FILE *file = fopen(path, "rb");
    while (file && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
        buf_put(out, (struct str){ bytes, n });
    if (file)
        fclose(file);
    return file && !out->failed;
}

static struct candidate *load(const char *path)
{
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    struct selector selector;
    struct candidate *ret = NULL;
    const struct candidate_options options = { 0 };
    if (str_ends(str_of(path), STR(".pt2"))) {
        struct trace *trace = trace_open(path, NULL, &err);
        if (trace && selector_parse(&selector, str_of(path), &err))
            ret = candidate_load(trace, &selector, &options, &err);
        trace_close(trace);
    } else if (read_file(path, &text)) {
        ret = candidate_read_fx(buf_str(&text), &options, &err);
    }
    buf_release(&text);
    return ret;
}

static bool print(const char *path)
{
    struct candidate *candidate = load(path);
    struct buf out = BUF_INIT, message = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    char name[4096];
    snprintf(name, sizeof name, "%s.message", path);
    (void)read_file(name, &message);
    bool ok = true;
    if (candidate)
        json_open_array(&w, NULL);
    else
        json_put_null(&w, NULL);
    for (size_t i = 0; candidate && i < sizeof whats / sizeof *whats; i++) {
        struct repro_what what = whats[i];
        struct repro_notes notes;
        struct buf text = BUF_INIT;
        what.message = buf_str(&message);
        what.backend = i % 2 ? STR("a\"\n") : STR("");
        what.expr = what.exception = buf_str(&message);
        ok = ok && repro_print(candidate, &what, &notes, &text);
        json_put_str(&w, NULL, buf_str(&text));
        buf_release(&text);
    }
    if (candidate)
        json_close(&w);
    candidate_free(candidate);
    ok = ok && !out.failed;
    printf("%.*s\n", STR_ARG(buf_str(&out)));
    buf_release(&message);
    buf_release(&out);
    return ok;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "check", "run", "worker" };
    if (argc > 2 && strcmp(argv[1], "print") == 0) {
        bool ok = true;
        for (int i = 2; i < argc; i++)
            ok = print(argv[i]) && ok;
        return ok ? 0 : 4;
    }
    for (int i = 0; argc > 1 && i < 3; i++) {
        if (strcmp(argv[1], names[i]) != 0)
            continue;
        const struct program_setup setup = { .allow = str_of(argc > 2 ? argv[2] : "") };
        char *script = program_script((enum program_script)i, &setup);
        if (script)
            fputs(script, stdout);
        free(script);
        return script ? 0 : 4;
    }
    return 2;
}
