#include "trace/base/transfer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/clock.h"

/* Waits until the descriptor is ready. */
static bool wait_until_ready(int fd, short events, uint64_t until)
{
    struct pollfd file = { .fd = fd, .events = events };
    for (;;) {
        uint64_t now = until == TRANSFER_NO_LIMIT ? 0 : clock_ns();
        if (now >= until)
            return false;
        uint64_t left = (until - now) / 1000000 + 1;
        int ms = until == TRANSFER_NO_LIMIT ? -1 : left > INT_MAX ? INT_MAX : (int)left;
        int ready = poll(&file, 1, ms);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

bool transfer_write(int fd, const void *bytes, size_t n, uint64_t until)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && errno == ENOTSOCK)
            done = write(fd, p, n);
        if (done < 0 && errno == EAGAIN && wait_until_ready(fd, POLLOUT, until))
            continue;
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

bool transfer_read(int fd, void *bytes, size_t n, uint64_t until)
{
    char *p = bytes;
    while (n) {
        if (!wait_until_ready(fd, POLLIN, until))
            return false;
        ssize_t done = read(fd, p, n);
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}
