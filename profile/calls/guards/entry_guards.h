/* The guards of one cache entry: its tree (trace/events/guard_tree.h) read once, evaluated at each
 * look-up.
 *
 * The order is that of torch/csrc/dynamo/guards.cpp: the leaves of a manager, then the managers
 * below it, and after the whole tree the guards at the outermost level. A manager whose child fails
 * sorts its children by how often each failed (RootGuardManager::check_nopybind and
 * GuardManager::check_accessors_nopybind), so that the order depends on the look-ups before. */
#ifndef SYMTAPE_PROFILE_CALLS_GUARDS_ENTRY_GUARDS_H
#define SYMTAPE_PROFILE_CALLS_GUARDS_ENTRY_GUARDS_H

#include "profile/calls/guards/condition.h"

enum leaf_how {
    LEAF_CONDITION,
    LEAF_TENSOR,
    LEAF_TYPE,
    LEAF_IDENTITY,
    LEAF_MODE,
    LEAF_FUNCTION_MODES,
    LEAF_DEFAULT_DEVICE,
    LEAF_ALIASING,
    LEAF_SAME,
};

/* What most checks read stands first, in one cache line. */
struct guard_leaf {
    enum leaf_how how;
    uint32_t next;          /* the next leaf of its manager */
    uint32_t subject;       /* the only source that decides the leaf, which passes if the value is
                               not known; or INTERN_NONE */
    uint32_t source;        /* what it is about, or INTERN_NONE */
    condition_id condition; /* of a LEAF_CONDITION; CONDITION_NONE if it cannot be decided */
    uint32_t tensor;        /* of a LEAF_TENSOR: in entry_guards.tensors, or TENSOR_NONE */
    uint32_t owner;         /* of a LEAF_IDENTITY: the source of `then` */
    bool compares_types;    /* see has_other_type() in check_entry.c */
    bool of_module;         /* of a LEAF_IDENTITY: the object is a torch.nn.Module */
    bool joined;           /* PyTorch evaluates it together with the leaf before it, as one guard */
    struct str type;       /* of a LEAF_TYPE, and of a constant that cannot be read: the name of the
                              class; "" if the tree has none */
    struct str kind, text; /* "EQUALS_MATCH", "L['n'] == 2   # return x * n  # train.py:64 in f" */
    struct str code, comment;
    struct py_value then; /* of a LEAF_IDENTITY: the value when the entry was compiled, or that
                             of the function whose part it is */
};

#define TENSOR_NONE UINT32_MAX
#define NO_DIM      UINT32_MAX
#define ANY_SIZE    INT64_MIN
#define SYMBOL_SIZE (INT64_MIN + 1) /* any but 0 and 1: what a symbol of its own would guard */

struct tensor_check {
    struct str name;                      /* L['x'] */
    struct str type, keys, dtype, device; /* "Tensor", "CPU, BackendSelect, AutogradCPU" ... */
    bool requires_grad;
    bool ordinary_keys; /* outside of inference mode, every tensor of its device has them */
    uint32_t n_sizes, n_strides;
    uint32_t first; /* in entry_guards.dims: the sizes, then the strides; ANY_SIZE for None */
};

#define MANAGER_NONE UINT32_MAX

struct guard_manager {
    uint32_t source; /* INTERN_NONE if the tree names none */
    int64_t length;  /* of the dict that a DictGuardManager was made for; -1: not checked */
    struct str type; /* the name of its object's class; "" if the tree has none */
    bool keeps_type; /* a DictGuardManager checks that class */
    uint32_t first_leaf, last_leaf;
    uint32_t parent, first_child, last_child, next, previous;
    uint32_t failures; /* number of look-ups that failed inside */
    bool is_pair;      /* a key of a DictGuardManager and its value */
    bool of_module;    /* its object is a torch.nn.Module */
};

struct entry_guards {
    vec_of(struct guard_leaf)
    leaves;
    vec_of(struct guard_manager)
    managers; /* 0 is the root; 1 stands for the guards at the outermost level */
    vec_of(struct tensor_check)
    tensors;
    vec_of(int64_t)
    dims;
    uint32_t aliasing;      /* the first NO_TENSOR_ALIASING, or TENSOR_NONE */
    struct hash_index seen; /* objects of NO_TENSOR_ALIASING during a check; rows are leaves */
    struct condition_pool conditions;
    struct arena arena;     /* holds texts that are not part of the tree */
    struct call_mode mode;  /* when the entry was compiled */
    uint32_t n_undecidable; /* number of leaves that no call decides */
    vec_of(uint32_t)
    identities; /* the leaves that compare objects with `then` */
    vec_of(uint32_t)
    attributes;   /* the leaves that compare an attribute of the module with a constant */
    bool indexed; /* by entry_guards_index() */
    struct hash_index by_source; /* of a source: its TENSOR_MATCH, and what compares it with an
                                    integer; rows are leaves */
    uint32_t version;            /* of the order of the managers: grows when it changes */
};

/* What a DictGuardManager checks of its dict before its guards. */
enum dict_mismatch { DICT_SAME, DICT_TYPE, DICT_LENGTH };
enum dict_mismatch guard_manager_mismatch(const struct guard_manager *manager, struct world *world);

/* Reads a tree, whose text must outlive the guards. The present call of `world` is the one that
 * compiled the entry, and `mode` its mode. Returns false with err set when memory ran out. */
bool entry_guards_read(struct entry_guards *guards, struct str tree, struct world *world,
                       const struct call_mode *mode, struct err *err);
void entry_guards_release(struct entry_guards *guards);

enum guards_verdict {
    GUARDS_PASS,
    GUARDS_FAIL,
    GUARDS_UNDECIDED, /* a guard could not be evaluated; the others pass */
};

/* The size or stride by which a TENSOR_MATCH fails. Of one leaf, equal ones have equal reasons. */
struct dim_mismatch {
    uint32_t dim; /* among the sizes, then the strides of the guard; NO_DIM: another reason */
    int64_t actual;
};

struct guards_answer {
    enum guards_verdict verdict;
    uint32_t leaf;      /* the first that fails or is undecided; TENSOR_NONE when they pass, or when
                           the length of a dict differs */
    uint32_t source;    /* what that is about, or INTERN_NONE */
    uint32_t manager;   /* in which the guards failed; MANAGER_NONE when they did not */
    uint32_t evaluated; /* number of guards up to it; leaves that are joined are one */
    uint32_t accessors; /* number of accessors that were followed for them */
    struct dim_mismatch dim;
    bool no_memory; /* the answer does not count */
};

/* Evaluates the guards on the present call. `count` counts a failure in the order of the managers,
 * as a look-up of PyTorch does. */
struct guards_answer entry_guards_check(struct entry_guards *guards, struct world *world,
                                        const struct call_mode *mode, bool count);

/* Appends the text that PyTorch would log for the failure that `answer` is, which the last
 * entry_guards_check() of these guards gave on the present call. Returns false when memory ran out,
 * but for that of the text. */
bool entry_guards_explain(struct entry_guards *guards, struct world *world,
                          const struct call_mode *mode, const struct guards_answer *answer,
                          struct buf *reason);

/* Counts a failure in a manager in the order of the managers. entry_guards_check() does it with
 * `count`. */
void entry_guards_count(struct entry_guards *guards, uint32_t manager);

/* Evaluates one leaf by itself on the present call, whatever the others say. That of a
 * NO_TENSOR_ALIASING compares its tensor with those of the leaves that were evaluated since
 * entry_guards_begin(). */
void entry_guards_begin(struct entry_guards *guards);
struct guards_answer entry_guards_check_leaf(struct entry_guards *guards, struct world *world,
                                             const struct call_mode *mode, uint32_t leaf);

/* Removes leaves, and managers that are left without any, as torch.compile's guard_filter_fn does.
 * `removed` has an element for each leaf; `unguarded` has one for each manager, true if no guard on
 * its value is left, so that only what is below keeps it. Returns false when memory ran out. */
bool entry_guards_remove(struct entry_guards *guards, const bool *removed, const bool *unguarded);
/* Returns how many guards or accessors a look-up evaluates that passes. */
uint32_t entry_guards_evaluated(const struct entry_guards *guards);
uint32_t entry_guards_accessors(const struct entry_guards *guards);

/* Which sizes (of dimension `dim` of a tensor) and integers (`dim` is NO_DIM) are symbols when an
 * entry is made anew for other values. */
struct size_policy {
    bool (*is_symbol)(void *data, uint32_t source, uint32_t dim, int64_t before);
    void *data;
};

/* Returns the number that the guards demand of a size or an integer; false if they demand none.
 * entry_guards_index() was called before, which returns false when memory ran out. */
bool entry_guards_index(struct entry_guards *guards);
bool entry_guards_number(const struct entry_guards *guards, uint32_t source, uint32_t dim,
                         int64_t *ret);

/* Changes guards so that the present call passes: sizes become those of the call or symbols, and
 * integers that differ become symbols, as automatic dynamic shapes would make them
 * (torch/_dynamo/variables/builder.py: _automatic_dynamic(), wrap_symint()). *ret is false if the
 * call fails for another reason. Returns false when memory ran out. */
bool entry_guards_widen(struct entry_guards *guards, struct world *world,
                        const struct call_mode *mode, const struct size_policy *policy, bool *ret);

/* Remembers what the guards, which pass, say of attributes of the module that is called and of
 * which the call says nothing. Returns false when memory ran out. */
bool entry_guards_learn(const struct entry_guards *guards, struct world *world);

/* Sets *ret to whether a reason that PyTorch logged is about a value of which the present call says
 * nothing. Returns false when memory ran out. */
bool entry_guards_assumed(const struct entry_guards *guards, struct world *world, struct str reason,
                          bool *ret);

/* Returns whether the ID_MATCH guards of an entry on modules that are locals of the frame name the
 * objects of the present call (_has_same_id_matched_objs() in torch/_dynamo/cache_size.py;
 * ID_MATCH() in guards.py notes modules alone). */
bool entry_guards_same_objects(const struct entry_guards *guards, struct world *world);

/* Sets *ret to the source of the value that a logged reason is about, if the present call does not
 * list it; INTERN_NONE otherwise. Returns false when memory ran out. */
bool entry_guards_unlisted(const struct entry_guards *guards, const struct world *world,
                           struct str reason, uint32_t *ret);

/* Appends a text of a guard as PyTorch prints it in reasons: L['x'] becomes x
 * (strip_local_scope() in torch/_dynamo/guards.py). */
void put_without_scope(struct str text, struct buf *out);

#endif
