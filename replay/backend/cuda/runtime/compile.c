#include "replay/backend/cuda/runtime/compile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/backend/cuda/runtime/device_text.h"
#include "trace/base/hash.h"
#include "trace/base/parallel.h"

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct nvrtc, member), needed },
#include "replay/backend/cuda/runtime/nvrtc.def"
#undef SYMBOL
};

/* Returns whether it keeps a header that it has read, in memory of the process, and can leave out
 * declarations that no text uses. Its front end, where only one thread at a time can be (measured
 * with NVRTC 13.0), needs half the time then. */
static bool can_precompile(const struct compiler *c)
{
    return c->major > 12 || (c->major == 12 && c->minor >= 8);
}

static bool load_compiler(struct compiler *compiler, struct err *err)
{
    if (!library_load(&compiler->library, symbols, sizeof symbols / sizeof *symbols,
                      &compiler->nvrtc, err))
        return false;
    int rc = compiler->nvrtc.version(&compiler->major, &compiler->minor);
    compiler->precompiles = can_precompile(compiler);
    return rc == NVRTC_OK || err_set(err, ERR_ENV, "NVRTC: cannot get the version of %s: error %d",
                                     compiler->library.path, rc);
}

bool compiler_open(struct compiler *compiler, int driver_major, struct err *err)
{
    return library_open(LIBRARY_NVRTC, driver_major, &compiler->library, err) &&
           load_compiler(compiler, err);
}

bool compiler_open_file(struct compiler *compiler, const char *path, struct err *err)
{
    return library_open_file(LIBRARY_NVRTC, path, &compiler->library, err) &&
           load_compiler(compiler, err);
}

/* ---- The source ---- */

static bool is_header(const struct device_text *text)
{
    return str_ends(str_of(text->name), STR(".h"));
}

/* The prologue comes first, and the header-stop point behind it, so that NVRTC reads it once for
 * all programs: it precompiles what stands before that point. */
bool program_source(const struct program_text *program, struct buf *ret, struct err *err)
{
    const struct device_text *prologue = device_text_find("prologue.h");
    const struct device_text *file = program->file ? device_text_find(program->file) : NULL;
    if (!prologue || (program->file && !file))
        return err_set(err, ERR_ENV, "kernel %s: there is no source text %s", program->name,
                       program->file ? program->file : "prologue.h");
    const char *defines = program->defines ? program->defines : "";
    const bool of_prologue = strstr(defines, "LIVE_FIELD") != NULL; /* its macros depend on it */
    buf_puts(ret, of_prologue ? defines : "");
    buf_printf(ret, "#include \"%s\"\n#pragma nv_hdrstop\n%s#line 1 \"%s\"\n", prologue->name,
               of_prologue ? "" : defines, program->file ? program->file : program->name);
    if (file)
        buf_puts(ret, file->text);
    else
        buf_put(ret, program->text);
    return !ret->failed || err_nomem(err);
}

struct cubin_key program_key(struct str source, int architecture)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, &architecture, sizeof architecture);
    XXH3_128bits_update(&state, source.p, source.n);
    for (const struct device_text *text = device_texts; text->name; text++)
        if (is_header(text))
            XXH3_128bits_update(&state, text->text, strlen(text->text) + 1);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct cubin_key){ hash.high64, hash.low64 };
}

/* ---- What went wrong ---- */

static bool keep_file(const char *folder, const char *name, struct str text)
{
    struct err ignored = { 0 };
    char path[1400];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return false;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int parent = cubin_cache_open(path, true, &ignored);
    bool ok = parent >= 0 && cubin_cache_keep(parent, slash + 1, text);
    if (parent >= 0)
        close(parent);
    return ok;
}

/* Writes the source and the texts that it includes to a directory, so that a compiler can be run by
 * hand. */
static bool keep_source(const struct program_text *program, struct str source, int architecture,
                        char *ret, size_t n)
{
    char folder[1200];
    struct cubin_key key = program_key(source, architecture);
    if (!cubin_cache_folder(folder, sizeof folder))
        return false;
    char *last = strrchr(folder, '/'); /* beside the directory of the cubins */
    snprintf(last, sizeof folder - (size_t)(last - folder), "/failed/%.100s-%016llx", program->name,
             (unsigned long long)key.low);
    for (const struct device_text *text = device_texts; text->name; text++)
        if (is_header(text) && !keep_file(folder, text->name, str_of(text->text)))
            return false;
    if (!keep_file(folder, "program.cu", source))
        return false;
    return (size_t)snprintf(ret, n, "%s/program.cu", folder) < n;
}

/* Returns the first line that contains "error", or else the first one. */
static struct str error_line(struct str log)
{
    struct str first = str_trim(str_first(log, str_find_char(log, '\n')));
    while (log.n) {
        size_t n = str_find_char(log, '\n');
        struct str line = str_first(log, n);
        if (str_find(line, STR("error")) < line.n)
            return str_trim(line);
        log = str_from(log, n + 1);
    }
    return first;
}

static bool did_not_compile(const struct compiler *c, const struct program_text *program,
                            struct str source, int architecture, nvrtc_program p, int rc,
                            struct err *err)
{
    char kept[1300];
    size_t n = 0;
    char *log = c->nvrtc.log_size(p, &n) == NVRTC_OK && n ? calloc(n + 1, 1) : NULL;
    if (log && c->nvrtc.log(p, log) != NVRTC_OK)
        *log = '\0';
    struct str line = error_line(str_of(log ? log : ""));
    bool have = keep_source(program, source, architecture, kept, sizeof kept);
    err_set(err, ERR_ENV, "kernel %s does not compile (NVRTC %d.%d, error %d)%s%.*s%s%.300s",
            program->name, c->major, c->minor, rc, line.n ? ": " : "",
            (int)(line.n < 400 ? line.n : 400), line.n ? line.p : "",
            have ? "; its source is " : "", have ? kept : "");
    free(log);
    return false;
}

/* ---- Compiling ---- */

/* Returns the newest architecture that the compiler supports, up to `wanted`. */
static int known_architecture(const struct compiler *c, int wanted)
{
    int n = 0, best = 0, list[256];
    if (!c->nvrtc.n_architectures || !c->nvrtc.architectures ||
        c->nvrtc.n_architectures(&n) != NVRTC_OK || n <= 0 || n > 256 ||
        c->nvrtc.architectures(list) != NVRTC_OK)
        return wanted;
    for (int i = 0; i < n; i++)
        if (list[i] <= wanted && list[i] > best)
            best = list[i];
    return best ? best : wanted;
}

static bool take_code(const struct compiler *c, nvrtc_program p, bool ptx, struct buf *ret)
{
    size_t n = 0;
    int rc = ptx ? c->nvrtc.ptx_size(p, &n) : c->nvrtc.cubin_size(p, &n);
    if (rc != NVRTC_OK || n == 0 || !buf_reserve(ret, n + 1))
        return false;
    rc = ptx ? c->nvrtc.ptx(p, ret->p + ret->n) : c->nvrtc.cubin(p, ret->p + ret->n);
    ret->n += n;
    return rc == NVRTC_OK;
}

bool compiler_run(const struct compiler *c, const struct program_text *program, struct str source,
                  int architecture, struct buf *ret, struct err *err)
{
    enum { MAX_HEADERS = 256, MAX_OPTIONS = 4 };
    const char *names[MAX_HEADERS], *texts[MAX_HEADERS];
    char option[64];
    const char *options[MAX_OPTIONS] = { option };
    int n_options = 1;
    nvrtc_program p = NULL;
    int n = 0, known = known_architecture(c, architecture);
    for (const struct device_text *text = device_texts; text->name && n < MAX_HEADERS; text++)
        if (is_header(text)) {
            names[n] = text->name;
            texts[n++] = text->text;
        }
    snprintf(option, sizeof option, "--gpu-architecture=%s_%d",
             known == architecture ? "sm" : "compute", known);
    if (!program->file) /* a generated kernel rounds after each node, as separate kernels would */
        options[n_options++] = "--fmad=false";
    if (c->precompiles)
        options[n_options++] = "--pch";
    if (can_precompile(c))
        options[n_options++] = "--minimal";
    int rc = c->nvrtc.create(&p, source.p, program->file ? program->file : program->name, n, texts,
                             names);
    if (rc != NVRTC_OK)
        return err_set(err, ERR_ENV, "kernel %s: NVRTC %d.%d cannot create a program: error %d",
                       program->name, c->major, c->minor, rc);
    rc = c->nvrtc.compile(p, n_options, options);
    bool ok = rc == NVRTC_OK;
    if (!ok)
        did_not_compile(c, program, source, architecture, p, rc, err);
    else if (!take_code(c, p, known != architecture, ret))
        ok = err_set(err, ERR_ENV, "kernel %s: NVRTC %d.%d returned no code", program->name,
                     c->major, c->minor);
    c->nvrtc.destroy(&p);
    return ok;
}
