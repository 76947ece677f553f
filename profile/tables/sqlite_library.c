#include "profile/tables/sqlite_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct function {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name)                                          \
    {                                                           \
        "sqlite3_" #name, offsetof(struct sqlite_library, name) \
    }
    FUNCTION(open_v2),
    FUNCTION(close),
    FUNCTION(exec),
    FUNCTION(prepare_v2),
    FUNCTION(bind_int64),
    FUNCTION(bind_text64),
    FUNCTION(bind_null),
    FUNCTION(bind_parameter_count),
    FUNCTION(bind_parameter_name),
    FUNCTION(step),
    FUNCTION(reset),
    FUNCTION(finalize),
    FUNCTION(column_count),
    FUNCTION(column_name),
    FUNCTION(column_type),
    FUNCTION(column_int64),
    FUNCTION(column_double),
    FUNCTION(column_text),
    FUNCTION(column_blob),
    FUNCTION(column_bytes),
    FUNCTION(set_authorizer),
    FUNCTION(progress_handler),
    FUNCTION(limit),
    FUNCTION(db_config),
    FUNCTION(extended_errcode),
    FUNCTION(errmsg),
#undef FUNCTION
};

static bool find_all(struct sqlite_library *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(library->handle, functions[i].name);
        if (!symbol)
            return false;
        memcpy((char *)library + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

bool sqlite_library_open(struct sqlite_library *ret, struct err *err)
{
    static const char name[] = "libsqlite3.so.0";
    struct sqlite_library library = { .handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) };
    if (!library.handle) {
        const char *why = dlerror();
        return err_set(err, ERR_ENV, "databases need SQLite's library (libsqlite3-0 in Debian): %s",
                       why ? why : name);
    }
    if (!find_all(&library)) {
        sqlite_library_close(&library);
        return err_set(err, ERR_ENV, "%s lacks functions of SQLite 3.8.7", name);
    }
    *ret = library;
    return true;
}

void sqlite_library_close(struct sqlite_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}
