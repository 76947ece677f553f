/* Command line options as data.
 *
 * A command describes its options in a table; from it come parsing, `-h`, `--no-NAME` for flags,
 * "did you mean", and the shell completions. Values land in a struct of the command's own:
 *
 *     struct import_args { const char *output; bool overwrite; };
 *     static const struct opt options[] = {
 *         OPT_STRING('o', "output", "TAPE", struct import_args, output, "write the tape here"),
 *         OPT_FLAG(0, "overwrite", struct import_args, overwrite, "replace an existing TAPE"),
 *         OPT_END,
 *     };
 *
 * Accepted: -o FILE, -oFILE, --output FILE, --output=FILE, grouped flags (-qj), "--" to end
 * options, options after operands, "-" as an operand. A repeated option replaces the value before,
 * unless it is a list (OPT_LIST), to which each adds one.
 * An optional value (OPT_OPTIONAL) is given as --events=NAME; the next word serves too once an
 * operand was seen ("show TAPE --events NAME"), since only then it cannot be the operand. */
#ifndef SYMTAPE_CMD_CLI_OPT_H
#define SYMTAPE_CMD_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

enum opt_kind {
    OPT_KIND_END,
    OPT_KIND_FLAG,     /* bool */
    OPT_KIND_STRING,   /* const char *, points into argv */
    OPT_KIND_OPTIONAL, /* const char *; "" when the option is given without a value */
    OPT_KIND_NUMBER,   /* struct opt_number, decimal */
    OPT_KIND_CHOICE,   /* const char *, one of the words in `value`, separated by '|' */
    OPT_KIND_SPLIT,    /* struct opt_number: the number of operands before it; takes no value */
    OPT_KIND_SIZES,    /* struct opt_sizes: "s77=31,s27=8", or a file of such lines */
    OPT_KIND_LIST,     /* struct opt_list: a value each time that it is given */
};

struct opt {
    enum opt_kind kind;
    char letter;       /* 0: none */
    const char *name;  /* without the dashes */
    const char *value; /* the name of its value in the help: "FILE"; the words of a choice */
    size_t offset;     /* of its field in the command's struct */
    const char *help;
    const char *old; /* older spellings of its name, separated by '|', or NULL: they are accepted,
                      * and help, completions and suggestions do not show them */
};

struct opt_number {
    uint64_t value;
    bool given;
};

/* A value that has an '=' before its first '/' is text, as is an empty one; any other value names a
 * file. A value replaces an earlier one of its own kind only, so that both can be given. */
struct opt_sizes {
    const char *text, *file; /* NULL: not given */
};

enum { OPT_LIST_MAX = 256 };
struct opt_list {
    const char *v[OPT_LIST_MAX]; /* point into argv */
    size_t n;
};

/* Returns whether the option needs a value, which is its next word if it is not given in another
 * way. */
static inline bool opt_takes_value(const struct opt *opt)
{
    return opt->kind != OPT_KIND_FLAG && opt->kind != OPT_KIND_OPTIONAL &&
           opt->kind != OPT_KIND_SPLIT;
}

/* Returns the field's offset; it does not compile without a warning when the field is of another
 * type. */
#define OPT_FIELD(ctype, type, field) \
    (offsetof(type, field) + 0 * sizeof(&((type *)0)->field == (ctype *)0))

/* The last arguments of a row are its help and, if the option has been renamed, its older
 * spellings: OPT_STRING(0, "error", "TEXT", struct minify_args, error, "a failure has this text",
 * .old = "expect"). */
#define OPT_ROW(kind_, letter_, name_, value_, ctype, type, field, ...)   \
    {                                                                     \
        .kind = kind_, .letter = letter_, .name = name_, .value = value_, \
        .offset = OPT_FIELD(ctype, type, field), .help = __VA_ARGS__      \
    }
#define OPT_FLAG(letter, name, type, field, ...) \
    OPT_ROW(OPT_KIND_FLAG, letter, name, NULL, bool, type, field, __VA_ARGS__)
#define OPT_STRING(letter, name, value, type, field, ...) \
    OPT_ROW(OPT_KIND_STRING, letter, name, value, const char *, type, field, __VA_ARGS__)
#define OPT_OPTIONAL(letter, name, value, type, field, ...) \
    OPT_ROW(OPT_KIND_OPTIONAL, letter, name, value, const char *, type, field, __VA_ARGS__)
#define OPT_NUMBER(letter, name, value, type, field, ...) \
    OPT_ROW(OPT_KIND_NUMBER, letter, name, value, struct opt_number, type, field, __VA_ARGS__)
#define OPT_CHOICE(letter, name, words, type, field, ...) \
    OPT_ROW(OPT_KIND_CHOICE, letter, name, words, const char *, type, field, __VA_ARGS__)
#define OPT_SPLIT(letter, name, type, field, ...) \
    OPT_ROW(OPT_KIND_SPLIT, letter, name, NULL, struct opt_number, type, field, __VA_ARGS__)
#define OPT_SIZES(letter, name, value, type, field, ...) \
    OPT_ROW(OPT_KIND_SIZES, letter, name, value, struct opt_sizes, type, field, __VA_ARGS__)
#define OPT_LIST(letter, name, value, type, field, ...) \
    OPT_ROW(OPT_KIND_LIST, letter, name, value, struct opt_list, type, field, __VA_ARGS__)
#define OPT_END              \
    {                        \
        .kind = OPT_KIND_END \
    }

/* Options that several commands have, with the same help text everywhere. */
#define OPT_JSON(type, field) OPT_FLAG(0, "json", type, field, "print one JSON object")
#define OPT_STRICT(type, field) \
    OPT_FLAG(0, "strict", type, field, "treat any damage as an error, with exit code 3")
#define OPT_ALLOW(type, field)                                                                 \
    OPT_STRING(0, "allow", "NS[,NS...]", type, field,                                          \
               "also write and run calls of operators in these namespaces, as torchvision in " \
               "torch.ops.torchvision.nms; by default only PyTorch's own operators are")
#define OPT_OVERWRITE(type, field) \
    OPT_FLAG(0, "overwrite", type, field, "replace the output if it exists")
#define OPT_REDACT(type, field)        \
    OPT_FLAG(0, "redact", type, field, \
             "replace environment variables, tokens, addresses, user names and paths")

/* A table and the struct that it fills. */
struct opt_target {
    const struct opt *options;
    void *args;
};

struct opt_parse {
    vec_of(const char *)
    operands;           /* in order; NULL-terminated after a successful parse */
    bool options_first; /* set by the caller: the first operand ends the options */
    bool dashes;        /* a "--" ended the options */
    size_t n_targets;
    const struct opt_target
        *targets; /* set by the caller: tables in the order of their precedence */
};

/* Parses the words from argv[0] on. It fails with ERR_USAGE (one line, names the option,
 * suggests the nearest name) or when memory ran out. Fields of options that are not given do not
 * change. */
bool opt_parse(struct opt_parse *parse, int argc, const char *const *argv, struct err *err);
/* Returns whether a parse gave a value to the option's field in `args`; for a flag, whether it
 * is set. */
bool opt_is_given(const struct opt *opt, const void *args);
/* Returns the row of that name; NULL if there is none. */
const struct opt *opt_find(const struct opt *options, const char *name);
/* Frees the array of operands; the strings belong to argv. */
void opt_release(struct opt_parse *parse);

/* Prints the lines of a help text: " -o, --output TAPE write the tape here". */
void opt_help(const struct opt *options, unsigned width, struct buf *out);

/* Returns the next word of a choice "a|b|c", or "" at the end, and advances *rest past it. */
struct str opt_next_word(const char **rest);

#endif
