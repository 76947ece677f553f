#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_BLOCKSIZE_MAX */
#include <zstd.h>

#include "tests/harness.h"
#include "trace/log/source.h"

#define HEADER "V1120 07:39:42.757000 901 torch/_dynamo/utils.py:2126] {\"str\": [\"a\", 0]}\n"

/* --- inputs --- */

static void put(const char *path, struct str bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, file), bytes.n);
    fclose(file);
}

static const char *put_temp(const char *name, struct str bytes)
{
    const char *path = temp_path(name);
    put(path, bytes);
    return path;
}

/* Compresses badly enough to make many blocks. */
static struct buf some_text(size_t n)
{
    struct buf text = BUF_INIT;
    uint64_t x = 88172645463325252u;
    while (text.n < n) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        buf_printf(&text, HEADER "\t%llx\n", (unsigned long long)x);
    }
    text.n = n;
    return text;
}

static void put_zstd(struct buf *out, struct str text, int window_log)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_inBuffer from = { text.p, text.n, 0 };
    assert_true(buf_reserve(out, ZSTD_compressBound(text.n) + 64));
    ZSTD_outBuffer to = { out->p + out->n, out->cap - out->n, 0 };
    /* Not in one piece, or the window would shrink to the text. */
    assert_int_not_equal(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush), (size_t)-1);
    assert_int_equal(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end), 0);
    out->n += to.pos;
    ZSTD_freeCCtx(context);
}

static void put_gzip(struct buf *out, struct str text)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(buf_reserve(out, deflateBound(&z, (uLong)text.n)));
    z.next_in = (unsigned char *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (unsigned char *)out->p + out->n;
    z.avail_out = (uInt)(out->cap - out->n);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n = (size_t)((char *)z.next_out - out->p);
    deflateEnd(&z);
}

static void put_skippable(struct buf *out, struct str content)
{
    buf_le32(out, 0x184D2A53);
    buf_le32(out, (uint32_t)content.n);
    buf_put(out, content);
}

/* Everything, `step` bytes at a time; the error is left for the caller. */
static struct buf read_all(struct source *source, size_t step, struct err *err)
{
    struct buf all = BUF_INIT;
    size_t n = 1;
    while (n > 0) {
        assert_true(buf_reserve(&all, step));
        if (!source_read(source, all.p + all.n, step, &n, err))
            break;
        assert_in_range(n, 0, step);
        all.n += n;
        assert_int_equal(source->offset, all.n);
    }
    return all;
}

static struct source *open_good(const char *path, enum source_kind kind)
{
    struct err err = ERR_INIT;
    struct source *source = source_open(path, &err);
    assert_no_err(&err);
    assert_non_null(source);
    assert_int_equal(source->kind, kind);
    return source;
}

static void check_reads(const char *path, enum source_kind kind, struct str expected)
{
    static const size_t steps[] = { 1 << 20, 4093, 131072 };
    for (size_t i = 0; i < 3; i++) {
        struct err err = ERR_INIT;
        struct source *source = open_good(path, kind);
        struct buf all = read_all(source, steps[i], &err);
        assert_no_err(&err);
        assert_null(source->damage);
        assert_true(str_eq(buf_str(&all), expected));
        buf_release(&all);
        source_close(source);
    }
}

/* --- kinds --- */

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        struct str bytes;
        enum source_kind kind;
    } cases[] = {
        { { "", 0 }, SOURCE_EMPTY },
        { { HEADER, sizeof HEADER - 1 }, SOURCE_LOG },
        { { "V1120 07:39:42.7", 15 }, SOURCE_LOG },
        { { "V1120 07:39:42.7", 13 }, SOURCE_OTHER },
        { { "X1120 07:39:42.757", 18 }, SOURCE_OTHER },
        { { "V112x 07:39:42.757", 18 }, SOURCE_OTHER },
        { { "\x28\xB5\x2F\xFD", 4 }, SOURCE_ZSTD },
        { { "\x28\xB5\x2F", 3 }, SOURCE_OTHER },
        { { "\x50\x2A\x4D\x18\x08\0\0\0symtape", 16 }, SOURCE_TAPE },
        { { "\x50\x2A\x4D\x18\x08\0\0\0symtap", 14 }, SOURCE_ZSTD },
        { { "\x51\x2A\x4D\x18\x08\0\0\0symtape", 16 }, SOURCE_ZSTD },
        { { "\x5F\x2A\x4D\x18", 4 }, SOURCE_ZSTD },
        { { "\x1F\x8B", 2 }, SOURCE_GZIP },
        { { "PK\x03\x04", 4 }, SOURCE_ZIP },
        { { "PK\x05\x06", 4 }, SOURCE_ZIP },
        { { "PKwhat", 6 }, SOURCE_OTHER },
        { { "\0", 1 }, SOURCE_OTHER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (source_kind_of(cases[i].bytes) != cases[i].kind)
            fail_msg("case %zu: %s", i, source_kind_name(source_kind_of(cases[i].bytes)));
    }
}

/* --- what is whole --- */

static void test_plain(void **state)
{
    (void)state;
    struct buf text = some_text(3 << 20);
    check_reads(put_temp("plain", buf_str(&text)), SOURCE_LOG, buf_str(&text));
    check_reads(put_temp("empty", STR("")), SOURCE_EMPTY, STR(""));
    check_reads(put_temp("one", STR("x")), SOURCE_OTHER, STR("x"));
    check_reads(put_temp("zip", STR("PK\x03\x04 as it is")), SOURCE_ZIP,
                STR("PK\x03\x04 as it is"));
    buf_release(&text);
}

static void test_zstd_frames(void **state)
{
    (void)state;
    struct buf text = some_text(3 << 20), packed = BUF_INIT;
    struct str all = buf_str(&text);
    put_skippable(&packed, STR("before"));
    put_zstd(&packed, str_first(all, 1000000), 20);
    put_zstd(&packed, STR(""), 20);
    put_skippable(&packed, STR(""));
    put_zstd(&packed, str_from(all, 1000000), 17);
    put_skippable(&packed, STR("after"));
    check_reads(put_temp("frames.zst", buf_str(&packed)), SOURCE_ZSTD, all);
    buf_release(&packed);
    buf_release(&text);
}

static void test_gzip_members(void **state)
{
    (void)state;
    struct buf text = some_text(3 << 20), packed = BUF_INIT;
    struct str all = buf_str(&text);
    put_gzip(&packed, str_first(all, 1000000));
    put_gzip(&packed, STR(""));
    put_gzip(&packed, str_from(all, 1000000));
    buf_put(&packed, STR("\0\0\0\0\0\0\0"));
    check_reads(put_temp("members.gz", buf_str(&packed)), SOURCE_GZIP, all);
    buf_release(&packed);
    buf_release(&text);
}

static void test_tape_is_not_decoded(void **state)
{
    (void)state;
    struct str tape = STR("\x50\x2A\x4D\x18\x08\0\0\0symtape\0 and more");
    check_reads(put_temp("tape", tape), SOURCE_TAPE, tape);
}

/* --- what is damaged --- */

/* All that zstd(1) would give for the blocks before byte `cut`, then a failure that stays. */
static void check_cut(const char *path, struct str packed, size_t cut, struct str text,
                      const char *why)
{
    struct err err = ERR_INIT;
    char byte;
    size_t n;
    put(path, str_first(packed, cut));
    struct source *source = source_open(path, &err);
    assert_non_null(source);
    struct buf all = read_all(source, 1 << 20, &err);
    assert_true(str_starts(text, buf_str(&all)));
    assert_err(&err, ERR_INPUT, why);
    assert_non_null(source->damage);
    assert_int_equal(source->damage_offset, cut);
    assert_false(source_read(source, &byte, 1, &n, &err));
    assert_int_equal(n, 0);
    assert_err(&err, ERR_INPUT, path);
    buf_release(&all);
    source_close(source);
}

static void test_cut(void **state)
{
    (void)state;
    struct buf text = some_text(400000), zstd = BUF_INIT, gzip = BUF_INIT;
    put_zstd(&zstd, buf_str(&text), 20);
    put_gzip(&gzip, buf_str(&text));
    for (size_t cut = 4; cut < zstd.n; cut += 1 + zstd.n / 61)
        check_cut(temp_path("cut.zst"), buf_str(&zstd), cut, buf_str(&text),
                  "zstd: ends inside a frame");
    for (size_t cut = 3; cut < gzip.n; cut += 1 + gzip.n / 61)
        check_cut(temp_path("cut.gz"), buf_str(&gzip), cut, buf_str(&text),
                  "gzip: ends inside a member");
    buf_release(&text);
    buf_release(&zstd);
    buf_release(&gzip);
}

/* Gives the n-th block of a frame that put_zstd wrote the type that is reserved (RFC
 * 8878, 3.1.1.2); returns where its header is. */
static size_t spoil_block(struct buf *packed, unsigned nth)
{
    size_t at = 6; /* magic number, frame header descriptor, window descriptor */
    for (unsigned i = 0; i < nth; i++) {
        uint32_t header = 0;
        memcpy(&header, packed->p + at, 3);
        at += 3 + (header >> 3);
        assert_true(at + 3 < packed->n);
    }
    packed->p[at] |= 6;
    return at;
}

/* What comes before the damaged block is handed out, all of it, whatever the caller's buffer. */
static void test_damaged_block(void **state)
{
    (void)state;
    static const size_t steps[] = { 4 << 20, 1000, 131072 };
    struct buf text = some_text(4 << 20), packed = BUF_INIT;
    put_zstd(&packed, buf_str(&text), 20);
    size_t where = spoil_block(&packed, 12);
    const char *path = put_temp("damaged.zst", buf_str(&packed));
    for (size_t i = 0; i < 3; i++) {
        struct err err = ERR_INIT;
        struct source *source = open_good(path, SOURCE_ZSTD);
        struct buf all = read_all(source, steps[i], &err);
        assert_err(&err, ERR_INPUT, "damaged.zst: offset ");
        assert_string_equal(source->damage, "zstd: damaged data");
        assert_int_equal(source->damage_offset, where);
        assert_int_equal(all.n, 12 * ZSTD_BLOCKSIZE_MAX);
        assert_true(str_starts(buf_str(&text), buf_str(&all)));
        buf_release(&all);
        source_close(source);
    }
    buf_release(&packed);
    buf_release(&text);
}

static void check_damage(const char *name, struct str bytes, struct str good, const char *why)
{
    struct err err = ERR_INIT;
    struct source *source = source_open(put_temp(name, bytes), &err);
    assert_non_null(source);
    struct buf all = read_all(source, 1 << 20, &err);
    assert_str_eq(buf_str(&all), good);
    assert_err(&err, ERR_INPUT, why);
    assert_non_null(source->damage);
    buf_release(&all);
    source_close(source);
}

static void test_damage_after_good_data(void **state)
{
    (void)state;
    struct buf zstd = BUF_INIT, gzip = BUF_INIT;
    put_zstd(&zstd, STR("good"), 20);
    zstd.p[zstd.n - 1] ^= 1;
    check_damage("sum.zst", buf_str(&zstd), STR("good"), "does not match its checksum");
    zstd.p[zstd.n - 1] ^= 1;
    buf_puts(&zstd, "garbage");
    check_damage("tail.zst", buf_str(&zstd), STR("good"), "the data after the last frame");
    put_gzip(&gzip, STR("good"));
    gzip.p[gzip.n - 8] ^= 1;
    check_damage("sum.gz", buf_str(&gzip), STR("good"), "gzip: damaged data");
    gzip.p[gzip.n - 8] ^= 1;
    buf_puts(&gzip, "garbage");
    check_damage("tail.gz", buf_str(&gzip), STR("good"), "gzip: damaged data");
    buf_release(&zstd);
    buf_release(&gzip);
}

/* A frame header may ask for much; only up to 128 MiB is given. */
static void test_window(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf text = some_text(1 << 20), packed = BUF_INIT;
    size_t n;
    char byte;
    put_zstd(&packed, buf_str(&text), 27);
    check_reads(put_temp("long.zst", buf_str(&packed)), SOURCE_ZSTD, buf_str(&text));
    packed.p[5] = (char)((28 - 10) << 3); /* RFC 8878, 3.1.1.1.2: the exponent of the window */
    struct source *source = open_good(put_temp("longer.zst", buf_str(&packed)), SOURCE_ZSTD);
    assert_false(source_read(source, &byte, 1, &n, &err));
    assert_err(&err, ERR_INPUT, "needs a window of more than 128 MiB");
    assert_null(source->damage);
    source_close(source);
    buf_release(&packed);
    buf_release(&text);
}

struct counter {
    struct source_meter meter;
    uint64_t stored, window;
};

static void count_stored(struct source_meter *meter, uint64_t bytes)
{
    ((struct counter *)meter)->stored += bytes;
}

static void count_window(struct source_meter *meter, uint64_t bytes)
{
    struct counter *counter = (struct counter *)meter;
    counter->window = bytes > counter->window ? bytes : counter->window;
}

/* Windows as zstd writes them: in a byte of their own, or as the content of a frame in one segment.
 */
static void test_meter(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        int log;
        uint64_t window;
    } frames[] = { { 3 << 20, 20, 1 << 20 },
                   { 100, 27, 1 << 27 },
                   { 100, 0, 100 },
                   { 300, 0, 300 },
                   { 70000, 0, 70000 } };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct err err = ERR_INIT;
        struct counter counter = { .meter = { count_stored, count_window, NULL } };
        struct buf text = some_text(frames[i].size), packed = BUF_INIT;
        size_t n = 1;
        if (frames[i].log)
            put_zstd(&packed, buf_str(&text), frames[i].log);
        else if (buf_reserve(&packed, ZSTD_compressBound(text.n)))
            packed.n = ZSTD_compress(packed.p, packed.cap, text.p, text.n, 3);
        struct source *source = open_good(put_temp("meter.zst", buf_str(&packed)), SOURCE_ZSTD);
        source_set_meter(source, &counter.meter);
        char *to = malloc(SOURCE_READ_SIZE);
        while (n > 0)
            assert_true(source_read(source, to, SOURCE_READ_SIZE, &n, &err));
        assert_int_equal(counter.stored, packed.n);
        assert_int_equal(counter.window, frames[i].window);
        free(to);
        source_close(source);
        buf_release(&packed);
        buf_release(&text);
    }
}

static void test_cannot_open(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_null(source_open("/no/such/file", &err));
    assert_err(&err, ERR_ENV, "/no/such/file: No such file or directory");
    assert_null(source_open("/", &err));
    assert_err(&err, ERR_USAGE, "/ is a folder");
    source_close(NULL);
}

/* --- files that change, pipes --- */

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Growth until the first end is reached counts, growth after it does not: no busy writer can keep
 * a reader for ever. */
static void test_growing_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char chunk[8];
    size_t n, total = 0;
    const char *path = put_temp("growing", STR("0123456789"));
    struct source *source = open_good(path, SOURCE_OTHER);
    append(path, "abcdef");
    do {
        assert_true(source_read(source, chunk, sizeof chunk, &n, &err));
        total += n;
        append(path, "more and more");
        assert_in_range(total, 0, 16 + 2 * 13);
    } while (n > 0);
    assert_true(total >= 10);
    source_close(source);
}

static void test_shrinking_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf text = some_text(1 << 20);
    const char *path = put_temp("shrinking", buf_str(&text));
    struct source *source = open_good(path, SOURCE_LOG);
    assert_int_equal(truncate(path, 300000), 0);
    struct buf all = read_all(source, 100000, &err);
    assert_no_err(&err);
    assert_int_equal(all.n, 300000);
    buf_release(&all);
    buf_release(&text);
    source_close(source);
}

struct writer {
    int fd;
    struct str bytes;
};

static void *write_slowly(void *arg)
{
    const struct writer *writer = arg;
    for (size_t i = 0; i < writer->bytes.n; i += i < 100 ? 1 : 777) {
        struct str piece = str_first(str_from(writer->bytes, i), i < 100 ? 1 : 777);
        if (write(writer->fd, piece.p, piece.n) != (ssize_t)piece.n)
            break;
    }
    close(writer->fd);
    return NULL;
}

static void test_standard_input(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf text = some_text(200000), packed = BUF_INIT;
    int ends[2], kept = dup(STDIN_FILENO);
    pthread_t thread;
    put_zstd(&packed, buf_str(&text), 20);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    struct writer writer = { ends[1], buf_str(&packed) };
    assert_int_equal(pthread_create(&thread, NULL, write_slowly, &writer), 0);
    struct source *source = open_good("-", SOURCE_ZSTD);
    assert_string_equal(source->path, "standard input");
    struct buf all = read_all(source, 10000, &err);
    pthread_join(thread, NULL);
    source_close(source);
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_no_err(&err);
    assert_true(str_eq(buf_str(&all), buf_str(&text)));
    buf_release(&all);
    buf_release(&text);
    buf_release(&packed);
}

static void ignore_signal(int sig)
{
    (void)sig;
}

static void test_interrupted(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct sigaction action = { .sa_handler = ignore_signal };
    const char *path = temp_path("fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    int keep_open = open(path, O_RDWR);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    ualarm(20000, 0);
    assert_null(source_open(path, &err));
    assert_err(&err, ERR_INTERRUPTED, "fifo: interrupted");
    close(keep_open);
}

/* A FIFO of so many bytes whose writer is still there; -1: there was none yet. */
static struct source *open_until(int n, const volatile sig_atomic_t *stop, int *writer)
{
    struct err err = ERR_INIT;
    const char *path = temp_path("until");
    assert_int_equal(mkfifo(path, 0600), 0);
    *writer = n >= 0 ? open(path, O_RDWR) : -1;
    for (int i = 0; i < n; i++)
        assert_int_equal(write(*writer, "x", 1), 1);
    struct source *source = source_open_until(path, stop, &err);
    assert_no_err(&err);
    assert_non_null(source);
    assert_true(source->once);
    assert_int_equal(unlink(path), 0);
    return source;
}

/* Stopped while it waits: all that came is handed out, then the reason is told, again and again. */
static void test_stopped(void **state)
{
    (void)state;
    static char bytes[100000];
    volatile sig_atomic_t stop = 0;
    for (int n = -1; n < 200; n += 67) {
        struct err err = ERR_INIT;
        int writer;
        size_t got = 1, sum = 0;
        stop = n < SOURCE_KIND_BYTES; /* it would wait for more in opening */
        struct source *source = open_until(n, &stop, &writer);
        stop = 1;
        while (source_read(source, bytes, sizeof bytes, &got, &err)) {
            assert_true(got > 0);
            sum += got;
        }
        assert_err(&err, ERR_INTERRUPTED, "until: interrupted");
        assert_int_equal(sum, n < 0 ? 0 : n);
        assert_false(source_read(source, bytes, sizeof bytes, &got, &err));
        assert_err(&err, ERR_INTERRUPTED, "until: interrupted");
        source_close(source);
        if (writer >= 0)
            close(writer);
    }
}

/* Not stopped: to its end, with writers that come late. */
static void test_until_the_end(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = temp_path("late");
    const volatile sig_atomic_t stop = 0;
    char bytes[100];
    size_t n;
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        int fd = open(path, O_WRONLY);
        _exit(fd >= 0 && write(fd, "late", 4) == 4 ? 0 : 1);
    }
    struct source *source = source_open_until(path, &stop, &err);
    assert_non_null(source);
    assert_true(source_read(source, bytes, sizeof bytes, &n, &err));
    assert_str_is(((struct str){ bytes, n }), "late");
    assert_true(source_read(source, bytes, sizeof bytes, &n, &err));
    assert_int_equal(n, 0);
    source_close(source);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- memory --- */

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    char bytes[64];
    size_t n = 0;
    struct source *source = source_open(arg, &err);
    bool good = source && source_read(source, bytes, sizeof bytes, &n, &err) && n == 4;
    source_close(source);
    return good;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf zstd = BUF_INIT, gzip = BUF_INIT;
    put_zstd(&zstd, STR("good"), 20);
    put_gzip(&gzip, STR("good"));
    check_alloc_failures(attempt, (void *)(uintptr_t)put_temp("m.log", STR("good")));
    check_alloc_failures(attempt, (void *)(uintptr_t)put_temp("m.zst", buf_str(&zstd)));
    check_alloc_failures(attempt, (void *)(uintptr_t)put_temp("m.gz", buf_str(&gzip)));
    buf_release(&zstd);
    buf_release(&gzip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_zstd_frames),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_tape_is_not_decoded),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_damaged_block),
        cmocka_unit_test(test_damage_after_good_data),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_meter),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_growing_file),
        cmocka_unit_test(test_shrinking_file),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_until_the_end),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
