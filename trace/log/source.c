#include "trace/log/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/log/source_codec.h"

enum { INPUT_SIZE = 256 * 1024 };

struct source_state {
    int fd;
    bool owns_fd;
    const volatile sig_atomic_t *stop; /* NULL, or checked while no bytes arrive */
    source_reader *reader;             /* reads instead of the file; NULL */
    void *reader_user;

    bool bounded;  /* a regular file: read up to `limit`, in file_bytes */
    bool extended; /* its growth was already included, which happens once */
    uint64_t limit;
    uint64_t start; /* offset where reading began: standard input may be half read */
    bool at_end;

    struct source_meter *meter; /* NULL when there is no observer */
    bool windows_only;
    const struct source_codec *codec; /* NULL for input that is not compressed */
    void *decoder;
    struct source_input
        input; /* bytes that were read and are not handed out or decoded yet; in `buffer` */
    struct err failure; /* sticky */
    unsigned char buffer[INPUT_SIZE];
};

static bool is_digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return true;
}

/* Returns whether the text begins like "V1120 07:39:42." (torch/_logging/_internal.py,
 * TorchLogsFormatter.format). */
static bool begins_like_log(struct str s)
{
    return s.n >= 15 && memchr("VIWEC", s.p[0], 5) && is_digits(s.p + 1, 4) && s.p[5] == ' ' &&
           is_digits(s.p + 6, 2) && s.p[8] == ':' && is_digits(s.p + 9, 2) && s.p[11] == ':' &&
           is_digits(s.p + 12, 2);
}

/* Distinguishes a zstd frame from the sixteen kinds of skippable frames; a tape is one of those. */
static enum source_kind zstd_kind(struct str s)
{
    if (str_starts(s, STR("\x28\xB5\x2F\xFD")))
        return SOURCE_ZSTD;
    if ((s.p[0] & 0xF0) != 0x50 || !str_starts(str_from(s, 1), STR("\x2A\x4D\x18")))
        return SOURCE_OTHER;
    bool tape = s.p[0] == 0x50 && str_starts(str_from(s, 8), STR("symtape\0"));
    return tape ? SOURCE_TAPE : SOURCE_ZSTD;
}

enum source_kind source_kind_of(struct str first_bytes)
{
    struct str s = first_bytes;
    if (s.n == 0)
        return SOURCE_EMPTY;
    if (begins_like_log(s))
        return SOURCE_LOG;
    if (str_starts(s, STR("\x1F\x8B")))
        return SOURCE_GZIP;
    if (str_starts(s, STR("PK\x03\x04")) || str_starts(s, STR("PK\x05\x06")))
        return SOURCE_ZIP;
    return zstd_kind(s);
}

const char *source_kind_name(enum source_kind kind)
{
    static const char *const names[] = {
        [SOURCE_EMPTY] = "empty file", [SOURCE_LOG] = "log",   [SOURCE_ZSTD] = "zstd data",
        [SOURCE_GZIP] = "gzip data",   [SOURCE_TAPE] = "tape", [SOURCE_ZIP] = "zip archive",
        [SOURCE_OTHER] = "file",
    };
    return names[kind];
}

/* Returns how many bytes may still be read. At the first end of the file, its size is queried
 * once more. */
static uint64_t room(struct source *source)
{
    struct source_state *state = source->state;
    struct stat info;
    if (source->file_bytes >= state->limit && !state->extended) {
        state->extended = true;
        if (fstat(state->fd, &info) == 0 && (uint64_t)info.st_size > state->start)
            state->limit = (uint64_t)info.st_size - state->start;
    }
    return state->limit > source->file_bytes ? state->limit - source->file_bytes : 0;
}

/* Returns whether reading can block, so that it must wait in a way that `stop` ends. */
static bool waits(const struct source *source)
{
    return source->once && source->state->stop;
}

/* Waits for bytes. A signal may arrive just before the wait begins, hence the time-out. */
static bool wait_for_bytes(struct source *source, struct err *err)
{
    enum { LOOK_MS = 100 };
    struct pollfd fd = { .fd = source->state->fd, .events = POLLIN };
    int n = 0;
    while (n == 0 && !*source->state->stop) {
        n = poll(&fd, 1, LOOK_MS);
        if (n < 0 && errno == EINTR)
            n = 0;
    }
    if (n < 0)
        return err_errno(err, "%s", source->path);
    return n > 0 || err_set(err, ERR_INTERRUPTED, "%s: interrupted", source->path);
}

/* Reads bytes of the file without decoding; *ret_n is 0 at its end. */
static bool read_raw(struct source *source, void *to, size_t size, size_t *ret_n, struct err *err)
{
    struct source_state *state = source->state;
    uint64_t most = state->bounded ? room(source) : SSIZE_MAX;
    *ret_n = 0;
    if (state->reader) {
        bool ok = state->reader(state->reader_user, to, size, ret_n, err);
        state->at_end = !ok || *ret_n == 0;
        source->file_bytes += *ret_n;
        return ok;
    }
    if (state->at_end || most == 0) {
        state->at_end = true;
        return true;
    }
    ssize_t n;
    do { /* another reader may have been faster */
        if (waits(source) && !wait_for_bytes(source, err))
            return false;
        n = read(state->fd, to, size < most ? size : (size_t)most);
    } while (n < 0 && waits(source) && (errno == EAGAIN || errno == EINTR));
    if (n < 0 && errno == EINTR)
        return err_set(err, ERR_INTERRUPTED, "%s: interrupted", source->path);
    if (n < 0)
        return err_errno(err, "%s", source->path);
    state->at_end = n == 0;
    source->file_bytes += (uint64_t)n;
    *ret_n = (size_t)n;
    if (state->meter && !state->windows_only)
        state->meter->stored(state->meter, (uint64_t)n);
    return true;
}

static bool fill_input(struct source *source, struct err *err)
{
    struct source_input *input = &source->state->input;
    input->p = source->state->buffer;
    return read_raw(source, source->state->buffer, INPUT_SIZE, &input->n, err);
}

/* Reads the first bytes, which a pipe may deliver one by one. */
static bool read_first_bytes(struct source *source, struct err *err)
{
    struct source_state *state = source->state;
    struct err why = { 0 };
    size_t n = 0;
    state->input = (struct source_input){ state->buffer, 0 };
    while (state->input.n < SOURCE_KIND_BYTES && !state->at_end) {
        if (!read_raw(source, state->buffer + state->input.n, INPUT_SIZE - state->input.n, &n,
                      &why)) {
            if (why.kind == ERR_INTERRUPTED && waits(source))
                break;
            *err = why;
            return false;
        }
        state->input.n += n;
    }
    source->kind = source_kind_of((struct str){ (const char *)state->buffer, state->input.n });
    return true;
}

/* Opens the file. It does not wait for a writer of a FIFO, since that could not be ended. */
static bool open_source_file(struct source *source, const char *path)
{
    struct source_state *state = source->state;
    bool is_stdin = strcmp(path, "-") == 0;
    int flags = O_RDONLY | O_CLOEXEC | (state->stop ? O_NONBLOCK : 0);
    state->fd = is_stdin ? STDIN_FILENO : open(path, flags);
    state->owns_fd = !is_stdin && state->fd >= 0;
    return state->fd >= 0;
}

/* Writes the bytes to a file without a name, which becomes the source. */
static bool open_bytes(struct source *source, struct str bytes)
{
    struct source_state *state = source->state;
    state->fd = memfd_create("source", MFD_CLOEXEC);
    state->owns_fd = state->fd >= 0;
    while (state->fd >= 0 && bytes.n > 0) {
        ssize_t wrote = write(state->fd, bytes.p, bytes.n);
        if (wrote < 0 && errno != EINTR)
            return false;
        bytes = str_from(bytes, wrote > 0 ? (size_t)wrote : 0);
    }
    return state->fd >= 0 && lseek(state->fd, 0, SEEK_SET) == 0;
}

static bool examine_file(struct source *source, bool opened, struct err *err)
{
    struct source_state *state = source->state;
    struct stat info;
    if (!opened || fstat(state->fd, &info) != 0)
        return err_errno(err, "%s", source->path);
    if (S_ISDIR(info.st_mode))
        return err_set(err, ERR_USAGE, "%s is a folder", source->path);
    source->once = !S_ISREG(info.st_mode);
    off_t start = lseek(state->fd, 0, SEEK_CUR);
    state->start = start > 0 ? (uint64_t)start : 0;
    /* Files of /proc report a size of 0, but are not empty. */
    state->bounded = S_ISREG(info.st_mode) && (uint64_t)info.st_size > state->start;
    state->limit = state->bounded ? (uint64_t)info.st_size - state->start : 0;
    if (state->bounded)
        (void)posix_fadvise(state->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return true;
}

static bool open_codec(struct source *source, struct err *err)
{
    struct source_state *state = source->state;
    state->codec = source->kind == SOURCE_ZSTD   ? &source_zstd
                   : source->kind == SOURCE_GZIP ? &source_gzip
                                                 : NULL;
    if (state->codec)
        state->decoder = state->codec->open();
    return !state->codec || state->decoder || err_nomem(err);
}

static struct source *source_alloc(const char *path)
{
    struct source *source = calloc(1, sizeof *source);
    struct source_state *state = source ? malloc(sizeof *state) : NULL;
    char *name = state ? strdup(strcmp(path, "-") == 0 ? "standard input" : path) : NULL;
    if (!name) {
        free(state);
        free(source);
        return NULL;
    }
    memset(state, 0, offsetof(struct source_state, buffer));
    source->path = name;
    source->state = state;
    return source;
}

static struct source *open_either(const char *path, const struct str *bytes,
                                  const volatile sig_atomic_t *stop, struct err *err)
{
    struct source *source = source_alloc(path);
    if (!source) {
        err_nomem(err);
        return NULL;
    }
    source->state->stop = stop;
    bool opened = bytes ? open_bytes(source, *bytes) : open_source_file(source, path);
    if (examine_file(source, opened, err) && read_first_bytes(source, err) &&
        open_codec(source, err))
        return source;
    source_close(source);
    return NULL;
}

struct source *source_open(const char *path, struct err *err)
{
    return open_either(path, NULL, NULL, err);
}

struct source *source_open_until(const char *path, const volatile sig_atomic_t *stop,
                                 struct err *err)
{
    return open_either(path, NULL, stop, err);
}

struct source *source_of_bytes(const char *name, struct str bytes, struct err *err)
{
    return open_either(name, &bytes, NULL, err);
}

struct source *source_of_reader(const char *name, source_reader *read, void *user, struct err *err)
{
    struct source *source = source_alloc(name);
    if (!source) {
        err_nomem(err);
        return NULL;
    }
    source->kind = SOURCE_LOG;
    source->state->fd = -1;
    source->state->reader = read;
    source->state->reader_user = user;
    return source;
}

void source_set_meter(struct source *source, struct source_meter *meter)
{
    source->state->meter = meter;
    if (meter)
        meter->stored(meter, source->file_bytes);
}

void source_set_window_meter(struct source *source, struct source_meter *meter)
{
    source->state->meter = meter;
    source->state->windows_only = true;
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->state->decoder)
        source->state->codec->close(source->state->decoder);
    if (source->state->owns_fd)
        close(source->state->fd);
    free((char *)source->path);
    free(source->state);
    free(source);
}

static bool read_plain(struct source *source, char *to, size_t size, size_t *ret_n, struct err *err)
{
    struct source_input *input = &source->state->input;
    if (input->n == 0)
        return read_raw(source, to, size, ret_n, err);
    *ret_n = input->n < size ? input->n : size;
    memcpy(to, input->p, *ret_n);
    input->p += *ret_n;
    input->n -= *ret_n;
    return true;
}

static bool fail_source(struct source *source, enum source_step step, const char *why,
                        struct err *err)
{
    if (step == STEP_NOMEM)
        return err_nomem(err) || err_at(err, "%s", source->path);
    uint64_t offset = source->file_bytes - source->state->input.n;
    if (step == STEP_DAMAGE) {
        source->damage = why;
        source->damage_offset = offset;
    }
    return err_set(err, ERR_INPUT, "%s: offset %llu: %s", source->path, (unsigned long long)offset,
                   why);
}

/* Fills `to` with decoded bytes, unless the end or a failure comes first. */
static bool read_decoded(struct source *source, char *to, size_t size, size_t *ret_n,
                         struct err *err)
{
    struct source_state *state = source->state;
    enum source_step step = STEP_MORE;
    const char *why = NULL;
    for (*ret_n = 0; *ret_n < size && step == STEP_MORE;) {
        if (state->input.n == 0 && !state->at_end && !fill_input(source, err))
            return false;
        bool last = state->input.n == 0;
        size_t made = 0;
        uint64_t window = state->meter ? state->codec->window(state->decoder, &state->input) : 0;
        if (window)
            state->meter->window(state->meter, window);
        step = state->codec->step(state->decoder, &state->input, to + *ret_n, size - *ret_n, &made,
                                  &why);
        *ret_n += made;
        if (last && made == 0)
            break;
    }
    return step == STEP_MORE || fail_source(source, step, why, err);
}

bool source_read(struct source *source, void *buffer, size_t size, size_t *ret_n, struct err *err)
{
    struct source_state *state = source->state;
    *ret_n = 0;
    if (!err_is_set(&state->failure) && size > 0) {
        if (state->codec)
            read_decoded(source, buffer, size, ret_n, &state->failure);
        else
            read_plain(source, buffer, size, ret_n, &state->failure);
        source->offset += *ret_n;
    }
    /* Bytes that were decoded before the failure are returned first; the next call returns the
     * failure. */
    if (err_is_set(&state->failure) && *ret_n == 0)
        return err_copy(err, &state->failure);
    return true;
}
