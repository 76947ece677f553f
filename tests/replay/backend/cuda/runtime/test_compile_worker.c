/* Programs are compiled in processes, whatever becomes of these, by the NVRTC of tests/cuda. */
#include "replay/backend/cuda/runtime/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/transfer.h"

enum { N = 3 };

static struct compiler compiler;

static int set_up(void **state)
{
    (void)state;
    char path[4096];
    struct err err = ERR_INIT;
    snprintf(path, sizeof path, "%s/tests/cuda/libnvrtc.so.13", getenv("SYMTAPE_BUILD"));
    if (!compiler_open_file(&compiler, path, &err))
        fail_msg("%s", err.text);
    return 0;
}

/* An embedded text, a generated one, and one that does not compile. */
static void make_jobs(struct compile_job *jobs)
{
    static const struct program_text programs[N] = {
        { .file = "copy.cu",
          .name = "copy_dense",
          .defines = "#define FROM f32\n#define TO f32\n#define INDEX i32\n#define SAME 1\n" },
        { .name = "one",
          .text = { "struct one { u64 to; };\nKERNEL(one, struct one)\n{\n}\n", 50 } },
        { .name = "bad", .text = { "nonsense\n", 9 } },
    };
    struct err err = ERR_INIT;
    for (int i = 0; i < N; i++) {
        jobs[i] = (struct compile_job){ .program = programs[i], .architecture = 90 };
        if (!programs[i].file)
            jobs[i].program.text = str_of(programs[i].text.p);
        assert_true(program_source(&jobs[i].program, &jobs[i].source, &err));
        buf_putc(&jobs[i].source, '\0');
        assert_false(jobs[i].source.failed);
    }
}

static void check_jobs(struct compile_job *jobs, bool good)
{
    for (int i = 0; i < N; i++) {
        assert_int_equal(jobs[i].compiled, good && strcmp(jobs[i].program.name, "bad") != 0);
        if (jobs[i].compiled)
            assert_true(str_starts(buf_str(&jobs[i].code), STR("\177ELF")));
        buf_release(&jobs[i].source);
        buf_release(&jobs[i].code);
    }
}

static int refuses(nvrtc_program *ret, const char *text, const char *name, int n_headers,
                   const char *const *headers, const char *const *header_names)
{
    (void)ret, (void)text, (void)name, (void)n_headers, (void)headers, (void)header_names;
    return 1;
}

/* This process cannot compile. */
static void test_workers_compile(void **state)
{
    (void)state;
    struct compile_job jobs[N];
    struct compiler broken = compiler;
    static const struct {
        uint32_t processors, threads;
        bool workers;
    } rows[] = {
        { 4, 0, true }, { 4, 4, true }, { 8, 3, false }, { 1, 4, false }, { 2, 0, false }
    };
    broken.nvrtc.create = refuses;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct compile_options how = { .processors = rows[i].processors,
                                             .threads = rows[i].threads,
                                             .worker = "/proc/self/exe" };
        make_jobs(jobs);
        compiler_run_all(&broken, jobs, N, &how);
        check_jobs(jobs, rows[i].workers);
    }
}

/* A program that is too long for a worker is compiled here, and the worker compiles others. */
static void test_long_program(void **state)
{
    (void)state;
    enum { PROGRAMS = 4, LONG = (1 << 24) + 1 };
    struct compile_job all[PROGRAMS][N], jobs[1 + PROGRAMS] = {
        { .program = { .name = "long" }, .architecture = 90 },
    };
    struct compiler broken = compiler;
    const struct compile_options how = { .processors = 4,
                                         .threads = 4,
                                         .worker = "/proc/self/exe" };
    broken.nvrtc.create = refuses;
    assert_true(buf_reserve(&jobs[0].source, LONG));
    memset(jobs[0].source.p, ' ', LONG);
    jobs[0].source.n = LONG;
    jobs[0].source.p[LONG - 1] = '\0';
    for (size_t i = 0; i < PROGRAMS; i++) {
        make_jobs(all[i]);
        jobs[1 + i] = all[i][1];
    }
    compiler_run_all(&broken, jobs, 1 + PROGRAMS, &how);
    for (size_t i = 0; i <= PROGRAMS; i++) {
        assert_int_equal(jobs[i].compiled, i > 0);
        buf_release(&jobs[i].source);
        buf_release(&jobs[i].code);
    }
    for (size_t i = 0; i < PROGRAMS; i++) {
        buf_release(&all[i][0].source);
        buf_release(&all[i][2].source);
    }
}

static void test_lost_workers(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "exit 1",
        "kill -9 $$",
        "exec sleep 1000",
        "exec head -c 1000 /dev/zero >&0",
        "exec printf 'lnrk\\001\\000\\000\\000' >&0",
        /* The reply of another NVRTC, and one with code that does not come. */
        "printf 'lnrk\\013\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\001\\0\\0\\0x' >&0; exec sleep 1000",
        "printf 'lnrk\\015\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\377\\377\\0\\0x' >&0; exec sleep 1000",
        "printf 'lnrk\\015\\0\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\377\\377\\377\\377x' >&0; exit 0",
    };
    struct compile_job jobs[N];
    for (size_t i = 0; i <= sizeof scripts / sizeof *scripts; i++) {
        const char *path = temp_path("worker");
        struct compile_options how = {
            .processors = 4, .threads = 4, .worker = path, .seconds = 1
        };
        unlink(path);
        if (i < sizeof scripts / sizeof *scripts) { /* otherwise there is no such program */
            FILE *file = fopen(path, "w");
            assert_non_null(file);
            fprintf(file, "#!/bin/sh\n%s\n", scripts[i]);
            fclose(file);
            assert_int_equal(chmod(path, 0700), 0);
        }
        make_jobs(jobs);
        compiler_run_all(&compiler, jobs, N, &how);
        check_jobs(jobs, true);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
        assert_int_equal(errno, ECHILD);
    }
}

/* Processes that are started first; jobs that are added one by one, and taken in another order; and
 * a pool that is freed with jobs that nobody waits for. */
static void test_pool(void **state)
{
    (void)state;
    for (int started = 0; started < 2; started++) {
        struct compile_job jobs[N];
        const struct compile_options how = { .processors = 4,
                                             .threads = 4,
                                             .worker = started ? "/proc/self/exe" : NULL };
        struct compile_pool *pool = compile_pool_new(&compiler, &how);
        assert_non_null(pool);
        if (started)
            compile_pool_start(pool);
        make_jobs(jobs);
        for (int i = 0; i < N; i++)
            compile_pool_add(pool, &jobs[i], 1);
        for (int i = N; i-- > 0;)
            compile_pool_wait(pool, &jobs[i]);
        assert_true(compile_pool_take_ns(pool) > 0);
        assert_int_equal(compile_pool_take_ns(pool), 0);
        check_jobs(jobs, true);
        make_jobs(jobs);
        compile_pool_add(pool, jobs, N);
        compile_pool_free(pool);
        for (int i = 0; i < N; i++) {
            buf_release(&jobs[i].source);
            buf_release(&jobs[i].code);
        }
        compile_pool_free(NULL);
    }
}

static void test_serve_refuses(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    int ends[2];
    char nothing[64] = "";
    assert_false(compile_serve(0, "/nowhere/libnvrtc.so.13", &err));
    assert_err(&err, ERR_ENV, "/nowhere/libnvrtc.so.13");
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(transfer_write(ends[0], nothing, sizeof nothing, TRANSFER_NO_LIMIT));
    close(ends[0]);
    assert_false(compile_serve(ends[1], compiler.library.path, &err));
    assert_err(&err, ERR_USAGE, "--kernels: the input is no program of a symtape");
    close(ends[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_compile), cmocka_unit_test(test_long_program),
        cmocka_unit_test(test_lost_workers),    cmocka_unit_test(test_pool),
        cmocka_unit_test(test_serve_refuses),
    };
    struct err err = ERR_INIT;
    setenv("XDG_CACHE_HOME", temp_path("cache"), 1);
    if (argc == 4 && strcmp(argv[1], "worker") == 0 && strcmp(argv[2], "--kernels") == 0)
        return compile_serve(STDIN_FILENO, argv[3], &err) ? 0 : 1;
    return cmocka_run_group_tests(tests, set_up, NULL);
}
