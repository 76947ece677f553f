/* The syntax tree of custom rules, which custom.c makes and custom_run.c runs. */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_TREE_H
#define SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_TREE_H

#include "replay/ops/decomp/custom.h"
#include "trace/base/arena.h"
#include "trace/base/vec.h"

enum {
    CUSTOM_MAX_DEPTH = 100, /* nested expressions */
    CUSTOM_MAX_NAMES = 128, /* names of one rule: arguments and locals */
    CUSTOM_MAX_RULES = 1 << 16,
    CUSTOM_MAX_TEXT = 1 << 24
};

enum tree_kind {
    TREE_NONE,
    TREE_BOOL,   /* integer */
    TREE_INT,    /* integer */
    TREE_FLOAT,  /* number */
    TREE_STRING, /* text */
    TREE_ELLIPSIS,
    TREE_LOCAL,    /* integer: the slot of the name */
    TREE_CONSTANT, /* text: torch.float32, torch.channels_last */
    TREE_LIST,     /* items */
    TREE_FOR,      /* [item for slot in item]: integer: the slot */
    TREE_TUPLE,
    TREE_SLICE,     /* three items */
    TREE_ATTRIBUTE, /* item . text */
    TREE_ITEM,      /* item [ item ] */
    TREE_CALL,      /* text ( items ); each keyword argument stores its name */
    TREE_METHOD,    /* item . text ( items after the first ) */
    TREE_OPERATOR,  /* text names a function of the operator module, applied to the items */
    TREE_AND,
    TREE_OR,
    TREE_IF,     /* items: condition, then, else: expressions, or blocks */
    TREE_BLOCK,  /* items: statements */
    TREE_LOOP,   /* integer: slot; items: list, block */
    TREE_ASSIGN, /* integer: slot; item */
    TREE_RETURN  /* items */
};

struct tree {
    enum tree_kind kind;
    uint32_t line, column;
    struct str keyword; /* the name of a keyword argument */
    struct str text;
    int64_t integer;
    double number;
    uint32_t first, n; /* items: in custom_rules.items */
};

struct custom_rule {
    struct str schema; /* terminated */
    uint32_t first, n; /* statements: in custom_rules.items */
    uint32_t n_args, n_names;
};

struct custom_rules {
    struct arena arena;
    vec_of(struct tree)
    trees;
    vec_of(uint32_t)
    items;
    vec_of(struct custom_rule)
    rules;
};

struct call;
struct schema;
struct value;
/* Adds the statements of a text without a schema. Their names are those of this schema's
 * arguments. Returns false as custom_rules_add() does, with "body" as the file. */
bool custom_rules_add_body(struct custom_rules *rules, const struct schema *schema, struct str text,
                           struct err *err);
/* Runs rule `i` in the call of an operator (replay/ops/dispatch/rule.h). *ret is what its
 * `return` gives, or None. Returns false after a failure. */
bool custom_eval(struct call *c, const struct custom_rules *rules, uint32_t i,
                 const struct value *args, struct value *ret);
/* Makes the result of a rule that of its call. Returns false if it does not fit the schema. */
bool ret_custom(struct call *c, struct value value);

#endif
