#include "cmd/cli/memory_limit.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/cli/text_file.h"
#include "cmd/opcheck/opcheck.h"
#include "minify/program/program_names.h"
#include "trace/base/file/output.h"

#include <unistd.h>

static const struct opt options[] = {
    OPT_STRING(0, "op", "OP[,OP...]", struct opcheck_args, op,
               "these operators only: mylib::blur, mylib::blur.default, or a namespace"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct opcheck_args, rules,
               "rules of custom operators, as symtape-rules(5) describes them"),
    OPT_STRING(0, "python", "PYTHON", struct opcheck_args, python,
               "run custom operators, and those of --op, with the PyTorch of this Python"),
    OPT_STRING(
        0, "import", "MODULE[,MODULE...]", struct opcheck_args, import,
        "modules that register operators: names, or files (.py, .so); Python is "
        "$SYMTAPE_PYTHON, or the first python3 of $PATH that has PyTorch, unless --python names one"),
    OPT_STRING(0, "allow", "NS[,NS...]", struct opcheck_args, allow,
               "PyTorch may also run operators of these namespaces"),
    OPT_NUMBER(0, "timeout", "SECONDS", struct opcheck_args, timeout,
               "time that PyTorch may take for a case (default: 60)"),
    OPT_STRING(0, "generate", "FILE", struct opcheck_args, generate,
               "write the cases to this file, and check nothing"),
    OPT_STRING(0, "cases", "FILE", struct opcheck_args, cases,
               "check the cases of this file; TAPEs count for the coverage only"),
    OPT_STRING(0, "xfail", "FILE", struct opcheck_args, xfail,
               "failures that are expected; a check that passes in spite of it fails, too"),
    OPT_FLAG(0, "update", struct opcheck_args, update,
             "write what fails now to the file of --xfail"),
    OPT_FLAG(0, "coverage", struct opcheck_args, coverage,
             "list the recorded operators, and what of them was checked"),
    OPT_NUMBER('n', "limit", "N", struct opcheck_args, limit,
               "failures and rows of a table; 0 is all (default: 10, of --coverage all)"),
    OPT_JSON(struct opcheck_args, json),
    OPT_OVERWRITE(struct opcheck_args, overwrite),
    OPT_FLAG(0, "strict", struct opcheck_args, strict,
             "any damage is an error: exit 3; an operator that was not checked fails: exit 1"),
    OPT_END,
};

const struct check_row check_rows[CHECK_COUNT] = {
#define CHECK(id, name, live, what) { name, live, what },
    CHECKS
#undef CHECK
};

/* ---- Operators ---- */

/* "mylib::blur" and "mylib.blur" are the same; a pattern selects what begins with it at a dot. */
static bool matches(struct str op, struct str pattern)
{
    size_t i = 0, k = 0;
    for (; i < pattern.n; i++, k++) {
        bool colons = i + 1 < pattern.n && pattern.p[i] == ':' && pattern.p[i + 1] == ':';
        if (k == op.n || op.p[k] != (colons ? '.' : pattern.p[i]))
            return false;
        i += colons;
    }
    return k == op.n || op.p[k] == '.';
}

bool opcheck_selects(const struct opcheck_args *args, struct str op)
{
    struct str rest = str_of(args->op ? args->op : "");
    while (rest.n) {
        struct str one = str_trim(str_first(rest, str_find_char(rest, ',')));
        if (one.n && matches(op, one))
            return true;
        rest = str_from(rest, str_find_char(rest, ',') + 1);
    }
    return !args->op;
}

struct opcheck_operator *opcheck_operator(struct opcheck_run *run, struct str name)
{
    uint32_t id = intern(&run->names, name);
    if (id == INTERN_NONE)
        return NULL;
    if (id == run->operators.n &&
        !vec_push(&run->operators,
                  (struct opcheck_operator){ .name = intern_text(&run->names, id) }))
        return NULL;
    return id < run->operators.n ? &run->operators.v[id] : NULL;
}

bool opcheck_keep(struct opcheck_run *run, struct str text, struct str *ret, struct err *err)
{
    *ret = text.n ? arena_copy(&run->arena, text) : STR("");
    return ret->p || err_nomem(err);
}

static bool keep_failure(struct opcheck_run *run, const struct opcheck_failure *from,
                         struct opcheck_failure *to, struct err *err)
{
    *to = *from;
    return opcheck_keep(run, from->why, &to->why, err) &&
           opcheck_keep(run, from->call, &to->call, err) &&
           opcheck_keep(run, from->sizes, &to->sizes, err) &&
           opcheck_keep(run, from->real, &to->real, err) &&
           opcheck_keep(run, from->fake, &to->fake, err);
}

bool opcheck_note(struct opcheck_run *run, size_t place, enum opcheck_check check,
                  enum case_verdict verdict, const struct opcheck_failure *failure, struct err *err)
{
    struct opcheck_operator *op = &run->operators.v[run->cases.v[place].op];
    bool first = op->n[check][verdict]++ == 0;
    if (verdict == CASE_FAILED && first)
        return keep_failure(run, failure, &op->failure[check], err);
    bool unchecked = verdict == CASE_MISSING || verdict == CASE_SKIPPED;
    return !unchecked || op->missing.n || opcheck_keep(run, failure->why, &op->missing, err);
}

/* ---- Rules ---- */

static bool check_by_rule(struct opcheck_run *run, size_t place, struct json *doc, struct err *err)
{
    struct op_case *call = &run->checker->call;
    struct opcheck_failure failure = { .place = place };
    struct buf text = BUF_INIT;
    enum case_verdict verdict;
    if (!json_parse(doc, run->cases.v[place].text, err) ||
        !case_check(run->checker, doc, &verdict, err))
        return false;
    if (verdict == CASE_FAILED)
        opcheck_print_call(call, &text);
    failure.call = buf_str(&text);
    failure.why = buf_str(&call->why);
    bool ok =
        text.failed ? err_nomem(err) : opcheck_note(run, place, CHECK_RULE, verdict, &failure, err);
    buf_release(&text);
    return ok;
}

static bool check_rules(struct opcheck_run *run, struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (size_t i = 0; i < run->cases.n && ok; i++) {
        ok = check_by_rule(run, i, &doc, err);
        if (i % 64 == 0)
            out_progress(run->cmd->out, "%zu of %zu cases", i, run->cases.n);
    }
    out_progress_end(run->cmd->out);
    json_release(&doc);
    return ok;
}

/* ---- Expected failures ---- */

static enum op_verdict verdict_of(const struct opcheck_run *run, const struct opcheck_operator *op,
                                  int check)
{
    const uint64_t *n = op->n[check];
    bool expected =
        expected_failures_find(&run->expected, op->name, str_of(check_rows[check].name)) != NULL;
    if (n[CASE_FAILED])
        return expected ? OP_XFAIL : OP_FAIL;
    if (n[CASE_PASSED])
        return expected ? OP_XPASS : OP_PASS;
    return n[CASE_MISSING] ? OP_MISSING : OP_NOT_CHECKED;
}

static void decide(struct opcheck_run *run)
{
    uint64_t met = 0;
    for (size_t i = 0; i < run->operators.n; i++)
        for (int c = 0; c < CHECK_COUNT; c++) {
            enum op_verdict verdict = verdict_of(run, &run->operators.v[i], c);
            run->operators.v[i].verdict[c] = verdict;
            met += verdict == OP_XFAIL || verdict == OP_XPASS;
        }
    run->n_stale = run->expected.list.n - met;
}

/* A file that is not there yet is one without failures if it is to be updated. */
static bool read_expected(struct opcheck_run *run, struct err *err)
{
    const struct opcheck_args *args = run->args;
    struct buf text = BUF_INIT;
    if (!args->xfail || (args->update && access(args->xfail, F_OK) != 0))
        return true;
    bool ok = text_file_read(args->xfail, &run->cmd->out->limit->meter, &text, err);
    if (ok && !expected_failures_read(&run->expected, buf_str(&text), err))
        ok = err_at(err, "%s", args->xfail);
    buf_release(&text);
    return ok;
}

static bool write_expected(struct opcheck_run *run, struct err *err)
{
    struct buf text = BUF_INIT;
    struct output *out = output_open(run->args->xfail, OUTPUT_REPLACE, err);
    expected_failures_write(&run->expected, &text);
    bool ok = out && (!text.failed || err_nomem(err)) && output_write(out, buf_str(&text), err);
    if (ok)
        ok = output_commit(out, err);
    else
        output_abort(out);
    buf_release(&text);
    return ok;
}

/* Rows of checks that this run did not make stay. */
static bool update_expected(struct opcheck_run *run, struct err *err)
{
    for (size_t i = 0; i < run->operators.n; i++)
        for (int c = 0; c < CHECK_COUNT; c++) {
            const struct opcheck_operator *op = &run->operators.v[i];
            struct str check = str_of(check_rows[c].name);
            if (op->verdict[c] == OP_FAIL &&
                !expected_failures_add(&run->expected, op->name, check))
                return err_nomem(err);
            if (op->verdict[c] == OP_XPASS)
                expected_failures_remove(&run->expected, op->name, check);
            run->updated |= op->verdict[c] == OP_FAIL || op->verdict[c] == OP_XPASS;
        }
    if (run->updated && !write_expected(run, err))
        return false;
    if (run->updated)
        out_note(run->cmd->out, "%s: %zu expected failures", run->args->xfail,
                 run->expected.list.n);
    decide(run);
    return true;
}

/* ---- The command ---- */

static int verdict(const struct opcheck_run *run)
{
    for (size_t i = 0; i < run->operators.n; i++) {
        bool checked = false;
        for (int c = 0; c < CHECK_COUNT; c++) {
            enum op_verdict verdict = run->operators.v[i].verdict[c];
            if (verdict == OP_FAIL || verdict == OP_XPASS)
                return EXIT_DIFFERS;
            checked |= verdict == OP_PASS || verdict == OP_XFAIL;
        }
        if (run->args->strict && !checked)
            return EXIT_DIFFERS;
    }
    return EXIT_DONE;
}

static int print_result(struct opcheck_run *run)
{
    struct buf text = BUF_INIT;
    if (run->args->json)
        opcheck_json(run, &text);
    else
        opcheck_text(run, &text);
    int code = out_buf(run->cmd->out, &text);
    buf_release(&text);
    return code == EXIT_DONE ? verdict(run) : code;
}

static int check_usage(const struct opcheck_run *run)
{
    const struct opcheck_args *args = run->args;
    struct out *out = run->cmd->out;
    struct err err = { 0 };
    if (!run->cmd->n_operands && !args->cases)
        return out_usage(out, "opcheck: name a TAPE, or a file with --cases");
    if (args->generate && (args->xfail || args->coverage || args->python || args->import))
        return out_usage(out, "opcheck: --generate checks nothing; check the cases with --cases");
    if (args->update && !args->xfail)
        return out_usage(out, "opcheck: --update needs --xfail FILE");
    if (args->timeout.given && (args->timeout.value < 1 || args->timeout.value > 86400))
        return out_usage(out, "opcheck: --timeout must be from 1 to 86400 seconds");
    if (args->allow && !program_check_allow(str_of(args->allow), &err))
        return out_error(out, &err);
    return EXIT_DONE;
}

static int read_all(struct opcheck_run *run)
{
    struct err err = { 0 };
    int code = EXIT_DONE;
    if (!rules_arg_read(&run->rules, run->args->rules, &run->cmd->out->limit->meter, &err) ||
        !read_expected(run, &err))
        return out_error(run->cmd->out, &err);
    for (size_t i = 0; i < run->cmd->n_operands && code == EXIT_DONE; i++)
        code = opcheck_read_tape(run, run->cmd->operands[i]);
    if (code == EXIT_DONE && run->args->cases)
        code = opcheck_read_cases(run, run->args->cases);
    if (code == EXIT_DONE && run->args->op && !run->operators.n)
        return out_usage(run->cmd->out, "opcheck: --op %s: no call of it was recorded",
                         run->args->op);
    return code;
}

static int check_all(struct opcheck_run *run)
{
    struct err err = { 0 };
    run->checker = case_checker_new(run->rules, &err);
    bool ok = run->checker && check_rules(run, &err);
    if (ok && (run->args->python || run->args->import))
        ok = opcheck_run_live(run, &err);
    if (ok)
        decide(run);
    if (ok && run->args->update)
        ok = update_expected(run, &err);
    return ok ? print_result(run) : out_error(run->cmd->out, &err);
}

static int run_opcheck(struct cmd *cmd)
{
    struct opcheck_run run = { .cmd = cmd, .args = cmd->args, .torch = STR("") };
    int code = check_usage(&run);
    if (code == EXIT_DONE)
        code = read_all(&run);
    if (code == EXIT_DONE)
        code = run.args->generate ? opcheck_write_cases(&run) : check_all(&run);
    case_checker_free(run.checker);
    custom_rules_free(run.rules);
    expected_failures_release(&run.expected);
    intern_release(&run.names);
    intern_release(&run.texts);
    vec_release(&run.operators);
    vec_release(&run.cases);
    arena_release(&run.arena);
    return code;
}

const struct command command_opcheck = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]...\n"
                "[options] --cases FILE [TAPE...]",
    .description =
        "Checks operators by the calls that were recorded, each call by itself: the shape rule "
        "must give the recorded result. With --python or --import, PyTorch runs custom operators "
        "as well: the fake kernel must agree with the real kernel and with the record, at the "
        "recorded sizes, at 0, 1 and other sizes and for other strides, and the kernel must do "
        "what its schema says.",
    .examples = "  symtape opcheck run.tape\n"
                "  symtape opcheck run.tape --op mylib::blur --import mylib\n"
                "  symtape opcheck run.tape --xfail xfail.json --update\n"
                "  symtape opcheck run.tape --generate cases.jsonl\n",
    .options = options,
    .args_size = sizeof(struct opcheck_args),
    .min_operands = 0,
    .max_operands = OPERANDS_ANY,
    .run = run_opcheck,
};
