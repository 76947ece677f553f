#include "profile/dash/config_name.h"

#include "trace/base/buf.h"

enum { MAX_NAME = 255 };

enum word_kind { WORD_OTHER, WORD_SUITE, WORD_DTYPE, WORD_MODE, WORD_DEVICE, WORD_RESULT };

static const struct word {
    const char *text; /* with every '_' that the word has */
    enum word_kind kind;
    const char *means; /* NULL: itself */
} WORDS[] = {
    { "timm_models", WORD_SUITE, NULL },  { "timm", WORD_SUITE, "timm_models" },
    { "torchbench", WORD_SUITE, NULL },   { "huggingface", WORD_SUITE, NULL },
    { "distributed", WORD_SUITE, NULL },  { "microbench", WORD_SUITE, NULL },
    { "training", WORD_MODE, NULL },      { "inference", WORD_MODE, NULL },
    { "float32", WORD_DTYPE, NULL },      { "float16", WORD_DTYPE, NULL },
    { "bfloat16", WORD_DTYPE, NULL },     { "amp_bf16", WORD_DTYPE, NULL },
    { "amp_fp16", WORD_DTYPE, NULL },     { "amp", WORD_DTYPE, NULL },
    { "float64", WORD_DTYPE, NULL },      { "int8", WORD_DTYPE, NULL },
    { "notset", WORD_DTYPE, NULL },       { "quant", WORD_DTYPE, NULL },
    { "cuda", WORD_DEVICE, NULL },        { "cpu", WORD_DEVICE, NULL },
    { "xpu", WORD_DEVICE, NULL },         { "mps", WORD_DEVICE, NULL },
    { "rocm", WORD_DEVICE, NULL },        { "hpu", WORD_DEVICE, NULL },
    { "performance", WORD_RESULT, NULL }, { "accuracy", WORD_RESULT, NULL },
};

static const enum dash_key KEY_OF[] = { [WORD_SUITE] = DASH_SUITE,
                                        [WORD_DTYPE] = DASH_DTYPE,
                                        [WORD_MODE] = DASH_MODE,
                                        [WORD_DEVICE] = DASH_DEVICE };

/* Words are separated by '_' in PyTorch's files, and by '-' in those of other CI systems. */
static bool is_separator(char c)
{
    return c == '_' || c == '-';
}

static size_t find_separator(struct str name)
{
    size_t n = 0;
    while (n < name.n && !is_separator(name.p[n]))
        n++;
    return n;
}

/* The row of the word at the start of `name`, which ends there or at a separator; NULL: none. */
static const struct word *word_at(struct str name)
{
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        struct str text = str_of(WORDS[i].text);
        if (str_starts(name, text) && (name.n == text.n || is_separator(name.p[text.n])))
            return &WORDS[i];
    }
    return NULL;
}

struct str config_name_stem(struct str path)
{
    static const struct str ENDINGS[] = { { ".zst", 4 },   { ".gz", 3 },     { ".csv", 4 },
                                          { ".jsonl", 6 }, { ".ndjson", 7 }, { ".tape", 5 },
                                          { ".log", 4 },   { ".pt2", 4 } };
    struct str name = str_basename(path);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (name.n > ENDINGS[i].n && str_ends(name, ENDINGS[i]))
            name.n -= ENDINGS[i].n;
    return name;
}

struct reading {
    struct dash *dash;
    uint32_t text[DASH_KEYS]; /* INTERN_NONE: not said */
    struct buf compiler;
    bool says, seen_mode;
};

/* A device before the suite belongs to the compiler, as in cpu_inductor_torchbench_training: there
 * it chooses what CI runs, and is no device of results. */
static bool is_device_of_results(const struct reading *r)
{
    return r->seen_mode;
}

static bool take_word(struct reading *r, struct str text, const struct word *word, struct err *err)
{
    enum word_kind kind = word ? word->kind : WORD_OTHER;
    if (kind == WORD_DEVICE && !is_device_of_results(r))
        kind = WORD_OTHER;
    r->says |= kind == WORD_SUITE || kind == WORD_MODE;
    r->seen_mode |= kind == WORD_MODE;
    if (kind == WORD_RESULT)
        return true;
    if (kind == WORD_OTHER) {
        if (r->compiler.n)
            buf_putc(&r->compiler, '_');
        buf_put(&r->compiler, text);
        return !r->compiler.failed || err_nomem(err);
    }
    uint32_t *to = &r->text[KEY_OF[kind]];
    *to = intern(&r->dash->texts, str_of(word->means ? word->means : word->text));
    return *to != INTERN_NONE || err_nomem(err);
}

static bool take_words(struct reading *r, struct str name, struct err *err)
{
    while (name.n > 0) {
        const struct word *word = word_at(name);
        size_t n = word ? strlen(word->text) : find_separator(name);
        if (n > 0 && !take_word(r, str_first(name, n), word, err))
            return false;
        name = str_from(name, n + 1);
    }
    return true;
}

bool config_name_read(struct dash *dash, struct str name, struct dash_config *ret, struct err *err)
{
    struct reading r = { .dash = dash };
    for (int k = 0; k < DASH_KEYS; k++)
        r.text[k] = INTERN_NONE;
    bool ok = take_words(&r, str_first(config_name_stem(name), MAX_NAME), err);
    if (ok && r.compiler.n) {
        r.text[DASH_COMPILER] = intern(&dash->texts, buf_str(&r.compiler));
        ok = r.text[DASH_COMPILER] != INTERN_NONE || err_nomem(err);
    }
    for (int k = 0; k < DASH_KEYS && ok && r.says; k++)
        if (r.text[k] != INTERN_NONE)
            ret->text[k] = r.text[k];
    buf_release(&r.compiler);
    return ok;
}
