#include <openssl/crypto.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/cmd.h"
#include "trace/base/hash.h"
#include "trace/base/text/json_write.h"

/* The versions of torch for which the readers were written and tested. Logs of other versions
 * are read as far as they have the same form; import keeps all of their bytes. */
#define TORCH_LOGS_FROM "2.7"
#define TORCH_LOGS_TO   "2.15"

struct version_args {
    bool json;
};

static const struct opt options[] = {
    OPT_JSON(struct version_args, json),
    OPT_END,
};

struct linked_library {
    const char *name;
    char version[32]; /* version of the library that is loaded, not of its headers */
};

enum { LIBRARIES = 4 };

static void libraries(struct linked_library *list)
{
    unsigned xxhash = XXH_versionNumber();
    list[0] = (struct linked_library){ .name = "zstd" };
    snprintf(list[0].version, sizeof list[0].version, "%s", ZSTD_versionString());
    list[1] = (struct linked_library){ .name = "zlib" };
    snprintf(list[1].version, sizeof list[1].version, "%s", zlibVersion());
    list[2] = (struct linked_library){ .name = "libcrypto" };
    snprintf(list[2].version, sizeof list[2].version, "%s",
             OpenSSL_version(OPENSSL_VERSION_STRING));
    list[3] = (struct linked_library){ .name = "xxhash" };
    snprintf(list[3].version, sizeof list[3].version, "%u.%u.%u", xxhash / 10000,
             xxhash / 100 % 100, xxhash % 100);
}

static void print_version_json(const struct linked_library *list, struct buf *text)
{
    struct json_writer w = json_writer_of(text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_VERSION);
    json_put_cstr(&w, "version", SYMTAPE_VERSION);
    json_open_object(&w, "libraries");
    for (int i = 0; i < LIBRARIES; i++)
        json_put_cstr(&w, list[i].name, list[i].version);
    json_close(&w);
    json_open_object(&w, "torch_logs");
    json_put_cstr(&w, "from", TORCH_LOGS_FROM);
    json_put_cstr(&w, "to", TORCH_LOGS_TO);
    json_close(&w);
    json_close(&w);
    buf_putc(text, '\n');
}

static void print_version_text(const struct linked_library *list, struct buf *text)
{
    buf_puts(text, "symtape " SYMTAPE_VERSION "\nlibraries:");
    for (int i = 0; i < LIBRARIES; i++)
        buf_printf(text, "%s %s %s", i ? "," : "", list[i].name, list[i].version);
    buf_puts(text, "\nlogs: torch " TORCH_LOGS_FROM " to " TORCH_LOGS_TO "\n");
}

static int run_version(struct cmd *cmd)
{
    const struct version_args *args = cmd->args;
    struct linked_library list[LIBRARIES];
    struct buf text = BUF_INIT;
    libraries(list);
    if (args->json)
        print_version_json(list, &text);
    else
        print_version_text(list, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

const struct command command_version = {
    .synopsis = "[--json]",
    .description = "Prints the version of symtape, of the libraries that it runs with, and the "
                   "versions of torch whose logs it knows. The same as symtape --version.",
    .options = options,
    .args_size = sizeof(struct version_args),
    .run = run_version,
};
