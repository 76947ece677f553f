/* A libcuda.so.1 without a device, for tests: memory is the host's, kernels are what the libnvrtc
 * beside it compiled for the host. $SYMTAPE_CUDA_LIB names their folder.
 *
 * Memory ends where a page that cannot be touched begins; new memory and shared memory hold bytes
 * that are no number (0xff), freed memory cannot be touched. Launches run at once. An error of a
 * kernel is found as on a device: the launch succeeds, and every later call of the context fails
 * with it. A launch takes as long as the host needed, and a microsecond; a copy a microsecond for
 * each 4096 bytes: what measures until something takes long comes to an end.
 *
 * Environment:
 *     SYMTAPE_FAKE_FAIL       NAME:N:ERROR,...   the Nth call of an entry point since this was set
 *                                                gives ERROR; N 0: each
 *     SYMTAPE_FAKE_FAIL_CALL  N:ERROR            the Nth call of all entry points gives ERROR
 *     SYMTAPE_FAKE_LOST       N:ERROR            from the Nth launch on everything gives ERROR
 *     SYMTAPE_FAKE_BREAK      N:ERROR            the same until the context is reset
 *     SYMTAPE_FAKE_GONE       1: neither a reset nor a release mends what broke, as on an H200
 *     SYMTAPE_FAKE_HELD       1: others of the process hold the context, too; only a reset ends it
 *     SYMTAPE_FAKE_REPORT     FILE: at exit there is how many calls there were, which one was made
 * to fail, and what was not given back when the context ended SYMTAPE_FAKE_MEMORY     bytes of the
 * device; 8 GiB SYMTAPE_FAKE_DEVICES    how many; 1 SYMTAPE_FAKE_DRIVER     13000 SYMTAPE_FAKE_MODE
 * compute mode: 2 prohibited, 3 another process has the device SYMTAPE_FAKE_CAPABILITY 90
 *     SYMTAPE_FAKE_MULTIPROCESSORS 3, so that grids are small and their loops run
 *     SYMTAPE_FAKE_TRACE      FILE: a line for each launch is added to it
 *     SYMTAPE_FAKE_PROGRAMS   FOLDER: each program that is compiled is left there: its name and the
 *                             options in a comment, then its text
 *     SYMTAPE_FAKE_KEEP       FOLDER: texts that did not compile or failed are left there
 *     SYMTAPE_FAKE_IDLE       1: nothing is compiled, launched or looked at, and what is read is
 * zero: what is left of a run is the host's own time (tests/bench), or programs SYMTAPE_FAKE_CC
 * compiler of kernels; what the test was built with */
#ifndef SYMTAPE_TESTS_CUDA_FAKE_H
#define SYMTAPE_TESTS_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/backend/cuda/runtime/abi.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    LAUNCH_OUT_OF_RESOURCES = 701,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    EXEC_UPDATE_FAILURE = 910,
};

/* How many calls gave an error since $SYMTAPE_FAKE_FAIL was set. */
EXPORT uint64_t fake_injected(void);
/* What every call asks first. 0: go on. */
int fake_enter(const char *name);
int fake_enter_context(const char *name); /* one that needs a current context */
bool fake_idles(void);
/* From now on every call that needs a context fails. */
void fake_break(int error);
int64_t fake_setting(const char *name, int64_t otherwise);
void fake_initialized(void);
void fake_use(bool current);

EXPORT void fake_pass_time(double us); /* for the libraries beside it, too (fake_time.h) */
double fake_now(void);                 /* us */

/* What exists now of memory, host memory, streams, events and modules. */
enum fake_kind {
    FAKE_MEMORY,
    FAKE_HOST_MEMORY,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_MODULE,
    FAKE_GRAPH,
    FAKE_EXEC,
    FAKE_KINDS
};
void fake_made(enum fake_kind kind);
void fake_gone(enum fake_kind kind);
/* The context ends: what exists was not given back; by a reset it need not be. */
void fake_end_context(bool reset);

/* Of a function's arguments: one struct of a kernel, two parameters of a library's. */
uint32_t fake_argument_bytes(cu_function function);
/* Copies them one after the other. */
void fake_copy_arguments(cu_function function, void *const *from, void *to);

/* Work on a stream: what a launch, a copy or a library does. It is run at once, or becomes a node
 * of the graph that the stream captures, with a copy of its `bytes` of data. */
typedef int fake_work(const void *data);
EXPORT int fake_submit(cu_stream stream, fake_work *run, const void *data, size_t bytes);
/* The same for a library's kernel: its node is one of a kernel with two parameters, the last eight
 * bytes of the data and what is before them. */
EXPORT int fake_submit_kernel(cu_stream stream, fake_work *run, const void *data, size_t bytes);
EXPORT int fake_submit_cluster(cu_stream stream, fake_work *run, const void *data, size_t bytes);
/* The function of such a kernel. NULL: out of memory. */
cu_function fake_function_of(fake_work *work, size_t bytes);
/* Returns whether the work fills a range, as a memset's node does; sets its parameters. */
bool fake_is_memset(fake_work *work, const void *data, struct cu_memset_node *ret);
/* What waits for a stream that is captured ends the capture: CAPTURE_UNSUPPORTED. Otherwise 0. */
int fake_wait(cu_stream stream);

struct CUstream_st {
    cu_graph captures; /* NULL: none */
    bool invalid;      /* something ended the capture */
};

/* A launch: 0, or what it fails with before it begins. */
int fake_launched(void);

/* Where is the range in the device's memory? NULL: not there. */
void *fake_memory(cu_address address, size_t bytes);
/* The context ends. */
void fake_forget_memory(void);

#endif
