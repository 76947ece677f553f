/* The checks that need PyTorch: cases with numbers instead of symbols go to a file, a Python
 * process (cmd/opcheck/opcheck_worker.py) runs them and writes its answers to another. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/opcheck/opcheck.h"
#include "minify/process/child.h"
#include "minify/process/torch_python.h"
#include "minify/program/program_names.h"
#include "replay/cases/case_write.h"
#include "trace/base/file/folder.h"
#include "trace/base/file/scratch.h"

extern char **environ;

static const char *const worker[] = {
#include <cmd/opcheck_worker.inc>
};

enum {
    VARIED_SYMBOLS = 4, /* of a case get other sizes one by one */
    FREE_SIZE = 3,      /* of a symbol without a hint */
    ANSWERS_MAX_BYTES = 1 << 28,
    MODULES = 64,
    CASE_SECONDS = 60
};
static const int64_t OTHER_SIZES[] = { 0, 1, 7 };

/* What a question is about; the answer names its number. */
struct question {
    size_t place; /* of the case */
    struct str call, sizes;
};

struct live {
    struct opcheck_run *run;
    struct buf questions;
    vec_of(struct question)
    list;
    struct json doc;
    struct str call; /* of the case that is being asked about */
};

/* ---- Which operators PyTorch may run ---- */

/* The namespaces that the user named, in --allow and in --op. */
static void put_allowed(const struct opcheck_args *args, struct buf *out)
{
    struct str rest = str_of(args->op ? args->op : "");
    buf_puts(out, args->allow ? args->allow : "");
    while (rest.n) {
        struct str one = str_trim(str_first(rest, str_find_char(rest, ',')));
        size_t colon = str_find(one, STR("::")), dot = str_find_char(one, '.');
        buf_puts(out, out->n ? "," : "");
        buf_put(out, str_first(one, colon < dot ? colon : dot));
        rest = str_from(rest, str_find_char(rest, ',') + 1);
    }
}

/* PyTorch's own operators run only where --op names them. */
static enum program_target live_target(const struct opcheck_run *run, struct str op)
{
    struct buf allow = BUF_INIT, target = BUF_INIT;
    put_allowed(run->args, &allow);
    buf_puts(&target, "torch.ops.");
    buf_put(&target, op);
    enum program_target ret = program_target(buf_str(&target), buf_str(&allow));
    if (allow.failed || target.failed ||
        (ret == PROGRAM_OPERATOR && !run->args->op &&
         program_target(buf_str(&target), STR("")) == PROGRAM_OPERATOR))
        ret = PROGRAM_REFUSED;
    buf_release(&allow);
    buf_release(&target);
    return ret;
}

static void note_foreign(const struct opcheck_run *run)
{
    for (size_t i = 0; i < run->operators.n; i++) {
        struct str name = run->operators.v[i].name;
        struct str space = str_first(name, str_find_char(name, '.'));
        if (live_target(run, name) != PROGRAM_FOREIGN)
            continue;
        out_note(run->cmd->out,
                 "operators of %.*s were not run: --allow %.*s lets PyTorch run them",
                 STR_ARG(space), STR_ARG(space));
        return;
    }
}

/* ---- Sizes ---- */

/* The value of a symbol that has no hint: what its range allows. */
static sym_id free_size(struct op_case *call, sym_id symbol)
{
    struct sym_range range;
    int64_t lower = 0, upper = FREE_SIZE;
    if (env_range(call->env, symbol, &range)) {
        sym_to_i64(call->pool, range.lower, &lower);
        sym_to_i64(call->pool, range.upper, &upper);
    }
    return sym_integer(call->pool, lower > FREE_SIZE   ? lower
                                   : upper < FREE_SIZE ? upper
                                                       : FREE_SIZE);
}

/* A symbol of the case, or a size of its tensors if it has no symbols, and the size to try. */
struct size_choice {
    sym_id symbol; /* SYM_NONE: a number */
    int64_t recorded, size;
};
struct size_choices {
    struct size_choice v[CASE_MAX_SYMBOLS];
    uint32_t n;
};

static void add_number(struct size_choices *choices, int64_t number)
{
    bool known = number < 2 || choices->n == VARIED_SYMBOLS;
    for (uint32_t i = 0; i < choices->n && !known; i++)
        known = choices->v[i].recorded == number;
    if (!known)
        choices->v[choices->n++] = (struct size_choice){ SYM_NONE, number, number };
}

static void add_numbers(struct size_choices *choices, const struct op_case *call, struct value v,
                        unsigned depth)
{
    int64_t number;
    if (v.kind == VALUE_TENSOR)
        for (uint32_t i = 0; i < v.u.tensor.meta->ndim; i++)
            if (sym_to_i64(call->pool, v.u.tensor.meta->size[i], &number))
                add_number(choices, number);
    for (uint32_t i = 0; value_is_sequence(v) && i < v.n && depth < 2; i++)
        add_numbers(choices, call, v.u.items[i], depth + 1);
}

static void find_choices(struct op_case *call, struct size_choices *choices)
{
    choices->n = 0;
    for (uint32_t i = 0; i < call->n_symbols; i++) {
        int64_t hint;
        sym_id symbol = call->symbols[i].symbol;
        sym_id value = env_is_unbacked(call->env, symbol) ? free_size(call, symbol)
                                                          : env_hint(call->env, symbol);
        if (value != SYM_NONE && sym_to_i64(call->pool, value, &hint) && hint >= 0)
            choices->v[choices->n++] = (struct size_choice){ symbol, hint, hint };
    }
    for (uint32_t i = 0; i < call->n_args && !call->n_symbols; i++)
        add_numbers(choices, call, call->args[i], 0);
}

/* Numbers for all symbols of the case, those of other types included. */
static uint32_t make_pairs(struct op_case *call, const struct size_choices *choices,
                           struct sym_pair *pairs)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < call->n_symbols; i++) {
        struct sym_pair pair = { call->symbols[i].symbol,
                                 env_hint(call->env, call->symbols[i].symbol) };
        for (uint32_t k = 0; k < choices->n; k++)
            if (choices->v[k].symbol == pair.from)
                pair.to = sym_integer(call->pool, choices->v[k].size);
        if (pair.from != SYM_NONE && pair.to != SYM_NONE)
            pairs[n++] = pair;
    }
    return n;
}

static void put_sizes(const struct op_case *call, const struct size_choices *choices,
                      struct buf *out)
{
    const char *before = "";
    for (uint32_t i = 0; i < choices->n; i++) {
        const struct size_choice *c = &choices->v[i];
        if (c->symbol == SYM_NONE && c->size == c->recorded)
            continue;
        buf_puts(out, before);
        if (c->symbol == SYM_NONE)
            buf_printf(out, "size %lld as %lld", (long long)c->recorded, (long long)c->size);
        else
            buf_printf(out, "%.*s = %lld", STR_ARG(sym_name(call->pool, c->symbol)),
                       (long long)c->size);
        before = ", ";
    }
}

/* ---- The recorded result with numbers ---- */

static bool put_number_at(struct op_case *call, const struct sym_pair *pairs, uint32_t n,
                          struct json_writer *w, json_id at)
{
    int64_t number;
    sym_id e = op_case_expr(call, at);
    e = e == SYM_NONE ? e : sym_replace(call->pool, env_replace(call->env, e), pairs, n);
    if (e == SYM_NONE || !sym_to_i64(call->pool, e, &number))
        return false;
    json_put_i64(w, NULL, number);
    return true;
}

static bool put_numbers_at(struct op_case *call, const struct sym_pair *pairs, uint32_t n,
                           struct json_writer *w, const char *key, json_id at)
{
    json_open_array(w, key);
    for (json_id i = json_first(call->doc, at); i != JSON_NONE; i = json_next(call->doc, i))
        if (!put_number_at(call, pairs, n, w, i))
            return false;
    json_close(w);
    return true;
}

static bool put_result_tensor(struct op_case *call, const struct sym_pair *pairs, uint32_t n,
                              struct json_writer *w, json_id at)
{
    json_id stride = json_get(call->doc, at, STR("stride"));
    json_id device = json_get(call->doc, at, STR("device"));
    enum dtype dtype = op_case_dtype(call, json_get(call->doc, at, STR("t")));
    if (dtype == DTYPE_NONE)
        return false;
    json_open_object(w, NULL);
    json_put_str(w, "t", str_from(str_of(dtype_python_name(dtype)), 6)); /* torch. */
    if (device != JSON_NONE)
        json_put_str(w, "device", json_str(call->doc, device));
    bool ok = put_numbers_at(call, pairs, n, w, "size", json_get(call->doc, at, STR("size"))) &&
              (stride == JSON_NONE || put_numbers_at(call, pairs, n, w, "stride", stride));
    json_close(w);
    return ok;
}

/* Writes the tensors of the recorded result by their numbers; nothing if a size has no value. */
static void put_result(struct op_case *call, const struct sym_pair *pairs, uint32_t n,
                       struct buf *out)
{
    json_id result = json_get(call->doc, JSON_ROOT, STR("out"));
    json_id items = json_get(call->doc, result, STR("items"));
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    bool ok = true, any = false;
    json_open_object(&w, NULL);
    if (json_get(call->doc, result, STR("t")) != JSON_NONE) {
        json_put_key(&w, STR("0"));
        ok = any = put_result_tensor(call, pairs, n, &w, result);
    }
    for (json_id at = json_first(call->doc, items); at != JSON_NONE && ok;) {
        json_id item = json_next(call->doc, at);
        if (json_get(call->doc, item, STR("t")) != JSON_NONE) {
            json_put_key(&w, json_str(call->doc, at));
            ok = any = put_result_tensor(call, pairs, n, &w, item);
        }
        at = json_next(call->doc, item);
    }
    json_close(&w);
    if (ok && any) {
        buf_puts(out, ",\"out\":");
        buf_put(out, buf_str(&text));
    }
    out->failed |= text.failed;
    buf_release(&text);
}

/* ---- Questions ---- */

struct ask {
    const struct size_choices *choices;
    const char *checks;  /* as JSON */
    const char *strides; /* NULL: as recorded */
    bool result;
};

static void put_resized(const struct size_choices *choices, struct buf *out)
{
    const char *before = ",\"resize\":{";
    bool any = false;
    for (uint32_t i = 0; i < choices->n; i++)
        if (choices->v[i].symbol == SYM_NONE && choices->v[i].size != choices->v[i].recorded) {
            buf_printf(out, "%s\"%lld\":%lld", before, (long long)choices->v[i].recorded,
                       (long long)choices->v[i].size);
            before = ",";
            any = true;
        }
    buf_puts(out, any ? "}" : "");
}

static bool keep_question(struct live *live, size_t place, const struct ask *ask, struct err *err)
{
    struct buf sizes = BUF_INIT;
    struct question question = { .place = place, .call = live->call };
    put_sizes(&live->run->checker->call, ask->choices, &sizes);
    if (ask->strides)
        buf_printf(&sizes, "%sarguments with %s", sizes.n ? ", " : "", ask->strides);
    bool ok = !sizes.failed ? opcheck_keep(live->run, buf_str(&sizes), &question.sizes, err)
                            : err_nomem(err);
    buf_release(&sizes);
    return ok && (vec_push(&live->list, question) || err_nomem(err));
}

/* Asks nothing where the case has no numbers for its sizes, or a negative one. */
static bool ask(struct live *live, size_t place, const struct ask *ask, struct err *err)
{
    struct op_case *call = &live->run->checker->call;
    struct sym_pair pairs[CASE_MAX_SYMBOLS];
    size_t before = live->questions.n;
    struct str op = json_str(call->doc, json_get(call->doc, JSON_ROOT, STR("op")));
    struct case_writer cw = case_writer_of(call->ops, &live->questions);
    const struct arguments arguments = { call->args, call->n_args, call->keywords,
                                         call->n_keywords };
    cw.sizes = pairs;
    cw.n_sizes = make_pairs(call, ask->choices, pairs);
    case_put_call(&cw, op, STR(""), &arguments);
    buf_printf(&live->questions, ",\"id\":%zu,\"case\":%zu,\"checks\":[%s]", live->list.n, place,
               ask->checks);
    put_resized(ask->choices, &live->questions);
    if (ask->strides)
        buf_printf(&live->questions, ",\"strides\":\"%s\"", ask->strides);
    if (ask->result)
        put_result(call, pairs, cw.n_sizes, &live->questions);
    buf_puts(&live->questions, "}\n");
    case_writer_release(&cw);
    if (live->questions.failed)
        return err_nomem(err);
    if (cw.symbolic || cw.negative) {
        live->questions.n = before;
        return true;
    }
    return keep_question(live, place, ask, err);
}

/* Each of the other sizes for all at once, and for each of the first symbols alone. */
static bool ask_sizes(struct live *live, size_t place, struct size_choices *choices,
                      struct err *err)
{
    const struct ask question = { .choices = choices, .checks = "\"sizes\"" };
    uint32_t varied = choices->n < VARIED_SYMBOLS ? choices->n : VARIED_SYMBOLS;
    bool ok = true;
    for (size_t s = 0; s < sizeof OTHER_SIZES / sizeof *OTHER_SIZES; s++)
        for (uint32_t alone = 0; alone <= varied && ok && varied; alone++) {
            if (alone == varied && varied == 1)
                continue; /* the same as alone */
            for (uint32_t i = 0; i < choices->n; i++)
                choices->v[i].size =
                    alone == varied || alone == i ? OTHER_SIZES[s] : choices->v[i].recorded;
            ok = ask(live, place, &question, err);
        }
    for (uint32_t i = 0; i < choices->n; i++)
        choices->v[i].size = choices->v[i].recorded;
    return ok;
}

static bool keep_call(struct live *live, struct err *err)
{
    struct buf text = BUF_INIT;
    opcheck_print_call(&live->run->checker->call, &text);
    bool ok =
        !text.failed ? opcheck_keep(live->run, buf_str(&text), &live->call, err) : err_nomem(err);
    buf_release(&text);
    return ok;
}

static bool ask_about(struct live *live, size_t place, struct err *err)
{
    static const char *const STRIDES[] = { "reversed strides", "gaps" };
    struct opcheck_run *run = live->run;
    struct size_choices *choices;
    struct err unread = { .kind = ERR_NONE };
    if (!json_parse(&live->doc, run->cases.v[place].text, err))
        return false;
    if (!case_open(run->checker, &live->doc, &unread))
        return unread.kind != ERR_ENV || (*err = unread, false);
    choices = malloc(sizeof *choices);
    if (!choices)
        return err_nomem(err);
    find_choices(&run->checker->call, choices);
    struct ask question = { .choices = choices,
                            .checks = "\"fake\",\"recorded\",\"schema\"",
                            .result = true };
    bool ok = keep_call(live, err) && ask(live, place, &question, err) &&
              ask_sizes(live, place, choices, err);
    for (size_t i = 0; ok && i < sizeof STRIDES / sizeof *STRIDES; i++) {
        question =
            (struct ask){ .choices = choices, .checks = "\"strides\"", .strides = STRIDES[i] };
        ok = ask(live, place, &question, err);
    }
    free(choices);
    return ok;
}

static bool ask_all(struct live *live, struct err *err)
{
    struct opcheck_run *run = live->run;
    for (size_t i = 0; i < run->cases.n; i++)
        if (live_target(run, run->operators.v[run->cases.v[i].op].name) == PROGRAM_OPERATOR &&
            !ask_about(live, i, err))
            return false;
    return true;
}

/* ---- Answers ---- */

static bool verdict_of(struct str word, enum case_verdict *ret)
{
    static const char *const WORDS[] = { "pass", "fail", "skip", "missing" };
    for (int i = 0; i < CASE_VERDICTS; i++)
        if (str_is(word, WORDS[i])) {
            *ret = (enum case_verdict)i;
            return true;
        }
    return false;
}

static struct str decoded_member(const struct json *doc, json_id at, const char *name,
                                 struct arena *arena)
{
    struct str text = json_decoded(doc, json_get(doc, at, str_of(name)), arena);
    return text.p ? text : STR("");
}

static bool take_check(struct live *live, const struct question *question, json_id at,
                       enum opcheck_check check, struct err *err)
{
    const struct json *doc = &live->doc;
    struct arena arena = ARENA_INIT;
    struct opcheck_failure failure = { .place = question->place,
                                       .call = question->call,
                                       .sizes = question->sizes,
                                       .why = decoded_member(doc, at, "why", &arena),
                                       .real = decoded_member(doc, at, "real", &arena),
                                       .fake = decoded_member(doc, at, "fake", &arena) };
    enum case_verdict verdict;
    bool ok = !verdict_of(json_str(doc, json_get(doc, at, STR("verdict"))), &verdict) ||
              opcheck_note(live->run, question->place, check, verdict, &failure, err);
    arena_release(&arena);
    return ok;
}

static bool take_answer(struct live *live, struct str line, struct err *err)
{
    struct err broken = { .kind = ERR_NONE };
    uint64_t id;
    if (!json_parse(&live->doc, line, &broken))
        return broken.kind != ERR_ENV || (*err = broken, false);
    json_id torch = json_get(&live->doc, JSON_ROOT, STR("torch"));
    if (torch != JSON_NONE)
        return opcheck_keep(live->run, json_str(&live->doc, torch), &live->run->torch, err);
    if (!json_u64(&live->doc, json_get(&live->doc, JSON_ROOT, STR("id")), &id) ||
        id >= live->list.n)
        return true;
    for (int i = 0; i < CHECK_COUNT; i++) {
        json_id at = json_get(&live->doc, JSON_ROOT, str_of(check_rows[i].name));
        if (at != JSON_NONE && !take_check(live, &live->list.v[id], at, (enum opcheck_check)i, err))
            return false;
    }
    return true;
}

static bool take_answers(struct live *live, int folder, struct err *err)
{
    struct buf text = BUF_INIT;
    bool ok = folder_read(folder, "answers", ANSWERS_MAX_BYTES, &text) ||
              err_errno(err, "the answers of PyTorch");
    struct str rest = buf_str(&text);
    while (ok && rest.n) {
        size_t end = str_find_char(rest, '\n');
        ok = take_answer(live, str_first(rest, end), err);
        rest = str_from(rest, end + 1);
    }
    buf_release(&text);
    return ok;
}

/* ---- The process ---- */

static char *worker_script(void)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof worker / sizeof *worker; i++)
        buf_puts(&text, worker[i]);
    buf_putc(&text, '\0');
    if (text.failed)
        buf_release(&text);
    return text.p;
}

static bool describe_end(const struct child_end *end, const char *python, struct err *err)
{
    struct str last = child_last_line(end);
    if (end->cancelled)
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    return end->status == 0 || err_set(err, ERR_ENV, "%s: %.*s", python,
                                       STR_ARG(last.n ? last : STR("it ended without an answer")));
}

static bool run_worker(struct live *live, const char *python, const struct scratch *scratch,
                       struct err *err)
{
    const struct opcheck_args *args = live->run->args;
    char questions[4096], answers[4096], seconds[24];
    const char *argv[MODULES + 8] = { python, "-c", NULL, questions, answers, seconds };
    size_t n = 6;
    struct str rest = str_of(args->import ? args->import : "");
    char *script = worker_script();
    argv[2] = script;
    snprintf(questions, sizeof questions, "%s/questions", scratch->path);
    snprintf(answers, sizeof answers, "%s/answers", scratch->path);
    snprintf(seconds, sizeof seconds, "%llu",
             (unsigned long long)(args->timeout.given ? args->timeout.value : CASE_SECONDS));
    while (rest.n && n < MODULES + 6) {
        struct str name =
            arena_copy(&live->run->arena, str_trim(str_first(rest, str_find_char(rest, ','))));
        argv[n++] = name.p ? name.p : "";
        rest = str_from(rest, str_find_char(rest, ',') + 1);
    }
    struct search_signals saved;
    struct child child = { .argv = argv, .environment = environ };
    struct child_end *end = calloc(1, sizeof *end);
    memory_limit_end(live->run->cmd->out->limit);
    child.cancel = search_signals_begin(&saved);
    bool ok = script && end ? child_run(&child, end, err) : err_nomem(err);
    search_signals_end(&saved);
    ok = ok && describe_end(end, python, err);
    free(end);
    free(script);
    return ok;
}

static bool run_questions(struct live *live, struct err *err)
{
    struct scratch scratch = { 0 };
    const char *named = live->run->args->python;
    struct torch_python python = { 0 };
    if (!torch_python_choose(str_of(named ? named : ""), STR(""), NULL, &python, err))
        return false;
    bool made = scratch_make(&scratch, SCRATCH_QUESTIONS, err);
    bool ok = made && (folder_write(scratch.fd, "questions", buf_str(&live->questions)) ||
                       scratch_errno(&scratch, "cannot write the cases", err));
    ok = ok && run_worker(live, python.path, &scratch, err) && take_answers(live, scratch.fd, err);
    if (made)
        scratch_remove(&scratch);
    torch_python_release(&python);
    return ok;
}

bool opcheck_run_live(struct opcheck_run *run, struct err *err)
{
    struct live live = { .run = run };
    bool ok = ask_all(&live, err);
    note_foreign(run);
    ok = ok && (!live.list.n || run_questions(&live, err));
    buf_release(&live.questions);
    vec_release(&live.list);
    json_release(&live.doc);
    return ok;
}
