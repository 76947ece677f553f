/* Implements export --sqlite and --jsonl, which write what is on a tape as tables. */
#include "cmd/export/export.h"
#include "profile/model/profile.h"
#include "profile/tables/tables.h"

/* Writes the tables of a profile into one sink, which is NULL if it could not be opened. */
static int write_tables(struct out *out, const struct profile *profile, struct table_sink *sink,
                        struct err *err)
{
    bool ok = sink && tables_write(profile, sink, err);
    if (sink)
        ok = sink->end(sink, ok, err) && ok;
    return ok ? EXIT_DONE : out_error(out, err);
}

static int write_profile(struct out *out, const struct export_args *args,
                         const struct profile *profile)
{
    struct err err = { 0 };
    enum output_mode mode = args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW;
    int code = EXIT_DONE;
    if (args->sqlite)
        code = write_tables(out, profile, sqlite_sink_open(args->sqlite, mode, &err), &err);
    if (args->jsonl && code == EXIT_DONE)
        code = write_tables(out, profile, jsonl_sink_open(args->jsonl, mode, &err), &err);
    return code;
}

int export_tables(struct out *out, const struct export_args *args, struct tape_arg *tape)
{
    struct buf compile = BUF_INIT;
    struct err err = { 0 };
    struct profile *profile = NULL;
    const struct selector *selector = &tape->selector;
    buf_put(&compile, selector->compile);
    if (selector->compile.n > 0 && selector->attempt >= 0)
        buf_printf(&compile, "_%lld", (long long)selector->attempt);
    const struct profile_options what = { .compile = buf_str(&compile),
                                          .recording = selector->recording };
    if (compile.failed)
        err_nomem(&err);
    else
        profile = profile_build(&tape->trace, 1, &what, &err);
    int code = profile ? write_profile(out, args, profile) : out_error(out, &err);
    profile_free(profile);
    buf_release(&compile);
    return code;
}
