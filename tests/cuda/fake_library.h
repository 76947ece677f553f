/* What the fakes of cuBLASLt and cuDNN share. Include with LIBRARY ("cudnn") and MOOD
 * ("FAKE_CUDNN": the variable that says how it is to fail) defined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rule of the library: breaking it ends the process. */
#define CHECK(condition, ...)                                    \
    do {                                                         \
        if (!(condition)) {                                      \
            fprintf(stderr, "fake %s: %s: ", LIBRARY, __func__); \
            fprintf(stderr, __VA_ARGS__);                        \
            fprintf(stderr, " (%s)\n", #condition);              \
            abort();                                             \
        }                                                        \
    } while (0)

/* fake.h: looked for once. */
static inline int idles(void)
{
    static int known;
    const char *text = known ? NULL : getenv("SYMTAPE_FAKE_IDLE");
    if (!known)
        known = text && *text && strcmp(text, "0") != 0 ? 2 : 1;
    return known == 2;
}

static inline int wanted(const char *mood)
{
    const char *is = getenv(MOOD);
    return is && strcmp(is, mood) == 0;
}
