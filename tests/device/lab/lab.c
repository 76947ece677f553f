#include "tests/device/lab/lab.h"

#include <stdlib.h>
#include <string.h>

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct graph_table, member), needed },
#include "tests/device/lab/graph.def"
#undef SYMBOL
};

static const char tick_text[] =
    TEXT_OF(TICK_ARGS) ";\nKERNEL(tick, struct tick_args)\n"
                       "{\n    if (THREAD == 0)\n        *PTR(i64, a.to) += a.by;\n}\n";
static const char wide_text[] =
    TEXT_OF(WIDE_ARGS) ";\nKERNEL(wide, struct wide_args)\n"
                       "{\n    if (THREAD == 0)\n        *PTR(i64, a.to) += a.by;\n}\n";

bool lab_check(struct lab *lab, int rc, const char *what, struct err *err)
{
    return cuda_check(lab->cuda, rc, err, "%s", what);
}

bool lab_needs(bool there, const char *what, struct err *err)
{
    return there || err_set(err, ERR_ENV, "the driver has nothing for %s", what);
}

bool lab_wait(struct lab *lab, struct err *err)
{
    return lab_check(lab, lab->cuda->driver.stream_wait(lab->cuda->stream), "waiting", err);
}

struct cuda_function *lab_compile(struct lab *lab, const char *name, const char *text,
                                  struct err *err)
{
    return cuda_compile_text(lab->cuda, name, str_of(text), err);
}

bool lab_launch(struct lab *lab, struct cuda_function *f, uint32_t blocks, uint32_t threads,
                void *args, struct err *err)
{
    void *arguments[] = { args };
    return lab_check(lab,
                     lab->cuda->driver.launch(f->f, blocks, 1, 1, threads, 1, 1, 0,
                                              lab->cuda->stream, arguments, NULL),
                     f->name, err);
}

bool lab_take(struct lab *lab, size_t bytes, uint64_t *ret, struct err *err)
{
    return cuda_take(lab->cuda, bytes, ret, err);
}

bool lab_counter(struct lab *lab, int64_t *ret, struct err *err)
{
    return cuda_copy_to_host(lab->cuda, ret, lab->counter, sizeof *ret, err);
}

bool lab_reset(struct lab *lab, struct err *err)
{
    const int64_t zero = 0;
    return cuda_copy_to_device(lab->cuda, lab->counter, &zero, sizeof zero, err) &&
           lab_wait(lab, err);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_median(double *us, size_t n)
{
    qsort(us, n, sizeof *us, compare_doubles);
    return n ? us[n / 2] : 0;
}

bool lab_mark(struct lab *lab, cu_event event, struct err *err)
{
    return lab_check(lab, lab->cuda->driver.event_record(event, lab->cuda->stream), "an event",
                     err);
}

bool lab_between(struct lab *lab, double *us, struct err *err)
{
    float ms = 0;
    int rc = lab->cuda->driver.event_between(&ms, lab->start, lab->end);
    *us = (double)ms * 1e3;
    return lab_check(lab, rc, "the time between two events", err);
}

bool lab_open(struct lab *lab, bool quick, struct err *err)
{
    const struct backend_kind *kind = backend_find(STR("cuda"));
    *lab = (struct lab){ .repeats = quick ? 3 : 31, .longest = quick ? 30 : CHAIN_MAX };
    if (!kind)
        return err_set(err, ERR_ENV, "built without the CUDA backend");
    if (!(lab->cuda = (struct cuda *)kind->open(err)))
        return false;
    struct driver *driver = &lab->cuda->driver;
    return library_load(&lab->cuda->library, symbols, sizeof symbols / sizeof *symbols,
                        &lab->graphs, err) &&
           lab_take(lab, 256, &lab->counter, err) &&
           lab_check(lab, driver->event_create(&lab->start, 0), "an event", err) &&
           lab_check(lab, driver->event_create(&lab->end, 0), "an event", err) &&
           (lab->tick = lab_compile(lab, "tick", tick_text, err)) != NULL &&
           (lab->wide = lab_compile(lab, "wide", wide_text, err)) != NULL && lab_reset(lab, err);
}

void lab_close(struct lab *lab)
{
    if (!lab->cuda)
        return;
    if (lab->start)
        lab->cuda->driver.event_destroy(lab->start);
    if (lab->end)
        lab->cuda->driver.event_destroy(lab->end);
    if (lab->counter)
        cuda_give_back(lab->cuda, lab->counter);
    lab->cuda->base.kind->close(&lab->cuda->base);
}
