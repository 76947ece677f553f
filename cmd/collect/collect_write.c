/* Writes the corpus: to OUTPUT.partial, in which a later run goes on if this one is killed, and
 * then to its name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/collect/collect.h"

static struct table_sink *begin_tape(void *user, const struct corpus_tape *tape, struct err *err)
{
    return corpus_writer_begin(user, tape, err);
}

/* ---- What a run that was killed left ---- */

/* Returns the number of inputs up to the last tape of the partial corpus, if this run would have
 * written the same until there; 0 otherwise. Inputs in between are `missing`: they could not be
 * read then, or have come since. */
static size_t inputs_done(const struct collect *c, const struct corpus_tapes *partial)
{
    size_t at = 0;
    for (size_t i = 0; i < partial->tapes.n; i++) {
        while (at < c->inputs.n &&
               corpus_tape_compare(&c->inputs.v[at].tape, &partial->tapes.v[i]) < 0)
            at++;
        if (at == c->inputs.n || !corpus_tape_same(&c->inputs.v[at].tape, &partial->tapes.v[i]))
            return 0;
        at++;
    }
    return at;
}

struct dry_target {
    bool readable;
};

/* Nothing is written: that a tape begins says that it can be read. */
static struct table_sink *begin_dry(void *user, const struct corpus_tape *tape, struct err *err)
{
    struct dry_target *dry = user;
    (void)tape;
    dry->readable = true;
    err_set(err, ERR_ENV, "not written");
    return NULL;
}

/* Returns whether the inputs that the partial corpus lacks still cannot be read. */
static bool are_unreadable(struct collect *c, const struct corpus_tapes *partial, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        struct dry_target dry = { 0 };
        struct err err = { 0 };
        if (next < partial->tapes.n &&
            corpus_tape_compare(&c->inputs.v[i].tape, &partial->tapes.v[next]) == 0)
            next++;
        else if (!c->inputs.v[i].skipped)
            (void)collect_rows(c, &c->inputs.v[i], &(struct collect_target){ begin_dry, &dry },
                               &err);
        if (dry.readable)
            return false;
    }
    return true;
}

/* Sets *done to the number of inputs that are done in the partial corpus, and *kept to that of its
 * tapes, or removes it, if it is of no use. */
static bool resume(struct collect *c, const char *partial, size_t *done, size_t *kept,
                   struct err *err)
{
    struct corpus_tapes tapes = { 0 };
    struct arena arena = ARENA_INIT;
    struct stat info;
    *done = *kept = 0;
    if (lstat(partial, &info) != 0)
        return errno == ENOENT || err_errno(err, "%s", partial);
    /* Opening it to write removes the rest of a transaction. */
    struct corpus_writer *writer = corpus_writer_open(partial, err);
    if (!writer)
        return false;
    (void)corpus_writer_close(writer, false, err);
    struct corpus_reader *reader = corpus_reader_open(partial, err);
    bool ok = reader && corpus_reader_tapes(reader, &arena, &tapes, err);
    if (ok)
        *done = inputs_done(c, &tapes);
    if (*done > 0 && !are_unreadable(c, &tapes, *done))
        *done = 0;
    *kept = *done > 0 ? tapes.tapes.n : 0;
    corpus_reader_close(reader);
    vec_release(&tapes.tapes);
    arena_release(&arena);
    return ok && (*done > 0 || unlink(partial) == 0 || err_errno(err, "%s", partial));
}

/* ---- Writing ---- */

static bool write_inputs(struct collect *c, struct corpus_writer *writer, size_t from, bool *half,
                         struct err *err)
{
    const struct collect_target target = { begin_tape, writer };
    for (size_t i = from; i < c->inputs.n && !*half; i++) {
        struct collect_input *input = &c->inputs.v[i];
        enum collect_result result =
            input->skipped ? COLLECT_SKIPPED : collect_rows(c, input, &target, err);
        if (result == COLLECT_STOPPED)
            return false;
        *half = result == COLLECT_HALF;
        out_progress(c->cmd->out, "%zu of %zu tapes", i + 1, c->inputs.n);
    }
    return true;
}

/* Gives the corpus its name, unless another process made or changed the one that was read: its
 * tapes would be lost. */
static bool publish(const struct collect *c, const char *partial, const char *real, struct err *err)
{
    const struct stat *before = &c->before;
    struct stat now = { 0 };
    if (stat(real, &now) != 0 && errno != ENOENT)
        return err_errno(err, "%s", real);
    if (now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
        now.st_size != before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
        return err_set(err, ERR_ENV, "%s: another process wrote it meanwhile; run this again",
                       real);
    return rename(partial, real) == 0 || err_errno(err, "%s", real);
}

/* Writes until the end, or until an input that failed in the middle: *half. */
static bool write_partial(struct collect *c, const char *partial, const char *real, bool *half,
                          struct err *err)
{
    size_t done, kept;
    *half = false;
    if (!resume(c, partial, &done, &kept, err))
        return false;
    struct corpus_writer *writer = corpus_writer_open(partial, err);
    if (writer && corpus_writer_tapes(writer) != kept)
        err_set(err, ERR_ENV, "%s: another process writes it", partial);
    bool ok = !err_is_set(err) && write_inputs(c, writer, done, half, err);
    out_progress_end(c->cmd->out);
    if (ok && !*half)
        ok = corpus_writer_finish(writer, err) && publish(c, partial, real, err);
    (void)corpus_writer_close(writer, false, err);
    return ok;
}

/* Returns whether the output exists and has all inputs. */
static bool has_all(const struct collect *c, const char *output)
{
    struct stat info;
    bool all = stat(output, &info) == 0;
    for (size_t i = 0; all && i < c->inputs.n; i++)
        all = c->inputs.v[i].present;
    return all;
}

/* Returns the path without symbolic links, so that a link is not replaced; NULL if memory ran
 * out. */
static char *real_path(const char *output)
{
    char *real = realpath(output, NULL);
    return real || errno == ENOMEM ? real : strdup(output);
}

static void count_added(struct collect *c)
{
    for (size_t i = 0; i < c->inputs.n; i++)
        c->n_added += !c->inputs.v[i].skipped;
    c->n_added -= c->n_present;
}

bool collect_write(struct collect *c, const char *output, struct err *err)
{
    char *real = real_path(output), *partial = NULL;
    bool ok = (real && asprintf(&partial, "%s.partial", real) >= 0) || err_nomem(err);
    bool half = !has_all(c, output);
    while (ok && half)
        ok = write_partial(c, partial, real, &half, err);
    free(partial);
    free(real);
    count_added(c);
    return ok;
}
