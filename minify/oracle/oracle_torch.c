#include "minify/oracle/oracle_torch.h"

#include <stdlib.h>

#include "minify/oracle/check_id.h"
#include "minify/oracle/torch_remote.h"
#include "minify/process/signature.h"
#include "minify/process/torch_worker.h"
#include "trace/base/clock.h"
#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

static const struct {
    const char *name;
    enum repro_check check;
    enum repro_route route;
} questions[] = {
#define QUESTION(id, name, check, route) { name, check, route },
    TORCH_QUESTIONS(QUESTION)
#undef QUESTION
};

static const char *const routes[] = {
#define ROUTE(id, name) name,
    REPRO_ROUTES(ROUTE)
#undef ROUTE
};

struct oracle_torch {
    struct oracle oracle;
    struct torch_options options; /* its texts are in `arena` */
    struct torch_worker *worker;  /* or, with a launcher, */
    struct torch_remote *remote;
    struct torch_first first;
    double excess; /* for the whole graph: the error as a multiple of the tolerance */
    struct cand_hash whole;
    struct arena arena;
};

enum outcome {
    OUTCOME_CANNOT,
    OUTCOME_OK,
    OUTCOME_RAISED,
    OUTCOME_WRONG,
    OUTCOME_EAGER,
    OUTCOME_NO_DEVICE,  /* the graph is for a device that this machine does not have */
    OUTCOME_NO_BACKEND, /* PyTorch has none of that name; the message lists those that it has */
    OUTCOME_BISECTED,
    OUTCOME_TIMED,
    OUTCOME_SETTINGS, /* the message: options for --config; the node: names of others */
};

/* What a question is for. */
enum purpose {
    PURPOSE_NEXT,
    PURPOSE_FIRST, /* also whether f runs in eager mode */
    PURPOSE_BISECT,
    PURPOSE_TIME, /* all of the time, and not only whether it is long */
    PURPOSE_SETTINGS,
};

/* A parsed reply. The answer owns its texts. */
struct reply {
    enum outcome outcome;
    struct str type, message, node, eager;
    double excess;
    double seconds; /* of OUTCOME_TIMED: those of the processor that compiling takes, */
    double called;  /* and those of a call of what is compiled */
    struct torch_bisected bisected; /* of OUTCOME_BISECTED, whose detail is the message */
};

static struct str text_of(const struct json *doc, const char *key, struct arena *arena)
{
    struct str text = json_decoded(doc, json_get(doc, JSON_ROOT, str_of(key)), arena);
    struct str ret = text.n ? arena_copy(arena, text) : STR("");
    return ret.p ? ret : STR("");
}

static void read_bisected(const struct json *doc, struct arena *arena, struct torch_bisected *ret)
{
    *ret = (struct torch_bisected){ .backend = text_of(doc, "backend", arena),
                                    .subsystem = text_of(doc, "subsystem", arena),
                                    .graph = text_of(doc, "graph", arena),
                                    .op = text_of(doc, "operator", arena),
                                    .kernel = text_of(doc, "kernel", arena),
                                    .nodes = text_of(doc, "nodes", arena),
                                    .why = STR("") };
    json_u64(doc, json_get(doc, JSON_ROOT, STR("number")), &ret->number);
    ret->fused = json_kind_of(doc, json_get(doc, JSON_ROOT, STR("fused"))) == JSON_TRUE;
}

static bool read_reply(struct str line, struct arena *arena, struct reply *reply)
{
    static const char *const words[] = { "cannot", "ok",      "raised",   "wrong", "eager",
                                         "device", "backend", "bisected", "timed", "settings" };
    struct json doc = { 0 };
    struct err err = { 0 };
    bool ok = json_parse(&doc, line, &err);
    *reply = (struct reply){ .excess = 0 };
    if (ok) {
        struct str outcome = text_of(&doc, "outcome", arena);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (str_is(outcome, words[i]))
                reply->outcome = (enum outcome)i;
        reply->type = text_of(&doc, "type", arena);
        reply->message = text_of(&doc, "message", arena);
        reply->node = text_of(&doc, "node", arena);
        reply->eager = text_of(&doc, "eager", arena);
        read_bisected(&doc, arena, &reply->bisected);
        json_double(&doc, json_get(&doc, JSON_ROOT, STR("excess")), &reply->excess);
        json_double(&doc, json_get(&doc, JSON_ROOT, STR("seconds")), &reply->seconds);
        json_double(&doc, json_get(&doc, JSON_ROOT, STR("called")), &reply->called);
    }
    json_release(&doc);
    return ok;
}

/* ---- Asking ---- */

static struct repro_what repro_what_of(const struct oracle_torch *o, enum repro_check check)
{
    return (struct repro_what){ .route = questions[o->options.question].route,
                                .check = check,
                                .backend = o->options.backend,
                                .setup = o->options.setup,
                                .named_dims = o->options.named_dims,
                                .cpu = o->options.cpu,
                                .values = o->options.values };
}

/* What the question `seconds` accepts: half of what the original takes. */
static double least_seconds(const struct oracle_torch *o)
{
    return o->first.compiled / 2;
}

static const char *ask_word(const struct oracle_torch *o, enum purpose purpose, bool runs)
{
    if (purpose == PURPOSE_SETTINGS)
        return "settings";
    if (purpose == PURPOSE_BISECT)
        return "bisect";
    if (o->options.question == TORCH_SECONDS)
        return "seconds";
    return questions[o->options.question].check == REPRO_WRONG ? "wrong" : runs ? "runs" : "raises";
}

static bool asks_eager(const struct oracle_torch *o, enum purpose purpose, bool runs)
{
    if (o->options.question == TORCH_SECONDS || purpose == PURPOSE_BISECT)
        return questions[o->options.question].check == REPRO_WRONG;
    return questions[o->options.question].check == REPRO_WRONG || purpose == PURPOSE_FIRST || runs;
}

static void put_question(const struct oracle_torch *o, enum purpose purpose, struct buf *out)
{
    enum torch_question question = o->options.question;
    /* What runs eagerly must do so when it is smaller: an error of eager mode is another failure.
     */
    bool runs = question == TORCH_RUN || (purpose == PURPOSE_NEXT && o->first.eager.n == 0);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "route", routes[questions[question].route]);
    json_put_str(&w, "backend", o->options.backend);
    json_put_cstr(&w, "ask", ask_word(o, purpose, runs));
    json_put_bool(&w, "eager", asks_eager(o, purpose, runs));
    json_put_double(&w, "enough", purpose == PURPOSE_NEXT ? least_seconds(o) : 0);
    json_put_double(&w, "called", o->first.called);
    json_put_str(&w, "type", o->first.signature.kind);
    json_put_bool(&w, "run", questions[question].route == REPRO_COMPILE);
    json_close(&w);
    out->n -= out->n > 0; /* removes the brace, since the worker's field follows */
}

static bool ask_python(struct oracle_torch *o, struct str question, struct str source,
                       const struct oracle_question *asking, struct buf *line, enum torch_end *end,
                       struct err *err)
{
    return o->remote ? torch_remote_ask(o->remote, question, source, asking, line, end, err)
                     : torch_worker_ask(o->worker, question, source, asking->timeout,
                                        asking->cancel, line, end, err);
}

/* Asks about a program, or another text that the purpose needs. */
static bool ask_about(struct oracle_torch *o, struct str source, enum purpose purpose,
                      const struct oracle_question *asking, struct arena *arena,
                      struct reply *reply, struct err *err)
{
    struct buf question = BUF_INIT, line = BUF_INIT;
    enum torch_end end = TORCH_CANCELLED;
    put_question(o, purpose, &question);
    bool ok = (!question.failed || err_nomem(err)) &&
              ask_python(o, buf_str(&question), source, asking, &line, &end, err);
    *reply = (struct reply){ .outcome = OUTCOME_CANNOT };
    if (ok && end == TORCH_ANSWERED && !read_reply(buf_str(&line), arena, reply))
        reply->message = STR("the answer of the Python process cannot be read");
    if (ok && end == TORCH_DIED)
        *reply = (struct reply){ .outcome = OUTCOME_RAISED,
                                 .type = STR("crash"),
                                 .message = STR("the Python process died") };
    if (ok && end == TORCH_TIMED_OUT)
        reply->message = STR(NO_END_WITHIN " its time");
    if (ok && end == TORCH_CANCELLED)
        reply->message = STR("cancelled");
    buf_release(&question);
    buf_release(&line);
    return ok;
}

static bool exchange(struct oracle_torch *o, const struct candidate *candidate,
                     enum purpose purpose, const struct oracle_question *asking,
                     struct arena *arena, struct reply *reply, struct err *err)
{
    struct buf source = BUF_INIT;
    struct repro_what what = repro_what_of(o, REPRO_NOTHING);
    struct repro_notes notes;
    bool ok = repro_print(candidate, &what, &notes, &source) || err_nomem(err);
    *reply = (struct reply){ .outcome = OUTCOME_CANNOT };
    if (ok && notes.cannot[0])
        reply->message = arena_copy(arena, str_of(notes.cannot));
    else if (ok)
        ok = ask_about(o, buf_str(&source), purpose, asking, arena, reply, err);
    buf_release(&source);
    return ok;
}

static struct str normalised(struct str message, struct arena *arena)
{
    struct buf text = BUF_INIT;
    signature_normalise(message, &text);
    struct str ret = text.n ? arena_copy(arena, buf_str(&text)) : STR("");
    buf_release(&text);
    return ret.p ? ret : STR("");
}

static struct signature signature_of(const struct reply *reply, struct arena *arena)
{
    bool wrong = reply->outcome == OUTCOME_WRONG;
    return (struct signature){ .kind = reply->type,
                               .message = wrong ? STR("") : normalised(reply->message, arena),
                               .op = STR(""),
                               .frame = STR("") };
}

enum { PLAINLY_WRONG = 1000 }; /* times the tolerance, which no rounding explains */

/* Returns whether the error is at least half of that of the whole graph, both as multiples of the
 * tolerance: of large values, which a smaller graph may not have, the error is large. */
static bool far_enough(const struct oracle_torch *o, const struct reply *reply)
{
    double least = 1 + (o->excess - 1) / 2;
    if (o->options.values != REPRO_VALUES_NORMAL) /* rounding errors may be larger, too */
        least = PLAINLY_WRONG;
    return reply->outcome != OUTCOME_WRONG || reply->excess >= least ||
           reply->excess >= PLAINLY_WRONG;
}

static enum verdict judge_reply(const struct oracle_torch *o, const struct reply *reply,
                                const struct signature *signature)
{
    switch (reply->outcome) {
    case OUTCOME_OK:
    case OUTCOME_EAGER: return VERDICT_BORING;
    case OUTCOME_CANNOT:
    case OUTCOME_NO_DEVICE:
    case OUTCOME_BISECTED:
    case OUTCOME_SETTINGS:
    case OUTCOME_NO_BACKEND: return VERDICT_UNRESOLVED;
    case OUTCOME_TIMED:
        if (o->first.compiled <= 0)
            return VERDICT_UNRESOLVED;
        return reply->seconds >= least_seconds(o) ? VERDICT_INTERESTING : VERDICT_BORING;
    case OUTCOME_RAISED:
    case OUTCOME_WRONG: break;
    }
    if (o->options.question == TORCH_SECONDS)
        return VERDICT_OTHER;
    const struct signature *first = &o->first.signature;
    if (reply->outcome == OUTCOME_RAISED && questions[o->options.question].check == REPRO_WRONG)
        return VERDICT_OTHER; /* there are no results to compare */
    if (!str_eq(signature->kind, first->kind) || !str_eq(signature->message, first->message))
        return VERDICT_OTHER;
    return far_enough(o, reply) ? VERDICT_INTERESTING : VERDICT_BORING;
}

static struct str describe_reply(const struct reply *reply, struct arena *arena)
{
    struct buf text = BUF_INIT;
    if (reply->outcome == OUTCOME_WRONG)
        buf_printf(&text, "eager and compiled results differ in %.*s, %.3g times the tolerance",
                   STR_ARG(reply->type), reply->excess);
    else if (reply->outcome == OUTCOME_TIMED)
        buf_printf(&text, "compiling takes %.3g s of processor time%s", reply->seconds,
                   reply->seconds > 0 ? "" : ", which cannot be told from that of a call");
    else
        buf_put(&text, reply->outcome == OUTCOME_EAGER ? reply->eager : reply->message);
    struct str ret = text.n ? arena_copy(arena, buf_str(&text)) : STR("");
    buf_release(&text);
    return ret.p ? ret : STR("");
}

static void ask_torch(struct oracle *oracle, const struct candidate *candidate,
                      const struct oracle_question *asking, struct answer *answer)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    struct reply reply;
    struct err err = { 0 };
    *answer = (struct answer){ .verdict = VERDICT_UNRESOLVED };
    struct cand_hash hash = candidate_hash(candidate);
    if (hash.low == o->whole.low && hash.high == o->whole.high) {
        answer->verdict = o->first.verdict;
        answer->signature = o->first.signature;
        answer->text = o->first.error;
        answer->seconds = o->first.seconds;
        return;
    }
    if (exchange(o, candidate, PURPOSE_NEXT, asking, &answer->arena, &reply, &err)) {
        answer->signature = signature_of(&reply, &answer->arena);
        answer->verdict = judge_reply(o, &reply, &answer->signature);
        answer->text = describe_reply(&reply, &answer->arena);
        answer->node = reply.node;
    } else {
        answer->verdict = VERDICT_BROKEN;
        answer->err = err;
    }
}

static void free_torch(struct oracle *oracle)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    torch_worker_stop(o->worker);
    torch_remote_close(o->remote);
    arena_release(&o->arena);
    free(o);
}

/* ---- The first question ---- */

static struct str version_of(const struct oracle_torch *o)
{
    return o->remote ? torch_remote_version(o->remote) : torch_worker_version(o->worker);
}

/* Seconds. A graph that compiles takes longer than one that fails early, as the first one may. */
enum { FIRST_SECONDS = 300, SLOWEST_SECONDS = 3600, COMPILE_SECONDS = 60 };

static bool ask_first(struct oracle_torch *o, const struct candidate *whole, struct err *err)
{
    struct reply reply;
    double began = clock_seconds();
    bool timed = o->options.question == TORCH_SECONDS;
    const struct oracle_question asking = { .timeout = o->options.timeout > 0 ? o->options.timeout
                                                       : timed                ? SLOWEST_SECONDS
                                                                              : FIRST_SECONDS,
                                            .cancel = o->options.cancel };
    if (!exchange(o, whole, PURPOSE_FIRST, &asking, &o->arena, &reply, err))
        return false;
    o->first.no_backend = reply.outcome == OUTCOME_NO_BACKEND;
    if (o->first.no_backend)
        return err_set(err, ERR_USAGE,
                       "--torch-backend: PyTorch %.*s has no backend %.*s; it has %.*s; "
                       "MODULE:NAME is a function, of a file of --import",
                       STR_ARG(version_of(o)), STR_ARG(o->options.backend), STR_ARG(reply.message));
    o->first.seconds = clock_seconds() - began;
    o->first.signature = signature_of(&reply, &o->arena);
    o->excess = reply.excess;
    o->first.compiled = reply.seconds;
    o->first.called = reply.called;
    if (timed) /* what takes half of the time elsewhere may take all of it here */
        o->oracle.least_timeout = COMPILE_SECONDS + 2 * o->first.seconds;
    o->first.verdict = judge_reply(o, &reply, &o->first.signature);
    o->first.error = describe_reply(&reply, &o->arena);
    o->first.eager = reply.eager;
    o->first.no_device = reply.outcome == OUTCOME_NO_DEVICE;
    o->first.version = version_of(o);
    o->whole = candidate_hash(whole);
    return true;
}

static bool name_oracle(struct oracle_torch *o, struct err *err)
{
    struct buf id = BUF_INIT;
    program_setup_json(&o->options.setup, &id);
    imports_id(&o->options.setup, &id);
    buf_printf(&id, " torch %s %.*s cpu=%d eager=%d %.*s %.*s %.*s",
               questions[o->options.question].name, STR_ARG(o->options.backend), o->options.cpu,
               o->first.eager.n == 0, STR_ARG(o->first.version), STR_ARG(o->first.signature.kind),
               STR_ARG(o->first.signature.message));
    if (o->options.values != REPRO_VALUES_NORMAL)
        buf_printf(&id, " values=%d", o->options.values);
    if (o->options.named_dims)
        buf_puts(&id, " named_dims");
    o->oracle.name = STR("torch");
    o->oracle.id = id.failed ? (struct str){ 0 } : arena_copy(&o->arena, buf_str(&id));
    buf_release(&id);
    return o->oracle.id.p || err_nomem(err);
}

static struct str backend_of(const struct torch_options *options)
{
    if (options->backend.n)
        return options->backend;
    return options->question == TORCH_RUN || options->question == TORCH_ACCURACY ? STR("inductor")
                                                                                 : STR("aot_eager");
}

static bool start_python(struct oracle_torch *o, struct err *err)
{
    const struct torch_options *options = &o->options;
    if (!options->backend.p)
        return err_nomem(err);
    if (options->launcher)
        o->remote = torch_remote_open(options->launcher, &options->setup, err);
    else
        o->worker = torch_worker_start(options->python, &options->setup, err);
    return o->remote || o->worker;
}

bool oracle_torch_computes(const struct oracle *oracle)
{
    const struct oracle_torch *o = (const struct oracle_torch *)oracle;
    return questions[o->options.question].route == REPRO_COMPILE &&
           o->options.question != TORCH_SECONDS;
}

void oracle_torch_set_values(struct oracle *oracle, enum repro_values values)
{
    ((struct oracle_torch *)oracle)->options.values = values;
}

bool oracle_torch_again(struct oracle *oracle, const struct candidate *whole,
                        struct torch_first *first, struct err *err)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    o->first = (struct torch_first){ .seconds = 0 };
    bool ok = ask_first(o, whole, err) && name_oracle(o, err);
    *first = ok ? o->first : (struct torch_first){ .no_backend = o->first.no_backend };
    return ok;
}

struct oracle *oracle_torch(const struct torch_options *options, const struct candidate *whole,
                            struct torch_first *first, struct err *err)
{
    struct oracle_torch *o = calloc(1, sizeof *o);
    if (!o) {
        err_nomem(err);
        return NULL;
    }
    o->oracle.ask = ask_torch;
    o->oracle.free = free_torch;
    o->oracle.least_timeout = COMPILE_SECONDS;
    o->options = *options;
    o->options.backend = arena_copy(&o->arena, backend_of(options));
    o->options.setup.backend = o->options.backend;
    if (start_python(o, err) && oracle_torch_again(&o->oracle, whole, first, err))
        return &o->oracle;
    free_torch(&o->oracle);
    return NULL;
}

struct repro_what oracle_torch_repro(const struct oracle *oracle)
{
    const struct oracle_torch *o = (const struct oracle_torch *)oracle;
    struct repro_what what = repro_what_of(o, questions[o->options.question].check);
    if (what.check == REPRO_RAISES && !str_is(o->first.signature.kind, "crash")) {
        what.exception = o->first.signature.kind;
        what.message = o->first.error;
    }
    what.eager_fails = o->first.eager.n > 0;
    what.seconds = least_seconds(o);
    return what;
}

/* ---- The time of compiling ---- */

bool oracle_torch_time(struct oracle *oracle, const struct candidate *candidate, double timeout,
                       const atomic_bool *cancel, struct arena *arena, double *ret, struct str *why,
                       struct err *err)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    const struct oracle_question asking = { .timeout = timeout, .cancel = cancel };
    struct reply reply;
    if (!exchange(o, candidate, PURPOSE_TIME, &asking, arena, &reply, err))
        return false;
    *ret = reply.outcome == OUTCOME_TIMED ? reply.seconds : -1;
    *why = reply.message.n ? reply.message : reply.type;
    return true;
}

/* ---- Options of PyTorch ---- */

bool oracle_torch_settings(struct oracle *oracle, struct str recorded, struct arena *arena,
                           struct str *set, struct str *other, struct err *err)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    const struct oracle_question asking = { .timeout = COMPILE_SECONDS,
                                            .cancel = o->options.cancel };
    struct reply reply;
    if (!ask_about(o, recorded, PURPOSE_SETTINGS, &asking, arena, &reply, err))
        return false;
    bool answered = reply.outcome == OUTCOME_SETTINGS;
    *set = answered ? reply.message : STR("");
    *other = answered ? reply.node : STR("");
    return true;
}

/* ---- Bisecting the compiler ---- */

bool oracle_torch_can_bisect(const struct oracle *oracle)
{
    const struct oracle_torch *o = (const struct oracle_torch *)oracle;
    return questions[o->options.question].route == REPRO_COMPILE &&
           o->options.question != TORCH_SECONDS && str_is(o->options.backend, "inductor") &&
           !str_is(o->first.signature.kind, "crash");
}

bool oracle_torch_bisect(struct oracle *oracle, const struct candidate *candidate, double timeout,
                         const atomic_bool *cancel, struct arena *arena, struct torch_bisected *ret,
                         struct err *err)
{
    struct oracle_torch *o = (struct oracle_torch *)oracle;
    const struct oracle_question asking = { .timeout = timeout, .cancel = cancel };
    struct reply reply;
    *ret = (struct torch_bisected){ .why = STR("") };
    if (!exchange(o, candidate, PURPOSE_BISECT, &asking, arena, &reply, err))
        return false;
    *ret = reply.bisected;
    ret->found = reply.outcome == OUTCOME_BISECTED;
    ret->detail = reply.message;
    if (!ret->found)
        ret->why = reply.outcome == OUTCOME_OK ? STR("it does not fail when it is compiled again")
                                               : reply.message;
    return true;
}
