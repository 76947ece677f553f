/* A main for fuzz targets under any compiler: gives the target every file of the folders and files
 * named on the command line, and then mutations of them: cut at every byte, a byte changed, a piece
 * doubled or removed, two inputs spliced. The mutations are the same in every run of the same
 * corpus (the seed is fixed, $SYMTAPE_FUZZ_SEED changes it), $SYMTAPE_FUZZ_RUNS of them (4000 by
 * default), fewer only where that would take longer than $SYMTAPE_FUZZ_SECONDS (60). An input that
 * kills the process is left in
 * ./fuzz-crash-PID; one that passes leaves nothing. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/vec.h"

enum { MAX_FILE = 64 << 20, MAX_MUTATED = 1 << 20, CUT_EVERY_BYTE_BELOW = 4096 };

struct input {
    uint8_t *p;
    size_t n;
};

struct corpus {
    vec_of(struct input)
    inputs;
};

/* What runs at this moment, for the signal handler. */
static const uint8_t *running;
static size_t running_size;

static void keep_crash(int sig)
{
    char path[64];
    snprintf(path, sizeof path, "fuzz-crash-%d", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && write(fd, running, running_size) == (ssize_t)running_size)
        fprintf(stderr, "the input is kept in %s\n", path);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void run(const uint8_t *p, size_t n)
{
    running = p;
    running_size = n;
    LLVMFuzzerTestOneInput(p, n);
}

/* A copy of exactly its size, so that a sanitizer sees reads behind its end. */
static void run_copy(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    if (n)
        memcpy(copy, p, n);
    run(copy, n);
    free(copy);
}

static bool read_input(const char *path, off_t size, struct input *ret)
{
    FILE *file = size <= MAX_FILE ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    *ret = (struct input){ malloc((size_t)size + 1), 0 };
    if (ret->p)
        ret->n = fread(ret->p, 1, (size_t)size, file);
    fclose(file);
    return ret->p != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_path(struct corpus *corpus, const char *path);

static void add_folder(struct corpus *corpus, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char below[4096];
        snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            add_path(corpus, below);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static void add_path(struct corpus *corpus, const char *path)
{
    struct stat st;
    struct input input;
    if (stat(path, &st) != 0)
        fprintf(stderr, "%s: not there\n", path);
    else if (S_ISDIR(st.st_mode))
        add_folder(corpus, path);
    else if (!read_input(path, st.st_size, &input) || !vec_push(&corpus->inputs, input))
        fprintf(stderr, "%s: cannot be read\n", path);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15)); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)(next_random(state) % n) : 0;
}

/* Bytes that formats care about. */
static uint8_t telling_byte(uint64_t *state)
{
    static const uint8_t bytes[] =
        "\0\1\t\n\r \"'#()*+,-./09:;<=>[\\]_aeV{}\x7f\x80\xc0\xed\xf0\xff";
    return bytes[below(state, sizeof bytes - 1)];
}

/* `room` holds 2 * MAX_MUTATED bytes, the first *n of them an input. */
static void mutate_once(uint8_t *room, size_t *n, const struct input *other, uint64_t *state)
{
    size_t at = below(state, *n), len = 1 + below(state, *n - at);
    switch (*n ? below(state, 7) : 6) {
    case 0: room[at] ^= (uint8_t)(1u << below(state, 8)); break;
    case 1: room[at] = (uint8_t)next_random(state); break;
    case 2: room[at] = telling_byte(state); break;
    case 3: *n = at; break;
    case 4: /* remove a piece */
        memmove(room + at, room + at + len, *n - at - len);
        *n -= len;
        break;
    case 5: /* double a piece */
        len = *n + len > MAX_MUTATED ? 0 : len;
        memmove(room + at + len, room + at, *n - at);
        *n += len;
        break;
    default: /* go on as another input does */
        len = below(state, other->n);
        if (at + (other->n - len) <= MAX_MUTATED) {
            memcpy(room + at, other->p + len, other->n - len);
            *n = at + (other->n - len);
        }
    }
}

static void run_cuts(const struct corpus *corpus, clock_t until)
{
    for (size_t i = 0; i < corpus->inputs.n; i++) {
        const struct input *input = &corpus->inputs.v[i];
        size_t step = input->n < CUT_EVERY_BYTE_BELOW ? 1 : input->n / CUT_EVERY_BYTE_BELOW + 1;
        for (size_t n = 0; n < input->n && clock() < until; n += step)
            run_copy(input->p, n);
    }
}

static size_t run_mutations(const struct corpus *corpus, uint64_t state, size_t limit,
                            clock_t until)
{
    size_t runs = 0;
    uint8_t *room = malloc(2 * MAX_MUTATED);
    if (!room)
        abort();
    for (; corpus->inputs.n && runs < limit && clock() < until; runs++) {
        const struct input *input = &corpus->inputs.v[below(&state, corpus->inputs.n)];
        size_t n = input->n < MAX_MUTATED ? input->n : MAX_MUTATED;
        memcpy(room, input->p, n);
        for (size_t k = 1 + below(&state, 4); k > 0; k--)
            mutate_once(room, &n, &corpus->inputs.v[below(&state, corpus->inputs.n)], &state);
        run_copy(room, n);
    }
    free(room);
    return runs;
}

static double setting(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : otherwise;
}

int main(int argc, char **argv)
{
    struct corpus corpus = { 0 };
    for (int i = 1; i < argc; i++)
        add_path(&corpus, argv[i]);
    signal(SIGABRT, keep_crash);
    signal(SIGSEGV, keep_crash);
    signal(SIGFPE, keep_crash);
    run_copy(NULL, 0);
    for (size_t i = 0; i < corpus.inputs.n; i++)
        run_copy(corpus.inputs.v[i].p, corpus.inputs.v[i].n);
    double seconds = setting("SYMTAPE_FUZZ_SECONDS", 60);
    size_t limit = (size_t)setting("SYMTAPE_FUZZ_RUNS", 4000);
    clock_t start = clock(), share = (clock_t)(seconds * CLOCKS_PER_SEC / 2);
    uint64_t seed = (uint64_t)setting("SYMTAPE_FUZZ_SEED", 1);
    run_cuts(&corpus, start + share);
    size_t runs = run_mutations(&corpus, seed, limit, clock() + share);
    printf("%zu inputs, %zu mutations, seed %llu\n", corpus.inputs.n, runs,
           (unsigned long long)seed);
    bool empty = corpus.inputs.n == 0;
    for (size_t i = 0; i < corpus.inputs.n; i++)
        free(corpus.inputs.v[i].p);
    vec_release(&corpus.inputs);
    return empty ? 1 : 0;
}
