#include "minify/search/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAITING_MAX = 1 << 16 };

struct journal {
    int fd;
    char *path;
    uint64_t seq;
    struct buf waiting;
    uint64_t failures; /* the number of records of interesting candidates */
    bool opened;       /* the file is locked by this process and was read */
    bool failed;       /* a write was incomplete, so a record after it would be unreadable */
};

static bool fail_journal(const struct journal *journal, struct err *err)
{
    return err_errno(err, "%s", journal->path);
}

static bool write_journal_bytes(struct journal *journal, struct str bytes, struct err *err)
{
    while (bytes.n > 0 && !journal->failed) {
        ssize_t wrote = write(journal->fd, bytes.p, bytes.n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            journal->failed = true;
            return fail_journal(journal, err);
        }
        bytes = str_from(bytes, (size_t)wrote);
    }
    return !journal->failed ||
           err_set(err, ERR_ENV, "%s: the journal cannot be written", journal->path);
}

static bool read_journal(struct journal *journal, struct buf *text, struct err *err)
{
    for (;;) {
        if (!buf_reserve(text, 1 << 16))
            return err_nomem(err);
        ssize_t got = read(journal->fd, text->p + text->n, text->cap - text->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_journal(journal, err);
        if (got == 0)
            return true;
        text->n += (size_t)got;
    }
}

/* Unescapes the texts of a record, one after the other, into `texts`. */
static void take_texts(const struct journal_record *record, struct buf *texts,
                       struct cached_answer *known)
{
    const struct str from[] = {
        record->node,         record->signature.kind,  record->signature.message,
        record->signature.op, record->signature.frame, record->text
    };
    struct str *const to[] = {
        &known->node,         &known->signature.kind,  &known->signature.message,
        &known->signature.op, &known->signature.frame, &known->text
    };
    size_t ends[sizeof from / sizeof *from];
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        journal_text(from[i], texts);
        ends[i] = texts->n;
    }
    for (size_t i = 0, start = 0; i < sizeof from / sizeof *from && !texts->failed; i++) {
        *to[i] = (struct str){ texts->p ? texts->p + start : "", ends[i] - start };
        start = ends[i];
    }
}

static bool take_record(const struct journal_record *record, struct cache *cache, struct err *err)
{
    struct cached_answer *old = cache_find(cache, record->hash);
    if (record->again) {
        if (old)
            *(record->verdict == VERDICT_INTERESTING ? &old->confirmed : &old->doubted) += 1;
        return true;
    }
    struct buf texts = BUF_INIT;
    struct cached_answer known = { .hash = record->hash,
                                   .verdict = record->verdict,
                                   .attempts = record->attempts,
                                   .seconds = record->seconds,
                                   .resumed = true };
    take_texts(record, &texts, &known);
    bool good = (!texts.failed && cache_add(cache, &known)) || err_nomem(err);
    buf_release(&texts);
    return good;
}

/* Reads the intact lines and finds the end of the last complete one. */
static bool take_records(struct journal *journal, struct str text, struct cache *cache,
                         struct journal_found *found, const char **end, struct err *err)
{
    struct journal_record record;
    for (;;) {
        *end = text.p;
        enum journal_line line = journal_next(&text, &record);
        if (line == JOURNAL_END)
            return true;
        found->torn = line == JOURNAL_TORN;
        if (found->torn)
            return true;
        if (line == JOURNAL_DAMAGED) {
            found->damaged++;
            continue;
        }
        if (!take_record(&record, cache, err))
            return false;
        found->records++;
        journal->failures += record.verdict == VERDICT_INTERESTING;
        journal->seq = record.seq > journal->seq ? record.seq : journal->seq;
    }
}

static bool begin_journal(struct journal *journal, const struct journal_head *head, struct err *err)
{
    struct buf text = BUF_INIT;
    journal_print_head(head, &text);
    bool good = text.failed ? err_nomem(err) : true;
    if (good && (ftruncate(journal->fd, 0) != 0 || lseek(journal->fd, 0, SEEK_SET) < 0))
        good = fail_journal(journal, err);
    good = good && write_journal_bytes(journal, buf_str(&text), err);
    buf_release(&text);
    return good;
}

static bool refuse_journal(const struct journal *journal, const struct journal_head *head,
                           const struct journal_head *there, struct err *err)
{
    if (!str_eq(head->program, there->program))
        return err_set(err, ERR_USAGE,
                       "%s: the journal was written by symtape %.*s, and this is %.*s; "
                       "--overwrite-journal begins a new one",
                       journal->path, STR_ARG(there->program), STR_ARG(head->program));
    return err_set(err, ERR_USAGE,
                   "%s: the journal belongs to another command, script or option; "
                   "--overwrite-journal begins a new one, and --journal or -o names another file",
                   journal->path);
}

static bool has_failures(struct str text)
{
    struct journal_record record;
    enum journal_line line;
    while ((line = journal_next(&text, &record)) == JOURNAL_RECORD || line == JOURNAL_DAMAGED)
        if (line == JOURNAL_RECORD && record.verdict == VERDICT_INTERESTING)
            return true;
    return false;
}

/* Returns whether two heads are equal, after making one as it would be read from the file. */
static bool head_matches(const struct journal_head *head, const struct journal_head *there,
                         bool *same, struct err *err)
{
    struct buf text = BUF_INIT;
    struct journal_head read = { 0 };
    journal_print_head(head, &text);
    struct str rest = buf_str(&text);
    bool good = text.failed ? err_nomem(err) : journal_read_head(&rest, &read, err);
    *same = good && str_eq(read.program, there->program) && str_eq(read.oracle, there->oracle);
    buf_release(&text);
    return good;
}

static bool use_journal(struct journal *journal, const struct journal_head *head,
                        enum journal_mode mode, struct str text, struct cache *cache,
                        struct journal_found *found, struct err *err)
{
    struct journal_head there;
    struct str rest = text;
    const char *end = NULL;
    bool same;
    if (!journal_read_head(&rest, &there, err)) {
        if (mode == JOURNAL_REPLACE && err->kind == ERR_INPUT) {
            *err = (struct err){ 0 };
            return begin_journal(journal, head, err);
        }
        return err_at(err, "%s", journal->path);
    }
    if (!head_matches(head, &there, &same, err))
        return false;
    if (!same)
        return mode == JOURNAL_REPLACE || !has_failures(rest)
                   ? begin_journal(journal, head, err)
                   : refuse_journal(journal, head, &there, err);
    if (!take_records(journal, rest, cache, found, &end, err))
        return false;
    off_t keep = (off_t)(end - text.p);
    if (ftruncate(journal->fd, keep) != 0 || lseek(journal->fd, keep, SEEK_SET) < 0)
        return fail_journal(journal, err);
    return true;
}

/* Returns whether the text is an incomplete head: such a journal contains no records. */
static bool is_torn_head(struct str text)
{
    return str_find_char(text, '\n') == text.n && text.n < 1000 &&
           (str_starts(text, STR("symtape-journal ")) || str_starts(STR("symtape-journal "), text));
}

static bool start_journal(struct journal *journal, const struct journal_head *head,
                          enum journal_mode mode, struct cache *cache, struct journal_found *found,
                          struct err *err)
{
    struct buf text = BUF_INIT;
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_USAGE, "%s: another run uses this journal", journal->path)
                   : fail_journal(journal, err);
    bool good = read_journal(journal, &text, err);
    if (good && is_torn_head(buf_str(&text)))
        good = begin_journal(journal, head, err);
    else if (good)
        good = use_journal(journal, head, mode, buf_str(&text), cache, found, err);
    buf_release(&text);
    return good;
}

struct journal *journal_open(const char *path, const struct journal_head *head,
                             enum journal_mode mode, struct cache *cache,
                             struct journal_found *found, struct err *err)
{
    struct journal *journal = calloc(1, sizeof *journal);
    *found = (struct journal_found){ 0 };
    if (!journal || !(journal->path = strdup(path))) {
        free(journal);
        err_nomem(err);
        return NULL;
    }
    journal->fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0666);
    if (journal->fd < 0)
        fail_journal(journal, err);
    if (journal->fd >= 0 && start_journal(journal, head, mode, cache, found, err)) {
        journal->opened = true;
        return journal;
    }
    struct err ignored = { 0 };
    journal_close(journal, &ignored);
    return NULL;
}

static bool write_waiting(struct journal *journal, struct err *err)
{
    bool good = journal->waiting.failed
                    ? err_nomem(err)
                    : write_journal_bytes(journal, buf_str(&journal->waiting), err);
    buf_clear(&journal->waiting);
    return good;
}

bool journal_add(struct journal *journal, const struct journal_record *record, bool lazy,
                 struct err *err)
{
    struct journal_record numbered = *record;
    if (!journal)
        return true;
    numbered.seq = ++journal->seq;
    journal->failures += record->verdict == VERDICT_INTERESTING;
    journal_print(&numbered, &journal->waiting);
    if (journal->waiting.failed)
        return err_nomem(err);
    return (lazy && journal->waiting.n < WAITING_MAX) || write_waiting(journal, err);
}

bool journal_sync(struct journal *journal, struct err *err)
{
    if (!journal)
        return true;
    if (!write_waiting(journal, err))
        return false;
    return fdatasync(journal->fd) == 0 || errno == EINVAL || errno == ENOTSUP ||
           fail_journal(journal, err);
}

bool journal_close(struct journal *journal, struct err *err)
{
    if (!journal)
        return true;
    bool good = journal->fd < 0 || write_waiting(journal, err);
    if (journal->opened && journal->failures == 0)
        unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    buf_release(&journal->waiting);
    free(journal->path);
    free(journal);
    return good;
}
