#include "tests/harness.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A few paths at a time, so that a test can hold more than one. */
static char *next_path(void)
{
    static char paths[8][4096];
    static unsigned next;
    return paths[next++ % 8];
}

static const char *root(void)
{
    const char *root = getenv("SYMTAPE_ROOT");
    return root ? root : ".";
}

const char *source_path(const char *below)
{
    char *path = next_path();
    snprintf(path, 4096, "%s/%s", root(), below);
    return path;
}

const char *shared_path(const char *below)
{
    const char *shared = getenv("SYMTAPE_SHARED");
    char *path = next_path();
    if (shared)
        snprintf(path, 4096, "%s/%s", shared, below);
    else
        snprintf(path, 4096, "%s/../shared/%s", root(), below);
    return access(path, R_OK) == 0 ? path : NULL;
}

bool is_needed(const char *what)
{
    struct str rest = str_of(getenv("SYMTAPE_NEED"));
    while (rest.n) {
        size_t n = str_find_char(rest, ',');
        if (str_is(str_first(rest, n), what))
            return true;
        rest = str_from(rest, n + 1);
    }
    return false;
}

void require_shared(void)
{
    if (shared_path("README.md"))
        return;
    puts("skipped: no ../shared and no SYMTAPE_SHARED");
    exit(77);
}

struct buf read_file(const char *path)
{
    struct buf text = BUF_INIT;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    while (buf_reserve(&text, 1 << 16)) {
        size_t n = fread(text.p + text.n, 1, 1 << 16, file);
        text.n += n;
        if (n == 0)
            break;
    }
    fclose(file);
    assert_false(text.failed);
    return text;
}

static char temp_dir[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_temp_dir(void)
{
    nftw(temp_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *temp_path(const char *name)
{
    if (!temp_dir[0]) {
        strcpy(temp_dir, "/tmp/symtape-test-XXXXXX");
        assert_non_null(mkdtemp(temp_dir));
        atexit(remove_temp_dir);
    }
    char *path = next_path();
    snprintf(path, 4096, "%s/%s", temp_dir, name);
    return path;
}

void check_str(struct str actual, struct str expected, const char *what, const char *file, int line)
{
    if (str_eq(actual, expected))
        return;
    print_error("%s is\n  \"%.*s\", not\n  \"%.*s\"\n", what, STR_ARG(actual), STR_ARG(expected));
    _fail(file, line);
}

void check_err(struct err *err, enum err_kind kind, const char *part, const char *file, int line)
{
    if (err->kind == kind && (kind == ERR_NONE || strstr(err->text, part))) {
        *err = ERR_INIT;
        return;
    }
    print_error("error of kind %d \"%s\", not kind %d with \"%s\"\n", (int)err->kind,
                err->kind ? err->text : "", (int)kind, part);
    _fail(file, line);
}

void check_alloc_failures(bool (*attempt)(void *arg), void *arg)
{
    for (int onwards = 0; onwards < 2; onwards++) {
        for (size_t n = 1;; n += TESTS_SAMPLE ? 1 + n / 200 : 1) {
            alloc_fail_at(n, onwards);
            bool done = attempt(arg);
            bool failed = alloc_has_failed();
            alloc_fail_at(0, false);
            if (failed)
                continue;
            assert_true(done);
            break;
        }
    }
}
