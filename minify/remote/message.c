#include "minify/remote/message.h"

#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

void message_release(struct message *message)
{
    job_release(&message->job);
}

/* ---- Printing ---- */

void message_print_hello(struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_u64(&w, "symtape-worker", WORKER_PROTOCOL);
    json_put_cstr(&w, "version", SYMTAPE_VERSION);
    json_close(&w);
    buf_putc(out, '\n');
}

/* A text, the number of a file, or "tmp" as an object. */
static void put_value(struct json_writer *w, const struct job_value *value)
{
    if (value->file == JOB_TEXT) {
        json_put_str(w, NULL, value->text);
        return;
    }
    json_open_object(w, NULL);
    if (value->file == JOB_TMP)
        json_put_bool(w, "tmp", true);
    else
        json_put_u64(w, "file", value->file);
    json_close(w);
}

static void put_files(struct json_writer *w, const struct job *job)
{
    json_open_array(w, "files");
    for (size_t i = 0; i < job->files.n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "name", job->files.v[i].name);
        json_put_u64(w, "bytes", job->files.v[i].bytes.n);
        json_put_bool(w, "program", job->files.v[i].program);
        json_close(w);
    }
    json_close(w);
}

static void put_run_line(const struct job *job, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_u64(&w, "run", job->number);
    json_put_double(&w, "seconds", job->timeout);
    if (job->input != JOB_TEXT)
        json_put_u64(&w, "input", job->input);
    if (job->warm)
        json_put_bool(&w, "warm", true);
    json_open_array(&w, "words");
    for (size_t i = 0; i < job->words.n; i++)
        put_value(&w, &job->words.v[i]);
    json_close(&w);
    json_open_array(&w, "variables");
    for (size_t i = 0; i < job->variables.n; i++) {
        json_open_array(&w, NULL);
        json_put_str(&w, NULL, job->variables.v[i].name);
        put_value(&w, &job->variables.v[i].value);
        json_close(&w);
    }
    json_close(&w);
    put_files(&w, job);
    json_close(&w);
    buf_putc(out, '\n');
}

bool message_check_run(const struct job *job, struct err *err)
{
    struct buf line = BUF_INIT;
    size_t bytes = 0;
    for (size_t i = 0; i < job->files.n; i++)
        bytes += job->files.v[i].bytes.n;
    put_run_line(job, &line);
    size_t length = line.n;
    bool failed = line.failed;
    buf_release(&line);
    if (failed)
        return err_nomem(err);
    if (bytes > MESSAGE_BYTES_MAX)
        return err_set(err, ERR_USAGE,
                       "the files of a command have %zu bytes; at most %d are sent to a worker",
                       bytes, MESSAGE_BYTES_MAX);
    if (job->files.n > JOB_FILES_MAX)
        return err_set(err, ERR_USAGE, "a command has %zu files; at most %d are sent to a worker",
                       job->files.n, JOB_FILES_MAX);
    return length <= MESSAGE_LINE_MAX ||
           err_set(err, ERR_USAGE,
                   "the words and variables of a command have %zu bytes; at most %d are sent to "
                   "a worker",
                   length, MESSAGE_LINE_MAX);
}

void message_print_run(const struct job *job, struct buf *out)
{
    put_run_line(job, out);
    for (size_t i = 0; i < job->files.n; i++)
        buf_put(out, job->files.v[i].bytes);
}

void message_print_cancel(uint64_t number, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_u64(&w, "cancel", number);
    json_close(&w);
    buf_putc(out, '\n');
}

void message_print_end(uint64_t number, const struct child_end *end, struct str error,
                       struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_u64(&w, "end", number);
    json_put_u64(&w, "status", (uint64_t)end->status);
    json_put_u64(&w, "signal", (uint64_t)end->signal);
    json_put_bool(&w, "timed_out", end->timed_out);
    json_put_bool(&w, "cancelled", end->cancelled);
    json_put_double(&w, "seconds", end->seconds);
    json_put_str_or_null(&w, "error", error);
    json_put_u64(&w, "bytes", end->n);
    json_close(&w);
    buf_putc(out, '\n');
    buf_put(out, (struct str){ end->output, end->n });
}

/* ---- Reading ---- */

struct message_reader {
    struct json doc;
    struct message *ret;
    struct str rest;  /* behind the line */
    uint64_t awaited; /* bytes that the line announces */
    struct err *err;
};

static bool bad(struct message_reader *r, const char *what)
{
    return err_set(r->err, ERR_INPUT, "a message that is none: %s", what);
}

/* Returns a decoded text in the message's arena; .p is NULL when memory ran out. */
static struct str copy_text(struct message_reader *r, json_id id)
{
    struct arena *arena = &r->ret->job.arena;
    struct str text = json_decoded(&r->doc, id, arena);
    return text.p ? arena_copy(arena, text) : text;
}

static bool read_number(struct message_reader *r, json_id object, struct str key, uint64_t most,
                        uint64_t *ret)
{
    json_id id = json_get(&r->doc, object, key);
    *ret = 0;
    return id == JSON_NONE || (json_u64(&r->doc, id, ret) && *ret <= most) ||
           bad(r, "a number is out of its range");
}

/* A name of a file may not leave the job's folder, and holds nothing that a path means. */
static bool is_file_name(struct str name)
{
    bool good = name.n > 0 && name.n < 200 && name.p[0] != '.';
    for (size_t i = 0; good && i < name.n; i++)
        good = name.p[i] != '/' && (unsigned char)name.p[i] >= ' ';
    return good && !str_is(name, "tmp");
}

static bool has_no_zero(struct str text)
{
    return !text.n || !memchr(text.p, 0, text.n);
}

static bool read_files(struct message_reader *r)
{
    struct job *job = &r->ret->job;
    json_id list = json_get(&r->doc, JSON_ROOT, STR("files"));
    for (json_id f = json_first(&r->doc, list); f != JSON_NONE; f = json_next(&r->doc, f)) {
        uint64_t bytes;
        struct str name = copy_text(r, json_get(&r->doc, f, STR("name")));
        if (job->files.n >= JOB_FILES_MAX || !is_file_name(name))
            return bad(r, "a file has no name that it may have");
        for (size_t i = 0; i < job->files.n; i++)
            if (str_eq(job->files.v[i].name, name))
                return bad(r, "two files have one name");
        if (!read_number(r, f, STR("bytes"), MESSAGE_BYTES_MAX, &bytes))
            return false;
        json_id program = json_get(&r->doc, f, STR("program"));
        r->awaited += bytes;
        if (r->awaited > MESSAGE_BYTES_MAX)
            return bad(r, "there are too many bytes of files");
        job_add_file(job, name, (struct str){ "", bytes },
                     json_kind_of(&r->doc, program) == JSON_TRUE);
    }
    return !job->failed || err_nomem(r->err);
}

static bool read_value(struct message_reader *r, json_id id, struct job_value *ret)
{
    json_id tmp = json_get(&r->doc, id, STR("tmp"));
    uint64_t file = 0;
    *ret = (struct job_value){ JOB_TEXT, STR("") };
    if (json_kind_of(&r->doc, id) == JSON_STRING) {
        ret->text = copy_text(r, id);
        return ret->text.p ? has_no_zero(ret->text) || bad(r, "a text has a zero byte")
                           : err_nomem(r->err);
    }
    if (json_kind_of(&r->doc, tmp) == JSON_TRUE) {
        ret->file = JOB_TMP;
        return true;
    }
    if (!json_u64(&r->doc, json_get(&r->doc, id, STR("file")), &file) ||
        file >= r->ret->job.files.n)
        return bad(r, "a word is neither a text nor a file");
    ret->file = (uint32_t)file;
    return true;
}

static bool read_words(struct message_reader *r)
{
    struct job *job = &r->ret->job;
    struct job_value value;
    json_id list = json_get(&r->doc, JSON_ROOT, STR("words"));
    for (json_id w = json_first(&r->doc, list); w != JSON_NONE; w = json_next(&r->doc, w)) {
        if (!read_value(r, w, &value))
            return false;
        job_add_word(job, value.file, value.text);
    }
    if (job->words.n == 0)
        return bad(r, "a job without a command");
    list = json_get(&r->doc, JSON_ROOT, STR("variables"));
    for (json_id v = json_first(&r->doc, list); v != JSON_NONE; v = json_next(&r->doc, v)) {
        json_id first = json_first(&r->doc, v);
        struct str name = copy_text(r, first);
        if (!name.n || name.n > 100 || str_find_char(name, '=') < name.n || !has_no_zero(name))
            return bad(r, "a variable has no name that it may have");
        if (!read_value(r, json_next(&r->doc, first), &value))
            return false;
        job_add_variable(job, name, value.file, value.text);
    }
    return !job->failed || err_nomem(r->err);
}

static bool read_run(struct message_reader *r)
{
    struct job *job = &r->ret->job;
    uint64_t input = 0;
    json_id in = json_get(&r->doc, JSON_ROOT, STR("input"));
    job->number = r->ret->number;
    job->input = JOB_TEXT;
    (void)json_double(&r->doc, json_get(&r->doc, JSON_ROOT, STR("seconds")), &job->timeout);
    if (!(job->timeout >= 0 && job->timeout < 1e9))
        return bad(r, "no time limit");
    if (!read_files(r) || !read_words(r))
        return false;
    if (in != JSON_NONE && (!json_u64(&r->doc, in, &input) || input >= job->files.n))
        return bad(r, "its input is no file");
    job->input = in == JSON_NONE ? JOB_TEXT : (uint32_t)input;
    job->warm = json_kind_of(&r->doc, json_get(&r->doc, JSON_ROOT, STR("warm"))) == JSON_TRUE;
    return !job->warm || (job->input != JOB_TEXT && job->words.v[0].file < job->files.n) ||
           bad(r, "a warm job without a script or a question");
}

static bool read_end(struct message_reader *r)
{
    struct child_end *end = &r->ret->end;
    const json_id error = json_get(&r->doc, JSON_ROOT, STR("error"));
    uint64_t status, signal;
    if (!read_number(r, JSON_ROOT, STR("status"), 255, &status) ||
        !read_number(r, JSON_ROOT, STR("signal"), 255, &signal) ||
        !read_number(r, JSON_ROOT, STR("bytes"), CHILD_TAIL, &r->awaited))
        return false;
    end->status = (int)status;
    end->signal = (int)signal;
    end->timed_out =
        json_kind_of(&r->doc, json_get(&r->doc, JSON_ROOT, STR("timed_out"))) == JSON_TRUE;
    end->cancelled =
        json_kind_of(&r->doc, json_get(&r->doc, JSON_ROOT, STR("cancelled"))) == JSON_TRUE;
    (void)json_double(&r->doc, json_get(&r->doc, JSON_ROOT, STR("seconds")), &end->seconds);
    if (!(end->seconds >= 0 && end->seconds < 1e9))
        return bad(r, "no time that it took");
    r->ret->error = json_kind_of(&r->doc, error) == JSON_STRING ? copy_text(r, error) : STR("");
    r->ret->started = r->ret->error.n == 0;
    return r->ret->error.p || err_nomem(r->err);
}

/* Which kind it is says the first member. */
static bool read_line(struct message_reader *r)
{
    static const char *const keys[] = { [MESSAGE_HELLO] = "symtape-worker",
                                        [MESSAGE_RUN] = "run",
                                        [MESSAGE_CANCEL] = "cancel",
                                        [MESSAGE_END] = "end" };
    struct message *ret = r->ret;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_u64(&r->doc, json_get(&r->doc, JSON_ROOT, str_of(keys[i])), &ret->number))
            continue;
        ret->kind = (enum message_kind)i;
        ret->protocol = ret->kind == MESSAGE_HELLO ? ret->number : 0;
        return ret->kind == MESSAGE_RUN   ? read_run(r)
               : ret->kind == MESSAGE_END ? read_end(r)
                                          : true;
    }
    return bad(r, "no kind that is known");
}

/* Takes the bytes that the line announces, once they are all there. */
static void take_bytes(struct message_reader *r)
{
    struct message *ret = r->ret;
    for (size_t i = 0; i < ret->job.files.n; i++) {
        struct str *bytes = &ret->job.files.v[i].bytes;
        *bytes = str_first(r->rest, bytes->n);
        r->rest = str_from(r->rest, bytes->n);
    }
    if (ret->kind == MESSAGE_END) {
        ret->end.n = (size_t)r->awaited;
        memcpy(ret->end.output, r->rest.p, ret->end.n);
        r->rest = str_from(r->rest, ret->end.n);
    }
}

enum message_read message_read(struct str *text, struct message *ret, struct err *err)
{
    struct str line = str_first(*text, str_find_char(*text, '\n'));
    struct message_reader r = { .ret = ret, .err = err };
    enum message_read got = MESSAGE_BAD;
    *ret = (struct message){ .kind = MESSAGE_HELLO };
    if (line.n > MESSAGE_LINE_MAX) {
        bad(&r, "its line is too long");
        return MESSAGE_BAD;
    }
    if (line.n == text->n)
        return MESSAGE_PARTIAL;
    r.rest = str_from(*text, line.n + 1);
    if (json_parse(&r.doc, line, err) && read_line(&r))
        got = r.rest.n < r.awaited ? MESSAGE_PARTIAL : MESSAGE_READ;
    if (got == MESSAGE_READ) {
        take_bytes(&r);
        *text = r.rest;
    } else {
        message_release(ret);
    }
    json_release(&r.doc);
    return got;
}
