#include "minify/oracle/check_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/hash.h"

enum { FILE_MAX_BYTES = 64 << 20 };

static void hash_file(XXH3_state_t *hash, const char *path)
{
    struct stat info;
    char bytes[16384];
    size_t n, all = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    XXH3_128bits_update(hash, "file", 5);
    while (all < FILE_MAX_BYTES && (n = fread(bytes, 1, sizeof bytes, file)) > 0) {
        XXH3_128bits_update(hash, bytes, n);
        all += n;
    }
    fclose(file);
}

static void hash_program(XXH3_state_t *hash, const char *name)
{
    struct str rest = str_of(getenv("PATH"));
    char path[4096];
    while (rest.n) {
        struct str folder = str_first(rest, str_find_char(rest, ':'));
        rest = str_from(rest, folder.n + 1);
        int n = snprintf(path, sizeof path, "%.*s/%s", STR_ARG(folder), name);
        if (n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0) {
            hash_file(hash, path);
            return;
        }
    }
}

static void add_word(XXH3_state_t *hash, const char *word, bool first)
{
    XXH3_128bits_update(hash, word, strlen(word) + 1);
    if (first && !strchr(word, '/'))
        hash_program(hash, word);
    else
        hash_file(hash, word);
}

void check_id(const struct check_options *options, const struct command_line *command,
              struct buf *out)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) {
        out->failed = true;
        return;
    }
    const int codes[] = { options->invert, (int)options->crash, options->also_interesting };
    XXH3_128bits_reset(hash);
    XXH3_128bits_update(hash, codes, sizeof codes);
    for (size_t i = 0; i < command->words.n; i++)
        add_word(hash, command->words.v[i], i == 0);
    XXH128_hash_t id = XXH3_128bits_digest(hash);
    XXH3_freeState(hash);
    buf_printf(out, "check %016" PRIx64 "%016" PRIx64, (uint64_t)id.high64, (uint64_t)id.low64);
}

void imports_id(const struct program_setup *setup, struct buf *out)
{
    XXH3_state_t *hash = XXH3_createState();
    char path[4096];
    if (!hash) {
        out->failed = true;
        return;
    }
    XXH3_128bits_reset(hash);
    for (struct str rest = setup->imports, file; (file = program_next_import_file(&rest)).n;) {
        int n = snprintf(path, sizeof path, "%.*s", STR_ARG(file));
        if (n > 0 && (size_t)n < sizeof path)
            hash_file(hash, path);
    }
    XXH128_hash_t id = XXH3_128bits_digest(hash);
    XXH3_freeState(hash);
    buf_printf(out, "%016" PRIx64 "%016" PRIx64, (uint64_t)id.high64, (uint64_t)id.low64);
}
