/* The backend that is asked: the one that failed, or else that of the program's calls. */
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/text_file.h"
#include "cmd/minify/minify.h"
#include "trace/events/calls.h"
#include "trace/events/incidents/incidents.h"
#include "trace/events/user_line.h"
#include "trace/graph/traceback.h"

/* Returns X of "backend='X' raised:", or "". */
static struct str failed_backend(struct str reason)
{
    struct str rest = str_from(reason, str_find(reason, STR("backend='")));
    rest = str_from(rest, strlen("backend='"));
    size_t n = str_find_char(rest, '\'');
    return n < rest.n ? str_first(rest, n) : STR("");
}

/* Returns the file of the innermost function of that name in the traceback that PyTorch logged; ""
 * if it is one of PyTorch's own, whose backends it knows by name. */
static struct str file_of_backend(struct str traceback, struct str name)
{
    struct traceback_frame frame;
    struct str ret = STR("");
    while (traceback_next(&traceback, &frame))
        if (str_eq(frame.function, name) && str_ends(frame.file, STR(".py")) &&
            !torch_is_own_file(frame.file))
            ret = frame.file;
    return ret;
}

/* A backend that is the user's own function: it is named as MODULE:NAME, of the file that has it.
 * Only the program that the user has just let run is imported without being asked for. */
static bool choose_function(struct minify_job *job, struct str name, struct str file,
                            struct err *err)
{
    struct str module = file;
    struct buf backend = BUF_INIT, import = BUF_INIT;
    for (size_t slash; (slash = str_find_char(module, '/')) < module.n;)
        module = str_from(module, slash + 1);
    buf_printf(&backend, "%.*s:%.*s", (int)module.n - 3, module.p, STR_ARG(name));
    if (job->chosen.import)
        buf_printf(&import, "%s,", job->chosen.import);
    buf_put(&import, file);
    const char *b = minify_keep(job, &backend), *i = minify_keep(job, &import);
    if (!b || !i)
        return err_nomem(err);
    if (!job->program)
        return err_set(err, ERR_USAGE,
                       "the backend is the function %.*s, and nothing that a tape names is run: "
                       "--torch-oracle compile --torch-backend %s --import %s imports it",
                       STR_ARG(name), b, i);
    job->chosen.backend = b;
    job->chosen.import = i;
    return true;
}

bool minify_choose_backend(struct minify_job *job, const struct failure *failure, struct err *err)
{
    struct str name = failed_backend(failure->reason), file;
    struct buf text = BUF_INIT;
    if (job->chosen.backend)
        return true;
    if (str_find(failure->type, STR("Inductor")) < failure->type.n)
        name = STR("inductor");
    if (!name.n)
        return true;
    file = file_of_backend(failure->text, name);
    if (file.n)
        return choose_function(job, name, file, err);
    if (str_find_char(name, ':') < name.n) /* MODULE:NAME would be imported */
        return err_set(err, ERR_USAGE,
                       "%s: its backend \"%.*s\" is no name of a backend; "
                       "--torch-oracle compile --torch-backend names one",
                       job->operand, STR_ARG(str_first(name, 200)));
    buf_put(&text, name);
    job->chosen.backend = minify_keep(job, &text);
    return job->chosen.backend || err_nomem(err);
}

/* ---- Calls ---- */

struct backend_search {
    struct arena *texts;
    struct str name; /* of the last call of a recording that tells it; "" */
    uint64_t rows;   /* seen so far */
};

static bool take_call(void *data, const struct recorded_call *call, struct err *err)
{
    struct backend_search *s = data;
    struct json doc = { 0 };
    struct buf line = BUF_INIT;
    struct err ignored = { 0 };
    bool ok = true;
    if (call->row < s->rows)
        return true;
    s->rows = (uint64_t)call->row + 1;
    recorded_call_put(call, &line);
    if (!line.failed && json_parse(&doc, buf_str(&line), &ignored)) {
        json_id id = json_get(&doc, JSON_ROOT, STR("backend"));
        if (json_kind_of(&doc, id) == JSON_STRING) {
            s->name = json_decoded(&doc, id, s->texts);
            if (s->name.p)
                s->name = arena_copy(s->texts, str_first(s->name, str_find_char(s->name, '#')));
            ok = s->name.p != NULL;
        }
    }
    ok = ok && !line.failed;
    json_release(&doc);
    buf_release(&line);
    return ok || err_nomem(err);
}

/* Returns whether a file defines the function, at the beginning of a line. */
static bool defines(struct minify_job *job, const char *path, struct str name)
{
    struct buf text = BUF_INIT, wanted = BUF_INIT;
    struct err ignored = { 0 };
    struct str line;
    bool ret = false;
    buf_printf(&wanted, "def %.*s(", STR_ARG(name));
    if (!wanted.failed && text_file_read(path, &job->cmd->out->limit->meter, &text, &ignored))
        for (struct str rest = buf_str(&text); !ret && text_next_line(&rest, &line);)
            ret = str_starts(line, buf_str(&wanted));
    buf_release(&text);
    buf_release(&wanted);
    return ret;
}

/* Returns the script among the words of the command that defines the function, or NULL. */
static const char *script_of(struct minify_job *job, struct str name)
{
    for (size_t i = 0; i < job->cmd->n_operands; i++)
        if (str_ends(str_of(job->cmd->operands[i]), STR(".py")) &&
            defines(job, job->cmd->operands[i], name))
            return job->cmd->operands[i];
    return NULL;
}

bool minify_take_backend(struct minify_job *job, struct trace *trace, struct err *err)
{
    struct backend_search s = { .texts = &job->texts };
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_recordings && !s.name.n; i++) {
        struct recorded_calls calls = { .take = take_call, .data = &s };
        s.rows = 0;
        ok = recorded_calls_read(trace, i, &calls, err);
        recorded_calls_release(&calls);
    }
    if (!ok || !s.name.n || job->chosen.backend)
        return ok;
    const char *script = script_of(job, s.name);
    if (script)
        return choose_function(job, s.name, str_of(script), err);
    struct buf text = BUF_INIT;
    buf_put(&text, s.name);
    job->chosen.backend = minify_keep(job, &text);
    job->calls_backend = job->chosen.backend != NULL;
    if (job->calls_backend)
        out_note(job->cmd->out, "its calls were compiled with the backend %s", job->chosen.backend);
    return job->chosen.backend || err_nomem(err);
}
