#include "replay/shape/expr/sym_pool.h"

#include <stdarg.h>
#include <stdlib.h>

#include "trace/base/hash.h"

enum {
    INTEGER = FACT_INTEGER | FACT_RATIONAL | FACT_REAL | FACT_FINITE,
    REAL = FACT_REAL | FACT_FINITE,
    NONNEGATIVE = DECLARED_NONNEGATIVE
};

const struct sym_class sym_classes[SYM_KINDS] = {
#define SYM_KIND(name, class_, order, key, subkey, precedence, facts) \
    [SYM_##name] = { class_, order, key, subkey, precedence, (uint32_t)(facts) },
#include "replay/shape/expr/sym.def"
#undef SYM_KIND
};

sym_id pool_nomem(struct sym_pool *pool)
{
    pool->short_of_memory = true;
    err_nomem(&pool->failure);
    return SYM_NONE;
}

sym_id pool_fail(struct sym_pool *pool, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_setv(&pool->failure, ERR_INPUT, fmt, args);
    va_end(args);
    return SYM_NONE;
}

bool sym_ok(struct sym_pool *pool, struct err *err)
{
    if (!pool_failed(pool))
        return true;
    err_copy(err, &pool->failure);
    err_clear(&pool->failure);
    return false;
}

/* --- Lists --- */

void list_init(struct list *list, struct sym_pool *pool)
{
    list->pool = pool;
    list->v = list->inline_;
    list->n = 0;
    list->cap = LIST_INLINE;
}

static bool list_grow(struct list *list, uint32_t need)
{
    if (need > SYM_MAX_TERMS)
        return pool_fail(list->pool, "an expression has more than %d terms", SYM_MAX_TERMS), false;
    uint32_t cap = list->cap * 2 > need ? list->cap * 2 : need;
    sym_id *v =
        list->v == list->inline_ ? malloc(cap * sizeof *v) : realloc(list->v, cap * sizeof *v);
    if (!v)
        return pool_nomem(list->pool), false;
    if (list->v == list->inline_)
        memcpy(v, list->inline_, list->n * sizeof *v);
    list->v = v;
    list->cap = cap;
    return true;
}

bool list_push(struct list *list, sym_id e)
{
    if (e == SYM_NONE || (list->n == list->cap && !list_grow(list, list->n + 1)))
        return false;
    list->v[list->n++] = e;
    return true;
}

bool list_push_args(struct list *list, sym_id e)
{
    uint32_t n = node_at(list->pool, e)->n;
    if (n > list->cap - list->n && !list_grow(list, list->n + n))
        return false;
    memcpy(list->v + list->n, list->pool->args.v + node_at(list->pool, e)->first,
           n * sizeof(sym_id));
    list->n += n;
    return true;
}

void list_release(struct list *list)
{
    if (list->v != list->inline_)
        free(list->v);
    list->v = list->inline_;
    list->n = 0;
    list->cap = LIST_INLINE;
}

/* --- Nodes --- */

static bool grow_node_slots(struct sym_pool *pool)
{
    size_t n = pool->n_slots ? pool->n_slots * 2 : 1024;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < pool->n_nodes; i++) {
        size_t at = pool->nodes[i].hash & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(pool->slots);
    pool->slots = slots;
    pool->n_slots = n;
    return true;
}

static bool grow_nodes(struct sym_pool *pool)
{
    size_t cap = pool->cap_nodes ? pool->cap_nodes * 2 : 512;
    struct sym_node *nodes = cap < SYM_NONE / 2 ? realloc(pool->nodes, cap * sizeof *nodes) : NULL;
    if (!nodes)
        return false;
    pool->nodes = nodes;
    pool->cap_nodes = cap;
    return true;
}

/* Makes sure that one more node fits. */
static bool reserve_node(struct sym_pool *pool)
{
    return (pool->n_nodes < pool->cap_nodes || grow_nodes(pool)) &&
           ((pool->n_nodes + 1) * 4 <= pool->n_slots * 3 || grow_node_slots(pool));
}

static sym_id append_sym_node(struct sym_pool *pool, struct sym_node node)
{
    size_t at = node.hash & (pool->n_slots - 1);
    while (pool->slots[at])
        at = (at + 1) & (pool->n_slots - 1);
    pool->nodes[pool->n_nodes] = node;
    pool->slots[at] = (uint32_t)++pool->n_nodes;
    return (sym_id)pool->n_nodes - 1;
}

static uint32_t hash_words(enum sym_kind kind, const uint32_t *words, size_t n)
{
    uint64_t h = hash_mix(kind, n);
    for (size_t i = 0; i < n; i++)
        h = hash_mix(h, words[i]);
    return (uint32_t)(h ^ (h >> 32));
}

static bool same_args(const struct sym_pool *pool, const struct sym_node *node, const sym_id *args,
                      uint32_t n)
{
    return node->n == n &&
           (n == 0 || memcmp(pool->args.v + node->first, args, n * sizeof *args) == 0);
}

static sym_id find_args(const struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                        uint32_t n, uint32_t hash)
{
    for (size_t at = hash & (pool->n_slots - 1); pool->slots[at];
         at = (at + 1) & (pool->n_slots - 1)) {
        const struct sym_node *node = &pool->nodes[pool->slots[at] - 1];
        if (node->hash == hash && node->kind == kind && same_args(pool, node, args, n))
            return pool->slots[at] - 1;
    }
    return SYM_NONE;
}

/* Computes depth and weight of a node with these arguments; false when it would nest too deep. */
static bool set_depth_and_weight(struct sym_pool *pool, const sym_id *args, uint32_t n,
                                 struct sym_node *node)
{
    uint64_t weight = 2;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct sym_node *arg = node_at(pool, args[i]);
        depth = arg->depth > depth ? arg->depth : depth;
        weight += arg->weight;
    }
    node->depth = (uint16_t)(depth + 1);
    node->weight = weight < UINT32_MAX / 2 ? (uint32_t)weight : UINT32_MAX / 2;
    if (node->kind == SYM_RATIONAL) /* which is one atom for sympy */
        node->weight = 2;
    if (depth + 1 > SYM_MAX_DEPTH)
        return pool_fail(pool, "an expression nests deeper than %d", SYM_MAX_DEPTH), false;
    return true;
}

static bool any_none(const sym_id *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i] == SYM_NONE)
            return true;
    return false;
}

sym_id pool_node(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    if (pool_failed(pool) || any_none(args, n))
        return SYM_NONE;
    uint32_t hash = hash_words(kind, args, n);
    sym_id found = find_args(pool, kind, args, n, hash);
    if (found != SYM_NONE)
        return found;
    struct sym_node node = { .kind = (uint8_t)kind, .hash = hash };
    if (!set_depth_and_weight(pool, args, n, &node))
        return SYM_NONE;
    node.facts = facts_of(pool, kind, args, n); /* which may add nodes itself */
    if (pool_failed(pool))
        return SYM_NONE;
    if (!reserve_node(pool) || !vec_reserve(&pool->args, n))
        return pool_nomem(pool);
    node.first = (uint32_t)pool->args.n;
    node.n = n;
    if (n)
        memcpy(pool->args.v + pool->args.n, args, n * sizeof *args);
    pool->args.n += n;
    return append_sym_node(pool, node);
}

sym_id pool_node1(struct sym_pool *pool, enum sym_kind kind, sym_id a)
{
    return pool_node(pool, kind, &a, 1);
}

sym_id pool_node2(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b)
{
    return pool_node(pool, kind, (sym_id[]){ a, b }, 2);
}

/* --- Atoms --- */

static uint32_t sign_facts(int sign)
{
    return sign < 0 ? FACT_NEGATIVE : sign == 0 ? FACT_ZERO : FACT_POSITIVE;
}

static uint32_t integer_facts(int sign, bool odd)
{
    return INTEGER | FACT_CONSTANT | sign_facts(sign) | (odd ? FACT_ODD : FACT_EVEN);
}

static uint32_t float_facts(double x)
{
    uint32_t facts = REAL | FACT_CONSTANT | sign_facts((x > 0) - (x < 0)) | FACT_PARITY;
    /* Float._eval_is_integer: true for 0.0, undecided for 2.0, false for 2.5 */
    if (x == 0)
        return facts | FACT_INTEGER;
    bool fraction = x > -9e18 && x < 9e18 && x != (double)(int64_t)x;
    return fraction ? facts | FACT_NOT_INTEGER : facts;
}

/* Adds an atom that is not in the pool yet; its hash is set. */
static sym_id append_atom(struct sym_pool *pool, struct sym_node node)
{
    if (!reserve_node(pool))
        return pool_nomem(pool);
    if (!node.weight)
        node.weight = 2;
    return append_sym_node(pool, node);
}

/* Returns the atom whose payload has these eight bytes. */
static sym_id intern_atom(struct sym_pool *pool, struct sym_node node)
{
    if (pool_failed(pool))
        return SYM_NONE;
    uint32_t words[2];
    memcpy(words, &node.integer, sizeof words);
    node.hash = hash_words((enum sym_kind)node.kind, words, 2);
    for (size_t at = node.hash & (pool->n_slots - 1); pool->n_slots && pool->slots[at];
         at = (at + 1) & (pool->n_slots - 1)) {
        const struct sym_node *old = &pool->nodes[pool->slots[at] - 1];
        if (old->hash == node.hash && old->kind == node.kind && old->integer == node.integer)
            return pool->slots[at] - 1;
    }
    return append_atom(pool, node);
}

static sym_id any_integer(struct sym_pool *pool, int64_t value)
{
    return intern_atom(pool, (struct sym_node){ .kind = SYM_INTEGER,
                                                .facts = integer_facts((value > 0) - (value < 0),
                                                                       (value & 1) != 0),
                                                .integer = value });
}

sym_id sym_integer(struct sym_pool *pool, int64_t value)
{
    if (value < LEAST_SMALL_INTEGER || value >= LEAST_SMALL_INTEGER + SMALL_INTEGERS)
        return any_integer(pool, value);
    sym_id *small = &pool->small[value - LEAST_SMALL_INTEGER];
    if (!*small) {
        sym_id made = any_integer(pool, value);
        if (made == SYM_NONE)
            return SYM_NONE;
        *small = made;
    }
    return *small;
}

sym_id sym_float(struct sym_pool *pool, double value)
{
    if (value != value)
        return SYM_ID_NAN;
    if (value - value != 0)
        return value > 0 ? SYM_ID_OO : SYM_ID_MINUS_OO;
    if (value == 0)
        value = 0; /* sympy's Float has no -0.0 */
    return intern_atom(
        pool, (struct sym_node){
                  .kind = SYM_FLOAT, .weight = 1, .facts = float_facts(value), .real = value });
}

static bool same_big(const struct sym_pool *pool, const struct sym_node *node, struct big_bytes big)
{
    if (node->kind != SYM_BIG)
        return false;
    const struct big_bytes *old = &pool->bigs.v[node->integer];
    return old->n == big.n && old->negative == big.negative && memcmp(old->p, big.p, big.n) == 0;
}

sym_id pool_big(struct sym_pool *pool, const unsigned char *magnitude, uint32_t n, bool negative)
{
    struct big_bytes big = { magnitude, n, negative };
    struct str bytes = { (const char *)magnitude, n };
    struct sym_node node = { .kind = SYM_BIG,
                             .hash = (uint32_t)hash_mix(hash_str(bytes), negative),
                             .facts = integer_facts(negative ? -1 : 1, magnitude[n - 1] & 1) };
    for (size_t at = node.hash & (pool->n_slots - 1); pool->slots[at];
         at = (at + 1) & (pool->n_slots - 1))
        if (same_big(pool, &pool->nodes[pool->slots[at] - 1], big))
            return pool->slots[at] - 1;
    struct str copy = arena_copy(&pool->arena, bytes);
    big.p = (const unsigned char *)copy.p;
    if (!copy.p || !vec_push(&pool->bigs, big))
        return pool_nomem(pool);
    node.integer = (int64_t)pool->bigs.n - 1;
    return append_atom(pool, node);
}

sym_id pool_rational(struct sym_pool *pool, sym_id p, sym_id q)
{
    return pool_node2(pool, SYM_RATIONAL, p, q);
}

static uint32_t symbol_facts(unsigned assumptions)
{
    uint32_t facts = FACT_SIGNS | FACT_PARITY;
    if (assumptions & SYM_IS_INTEGER)
        facts |= INTEGER;
    if (assumptions & (SYM_IS_REAL | SYM_IS_NONNEGATIVE | SYM_IS_POSITIVE))
        facts |= REAL;
    if (assumptions & SYM_IS_NONNEGATIVE)
        facts &= ~(uint32_t)FACT_NEGATIVE;
    if (assumptions & SYM_IS_POSITIVE)
        facts &= ~(uint32_t)(FACT_NEGATIVE | FACT_ZERO);
    return facts;
}

sym_id sym_symbol(struct sym_pool *pool, struct str name, unsigned assumptions)
{
    if (pool_failed(pool))
        return SYM_NONE;
    uint32_t at = intern(&pool->names, name);
    if (at == INTERN_NONE)
        return pool_nomem(pool);
    while (pool->latest.n <= at)
        if (!vec_push(&pool->latest, SYM_NONE))
            return pool_nomem(pool);
    struct sym_node node = { .kind = SYM_SYMBOL, .facts = symbol_facts(assumptions) };
    node.first = at;
    node.n = assumptions & 15;
    sym_id symbol = intern_atom(pool, node);
    pool->latest.v[at] = symbol;
    return symbol;
}

sym_id sym_symbol_find(const struct sym_pool *pool, struct str name)
{
    uint32_t at = intern_find(&pool->names, name);
    return at == INTERN_NONE || at >= pool->latest.n ? SYM_NONE : pool->latest.v[at];
}

/* --- The pool --- */

/* Makes the expressions with fixed ids, in the order of those ids. */
static bool make_fixed(struct sym_pool *pool)
{
    static const struct {
        enum sym_kind kind;
        uint32_t facts;
        int64_t value;
    } fixed[SYM_ID_FIXED] = {
        [SYM_ID_FALSE] = { SYM_FALSE, FACT_BOOLEAN | FACT_SIGNS | FACT_PARITY, 0 },
        [SYM_ID_TRUE] = { SYM_TRUE, FACT_BOOLEAN | FACT_SIGNS | FACT_PARITY, 0 },
        [SYM_ID_ZERO] = { SYM_INTEGER, INTEGER | FACT_ZERO | FACT_EVEN, 0 },
        [SYM_ID_ONE] = { SYM_INTEGER, INTEGER | FACT_POSITIVE | FACT_ODD, 1 },
        [SYM_ID_MINUS_ONE] = { SYM_INTEGER, INTEGER | FACT_NEGATIVE | FACT_ODD, -1 },
        [SYM_ID_INT_OO] = { SYM_INT_OO, INTEGER | FACT_POSITIVE | FACT_PARITY, 0 },
        [SYM_ID_MINUS_INT_OO] = { SYM_NEG_INT_OO, INTEGER | FACT_NEGATIVE | FACT_PARITY, 0 },
        [SYM_ID_OO] = { SYM_OO, FACT_NOT_INTEGER | FACT_REAL | FACT_INFINITE | FACT_POSITIVE, 0 },
        [SYM_ID_MINUS_OO] = { SYM_NEG_OO,
                              FACT_NOT_INTEGER | FACT_REAL | FACT_INFINITE | FACT_NEGATIVE, 0 },
        [SYM_ID_NAN] = { SYM_NAN, FACT_SIGNS | FACT_PARITY, 0 },
        [SYM_ID_ZOO] = { SYM_ZOO, FACT_NOT_INTEGER | FACT_INFINITE | FACT_SIGNS, 0 },
        [SYM_ID_TWO] = { SYM_INTEGER, INTEGER | FACT_POSITIVE | FACT_EVEN, 2 },
    };
    for (sym_id i = 0; i < SYM_ID_FIXED; i++) {
        struct sym_node node = { .kind = (uint8_t)fixed[i].kind,
                                 .facts = fixed[i].facts | FACT_CONSTANT,
                                 .integer = fixed[i].value };
        if (intern_atom(pool, node) != i)
            return false;
    }
    return true;
}

enum { MEMO_START = 1024 };

struct sym_pool *sym_pool_new(struct err *err)
{
    struct sym_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return err_nomem(err), NULL;
    pool->memo = calloc(MEMO_START, sizeof *pool->memo);
    pool->n_memo = MEMO_START;
    if (!pool->memo || !make_fixed(pool)) {
        sym_pool_free(pool);
        return err_nomem(err), NULL;
    }
    return pool;
}

void sym_pool_free(struct sym_pool *pool)
{
    if (!pool)
        return;
    free(pool->nodes);
    free(pool->slots);
    free(pool->memo);
    free(pool->marks);
    expr_pool_release(&pool->parsed);
    vec_release(&pool->args);
    vec_release(&pool->latest);
    vec_release(&pool->bigs);
    intern_release(&pool->names);
    arena_release(&pool->arena);
    free(pool);
}

size_t sym_pool_count(const struct sym_pool *pool)
{
    return pool->n_nodes;
}

uint32_t sym_n_nodes(const struct sym_pool *pool, sym_id e)
{
    uint32_t weight = node_at(pool, e)->weight;
    return weight / 2 + weight % 2;
}

bool sym_short_of_memory(const struct sym_pool *pool)
{
    return pool->short_of_memory;
}

size_t sym_pool_bytes(const struct sym_pool *pool)
{
    return pool->cap_nodes * sizeof *pool->nodes + pool->args.cap * sizeof(sym_id) +
           pool->n_slots * sizeof *pool->slots + pool->n_memo * sizeof *pool->memo +
           pool->n_marks * sizeof *pool->marks + pool->arena.bytes +
           pool->parsed.exprs.cap * sizeof *pool->parsed.exprs.v +
           pool->parsed.children.cap * sizeof *pool->parsed.children.v + sizeof *pool;
}

bool pool_walk(struct sym_pool *pool)
{
    if (pool->n_marks < pool->n_nodes) {
        uint32_t *marks = realloc(pool->marks, pool->cap_nodes * sizeof *marks);
        if (!marks)
            return pool_nomem(pool), false;
        memset(marks + pool->n_marks, 0, (pool->cap_nodes - pool->n_marks) * sizeof *marks);
        pool->marks = marks;
        pool->n_marks = pool->cap_nodes;
    }
    if (++pool->walk == 0) {
        memset(pool->marks, 0, pool->n_marks * sizeof *pool->marks);
        pool->walk = 1;
    }
    return true;
}

bool pool_seen(struct sym_pool *pool, sym_id e)
{
    if (pool->marks[e] == pool->walk)
        return true;
    pool->marks[e] = pool->walk;
    return false;
}
