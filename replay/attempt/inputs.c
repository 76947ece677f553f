#include "replay/attempt/inputs.h"

#include "replay/attempt/aot_inputs.h"
#include "replay/attempt/value_set.h"

#include <stdlib.h>

struct description {
    int64_t describer, id, base; /* base: for a view, else -1 */
    struct input_tensor tensor;
};

struct described_storage {
    int64_t bytes;
    uint32_t record;
};

struct input_reader {
    struct trace *trace;
    struct inputs *inputs;
    struct json doc;
    struct intern sources; /* the sources of tensors */
    vec_of(uint32_t)
    tensor; /* the input of each source */
    vec_of(struct description)
    descriptions;
    struct intern storage_keys; /* their describers and ids */
    vec_of(struct described_storage)
    storages;
    uint32_t record; /* the one that is being read */
};

static json_id get(const struct input_reader *r, const char *key)
{
    return json_get(&r->doc, JSON_ROOT, str_of(key));
}

static bool is_true_member(const struct input_reader *r, const char *key)
{
    return json_kind_of(&r->doc, get(r, key)) == JSON_TRUE;
}

/* Parses "device(type='cuda', index=0)". */
static struct device parse_device(struct str text)
{
    struct device ret = { DEVICE_NONE, -1 };
    char name[40];
    struct str type = str_from(text, str_find_char(text, '\'') + 1);
    struct str index = str_from(text, str_find(text, STR("index=")) + STR("index=").n);
    type = str_first(type, str_find_char(type, '\''));
    index = str_first(index, str_find_char(index, ')'));
    int n = index.n ? snprintf(name, sizeof name, "%.*s:%.*s", STR_ARG(type), STR_ARG(index))
                    : snprintf(name, sizeof name, "%.*s", STR_ARG(type));
    if (n > 0 && (size_t)n < sizeof name)
        device_parse(str_of(name), &ret);
    return ret;
}

static bool read_integer_list(struct input_reader *r, const char *key, uint32_t n, int64_t *ret)
{
    uint32_t i = 0;
    json_id list = get(r, key);
    for (json_id at = json_first(&r->doc, list); at != JSON_NONE; at = json_next(&r->doc, at), i++)
        if (i >= n || !json_i64(&r->doc, at, &ret[i]))
            return false;
    return i == n;
}

static void read_dynamic_marks(struct input_reader *r, struct input_tensor *tensor)
{
    json_id list = get(r, "dynamo_dynamic_indices");
    for (json_id at = json_first(&r->doc, list); at != JSON_NONE; at = json_next(&r->doc, at)) {
        uint64_t dim;
        if (json_u64(&r->doc, at, &dim) && dim < tensor->ndim)
            tensor->marked[dim] = true;
    }
}

/* Parameters without symbols, which are most tensors, share this array. */
static const struct recorded_symbol no_symbols[TENSOR_MAX_DIM + 1];

static struct recorded_symbol *
own_symbol(struct arena *arena, const struct recorded_symbol **symbols, uint32_t ndim, uint32_t dim)
{
    if (*symbols == no_symbols) {
        struct recorded_symbol *own = arena_array(arena, struct recorded_symbol, (size_t)ndim + 1);
        if (!own)
            return NULL;
        *symbols = own;
    }
    return (struct recorded_symbol *)&(*symbols)[dim];
}

static bool room_for_dims(struct arena *arena, struct input_tensor *t)
{
    size_t n = (size_t)t->ndim + 1;
    t->size = arena_array(arena, int64_t, n);
    t->stride = arena_array(arena, int64_t, n);
    t->marked = arena_array(arena, bool, n);
    t->duck = arena_array(arena, bool, n);
    t->fixed = arena_array(arena, bool, n);
    t->unbacked = arena_array(arena, bool, n);
    t->change = arena_array(arena, struct dim_change, n);
    t->size_symbol = t->stride_symbol = t->offset_symbol = no_symbols;
    return t->size && t->stride && t->marked && t->duck && t->fixed && t->unbacked && t->change;
}

/* Sets *ret to the number of a storage in the table of those that were described, to which it is
 * added; INTERN_NONE: the record names none. False: out of memory. */
static bool storage_number(struct input_reader *r, const char *id_key, uint32_t *ret)
{
    struct buf key = BUF_INIT;
    int64_t id, describer;
    *ret = INTERN_NONE;
    if (!json_i64(&r->doc, get(r, id_key), &id) ||
        !json_i64(&r->doc, get(r, "describer_id"), &describer))
        return true;
    buf_le64(&key, (uint64_t)id);
    buf_le64(&key, (uint64_t)describer);
    *ret = key.failed ? INTERN_NONE : intern(&r->storage_keys, buf_str(&key));
    buf_release(&key);
    return *ret != INTERN_NONE &&
           (*ret < r->storages.n ||
            vec_push(&r->storages, (struct described_storage){ -1, TRACE_NONE }));
}

static bool read_storage(struct input_reader *r)
{
    uint32_t number;
    int64_t bytes;
    if (!storage_number(r, "id", &number))
        return false;
    if (number != INTERN_NONE && json_i64(&r->doc, get(r, "size"), &bytes))
        r->storages.v[number] = (struct described_storage){ bytes, r->record };
    return true;
}

/* Reads the mesh of a DTensor. Which of several meshes a DTensor has is not printed in graphs. */
static void read_mesh(struct input_reader *r)
{
    json_id opaque = json_get(&r->doc, get(r, "opaque_attrs"), STR("device_mesh"));
    struct device_mesh mesh = { 0 }, *known = &r->inputs->mesh;
    if (!device_mesh_parse(json_text(&r->doc, opaque), &mesh) &&
        !device_mesh_parse(json_text(&r->doc, get(r, "ctx")), &mesh))
        return;
    mesh.several =
        known->several ||
        (known->n && (known->n != mesh.n || memcmp(known->size, mesh.size, sizeof mesh.size) != 0));
    *known = mesh;
}

static bool read_description(struct input_reader *r)
{
    struct description d = { 0 };
    struct input_tensor *t = &d.tensor;
    uint64_t ndim = 0;
    if (!json_i64(&r->doc, get(r, "id"), &d.id) ||
        !json_i64(&r->doc, get(r, "describer_id"), &d.describer) ||
        !json_u64(&r->doc, get(r, "ndim"), &ndim) || ndim > TENSOR_MAX_DIM)
        return true;
    t->ndim = (uint32_t)ndim;
    if (!room_for_dims(&r->inputs->arena, t))
        return false;
    t->dtype = dtype_by_python_name(json_str(&r->doc, get(r, "dtype")));
    t->device = parse_device(json_str(&r->doc, get(r, "device")));
    t->layout = json_is(&r->doc, get(r, "layout"), "torch.jagged") ? LAYOUT_JAGGED : LAYOUT_STRIDED;
    t->requires_grad = is_true_member(r, "requires_grad");
    t->of_module = is_true_member(r, "is_parameter");
    t->concrete = read_integer_list(r, "size", t->ndim, t->size) &&
                  read_integer_list(r, "stride", t->ndim, t->stride) && t->layout == LAYOUT_STRIDED;
    json_i64(&r->doc, get(r, "storage_offset"), &t->offset);
    uint32_t storage;
    if (!storage_number(r, "storage", &storage))
        return false;
    t->record = r->record;
    t->storage_bytes = storage == INTERN_NONE ? -1 : r->storages.v[storage].bytes;
    t->storage_record = storage == INTERN_NONE ? TRACE_NONE : r->storages.v[storage].record;
    d.base = -1;
    if (is_true_member(r, "is_view") && t->concrete)
        json_i64(&r->doc, get(r, "base"), &d.base);
    read_dynamic_marks(r, t);
    read_mesh(r);
    return vec_push(&r->descriptions, d);
}

static bool add_tensor(struct input_reader *r, const struct description *d, struct str source)
{
    struct input input = { .kind = INPUT_TENSOR, .tensor = d->tensor };
    if (intern_find(&r->sources, source) != INTERN_NONE)
        return true;
    uint32_t id = intern(&r->sources, source);
    input.tensor.source = source;
    input.tensor.of_module |=
        str_contains(source, STR("._parameters[")) || str_contains(source, STR("._buffers["));
    input.tensor.attribute = str_contains(source, STR("._modules["));
    return id != INTERN_NONE && vec_push(&r->tensor, (uint32_t)r->inputs->list.n) &&
           vec_push(&r->inputs->list, input);
}

static const struct description *find_description(const struct input_reader *r, int64_t describer,
                                                  int64_t id)
{
    for (size_t i = r->descriptions.n; i-- > 0;)
        if (r->descriptions.v[i].id == id && r->descriptions.v[i].describer == describer)
            return &r->descriptions.v[i];
    return NULL;
}

/* A view is created from its base, which is created first (view_from_base of
 * torch/_subclasses/meta_utils.py). */
static bool add_base(struct input_reader *r, const struct description *view, struct str source)
{
    struct buf name = BUF_INIT;
    const struct description *base =
        view->base < 0 ? NULL : find_description(r, view->describer, view->base);
    if (!base)
        return true;
    buf_printf(&name, "%.*s._base", STR_ARG(source));
    struct str kept = arena_copy(&r->inputs->arena, buf_str(&name));
    bool ok = !name.failed && kept.p && add_tensor(r, base, kept);
    buf_release(&name);
    return ok;
}

static bool read_source(struct input_reader *r)
{
    int64_t id, describer;
    struct str source = json_decoded(&r->doc, get(r, "source"), &r->inputs->arena);
    if (!source.p)
        return false;
    if (!json_i64(&r->doc, get(r, "id"), &id) ||
        !json_i64(&r->doc, get(r, "describer_id"), &describer))
        return true;
    const struct description *d = find_description(r, describer, id);
    return !d || (add_base(r, d, source) && add_tensor(r, d, source));
}

/* Sizes of parameters and buffers are numbers, except those of a parameter that is the base of an
 * input. */
static bool is_static(const struct input_tensor *t)
{
    return t->of_module && t->size_symbol == no_symbols;
}

static struct recorded_symbol *own_part(struct input_reader *r,
                                        const struct recorded_symbol **symbols, uint32_t ndim,
                                        uint32_t dim, bool *failed)
{
    struct recorded_symbol *ret = own_symbol(&r->inputs->arena, symbols, ndim, dim);
    *failed = !ret;
    return ret;
}

/* Finds the symbol of a part of a tensor: "L['x'].size()[1]" is a part of "L['x']". Returns NULL
 * for a source that is no part of one. */
static struct recorded_symbol *find_tensor_part(struct input_reader *r, struct str source,
                                                bool *failed)
{
    static const struct str parts[] = { { ".size()[", 8 }, { ".stride()[", 10 } };
    for (int i = 0; i < 3; i++) {
        struct str part = i < 2 ? parts[i] : STR(".storage_offset()");
        size_t at = source.n;
        for (size_t from = 0, hit;
             (hit = str_find(str_from(source, from), part)) < str_from(source, from).n;
             from += hit + 1)
            at = from + hit; /* the last match */
        uint32_t id = at < source.n ? intern_find(&r->sources, str_first(source, at)) : INTERN_NONE;
        if (id == INTERN_NONE)
            continue;
        struct input_tensor *t = &r->inputs->list.v[r->tensor.v[id]].tensor;
        struct str rest = str_from(source, at + part.n);
        uint64_t dim;
        if (!t->concrete)
            return NULL;
        if (i == 2)
            return own_part(r, &t->offset_symbol, 1, 0, failed);
        if (str_to_u64(str_first(rest, str_find_char(rest, ']')), &dim) && dim < t->ndim)
            return own_part(r, i == 0 ? &t->size_symbol : &t->stride_symbol, t->ndim, (uint32_t)dim,
                            failed);
    }
    return NULL;
}

static bool read_symbol_record(struct input_reader *r)
{
    struct arena *arena = &r->inputs->arena;
    struct recorded_symbol symbol = {
        json_decoded(&r->doc, get(r, "symbol"), arena),
        json_decoded(&r->doc, get(r, "val"), arena),
        json_decoded(&r->doc, get(r, "vr"), arena),
        json_decoded(&r->doc, get(r, "source"), arena),
        r->record,
        record_stack(r->trace, &r->doc, STR("user_stack")),
    };
    if (!symbol.name.p || !symbol.value.p || !symbol.range.p || !symbol.source.p)
        return false;
    bool failed = false;
    struct recorded_symbol *part = find_tensor_part(r, symbol.source, &failed);
    if (failed)
        return false;
    if (part && part->name.n == 0) {
        *part = symbol;
        return true;
    }
    struct input input = { .kind = INPUT_SYMBOL, .symbol = symbol };
    input.is_float = str_starts(symbol.name, STR("zf"));
    return vec_push(&r->inputs->list, input);
}

enum { MAX_LOOKUPS = 64 }; /* of values that several symbols have; each reads the whole graph */

/* Which sizes with one value share a symbol. */
struct shared_value {
    bool *last;    /* points to the latest recorded symbol of the value */
    bool *owner;   /* points to the symbol that a size without a symbol of its own uses */
    bool sure;     /* no other symbol of the value existed when the owner was shared first */
    bool printed;  /* a graph prints the owner */
    bool *alike;   /* points to a symbol whose size a graph prints as it prints that of the user */
    bool of_base;  /* `last` is a size of a view's base */
    bool of_other; /* a stride or an offset has a symbol of the value, which sizes share, too */
    uint32_t recorded;
    const struct input_tensor *user; /* the first tensor with such a size, and its dimension */
    uint32_t user_dim;
};

struct shared_sizes {
    struct value_set distinct;
    vec_of(struct shared_value)
    values; /* by the value's number */
    bool static_by_default;
};

static struct shared_value *find_shared_value(struct shared_sizes *s, int64_t value)
{
    uint32_t row = value_set_add(&s->distinct, value);
    if (row == UINT32_MAX ||
        (row == s->values.n && !vec_push(&s->values, (struct shared_value){ .recorded = 0 })))
        return NULL;
    return &s->values.v[row];
}

static bool see_size(struct shared_sizes *s, const struct input_tensor *t, uint32_t d)
{
    struct shared_value *v = find_shared_value(s, t->size[d]);
    if (!v)
        return false;
    if (t->size_symbol[d].name.n) {
        if (!v->of_base)
            v->last = &t->duck[d];
        v->of_base |= str_ends(t->source, STR("._base"));
        v->recorded++;
    } else if (v->last) {
        if (!v->owner) {
            v->user = t;
            v->user_dim = d;
            v->owner = v->last;
            v->sure = v->recorded == 1;
        }
    } else if (!v->of_other && !t->attribute) {
        s->static_by_default = true;
    }
    return true;
}

/* Notes the value of a stride or an offset with a symbol. */
static bool see_other(struct shared_sizes *s, int64_t value, const struct recorded_symbol *symbol)
{
    struct shared_value *v = symbol->name.n ? find_shared_value(s, value) : NULL;
    if (v)
        v->of_other = true;
    return v || !symbol->name.n;
}

static bool see_strides_and_offset(struct shared_sizes *s, const struct input_tensor *t)
{
    bool ok = see_other(s, t->offset, t->offset_symbol);
    for (uint32_t d = 0; d < t->ndim && ok; d++)
        ok = see_other(s, t->stride[d], &t->stride_symbol[d]);
    return ok;
}

/* Returns what a graph prints for a size of an input; NULL if that has none. */
static const struct expr *printed_size(const struct graph *graph, struct str input, uint32_t dim)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->op != NODE_PLACEHOLDER || node->meta == META_NONE || !str_eq(node->name, input))
            continue;
        const struct meta *meta = &graph->pool->metas[node->meta];
        if (meta->kind != META_TENSOR || dim >= meta->n_sizes)
            break;
        return expr_at(&graph->pool->exprs, meta->sizes[dim]);
    }
    return NULL;
}

/* Looks up what the graph prints for a size of a tensor; `*found` is NULL after MAX_LOOKUPS. */
static bool look_up_size(struct inputs *inputs, const struct graph *graph,
                         const struct input_tensor *t, uint32_t dim, unsigned *lookups,
                         const struct expr **found)
{
    *found = NULL;
    if (*lookups >= MAX_LOOKUPS)
        return true;
    ++*lookups;
    struct str input = inputs_placeholder_name(t->source, &inputs->arena);
    if (input.p)
        *found = printed_size(graph, input, dim);
    return input.p;
}

/* Makes the symbol that the graph prints the shared one of its value. Where a guard replaced it
 * since, the graph prints another symbol, for all sizes that are equal by then: `alike` is the
 * first of them that has a symbol. */
static bool share_printed(struct inputs *inputs, struct shared_value *v, const struct graph *graph,
                          unsigned *lookups)
{
    const struct expr_pool *exprs = &graph->pool->exprs;
    int64_t value = v->user->size[v->user_dim];
    const struct expr *printed;
    if (!look_up_size(inputs, graph, v->user, v->user_dim, lookups, &printed))
        return false;
    const struct input_tensor *t = NULL;
    for (size_t i = 0;
         i < inputs->list.n && t != v->user && printed && printed->kind == EXPR_SYMBOL; i++) {
        t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete || is_static(t))
            continue;
        for (uint32_t d = 0; d < (t == v->user ? v->user_dim : t->ndim); d++) {
            const struct expr *other = NULL;
            if (t->size[d] != value || !t->size_symbol[d].name.n)
                continue;
            if (str_eq(t->size_symbol[d].name, printed->text)) {
                v->owner = &t->duck[d];
                v->printed = true;
            } else if (!v->alike && !look_up_size(inputs, graph, t, d, lookups, &other)) {
                return false;
            }
            if (other && expr_equal(exprs, (expr_id)(other - exprs->exprs.v), exprs,
                                    (expr_id)(printed - exprs->exprs.v)))
                v->alike = &t->duck[d];
        }
    }
    return true;
}

static bool shares_any(const struct input_tensor *t)
{
    for (uint32_t d = 0; d < t->ndim; d++)
        if (t->duck[d])
            return true;
    return false;
}

/* The sizes of a tensor are shared or not together, as those of a view and of its base: where the
 * graph prints an expression for a value, its symbol is that of a tensor which shares another
 * (_automatic_dynamic of torch/_dynamo/variables/builder.py). Of two sizes of the tensor with
 * symbols of their own, the later one owns the shared symbol: ShapeEnv.create_symbol, which is
 * called in the order of the sizes, would have given it that of the other (val_to_var of
 * torch/fx/experimental/symbolic_shapes.py). */
static void share_alike(struct inputs *inputs, struct shared_value *v)
{
    int64_t value = v->user->size[v->user_dim];
    for (size_t i = 0; i < inputs->list.n; i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete || is_static(t) ||
            !shares_any(t))
            continue;
        for (uint32_t d = t->ndim; d-- > 0;)
            if (t->size[d] == value && t->size_symbol[d].name.n) {
                v->owner = &t->duck[d];
                return;
            }
    }
    if (v->alike)
        v->owner = v->alike;
}

/* With duck shaping every size without a symbol has a value that occurred before. A size that has
 * not, in a tensor of no module, means that sizes are static by default. Of several symbols with
 * one value that existed before a size without a symbol of its own, the shared one is that which
 * Dynamo's graph prints for it; if there is no graph, the last one: the others were marked dynamic,
 * which AOTAutograd does to tensors that it saves, too (maybe_mark_dynamic), and to what a graph
 * returns, without a record. A view's base is neither. */
bool inputs_guess_sharing(struct inputs *inputs, const struct graph *dynamo)
{
    struct shared_sizes s = { .static_by_default = false };
    bool ok = true;
    for (size_t i = 0; i < inputs->list.n && ok; i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete || is_static(t))
            continue;
        memset(t->duck, 0, t->ndim * sizeof *t->duck);
        for (uint32_t d = 0; d < t->ndim && ok; d++)
            ok = t->size[d] == 0 || t->size[d] == 1 || t->fixed[d] || t->unbacked[d] ||
                 see_size(&s, t, d);
        ok = ok && see_strides_and_offset(&s, t);
    }
    inputs->static_by_default = s.static_by_default;
    unsigned lookups = 0;
    for (size_t i = 0; i < s.values.n && ok; i++) {
        struct shared_value *v = &s.values.v[i];
        if (dynamo && v->user && !v->sure)
            ok = share_printed(inputs, v, dynamo, &lookups);
        if (v->printed || v->sure)
            *v->owner = true;
    }
    for (size_t i = 0; i < s.values.n && ok; i++) {
        struct shared_value *v = &s.values.v[i];
        if (v->user && !v->sure && !v->printed && i < MAX_LOOKUPS)
            share_alike(inputs, v);
        bool *owner = v->owner ? v->owner : v->recorded == 1 && !v->of_other ? v->last : NULL;
        if (owner)
            *owner = true;
    }
    vec_release(&s.values);
    value_set_release(&s.distinct);
    return ok;
}

/* ---- Sizes that stayed numbers ---- */

struct printed_sizes {
    const struct graph *dynamo, *aot;
    struct intern names; /* of the Dynamo graph's placeholders, */
    vec_of(uint32_t)
    nodes; /* their nodes */
    vec_of(uint32_t)
    aot_nodes;           /* of the AOT graph's, by index of the input; NODE_NONE: none */
    struct intern sizes; /* the values of the symbols that are printed, as texts */
    struct intern symbols;
    struct intern replacements; /* the symbols that sizes print which have one of their own */
    struct arena arena;
};

static const struct meta *printed_meta(const struct graph *graph, uint32_t node)
{
    uint32_t meta = graph && node < graph->n_nodes ? graph->nodes[node].meta : META_NONE;
    return meta != META_NONE && graph->pool->metas[meta].kind == META_TENSOR
               ? &graph->pool->metas[meta]
               : NULL;
}

static bool read_placeholders(struct printed_sizes *p)
{
    uint64_t index;
    for (uint32_t i = 0; i < p->dynamo->n_nodes; i++) {
        const struct node *node = &p->dynamo->nodes[i];
        const struct meta *meta = printed_meta(p->dynamo, i);
        if (node->op != NODE_PLACEHOLDER)
            continue;
        uint32_t id = intern(&p->names, node->name);
        if (id == INTERN_NONE || (id == p->nodes.n && !vec_push(&p->nodes, i)) ||
            !vec_push(&p->aot_nodes, NODE_NONE))
            return false;
        for (uint32_t d = 0; meta && d < meta->n_sizes; d++) {
            const struct expr *e = expr_at(&p->dynamo->pool->exprs, meta->sizes[d]);
            if (e->kind == EXPR_SYMBOL && intern(&p->symbols, e->text) == INTERN_NONE)
                return false;
        }
    }
    for (uint32_t i = 0; p->aot && i < p->aot->n_nodes; i++) {
        if (aot_index(p->aot->nodes[i].descriptor, STR("PlainAOTInput(idx="), &index) &&
            index < p->aot_nodes.n)
            p->aot_nodes.v[index] = i;
    }
    return true;
}

static uint32_t value_id(struct printed_sizes *p, int64_t value, bool add)
{
    struct str key = { (const char *)&value, sizeof value };
    return add ? intern(&p->sizes, key) : intern_find(&p->sizes, key);
}

static bool prints_number(const struct graph *graph, const struct meta *meta, uint32_t d,
                          int64_t value)
{
    const struct expr *e = d < meta->n_sizes ? expr_at(&graph->pool->exprs, meta->sizes[d]) : NULL;
    return e && e->kind == EXPR_INT && e->fits && e->value == value;
}

/* Finds what the graphs print for a tensor; NULL: nothing, or nothing that fits it. False: out of
 * memory. */
static bool find_printed(struct printed_sizes *p, const struct input_tensor *t,
                         const struct meta **dynamo, const struct meta **aot)
{
    struct str name = inputs_placeholder_name(t->source, &p->arena);
    uint32_t id = name.p ? intern_find(&p->names, name) : INTERN_NONE;
    const struct meta *meta = id == INTERN_NONE ? NULL : printed_meta(p->dynamo, p->nodes.v[id]);
    *dynamo = meta && meta->n_sizes == t->ndim ? meta : NULL;
    *aot = id == INTERN_NONE ? NULL : printed_meta(p->aot, p->aot_nodes.v[id]);
    return name.p;
}

static bool note_fixed(struct printed_sizes *p, struct input_tensor *t)
{
    const struct meta *meta, *aot;
    bool ok = find_printed(p, t, &meta, &aot);
    for (uint32_t d = 0; meta && d < t->ndim; d++)
        t->fixed[d] = t->size_symbol[d].name.n == 0 &&
                      value_id(p, t->size[d], false) != INTERN_NONE &&
                      prints_number(p->dynamo, meta, d, t->size[d]) &&
                      (!aot || prints_number(p->aot, aot, d, t->size[d]));
    return ok;
}

/* ---- Sizes that were marked with mark_unbacked ---- */

static bool is_unbacked_symbol(const struct expr *e)
{
    return e->kind == EXPR_SYMBOL && str_starts(e->text, STR("u"));
}

/* A guard may replace a symbol by an unbacked one, which then is no mark. */
static bool note_replacements(struct printed_sizes *p, const struct input_tensor *t)
{
    const struct meta *meta, *aot;
    bool ok = find_printed(p, t, &meta, &aot);
    for (uint32_t d = 0; ok && meta && d < t->ndim; d++) {
        const struct expr *e = expr_at(&p->dynamo->pool->exprs, meta->sizes[d]);
        if (t->size_symbol[d].name.n && is_unbacked_symbol(e))
            ok = intern(&p->replacements, e->text) != INTERN_NONE;
    }
    return ok;
}

static bool note_unbacked(struct printed_sizes *p, struct input_tensor *t)
{
    const struct meta *meta, *aot;
    bool ok = find_printed(p, t, &meta, &aot);
    for (uint32_t d = 0; ok && meta && d < t->ndim; d++) {
        const struct expr *e = expr_at(&p->dynamo->pool->exprs, meta->sizes[d]);
        t->unbacked[d] = !t->size_symbol[d].name.n && is_unbacked_symbol(e) &&
                         intern_find(&p->replacements, e->text) == INTERN_NONE;
    }
    return ok;
}

static bool read_unbacked(struct printed_sizes *p, struct inputs *inputs)
{
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < inputs->list.n && ok; i++) {
            struct input *input = &inputs->list.v[i];
            if (input->kind == INPUT_TENSOR && input->tensor.concrete && !is_static(&input->tensor))
                ok = pass == 0 ? note_replacements(p, &input->tensor)
                               : note_unbacked(p, &input->tensor);
        }
    return ok;
}

bool inputs_read_fixed(struct inputs *inputs, const struct graph *dynamo, const struct graph *aot)
{
    struct printed_sizes p = { .dynamo = dynamo, .aot = aot };
    bool ok = read_placeholders(&p) && read_unbacked(&p, inputs);
    for (size_t i = 0; i < inputs->list.n && ok; i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete)
            continue;
        /* The base of a view is no input of the graph, which prints none of its symbols. */
        bool base = str_ends(t->source, STR("._base"));
        for (uint32_t d = 0; d < t->ndim && ok; d++)
            if (t->size_symbol[d].name.n &&
                (base || intern_find(&p.symbols, t->size_symbol[d].name) != INTERN_NONE))
                ok = value_id(&p, t->size[d], true) != INTERN_NONE;
    }
    for (size_t i = 0; i < inputs->list.n && ok && p.sizes.texts.n; i++) {
        struct input *input = &inputs->list.v[i];
        if (input->kind == INPUT_TENSOR && input->tensor.concrete && !is_static(&input->tensor))
            ok = note_fixed(&p, &input->tensor);
    }
    intern_release(&p.names);
    intern_release(&p.sizes);
    intern_release(&p.symbols);
    intern_release(&p.replacements);
    vec_release(&p.nodes);
    vec_release(&p.aot_nodes);
    arena_release(&p.arena);
    return ok && inputs_guess_sharing(inputs, NULL);
}

static bool read_input_record(struct input_reader *r, uint32_t record, struct err *err)
{
    struct err why = { 0 };
    enum event event = r->trace->records[record].event;
    if (event != EVENT_DESCRIBE_TENSOR && event != EVENT_DESCRIBE_SOURCE &&
        event != EVENT_CREATE_SYMBOL && event != EVENT_DESCRIBE_STORAGE)
        return true;
    r->record = record;
    if (!record_json(r->trace, record, &r->doc, &why))
        return why.kind == ERR_INPUT || (*err = why, false);
    bool ok = event == EVENT_DESCRIBE_STORAGE  ? read_storage(r)
              : event == EVENT_DESCRIBE_TENSOR ? read_description(r)
              : event == EVENT_DESCRIBE_SOURCE ? read_source(r)
                                               : read_symbol_record(r);
    return ok || err_nomem(err);
}

int recorded_torch(const struct trace *trace, uint32_t recording)
{
    int torch = torch_release(trace->recordings[recording].torch_version);
    return torch ? torch : TORCH_RELEASE_DEFAULT;
}

/* The name of a source (torch/_dynamo/output_graph.py): runs of characters
 * that are no letters or digits become one underscore. A float is read from its wrapping tensor. */
struct str inputs_placeholder_name(struct str source, struct arena *arena)
{
    if (str_starts(source, STR("___as_tensor(")) && str_ends(source, STR(")")))
        source = (struct str){ source.p + 13, source.n - 14 };
    char *text = arena_bytes(arena, source.n + 1);
    size_t n = 0;
    for (size_t i = 0; text && i < source.n; i++) {
        if (is_letter(source.p[i]) || is_digit(source.p[i]))
            text[n++] = source.p[i];
        else if (n == 0 || text[n - 1] != '_')
            text[n++] = '_';
    }
    return (struct str){ text, n };
}

bool inputs_read(struct trace *trace, uint32_t attempt, struct inputs *inputs, struct err *err)
{
    struct input_reader r = { .trace = trace, .inputs = inputs };
    bool ok = true;
    const struct attempt *a = &trace->attempts[attempt];
    inputs->torch = recorded_torch(trace, a->recording);
    for (uint32_t i = 0; i < a->n_records && ok; i++)
        ok = read_input_record(&r, a->records[i], err);
    if (inputs->mesh.several)
        inputs->mesh.n = 0;
    ok = ok && (inputs_guess_sharing(inputs, NULL) || err_nomem(err));
    struct input *fit = inputs->list.n && ok
                            ? realloc(inputs->list.v, inputs->list.n * sizeof *inputs->list.v)
                            : NULL;
    if (fit) {
        inputs->list.v = fit;
        inputs->list.cap = inputs->list.n;
    }
    json_release(&r.doc);
    intern_release(&r.sources);
    vec_release(&r.tensor);
    vec_release(&r.descriptions);
    intern_release(&r.storage_keys);
    vec_release(&r.storages);
    return ok;
}

/* ---- Symbols of graphs outside compiles ---- */

/* The symbols that a graph prints, by name, and for each the last that was made. */
struct found_symbols {
    struct intern printed;
    bool *found; /* by name */
    vec_of(struct symbol)
    list; /* the last made first */
};

static bool read_printed_symbols(struct found_symbols *found, const struct graph *graph,
                                 struct arena *arena)
{
    const struct expr_pool *exprs = &graph->pool->exprs;
    for (size_t i = 0; i < exprs->exprs.n; i++)
        if (exprs->exprs.v[i].kind == EXPR_SYMBOL &&
            intern(&found->printed, exprs->exprs.v[i].text) == INTERN_NONE)
            return false;
    found->found = arena_array(arena, bool, found->printed.texts.n + 1);
    return found->found;
}

static bool add_symbol(struct found_symbols *found, const struct symbol *symbol)
{
    uint32_t name = intern_find(&found->printed, symbol->name);
    if (name == INTERN_NONE || found->found[name])
        return true;
    found->found[name] = true;
    return vec_push(&found->list, *symbol);
}

/* Returns the found symbols in the order in which they were made. */
static const struct symbol *in_order(const struct found_symbols *found, struct arena *arena)
{
    size_t n = found->list.n;
    struct symbol *ret = arena_array(arena, struct symbol, n + 1);
    for (size_t i = 0; ret && i < n; i++)
        ret[i] = found->list.v[n - 1 - i];
    return ret;
}

const struct symbol *inputs_earlier_symbols(const struct trace *trace,
                                            const struct symbol_table *table,
                                            const struct graph *graph, uint32_t record,
                                            struct arena *arena, uint32_t *n)
{
    const struct record *records = trace->records;
    struct found_symbols found = { .found = NULL };
    bool ok = !graph || read_printed_symbols(&found, graph, arena);
    for (uint32_t s = table->n_symbols; ok && graph && s-- > 0;) {
        const struct symbol *symbol = &table->symbols[s];
        if (symbol->record < record &&
            records[symbol->record].recording == records[record].recording)
            ok = add_symbol(&found, symbol);
    }
    const struct symbol *ret = ok ? in_order(&found, arena) : NULL;
    *n = ret ? (uint32_t)found.list.n : 0;
    vec_release(&found.list);
    intern_release(&found.printed);
    return ret;
}

void inputs_release(struct inputs *inputs)
{
    vec_release(&inputs->list);
    arena_release(&inputs->arena);
}
