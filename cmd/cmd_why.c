#include <stdlib.h>

#include "cmd/cli/nearest.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/why/why_make.h"

struct why_args {
    bool json, strict;
    const char *between, *set;
    struct opt_number limit;
};

enum { LIMIT_DEFAULT = 20, SETS_MAX = 64, SUGGESTIONS = 6 };

static const struct opt options[] = {
    OPT_STRING(0, "between", "A,B", struct why_args, between,
               "list the recorded guards that are true for one of these two values and false for "
               "the other"),
    OPT_STRING(0, "sizes", "SIZE[,SIZE...]", struct why_args, set,
               "values of other symbols for --between: s77=4 or \"L['y'].size()[0]=4\" (default: "
               "their hints)",
               .old = "set"),
    OPT_NUMBER('n', "limit", "N", struct why_args, limit,
               "print at most N rows of each list (default 20, 0: all)"),
    OPT_JSON(struct why_args, json),
    OPT_STRICT(struct why_args, strict),
    OPT_END,
};

struct why_run {
    struct cmd *cmd;
    const struct why_args *args;
    const char *name, *target; /* the operands */
    struct tape_arg tape;
    struct why_options how;
    struct why_set sets[SETS_MAX];
};

/* ---- Options ---- */

static bool is_number(const char *word)
{
    struct str text = str_of(word);
    size_t sign = text.n > 0 && (text.p[0] == '-' || text.p[0] == '+');
    return text.n > sign && is_digit(text.p[sign]);
}

/* "31,24", or "31 24": the word behind the option is an operand then, wherever the option stands.
 */
static int read_between(struct why_run *r)
{
    const char *const *words = r->cmd->operands;
    struct str text = str_of(r->args->between);
    size_t comma = str_find_char(text, ',');
    r->how.between[0] = str_trim(str_first(text, comma));
    r->how.between[1] = str_trim(str_from(text, comma + 1));
    if (r->cmd->n_operands == 3 && comma == text.n) {
        size_t at = is_number(words[2]) ? 2 : is_number(words[0]) ? 0 : 1;
        r->how.between[1] = str_of(words[at]);
        r->name = words[at == 0];
        r->target = words[at == 2 ? 1 : 2];
    }
    if (!r->how.between[0].n || !r->how.between[1].n)
        return out_usage(r->cmd->out, "why: --between takes two values, as in --between 31,24");
    return EXIT_DONE;
}

/* Returns where the value begins: the last '=' of the text. */
static size_t find_set_value(struct str text)
{
    size_t at = text.n;
    while (at && text.p[at - 1] != '=')
        at--;
    return at;
}

static int read_set_values(struct why_run *r)
{
    struct str text = str_of(r->args->set);
    while (text.n) {
        size_t comma = str_find_char(text, ',');
        struct str one = str_trim(str_first(text, comma));
        size_t value = find_set_value(one);
        text = str_from(text, comma + 1);
        if (value < 2 || value == one.n)
            return out_usage(r->cmd->out, "why: --sizes: %.*s is not of the form s77=4",
                             STR_ARG(one));
        if (r->how.n_sets == SETS_MAX)
            return out_usage(r->cmd->out, "why: --sizes: at most %d values", SETS_MAX);
        r->sets[r->how.n_sets++] =
            (struct why_set){ str_first(one, value - 1), str_from(one, value) };
    }
    r->how.sets = r->sets;
    return EXIT_DONE;
}

static int read_options(struct why_run *r)
{
    const struct why_args *args = r->args;
    r->name = r->cmd->operands[0];
    r->target = r->cmd->operands[1];
    if (args->set && !args->between)
        return out_usage(r->cmd->out, "why: --sizes needs --between");
    int code = args->between ? read_between(r) : EXIT_DONE;
    bool extra = r->cmd->n_operands == 3 && (!args->between || strchr(args->between, ','));
    if (code == EXIT_DONE && extra)
        code = out_usage(r->cmd->out, "why: one TAPE and one TARGET, but %s is there, too",
                         r->cmd->operands[2]);
    if (code == EXIT_DONE && !str_trim(str_of(r->target)).n)
        code = out_usage(r->cmd->out, "why: TARGET is empty; name a size, symbol, guard or node");
    return code == EXIT_DONE && args->set ? read_set_values(r) : code;
}

/* ---- A target that is not on the tape ---- */

static int compare_lengths(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? -1 : 1) : str_cmp(*x, *y);
}

/* Prints the shortest names, which are those of inputs and symbols. */
static void put_known(const struct why_answer *why, struct buf *out)
{
    struct str *names = calloc((size_t)why->n_known + 1, sizeof *names);
    out->failed |= !names;
    if (!names)
        return;
    memcpy(names, why->known, why->n_known * sizeof *names);
    qsort(names, why->n_known, sizeof *names, compare_lengths);
    for (uint32_t i = 0; i < why->n_known && i < SUGGESTIONS; i++)
        buf_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(names[i]));
    if (why->n_known > SUGGESTIONS)
        buf_printf(out, " ... (%u in all)", (unsigned)why->n_known);
    free(names);
}

static int report_unknown(struct why_run *r, const struct why_answer *why)
{
    struct nearest search = nearest_of(why->target);
    struct buf list = BUF_INIT;
    for (uint32_t i = 0; i < why->n_known; i++)
        nearest_offer(&search, why->known[i]);
    put_known(why, &list);
    int code = EXIT_USAGE;
    if (search.best.n)
        out_usage(r->cmd->out,
                  "why: %s: no size, symbol, guard or node is called %.*s; did you mean %.*s?",
                  r->name, STR_ARG(why->target), STR_ARG(search.best));
    else if (why->n_known)
        out_usage(r->cmd->out,
                  "why: %s: no size, symbol, guard or node is called %.*s; there are %.*s", r->name,
                  STR_ARG(why->target), STR_ARG(buf_str(&list)));
    else
        code = EXIT_CANNOT_TELL;
    if (code == EXIT_CANNOT_TELL)
        out_note(r->cmd->out, "%s: no sizes and no symbols were recorded there", r->name);
    buf_release(&list);
    return code;
}

/* ---- The command ---- */

static int print_why(struct why_run *r, const struct why_answer *why)
{
    struct buf text = BUF_INIT;
    struct out *out = r->cmd->out;
    const struct report_options how = { .width = out->width,
                                        .styles = out_styles(out),
                                        .limit = r->how.limit };
    if (r->args->json)
        why_json(why, &text);
    else
        why_text(why, &how, &text);
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}

static int explain(struct why_run *r)
{
    struct err err = { 0 };
    struct why_answer *why = why_make(r->tape.trace, &r->how, &err);
    if (!why) {
        err_at(&err, "why");
        return out_error(r->cmd->out, &err);
    }
    int code = why->kind == WHY_NOTHING ? report_unknown(r, why) : print_why(r, why);
    why_free(why);
    return code;
}

static int run_why(struct cmd *cmd)
{
    struct why_run r = { .cmd = cmd, .args = cmd->args };
    int code = read_options(&r);
    if (code == EXIT_DONE && !names_tape(r.name) && names_tape(r.target))
        code = out_usage(cmd->out, "why: %s: no such file; did you mean: symtape why %s %s?",
                         r.name, r.target, r.name);
    if (code == EXIT_DONE)
        code = tape_arg_open(&r.tape, cmd->out, r.name, r.args->strict ? TAPE_ARG_STRICT : 0);
    if (code == EXIT_DONE) {
        r.how.selector = r.tape.selector;
        r.how.target = str_trim(str_of(r.target));
        r.how.limit = r.args->limit.given ? (uint32_t)r.args->limit.value : LIMIT_DEFAULT;
        code = explain(&r);
    }
    tape_arg_close(&r.tape);
    return code;
}

const struct command command_why = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:GRAPH]] TARGET",
    .description = "Explains why a size is a symbol, a constant, or shared with another size: what "
                   "created it, each guard on it, with the user line, and what it is at the end. "
                   "TARGET is a size or a number of an input, a symbol, a guard, or a number in a "
                   "graph.",
    .examples = "  symtape why bert.tape \"L['x'].size()[1]\"\n"
                "  symtape why bert.tape:0/1 s27 --between 31,24\n"
                "  symtape why bert.tape 'Eq(Mod(s27, 8), 0)'\n"
                "  symtape why bert.tape:0/0:forward 'mul_7.size(1)'\n",
    .options = options,
    .args_size = sizeof(struct why_args),
    .min_operands = 2,
    .max_operands = 3, /* --between 31 24 */
    .run = run_why,
};
