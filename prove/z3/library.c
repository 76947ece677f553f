#include "prove/z3/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "prove/z3/server.h"
#include "trace/base/transfer.h"

static bool find(const struct z3_library *library, const char *name, void *ret)
{
    void *symbol = dlsym(library->handle, name);
    memcpy(ret, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(struct z3_library *l)
{
    return find(l, "Z3_mk_config", &l->mk_config) && find(l, "Z3_mk_context", &l->mk_context) &&
           find(l, "Z3_set_error_handler", &l->set_error_handler) &&
           find(l, "Z3_global_param_set", &l->global_param_set) &&
           find(l, "Z3_eval_smtlib2_string", &l->eval_smtlib2_string);
}

/* Errors are printed into the answer, too; the default handler ends the process. */
static void ignore_error(void *context, int code)
{
    (void)context;
    (void)code;
}

static bool make_context(struct z3_library *l)
{
    char megabytes[16];
    snprintf(megabytes, sizeof megabytes, "%d", Z3_MEGABYTES / 2);
    l->global_param_set("memory_max_size", megabytes);
    void *config = l->mk_config();
    l->context = config ? l->mk_context(config) : NULL;
    if (l->context)
        l->set_error_handler(l->context, ignore_error);
    return l->context != NULL;
}

bool z3_library_open(struct z3_library *ret, char *why, size_t size)
{
    static const char *const names[] = { "libz3.so.4", "libz3.so" };
    if (ret->handle)
        return true;
    snprintf(why, size, "libz3.so.4: not found");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct z3_library library = { .handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL) };
        const char *error = library.handle ? NULL : dlerror();
        if (library.handle && find_all(&library) && make_context(&library)) {
            *ret = library;
            return true;
        }
        if (library.handle) {
            snprintf(why, size, "%s lacks functions of Z3 4.8", names[i]);
            dlclose(library.handle);
        } else if (i == 0 && error) {
            snprintf(why, size, "%s", error);
        }
    }
    return false;
}

void z3_library_solve(const struct z3_library *library, struct str text, struct str values, int out)
{
    const char *answer = library->eval_smtlib2_string(library->context, text.p);
    if (!answer || !transfer_write(out, answer, strlen(answer), TRANSFER_NO_LIMIT) ||
        strncmp(answer, "sat", 3) != 0 || !values.n)
        return;
    answer = library->eval_smtlib2_string(library->context, values.p);
    if (answer)
        transfer_write(out, answer, strlen(answer), TRANSFER_NO_LIMIT);
}
