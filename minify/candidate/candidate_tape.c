#include "minify/candidate/candidate_tape.h"

#include "trace/base/file/output.h"
#include "trace/log/import.h"
#include "trace/log/source.h"

/* The name of the recording on the tape. */
#define NAME "minified.log"

bool log_tape(const char *name, struct str log, struct buf *tape, struct err *err)
{
    struct import_result result = { 0 };
    struct source *source = source_of_bytes(name, log, err);
    bool good = source && import_to_memory(NULL, source, NULL, tape, &result, err);
    if (source)
        import_result_release(&result);
    source_close(source);
    return good;
}

bool candidate_tape(const struct candidate *candidate, struct buf *tape, struct err *err)
{
    struct buf log = BUF_INIT;
    bool good = candidate_print_log(candidate, &log) ? log_tape(NAME, buf_str(&log), tape, err)
                                                     : err_nomem(err);
    buf_release(&log);
    return good;
}

bool file_write(const char *path, struct str bytes, struct err *err)
{
    struct output *output = output_open(path, OUTPUT_REPLACE, err);
    if (!output)
        return false;
    if (!output_write(output, bytes, err)) {
        output_abort(output);
        return false;
    }
    return output_commit(output, err);
}
