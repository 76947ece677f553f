/* A list of calls read, and Dynamo's caches replayed over it: MB/s of text, ns a call, and with
 * `plain` ns for each look-up that evaluates all guards anew.
 *
 * usage: bench_calls LOG CALLS [plain] */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "profile/calls/cache/cache_run.h"
#include "trace/log/source.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static bool read_all(const char *path, struct call_log *log, size_t *bytes, struct err *err)
{
    struct source *in = source_open(path, err);
    struct call_reader *reader = call_reader_new(log);
    static char piece[SOURCE_READ_SIZE];
    bool ok = in && reader;
    for (size_t n = 1; ok && n > 0; *bytes += n)
        ok = source_read(in, piece, sizeof piece, &n, err) &&
             call_reader_take(reader, (struct str){ piece, n }, err);
    ok = ok && call_reader_end(reader, err);
    call_reader_free(reader);
    source_close(in);
    return ok;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    size_t bytes = 0;
    struct cache_options options = { .no_memo = argc > 3 && !strcmp(argv[3], "plain") };
    if (argc < 3)
        return 2;
    struct trace *trace = trace_open(argv[1], NULL, &err);
    double begin = now();
    bool ok = trace && read_all(argv[2], &log, &bytes, &err);
    double read = now() - begin, before = peak_mb();
    begin = now();
    ok = ok && cache_run_make(&run, trace, 0, &log, &options, &err);
    double ran = now() - begin, checked = 0;
    for (size_t i = 0; i < run.lookups.n; i++)
        checked += run.lookups.v[i].n_checks;
    if (ok) {
        double n = (double)log.calls.n;
        printf("%.0f calls, %u kinds: read %.2f s (%.0f MB/s, %.0f bytes of memory a call), ", n,
               log.n_forms, read, (double)bytes / 1e6 / read, before * 1048576 / n);
        printf("look-ups %.2f s (%.2f us a call, %u hits, %u compiles, %.1f entries checked), "
               "peak %.0f MB\n",
               ran, ran / n * 1e6, run.calls.hits, run.calls.compiles, checked / n, peak_mb());
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    cache_run_release(&run);
    call_log_release(&log);
    trace_close(trace);
    return !ok;
}
