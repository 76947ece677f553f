#include "replay/backend/cuda/libraries/cublaslt.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/call/float8.h"
#include "replay/backend/cuda/libraries/cublaslt_abi.h"
#include "replay/backend/cuda/libraries/key_table.h"
#include "replay/backend/cuda/libraries/plan_choice.h"
#include "replay/backend/cuda/libraries/product_nodes.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/cuda/runtime/library.h"
#include "trace/base/hash.h"

/* PyTorch's size on Hopper (getChosenWorkspaceSize in aten/src/ATen/cuda/CUDABlas.cpp). */
enum { WORKSPACE_BYTES = 32 << 20, MOST_CHOICES = 8 };

#define NOT_ALL SIZE_MAX

/* One of the matrices: in column-major order, columns are `leading` elements apart. */
struct layout_key {
    uint64_t rows, columns, leading;
    int64_t batch; /* stride of batches */
    uint32_t type, turned, alignment, unused;
};

/* All properties that the choice of an algorithm depends on; compared by its bytes. */
struct plan_key {
    struct layout_key a, b, c;
    uint64_t batches;
    uint32_t compute, scale, epilogue, bias_alignment, added;
    uint32_t c_type; /* what is added to the result has another type if the result has 8 bits */
    uint32_t bias_type, scaled, scale_a, scale_b, fast; /* of products of 8 bits */
    uint32_t unused; /* 0: keys are compared by their bytes and have no padding */
    uint32_t ranges; /* of a class: RANGE_M, ...; of a problem: 0 */
};

struct lt_plan {
    bool added;
    uint32_t scale; /* the type of alpha and beta */
    void *op, *a, *b, *c, *d;
    struct cublaslt_algorithm algorithm;
    size_t workspace;
    bool refused; /* no algorithm supports it */
    bool matters; /* plan_choice_matters() */
    bool put_off; /* the choice was made without a measurement */
    bool assumed; /* the algorithm was checked for another problem of the class only */
    struct product_nodes nodes;
};

/* An algorithm and a class of problems. */
struct checked_key {
    struct plan_key class;
    struct cublaslt_algorithm algorithm;
};

/* alpha or beta in the type that the operation wants. */
union lt_number {
    float f32;
    double f64;
    int32_t i32;
};

struct cublaslt {
    struct cuda_library library;
    struct cublaslt_table table;
    void *handle, *preference;
    vec_of(struct lt_plan)
    plans;
    struct key_table keys; /* their keys */
    struct plan_recipes recipes;
    struct product_layouts layouts;
    struct key_table checked; /* pairs that cublasLtMatmulAlgoCheck supported for a problem */
    vec_of(size_t)
    workspaces; /* of these, the largest one of a problem; NOT_ALL: it refused another one */
    vec_of(struct cublaslt_algorithm)
    without_nodes;               /* those whose launches are no nodes of batches */
    union lt_number alpha, beta; /* of the last matmul: arguments contain these addresses */
};

/* ---- Opening ---- */

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct cublaslt_table, member), needed },
#include "replay/backend/cuda/libraries/cublaslt.def"
#undef SYMBOL
};

static bool open_lt_handle(struct cublaslt *lt, struct err *err)
{
    uint64_t workspace = WORKSPACE_BYTES;
    int status = lt->table.create(&lt->handle);
    if (status != CUBLAS_OK)
        return err_set(err, ERR_ENV, "cuBLASLt cannot be initialized: status %d", status);
    status = lt->table.preference_create(&lt->preference);
    if (status == CUBLAS_OK)
        status = lt->table.preference_set(lt->preference, PREFERENCE_WORKSPACE, &workspace,
                                          sizeof workspace);
    return status == CUBLAS_OK || err_set(err, ERR_ENV,
                                          "cuBLASLt: cannot create a preference for its heuristic: "
                                          "status %d",
                                          status);
}

struct cublaslt *cublaslt_open(struct err *err)
{
    struct cublaslt *lt = calloc(1, sizeof *lt);
    if (!lt)
        return err_nomem(err), NULL;
    lt->keys.key_bytes = sizeof(struct plan_key);
    lt->checked.key_bytes = sizeof(struct checked_key);
    if (library_open(LIBRARY_CUBLASLT, 0, &lt->library, err) &&
        library_load(&lt->library, symbols, sizeof symbols / sizeof *symbols, &lt->table, err) &&
        open_lt_handle(lt, err))
        return lt;
    cublaslt_close(lt);
    return NULL;
}

static void release_plan(const struct cublaslt *lt, struct lt_plan *plan)
{
    void *layouts[] = { plan->a, plan->b, plan->c, plan->d };
    for (size_t i = 0; i < 4; i++)
        if (layouts[i])
            lt->table.layout_destroy(layouts[i]);
    if (plan->op)
        lt->table.op_destroy(plan->op);
    product_nodes_release(&plan->nodes);
}

void cublaslt_close(struct cublaslt *lt)
{
    if (!lt)
        return;
    for (size_t i = 0; i < lt->plans.n; i++)
        release_plan(lt, &lt->plans.v[i]);
    if (lt->preference)
        lt->table.preference_destroy(lt->preference);
    if (lt->handle)
        lt->table.destroy(lt->handle);
    vec_release(&lt->plans);
    key_table_release(&lt->keys);
    plan_recipes_release(&lt->recipes);
    product_layouts_release(&lt->layouts);
    key_table_release(&lt->checked);
    vec_release(&lt->workspaces);
    vec_release(&lt->without_nodes);
    free(lt);
}

/* ---- Keys ---- */

static bool cublas_type(enum dtype dtype, uint32_t *ret)
{
    static const struct {
        enum dtype dtype;
        uint32_t type;
    } types[] = { { DTYPE_F32, CUBLAS_F32 },         { DTYPE_F64, CUBLAS_F64 },
                  { DTYPE_F16, CUBLAS_F16 },         { DTYPE_BF16, CUBLAS_BF16 },
                  { DTYPE_I8, CUBLAS_I8 },           { DTYPE_I32, CUBLAS_I32 },
                  { DTYPE_F8E4M3FN, CUBLAS_F8E4M3 }, { DTYPE_F8E5M2, CUBLAS_F8E5M2 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return *ret = types[i].type, true;
    return false;
}

/* Returns the largest power of two up to 256 that divides the address. */
static uint32_t alignment_of(uint64_t address)
{
    uint64_t bit = address & (~address + 1);
    return bit == 0 || bit > 256 ? 256 : (uint32_t)bit;
}

/* Describes a matrix of `rows` and `columns`. cuBLASLt uses column-major order, so it gets the
 * transpose, unless the columns are contiguous: then it transposes the matrix. */
static bool layout_of(const struct cuda_matrix *x, int64_t rows, int64_t columns, int64_t batches,
                      struct layout_key *ret)
{
    bool row_major = (columns == 1 || x->column == 1) && (rows == 1 || x->row >= columns);
    bool turned = !row_major && (rows == 1 || x->row == 1) && (columns == 1 || x->column >= rows);
    int64_t one = turned ? rows : columns, all = turned ? columns : rows;
    int64_t leading = turned ? x->column : x->row;
    if (!cublas_type(x->dtype, &ret->type) || (!row_major && !turned) || rows > INT32_MAX ||
        columns > INT32_MAX)
        return false;
    ret->rows = (uint64_t)one;
    ret->columns = (uint64_t)all;
    ret->leading = (uint64_t)(all == 1 ? one : leading);
    ret->batch = batches == 1 ? 0 : x->batch[PRODUCT_BATCH_DIMS - 1];
    ret->turned = turned;
    ret->alignment = alignment_of(x->address);
    return true;
}

/* Floats of 16 to 64 bits with a result of their type, or of f32. */
static bool is_product_of_floats(const struct cuda_product *p)
{
    const enum dtype a = p->a.dtype;
    const bool floats = a == DTYPE_F64 || a == DTYPE_F32 || a == DTYPE_F16 || a == DTYPE_BF16;
    return floats && a == p->b.dtype && !p->scaled &&
           (a == p->c.dtype || (p->c.dtype == DTYPE_F32 && a != DTYPE_F64));
}

/* i8, with results of 32 bits; sizes and strides are multiples of 4. */
static bool is_product_of_integers(const struct cuda_product *p)
{
    const uint64_t all =
        (uint64_t)(p->m | p->n | p->inner | (p->a.row == 1 ? 0 : p->a.row) |
                   (p->a.column == 1 ? 0 : p->a.column) | (p->b.row == 1 ? 0 : p->b.row) |
                   (p->b.column == 1 ? 0 : p->b.column)) |
        p->a.address | p->b.address;
    return p->a.dtype == DTYPE_I8 && p->b.dtype == DTYPE_I8 && p->c.dtype == DTYPE_I32 &&
           !p->scaled && !p->self.address && p->alpha == 1 && all % 4 == 0;
}

/* Eight bits, of which at most one factor has five for the exponent. a is in rows, b in columns of
 * multiples of 16 bytes. */
static bool is_product_of_float8(const struct cuda_product *p)
{
    const enum dtype a = p->a.dtype, b = p->b.dtype, c = p->c.dtype;
    const uint64_t all = (uint64_t)(p->n | p->inner | p->a.row | p->b.column) | p->a.address |
                         p->b.address | p->c.address;
    return is_float8(a) && is_float8(b) && p->scaled && all % 16 == 0 && p->b.row == 1 &&
           p->a.column == 1 && (a == DTYPE_F8E4M3FN || b == DTYPE_F8E4M3FN) &&
           (c == DTYPE_F32 || c == DTYPE_F16 || c == DTYPE_BF16 ||
            (is_float8(c) && !p->scales.a_step && !p->scales.b_step)) &&
           p->scales.a && p->scales.b && p->scales.dtype == DTYPE_F32 &&
           (p->scales.a_step != 0) == (p->scales.b_step != 0);
}

/* The types, modes and options of scaled products. A bias has 16 bits. */
static bool add_scales_to_key(const struct cuda_product *p, bool bias, struct plan_key *ret)
{
    ret->scaled = true;
    ret->scale_a = ret->scale_b = p->scales.a_step ? SCALE_EACH : SCALE_ONE;
    ret->fast = p->scales.fast;
    if (is_float8(p->c.dtype))
        ret->c_type = CUBLAS_BF16;
    if (!bias)
        return true;
    if (p->self.dtype != DTYPE_BF16 && p->self.dtype != DTYPE_F16)
        return false;
    if (is_float8(p->c.dtype))
        return cublas_type(p->self.dtype, &ret->bias_type) &&
               cublas_type(p->self.dtype, &ret->c_type);
    return p->self.dtype == p->c.dtype && cublas_type(p->self.dtype, &ret->bias_type);
}

/* Makes the key. self is the vector of an epilogue, or is in c already. */
static bool make_lt_key(const struct cuda_product *p, bool tf32, bool bias, struct plan_key *ret)
{
    memset(ret, 0, sizeof *ret);
    int64_t batches = p->batch[PRODUCT_BATCH_DIMS - 1];
    const bool integers = is_product_of_integers(p);
    if (p->batch[0] != 1 || p->batch[1] != 1 || p->sums != 1 || p->inner == 0 ||
        batches > INT32_MAX || (!integers && !is_product_of_floats(p) && !is_product_of_float8(p)))
        return false;
    /* c = a b in row-major order is c = b a in column-major order, so b is the left one */
    if (!layout_of(&p->b, p->inner, p->n, batches, &ret->a) ||
        !layout_of(&p->a, p->m, p->inner, batches, &ret->b) ||
        !layout_of(&p->c, p->m, p->n, batches, &ret->c) || ret->c.turned ||
        (batches > 1 && ret->c.batch == 0))
        return false;
    bool wide = p->a.dtype == DTYPE_F64;
    ret->batches = (uint64_t)batches;
    ret->compute = wide                              ? CUBLAS_COMPUTE_F64
                   : integers                        ? CUBLAS_COMPUTE_I32
                   : tf32 && p->a.dtype == DTYPE_F32 ? CUBLAS_COMPUTE_TF32
                                                     : CUBLAS_COMPUTE_F32;
    ret->scale = wide ? CUBLAS_F64 : integers ? CUBLAS_I32 : CUBLAS_F32;
    ret->c_type = ret->c.type;
    ret->epilogue = bias ? EPILOGUE_BIAS : EPILOGUE_NONE;
    ret->bias_alignment = bias ? alignment_of(p->self.address) : 0;
    ret->added = p->self.address && !bias;
    return !p->scaled || add_scales_to_key(p, bias, ret);
}

/* ---- Classes of problems ---- */

/* The range of a size or stride, and how far it is aligned. */
static uint64_t aligned_range(uint64_t n)
{
    uint64_t range = (uint64_t)plan_size_range((int64_t)n) * 32;
    while (n && n % 2 == 0 && range % 32 < 4) {
        n /= 2;
        range++;
    }
    return range;
}

/* Replaces the rows or columns of the matrix as it is multiplied. */
static void range_of_side(struct layout_key *x, bool rows)
{
    if (rows != (x->turned != 0)) {
        x->rows = aligned_range(x->rows);
        x->leading = aligned_range(x->leading);
    } else {
        x->columns = (uint64_t)plan_size_range((int64_t)x->columns);
    }
}

static void range_of_stride(struct layout_key *x)
{
    x->batch = (int64_t)aligned_range((uint64_t)x->batch);
}

enum { RANGE_M = 1, RANGE_N = 2, RANGE_K = 4 };

/* Makes the key of the problems that get the same algorithm: the named sizes of c[m, n] = a[m, k]
 * b[k, n] in row-major order differ within a factor of two, and so do the batches. */
static struct plan_key product_class_of(const struct plan_key *key, int ranges)
{
    struct plan_key class = *key;
    class.ranges = (uint32_t)ranges;
    class.batches = (uint64_t)plan_size_range((int64_t)key->batches) + (key->batches > 1);
    if (ranges & RANGE_N) {
        range_of_side(&class.a, true);
        range_of_side(&class.c, true);
    }
    if (ranges & RANGE_M) {
        range_of_side(&class.b, false);
        range_of_side(&class.c, false);
    }
    if (ranges & RANGE_K) {
        range_of_side(&class.a, false);
        range_of_side(&class.b, true);
    }
    if (ranges & (RANGE_N | RANGE_K))
        range_of_stride(&class.a);
    if (ranges & (RANGE_M | RANGE_K))
        range_of_stride(&class.b);
    if (ranges & (RANGE_M | RANGE_N))
        range_of_stride(&class.c);
    return class;
}

/* ---- Plans ---- */

static bool make_layout(const struct cublaslt *lt, const struct layout_key *key, uint32_t type,
                        uint64_t batches, void **ret)
{
    int32_t count = (int32_t)batches;
    return lt->table.layout_create(ret, (int)type, key->rows, key->columns,
                                   (int64_t)key->leading) == CUBLAS_OK &&
           (count == 1 ||
            (lt->table.layout_set(*ret, LAYOUT_BATCH_COUNT, &count, sizeof count) == CUBLAS_OK &&
             lt->table.layout_set(*ret, LAYOUT_BATCH_STRIDE, &key->batch, sizeof key->batch) ==
                 CUBLAS_OK));
}

/* Modes that are no default need a cuBLAS that knows them. */
static bool set_scale_modes(const struct cublaslt *lt, const struct plan_key *key, void *op)
{
    const struct cublaslt_table *t = &lt->table;
    const int32_t a = (int32_t)key->scale_b, b = (int32_t)key->scale_a; /* a and b are swapped */
    const int32_t bias = (int32_t)key->bias_type;
    const int8_t fast = (int8_t)key->fast;
    return t->op_set(op, MATMUL_FAST_SUMS, &fast, sizeof fast) == CUBLAS_OK &&
           (a == SCALE_ONE || t->op_set(op, MATMUL_SCALE_MODE_A, &a, sizeof a) == CUBLAS_OK) &&
           (b == SCALE_ONE || t->op_set(op, MATMUL_SCALE_MODE_B, &b, sizeof b) == CUBLAS_OK) &&
           (!bias || t->op_set(op, MATMUL_BIAS_TYPE, &bias, sizeof bias) == CUBLAS_OK);
}

/* Sets where the vector of the epilogue and the scales are; 0: there are none. */
static bool set_pointers(const struct cublaslt *lt, void *op, uint64_t bias,
                         const struct cuda_scales *scales)
{
    const struct {
        int attribute;
        uint64_t address;
    } rows[] = { { MATMUL_BIAS, bias },
                 { MATMUL_SCALE_A, scales->b },
                 { MATMUL_SCALE_B, scales->a } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const void *p = (const void *)(uintptr_t)rows[i].address;
        if (p && lt->table.op_set(op, rows[i].attribute, &p, sizeof p) != CUBLAS_OK)
            return false;
    }
    return true;
}

static bool make_op(const struct cublaslt *lt, const struct plan_key *key, void **ret)
{
    int32_t turn_a = key->a.turned ? CUBLAS_TURNED : CUBLAS_AS_IS;
    int32_t turn_b = key->b.turned ? CUBLAS_TURNED : CUBLAS_AS_IS;
    const struct cublaslt_table *t = &lt->table;
    return t->op_create(ret, (int)key->compute, (int)key->scale) == CUBLAS_OK &&
           t->op_set(*ret, MATMUL_TURN_A, &turn_a, sizeof turn_a) == CUBLAS_OK &&
           t->op_set(*ret, MATMUL_TURN_B, &turn_b, sizeof turn_b) == CUBLAS_OK &&
           t->op_set(*ret, MATMUL_EPILOGUE, &key->epilogue, sizeof key->epilogue) == CUBLAS_OK &&
           (!key->scaled || set_scale_modes(lt, key, *ret));
}

static bool prefer_alignment(const struct cublaslt *lt, const struct plan_key *key)
{
    uint32_t bytes[] = { key->a.alignment, key->b.alignment, key->c.alignment, key->c.alignment };
    for (int i = 0; i < 4; i++)
        if (lt->table.preference_set(lt->preference, PREFERENCE_ALIGNMENT_A + i, &bytes[i],
                                     sizeof bytes[i]) != CUBLAS_OK)
            return false;
    return true;
}

static union lt_number number_of(uint32_t type, double x)
{
    return type == CUBLAS_F64   ? (union lt_number){ .f64 = x }
           : type == CUBLAS_I32 ? (union lt_number){ .i32 = (int32_t)x }
                                : (union lt_number){ .f32 = (float)x };
}

static int run_plan(struct cublaslt *lt, const struct lt_plan *plan, const struct cuda_product *p,
                    uint64_t workspace, void *stream)
{
    lt->alpha = number_of(plan->scale, p->alpha);
    lt->beta = number_of(plan->scale, plan->added ? p->beta : 0);
    void *c = (void *)(uintptr_t)p->c.address;
    return lt->table.matmul(lt->handle, plan->op, &lt->alpha, (const void *)(uintptr_t)p->b.address,
                            plan->a, (const void *)(uintptr_t)p->a.address, plan->b, &lt->beta, c,
                            plan->c, c, plan->d, &plan->algorithm, (void *)(uintptr_t)workspace,
                            plan->workspace, stream);
}

/* Describes the problem to the library. It needs the bias, whose pointer's alignment counts, and
 * the scales. */
static bool describe_problem(const struct cublaslt *lt, const struct plan_key *key, uint64_t bias,
                             const struct cuda_scales *scales, struct lt_plan *plan)
{
    *plan = (struct lt_plan){ .scale = key->scale, .added = key->added };
    return make_op(lt, key, &plan->op) &&
           make_layout(lt, &key->a, key->a.type, key->batches, &plan->a) &&
           make_layout(lt, &key->b, key->b.type, key->batches, &plan->b) &&
           make_layout(lt, &key->c, key->c_type, key->batches, &plan->c) &&
           make_layout(lt, &key->c, key->c.type, key->batches, &plan->d) &&
           set_pointers(lt, plan->op, bias, scales);
}

/* Asks the heuristic for algorithms and returns their number. */
static uint32_t query_lt_heuristic(const struct cublaslt *lt, const struct plan_key *key,
                                   const struct lt_plan *plan, struct cublaslt_choice *choices)
{
    int found = 0;
    uint32_t n = 0;
    if (!prefer_alignment(lt, key) ||
        lt->table.heuristic(lt->handle, plan->op, plan->a, plan->b, plan->c, plan->d,
                            lt->preference, MOST_CHOICES, choices, &found) != CUBLAS_OK)
        return 0;
    for (int i = 0; i < found && i < MOST_CHOICES; i++)
        if (choices[i].status == CUBLAS_OK && choices[i].workspace <= WORKSPACE_BYTES)
            choices[n++] = choices[i];
    return n;
}

_Static_assert(sizeof(struct cublaslt_algorithm) <= PLAN_RECIPE_BYTES, "a recipe of cuBLASLt");

/* The problem with the keys of its classes. */
struct lt_problem {
    struct plan_key key, m, others;
    struct plan_problem problem;
};

static void describe_choice(struct cublaslt *lt, const struct plan_key *key, bool matters,
                            struct lt_problem *ret)
{
    ret->key = *key;
    ret->m = product_class_of(key, RANGE_M);
    ret->others = product_class_of(key, key->batches > 1 ? RANGE_M | RANGE_N | RANGE_K : RANGE_K);
    ret->problem = (struct plan_problem){
        .library = &lt->library,
        .recipes = &lt->recipes,
        .key = &ret->key,
        .bytes = sizeof ret->key,
        .classes = { &ret->m, &ret->others },
        .n_classes = 2,
        .n_own = 2,
        .matters = matters,
        .timed = matters,
    };
}

static struct checked_key checked_key_of(const struct plan_problem *problem,
                                         const struct cublaslt_algorithm *algorithm)
{
    struct checked_key ret;
    memcpy(&ret.class, problem->classes[0], sizeof ret.class);
    ret.algorithm = *algorithm;
    return ret;
}

/* Asks the library whether the algorithm supports this problem, which takes 20 us, and notes the
 * workspace that it needs. */
static bool check_algorithm(struct cublaslt *lt, const struct plan_problem *problem,
                            const struct cublaslt_algorithm *algorithm, struct lt_plan *plan)
{
    const struct checked_key key = checked_key_of(problem, algorithm);
    struct cublaslt_choice choice = { 0 };
    if (!lt->table.check ||
        lt->table.check(lt->handle, plan->op, plan->a, plan->b, plan->c, plan->d, algorithm,
                        &choice) != CUBLAS_OK ||
        choice.workspace > WORKSPACE_BYTES)
        return false;
    plan->algorithm = *algorithm;
    plan->workspace = choice.workspace;
    plan->assumed = false;
    const uint32_t known = key_table_find(&lt->checked, &key);
    if (known != KEY_NONE)
        lt->workspaces.v[known] =
            choice.workspace > lt->workspaces.v[known] ? choice.workspace : lt->workspaces.v[known];
    else if (vec_reserve(&lt->workspaces, 1) && key_table_add(&lt->checked, &key))
        lt->workspaces.v[lt->workspaces.n++] = choice.workspace;
    return true;
}

/* Takes the algorithm without a question if it supports another problem of the class: sizes of a
 * class are less than twice as large as each other, and so is what they need of a workspace. If it
 * does not support this one, cublasLtMatmul refuses it, and choose_again() asks. */
static bool assume_algorithm(const struct cublaslt *lt, const struct plan_problem *problem,
                             const struct cublaslt_algorithm *algorithm, struct lt_plan *plan)
{
    const struct checked_key key = checked_key_of(problem, algorithm);
    const uint32_t known = key_table_find(&lt->checked, &key);
    if (known == KEY_NONE || lt->workspaces.v[known] == NOT_ALL)
        return false;
    const size_t twice = 2 * lt->workspaces.v[known];
    plan->algorithm = *algorithm;
    plan->workspace = twice < WORKSPACE_BYTES ? twice : WORKSPACE_BYTES;
    plan->assumed = true;
    return true;
}

/* Takes the algorithm that was chosen before, if it supports this problem. */
static bool recall_algorithm(struct cuda *cuda, struct cublaslt *lt,
                             const struct plan_problem *problem, bool assumes, struct lt_plan *plan)
{
    struct plan_recipe stored;
    struct cublaslt_algorithm algorithm;
    if (!plan_choice_recall(cuda, problem, &stored))
        return false;
    memcpy(&algorithm, stored.bytes, sizeof algorithm);
    if (!(assumes && assume_algorithm(lt, problem, &algorithm, plan)) &&
        !check_algorithm(lt, problem, &algorithm, plan))
        return false;
    plan->put_off = problem->matters && !stored.measured;
    return true;
}

static void take_algorithm(struct cuda *cuda, const struct plan_problem *problem,
                           const struct cublaslt_choice *choice, bool measured,
                           struct lt_plan *plan)
{
    struct plan_recipe stored = { .measured = measured };
    plan->algorithm = choice->algorithm;
    plan->workspace = choice->workspace;
    memcpy(stored.bytes, &plan->algorithm, sizeof plan->algorithm);
    plan_choice_save(cuda, problem, &stored, &stored);
}

/* Takes the first of the algorithms that the heuristic offers. */
static bool take_first_algorithm(struct cuda *cuda, const struct cublaslt *lt,
                                 const struct plan_key *key, const struct plan_problem *problem,
                                 struct lt_plan *plan)
{
    struct cublaslt_choice choices[MOST_CHOICES] = { 0 };
    if (query_lt_heuristic(lt, key, plan, choices) == 0)
        return false;
    take_algorithm(cuda, problem, &choices[0], false, plan);
    plan->put_off = problem->matters;
    return true;
}

static void make_lt_plan(struct cuda *cuda, struct cublaslt *lt, const struct plan_key *key,
                         uint64_t bias, const struct cuda_scales *scales, struct lt_plan *plan)
{
    struct lt_problem p;
    plan->refused = !describe_problem(lt, key, bias, scales, plan);
    plan->matters = plan_choice_matters(cuda->now->flops);
    if (plan->refused)
        return;
    describe_choice(lt, key, plan->matters, &p);
    if (recall_algorithm(cuda, lt, &p.problem, true, plan))
        cuda->base.log.recalled++;
    else
        plan->refused = !take_first_algorithm(cuda, lt, key, &p.problem, plan);
}

/* Chooses the algorithm of a plan whose assumed one does not support the problem. */
static void choose_again(struct cuda *cuda, struct cublaslt *lt, const struct plan_key *key,
                         struct lt_plan *plan)
{
    struct lt_problem p;
    describe_choice(lt, key, plan->matters, &p);
    const struct checked_key refused = checked_key_of(&p.problem, &plan->algorithm);
    const uint32_t known = key_table_find(&lt->checked, &refused);
    if (known != KEY_NONE)
        lt->workspaces.v[known] = NOT_ALL;
    product_nodes_release(&plan->nodes);
    plan->assumed = false;
    plan->refused = false;
    if (recall_algorithm(cuda, lt, &p.problem, false, plan))
        return;
    cuda->base.log.recalled--;
    plan->refused = !take_first_algorithm(cuda, lt, key, &p.problem, plan);
}

/* Returns the plan of a key; NULL: out of memory. Plans are stored, also those that were
 * refused. */
static struct lt_plan *stored_plan(struct kernel *k, struct cublaslt *lt,
                                   const struct plan_key *key, uint64_t bias,
                                   const struct cuda_scales *scales)
{
    uint32_t found = key_table_find(&lt->keys, key);
    struct lt_plan plan;
    if (found != KEY_NONE)
        return &lt->plans.v[found];
    double start = clock_us();
    make_lt_plan(cuda_of(k), lt, key, bias, scales, &plan);
    cuda_of(k)->base.log.planned++;
    cuda_of(k)->base.log.plan_ns += (uint64_t)((clock_us() - start) * 1e3);
    if (vec_reserve(&lt->plans, 1) && key_table_add(&lt->keys, key)) {
        lt->plans.v[lt->plans.n++] = plan;
        return &lt->plans.v[lt->plans.n - 1];
    }
    release_plan(lt, &plan);
    err_nomem(k->err);
    k->failed = true;
    return NULL;
}

/* ---- Choices that were put off ---- */

/* Trials multiply memory of their own, whose values do not matter. */
struct lt_trial {
    struct cublaslt *lt;
    struct lt_plan plan;
    struct cuda_product product; /* its addresses */
    struct cublaslt_choice choices[MOST_CHOICES];
    uint64_t workspace, bias;
    void *stream;
};

static bool try_choice(void *user, uint32_t i)
{
    struct lt_trial *t = user;
    t->plan.algorithm = t->choices[i].algorithm;
    t->plan.workspace = t->choices[i].workspace;
    return run_plan(t->lt, &t->plan, &t->product, t->workspace, t->stream) == CUBLAS_OK;
}

static size_t element_bytes(uint32_t type)
{
    switch (type) {
    case CUBLAS_F64: return 8;
    case CUBLAS_F32:
    case CUBLAS_I32: return 4;
    case CUBLAS_F16:
    case CUBLAS_BF16: return 2;
    default: return 1;
    }
}

/* Returns the bytes that a matrix extends over. */
static size_t reach_of(const struct plan_key *key, const struct layout_key *x)
{
    uint64_t batches = (key->batches - 1) * (uint64_t)(x->batch < 0 ? 0 : x->batch);
    return (size_t)(batches + x->leading * x->columns) * element_bytes(x->type);
}

/* Takes memory for the operands, of the alignment that the key says, and the largest workspace of
 * the n choices. */
static bool take_operands(struct cuda *cuda, const struct plan_key *key, struct cuda_scratch *from,
                          struct lt_trial *t, uint32_t n)
{
    const size_t bias = key->c.rows * element_bytes(key->bias_type ? key->bias_type : key->c.type);
    const size_t scales = (key->c.rows + key->c.columns) * sizeof(float);
    struct cuda_scales at = { 0 };
    size_t workspace = 0;
    for (uint32_t i = 0; i < n; i++)
        workspace = t->choices[i].workspace > workspace ? t->choices[i].workspace : workspace;
    return cuda_scratch(cuda, from, workspace, 0, &t->workspace) &&
           cuda_scratch(cuda, from, reach_of(key, &key->a), key->a.alignment,
                        &t->product.b.address) &&
           cuda_scratch(cuda, from, reach_of(key, &key->b), key->b.alignment,
                        &t->product.a.address) &&
           cuda_scratch(cuda, from, reach_of(key, &key->c), key->c.alignment,
                        &t->product.c.address) &&
           (!key->bias_alignment ||
            cuda_scratch(cuda, from, bias, key->bias_alignment, &t->bias)) &&
           (!key->scaled || (cuda_scratch(cuda, from, scales, 0, &at.a) &&
                             cuda_scratch(cuda, from, scales, 0, &at.b))) &&
           set_pointers(t->lt, t->plan.op, t->bias, &at);
}

static void measure_algorithms(struct cuda *cuda, struct cublaslt *lt,
                               const struct plan_problem *problem, struct lt_plan *plan)
{
    const struct plan_key *key = problem->key;
    struct lt_trial t = {
        .lt = lt, .plan = *plan, .product = { .alpha = 1, .beta = 1 }, .stream = cuda->stream
    };
    struct cuda_scratch from = { 0 };
    const struct plan_trial trial = { query_lt_heuristic(lt, key, plan, t.choices), try_choice,
                                      &t };
    float ms[MOST_CHOICES];
    if (trial.n > 1 && take_operands(cuda, key, &from, &t, trial.n) &&
        plan_choice_time(cuda, &trial, ms))
        take_algorithm(cuda, problem, &t.choices[plan_choice_fastest(ms, trial.n)], true, plan);
    cuda_scratch_release(cuda, &from);
}

/* Returns whether the plan is another one now. */
static bool refine_lt_plan(struct cuda *cuda, struct cublaslt *lt, const struct plan_key *key,
                           struct lt_plan *plan)
{
    const struct cublaslt_algorithm before = plan->algorithm;
    struct lt_problem p;
    describe_choice(lt, key, plan->matters, &p);
    p.problem.replaces = !recall_algorithm(cuda, lt, &p.problem, false, plan);
    if (p.problem.replaces || plan->put_off)
        measure_algorithms(cuda, lt, &p.problem, plan);
    plan->put_off = false;
    product_nodes_release(&plan->nodes);
    return memcmp(&before, &plan->algorithm, sizeof before) != 0;
}

static bool refine_cublaslt(struct cuda *cuda)
{
    struct cublaslt *lt = cuda->library_state[LIBRARY_CUBLASLT];
    bool changed = false;
    for (uint32_t i = 0; lt && i < lt->plans.n; i++)
        if (lt->plans.v[i].put_off && !lt->plans.v[i].refused &&
            refine_lt_plan(cuda, lt, key_table_key(&lt->keys, i), &lt->plans.v[i]))
            changed = true;
    return changed;
}

/* ---- Matmuls ---- */

/* Closes the state. The handle of a lost context is leaked, since destroying it would use it. */
static void close_cublaslt(struct cuda *cuda)
{
    struct cublaslt *lt = cuda->library_state[LIBRARY_CUBLASLT];
    if (lt && err_is_set(&cuda->failures.lost))
        lt->handle = NULL;
    cublaslt_close(lt);
    cuda->library_state[LIBRARY_CUBLASLT] = NULL;
}

/* Returns the state, which is opened at first use; NULL: it cannot be opened. */
static struct cublaslt *cublaslt_state(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct err why = { 0 };
    if (!cuda->library_close[LIBRARY_CUBLASLT]) {
        cuda->library_close[LIBRARY_CUBLASLT] = close_cublaslt;
        cuda->library_refine[LIBRARY_CUBLASLT] = refine_cublaslt;
        double start = clock_us();
        cuda->library_state[LIBRARY_CUBLASLT] = cublaslt_open(&why);
        cuda->base.log.opened += cuda->library_state[LIBRARY_CUBLASLT] != NULL;
        cuda->base.log.open_ns += (uint64_t)((clock_us() - start) * 1e3);
    }
    return cuda->library_state[LIBRARY_CUBLASLT];
}

/* Returns whether this is a first dry run, and the library is not open yet. Until it is, it
 * supports what its keys can describe. */
static bool opens_later(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    const bool later =
        cuda->base.dry_run == DRY_RUN_FIRST && !cuda->library_close[LIBRARY_CUBLASLT];
    cuda->base.puts_off_libraries |= later;
    return later;
}

bool cublaslt_is_found(struct kernel *k)
{
    return opens_later(k) || cublaslt_state(k) != NULL;
}

static bool is_bias(const struct cuda_product *p)
{
    return p->self.address && p->beta == 1 && p->self.row == 0 && p->self.column == 1 &&
           p->batch[PRODUCT_BATCH_DIMS - 1] == 1 &&
           (p->scaled ||
            (p->self.dtype == p->c.dtype && p->a.dtype == p->c.dtype && p->a.dtype != DTYPE_F64));
}

static bool in_place(const struct cuda_product *p)
{
    return p->self.address == p->c.address && p->self.row == p->c.row &&
           (p->self.column == p->c.column || p->n == 1) && p->self.dtype == p->c.dtype &&
           p->self.batch[PRODUCT_BATCH_DIMS - 1] == p->c.batch[PRODUCT_BATCH_DIMS - 1];
}

/* Fails with an error of the library or device. */
static void library_failed(struct kernel *k, int status)
{
    static const struct {
        int status;
        const char *text;
    } known[] = { { 1, "it is not initialized" },
                  { 3, "memory cannot be allocated" },
                  { 11, "memory cannot be used" },
                  { 13, "the device failed to run it" },
                  { 14, "an internal error" } };
    const char *text = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        text = known[i].status == status ? known[i].text : text;
    err_set(k->err, ERR_ENV,
            "cublasLtMatmul: status %d%s%s; $SYMTAPE_CUDA_WITHOUT=cublaslt runs without it", status,
            *text ? ": " : "", text);
    k->failed = true;
}

struct lt_run {
    struct cublaslt *lt;
    const struct lt_plan *plan;
    const struct cuda_product *product;
    uint64_t workspace;
    void *stream;
};

static bool run_lt_matmul(void *user)
{
    const struct lt_run *r = user;
    return run_plan(r->lt, r->plan, r->product, r->workspace, r->stream) == CUBLAS_OK;
}

static bool has_no_nodes(const struct cublaslt *lt, const struct cublaslt_algorithm *algorithm)
{
    size_t i = 0;
    while (i < lt->without_nodes.n &&
           memcmp(&lt->without_nodes.v[i], algorithm, sizeof *algorithm) != 0)
        i++;
    return i < lt->without_nodes.n;
}

/* Multiplies by nodes of a batch. False with k->failed unset: it cannot, nothing was launched. */
static bool launch_in_batch(struct kernel *k, struct cublaslt *lt, struct lt_plan *plan,
                            const struct cuda_product *p, uint64_t bias, uint64_t workspace)
{
    const struct product_operands operands = {
        .address = { p->a.address, p->b.address, p->c.address, bias, workspace },
        .workspace_bytes = plan->workspace,
        .alpha = p->alpha,
        .beta = plan->added ? p->beta : 0,
    };
    struct lt_run run = { lt, plan, p, workspace, cuda_of(k)->stream };
    if (p->scaled || plan->nodes.refused || !product_nodes_work(k))
        return false;
    if (!plan->nodes.n && has_no_nodes(lt, &plan->algorithm)) {
        plan->nodes.refused = true;
        return false;
    }
    const bool ok =
        product_nodes_launch(k, &lt->layouts, &plan->nodes, &operands, run_lt_matmul, &run);
    if (plan->nodes.other_nodes && vec_reserve(&lt->without_nodes, 1))
        lt->without_nodes.v[lt->without_nodes.n++] = plan->algorithm;
    return ok;
}

/* Multiplies by the plan. False: refused, nothing was launched. */
static bool launch_plan(struct kernel *k, struct cublaslt *lt, struct lt_plan *plan,
                        const struct cuda_product *p, uint64_t bias)
{
    void *stream = NULL;
    if (!set_pointers(lt, plan->op, bias, &p->scales))
        return false;
    uint64_t workspace = plan->workspace ? cuda_workspace_optional(k, plan->workspace) : 0;
    if (k->failed || (plan->workspace && !workspace))
        return k->failed;
    if (launch_in_batch(k, lt, plan, p, bias, workspace) || k->failed)
        return true;
    const bool launches = cuda_library_begin(k, "cublasLtMatmul", &stream);
    int status = launches ? run_plan(lt, plan, p, workspace, stream) : CUBLAS_OK;
    plan->refused = status == CUBLAS_NOT_SUPPORTED || status == CUBLAS_INVALID_VALUE ||
                    status == CUBLAS_ARCH_MISMATCH;
    if (plan->refused) {
        cuda_library_refused(k);
        return false;
    }
    if (status != CUBLAS_OK)
        library_failed(k, status);
    cuda_library_end(k);
    return true;
}

/* Multiplies. False: refused, nothing was launched. */
static bool launch_lt_matmul(struct kernel *k, struct cublaslt *lt, const struct cuda_product *p,
                             bool bias)
{
    const uint64_t vector = bias ? p->self.address : 0;
    struct plan_key key;
    if (!make_lt_key(p, cuda_of(k)->base.tf32, bias, &key))
        return false;
    struct lt_plan *plan = stored_plan(k, lt, &key, vector, &p->scales);
    if (!plan || plan->refused)
        return !plan;
    if (launch_plan(k, lt, plan, p, vector))
        return true;
    if (!plan->assumed)
        return false;
    choose_again(cuda_of(k), lt, &key, plan);
    return !plan->refused && launch_plan(k, lt, plan, p, vector);
}

/* Returns whether self can be copied to c first. */
static bool can_put_self(const struct cuda_product *p)
{
    return !p->scaled && p->self.dtype == p->c.dtype;
}

/* Returns whether keys describe the product, so that a library that is not open seems to support
 * it. *puts_self: self must be copied to c first. */
static bool is_described(struct kernel *k, const struct cuda_product *p, bool *puts_self)
{
    const bool tf32 = cuda_of(k)->base.tf32;
    struct plan_key key;
    *puts_self = false;
    if (is_bias(p) && make_lt_key(p, tf32, true, &key))
        return true;
    *puts_self = p->self.address && !in_place(p);
    return (!*puts_self || can_put_self(p)) && make_lt_key(p, tf32, false, &key);
}

/* Does what precedes the launch of a product. False: not supported. */
static bool dry_multiply(struct kernel *k, const struct cuda_product *p)
{
    void *stream;
    bool puts_self;
    if (!is_described(k, p, &puts_self))
        return false;
    if (puts_self)
        cuda_put_self(k, p);
    (void)cuda_library_begin(k, "cublasLtMatmul", &stream);
    cuda_library_end(k);
    return true;
}

static bool is_refused(struct kernel *k, struct cublaslt *lt, const struct cuda_product *p,
                       bool bias)
{
    struct plan_key key;
    if (!make_lt_key(p, cuda_of(k)->base.tf32, bias, &key))
        return true;
    const struct lt_plan *plan = stored_plan(k, lt, &key, bias ? p->self.address : 0, &p->scales);
    return !plan || plan->refused;
}

bool cublaslt_refuses(struct kernel *k, const struct cuda_product *p)
{
    struct cuda_product q = *p;
    bool ignored;
    if (opens_later(k))
        return !is_described(k, p, &ignored);
    struct cublaslt *lt = cublaslt_state(k);
    if (!lt || k->failed)
        return true;
    if (is_bias(p) && !is_refused(k, lt, p, true))
        return false;
    if (p->self.address && !in_place(p)) {
        if (!can_put_self(p))
            return true;
        q.self = q.c;
    }
    return is_refused(k, lt, &q, false);
}

/* Copies self to c first, unless it is a bias or c itself. */
bool cublaslt_multiply(struct kernel *k, const struct cuda_product *p)
{
    struct cuda_product q = *p;
    if (opens_later(k))
        return dry_multiply(k, p);
    struct cublaslt *lt = cublaslt_state(k);
    if (!lt)
        return false;
    if (is_bias(p) && launch_lt_matmul(k, lt, p, true))
        return true;
    if (!p->self.address || in_place(p))
        return launch_lt_matmul(k, lt, p, false);
    if (!can_put_self(p))
        return false;
    q.self = q.c;
    if (is_refused(k, lt, &q, false))
        return k->failed;
    cuda_put_self(k, p);
    return launch_lt_matmul(k, lt, &q, false);
}
