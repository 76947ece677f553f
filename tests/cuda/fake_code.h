/* What fake_nvrtc.c and fake_modules.c agree on.
 *
 * Modules stay in caches on disk, whose keys know the kernel's text and not what the host's
 * compiler is given beside it: a module of another shim or compiler is no module. */
#ifndef SYMTAPE_TESTS_CUDA_FAKE_CODE_H
#define SYMTAPE_TESTS_CUDA_FAKE_CODE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizer that this was built with finds what leaves arrays of the kernels' own. */
#if defined __SANITIZE_ADDRESS__
#define SANITIZER "-fsanitize=address",
#else
#define SANITIZER
#endif

static inline const char *kernel_compiler(void)
{
    const char *compiler = getenv("SYMTAPE_FAKE_CC");
    return compiler && *compiler ? compiler : FAKE_CC;
}

static inline unsigned long long hash_bytes(unsigned long long hash, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)p[i]) * 0x100000001b3u;
    return hash;
}

static inline unsigned long long made_with(void)
{
    static const char *const files[] = { FAKE_ROOT "/tests/cuda/shim.h",
                                         FAKE_ROOT "/tests/cuda/shim_state.h",
                                         FAKE_ROOT "/tests/cuda/fake_nvrtc.c" };
    static const char *const sanitizer[] = { SANITIZER NULL };
    const char *compiler = kernel_compiler();
    unsigned long long hash = 0xcbf29ce484222325u;
    char bytes[4096];
    for (const char *p = compiler; *p; p++)
        hash = hash_bytes(hash, p, 1);
    hash = hash_bytes(hash, sanitizer[0], sanitizer[0] ? strlen(sanitizer[0]) : 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(files[i], "rb");
        for (size_t n; file && (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
            hash = hash_bytes(hash, bytes, n);
        if (file)
            fclose(file);
    }
    return hash;
}

#endif
