/* What is collected: operands become files and tapes of corpora, each with its key. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/collect/collect.h"
#include "trace/base/file/file.h"

void collect_init(struct collect *c, struct cmd *cmd)
{
    *c = (struct collect){ .cmd = cmd };
    c->failures = json_writer_of(&c->failures_json);
    json_open_array(&c->failures, NULL);
}

void collect_release(struct collect *c)
{
    for (size_t i = 0; i < c->corpora.n; i++)
        corpus_reader_close(c->corpora.v[i].reader);
    vec_release(&c->corpora);
    vec_release(&c->inputs);
    tape_files_release(&c->files);
    buf_release(&c->piped);
    buf_release(&c->failures_json);
    arena_release(&c->arena);
}

/* ---- Files that cannot be read ---- */

/* Exit codes from mild to severe. */
static int worse(int a, int b)
{
    return a > b ? a : b;
}

void collect_fail(struct collect *c, struct collect_input *input, struct err *err)
{
    struct err told = *err;
    memory_limit_explain(c->cmd->out->limit, &told);
    c->code = worse(c->code, out_error(c->cmd->out, &told));
    c->n_failed++;
    input->skipped = true;
    json_open_object(&c->failures, NULL);
    json_put_str(&c->failures, "name", input->tape.name);
    json_put_cstr(&c->failures, "error", told.text);
    json_close(&c->failures);
    err_clear(err);
}

/* ---- Keys ---- */

static bool hash_file(const char *path, struct corpus_tape *tape, struct err *err)
{
    enum { PIECE = 1 << 18 };
    struct file file;
    struct sha256_stream stream;
    struct buf piece = BUF_INIT;
    if (!file_open(&file, path, err))
        return false;
    bool ok = true;
    sha256_begin(&stream);
    for (uint64_t at = 0; ok && at < file.size; at += piece.n) {
        size_t n = file.size - at < PIECE ? (size_t)(file.size - at) : PIECE;
        ok = file_read_buf(&file, at, n, &piece, err) || err_at(err, "%s", path);
        sha256_add(&stream, buf_str(&piece));
    }
    sha256_end(&stream, tape->key);
    tape->bytes = file.size;
    buf_release(&piece);
    file_close(&file);
    return ok;
}

/* Reads standard input as it is, so that it has the key of the file that it is. */
static bool read_pipe(struct collect *c, struct corpus_tape *tape, struct err *err)
{
    struct source_meter *meter = &c->cmd->out->limit->meter;
    ssize_t n = 1;
    if (c->piped.n > 0)
        return err_set(err, ERR_USAGE, "standard input can be read once only");
    while (n != 0) {
        if (!buf_reserve(&c->piped, SOURCE_READ_SIZE))
            return err_nomem(err);
        n = read(STDIN_FILENO, c->piped.p + c->piped.n, SOURCE_READ_SIZE);
        if (n < 0 && errno != EINTR)
            return err_errno(err, "standard input");
        c->piped.n += n > 0 ? (size_t)n : 0;
        meter->stored(meter, n > 0 ? (uint64_t)n : 0);
    }
    sha256(buf_str(&c->piped), tape->key);
    tape->bytes = c->piped.n;
    return c->piped.n > 0 || err_set(err, ERR_INPUT, "standard input is empty");
}

/* ---- Inputs ---- */

/* Returns the name of a file without its folder and what says how it is stored. */
static struct str stem_of(struct str path)
{
    static const char *const endings[] = { ".gz", ".zst", ".log", ".tape", ".pt2" };
    struct str name = str_basename(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(name, str_of(endings[i])) && name.n > strlen(endings[i]))
            name.n -= strlen(endings[i]);
    return name;
}

/* PyTorch's own names of logs, dedicated_log_torch_trace_rank_3_x5k.log, end in random letters:
 * their model is the folder, "bert/rank_3". */
static bool set_model(struct collect *c, struct corpus_tape *tape, struct err *err)
{
    const struct str torch = STR("dedicated_log_torch_trace");
    struct str stem = stem_of(tape->name), base = str_basename(tape->name);
    struct buf model = BUF_INIT;
    tape->model = stem;
    if (!str_starts(stem, torch) || base.n == tape->name.n)
        return true;
    buf_put(&model, str_basename(str_first(tape->name, tape->name.n - base.n - 1)));
    struct str rest = str_from(stem, torch.n);
    size_t letters = rest.n;
    while (letters > 0 && rest.p[letters - 1] != '_')
        letters--;
    if (str_starts(rest, STR("_rank_")) && letters > sizeof "_rank_")
        buf_printf(&model, "/%.*s", (int)letters - 2, rest.p + 1);
    tape->model = model.failed ? (struct str){ 0 } : arena_copy(&c->arena, buf_str(&model));
    buf_release(&model);
    return tape->model.p || err_nomem(err);
}

static bool add_input(struct collect *c, const struct collect_input *input, struct err *err)
{
    c->kept += sizeof *input + input->tape.name.n;
    c->n_given++;
    return vec_push(&c->inputs, *input) || err_nomem(err);
}

bool collect_add_file(struct collect *c, const struct tape_file *file, struct err *err)
{
    struct collect_input input = { .path = file->path };
    bool piped = strcmp(file->path, "-") == 0;
    const char *name = piped ? (c->name ? c->name : "standard input") : file->path;
    input.tape.name = arena_copy(&c->arena, str_of(name));
    input.tape.revision = str_of(c->revision ? c->revision : "");
    input.piped = piped;
    if (piped)
        input.path = name;
    if (!input.tape.name.p)
        return err_nomem(err);
    if (!set_model(c, &input.tape, err))
        return false;
    struct err why = { 0 };
    bool ok = piped ? read_pipe(c, &input.tape, &why) : hash_file(file->path, &input.tape, &why);
    if (ok)
        return add_input(c, &input, err);
    c->n_given++;
    if (why.no_memory)
        return err_copy(err, &why);
    collect_fail(c, &input, &why);
    return true;
}

static void close_oldest(struct collect *c)
{
    struct collect_corpus *oldest = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->corpora.n; i++) {
        struct collect_corpus *corpus = &c->corpora.v[i];
        n += corpus->reader != NULL;
        if (corpus->reader && (!oldest || corpus->used < oldest->used))
            oldest = corpus;
    }
    if (n < COLLECT_OPEN)
        return;
    corpus_reader_close(oldest->reader);
    oldest->reader = NULL;
}

struct corpus_reader *collect_reader(struct collect *c, uint32_t i, struct err *err)
{
    struct collect_corpus *corpus = &c->corpora.v[i];
    corpus->used = ++c->n_used;
    if (corpus->reader)
        return corpus->reader;
    close_oldest(c);
    corpus->reader = corpus_reader_open(corpus->path, err);
    return corpus->reader;
}

static bool add_tapes(struct collect *c, const struct corpus_tapes *tapes, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < tapes->tapes.n; i++) {
        struct collect_input input = { .tape = tapes->tapes.v[i],
                                       .corpus = (uint32_t)c->corpora.n - 1,
                                       .number = i };
        ok = add_input(c, &input, err);
    }
    return ok;
}

bool collect_add_corpus(struct collect *c, const char *path, struct err *err)
{
    const struct collect_corpus corpus = { .path = path };
    struct corpus_tapes tapes = { 0 };
    if (!vec_push(&c->corpora, corpus))
        return err_nomem(err);
    memory_limit_restart(c->cmd->out->limit, c->kept + c->files.bytes);
    struct corpus_reader *reader = collect_reader(c, (uint32_t)c->corpora.n - 1, err);
    bool ok =
        reader && (corpus_reader_tapes(reader, &c->arena, &tapes, err) || err_at(err, "%s", path));
    ok = ok && add_tapes(c, &tapes, err);
    vec_release(&tapes.tapes);
    return ok;
}

/* Adds a file, whatever it is. */
static bool add_any(struct collect *c, const struct tape_file *file, struct err *err)
{
    struct collect_input input = { .path = file->path, .tape.name = str_of(file->path) };
    struct err why = { 0 };
    bool is_corpus = false;
    if (strcmp(file->path, "-") == 0 || corpus_is_database(file->path, &is_corpus, &why))
        return is_corpus ? collect_add_corpus(c, file->path, err) : collect_add_file(c, file, err);
    c->n_given++;
    collect_fail(c, &input, &why);
    return true;
}

static bool add_files(struct collect *c, const struct shard *shard, struct err *err)
{
    bool ok = true, is_recording;
    for (size_t i = 0; ok && i < c->files.paths.n; i++) {
        const struct tape_file *file = &c->files.paths.v[i];
        if (!shard_has(shard, str_of(file->path)))
            continue;
        ok = tape_file_is_recording(file, &c->cmd->out->limit->meter, &is_recording, err);
        c->n_passed_over += ok && !is_recording;
        if (ok && is_recording)
            ok = add_any(c, file, err);
    }
    return ok;
}

bool collect_add_operands(struct collect *c, const struct shard *shard, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->cmd->n_operands; i++)
        ok = tape_files_add(&c->files, c->cmd->operands[i], err);
    tape_files_sort(&c->files);
    memory_limit_restart(c->cmd->out->limit, c->files.bytes);
    return ok && add_files(c, shard, err);
}

static int by_text(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int by_key(const void *a, const void *b)
{
    const struct collect_input *x = a, *y = b;
    int order = corpus_tape_compare(&x->tape, &y->tape);
    order = order ? order : y->present - x->present;
    order = order ? order : by_text(x->tape.name, y->tape.name);
    return order ? order : by_text(x->tape.revision, y->tape.revision);
}

void collect_sort(struct collect *c)
{
    size_t kept = 0;
    if (c->inputs.n == 0)
        return;
    qsort(c->inputs.v, c->inputs.n, sizeof *c->inputs.v, by_key);
    for (size_t i = 0; i < c->inputs.n; i++)
        if (i == 0 || corpus_tape_compare(&c->inputs.v[i].tape, &c->inputs.v[kept - 1].tape) != 0)
            c->inputs.v[kept++] = c->inputs.v[i];
    c->inputs.n = kept;
}
