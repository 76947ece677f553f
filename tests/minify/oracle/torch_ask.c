/* Asks a warm worker about a graph, for tests:
 *     torch_ask compile|run|... BACKEND TAPE-SELECTOR [MORE-SELECTORS...]
 * prints what PyTorch says of the first, and the verdict on each of the others, as JSON lines. */
#include <stdio.h>
#include <stdlib.h>

#include "minify/oracle/oracle_torch.h"
#include "minify/process/torch_python.h"
#include "trace/base/text/json_write.h"

static const char *const questions[] = {
#define QUESTION(id, name, check, route) name,
    TORCH_QUESTIONS(QUESTION)
#undef QUESTION
};

/* FX text by its name, "...fx", or a graph of a recording. */
static struct candidate *load(const char *name, struct trace **trace, struct err *err)
{
    struct candidate_options options = { 0 };
    struct selector selector;
    char path[4096];
    *trace = NULL;
    if (str_ends(str_of(name), STR(".fx"))) {
        struct buf text = BUF_INIT;
        FILE *in = fopen(name, "r");
        for (int c; in && (c = getc(in)) != EOF;)
            buf_putc(&text, (char)c);
        if (in)
            fclose(in);
        struct candidate *ret = candidate_read_fx(buf_str(&text), &options, err);
        buf_release(&text);
        return ret;
    }
    if (!selector_parse(&selector, str_of(name), err))
        return NULL;
    snprintf(path, sizeof path, "%.*s", STR_ARG(selector.tape));
    *trace = trace_open(path, NULL, err);
    return *trace ? candidate_load(*trace, &selector, &options, err) : NULL;
}

static void put_line(struct buf *text)
{
    buf_putc(text, '\n');
    fwrite(text->p, 1, text->n, stdout);
    fflush(stdout);
    buf_release(text);
}

static void put_first(const struct torch_first *first)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "verdict", verdict_name(first->verdict));
    json_put_str(&w, "kind", first->signature.kind);
    json_put_str(&w, "message", first->signature.message);
    json_put_str(&w, "error", str_first(first->error, 400));
    json_put_str(&w, "eager", str_first(first->eager, 400));
    json_put_str(&w, "version", first->version);
    json_close(&w);
    put_line(&text);
}

static void put_answer(const struct answer *answer)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "verdict", verdict_name(answer->verdict));
    json_put_str(&w, "kind", answer->signature.kind);
    json_put_str(&w, "message", answer->signature.message);
    json_put_str(&w, "text", str_first(answer->text, 400));
    json_put_str(&w, "node", answer->node);
    json_close(&w);
    put_line(&text);
}

int main(int argc, char **argv)
{
    struct torch_options options = { .cpu = true };
    struct torch_first first;
    struct err err = { 0 };
    struct trace *trace;
    size_t n = sizeof questions / sizeof *questions, question = 0;
    while (argc > 3 && question < n && strcmp(questions[question], argv[1]) != 0)
        question++;
    if (argc < 4 || question == n)
        return 2;
    options.question = (enum torch_question)question;
    struct torch_python python;
    if (!torch_python_choose(STR(""), STR(""), NULL, &python, &err))
        return 2;
    options.python = str_of(python.path);
    options.backend = str_of(argv[2]);
    struct candidate *whole = load(argv[3], &trace, &err);
    struct oracle *oracle = whole ? oracle_torch(&options, whole, &first, &err) : NULL;
    if (!oracle) {
        fprintf(stderr, "%s\n", err.text);
        return err.kind == ERR_ENV ? 77 : 2;
    }
    put_first(&first);
    atomic_bool cancel = false;
    for (int i = 4; i < argc; i++) {
        struct trace *other;
        struct answer answer;
        struct oracle_question asking = { .cancel = &cancel, .timeout = 120 };
        struct candidate *candidate = load(argv[i], &other, &err);
        if (!candidate) {
            fprintf(stderr, "%s: %s\n", argv[i], err.text);
            return 2;
        }
        oracle->ask(oracle, candidate, &asking, &answer);
        put_answer(&answer);
        answer_release(&answer);
        candidate_free(candidate);
        trace_close(other);
    }
    oracle->free(oracle);
    candidate_free(whole);
    trace_close(trace);
    return 0;
}
