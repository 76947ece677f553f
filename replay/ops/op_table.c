#include "replay/ops/decomp/bodies.h"
#include "replay/ops/decomp/custom.h"
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layers.h"
#include "replay/ops/rules/pointwise/pointwise.h" /* the parameters of the rows of replay/ops/rules/pointwise/pointwise.def and replay/ops/rules/pointwise/prims.def */
#include "trace/base/hash.h"

enum row_kind { ROW_PLAIN, ROW_POINTWISE, ROW_COMPOSITE };

struct op_row {
    const char *schema, *forms;
    op_rule *rule;
    int32_t param;
    enum row_kind kind;
};

static const struct op_row rows[] = {
#define OP(schema, forms, rule, param)        { schema, forms, rule_##rule, param, ROW_PLAIN },
#define POINTWISE(schema, forms, rule, param) { schema, forms, rule_##rule, param, ROW_POINTWISE },
#define COMPOSITE(schema, forms, rule, param) { schema, forms, rule_##rule, param, ROW_COMPOSITE },
#include "replay/ops/all_ops.def"
#undef OP
#undef POINTWISE
#undef COMPOSITE
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct {
    const char *name;
    enum op_bypass tag;
} tags[] = {
#define OP_TAG(name, tag) { name, OP_BYPASS_##tag },
#include "replay/ops/op_tags.def"
#undef OP_TAG
};

/* Splits "torch.ops.aten.add.Tensor", "aten::add.Tensor" or "aten.add.default" into three parts. */
static bool split_name(struct str name, struct schema *ret)
{
    if (str_starts(name, STR("torch.ops.")))
        name = str_from(name, 10);
    size_t colon = str_find_char(name, ':'), dot = str_find_char(name, '.');
    size_t end = colon < dot ? colon : dot;
    ret->space = str_first(name, end);
    name = str_from(name, end + (colon < dot ? 2 : 1));
    dot = str_find_char(name, '.');
    ret->base = str_first(name, dot);
    ret->overload = str_from(name, dot + 1);
    if (str_is(ret->overload, "default"))
        ret->overload.n = 0;
    return ret->space.n && ret->base.n;
}

/* The name of an operator. The base name is `stem`, and a '_' after it for in-place forms. */
struct op_name {
    struct str space, stem, overload;
    bool in_place;
};

static struct op_name name_of_schema(const struct schema *schema)
{
    bool in_place = str_ends(schema->base, STR("_"));
    return (struct op_name){ schema->space, str_first(schema->base, schema->base.n - in_place),
                             schema->overload, in_place };
}

/* Returns "dim_max" for ".dim_max(max,max_values)". */
static struct str out_overload(struct str form)
{
    struct str overload = str_from(form, 1);
    return str_first(overload, str_find_char(overload, '('));
}

/* Returns the name of a form of the row whose name `schema` has. */
static struct op_name name_of_form(const struct schema *schema, struct str form)
{
    struct op_name ret = name_of_schema(schema);
    if (form.n && *form.p == '_') {
        ret.stem = schema->base;
        ret.in_place = true;
    } else if (form.n) {
        ret.overload = out_overload(form);
    }
    return ret;
}

static uint64_t hash_base(const struct op_name *name)
{
    return hash_mix(hash_str(name->space) + name->in_place, hash_str(name->stem));
}

/* `base` is what hash_base() returns. */
static uint64_t hash_name(const struct op_name *name, uint64_t base)
{
    return hash_mix(base, hash_str(name->overload));
}

static bool same_name(const struct op_name *a, const struct op_name *b, bool base_only)
{
    return str_eq(a->stem, b->stem) && a->in_place == b->in_place && str_eq(a->space, b->space) &&
           (base_only || str_eq(a->overload, b->overload));
}

/* Returns the name of the operator at `index`. */
static struct op_name name_at(const struct op_table *table, uint32_t index)
{
    const struct op *own = table->own ? table->own->rows[index] : NULL;
    struct schema schema = { 0 };
    if (own)
        return name_of_schema(&own->schema);
    schema_parse_name(str_of(table->forms[index].row->schema), &schema);
    return name_of_form(&schema, table->forms[index].form);
}

/* Finds the first operator of that name, or of that base name. */
static bool find_form(const struct op_table *table, const struct op_name *name, uint32_t hash,
                      bool base_only, uint32_t *ret)
{
    const struct hash_index *index = base_only ? &table->by_base : &table->by_name;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, ret);) {
        struct op_name found = name_at(table, *ret);
        if (same_name(&found, name, base_only))
            return true;
    }
    return false;
}

static void chain_overload(struct op_catalog *catalog, const struct op_name *name, uint32_t hash,
                           uint32_t index)
{
    uint32_t first;
    if (!find_form(&catalog->table, name, hash, true, &first)) {
        hash_index_add(&catalog->table.by_base, hash, index);
        return;
    }
    struct op_form *last = &catalog->forms[first];
    while (last->next_overload)
        last = &catalog->forms[last->next_overload - 1];
    last->next_overload = index + 1;
}

static bool make_name(struct op *op, struct arena *arena)
{
    const struct schema *s = &op->schema;
    struct str overload = s->overload.n ? s->overload : STR("default");
    size_t n = s->space.n + s->base.n + overload.n + 2;
    char *p = arena_bytes(arena, n + 1), *at = p;
    if (!p)
        return false;
    const struct str parts[] = { s->space, s->base, overload };
    for (int i = 0; i < 3; i++) {
        memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
        *at++ = i < 2 ? '.' : 0;
    }
    op->name = (struct str){ p, n };
    return true;
}

/* torch._library.utils.is_builtin. */
static bool is_builtin(struct str space)
{
    return str_is(space, "aten") || str_is(space, "prim") || str_is(space, "prims");
}

static bool find_named(const struct op_table *table, struct str text, uint32_t *ret)
{
    struct schema parts;
    if (!split_name(text, &parts))
        return false;
    struct op_name name = name_of_schema(&parts);
    return find_form(table, &name, (uint32_t)hash_name(&name, hash_base(&name)), false, ret);
}

static void apply_tags(struct op_catalog *catalog)
{
    uint32_t index;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (find_named(&catalog->table, str_of(tags[i].name), &index))
            catalog->forms[index].bypass = (uint8_t)tags[i].tag;
}

/* Adds a form of the row whose name `schema` has. */
static void add_form(struct op_catalog *catalog, const struct op_row *row,
                     const struct schema *schema, struct str form)
{
    struct op_table *table = &catalog->table;
    struct op_name name = name_of_form(schema, form);
    uint32_t index = table->n++, known;
    catalog->forms[index] =
        (struct op_form){ .row = row,
                          .form = form,
                          .bypass =
                              is_builtin(name.space) ? OP_BYPASS_NONE : OP_BYPASS_NOT_BUILTIN };
    uint64_t base = hash_base(&name);
    uint32_t hash = (uint32_t)hash_name(&name, base);
    if (find_form(table, &name, hash, false, &known))
        return; /* of two rows with one name the first counts */
    hash_index_add(&table->by_name, hash, index);
    chain_overload(catalog, &name, (uint32_t)base, index);
}

/* Returns the next of the words separated by blanks; "" at the end. */
static struct str next_form(struct str *forms)
{
    struct str form = str_first(*forms, str_find_char(*forms, ' '));
    *forms = str_trim(str_from(*forms, form.n));
    return form;
}

static bool add_op_row(struct op_catalog *catalog, const struct op_row *row, struct err *err)
{
    struct str forms = str_of(row->forms), form = STR("");
    struct schema name = { 0 };
    if (!schema_parse_name(str_of(row->schema), &name))
        return err_set(err, ERR_INPUT, "row %u of the operators has no name", catalog->table.n);
    do {
        add_form(catalog, row, &name, form);
        form = next_form(&forms);
    } while (form.n);
    return true;
}

/* Counts the row itself and each word of its FORMS. */
static uint32_t count_forms(const struct op_row *row)
{
    uint32_t n = 1 + (row->forms[0] != '\0');
    for (const char *p = row->forms; *p; p++)
        n += *p == ' ';
    return n;
}

/* Returns whether the row may have a form of that name; this excludes most rows quickly. */
static bool may_be_form(const struct op_row *row, const struct schema *wanted)
{
    struct str stem = wanted->base, text = str_of(row->schema);
    stem.n -= str_ends(stem, STR("_"));
    return str_starts(text, wanted->space) &&
           str_starts(str_from(text, wanted->space.n + strlen("::")), stem);
}

bool op_returns_alias(struct str name)
{
    struct schema wanted, found;
    if (!split_name(name, &wanted))
        return false;
    const struct op_name wanted_name = name_of_schema(&wanted);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct str forms = str_of(rows[i].forms), form = STR("");
        if (!may_be_form(&rows[i], &wanted) || !schema_parse_name(str_of(rows[i].schema), &found))
            continue;
        do {
            struct op_name own = name_of_form(&found, form);
            if (same_name(&own, &wanted_name, false))
                return schema_returns_alias(str_of(rows[i].schema), form);
            form = next_form(&forms);
        } while (form.n);
    }
    return false;
}

void ops_visit_rows(void (*visit)(void *user, struct str schema), void *user)
{
    for (uint32_t i = 0; i < ROWS; i++)
        visit(user, str_of(rows[i].schema));
}

/* Custom operators come first: a rule of the user's replaces one of ours. */
static bool add_rows(struct op_catalog *catalog, const struct custom_rules *rules, struct err *err)
{
    struct op_table *table = &catalog->table;
    uint32_t n_custom = rules ? (uint32_t)custom_rules_count(rules) : 0;
    uint32_t n = n_custom;
    for (uint32_t i = 0; i < ROWS; i++)
        n += count_forms(&rows[i]);
    table->forms = catalog->forms = arena_array(&catalog->arena, struct op_form, (size_t)n + 1);
    struct op_row *custom = arena_array(&catalog->arena, struct op_row, (size_t)n_custom + 1);
    if (!table->forms || !custom || !hash_index_reserve(&table->by_name, n) ||
        !hash_index_reserve(&table->by_base, n))
        return err_nomem(err);
    for (uint32_t i = 0; i < n_custom; i++) {
        custom[i] = (struct op_row){ custom_rules_schema(rules, i), "", rule_custom, (int32_t)i,
                                     ROW_PLAIN };
        if (!add_op_row(catalog, &custom[i], err))
            return false;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        if (!add_op_row(catalog, &rows[i], err))
            return false;
    apply_tags(catalog);
    return true;
}

struct op_catalog *op_catalog_new(const struct custom_rules *rules, struct err *err)
{
    struct op_catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return err_nomem(err), NULL;
    catalog->rules = rules;
    catalog->bodies = calloc(1, sizeof *catalog->bodies);
    if (!catalog->bodies) {
        err_nomem(err);
        op_catalog_free(catalog);
        return NULL;
    }
    if (add_rows(catalog, rules, err))
        return catalog;
    op_catalog_free(catalog);
    return NULL;
}

void op_catalog_free(struct op_catalog *catalog)
{
    if (!catalog)
        return;
    if (catalog->bodies)
        bodies_release(catalog->bodies);
    free(catalog->bodies);
    hash_index_release(&catalog->table.by_name);
    hash_index_release(&catalog->table.by_base);
    arena_release(&catalog->arena);
    free(catalog);
}

bool op_table_borrow(struct op_table *table, const struct op_catalog *catalog)
{
    *table = catalog->table;
    table->own = calloc(1, sizeof *table->own + table->n * sizeof table->own->rows[0]);
    return table->own;
}

void op_table_release(struct op_table *table)
{
    if (table->own)
        arena_release(&table->own->arena);
    free(table->own);
}

/* Sets the base name and the overload of a form; op->schema has those of its row. */
static bool name_form(struct op *op, struct arena *arena)
{
    struct str base = op->schema.base;
    if (!op->form.n)
        return true;
    if (*op->form.p == '.') {
        op->schema.overload = out_overload(op->form);
        return true;
    }
    char *p = arena_bytes(arena, base.n + 1);
    if (!p)
        return false;
    memcpy(p, base.p, base.n);
    p[base.n] = '_';
    op->schema.base = (struct str){ p, base.n + 1 };
    return true;
}

bool ops_has_inplace_view(struct str base)
{
    bool ret = false;
    for (size_t i = 0; i < sizeof tags / sizeof *tags && !ret; i++) {
        struct schema name;
        ret = tags[i].tag == OP_BYPASS_INPLACE_VIEW && split_name(str_of(tags[i].name), &name) &&
              str_eq(name.base, base);
    }
    return ret;
}

static struct op *make_row(const struct op_form *form, uint32_t index, struct arena *arena)
{
    const struct op_row *row = form->row;
    struct op *op = arena_new(arena, struct op);
    if (!op)
        return NULL;
    op->row = str_of(row->schema);
    op->form = form->form;
    op->index = index;
    op->next_overload = form->next_overload;
    op->rule = row->rule;
    op->param = row->param;
    op->pointwise = row->kind == ROW_POINTWISE;
    op->composite = row->kind == ROW_COMPOSITE;
    op->bypass = (enum op_bypass)form->bypass;
    op->inplace_view = op->bypass == OP_BYPASS_INPLACE_VIEW;
    return schema_parse_name(op->row, &op->schema) && name_form(op, arena) && make_name(op, arena)
               ? op
               : NULL;
}

struct op *op_table_row(const struct op_table *table, uint32_t index)
{
    struct own_rows *own = table->own;
    if (!own->rows[index]) {
        own->rows[index] = make_row(&table->forms[index], index, &own->arena);
        own->no_memory |= !own->rows[index];
    }
    return own->rows[index];
}

struct op *op_table_next(const struct op_table *table, const struct op *op)
{
    return op->next_overload ? op_table_row(table, op->next_overload - 1) : NULL;
}

struct op *op_table_find(const struct op_table *table, struct str name)
{
    uint32_t index;
    return find_named(table, name, &index) ? op_table_row(table, index) : NULL;
}

struct op *op_table_base(const struct op_table *table, struct str name)
{
    struct schema parts;
    if (!split_name(name, &parts) || parts.overload.n)
        return NULL;
    struct op_name base = name_of_schema(&parts);
    uint32_t index;
    return find_form(table, &base, (uint32_t)hash_base(&base), true, &index)
               ? op_table_row(table, index)
               : NULL;
}

/* Sets the properties of the schema that the dispatcher reads at each call. */
static void note_writes(struct op *op)
{
    const struct schema *s = &op->schema;
    for (uint32_t i = 0; i < s->n_args; i++) {
        op->writes |= s->args[i].written;
        op->returns_keyword |=
            s->args[i].written && s->args[i].keyword_only && s->n_results && s->results[0].written;
    }
}

bool op_prepare(struct ops *ops, struct op *op)
{
    if (op->parsed)
        return true;
    struct schema schema;
    struct env_raised what = env_raised(ops->env); /* else reading default values would fail */
    if (what.kind != ENV_RAISED_NOTHING) {
        ops_refuse(ops, str_of(what.type), "%.*s", STR_ARG(what.text));
        return false;
    }
    struct str text;
    if (!schema_derive(op->row, op->form, &ops->schemas, &text) ||
        !schema_parse(text, &ops->schemas, ops->pool, &schema, &ops->failure) ||
        !vec_push(&ops->parsed, op->index)) {
        ops_no_memory(ops);
        return false;
    }
    schema.space = op->schema.space; /* these outlive the environment */
    schema.base = op->schema.base;
    schema.overload = op->schema.overload;
    op->schema = schema;
    note_writes(op);
    op->parsed = true;
    return true;
}
