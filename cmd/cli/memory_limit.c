#include "cmd/cli/memory_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/refused_memory.h"
#include "profile/model/human.h"

/* RLIMIT_DATA does not count the program itself and the mappings of libraries and inputs. These
 * parts of the limit, 8 MiB of 64 and one of 40 times, stand for them. */
enum { LIMIT_BASE = 64, LIMIT_TIMES = 40, UNCOUNTED_BASE = 8, UNCOUNTED_TIMES = 1 };

/* Stacks of threads count from the start, though hardly any of them is used: 8 MiB for each
 * processor except the first, as many as replays run on (trace/base/parallel.c). */
enum { STACK_BYTES = 8 << 20, MOST_THREADS = 64 };

static uint64_t stacks(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long threads = processors < 1 ? 0 : processors - 1;
    return (uint64_t)(threads < MOST_THREADS ? threads : MOST_THREADS) * STACK_BYTES;
}

#if defined(__SANITIZE_ADDRESS__)
#define CAN_LIMIT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAN_LIMIT 0
#endif
#endif
#ifndef CAN_LIMIT
#define CAN_LIMIT 1
#endif

static uint64_t allowed_bytes(const struct memory_limit *limit, uint64_t base, uint64_t times)
{
    uint64_t bytes = (base << 20) + limit->window;
    return limit->stored > (UINT64_MAX - bytes) / times ? UINT64_MAX
                                                        : bytes + times * limit->stored;
}

static bool set_data_limit(struct memory_limit *limit)
{
    uint64_t bytes =
        allowed_bytes(limit, LIMIT_BASE - UNCOUNTED_BASE, LIMIT_TIMES - UNCOUNTED_TIMES);
    bytes = bytes > UINT64_MAX - limit->stacks ? UINT64_MAX : bytes + limit->stacks;
    struct rlimit now = limit->before;
    if (now.rlim_cur == RLIM_INFINITY || bytes < now.rlim_cur)
        now.rlim_cur = (rlim_t)bytes;
    return setrlimit(RLIMIT_DATA, &now) == 0;
}

static void add_stored(struct source_meter *meter, uint64_t bytes)
{
    struct memory_limit *limit = (struct memory_limit *)meter;
    limit->stored += bytes;
    if (limit->on)
        set_data_limit(limit);
}

/* Only one window exists at a time: that of the next frame replaces the previous one. */
static void add_window(struct source_meter *meter, uint64_t bytes)
{
    struct memory_limit *limit = (struct memory_limit *)meter;
    if (bytes <= limit->window)
        return;
    limit->window = bytes;
    if (limit->on)
        set_data_limit(limit);
}

static uint64_t report_allowed(const struct source_meter *meter)
{
    const struct memory_limit *limit = (const struct memory_limit *)meter;
    return limit->big ? UINT64_MAX : allowed_bytes(limit, LIMIT_BASE, LIMIT_TIMES);
}

void memory_limit_begin(struct memory_limit *limit, bool big)
{
    *limit = (struct memory_limit){ .meter = { add_stored, add_window, report_allowed },
                                    .big = big,
                                    .stacks = stacks() };
    if (CAN_LIMIT && !big && getrlimit(RLIMIT_DATA, &limit->before) == 0)
        limit->on = set_data_limit(limit);
}

void memory_limit_restart(struct memory_limit *limit, uint64_t stored)
{
    limit->stored = stored;
    limit->window = 0;
    if (limit->on)
        set_data_limit(limit);
}

void memory_limit_end(struct memory_limit *limit)
{
    if (limit && limit->on)
        setrlimit(RLIMIT_DATA, &limit->before);
    if (limit)
        limit->on = false;
}

uint64_t process_status_bytes(const char *field)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, field);
    return line ? strtoull(line + strlen(field) + 1, NULL, 10) * 1024 : 0;
}

/* Returns whether the limit is why an allocation failed. Failed allocations of libraries are not
 * recorded, and memory can run out for other reasons: the machine's, or a limit of the user's.
 * Arrays grow to twice their size, so at least a quarter of the limit was in use when it was the
 * reason. VmHWM is the most that was resident; getrusage()'s ru_maxrss would include the program
 * that started this one, because it outlives exec(). RssFile is pages of files, the program's among
 * them, which the limit does not count. */
static bool is_limit_reached(const struct memory_limit *limit)
{
    uint64_t most = process_status_bytes("VmHWM"), of_files = process_status_bytes("RssFile");
    return most > of_files + allowed_bytes(limit, LIMIT_BASE, LIMIT_TIMES) / 4;
}

/* Returns the memory that was needed, without the threads' stacks; 0: no allocation failed. */
static uint64_t needed(const struct memory_limit *limit)
{
    uint64_t bytes = limit->refused ? atomic_load(&limit->refused->needed) : 0;
    return bytes > limit->stacks ? bytes - limit->stacks : bytes;
}

static void print_refusal(const struct memory_limit *limit, struct str place, struct err *ret)
{
    char stored[HUMAN_SIZE], most[HUMAN_SIZE], wanted[HUMAN_SIZE];
    uint64_t bytes = needed(limit), may = allowed_bytes(limit, LIMIT_BASE, LIMIT_TIMES);
    human_bytes(stored, limit->stored);
    human_bytes(most, may);
    human_bytes(wanted, bytes);
    if (bytes > may)
        err_set(
            ret, ERR_INPUT,
            "%.*sinput of %s would take %s of memory or more, and %s is allowed; --big lifts this "
            "limit",
            STR_ARG(place), stored, wanted, most);
    else
        err_set(ret, ERR_INPUT,
                "%.*sinput of %s would take more than %s of memory; --big lifts this limit",
                STR_ARG(place), stored, most);
}

void memory_limit_explain(const struct memory_limit *limit, struct err *err)
{
    struct err nomem = { 0 }, ret = { 0 };
    err_nomem(&nomem);
    struct str place = str_of(err->text), why = str_of(nomem.text);
    if (!limit || !limit->on || err->kind != ERR_ENV || !str_ends(place, why))
        return;
    if (needed(limit) == 0 && !is_limit_reached(limit))
        return;
    place.n -= why.n;
    print_refusal(limit, place, &ret);
    *err = ret;
}
