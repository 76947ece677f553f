/* For libraries beside the fake driver: what they launch takes time on its clock, and is captured
 * where their stream is. */
#ifndef SYMTAPE_TESTS_CUDA_FAKE_TIME_H
#define SYMTAPE_TESTS_CUDA_FAKE_TIME_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The fake driver's function of that name; *driver is to be closed. NULL: another driver. */
static inline void *fake_function(const char *name, void **driver)
{
    *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return *driver ? dlsym(*driver, name) : NULL;
}

static inline void fake_took(double us)
{
    void *driver, *p = fake_function("fake_pass_time", &driver);
    void (*pass)(double) = NULL;
    memcpy(&pass, &p, sizeof p);
    if (pass)
        pass(us);
    if (driver)
        dlclose(driver);
}

/* Calls a function like fake_submit() of fake.h, by its name. */
static inline int fake_queue_by(const char *name, void *stream, int (*run)(const void *data),
                                const void *data, size_t bytes)
{
    void *driver, *p = fake_function(name, &driver);
    int (*submit)(void *, int (*)(const void *), const void *, size_t) = NULL;
    memcpy(&submit, &p, sizeof p);
    int error = submit ? submit(stream, run, data, bytes) : run(data);
    if (driver)
        dlclose(driver);
    return error;
}

static inline int fake_queue(void *stream, int (*run)(const void *data), const void *data,
                             size_t bytes)
{
    return fake_queue_by("fake_submit", stream, run, data, bytes);
}

#endif
