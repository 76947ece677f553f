/* Writes the side file. It is mapped MAP_SHARED, so that what was stored belongs to the kernel
 * and remains when the process is killed. Its blocks are allocated before it is mapped, because
 * a store into a hole on a full disk would raise SIGBUS; and it never grows above RLIMIT_FSIZE,
 * because that would raise SIGXFSZ. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/record/deep/agent.h"

enum {
    FIRST_ROOM = 1 << 20,
    MOST_ROOM_AT_ONCE = 16 << 20,
    NAMES_TRIED = 10000, /* a process that execs keeps its id */
};

#define FILE_LIMIT ((size_t)4 << 30)

struct agent agent = { .fd = -1 };
_Thread_local struct thread thread;

uint64_t agent_now(void)
{
    return clock_ns();
}

static uint16_t thread_number(void)
{
    static uint16_t last; /* accessed with the GIL held, as everything here */
    if (thread.number == 0)
        thread.number = ++last;
    return thread.number;
}

/* ------------------------------------------------------------------------------------------------
 * Room. */

static bool may_grow_to(size_t size)
{
    struct rlimit limit;
    return size <= FILE_LIMIT && (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
                                  limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

static bool grow_file(size_t need)
{
    size_t more = agent.size < FIRST_ROOM          ? FIRST_ROOM
                  : agent.size < MOST_ROOM_AT_ONCE ? agent.size
                                                   : MOST_ROOM_AT_ONCE;
    while (more < need)
        more *= 2;
    size_t size = agent.size + more;
    if (!may_grow_to(size) || posix_fallocate(agent.fd, 0, (off_t)size) != 0)
        return false;
    void *map = agent.map ? mremap(agent.map, agent.size, size, MREMAP_MAYMOVE)
                          : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, agent.fd, 0);
    if (map == MAP_FAILED)
        return false;
    agent.map = map;
    agent.size = size;
    return true;
}

static struct deep_header *header(void)
{
    return (struct deep_header *)(void *)agent.map;
}

/* ------------------------------------------------------------------------------------------------
 * Opening. */

static void write_header(void)
{
    struct timespec wall;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &wall);
    localtime_r(&wall.tv_sec, &local);
    agent.start_ns = agent_now();
    *header() = (struct deep_header){
        .magic = DEEP_MAGIC,
        .version = DEEP_VERSION,
        .byte_order = DEEP_BYTE_ORDER,
        .pid = (uint64_t)getpid(),
        .start_ns = agent.start_ns,
        .start_us = (uint64_t)wall.tv_sec * 1000000u + (uint64_t)wall.tv_nsec / 1000u,
        .east = local.tm_gmtoff,
    };
    agent.used = sizeof(struct deep_header);
}

static bool open_side_file(void)
{
    for (int i = 0; i < NAMES_TRIED && agent.fd < 0; i++) {
        snprintf(agent.path, sizeof agent.path, "%s/deep-%ld-%d.deep", agent.folder, (long)getpid(),
                 i);
        agent.fd = open(agent.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (agent.fd < 0 && errno != EEXIST)
            return false;
    }
    return agent.fd >= 0;
}

static void write_process(void)
{
    Py_ssize_t n = 0;
    const char *text = agent.process ? PyUnicode_AsUTF8AndSize(agent.process, &n) : NULL;
    struct event event;
    if (!text) {
        PyErr_Clear();
    } else if (event_begin(&event, DEEP_PROCESS, 4 + (size_t)n)) {
        event_text(&event, text, (size_t)n);
        event_end(&event);
    }
}

static void drop_file(void)
{
    if (agent.map)
        munmap(agent.map, agent.size);
    if (agent.fd >= 0)
        close(agent.fd);
    agent.map = NULL;
    agent.fd = -1;
    agent.size = agent.used = 0;
}

static bool start_side_file(void)
{
    agent.overhead_ns = agent.lost = 0;
    if (!open_side_file() || !grow_file(FIRST_ROOM)) {
        if (agent.fd >= 0)
            unlink(agent.path); /* it is empty */
        drop_file();
        agent.failed = true;
        return false;
    }
    write_header();
    agent.generation++;
    write_process();
    return true;
}

/* Runs in the child of a fork, where no Python function may be called: the file belongs to the
 * parent. */
void agent_forked(void)
{
    drop_file();
    agent.forked = true;
}

bool agent_ready(void)
{
    if (agent.map)
        return true;
    if (!agent.folder || agent.failed)
        return false;
    if (agent.forked) {
        agent.forked = false;
        thread = (struct thread){ .running = NULL };
        agent_forget();
    }
    return start_side_file();
}

void agent_close(bool orderly)
{
    struct event event;
    if (agent.map && orderly && event_begin(&event, DEEP_END, 4)) {
        event_u32(&event, 1);
        event_end(&event);
    }
    if (agent.map) {
        header()->overhead_ns = agent.overhead_ns;
        header()->lost = agent.lost;
        size_t used = agent.used;
        munmap(agent.map, agent.size);
        agent.map = NULL;
        if (ftruncate(agent.fd, (off_t)used) != 0)
            agent.failed = true; /* zeros follow the end, which are read as the end */
    }
    drop_file();
}

/* ------------------------------------------------------------------------------------------------
 * Events. The size is stored last: until then the reader finds the end where the event begins. */

bool event_begin(struct event *event, enum deep_event_type type, size_t size)
{
    size_t whole = DEEP_EVENT_HEADER + size + DEEP_ALIGN;
    if (!agent_ready())
        return false;
    if (agent.size - agent.used < whole + DEEP_EVENT_HEADER &&
        !grow_file(whole + DEEP_EVENT_HEADER)) {
        agent.lost++;
        header()->lost = agent.lost;
        return false;
    }
    event->start = event->at = agent.map + agent.used;
    uint32_t head = (uint32_t)type | (uint32_t)thread_number() << 16;
    memcpy(event->start + 4, &head, 4);
    event->at += DEEP_EVENT_HEADER;
    return true;
}

void event_u32(struct event *event, uint32_t value)
{
    memcpy(event->at, &value, sizeof value);
    event->at += sizeof value;
}

void event_u64(struct event *event, uint64_t value)
{
    memcpy(event->at, &value, sizeof value);
    event->at += sizeof value;
}

void event_text(struct event *event, const char *text, size_t n)
{
    event_u32(event, (uint32_t)n);
    if (n)
        memcpy(event->at, text, n);
    event->at += n;
}

uint64_t event_end(struct event *event)
{
    uint32_t size = (uint32_t)(event->at - event->start);
    uint64_t offset = agent.used;
    agent.used += (size + DEEP_ALIGN - 1) & ~(size_t)(DEEP_ALIGN - 1);
    __atomic_store_n((uint32_t *)(void *)event->start, size, __ATOMIC_RELEASE);
    header()->overhead_ns = agent.overhead_ns;
    return offset;
}

void agent_add_in_place(uint64_t offset, uint64_t value)
{
    uint64_t old;
    if (offset + sizeof old > agent.used)
        return;
    memcpy(&old, agent.map + offset, sizeof old);
    old += value;
    memcpy(agent.map + offset, &old, sizeof old);
}
