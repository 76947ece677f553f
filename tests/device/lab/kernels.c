/* E5: one block for each piece of work against persistent blocks. E10: levels of NVRTC's
 * --Ofast-compile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/device_text.h"
#include "tests/device/lab/lab.h"

#define SCALE_ARGS      \
    struct scale_args { \
        u64 to, from;   \
        i64 n;          \
    }
#define ROWS_ARGS      \
    struct rows_args { \
        u64 to, from;  \
        i64 n;         \
    }
SCALE_ARGS;
ROWS_ARGS;

/* n: a multiple of 4. */
static const char scale_text[] =
    TEXT_OF(SCALE_ARGS) ";\nKERNEL(scale, struct scale_args)\n"
                        "{\n"
                        "    f32 *to = PTR(f32, a.to);\n"
                        "    const f32 *from = PTR(f32, a.from);\n"
                        "    ROLLED\n"
                        "    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n / 4;\n"
                        "         i += (i64)GRID_X * THREADS) {\n"
                        "        VEC(f32) x = LOAD16(f32, from, 4 * i);\n"
                        "        UNROLL\n"
                        "        for (int j = 0; j < 4; j++)\n"
                        "            PUT(f32, x, j, AT(f32, x, j) * 2);\n"
                        "        STORE16(f32, to, 4 * i, x);\n"
                        "    }\n"
                        "}\n";

/* The softmax of a row by a block of 256. */
static const char rows_text[] =
    TEXT_OF(ROWS_ARGS) ";\n#define OVER(name, op) \\\n"
                       "    DEVICE f32 name(f32 v, f32 *part) \\\n"
                       "    { \\\n"
                       "        for (int m = 16; m > 0; m /= 2) { \\\n"
                       "            f32 w = SHUFFLE_XOR_f32(v, (u32)m); \\\n"
                       "            v = op; \\\n"
                       "        } \\\n"
                       "        SYNC(); \\\n"
                       "        if (LANE == 0) \\\n"
                       "            part[THREAD / WARP] = v; \\\n"
                       "        SYNC(); \\\n"
                       "        v = part[0]; \\\n"
                       "        for (u32 i = 1; i < THREADS / WARP; i++) { \\\n"
                       "            f32 w = part[i]; \\\n"
                       "            v = op; \\\n"
                       "        } \\\n"
                       "        return v; \\\n"
                       "    }\n"
                       "OVER(greatest, v > w ? v : w)\n"
                       "OVER(sum, v + w)\n"
                       "KERNEL(rows, struct rows_args)\n"
                       "{\n"
                       "    SHARED(f32, part, 32);\n"
                       "    const f32 *x = PTR(f32, a.from) + (i64)BLOCK_X * a.n;\n"
                       "    f32 *y = PTR(f32, a.to) + (i64)BLOCK_X * a.n;\n"
                       "    f32 most = -3e38f, all = 0;\n"
                       "    ROLLED\n"
                       "    for (i64 i = THREAD; i < a.n; i += THREADS)\n"
                       "        most = x[i] > most ? x[i] : most;\n"
                       "    most = greatest(most, part);\n"
                       "    ROLLED\n"
                       "    for (i64 i = THREAD; i < a.n; i += THREADS)\n"
                       "        all += expf(x[i] - most);\n"
                       "    all = sum(all, part);\n"
                       "    ROLLED\n"
                       "    for (i64 i = THREAD; i < a.n; i += THREADS)\n"
                       "        y[i] = expf(x[i] - most) / all;\n"
                       "}\n";

enum { THREADS_OF_BLOCK = 256, PER_THREAD = 4, BLOCKS_A_PROCESSOR = 8, IN_A_ROW = 40 };

struct arrays {
    uint64_t from, to;
};

static bool take_arrays(struct lab *lab, size_t bytes, struct arrays *ret, struct err *err)
{
    return lab_take(lab, bytes, &ret->from, err) && lab_take(lab, bytes, &ret->to, err) &&
           lab_check(lab, lab->cuda->driver.fill_bytes(ret->from, 0, bytes, lab->cuda->stream),
                     "filling", err);
}

static void give_arrays(struct lab *lab, const struct arrays *arrays)
{
    if (arrays->from)
        cuda_give_back(lab->cuda, arrays->from);
    if (arrays->to)
        cuda_give_back(lab->cuda, arrays->to);
}

/* Mean device time of one launch, over IN_A_ROW launches. */
static bool time_launches(struct lab *lab, cu_function f, uint32_t blocks, void *args, double *ret,
                          struct err *err)
{
    void *arguments[] = { args };
    double us[REPEATS_MAX];
    for (uint32_t r = 0; r < lab->repeats; r++) {
        if (!lab_mark(lab, lab->start, err))
            return false;
        for (int i = 0; i < IN_A_ROW; i++)
            if (!lab_check(lab,
                           lab->cuda->driver.launch(f, blocks, 1, 1, THREADS_OF_BLOCK, 1, 1, 0,
                                                    lab->cuda->stream, arguments, NULL),
                           "a launch", err))
                return false;
        if (!lab_mark(lab, lab->end, err) || !lab_wait(lab, err) || !lab_between(lab, &us[r], err))
            return false;
    }
    *ret = lab_median(us, lab->repeats) / IN_A_ROW;
    return true;
}

/* ---- E5 ---- */

static uint32_t exact_blocks(int64_t n)
{
    return (uint32_t)((n / PER_THREAD + THREADS_OF_BLOCK - 1) / THREADS_OF_BLOCK);
}

bool experiment_grid(struct lab *lab, struct err *err)
{
    const int64_t most = lab->longest < CHAIN_MAX ? 1 << 12 : 1 << 24;
    struct arrays arrays = { 0 };
    struct cuda_function *f = lab_compile(lab, "scale", scale_text, err);
    uint32_t persistent = (uint32_t)lab->cuda->multiprocessors * BLOCKS_A_PROCESSOR;
    bool ok = f && take_arrays(lab, (size_t)most * 4, &arrays, err);
    if (ok)
        printf(
            "| f32 elements | blocks, exact | device us | GB/s | persistent blocks | device us | "
            "GB/s |\n|---|---|---|---|---|---|---|\n");
    for (int64_t n = 1 << 10; n <= most && ok; n *= 4) {
        struct scale_args args = { arrays.to, arrays.from, n };
        double exact = 0, kept = 0;
        uint32_t blocks = exact_blocks(n);
        ok = time_launches(lab, f->f, blocks, &args, &exact, err) &&
             time_launches(lab, f->f, persistent, &args, &kept, err);
        if (ok)
            printf("| %lld | %u | %.2f | %.0f | %u | %.2f | %.0f |\n", (long long)n,
                   (unsigned)blocks, exact, 8e-3 * (double)n / exact, (unsigned)persistent, kept,
                   8e-3 * (double)n / kept);
    }
    give_arrays(lab, &arrays);
    return ok;
}

/* ---- E10 ---- */

static const char *const compile_levels[] = { NULL, "--Ofast-compile=min", "--Ofast-compile=mid",
                                              "--Ofast-compile=max" };
enum { COMPILE_LEVELS = sizeof compile_levels / sizeof *compile_levels };

/* Like compiler_run() with one more option; *us is the compiler's time. False on any failure, an
 * unknown option included. */
static bool compile_with(struct lab *lab, const char *source, const char *option, struct buf *ret,
                         double *us)
{
    enum { MAX_TEXTS = 256 };
    const struct nvrtc *nvrtc = &lab->cuda->compiler.nvrtc;
    const char *names[MAX_TEXTS], *texts[MAX_TEXTS];
    char architecture[64];
    const char *options[] = { architecture, option };
    nvrtc_program p = NULL;
    size_t bytes = 0;
    int n = 0;
    for (const struct device_text *text = device_texts; text->name && n < MAX_TEXTS; text++)
        if (str_ends(str_of(text->name), STR(".h"))) {
            names[n] = text->name;
            texts[n++] = text->text;
        }
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             lab->cuda->architecture);
    double begin = clock_us();
    bool ok = nvrtc->create(&p, source, "experiment", n, texts, names) == NVRTC_OK &&
              nvrtc->compile(p, option ? 2 : 1, options) == NVRTC_OK &&
              nvrtc->cubin_size(p, &bytes) == NVRTC_OK;
    *us = clock_us() - begin;
    buf_clear(ret);
    ok = ok && buf_reserve(ret, bytes + 1) && nvrtc->cubin(p, ret->p) == NVRTC_OK;
    ret->n = ok ? bytes : 0;
    if (p)
        nvrtc->destroy(&p);
    return ok;
}

struct trial {
    const char *name, *text;
    uint32_t blocks;
    struct scale_args args;
};

static bool print_trial(struct lab *lab, const struct trial *trial, const char *option,
                        struct err *err)
{
    const struct driver *driver = &lab->cuda->driver;
    const struct program_text program = { .name = trial->name, .text = str_of(trial->text) };
    struct buf source = BUF_INIT, image = BUF_INIT;
    double compile_us = 0, device_us = 0;
    struct scale_args args = trial->args;
    cu_module module = NULL;
    cu_function f = NULL;
    int registers = 0;
    const char *shown = option ? option : "default";
    bool ok = program_source(&program, &source, err);
    buf_putc(&source, '\0');
    ok = ok && (!source.failed || err_nomem(err));
    if (ok && !compile_with(lab, source.p, option, &image, &compile_us)) {
        printf("| %s | %s | not known | | | |\n", trial->name, shown);
    } else if (ok) {
        ok =
            lab_check(lab, driver->module_load(&module, image.p, 0, NULL, NULL), "a module", err) &&
            lab_check(lab, driver->module_function(&f, module, trial->name), trial->name, err) &&
            lab_check(lab, driver->function_attribute(&registers, CU_FUNCTION_REGISTERS, f),
                      trial->name, err) &&
            time_launches(lab, f, trial->blocks, &args, &device_us, err);
        if (ok)
            printf("| %s | %s | %.1f | %zu | %d | %.2f |\n", trial->name, shown, compile_us / 1e3,
                   image.n, registers, device_us);
    }
    if (module)
        driver->module_unload(module);
    buf_release(&source);
    buf_release(&image);
    return ok;
}

bool experiment_compile(struct lab *lab, struct err *err)
{
    const int64_t n = lab->longest < CHAIN_MAX ? 1 << 10 : 1 << 24, columns = n < 4096 ? 256 : 4096;
    struct arrays arrays = { 0 };
    bool ok = cuda_need_compiler(lab->cuda, err) && take_arrays(lab, (size_t)n * 4, &arrays, err);
    const struct trial trials[] = {
        { "scale", scale_text, exact_blocks(n), { arrays.to, arrays.from, n } },
        { "rows", rows_text, (uint32_t)(n / columns), { arrays.to, arrays.from, columns } },
    };
    if (ok)
        printf("| kernel of %lld elements | option | compiling, ms | bytes | registers | device us "
               "|\n|---|---|---|---|---|---|\n",
               (long long)n);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (int h = 0; h < COMPILE_LEVELS && ok; h++)
            ok = print_trial(lab, &trials[i], compile_levels[h], err);
    give_arrays(lab, &arrays);
    return ok;
}
